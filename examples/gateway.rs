//! A gateway in front of servers that nobody vouches for: their catalogs are compiled under limits, what is wrong with
//! them is told per tool, and calls are checked before they reach a server.
//!
//! ```text
//! a server's tools/list ─► ingest ─► findings {tool_id, kind, detail}; tools with errors in quarantine; the others register
//! a call ─► ARGS_INVALID, SCHEMA_INVALID, … with a bounded message and a path ─┬─► back to the client
//!        ─► OK ────────────────────────────────────────────────────────────────┴─► the server ─► its result is checked too
//! tools/list again ─► refresh: what has not changed is not compiled again; calls meanwhile see the old catalog whole
//! ```
//!
//! Run it by `cargo run --example gateway`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;

use callgate::{
    Catalog, Counters, LimitError, Limits, Options, Outcome, Policy, Refused, Session, SharedCatalog, Step,
};
use serde::Serialize;
use serde_json::Value;

/// Of a message, whatever the call echoes; what is left out is told behind it.
const MESSAGE_BYTES_MAX: u64 = 1_024;

/// What the gateway says of a tool's schemas.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Flag {
    tool_id: String,
    kind: &'static str,
    detail: String,
}

/// Why a call, or its result, does not pass.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Refusal {
    /// `ARGS_INVALID`, `SCHEMA_INVALID`, `UNKNOWN_TOOL`, `FAULT`; `RESULT_INVALID` of results.
    code: &'static str,
    message: String,
    path: Vec<Step>,
}

/// The servers' catalogs, and how much of each is borne.
struct Gateway {
    options: Options,
    servers: BTreeMap<String, SharedCatalog>,
}

impl Gateway {
    /// Tools with errors are kept from being called. Errors: a limit has another name.
    fn new() -> Result<Gateway, LimitError> {
        let mut limits = Limits::default();
        // Findings from here on; the schemas still compile.
        limits.set("schema_bytes_healthy", 65_536)?;
        limits.set("schema_depth_healthy", 32)?;
        limits.set("properties_healthy", 512)?;
        limits.set("text_bytes_max", MESSAGE_BYTES_MAX)?;
        let options = Options { policy: Policy::Quarantine, limits, ..Options::default() };
        Ok(Gateway { options, servers: BTreeMap::new() })
    }

    /// Takes a server's answer to `tools/list`, at first and whenever it has changed. Answers what is wrong with its tools, and
    /// what has been compiled. Errors: the answer is no catalog; then what was there before stays.
    fn ingest(&mut self, server: &str, tools: &str) -> Result<(Vec<Flag>, Counters), Refused> {
        match self.servers.get(server) {
            Some(shared) => drop(shared.refresh(tools)?),
            None => {
                let (catalog, _) = Catalog::compile(tools, &self.options)?;
                self.servers.insert(server.to_owned(), SharedCatalog::new(catalog));
            }
        }
        let catalog = self.servers.get(server).map(SharedCatalog::current).unwrap_or_default();
        let flags = catalog.report().findings.iter().map(|finding| Flag {
            // What is no tool has no name, and is told by its place.
            tool_id: format!("{server}:{}", finding.tool.as_deref().unwrap_or(&finding.pointer)),
            kind: finding.kind.as_str(),
            detail: finding.to_string(),
        });
        Ok((flags.collect(), catalog.counters()))
    }

    /// Checks a call. Errors: it is not to reach the server.
    fn check(&self, session: &mut Session, server: &str, tool: &str, arguments: &str) -> Result<(), Refusal> {
        let catalog = self.servers.get(server).map(SharedCatalog::current).unwrap_or_default();
        refusal("ARGS_INVALID", &catalog.check(session, tool, arguments)).map_or(Ok(()), Err)
    }

    /// Checks what the server answered. Errors: it does not satisfy the tool's `outputSchema`.
    fn check_result(&self, session: &mut Session, server: &str, tool: &str, structured: &Value) -> Result<(), Refusal> {
        let catalog = self.servers.get(server).map(SharedCatalog::current).unwrap_or_default();
        let output = catalog.tool(tool).and_then(|tool| tool.output());
        let outcome = output.map(|schema| schema.check(session, structured));
        outcome.and_then(|outcome| refusal("RESULT_INVALID", &outcome)).map_or(Ok(()), Err)
    }
}

/// What is said of what does not pass.
fn refusal(rejected: &'static str, outcome: &Outcome<'_>) -> Option<Refusal> {
    let (code, message, path) = match outcome {
        Outcome::Accepted(_) => return None,
        Outcome::Rejected(rejection) => (rejected, rejection.message(), rejection.path()),
        Outcome::Fault(fault) => (outcome.code(), fault.to_string(), Vec::new()),
        Outcome::NotCompiled => (outcome.code(), "the tool is in quarantine".to_owned(), Vec::new()),
        Outcome::UnknownTool => (outcome.code(), "there is no such tool".to_owned(), Vec::new()),
    };
    Some(Refusal { code, message, path })
}

/// A server's catalog, in which `issue_id` is of that type.
fn tools(issue_id: &str) -> String {
    format!(
        r#"{{"tools": [
            {{"name": "get_issue", "inputSchema": {{
                "type": "object",
                "properties": {{"issue_id": {{"type": "{issue_id}"}}}},
                "required": ["issue_id"], "additionalProperties": false
            }}, "outputSchema": {{
                "type": "object", "properties": {{"title": {{"type": "string"}}}}, "required": ["title"]
            }}}},
            {{"name": "list_issues", "inputSchema": {{"type": "object"}}}},
            {{"name": "close_issue", "inputSchema": {{"properties": {{"why": {{"$ref": "https://example.com/why.json"}}}}}}}},
            {{"name": "odd", "inputSchema": {{"type": "strnig"}}}},
            {{"description": "no name"}}
        ]}}"#
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut gateway, mut session) = (Gateway::new()?, Session::new());
    let (flags, counters) = gateway.ingest("tracker", &tools("integer"))?;
    println!(
        "The server \"tracker\" registers; {} schemas are compiled. What is wrong with its tools:",
        counters.compiled
    );
    flags.iter().try_for_each(|flag| serde_json::to_string(flag).map(|flag| println!("  {flag}")))?;

    println!("\nCalls:");
    let long = format!(r#"{{"issue_id": "{}"}}"#, "4".repeat(100_000));
    for (tool, arguments) in [
        ("get_issue", r#"{"issue_id": 42}"#),
        ("get_issue", r#"{"issue_id": "42"}"#),
        ("get_issue", long.as_str()),
        ("close_issue", "{}"),
        ("open_issue", "{}"),
    ] {
        let said = gateway.check(&mut session, "tracker", tool, arguments);
        println!("  {tool} {}\n    {}", cut(arguments), summary(&said));
    }
    println!("\nA result:");
    let result = serde_json::json!({"title": null});
    let said = gateway.check_result(&mut session, "tracker", "get_issue", &result);
    println!("  get_issue {result}\n    {}", summary(&said));

    let (_, counters) = gateway.ingest("tracker", &tools("string"))?;
    println!("\nOne property's type changes: {} schema compiled, {} as they were.", counters.compiled, counters.reused);
    let now = gateway.check(&mut session, "tracker", "get_issue", r#"{"issue_id": "42"}"#);
    println!("The call with the text is {}.", if now.is_ok() { "OK now" } else { "still refused" });
    Ok(())
}

fn summary(said: &Result<(), Refusal>) -> String {
    match said {
        Ok(()) => "OK".to_owned(),
        Err(Refusal { code, message, .. }) => format!("{code}: {} ({} bytes)", cut(message), message.len()),
    }
}

/// What fits a line.
fn cut(text: &str) -> &str {
    text.get(..40).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gateway with one server, and what was said of its tools.
    fn gateway(tools: &str) -> (Gateway, Vec<Flag>) {
        let mut gateway = Gateway::new().expect("limits have these names");
        let (flags, _) = gateway.ingest("s", tools).expect("a catalog");
        (gateway, flags)
    }

    fn check(gateway: &Gateway, tool: &str, arguments: &str) -> Result<(), Refusal> {
        gateway.check(&mut Session::new(), "s", tool, arguments)
    }

    #[track_caller]
    fn check_refused(tool: &str, arguments: &str, code: &str, message: &str, path: &[&str]) {
        let refusal = check(&gateway(&tools("integer")).0, tool, arguments).expect_err("refused");
        let path: Vec<Step> = path.iter().map(|name| Step::Name((*name).to_owned())).collect();
        assert_eq!((refusal.code, refusal.message.as_str(), refusal.path), (code, message, path));
    }

    #[test]
    fn c2_c12_c15_findings_per_tool_and_the_others_register() {
        let (gateway, flags) = gateway(&tools("integer"));
        let kinds: Vec<(&str, &str)> = flags.iter().map(|flag| (flag.tool_id.as_str(), flag.kind)).collect();
        let expected = [("s:close_issue", "ref_remote"), ("s:odd", "not_well_formed"), ("s:/tools/4", "not_a_tool")];
        assert_eq!(kinds, expected);
        assert!(flags[1].detail.ends_with("did you mean \"string\"?"), "{}", flags[1].detail);
        assert_eq!(check(&gateway, "get_issue", r#"{"issue_id": 42}"#), Ok(()));
    }

    #[test]
    fn c3_c4_c5_the_limits_are_the_gateways() {
        let kinds = |schema: &str| {
            let (gateway, flags) = gateway(&format!(r#"[{{"name": "t", "inputSchema": {schema}}}]"#));
            // Flagged, and callable.
            assert_eq!(check(&gateway, "t", "{}"), Ok(()));
            flags.into_iter().map(|flag| flag.kind).collect::<Vec<_>>()
        };
        let deep = format!("{}{{}}{}", r#"{"properties": {"a": "#.repeat(20), "}}".repeat(20));
        assert_eq!(kinds(&deep), ["depth_exceeded"]);
        let many: Vec<String> = (0..600).map(|at| format!(r#""p{at}": {{}}"#)).collect();
        assert_eq!(kinds(&format!(r#"{{"properties": {{{}}}}}"#, many.join(", "))), ["properties_exceeded"]);
        assert_eq!(kinds(&format!(r#"{{"description": "{}"}}"#, "x".repeat(70_000))), ["size_exceeded"]);
    }

    #[test]
    fn c19_quarantine() {
        check_refused("close_issue", "{}", "SCHEMA_INVALID", "the tool is in quarantine", &[]);
        check_refused("open_issue", "{}", "UNKNOWN_TOOL", "there is no such tool", &[]);
    }

    #[test]
    fn c20_c21_c24_codes_messages_and_paths() {
        check_refused("get_issue", "{}", "ARGS_INVALID", "'issue_id' is a required property", &[]);
        check_refused(
            "get_issue",
            r#"{"issue_id": "42"}"#,
            "ARGS_INVALID",
            "'42' is not of type 'integer'",
            &["issue_id"],
        );
        check_refused(
            "get_issue",
            r#"{"issue_id": 42, "x": 1}"#,
            "ARGS_INVALID",
            "Additional properties are not allowed ('x' was unexpected)",
            &[],
        );
    }

    #[test]
    fn c25_a_long_value_is_not_echoed_whole() {
        let arguments = format!(r#"{{"issue_id": "{}"}}"#, "4".repeat(100_000));
        let refusal = check(&gateway(&tools("integer")).0, "get_issue", &arguments).expect_err("refused");
        let (kept, mark) = refusal.message.split_once('…').expect("a mark");
        assert!(kept.len() as u64 <= MESSAGE_BYTES_MAX && mark.ends_with(" bytes more)"), "{}", refusal.message);
    }

    #[test]
    fn c26_deep_calls_are_a_fault() {
        let tools = r##"[{"name": "t", "inputSchema": {"type": "object", "properties": {"child": {"$ref": "#"}}}}]"##;
        let nested = format!("{}{{}}{}", r#"{"child": "#.repeat(400), "}".repeat(400));
        let refusal = check(&gateway(tools).0, "t", &nested).expect_err("refused");
        assert_eq!((refusal.code, refusal.message.split(':').next()), ("FAULT", Some("depth")));
    }

    #[test]
    fn c28_c29_a_refresh_compiles_what_has_changed() {
        let (mut gateway, _) = gateway(&tools("integer"));
        let before = gateway.servers["s"].current();
        let (_, same) = gateway.ingest("s", &tools("integer")).expect("a catalog");
        assert_eq!((same.compiled, same.replaced, same.dropped), (0, 0, 0));
        let (_, changed) = gateway.ingest("s", &tools("string")).expect("a catalog");
        assert_eq!((changed.compiled, changed.replaced), (1, 1));
        let call = r#"{"issue_id": "42"}"#;
        assert_eq!(check(&gateway, "get_issue", call), Ok(()));
        // Whoever has taken the old catalog goes on with it.
        assert_eq!(before.check(&mut Session::new(), "get_issue", call).code(), "ARGS_INVALID");
        // What is no catalog changes nothing.
        assert!(gateway.ingest("s", "503 Service Unavailable").is_err());
        assert_eq!(check(&gateway, "get_issue", call), Ok(()));
    }

    #[test]
    fn c33_results_are_checked_by_the_output_schema() {
        let (gateway, _) = gateway(&tools("integer"));
        let check = |tool: &str, result: &str| {
            let result: Value = serde_json::from_str(result).expect("JSON");
            gateway.check_result(&mut Session::new(), "s", tool, &result)
        };
        assert_eq!(check("get_issue", r#"{"title": "tides"}"#), Ok(()));
        let refusal = check("get_issue", r#"{"title": 1}"#).expect_err("refused");
        assert_eq!((refusal.code, refusal.message.as_str()), ("RESULT_INVALID", "1 is not of type 'string'"));
        // Without such a schema there is nothing to hold it against.
        assert_eq!(check("list_issues", "1"), Ok(()));
    }
}
