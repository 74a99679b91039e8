//! Results of tools, held against their output schemas.

use allocation_counter::measure;
use callgate::{Catalog, Limits, Options, Outcome, Session, UnknownParameters};
use serde_json::Value;

const TOOLS: &str = r#"[
    {"name": "weather", "inputSchema": {}, "outputSchema": {"type": "object", "properties": {
        "celsius": {"type": "number", "description": "As measured."},
        "sky": {"properties": {"cover": {"maximum": 8}}}
    }, "required": ["celsius"]}},
    {"name": "plain", "inputSchema": {}},
    {"name": "any", "inputSchema": {}, "outputSchema": true},
    {"name": "broken", "inputSchema": {}, "outputSchema": {"$ref": "https://example.com/far"}}
]"#;

fn catalog() -> Catalog {
    Catalog::compile(TOOLS, &Options::default()).expect("a catalog").0
}

/// What is told of a result; from text and `Value` alike, by the catalog and by its compiled form.
#[track_caller]
fn check(tool: &str, result: &str, expected: &str) {
    let told = |outcome: Outcome<'_>| match outcome {
        Outcome::Rejected(rejection) => rejection.to_string(),
        other => other.code().to_owned(),
    };
    let compiled = catalog();
    let loaded = Catalog::load(compiled.to_bytes()).expect("sound");
    for catalog in [compiled, loaded] {
        let mut session = catalog.session(result.len());
        assert_eq!(told(catalog.check_result(&mut session, tool, result)), expected, "{tool}: {result}");
        if let Ok(value) = serde_json::from_str::<Value>(result) {
            assert_eq!(told(catalog.check_result(&mut session, tool, &value)), expected, "Value: {tool}: {result}");
        }
    }
}

#[test]
fn c33_structured_content_against_the_output_schema() {
    check("weather", r#"{"content": [], "structuredContent": {"celsius": 21.5}}"#, "OK");
    check(
        "weather",
        r#"{ "structuredContent" : {"celsius": 21, "sky": {"cover": 3}} , "_meta": {"a": "\u00e9"}}"#,
        "OK",
    );
    // Locations start inside the content.
    check(
        "weather",
        r#"{"content": [], "structuredContent": {"celsius": "21"}}"#,
        "schema: '21' is not of type 'number' at celsius — As measured.",
    );
    check(
        "weather",
        r#"{"structuredContent": {"celsius": 1, "sky": {"cover": 9}}}"#,
        "schema: 9 is greater than the maximum of 8 at sky/cover",
    );
    check("weather", r#"{"structuredContent": {}}"#, "schema: 'celsius' is a required property");
    check("weather", r#"{"structuredContent": null}"#, "schema: None is not of type 'object'");
    check("weather", r#"{"structuredContent": "a\"b"}"#, "schema: 'a\"b' is not of type 'object'");
    check("any", r#"{"structuredContent": ""}"#, "OK");
}

#[test]
fn c33_errors_and_tools_without_an_output_schema() {
    check("weather", r#"{"isError": true, "content": [{"type": "text", "text": "no such town"}]}"#, "OK");
    check("weather", r#"{"isError": true, "structuredContent": {"celsius": "?"}}"#, "OK");
    check("weather", r#"{"isError": false, "structuredContent": {}}"#, "schema: 'celsius' is a required property");
    check("plain", r#"{"structuredContent": 1}"#, "OK");
    check("plain", "[]", "OK");
    check("broken", r#"{"structuredContent": {}}"#, "SCHEMA_INVALID");
    check("nobody", "{}", "UNKNOWN_TOOL");
}

#[test]
fn c33_results_without_structured_content() {
    let why = "The tool has an output schema, so a result that is no error has structured content.";
    let lacks = format!("schema: 'structuredContent' is a required property — {why}");
    check("weather", r#"{"content": [{"type": "text", "text": "21"}]}"#, &lacks);
    check("weather", r#"{"isError": "true"}"#, &lacks);
    check("any", "{}", &lacks);
    check("weather", "[1]", &format!("schema: [1] is not of type 'object' — {why}"));
    check("weather", "null", &format!("schema: None is not of type 'object' — {why}"));
    check(
        "weather",
        r#"{"structuredContent": {"#,
        "schema: the result is not valid JSON: the text ends too early at byte 23",
    );
}

#[test]
fn content_alone() {
    let catalog = catalog();
    let mut session = Session::new();
    let mut check = |tool: &str, content: &str| match catalog.check_structured_content(&mut session, tool, content) {
        Outcome::Rejected(rejection) => rejection.to_string(),
        other => other.code().to_owned(),
    };
    assert_eq!(check("weather", r#"{"celsius": 1}"#), "OK");
    assert_eq!(
        check("weather", r#"{"structuredContent": {"celsius": 1}}"#),
        "schema: 'celsius' is a required property"
    );
    assert_eq!(check("weather", ""), "schema: the result is not valid JSON: no value at byte 0");
    assert_eq!(check("plain", "1"), "OK");
}

#[test]
fn options_and_limits_hold_for_results() {
    let mut options = Options { unknown_parameters: UnknownParameters::Report, ..Options::default() };
    options.limits = Limits::default();
    options.limits.set("call_bytes_max", 60).expect("a limit");
    let (catalog, _) = Catalog::compile(TOOLS, &options).expect("a catalog");
    let mut session = Session::new();
    match catalog.check_result(&mut session, "weather", r#"{"structuredContent": {"celsius": 1, "wind": 2}}"#) {
        Outcome::Accepted(accepted) => assert_eq!(accepted.notices, ["unknown parameter 'wind' at /wind"]),
        other => panic!("{other:?}"),
    }
    let long = format!(r#"{{"structuredContent": {{"celsius": 1}}, "content": "{}"}}"#, "x".repeat(60));
    assert_eq!(catalog.check_result(&mut session, "weather", &*long).code(), "FAULT");
}

#[test]
fn no_result_allocates() {
    let catalog = catalog();
    for result in [
        r#"{"content": [{"text": "21"}], "structuredContent": {"celsius": 21}}"#,
        r#"{"content": [{"text": "21"}], "structuredContent": {"celsius": "21"}}"#,
        r#"{"content": [{"text": "21"}], "isError": true}"#,
        r#"{"content": [{"text": "21"}]}"#,
        "nothing",
    ] {
        let mut session = catalog.session(result.len());
        let mut line = String::with_capacity(1_024);
        let allocated = measure(|| {
            if let Outcome::Rejected(rejection) = catalog.check_result(&mut session, "weather", result) {
                rejection.write_line(&mut line, "").expect("a string takes every write");
            }
        });
        assert_eq!(allocated.count_total, 0, "{result}");
    }
}
