//! What the adopting systems must see: the rows of their tables, with the texts.

use callgate::{Catalog, FindingKind, Options, Outcome};
use serde_json::json;

/// A tool in the style of a registry that checks calls before they are dispatched.
const BACKTEST: &str = r##"[{"name": "run_backtest", "inputSchema": {
    "type": "object",
    "properties": {
        "max_drawdown_pct": {"type": "number", "exclusiveMinimum": 0, "description": "Never negative."},
        "seed": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "description": "Omit for random."},
        "nested": {"anyOf": [{"$ref": "#/$defs/Nested"}, {"type": "null"}], "description": "Optional nesting."},
        "direct": {"$ref": "#/$defs/Nested"},
        "tags": {"type": "array", "items": {"type": "string", "description": "one tag"}},
        "one": {"oneOf": [{"type": "integer"}, {"type": "number"}]}
    },
    "required": ["max_drawdown_pct"],
    "$defs": {"Nested": {
        "type": "object",
        "properties": {"depth": {"type": "integer", "minimum": 1, "description": "Depth."}},
        "required": ["depth"],
        "description": "Nested model."
    }}
}}]"##;

/// Both from bytes and from a parsed value.
#[track_caller]
fn check(arguments: &str, expected: &str) {
    let (catalog, report) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    assert_eq!(report.findings, []);
    let mut session = catalog.session(1024);
    let text = outcome(&catalog.check(&mut session, "run_backtest", arguments));
    assert_eq!(text, expected);
    let value: serde_json::Value = serde_json::from_str(arguments).expect("JSON");
    assert_eq!(outcome(&catalog.check(&mut session, "run_backtest", &value)), expected);
}

fn outcome(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Accepted(_) => "ok".to_owned(),
        Outcome::Rejected(rejection) => rejection.to_string(),
        Outcome::Fault(fault) => format!("fault: {}", fault.code.as_str()),
        Outcome::UnknownTool => "unknown tool".to_owned(),
        Outcome::NotCompiled => "not compiled".to_owned(),
    }
}

#[test]
fn j1_scalar() {
    check(
        r#"{"max_drawdown_pct": -30}"#,
        "schema: -30 is less than or equal to the minimum of 0 at max_drawdown_pct — Never negative.",
    );
}

#[test]
fn j2_optional() {
    check(
        r#"{"max_drawdown_pct": 10, "seed": -1}"#,
        "schema: -1 is less than the minimum of 0 at seed — Omit for random.",
    );
}

#[test]
fn j3_nested() {
    check(
        r#"{"max_drawdown_pct": 10, "nested": {"depth": 0}}"#,
        "schema: 0 is less than the minimum of 1 at nested — Optional nesting.",
    );
}

#[test]
fn j4_missing() {
    check("{}", "schema: 'max_drawdown_pct' is a required property");
}

#[test]
fn j5_wrong_type() {
    check(
        r#"{"max_drawdown_pct": "thirty"}"#,
        "schema: 'thirty' is not of type 'number' at max_drawdown_pct — Never negative.",
    );
}

#[test]
fn j6_behind_a_reference() {
    check(
        r#"{"max_drawdown_pct": 1, "direct": {"depth": 0}}"#,
        "schema: 0 is less than the minimum of 1 at direct/depth — Depth.",
    );
    check(
        r#"{"max_drawdown_pct": 1, "direct": {}}"#,
        "schema: 'depth' is a required property at direct — Nested model.",
    );
}

#[test]
fn j7_an_element() {
    check(r#"{"max_drawdown_pct": 1, "tags": ["a", 1]}"#, "schema: 1 is not of type 'string' at tags/1 — one tag");
}

#[test]
fn j10_one_of_matched_twice() {
    check(
        r#"{"max_drawdown_pct": 1, "one": 1}"#,
        "schema: 1 is valid under each of {'type': 'number'}, {'type': 'integer'} at one",
    );
}

#[test]
fn j11_no_branch_is_nearest() {
    check(
        r#"{"max_drawdown_pct": 1, "seed": "x"}"#,
        "schema: 'x' is not valid under any of the given schemas at seed — Omit for random.",
    );
}

#[test]
fn j14_arguments_are_untouched() {
    let (catalog, _) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    let arguments = json!({"max_drawdown_pct": 1, "seed": null, "extra": [1.0]});
    let before = arguments.clone();
    assert!(catalog.check(&mut session, "run_backtest", &arguments).is_accepted());
    assert_eq!(arguments, before);
}

#[test]
fn j16_a_tool_that_does_not_compile_costs_no_other() {
    let tools = r##"[
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}},
        {"name": "good", "inputSchema": {"type": "object"}}
    ]"##;
    let (catalog, report) = Catalog::compile(tools, &Options::default()).expect("a catalog");
    assert_eq!((report.tools, report.healthy, report.flagged, report.refused), (2, 1, 0, 1));
    assert_eq!(report.findings[0].kind, FindingKind::RefUnresolved);
    assert_eq!(report.findings[0].pointer, "/properties/a/$ref");
    let mut session = catalog.session(1024);
    assert_eq!(outcome(&catalog.check(&mut session, "bad", "{}")), "not compiled");
    assert_eq!(outcome(&catalog.check(&mut session, "good", "{}")), "ok");
}

#[test]
fn j17_an_unknown_tool_is_known_before_anything_is_read() {
    let (catalog, _) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    assert_eq!(outcome(&catalog.check(&mut session, "run_backtests", "not JSON")), "unknown tool");
}

#[test]
fn c26_nesting_through_a_recursive_reference() {
    let tools = r##"[{"name": "t", "inputSchema": {
        "type": "object", "properties": {"child": {"$ref": "#"}}, "additionalProperties": false
    }}]"##;
    let (catalog, _) = Catalog::compile(tools, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1 << 14);
    let nested = |levels: usize| format!("{}{{}}{}", r#"{"child":"#.repeat(levels), "}".repeat(levels));
    let (within, beyond) = (nested(255), nested(400));
    assert_eq!(outcome(&catalog.check(&mut session, "t", within.as_str())), "ok");
    assert_eq!(outcome(&catalog.check(&mut session, "t", beyond.as_str())), "fault: depth");
}

#[test]
fn c27_a_pattern_that_explodes_elsewhere() {
    let tools = r#"[{"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}}}]"#;
    let (catalog, _) = Catalog::compile(tools, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    let arguments = format!(r#"{{"a": "{}!"}}"#, "a".repeat(26));
    assert_eq!(
        outcome(&catalog.check(&mut session, "t", arguments.as_str())),
        format!("schema: '{}!' does not match '^(a+)+$' at a", "a".repeat(26)),
    );
}

#[test]
fn a_tool_that_arrives_later() {
    let (mut catalog, _) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    let later = r#"{"name": "later", "inputSchema": {"type": "object", "required": ["x"]}}"#;
    let report = catalog.upsert(later, &Options::default()).expect("a tool");
    assert_eq!((report.tools, report.healthy), (1, 1));
    let mut session = catalog.session(1024);
    assert_eq!(outcome(&catalog.check(&mut session, "later", "{}")), "schema: 'x' is a required property");
    assert_eq!(catalog.tools().count(), 2);
    let changed = r#"{"name": "later", "inputSchema": {"type": "object"}}"#;
    catalog.upsert(changed, &Options::default()).expect("a tool");
    assert_eq!(outcome(&catalog.check(&mut session, "later", "{}")), "ok");
}

#[test]
fn text_that_is_not_json_is_said_to_be_so() {
    let (catalog, _) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    let mut say = |bytes: &[u8]| outcome(&catalog.check(&mut session, "run_backtest", bytes));
    assert_eq!(say(b""), "schema: arguments are not valid JSON: no value at byte 0");
    assert_eq!(say(b"{\"a\": 1"), "schema: arguments are not valid JSON: the text ends too early at byte 7");
    assert_eq!(say(b"{\"a\": NaN}"), "schema: arguments are not valid JSON: NaN and Infinity are not JSON at byte 6");
    assert_eq!(say(b"{} {}"), "schema: arguments are not valid JSON: text after the value at byte 3");
    assert_eq!(
        say(br#"{"max_drawdown_pct": 1, "max_drawdown_pct": 2}"#),
        "schema: arguments are not valid JSON: duplicate member name at byte 24"
    );
    assert_eq!(
        say(br#"{"max_drawdown_pct": 1, "x": "\ud800"}"#),
        "schema: arguments are not valid JSON: lone surrogate at byte 30"
    );
    assert_eq!(say(b"\xef\xbb\xbf{}"), "schema: arguments are not valid JSON: byte order mark at byte 0");
    assert_eq!(say(b"{\"a\": \"\xff\"}"), "schema: arguments are not valid JSON: invalid UTF-8 at byte 7");
}

#[test]
fn a_catalog_and_a_session_can_cross_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Catalog>();
    sent::<callgate::Session>();
}
