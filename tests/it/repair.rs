//! Repairs: lossless, whole, in one way only; and only of what fails.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use callgate::{Catalog, Options, Outcome, Repair, RepairOptions, RepairRule, Schema, Session};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::corpus::{self, corpus, say};
use crate::instances;
use crate::random::Rng;
use crate::schemas;
use crate::verdict::{compile, judge, start_of};

/// The repair of arguments by a schema, with the rules that are on by default.
fn repair(schema: &str, arguments: &str) -> Option<Repair> {
    repair_with(schema, arguments, RepairOptions::default())
}

fn repair_with(schema: &str, arguments: &str, options: RepairOptions) -> Option<Repair> {
    compile(schema).repair(&mut Session::new(), arguments, &options)
}

fn steps(repair: &Repair) -> Vec<(String, &'static str)> {
    repair.steps().map(|step| (step.path().to_owned(), step.rule().as_str())).collect()
}

/// The repaired arguments and `(path, rule)` of each step.
#[track_caller]
fn check(schema: &str, arguments: &str, expected: &str, expected_steps: &[(&str, &str)]) {
    let repair = repair(schema, arguments).unwrap_or_else(|| panic!("no repair of {arguments} by {schema}"));
    let steps = steps(&repair);
    let steps: Vec<_> = steps.iter().map(|(path, rule)| (path.as_str(), *rule)).collect();
    assert_eq!((repair.arguments(), &*steps), (expected, expected_steps), "{arguments} by {schema}");
    holds(&compile(schema), arguments, &repair, RepairOptions::default());
}

#[track_caller]
fn none(schema: &str, arguments: &str) {
    let found = repair(schema, arguments);
    assert!(found.is_none(), "{arguments} by {schema}: {:?}", found.map(|found| steps(&found)));
}

/// Of one member `a`, whose subschema is given.
#[track_caller]
fn check_a(subschema: &str, value: &str, expected: &str, rule: &str) {
    let schema = format!(r#"{{"type": "object", "properties": {{"a": {subschema}}}}}"#);
    check(&schema, &format!(r#"{{"a": {value}}}"#), &format!(r#"{{"a": {expected}}}"#), &[("$.a", rule)]);
}

#[track_caller]
fn none_a(subschema: &str, value: &str) {
    none(&format!(r#"{{"properties": {{"a": {subschema}}}}}"#), &format!(r#"{{"a": {value}}}"#));
}

// --- the rows of the adopting system -----------------------------------------------------------------------------

const ISSUES: &str = r#"{"tools": [{"name": "close_issue", "inputSchema": {
    "type": "object",
    "properties": {
        "issue_id": {"type": "integer"},
        "score": {"type": "number"},
        "notify": {"type": "boolean"},
        "assignee": {"type": ["null", "object"]},
        "labels": {"type": "object", "additionalProperties": {"type": "integer"}}
    },
    "required": ["issue_id"]
}}]}"#;

#[track_caller]
fn check_issue(arguments: &str, expected: &Value) {
    let (catalog, _) = Catalog::compile(ISSUES, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    let repair = catalog.repair(&mut session, "close_issue", arguments, &RepairOptions::default());
    let steps = json!(repair.expect("a repair"))["steps"].clone();
    let steps: Vec<Value> = steps
        .as_array()
        .into_iter()
        .flatten()
        .map(|step| json!({"path": step["path"], "rule": step["rule"]}))
        .collect();
    assert_eq!(json!(steps), *expected);
}

#[test]
fn c30_the_rules_by_their_names() {
    check_issue(r#"{"issue_id": "42"}"#, &json!([{"path": "$.issue_id", "rule": "str_to_integer"}]));
    check_issue(r#"{"issue_id": 1, "score": "0.5"}"#, &json!([{"path": "$.score", "rule": "str_to_number"}]));
    check_issue(r#"{"issue_id": 1, "notify": "false"}"#, &json!([{"path": "$.notify", "rule": "str_to_boolean"}]));
    check_issue(r#"{"issue_id": 1, "assignee": "null"}"#, &json!([{"path": "$.assignee", "rule": "str_to_null"}]));
    check_issue(
        r#"{"issue_id": 1, "assignee": "{\"name\": \"x\"}"}"#,
        &json!([{"path": "$.assignee", "rule": "parse_stringified_object"}]),
    );
    check_issue(
        r#"{"issue_id": 1, "labels": "{\"ui\": \"3\", \"it's\": 4}"}"#,
        &json!([
            {"path": "$.labels", "rule": "parse_stringified_object"},
            {"path": "$.labels.ui", "rule": "str_to_integer"},
        ]),
    );
}

#[test]
fn a_repair_is_a_patch_with_steps_and_arguments() {
    let (catalog, _) = Catalog::compile(ISSUES, &Options::default()).expect("a catalog");
    let arguments = r#"{ "issue_id": "42", "notify": null, "labels": "{\"a/b\": \"1\"}" }"#;
    let repair = catalog.repair(&mut Session::new(), "close_issue", arguments, &RepairOptions::default());
    let expected = r#"{"patch":[{"op":"replace","path":"/issue_id","value":42},{"op":"remove","path":"/notify"},{"op":"replace","path":"/labels","value":{"a/b":"1"}},{"op":"replace","path":"/labels/a~1b","value":1}],"steps":[{"path":"$.issue_id","pointer":"/issue_id","rule":"str_to_integer"},{"path":"$.notify","pointer":"/notify","rule":"null_to_absent"},{"path":"$.labels","pointer":"/labels","rule":"parse_stringified_object"},{"path":"$.labels['a/b']","pointer":"/labels/a~1b","rule":"str_to_integer"}],"arguments":{"issue_id":42,"labels":{"a/b":1}}}"#;
    assert_eq!(serde_json::to_string(&repair).expect("serialises"), expected);
    let repair = repair.expect("there is one");
    assert_eq!(repair.arguments(), r#"{ "issue_id": 42, "labels": {"a/b": 1} }"#);
    let ops: Vec<_> = repair.patch().map(|op| (op.op(), op.path().to_owned(), op.value())).collect();
    assert_eq!(ops[1], ("remove", "/notify".to_owned(), None));
    assert_eq!(ops[3], ("replace", "/labels/a~1b".to_owned(), Some("1")));
}

#[test]
fn what_has_no_repair() {
    let (catalog, _) = Catalog::compile(ISSUES, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    let mut repair = |tool, arguments: &str| catalog.repair(&mut session, tool, arguments, &RepairOptions::default());
    assert_eq!(repair("close_issue", r#"{"issue_id": 42}"#), None, "it is accepted");
    assert_eq!(repair("close_issue", r#"{"issue_id": "42", "score": "high"}"#), None, "half of it would still fail");
    assert_eq!(repair("close_issue", r#"{"issue_id": "42""#), None, "it is not JSON");
    assert_eq!(repair("close_issue", r#"{"issue_id": "42", "issue_id": "42"}"#), None, "a member stands twice");
    assert_eq!(repair("no_such_tool", r#"{"issue_id": "42"}"#), None, "no tool");
    let bytes =
        catalog.repair(&mut Session::new(), "close_issue", b"{\"issue_id\": \"\xff\"}", &RepairOptions::default());
    assert_eq!(bytes, None, "it is not UTF-8");
}

// --- rules -------------------------------------------------------------------------------------------------------

#[test]
fn the_rule_goes_by_what_is_wanted() {
    check_a(r#"{"type": "integer"}"#, r#""42""#, "42", "str_to_integer");
    check_a(r#"{"type": "number"}"#, r#""42""#, "42", "str_to_number");
    check_a(r#"{"type": ["number", "integer"]}"#, r#""42""#, "42", "str_to_integer");
    check_a(r#"{"enum": [1, 2]}"#, r#""2""#, "2", "str_to_integer");
    check_a(r#"{"const": 1.5}"#, r#""1.5""#, "1.5", "str_to_number");
    check_a(r#"{"enum": [true, null]}"#, r#""true""#, "true", "str_to_boolean");
    check_a(r#"{"enum": [true, null]}"#, r#""null""#, "null", "str_to_null");
    check_a(r#"{"type": ["string", "integer"], "enum": ["a", 1]}"#, r#""1""#, "1", "str_to_integer");
    check_a(r#"{"type": "number"}"#, r#""-0.25""#, "-0.25", "str_to_number");
    check_a(r#"{"type": "number"}"#, r#""1.0""#, "1.0", "str_to_number");
    check_a(r#"{"type": "integer"}"#, r#""\u0034\u0032""#, "42", "str_to_integer");
    check_a(r#"{"type": "integer"}"#, r#""18446744073709551615""#, "18446744073709551615", "str_to_integer");
    check_a(r#"{"type": "integer"}"#, r#""-9223372036854775808""#, "-9223372036854775808", "str_to_integer");
}

#[test]
fn a_text_must_be_exactly_a_literal() {
    for text in ["", " 1", "1 ", "01", "+1", "-0", "1.0", "1e2", "0x1", "1_000", "1,000", "one", "18446744073709551616"]
    {
        none_a(r#"{"type": "integer"}"#, &json!(text).to_string());
    }
    for text in [".5", "5.", "00.5", "1e400", "NaN", "Infinity", "-inf", "1/6", "0.10000000000000000001"] {
        none_a(r#"{"type": "number"}"#, &json!(text).to_string());
    }
    for text in ["True", "FALSE", "yes", "1", "true ", "on"] {
        none_a(r#"{"type": "boolean"}"#, &json!(text).to_string());
    }
    for text in ["None", "NULL", "nil", ""] {
        none_a(r#"{"type": "null"}"#, &json!(text).to_string());
    }
    // Whole by the letter of the draft, but spelled as no integer.
    none_a(r#"{"enum": [1, 2]}"#, r#""1.0""#);
    // Where no number is known to be wanted, the zeros may mean something.
    none_a(r#"{"enum": [1.5, 2]}"#, r#""1.50""#);
}

/// A price keeps its cents, in the arguments and in the patch.
#[test]
fn a_decimal_is_read_as_it_is_spelled() {
    for text in ["12.50", "1.0", "-0.10", "1e2", "1E+2", "2.5e-1"] {
        check_a(r#"{"type": "number"}"#, &json!(text).to_string(), text, "str_to_number");
        check_a(
            r#"{"anyOf": [{"type": "number"}, {"type": "null"}]}"#,
            &json!(text).to_string(),
            text,
            "str_to_number",
        );
    }
}

#[test]
fn a_string_that_is_wanted_stays() {
    none_a(r#"{"type": "string", "enum": ["a", "b"]}"#, r#""1""#);
    none_a(r#"{"type": "string", "minLength": 3}"#, r#""42""#);
    // No type is named, so other keywords hold for strings alone, and a number would pass by them all.
    none_a(r#"{"minLength": 3}"#, r#""42""#);
    none_a(r#"{"pattern": "^a"}"#, r#""42""#);
    none_a(r#"{"not": {"type": "string"}}"#, r#""42""#);
    none_a(r#"{"anyOf": [{"minLength": 3}, {"pattern": "^a"}]}"#, r#""42""#);
}

#[test]
fn json_text_is_parsed_where_no_string_is_wanted() {
    check_a(r#"{"type": "object"}"#, r#""{}""#, "{}", "parse_stringified_object");
    check_a(r#"{"type": "array"}"#, r#"" [1, \"b\"]\n""#, r#"[1, "b"]"#, "parse_stringified_array");
    check_a(r#"{"type": ["array", "object"]}"#, r#""[]""#, "[]", "parse_stringified_array");
    // Numbers keep their spelling, also such as 64 bits do not hold.
    let spelled = r#"{"n": [1.50, 1e2, 12345678901234567890123]}"#;
    check_a(r#"{"type": "object"}"#, &json!(spelled).to_string(), spelled, "parse_stringified_object");
    none_a(r#"{"type": ["object", "string"], "maxLength": 1}"#, r#""{}""#);
    none_a(r#"{"type": "object"}"#, r#""[]""#);
    for text in [
        r#"{"a": 1, "a": 2}"#,
        "{} {}",
        "{'a': 1}",
        r#"{"a": NaN}"#,
        r#"{"a": 1,}"#,
        "{",
        "```{}```",
        r#"{"a": "\ud800"}"#,
    ] {
        none_a(r#"{"type": "object"}"#, &json!(text).to_string());
    }
}

#[test]
fn arguments_as_text() {
    let schema = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;
    check(schema, r#""{\"n\": 1}""#, r#"{"n": 1}"#, &[("$", "parse_stringified_arguments")]);
    let both = [("$", "parse_stringified_arguments"), ("$.n", "str_to_integer")];
    check(schema, r#" "{\"n\": \"1\"}" "#, r#" {"n": 1} "#, &both);
    none(schema, r#""{}""#);
    // Once is what a host that encodes twice does; twice more is not.
    none(schema, &json!(json!(r#"{"n": 1}"#).to_string()).to_string());
}

#[test]
fn null_where_absent_is_meant() {
    check_members(r#"{"a": null}"#, "{}", &["$.a"]);
    check_members(r#"{"a": null, "b": "x"}"#, r#"{"b": "x"}"#, &["$.a"]);
    check_members(r#"{"b": "x", "a": null}"#, r#"{"b": "x"}"#, &["$.a"]);
    check_members(r#"{ "c": null , "b": "x", "a": null }"#, r#"{ "b": "x" }"#, &["$.c", "$.a"]);
    let required = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#;
    none(required, r#"{"a": null}"#);
    none(r#"{"type": "array", "items": {"type": "integer"}}"#, "[null]");
    none(r#"{"type": "object"}"#, "null");
    // Not by way of another reading: the text may be what is wrong.
    none_a(r#"{"enum": ["x", "y"]}"#, r#""null""#);
    // What may not be there at all is a mistake of another kind.
    none_a("false", "null");
    // `null` is wanted, and something else is wrong.
    none_a(r#"{"type": ["integer", "null"], "not": {"type": "null"}}"#, "null");
}

/// `a` is an integer, `b` a string and `c` one of a list.
#[track_caller]
fn check_members(arguments: &str, expected: &str, paths: &[&str]) {
    let schema = r#"{"type": "object", "properties":
        {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"enum": ["x", "y"]}}}"#;
    let steps: Vec<_> = paths.iter().map(|path| (*path, "null_to_absent")).collect();
    check(schema, arguments, expected, &steps);
}

#[test]
fn wrapping_is_off_unless_allowed() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}"#;
    none(schema, r#"{"a": 1}"#);
    let options = RepairOptions::default().allow(RepairRule::WrapInArray);
    let wrapped = |arguments| repair_with(schema, arguments, options).map(|repair| repair.arguments().to_owned());
    assert_eq!(wrapped(r#"{"a": 1}"#).as_deref(), Some(r#"{"a": [1]}"#));
    assert_eq!(wrapped(r#"{"a": "1"}"#).as_deref(), Some(r#"{"a": [1]}"#), "the text goes on to be read inside");
    assert_eq!(wrapped(r#"{"a": "[1]"}"#).as_deref(), Some(r#"{"a": [1]}"#), "an array that is spelled comes first");
    assert_eq!(wrapped(r#"{"a": null}"#).as_deref(), Some("{}"));
    assert_eq!(wrapped(r#"{"a": "x"}"#), None);
}

#[test]
fn rules_can_be_denied() {
    let schema = r#"{"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}"#;
    for (rule, arguments) in [(RepairRule::NullToAbsent, r#"{"a": null}"#), (RepairRule::StrToInteger, r#"{"a": "1"}"#)]
    {
        assert!(repair(schema, arguments).is_some());
        assert_eq!(repair_with(schema, arguments, RepairOptions::default().deny(rule)), None, "{rule}");
    }
    for rule in RepairRule::ALL {
        assert_eq!(RepairOptions::default().allows(rule), rule != RepairRule::WrapInArray);
        assert_eq!(json!(rule), json!(rule.as_str()));
    }
}

// --- places ------------------------------------------------------------------------------------------------------

#[test]
fn nested_and_through_references() {
    let schema = r##"{"type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}}, "$defs": {"node": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}
    }}}"##;
    check(
        schema,
        r#"{"tree": {"n": "1", "children": [{"n": 2}, {"n": "3", "children": [{"n": "4"}]}]}}"#,
        r#"{"tree": {"n": 1, "children": [{"n": 2}, {"n": 3, "children": [{"n": 4}]}]}}"#,
        &[
            ("$.tree.n", "str_to_integer"),
            ("$.tree.children[1].n", "str_to_integer"),
            ("$.tree.children[1].children[0].n", "str_to_integer"),
        ],
    );
    // A text inside a text inside a text, each where the schema wants what it spells.
    let inner = json!({"n": "3"}).to_string();
    let middle = json!({"children": [inner], "n": 2}).to_string();
    let outer = json!({"tree": middle}).to_string();
    check(
        schema,
        &outer,
        r#"{"tree":{"children":[{"n":3}],"n":2}}"#,
        &[
            ("$.tree", "parse_stringified_object"),
            ("$.tree.children[0]", "parse_stringified_object"),
            ("$.tree.children[0].n", "str_to_integer"),
        ],
    );
}

#[test]
fn elements_and_further_members() {
    check(
        r#"{"type": "array", "prefixItems": [{"type": "boolean"}], "items": {"type": "number"}}"#,
        r#"["true", "1.5", 2]"#,
        "[true, 1.5, 2]",
        &[("$[0]", "str_to_boolean"), ("$[1]", "str_to_number")],
    );
    check(
        r#"{"patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}}"#,
        r#"{"x-1": "1", "y": "true"}"#,
        r#"{"x-1": 1, "y": true}"#,
        &[("$['x-1']", "str_to_integer"), ("$.y", "str_to_boolean")],
    );
}

#[test]
fn unions() {
    let optional = r#"{"anyOf": [{"type": "integer"}, {"type": "null"}]}"#;
    check_a(optional, r#""42""#, "42", "str_to_integer");
    check_a(optional, r#""null""#, "null", "str_to_null");
    none_a(optional, r#""none""#);
    check_a(r#"{"oneOf": [{"type": "number"}, {"type": "boolean"}]}"#, r#""4""#, "4", "str_to_number");
    // Both branches read the same.
    check_a(r#"{"anyOf": [{"type": "number"}, {"type": "integer"}]}"#, r#""4""#, "4", "str_to_number");
    check_a(r#"{"anyOf": [{"enum": ["low", "high"]}, {"type": "integer"}]}"#, r#""4""#, "4", "str_to_integer");
    check_a(r#"{"anyOf": [{"type": "array"}, {"type": "object"}]}"#, r#""{}""#, "{}", "parse_stringified_object");
    // A string may be meant.
    none_a(r#"{"anyOf": [{"type": "string", "maxLength": 1}, {"type": "object"}]}"#, r#""{}""#);
    none_a(r#"{"anyOf": [{"anyOf": [{"type": "string", "maxLength": 1}]}, {"type": "object"}]}"#, r#""{}""#);
}

#[test]
fn null_in_unions() {
    let schema = r#"{"type": "object", "properties": {"a": {"anyOf": [{"type": "integer"}, {"enum": ["x"]}]}}}"#;
    check(schema, r#"{"a": null}"#, "{}", &[("$.a", "null_to_absent")]);
}

#[test]
fn branches_of_objects() {
    let schema = r#"{"type": "object", "properties": {"shape": {"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"type": "object", "properties": {"kind": {"const": "label"}, "r": {"type": "string", "maxLength": 1}},
            "required": ["kind", "r"]}
    ]}}}"#;
    let number = [("$.shape.r", "str_to_number")];
    check(schema, r#"{"shape": {"kind": "circle", "r": "20"}}"#, r#"{"shape": {"kind": "circle", "r": 20}}"#, &number);
    none(schema, r#"{"shape": {"kind": "label", "r": "20"}}"#);
    check(
        schema,
        r#"{"shape": "{\"kind\": \"circle\", \"r\": \"2\"}"}"#,
        r#"{"shape": {"kind": "circle", "r": 2}}"#,
        &[("$.shape", "parse_stringified_object"), ("$.shape.r", "str_to_number")],
    );
}

#[test]
fn unions_inside_unions_and_lists_of_them() {
    let schema = r#"{"type": "array", "items": {"anyOf": [
        {"type": "object", "properties": {"v": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "required": ["v"]},
        {"type": "boolean"}
    ]}}"#;
    check(
        schema,
        r#"[{"v": "1"}, "true", {"v": "null"}, {"v": 3}, "{\"v\": \"4\"}"]"#,
        r#"[{"v": 1}, true, {"v": null}, {"v": 3}, {"v": 4}]"#,
        &[
            ("$[0].v", "str_to_integer"),
            ("$[1]", "str_to_boolean"),
            ("$[2].v", "str_to_null"),
            ("$[4]", "parse_stringified_object"),
            ("$[4].v", "str_to_integer"),
        ],
    );
}

#[test]
fn several_readings_are_none() {
    let either =
        r#"{"anyOf": [{"properties": {"x": {"type": "integer"}}}, {"properties": {"y": {"type": "integer"}}}]}"#;
    none(either, r#"{"x": "1", "y": "2"}"#);
    check(either, r#"{"x": "1", "y": "b"}"#, r#"{"x": 1, "y": "b"}"#, &[("$.x", "str_to_integer")]);
    // What one branch takes away the other one keeps.
    let absent = r#"{"oneOf": [
        {"properties": {"x": {"type": "integer"}, "y": {"type": "string"}}, "required": ["y"]},
        {"properties": {"x": {"type": "string"}, "y": {"type": "integer"}}, "required": ["x"]}
    ]}"#;
    check(absent, r#"{"x": "1", "y": null}"#, r#"{"x": "1"}"#, &[("$.y", "null_to_absent")]);
    none(absent, r#"{"x": "1", "y": "2"}"#);
    none(absent, r#"{"x": null, "y": null}"#);
}

#[test]
fn conditions_change_no_more_than_they_must() {
    // Only since `mode` is a string is `a` judged by `else`.
    let schema = r#"{"type": "object", "properties": {"mode": {"type": "integer"}},
        "if": {"properties": {"mode": {"const": 1}}},
        "then": {}, "else": {"properties": {"a": {"type": "string"}}}}"#;
    check(schema, r#"{"mode": "1", "a": null}"#, r#"{"mode": 1, "a": null}"#, &[("$.mode", "str_to_integer")]);
    let both = [("$.mode", "str_to_integer"), ("$.a", "null_to_absent")];
    check(schema, r#"{"mode": "2", "a": null}"#, r#"{"mode": 2}"#, &both);
    // What is asked for by one spelling only need not be there.
    let schema = r#"{"type": "object", "properties": {"mode": {"type": "integer"}},
        "if": {"properties": {"mode": {"type": "string"}}}, "then": {"required": ["b"]}}"#;
    check(schema, r#"{"mode": "2"}"#, r#"{"mode": 2}"#, &[("$.mode", "str_to_integer")]);
}

// --- parsed values -----------------------------------------------------------------------------------------------

#[test]
fn values_are_repaired_as_texts_are() {
    let schema =
        compile(r#"{"properties": {"a": {"type": "integer"}, "b": {"type": "number"}, "c": {"type": "object"}}}"#);
    let value = json!({"a": "1", "b": "0.1", "c": "{\"d\": [1]}", "e": 0.1 + 0.2, "f": null});
    let repair = schema.repair(&mut Session::new(), &value, &RepairOptions::default()).expect("a repair");
    let mut repaired = value.clone();
    assert!(repair.apply_to(&mut repaired));
    assert_eq!(repaired, json!({"a": 1, "b": 0.1, "c": {"d": [1]}, "e": 0.1 + 0.2, "f": null}));
    assert!(judge(&schema, &repaired).is_accepted());
    assert!(!repair.apply_to(&mut json!([])), "another value has no such place");
    let whole = json!(value.to_string());
    let object = compile(r#"{"type": "object"}"#);
    let repair = object.repair(&mut Session::new(), &whole, &RepairOptions::default()).expect("a repair");
    let mut repaired = whole.clone();
    assert!(repair.apply_to(&mut repaired));
    assert_eq!((repaired, steps(&repair)[0].1), (value, "parse_stringified_arguments"));
}

// --- what always holds -------------------------------------------------------------------------------------------

/// All that a repair promises: it satisfies the schema, has no repair itself, undoes no more than was spelled, touches only
/// what it says, all of which it needs, and its patch makes it.
#[track_caller]
fn holds(schema: &Schema, arguments: &str, repair: &Repair, options: RepairOptions) {
    let shown = || format!("{} -> {}", start_of(arguments), start_of(repair.arguments()));
    assert!(!judge(schema, arguments).is_accepted(), "a valid call was touched: {}", shown());
    assert!(judge(schema, repair.arguments()).is_accepted(), "{}", shown());
    let again = schema.repair(&mut Session::new(), repair.arguments(), &options);
    assert_eq!(again, None, "{}", shown());
    let steps: Vec<_> = repair.steps().map(|step| (step.pointer().to_owned(), step.rule())).collect();
    let changed = undone(arguments, repair);
    assert_eq!(leaves(&changed), leaves(repair.arguments()), "{}", shown());
    let is_touched = |pointer: &str| {
        steps.iter().any(|(step, _)| {
            pointer.strip_prefix(step.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let untouched = |text| -> BTreeMap<String, String> {
        leaves(text).into_iter().filter(|(pointer, _)| !is_touched(pointer)).collect()
    };
    if !steps.iter().any(|(_, rule)| *rule == RepairRule::NullToAbsent) {
        assert_eq!(untouched(arguments), untouched(repair.arguments()), "{}", shown());
    }
    needs_all(schema, arguments, repair);
}

/// Each scalar's own text, and each empty container, by its pointer.
fn leaves(text: &str) -> BTreeMap<String, String> {
    fn walk(raw: &RawValue, pointer: &str, into: &mut BTreeMap<String, String>) {
        let text = raw.get();
        let before = into.len();
        if text.starts_with('{') {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).expect("an object");
            for (name, member) in &members {
                walk(member, &format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), into);
            }
        } else if text.starts_with('[') {
            let elements: Vec<&RawValue> = serde_json::from_str(text).expect("an array");
            elements.iter().enumerate().for_each(|(at, element)| walk(element, &format!("{pointer}/{at}"), into));
        } else {
            into.insert(pointer.to_owned(), text.to_owned());
        }
        if into.len() == before {
            into.insert(pointer.to_owned(), text.chars().filter(|c| !c.is_whitespace()).collect());
        }
    }
    let mut all = BTreeMap::new();
    walk(serde_json::from_str(text).expect("JSON"), "", &mut all);
    all
}

/// Applies the patch, operation by operation, and looks at each value before it is replaced: a string that says exactly the
/// text of what takes its place, the one element of an array, or a `null` that is left out. Answers what comes out.
#[track_caller]
fn undone(arguments: &str, repair: &Repair) -> String {
    let mut text = arguments.to_owned();
    for (step, op) in repair.steps().zip(repair.patch()) {
        assert_eq!(step.pointer(), op.path());
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        let before = value.pointer(op.path()).unwrap_or_else(|| panic!("nothing at {} in {text}", op.path())).clone();
        match (step.rule(), op.value(), &before) {
            (RepairRule::NullToAbsent, None, Value::Null) => {
                let (parent, name) = op.path().rsplit_once('/').expect("a member");
                let name = name.replace("~1", "/").replace("~0", "~");
                value.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(&name);
            }
            (RepairRule::WrapInArray, Some(after), before) => {
                assert_eq!(serde_json::from_str::<Value>(after).expect("JSON"), json!([before]));
            }
            (rule, Some(after), Value::String(before)) => {
                let is_parsed = rule.as_str().starts_with("parse_");
                assert_eq!(after, if is_parsed { before.trim() } else { before.as_str() });
            }
            other => panic!("{other:?} at {}", op.path()),
        }
        text = match op.value() {
            // Put in as text, so that its spelling stays.
            Some(after) => {
                *value.pointer_mut(op.path()).expect("it is there") = json!("\u{1}here\u{1}");
                value.to_string().replace(&json!("\u{1}here\u{1}").to_string(), after)
            }
            None => value.to_string(),
        };
    }
    text
}

/// Without any one of its steps, and those inside it, the call is still rejected.
#[track_caller]
fn needs_all(schema: &Schema, arguments: &str, repair: &Repair) {
    let ops: Vec<(String, Option<String>)> =
        repair.patch().map(|op| (op.path().to_owned(), op.value().map(str::to_owned))).collect();
    if ops.len() > 32 || arguments.len() > 10_000 {
        return;
    }
    for (at, (without, _)) in ops.iter().enumerate() {
        let mut value: Value = serde_json::from_str(arguments).expect("JSON");
        for (later, (path, after)) in ops.iter().enumerate() {
            let is_inside = later >= at && (path == without || path.starts_with(&format!("{without}/")));
            match after {
                _ if is_inside => {}
                Some(after) => {
                    *value.pointer_mut(path).expect("it is there") = serde_json::from_str(after).expect("JSON");
                }
                None => {
                    let (parent, name) = path.rsplit_once('/').expect("a member");
                    let name = name.replace("~1", "/").replace("~0", "~");
                    value.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(&name);
                }
            }
        }
        assert!(!judge(schema, &value).is_accepted(), "{without} need not be changed in {arguments}");
    }
}

// --- random ------------------------------------------------------------------------------------------------------

/// Schemas tried, and instances of each.
const SCHEMAS: usize = 6_000;
const INSTANCES: usize = 6;

/// In how many of a hundred places that can be a value inside is misspelled.
const MISSPELLED: usize = 30;

/// The value as a model may spell it: some parts as texts of themselves, some members `null`. `percent`: how often that is
/// done to the whole of it.
fn misspelled(rng: &mut Rng, value: &Value, percent: usize) -> Value {
    let inside = match value {
        Value::Array(elements) => elements.iter().map(|element| misspelled(rng, element, MISSPELLED)).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (name.clone(), misspelled(rng, value, MISSPELLED));
            let mut members: serde_json::Map<String, Value> = members.iter().map(member).collect();
            if rng.chance(MISSPELLED) {
                members.entry((*rng.pick(&schemas::NAMES)).to_owned()).or_insert(Value::Null);
            }
            Value::Object(members)
        }
        other => other.clone(),
    };
    match inside {
        Value::String(_) => inside,
        other if rng.chance(percent) => json!(other.to_string()),
        other => other,
    }
}

#[test]
fn repairs_of_random_calls_hold() {
    let mut rng = Rng::new(30);
    let (mut rejected, mut repaired, mut deep, mut rules) = (0, 0, 0, BTreeMap::new());
    let wrapping = RepairOptions::default().allow(RepairRule::WrapInArray);
    let mut session = Session::new();
    for _ in 0..SCHEMAS {
        let (draft, document) = schemas::schema(&mut rng);
        let options = Options { draft, ..Options::default() };
        let Ok((schema, _)) = Schema::compile(document.to_string(), &options) else { continue };
        for _ in 0..INSTANCES {
            let fitting = instances::fitting(&mut rng, &document);
            let text = misspelled(&mut rng, &fitting, 5).to_string();
            let is_rejected = matches!(schema.check(&mut session, text.as_str()), Outcome::Rejected(_));
            rejected += usize::from(is_rejected);
            let allowed = if rng.chance(20) { wrapping } else { RepairOptions::default() };
            let Some(repair) = schema.repair(&mut session, text.as_str(), &allowed) else { continue };
            assert!(is_rejected, "{document} on {text}");
            holds(&schema, &text, &repair, allowed);
            repaired += 1;
            deep += usize::from(repair.steps().any(|step| !step.pointer().is_empty()) && repair.steps().len() > 1);
            repair.steps().for_each(|step| *rules.entry(step.rule()).or_insert(0) += 1);
        }
    }
    say(&format!("{rejected} rejected, {repaired} repaired, {deep} of them in several places; {rules:?}"));
    assert!(repaired > 1_000 && deep > 50, "{repaired}, {deep}");
    let rare = [RepairRule::ParseStringifiedArray, RepairRule::StrToNull, RepairRule::WrapInArray];
    assert!(rare.iter().all(|rule| rules.contains_key(rule)), "{rules:?}");
}

// --- all subsets -------------------------------------------------------------------------------------------------

/// A schema of types, lists of values, objects, arrays and `anyOf`, where what passes does not depend on what fails.
fn plain_schema(rng: &mut Rng, depth: usize) -> Value {
    const TYPES: [&str; 5] = ["integer", "number", "boolean", "null", "string"];
    match rng.below(if depth == 0 { 4 } else { 9 }) {
        0 | 1 => json!({"type": rng.pick(&TYPES)}),
        2 => json!({"type": [rng.pick(&TYPES[1..]), "integer"]}),
        3 => json!({"enum": [schemas::number(rng), "x", rng.chance(50)]}),
        4 | 5 => json!({"anyOf": (0..rng.between(2, 3)).map(|_| plain_schema(rng, depth - 1)).collect::<Vec<_>>()}),
        6 => json!({"type": "array", "items": plain_schema(rng, depth - 1)}),
        _ => plain_object(rng, depth, 40),
    }
}

/// As above, of an object. `required`: of how many members in a hundred.
fn plain_object(rng: &mut Rng, depth: usize, required: usize) -> Value {
    let names = ["a", "b", "c"];
    let properties: Value = names.iter().map(|name| ((*name).to_owned(), plain_schema(rng, depth - 1))).collect();
    let required: Vec<&str> = names.into_iter().filter(|_| rng.chance(required)).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// The value with scalars as texts and as `null`.
fn scalars_misspelled(rng: &mut Rng, value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(|element| scalars_misspelled(rng, element)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), scalars_misspelled(rng, value))).collect()
        }
        _ if rng.chance(15) => Value::Null,
        Value::String(_) if rng.chance(30) => json!(*rng.pick(&["1", "2.5", "true", "null"])),
        Value::String(_) => value.clone(),
        other if rng.chance(60) => json!(other.to_string()),
        other => other.clone(),
    }
}

/// Every scalar that can be read otherwise: where, and as what; nothing where a member is left out.
fn readings(value: &Value, pointer: &str, into: &mut Vec<(String, Option<Value>)>) {
    match value {
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(at, element)| readings(element, &format!("{pointer}/{at}"), into));
        }
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let pointer = format!("{pointer}/{}", name.replace('/', "~1"));
            if member.is_null() {
                into.push((pointer, None));
            } else {
                readings(member, &pointer, into);
            }
        }),
        Value::String(text) => {
            let reading = serde_json::from_str::<Value>(text).ok();
            let is_exact = |reading: &Value| {
                let spelled = reading.to_string();
                spelled == *text
            };
            into.extend(reading.filter(is_exact).map(|reading| (pointer.to_owned(), Some(reading))));
        }
        _ => {}
    }
}

/// The value with those changes.
fn read_otherwise(value: &Value, changes: &[&(String, Option<Value>)]) -> Value {
    let mut value = value.clone();
    for (pointer, reading) in changes {
        match reading {
            Some(reading) => *value.pointer_mut(pointer).expect("it is there") = reading.clone(),
            None => {
                let (parent, name) = pointer.rsplit_once('/').expect("a member");
                value
                    .pointer_mut(parent)
                    .and_then(Value::as_object_mut)
                    .expect("an object")
                    .remove(&name.replace("~1", "/"));
            }
        }
    }
    value
}

/// There is a repair exactly if one set of changes is the least that passes.
#[test]
fn the_only_way_is_the_only_one_of_all() {
    let mut rng = Rng::new(32);
    let (mut none, mut one, mut several, mut large) = (0, 0, 0, 0);
    for at in 0..12_000 {
        // Of several branches that are all nearly right, every other time.
        let document = if at % 2 == 0 {
            plain_schema(&mut rng, 3)
        } else {
            json!({"anyOf": (0..3).map(|_| plain_object(&mut rng, 1, 5)).collect::<Vec<_>>()})
        };
        let schema = compile(&document.to_string());
        let fitting = instances::fitting(&mut rng, &document);
        let value = scalars_misspelled(&mut rng, &fitting);
        let mut all = Vec::new();
        readings(&value, "", &mut all);
        // A fraction of zero is read where a number is wanted by name only.
        let is_whole = |(_, reading): &(String, Option<Value>)| {
            reading.as_ref().and_then(Value::as_f64).is_some_and(|number| number.fract() == 0.0)
                && !reading.as_ref().is_some_and(|reading| reading.is_i64() || reading.is_u64())
        };
        if all.iter().any(is_whole) || all.is_empty() || all.len() > 8 || judge(&schema, &value).is_accepted() {
            continue;
        }
        let subset =
            |bits: usize| -> Vec<_> { (0..all.len()).filter(|at| bits >> at & 1 == 1).map(|at| &all[at]).collect() };
        let passing: Vec<usize> = (0..1 << all.len())
            .filter(|bits| judge(&schema, &read_otherwise(&value, &subset(*bits))).is_accepted())
            .collect();
        let is_least = |bits: usize| !passing.iter().any(|other| *other != bits && other & bits == *other);
        let least: Vec<usize> = passing.iter().copied().filter(|bits| is_least(*bits)).collect();
        let found = schema.repair(&mut Session::new(), &value, &RepairOptions::default());
        let found = found.map(|repair| {
            let mut pointers: Vec<String> = repair.steps().map(|step| step.pointer().to_owned()).collect();
            pointers.sort();
            pointers
        });
        let expected = (least.len() == 1).then(|| {
            let mut pointers: Vec<String> = subset(least[0]).iter().map(|(pointer, _)| pointer.clone()).collect();
            pointers.sort();
            pointers
        });
        assert_eq!(found, expected, "{document} on {value}: {} ways", least.len());
        match least.len() {
            0 => none += 1,
            1 => one += 1,
            _ => several += 1,
        }
        large += usize::from(least.len() == 1 && least[0].count_ones() > 2);
    }
    say(&format!("{none} without a way, {one} with one, {several} with several; {large} of more than two changes"));
    assert!(none > 100 && one > 1_000 && several > 20 && large > 50);
}

/// What models sent: the rejected calls that each rule helps to repair. docs/repair.md has the numbers.
#[test]
fn recorded_calls() {
    let Some(folder) = corpus() else {
        return;
    };
    let mut catalogs: BTreeMap<String, (Catalog, BTreeMap<String, String>)> = BTreeMap::new();
    let (mut rejected, mut repaired, mut rules) = (0, 0, BTreeMap::new());
    for (_, text) in corpus::files(&folder.join("calls"), ".jsonl") {
        for record in text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
            let text_of = |key: &str| record[key].as_str().unwrap_or("").to_owned();
            let file = text_of("catalog");
            let key = if file.is_empty() { record["tools"].to_string() } else { file };
            let (catalog, names) = catalogs.entry(key).or_insert_with_key(|key| {
                // A file's name, or the tools themselves.
                let tools = std::fs::read_to_string(folder.join("calls").join(key)).unwrap_or_else(|_| key.clone());
                let catalog = Catalog::compile(tools, &Options::default()).expect("a catalog").0;
                // A provider may have taken no dots.
                let undotted = |tool: &callgate::Tool| (tool.name().replace('.', "_"), tool.name().to_owned());
                let names = catalog.tools().map(undotted).collect();
                (catalog, names)
            });
            let (name, arguments) = (text_of("name"), text_of("arguments_raw"));
            let named = |name: String| names.get(&name.replace('.', "_"));
            let grouped = named(format!("{}/{name}", text_of("catalog_key")));
            let Some(tool) = grouped.or_else(|| named(name)) else { continue };
            let mut session = Session::new();
            let is_rejected = matches!(catalog.check(&mut session, tool, arguments.as_str()), Outcome::Rejected(_));
            rejected += usize::from(is_rejected);
            let Some(repair) = catalog.repair(&mut session, tool, arguments.as_str(), &RepairOptions::default()) else {
                continue;
            };
            let schema = catalog.tool(tool).and_then(|tool| tool.input()).expect("it was checked by one");
            holds(schema, &arguments, &repair, RepairOptions::default());
            repaired += 1;
            let used: std::collections::BTreeSet<RepairRule> = repair.steps().map(|step| step.rule()).collect();
            for rule in used {
                *rules.entry(rule.as_str()).or_insert(0) += 1;
            }
        }
    }
    say(&format!("{rejected} rejected, {repaired} repaired; {rules:?}"));
    assert!(repaired > 150);
}

/// Calls of real tools, made up and misspelled: where a value was changed back, it is the one that was meant.
#[test]
fn misspelled_calls_of_real_tools_come_back() {
    let Some(folder) = corpus() else {
        return;
    };
    let mut rng = Rng::new(31);
    let (mut rejected, mut repaired, mut rules) = (0, 0, BTreeMap::new());
    corpus::each_tool(&folder, |file, catalog, name, _, calls| {
        let mut session = Session::new();
        for call in calls.iter().filter(|(_, is_accepted)| *is_accepted).map(|(call, _)| call) {
            let text = misspelled(&mut rng, call, 5).to_string();
            let is_rejected = matches!(catalog.check(&mut session, name, text.as_str()), Outcome::Rejected(_));
            rejected += usize::from(is_rejected);
            let Some(repair) = catalog.repair(&mut session, name, text.as_str(), &RepairOptions::default()) else {
                continue;
            };
            repaired += 1;
            let schema = catalog.tool(name).and_then(|tool| tool.input()).expect("it was checked by one");
            holds(schema, &text, &repair, RepairOptions::default());
            let value: Value = serde_json::from_str(repair.arguments()).expect("JSON");
            for step in repair.steps() {
                *rules.entry(step.rule()).or_insert(0) += 1;
                let (now, meant) = (value.pointer(step.pointer()), call.pointer(step.pointer()));
                let is_scalar =
                    |value: Option<&Value>| value.is_some_and(|value| !value.is_object() && !value.is_array());
                assert!(
                    now == meant || !is_scalar(now) && now.is_some(),
                    "{file}: {name}: {text} at {}",
                    step.pointer()
                );
            }
        }
    });
    say(&format!("{rejected} rejected, {repaired} repaired; {rules:?}"));
    assert!(repaired > 1_000);
}

// --- hostile -----------------------------------------------------------------------------------------------------

/// Much more than it takes, in a build of little optimisation on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// Answers whether there is a repair; that must be known soon.
#[track_caller]
fn soon(schema: &str, arguments: &str) -> Option<Repair> {
    let start = Instant::now();
    let repair = repair(schema, arguments);
    assert!(start.elapsed() < SOON, "{:?} for {}", start.elapsed(), start_of(arguments));
    repair
}

#[test]
fn long_texts() {
    let schema = r#"{"properties": {"a": {"type": "integer"}, "b": {"type": "object"}, "c": {"type": "array"}}}"#;
    let digits = "1".repeat(1 << 20);
    assert_eq!(soon(schema, &json!({"a": digits}).to_string()), None);
    assert_eq!(soon(schema, &json!({"b": format!("{{\"x\": \"{digits}\"")}).to_string()), None);
    let parsed = json!({"b": format!("{{\"x\": \"{digits}\"}}")}).to_string();
    assert!(soon(schema, &parsed).is_some_and(|repair| repair.arguments().len() > 1 << 20));
    let escaped = json!({"c": json!(vec!["\"\\"; 100_000]).to_string()}).to_string();
    assert!(soon(schema, &escaped).is_some());
}

#[test]
fn deep_texts() {
    let schema = r##"{"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "integer"}]}"##;
    let nested = |depth: usize| json!(format!("{}{}", "[".repeat(depth), "]".repeat(depth))).to_string();
    assert!(soon(schema, &nested(200)).is_some());
    assert_eq!(soon(schema, &nested(300)), None, "it would be deeper than a call may be");
    assert_eq!(soon(schema, &nested(1 << 20)), None);
    // Texts of texts, each where an array is wanted.
    let texts = |levels: usize| (0..levels).fold("1".to_owned(), |inner, _| json!([inner]).to_string());
    assert!(soon(schema, &texts(6)).is_some());
    assert_eq!(soon(schema, &texts(14)), None);
    let strings = (0..12).fold("[]".to_owned(), |inner, _| json!(inner).to_string());
    assert_eq!(soon(schema, &strings), None);
}

#[test]
fn many_failures() {
    let schema = r#"{"type": "array", "items": {"type": "integer"}}"#;
    let texts = |len: usize| json!(vec!["1"; len]).to_string();
    assert!(soon(schema, &texts(900)).is_some_and(|repair| repair.steps().len() == 900));
    assert_eq!(soon(schema, &texts(10_000)), None);
    let nulls: Value = (0..10_000).map(|at| (format!("n{at}"), Value::Null)).collect();
    assert_eq!(soon(r#"{"additionalProperties": {"type": "integer"}}"#, &nulls.to_string()), None);
}

#[test]
fn failures_in_long_and_deep_places() {
    // The last members of a hundred thousand fail.
    let members = |wrong: &str| {
        let members: Vec<String> =
            (0..100_000).map(|at| format!("\"m{at}\":{}", if at < 99_100 { "1" } else { wrong })).collect();
        format!("{{{}}}", members.join(","))
    };
    let schema = r#"{"additionalProperties": {"type": "integer"}}"#;
    assert!(soon(schema, &members("\"1\"")).is_some_and(|repair| repair.steps().len() == 900));
    assert!(soon(schema, &members("null")).is_some_and(|repair| repair.steps().len() == 900));
    // Many fail far down, in as many unions.
    let tree = r##"{"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "integer"}, {"type": "boolean"}]}"##;
    let plain = r##"{"type": ["array", "integer"], "items": {"$ref": "#"}}"##;
    let deep = |texts: usize, depth: usize| {
        let texts = json!(vec!["1"; texts]).to_string();
        format!("{}{texts}{}", "[".repeat(depth), "]".repeat(depth))
    };
    for (schema, depth) in [(tree, 30), (plain, 240)] {
        soon(schema, &deep(900, 240));
        soon(schema, &deep(900, 30));
        assert!(soon(schema, &deep(1, depth)).is_some(), "{schema}");
    }
}

#[test]
fn many_unions() {
    let schema = r#"{"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}"#;
    let texts = |len: usize| json!(vec!["1"; len]).to_string();
    assert!(soon(schema, &texts(500)).is_some_and(|repair| repair.steps().len() == 500));
    soon(schema, &texts(10_000));
    // Far apart in a long call.
    let padded = json!(vec![json!({"v": "1", "pad": "x".repeat(1_000)}); 500]).to_string();
    let members = format!(
        r#"{{"type": "array", "items": {{"properties": {{"v": {}}}}}}}"#,
        r#"{"anyOf": [{"type": "integer"}, {"type": "null"}]}"#
    );
    assert!(soon(&members, &padded).is_some_and(|repair| repair.steps().len() == 500));
    // Every branch wants another set of changes.
    let branches: Vec<Value> = (0..60)
        .map(|at| json!({"properties": {format!("p{at}"): {"type": "integer"}, "q": {"type": "boolean"}}}))
        .collect();
    let members: Value =
        (0..60).map(|at| (format!("p{at}"), json!("1"))).chain([("q".to_owned(), json!("x"))]).collect();
    assert_eq!(soon(&json!({"anyOf": branches}).to_string(), &members.to_string()), None);
    // Unions of unions of unions.
    let nested = (0..12).fold(json!({"type": "integer"}), |inner, _| json!({"anyOf": [inner, {"oneOf": [inner]}]}));
    soon(&nested.to_string(), r#""1""#);
}

/// What was read as null is not left out in a later round.
#[test]
fn a_value_is_read_once_through_unions_too() {
    for schema in [
        r#"{"type": "object", "properties": {"x": {"type": ["integer", "null"], "anyOf": [{"type": "integer"}, {"type": "array"}]}}}"#,
        r#"{"type": "object", "properties": {"x": {"type": ["integer", "null"]}}, "anyOf": [{"properties": {"x": {"type": "integer"}}}]}"#,
    ] {
        none(schema, r#"{"x": "null"}"#);
    }
}
