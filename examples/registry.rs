//! A registry of tools with an opt-in check ahead of local execution and dispatch.
//!
//! ```text
//! call ─► known? ─► [the gate, if it is on] ─┬─► accepted ─► run here, or ship to a worker
//!                                           └─► the line goes back to the model; nothing runs, nothing ships
//! ```
//!
//! What the registry adds for the gate are the ten lines between the marks; off, nothing is compiled and nothing is asked.
//! Run it by `cargo run --example registry`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use callgate::{Catalog, Options, Outcome, Refused, Session};
use serde_json::{Value, json};

/// Where a tool runs.
enum Place {
    /// In this process.
    Local(fn(&Value) -> String),
    /// In a worker, to which the call is shipped.
    Worker,
}

/// A tool as it was registered.
struct Tool {
    name: &'static str,
    schema: Value,
    place: Place,
}

/// Tools by name.
#[derive(Default)]
struct Registry {
    tools: Vec<Tool>,
    /// Calls that went to workers.
    shipped: Vec<String>,
    /// Whether a tool runs whose schema could not be compiled (fail open), or does not (fail closed).
    is_open: bool,
    // >>> added
    gate: Option<(Catalog, Session)>,
    // <<<
}

impl Registry {
    fn register(&mut self, name: &'static str, schema: Value, place: Place) {
        self.tools.push(Tool { name, schema, place });
    }

    /// The tools as a catalog: the definitions that the model gets anyway.
    fn definitions(&self) -> String {
        let tools = self.tools.iter().map(|tool| json!({"name": tool.name, "inputSchema": tool.schema}));
        tools.collect::<Value>().to_string()
    }

    /// Opts in. Answers what is wrong with the tools' own schemas, which is told once, here.
    fn check_calls(&mut self) -> Result<Vec<String>, Refused> {
        // >>> added
        self.gate = Some((Catalog::compile(self.definitions(), &Options::default())?.0, Session::new()));
        // <<<
        let findings = self.gate.iter().flat_map(|(catalog, _)| &catalog.report().findings);
        Ok(findings.map(ToString::to_string).collect())
    }

    /// Calls a tool. Errors: what the model is told.
    fn call(&mut self, name: &str, arguments: &Value) -> Result<String, String> {
        let known = self.tools.iter().find(|tool| tool.name == name);
        let tool = known.ok_or_else(|| format!("there is no tool '{name}'"))?;
        // >>> added
        if let Some((catalog, session)) = &mut self.gate {
            match catalog.check(session, name, or_empty(arguments)) {
                Outcome::Accepted(_) => {}
                Outcome::NotCompiled if self.is_open => {}
                Outcome::Rejected(rejection) => return Err(rejection.to_string()),
                other => return Err(format!("'{name}' was not run: {}", other.code())),
            }
        }
        // <<<
        match tool.place {
            Place::Local(run) => Ok(run(arguments)),
            Place::Worker => {
                self.shipped.push(format!("{name} {arguments}"));
                Ok("shipped".to_owned())
            }
        }
    }
}

/// This registry's own policy: `None` and empty text are no arguments. Only the check sees it so.
fn or_empty(arguments: &Value) -> &Value {
    static EMPTY: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!({}));
    let is_empty = arguments.is_null() || arguments == "";
    if is_empty { &EMPTY } else { arguments }
}

/// A registry with a tool of each kind.
fn registry() -> Registry {
    let backtest = json!({
        "type": "object",
        "properties": {
            "max_drawdown_pct": {"type": "number", "exclusiveMinimum": 0, "description": "Never negative."},
            "seed": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "description": "Omit for random."}
        },
        "required": ["max_drawdown_pct"]
    });
    let mut registry = Registry::default();
    registry.register("run_backtest", backtest, Place::Worker);
    registry.register("echo", json!({"type": "object"}), Place::Local(|arguments| format!("echoed {arguments}")));
    let broken = json!({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}});
    registry.register("broken", broken, Place::Local(|_| "ran unchecked".to_owned()));
    registry
}

fn show(registry: &mut Registry, name: &str, arguments: &Value) {
    match registry.call(name, arguments) {
        Ok(result) => println!("  {name} {arguments}\n    ok: {result}"),
        Err(line) => println!("  {name} {arguments}\n    to the model: {line}"),
    }
}

fn main() -> Result<(), Refused> {
    let mut registry = registry();
    let bad = json!({"max_drawdown_pct": 10, "seed": -1});
    println!("The gate is off, as it is by default: a wrong call is shipped.");
    show(&mut registry, "run_backtest", &bad);

    println!("\nThe gate is on. What is wrong with the schemas themselves is told once:");
    registry.check_calls()?.iter().for_each(|finding| println!("  {finding}"));
    println!("The wrong call comes back as a line, and a right one goes through:");
    show(&mut registry, "run_backtest", &bad);
    show(&mut registry, "run_backtest", &json!({"max_drawdown_pct": 10}));
    show(&mut registry, "echo", &Value::Null);

    println!("\nA tool that did not compile: closed, then open.");
    show(&mut registry, "broken", &json!({"a": 1}));
    registry.is_open = true;
    show(&mut registry, "broken", &json!({"a": 1}));
    println!("\nShipped in all: {}", registry.shipped.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the gate on.
    fn checked() -> Registry {
        let mut registry = registry();
        registry.check_calls().expect("a catalog");
        registry
    }

    #[test]
    fn the_host_adds_ten_lines() {
        let source = include_str!("registry.rs");
        let added = source.split("// >>> added\n").skip(1).map(|part| part.split("// <<<").next().unwrap_or(part));
        let lines = added.flat_map(str::lines).filter(|line| !line.trim().is_empty()).count();
        assert_eq!(lines, 10);
    }

    #[test]
    fn off_by_default_nothing_changes() {
        let mut registry = registry();
        assert!(registry.gate.is_none());
        assert_eq!(registry.call("run_backtest", &json!([])), Ok("shipped".to_owned()));
        assert_eq!(registry.call("broken", &json!({"a": 1})), Ok("ran unchecked".to_owned()));
    }

    #[test]
    fn j1_to_j5_the_line_comes_back_before_anything_ships() {
        let mut registry = checked();
        for (arguments, line) in [
            (
                json!({"max_drawdown_pct": 10, "seed": -1}),
                "schema: -1 is less than the minimum of 0 at seed — Omit for random.",
            ),
            (json!({}), "schema: 'max_drawdown_pct' is a required property"),
        ] {
            assert_eq!(registry.call("run_backtest", &arguments), Err(line.to_owned()));
        }
        assert_eq!(registry.shipped, Vec::<String>::new());
        assert_eq!(registry.call("run_backtest", &json!({"max_drawdown_pct": 10})), Ok("shipped".to_owned()));
        assert_eq!(registry.shipped, [r#"run_backtest {"max_drawdown_pct":10}"#]);
    }

    #[test]
    fn j13_falsy_arguments_are_no_arguments() {
        let mut registry = checked();
        for falsy in [Value::Null, json!("")] {
            // The tool itself gets what the caller sent.
            assert_eq!(registry.call("echo", &falsy), Ok(format!("echoed {falsy}")));
            let line = "schema: 'max_drawdown_pct' is a required property";
            assert_eq!(registry.call("run_backtest", &falsy), Err(line.to_owned()));
        }
        let line = "schema: [1] is not of type 'object'";
        assert_eq!(registry.call("echo", &json!([1])), Err(line.to_owned()));
    }

    #[test]
    fn j14_the_tool_gets_the_callers_own_arguments() {
        let mut registry = Registry::default();
        let address: fn(&Value) -> String = |arguments| format!("{arguments:p}");
        registry.register("address", json!({"type": "object"}), Place::Local(address));
        registry.check_calls().expect("a catalog");
        let arguments = json!({"seed": null, "extra": [1.0]});
        let (before, expected) = (arguments.clone(), format!("{:p}", &raw const arguments));
        assert_eq!(registry.call("address", &arguments), Ok(expected));
        assert_eq!(arguments, before);
    }

    #[test]
    fn j16_a_tool_that_did_not_compile() {
        let mut registry = registry();
        let said = registry.check_calls().expect("a catalog");
        assert_eq!(said, ["error[ref_unresolved] broken at /properties/a/$ref: #/nowhere points to nothing"]);
        let arguments = json!({"a": 1});
        assert_eq!(registry.call("broken", &arguments), Err("'broken' was not run: SCHEMA_INVALID".to_owned()));
        registry.is_open = true;
        assert_eq!(registry.call("broken", &arguments), Ok("ran unchecked".to_owned()));
        // The others are checked all the same.
        assert!(registry.call("run_backtest", &json!({})).is_err());
    }

    #[test]
    fn j17_an_unknown_tool_is_told_before_the_check() {
        for mut registry in [registry(), checked()] {
            let said = registry.call("run_backtests", &json!([1]));
            assert_eq!(said, Err("there is no tool 'run_backtests'".to_owned()));
        }
    }
}
