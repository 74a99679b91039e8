//! An agent SDK that runs typed handlers: arguments are read as laxly as the handlers read them, held against the schema that
//! the SDK made of the handler's signature, and passed on as they came; every failure goes back as a line of its own.
//!
//! ```text
//! tool_use {id, name, input} ─► check ─┬─► accepted ─► handler(input as it came) ─► tool_result
//!                                      └─► rejected ─► tool_result, is_error: a line for each failure
//! ```
//!
//! Run it by `cargo run --example handler`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use callgate::{Catalog, Options, Outcome, Refused, Rejection, Session};
use serde_json::value::RawValue;

/// What the SDK makes of the handler's signature:
/// `push(tests: dict[str, list[str]], count: int = 3, note: str | None = None, mode: "a" | "b" = "a")`.
const PUSH: &str = r#"[{"name": "push", "input_schema": {
    "type": "object",
    "properties": {
        "tests": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        "count": {"type": "integer", "default": 3},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
        "mode": {"enum": ["a", "b"], "default": "a"}
    },
    "required": ["tests"]
}}]"#;

/// What goes back to the model.
#[derive(Debug, PartialEq, Eq)]
struct ToolResult {
    is_error: bool,
    text: String,
}

/// Runs a tool; it gets the bytes that the model sent.
type Handler = fn(&RawValue) -> String;

/// The SDK's loop, as far as tools go.
struct Agent {
    catalog: Catalog,
    session: Session,
    handler: Handler,
}

impl Agent {
    fn new(tools: &str, handler: Handler) -> Result<Agent, Refused> {
        let (catalog, _) = Catalog::compile(tools, &options())?;
        Ok(Agent { session: catalog.session(16 * 1024), catalog, handler })
    }

    fn run(&mut self, tool: &str, input: &RawValue) -> ToolResult {
        match self.catalog.check(&mut self.session, tool, input.get()) {
            // Validate, then pass the original on: what was left out stays left out, and `null` stays `null`.
            Outcome::Accepted(_) => ToolResult { is_error: false, text: (self.handler)(input) },
            Outcome::Rejected(rejection) => ToolResult { is_error: true, text: lines(&rejection) },
            other => ToolResult { is_error: true, text: format!("{tool} was not run: {}", other.code()) },
        }
    }
}

/// How strict the SDK is. This is the one place to say so, for all tools, without editing their schemas.
fn options() -> Options {
    Options { lax: true, ..Options::default() }
}

/// How the SDK words what is wrong: all of it, a line each, in the words that its handlers' authors know.
fn lines(rejection: &Rejection<'_>) -> String {
    rejection.field_lines().join("\n")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut agent = Agent::new(PUSH, |input| format!("pushed {input}"))?;
    for input in [
        r#"{"tests": {"xpcshell": ["dom/base/test"]}, "note": null}"#,
        r#"{"tests": {}, "count": "123"}"#,
        r#"{"tests": {"xpcshell": "dom/base/test"}}"#,
        r#"{"tests": {"xpcshell": [42]}, "count": 1.5, "mode": "c"}"#,
        "{}",
    ] {
        println!("push {input}");
        let ToolResult { is_error, text } = agent.run("push", &RawValue::from_string(input.to_owned())?);
        let heading = if is_error { "is_error" } else { "result" };
        text.lines().for_each(|line| println!("  {heading}: {line}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(input: &str) -> ToolResult {
        let mut agent = Agent::new(PUSH, |input| input.get().to_owned()).expect("a catalog");
        agent.run("push", &RawValue::from_string(input.to_owned()).expect("JSON"))
    }

    #[track_caller]
    fn check_rejected(input: &str, lines: &[&str]) {
        assert_eq!(run(input), ToolResult { is_error: true, text: lines.join("\n") }, "{input}");
    }

    /// Spelling, order and numbers are the model's own, byte by byte.
    #[track_caller]
    fn check_passed_on(input: &str) {
        assert_eq!(run(input), ToolResult { is_error: false, text: input.to_owned() });
    }

    #[test]
    fn b1_b2_b6_b8_b10_b11_what_is_wrong_is_told_where_it_is() {
        check_rejected(
            r#"{"tests": {"xpcshell": "dom/base/test"}}"#,
            &["tests.xpcshell: Input should be a valid list"],
        );
        check_rejected(r#"{"tests": {"xpcshell": [42]}}"#, &["tests.xpcshell.0: Input should be a valid string"]);
        let fraction = "count: Input should be a valid integer, got a number with a fractional part";
        check_rejected(r#"{"tests": {}, "count": 1.5}"#, &[fraction]);
        check_rejected("{}", &["tests: Field required"]);
        check_rejected(r#"{"tests": {}, "mode": "c"}"#, &["mode: Input should be 'a' or 'b'"]);
        check_rejected(r#"{"tests": []}"#, &["tests: Input should be a valid dictionary"]);
    }

    #[test]
    fn b4_b5_what_a_lax_handler_takes_is_passed_on_as_it_came() {
        for count in [r#""123""#, r#""1.0""#, "true"] {
            check_passed_on(&format!(r#"{{"tests": {{}}, "count": {count}}}"#));
        }
        // The handler's own reading is there for whoever asks.
        let mut agent = Agent::new(PUSH, |_| String::new()).expect("a catalog");
        let push = agent.catalog.tool("push").and_then(|tool| tool.input()).expect("it compiles");
        let coerced = push.coerced_text(&mut agent.session, r#"{"tests": {}, "count": "123"}"#);
        assert_eq!(coerced.as_deref(), Some(r#"{"tests":{},"count":123}"#));
    }

    #[test]
    fn b9_null_and_left_out_are_told_apart() {
        check_passed_on(r#"{"tests": {}, "note": null}"#);
        check_passed_on(r#"{"tests": {}}"#);
        check_passed_on(r#"{ "note":"n" , "tests":{"\u0061":["b"]},"count":1.0 }"#);
    }

    #[test]
    fn b12_all_failures_a_line_each() {
        check_rejected(
            r#"{"tests": {"xpcshell": [42]}, "count": 1.5, "mode": "c"}"#,
            &[
                "tests.xpcshell.0: Input should be a valid string",
                "count: Input should be a valid integer, got a number with a fractional part",
                "mode: Input should be 'a' or 'b'",
            ],
        );
    }

    #[test]
    fn an_unknown_tool_runs_nothing() {
        let mut agent = Agent::new(PUSH, |_| unreachable!("nothing runs")).expect("a catalog");
        let said = agent.run("pull", RawValue::NULL);
        assert_eq!(said, ToolResult { is_error: true, text: "pull was not run: UNKNOWN_TOOL".to_owned() });
    }
}
