//! Options that meet: lax readings with unknown names, with `null` for what is optional, with empty arguments, and repairs
//! under them.

use callgate::{EmptyArguments, NullForOptional, Options, Outcome, RepairOptions, Schema, Session, UnknownParameters};
use serde_json::Value;

const PUSH: &str = r##"{"type": "object", "title": "push",
    "properties": {
        "tests": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        "count": {"type": "integer", "default": 3},
        "where": {"$ref": "#/$defs/Where"}
    },
    "required": ["tests"],
    "$defs": {"Where": {"title": "Where", "type": "object", "properties": {"line": {"type": "integer"}}}}}"##;

fn compile(options: &Options) -> Schema {
    Schema::compile(PUSH, options).expect("compiles").0
}

/// `ok` with its notices, or the field lines; from text, and the same from a value.
#[track_caller]
fn check(options: &Options, arguments: &str, expected: &[&str]) {
    let schema = compile(options);
    let told = |outcome: &Outcome<'_>| match outcome {
        Outcome::Accepted(accepted) => [vec!["ok".to_owned()], accepted.notices.clone()].concat(),
        Outcome::Rejected(rejection) => rejection.field_lines(),
        other => vec![format!("{other:?}")],
    };
    let mut session = Session::new();
    assert_eq!(told(&schema.check(&mut session, arguments)), expected, "{arguments}");
    if let Ok(value) = serde_json::from_str::<Value>(arguments) {
        assert_eq!(told(&schema.check(&mut session, &value)), expected, "{arguments}, as a value");
    }
}

fn lax() -> Options {
    Options { lax: true, ..Options::default() }
}

#[test]
fn b7_unknown_names() {
    let call = r#"{"tests": {}, "hallu": 1}"#;
    let with = |unknown_parameters| Options { unknown_parameters, ..Options::default() };
    check(&with(UnknownParameters::Ignore), call, &["ok"]);
    check(&with(UnknownParameters::Report), call, &["ok", "unknown parameter 'hallu' at /hallu"]);
    check(&with(UnknownParameters::Forbid), call, &["hallu: Extra inputs are not permitted"]);
}

#[test]
fn unknown_names_of_a_lax_reading() {
    let call = r#"{"tests": {}, "count": "7", "hallu": 1, "where": {"line": "3", "row": 1}}"#;
    let with = |unknown_parameters| Options { unknown_parameters, ..lax() };
    check(&with(UnknownParameters::Ignore), call, &["ok"]);
    check(
        &with(UnknownParameters::Report),
        call,
        &["ok", "unknown parameter 'row' at /where/row", "unknown parameter 'hallu' at /hallu"],
    );
    check(
        &with(UnknownParameters::Forbid),
        call,
        &["where.row: Extra inputs are not permitted", "hallu: Extra inputs are not permitted"],
    );
    check(
        &with(UnknownParameters::Forbid),
        r#"{"tests": {}, "count": "x", "hallu": 1}"#,
        &[
            "count: Input should be a valid integer, unable to parse string as an integer",
            "hallu: Extra inputs are not permitted",
        ],
    );
}

#[test]
fn null_for_what_is_optional_in_a_lax_reading() {
    let options = Options { null_for_optional: NullForOptional::AsAbsent, ..lax() };
    check(&options, r#"{"tests": {}, "count": null, "where": null}"#, &["ok"]);
    check(&options, r#"{"tests": {}, "where": {"line": null}}"#, &["ok"]);
    check(&options, r#"{"tests": null, "count": null}"#, &["tests: Input should be a valid dictionary"]);
    check(&lax(), r#"{"tests": {}, "count": null}"#, &["count: Input should be a valid integer"]);
}

#[test]
fn empty_arguments_of_a_lax_reading() {
    let options = Options { empty_arguments: EmptyArguments::AsObject, ..lax() };
    for empty in ["", " ", "null", "\"\"", "{}"] {
        check(&options, empty, &["tests: Field required"]);
    }
    check(&options, "[1]", &["Input should be a valid dictionary or instance of push"]);
    // The copy is of the arguments as they are taken.
    let options = Options { empty_arguments: EmptyArguments::AsObject, ..lax() };
    let (schema, _) = Schema::compile(r#"{"type": "object"}"#, &options).expect("compiles");
    assert_eq!(schema.coerced_text(&mut Session::new(), "null").as_deref(), Some("{}"));
}

/// What repairs is judged as the call was.
#[test]
fn repairs_under_options() {
    let repaired = |options: &Options, arguments: &str| {
        let schema = compile(options);
        let repair = schema.repair(&mut Session::new(), arguments, &RepairOptions::default());
        repair.map(|repair| repair.arguments().to_string())
    };
    // The lax reading takes the text: there is nothing to repair.
    assert_eq!(repaired(&lax(), r#"{"tests": {}, "count": "7"}"#), None);
    assert_eq!(
        repaired(&Options::default(), r#"{"tests": {}, "count": "7"}"#),
        Some(r#"{"tests": {}, "count": 7}"#.into())
    );
    // A name that is not known stays so.
    let forbid = Options { unknown_parameters: UnknownParameters::Forbid, ..Options::default() };
    assert_eq!(repaired(&forbid, r#"{"tests": {}, "count": "7", "hallu": 1}"#), None);
    let counted = Options { unknown_parameters: UnknownParameters::Report, ..Options::default() };
    assert!(repaired(&counted, r#"{"tests": {}, "count": "7", "hallu": 1}"#).is_some());
}

// --- lax readings of compositions and constants --------------------------------------------------------------------

#[track_caller]
fn check_schema(options: &Options, schema: &str, arguments: &str, expected: &[&str]) {
    let (schema, _) = Schema::compile(schema, options).expect("compiles");
    let mut session = Session::new();
    let told = match schema.check(&mut session, arguments) {
        Outcome::Accepted(_) => vec!["ok".to_owned()],
        Outcome::Rejected(rejection) => rejection.field_lines(),
        other => vec![format!("{other:?}")],
    };
    assert_eq!(told, expected, "{arguments}");
}

/// The names of all parts of a composition are known to a reading too.
#[test]
fn names_of_other_parts_are_no_strays() {
    let forbid = Options { unknown_parameters: UnknownParameters::Forbid, ..Options::default() };
    let lax = Options { lax: true, ..forbid.clone() };
    let parts = r#"{"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {}}}]}"#;
    check_schema(&lax, parts, r#"{"a": "1", "b": 2}"#, &["ok"]);
    check_schema(&lax, parts, r#"{"a": "1", "c": 2}"#, &["c: Extra inputs are not permitted"]);
    check_schema(&forbid, parts, r#"{"a": "1", "b": 2}"#, &["a: Input should be a valid integer"]);
    let beside = r##"{"$ref": "#/$defs/B", "properties": {"c": {"type": "integer"}},
        "$defs": {"B": {"type": "object", "properties": {"a": {"type": "integer"}}}}}"##;
    check_schema(&lax, beside, r#"{"a": "1", "c": "2"}"#, &["ok"]);
    check_schema(&forbid, beside, r#"{"a": 1, "c": "2"}"#, &["c: Input should be a valid integer"]);
}

/// Several branches that take the value as it came are as many too many for a lax reading; equal values are none.
#[test]
fn a_one_of_counts_branches_by_the_value_as_it_came() {
    let objects = r#"{"oneOf": [{"type": "object", "properties": {"a": {}}, "required": ["a"]},
                                {"type": "object", "properties": {"b": {}}, "required": ["b"]}]}"#;
    let several = "Input should match only one of the alternatives";
    check_schema(&lax(), objects, r#"{"a": 1, "b": 1}"#, &[several]);
    check_schema(&lax(), objects, r#"{"a": 1}"#, &["ok"]);
    check_schema(&lax(), r#"{"oneOf": [{"const": 1}, {"type": "boolean"}]}"#, "true", &["ok"]);
    check_schema(&lax(), r#"{"oneOf": [{"type": "integer"}, {"type": "boolean"}]}"#, "\"1\"", &["ok"]);
}

/// What stands beside a constant holds for what is equal to it.
#[test]
fn constants_of_another_spelling_are_held_against_the_rest() {
    let bounded = r#"{"type": "number", "enum": [1, 10], "maximum": 5}"#;
    for ten in ["10", "10.0"] {
        check_schema(&lax(), bounded, ten, &["Input should be less than or equal to 5"]);
    }
    check_schema(&lax(), bounded, "1.0", &["ok"]);
    check_schema(&lax(), r#"{"const": 10, "multipleOf": 3}"#, "10.0", &["Input should be a multiple of 3"]);
    check_schema(&lax(), r#"{"type": "string", "enum": [1, "a"]}"#, "true", &["Input should be a valid string"]);
}

/// A member that another part asks for cannot be left out, so it cannot be null either.
#[test]
fn null_is_not_absent_where_another_part_may_ask_for_the_name() {
    let options = Options { null_for_optional: NullForOptional::AsAbsent, ..Options::default() };
    let parts = r#"{"allOf": [{"properties": {"o": {"properties": {"a": {"type": "integer"}}}}},
                              {"properties": {"o": {"required": ["a"]}}}]}"#;
    check_schema(&options, parts, r#"{"o": {"a": null}}"#, &["o.a: Input should be a valid integer"]);
    check_schema(&options, r#"{"properties": {"a": {"type": "integer"}}}"#, r#"{"a": null}"#, &["ok"]);
}
