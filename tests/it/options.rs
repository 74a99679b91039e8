//! Options of compilation: what they ask of calls beside the schema, without a change to it.

use callgate::{
    Catalog, EmptyArguments, NullForOptional, Options, Outcome, Schema, SchemaRole, Session, Stack, UnknownParameters,
};
use callgate_vm::execute::Bounds;
use callgate_vm::limits::NESTED_MAX;
use callgate_vm::scratch::Scratch;
use callgate_vm::tape::{ReadOptions, TapeBuf, TapeInstance};
use callgate_vm::unknown::{UnknownNames, find_unknown};
use serde_json::Value;

use crate::alloc::nonzero;
use crate::differential::problem_with;
use crate::hosts::{Heap, Host};
use crate::random::Rng;
use crate::{instances, schemas};

fn unknown(unknown_parameters: UnknownParameters) -> Options {
    Options { unknown_parameters, ..Options::default() }
}

fn nulls() -> Options {
    Options { null_for_optional: NullForOptional::AsAbsent, ..Options::default() }
}

fn empty() -> Options {
    Options { empty_arguments: EmptyArguments::AsObject, ..Options::default() }
}

fn catalog(schema: &str, options: &Options) -> Catalog {
    let text = format!(r#"[{{"name": "tool", "inputSchema": {schema}}}]"#);
    let (catalog, report) = Catalog::compile(text, options).expect("a catalog");
    assert_eq!(report.refused, 0, "{:?}", report.findings);
    catalog
}

/// The line of a rejection, the notices of an accepted call, or `ok`.
fn told(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Accepted(accepted) if accepted.notices.is_empty() => "ok".to_owned(),
        Outcome::Accepted(accepted) => accepted.notices.join("; "),
        Outcome::Rejected(rejection) => rejection.to_string(),
        other => other.code().to_owned(),
    }
}

/// What is told of the call; from text, `Value` and a host's object alike.
#[track_caller]
fn answer(catalog: &Catalog, call: &str) -> String {
    let from_text = told(&catalog.check(&mut Session::new(), "tool", call));
    let loaded = Catalog::load(catalog.to_bytes()).expect("what was written");
    loaded.verify().expect("sound");
    assert_eq!(told(&loaded.check(&mut Session::new(), "tool", call)), from_text, "loaded: {call}");
    if let Ok(value) = serde_json::from_str::<Value>(call) {
        assert_eq!(told(&catalog.check(&mut Session::new(), "tool", &value)), from_text, "Value: {call}");
        let heap = Heap::of(&value);
        let mut session = Session::new();
        let outcome = catalog.check_instance(&mut session, &mut Stack::default(), "tool", &mut Host(&heap));
        assert_eq!(told(&outcome), from_text, "host: {call}");
    }
    from_text
}

/// What a call is answered where unknown parameters are ignored, reported and forbidden.
#[track_caller]
fn check_unknown(schema: &str, calls: &[(&str, [&str; 3])]) {
    use UnknownParameters::{Forbid, Ignore, Report};
    let catalogs = [Ignore, Report, Forbid].map(|choice| catalog(schema, &unknown(choice)));
    for (call, expected) in calls {
        let answers = catalogs.each_ref().map(|catalog| answer(catalog, call));
        assert_eq!(answers.each_ref().map(String::as_str), *expected, "{call} by {schema}");
    }
}

#[track_caller]
fn check(schema: &str, options: &Options, calls: &[(&str, &str)]) {
    let catalog = catalog(schema, options);
    for (call, expected) in calls {
        assert_eq!(answer(&catalog, call), *expected, "{call} by {schema}");
    }
}

// --- unknown parameters ------------------------------------------------------------------------------------------

#[test]
fn b7_ignore_report_and_forbid() {
    check_unknown(
        r#"{"type": "object", "properties": {"tests": {"type": "object"}, "count": {"type": "integer"}},
            "required": ["tests"]}"#,
        &[
            (r#"{"tests": {"any": 1}}"#, ["ok", "ok", "ok"]),
            (
                r#"{"tests": {}, "hallu": 1}"#,
                [
                    "ok",
                    "unknown parameter 'hallu' at /hallu",
                    "schema: Additional properties are not allowed ('hallu' was unexpected)",
                ],
            ),
            (
                r#"{"a": {"count": 1}, "b/c": 1, "tests": {}}"#,
                [
                    "ok",
                    "unknown parameter 'a' at /a; unknown parameter 'b/c' at /b~1c",
                    "schema: Additional properties are not allowed ('a', 'b/c' were unexpected)",
                ],
            ),
            (r#"{"hallu": 1}"#, ["schema: 'tests' is a required property"; 3]),
            (
                r#"{"tests": {}, "count": "1", "hallu": 1}"#,
                [
                    "schema: '1' is not of type 'integer' at count",
                    "schema: '1' is not of type 'integer' at count",
                    "schema: Additional properties are not allowed ('hallu' was unexpected)",
                ],
            ),
        ],
    );
}

/// A tool that compiles where unknown parameters are ignored compiles where they are reported, whatever that takes.
#[test]
fn a_report_that_is_too_large_costs_no_verdict() {
    let schema = r#"{"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"maximum": 9}}}]}"#;
    let within = |unknown_parameters, bytes| {
        let mut options = unknown(unknown_parameters);
        options.limits.set("unit_bytes_max", bytes).expect("a limit");
        options
    };
    let compiles = |options: &Options| Schema::compile(schema, options).is_ok();
    let fits = (1..10_000).find(|bytes| compiles(&within(UnknownParameters::Ignore, *bytes))).expect("it is small");
    let larger = (fits..10_000).find(|bytes| compiles(&within(UnknownParameters::Forbid, *bytes))).expect("as well");
    assert!(fits < larger, "what forbids takes more: {fits} {larger}");
    let undecided =
        "whether there are unknown parameters was not decided: what tells would be larger than unit_bytes_max allows";
    for bytes in [fits, larger - 1] {
        let options = within(UnknownParameters::Report, bytes);
        let (_, report) = Schema::compile(schema, &options).expect("as where they are ignored");
        assert_eq!(report.findings, []);
        check(
            schema,
            &options,
            &[
                (r#"{"a": "x"}"#, undecided),
                (r#"{"a": "x", "c": 1}"#, undecided),
                (r#"{"b": 10, "c": 1}"#, "schema: 10 is greater than the maximum of 9 at b"),
                ("{", "schema: arguments are not valid JSON: the text ends too early at byte 1"),
            ],
        );
    }
    let told = [(r#"{"a": "x"}"#, "ok"), (r#"{"a": "x", "c": 1}"#, "unknown parameter 'c' at /c")];
    check(schema, &within(UnknownParameters::Report, larger), &told);
}

#[test]
fn nested_objects_elements_and_maps() {
    check_unknown(
        r#"{"properties": {
            "filter": {"properties": {"field": {}}, "description": "What to look for."},
            "list": {"items": {"properties": {"id": {}}}},
            "map": {"additionalProperties": {"properties": {"v": {}}}},
            "patterned": {"properties": {"a": {}}, "patternProperties": {"^x-": {}}},
            "open": {"properties": {"a": {}}, "additionalProperties": true},
            "free": {"type": "object"},
            "none": {"type": "object", "properties": {}}
        }}"#,
        &[
            (
                r#"{"filter": {"field": 1, "feild": 2}}"#,
                [
                    "ok",
                    "unknown parameter 'feild' at /filter/feild",
                    "schema: Additional properties are not allowed ('feild' was unexpected) at filter — What to look for.",
                ],
            ),
            (
                r#"{"list": [{"id": 1}, {"id": 2, "di": 3}]}"#,
                [
                    "ok",
                    "unknown parameter 'di' at /list/1/di",
                    "schema: Additional properties are not allowed ('di' was unexpected) at list/1",
                ],
            ),
            (
                r#"{"map": {"k": {"v": 1, "w": 2}}}"#,
                [
                    "ok",
                    "unknown parameter 'w' at /map/k/w",
                    "schema: Additional properties are not allowed ('w' was unexpected) at map/k",
                ],
            ),
            (
                r#"{"patterned": {"a": 1, "x-b": 2, "y": 3}}"#,
                [
                    "ok",
                    "unknown parameter 'y' at /patterned/y",
                    "schema: Additional properties are not allowed ('y' was unexpected) at patterned",
                ],
            ),
            (r#"{"open": {"b": 1}, "free": {"c": {"d": 2}}}"#, ["ok"; 3]),
            (
                r#"{"none": {"a": 1}}"#,
                [
                    "ok",
                    "unknown parameter 'a' at /none/a",
                    "schema: Additional properties are not allowed ('a' was unexpected) at none",
                ],
            ),
        ],
    );
}

#[test]
fn a_composition_is_one_object() {
    let forbidden = |name: &str| format!("schema: Additional properties are not allowed ('{name}' was unexpected)");
    let reported = |name: &str| format!("unknown parameter '{name}' at /{name}");
    for schema in [
        // Parts that always apply: one table.
        r##"{"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {}}}], "properties": {"c": {}},
            "$defs": {"base": {"properties": {"a": {}}}}}"##,
        r##"{"$ref": "#/$defs/base", "properties": {"b": {}, "c": {}}, "$defs": {"base": {"properties": {"a": {}}}}}"##,
        r#"{"anyOf": [{"properties": {"a": {}}, "type": "object"}, {"type": "null"}], "properties": {"b": {}, "c": {}}}"#,
        r#"{"properties": {"a": {}}, "allOf": [{"required": ["b"]}, {"dependentRequired": {"c": []}}]}"#,
        // Branches: which pass is decided by the call.
        r#"{"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {"type": "integer"}}}], "properties": {"c": {}}}"#,
        r#"{"properties": {"a": {}, "c": {}}, "if": {"required": ["c"]}, "then": {"properties": {"b": {}}}}"#,
        r#"{"properties": {"a": {}, "c": {}}, "dependentSchemas": {"c": {"properties": {"b": {}}}}}"#,
        r#"{"oneOf": [{"properties": {"a": {}, "b": {}}}, {"required": ["d"]}], "properties": {"c": {}}}"#,
    ] {
        check_unknown(
            schema,
            &[
                (r#"{"a": 1, "b": 2, "c": 3}"#, ["ok"; 3]),
                (r#"{"a": 1, "b": 2, "c": 3, "x": 4}"#, ["ok", &reported("x"), &forbidden("x")]),
            ],
        );
    }
    // Names of a branch that does not pass are not known by it.
    check_unknown(
        r#"{"properties": {"kind": {}}, "oneOf": [
            {"properties": {"kind": {"const": "a"}, "a": {}}}, {"properties": {"kind": {"const": "b"}, "b": {}}}]}"#,
        &[
            (r#"{"kind": "a", "a": 1}"#, ["ok"; 3]),
            (r#"{"kind": "a", "b": 1}"#, ["ok", &reported("b"), &forbidden("b")]),
        ],
    );
}

#[test]
fn a_reference_is_the_object_that_it_leads_to() {
    check_unknown(
        r##"{"$ref": "#/$defs/node", "$defs": {"node": {"description": "A node.", "properties": {
            "name": {}, "children": {"items": {"$ref": "#/$defs/node"}},
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}}}"##,
        &[
            (r#"{"children": [{"name": "a", "next": {"name": "b", "next": null}}]}"#, ["ok"; 3]),
            (
                r#"{"children": [{"children": [{"nmae": "a"}]}]}"#,
                [
                    "ok",
                    "unknown parameter 'nmae' at /children/0/children/0/nmae",
                    "schema: Additional properties are not allowed ('nmae' was unexpected) at children/0/children/0 — A node.",
                ],
            ),
            (
                r#"{"next": {"next": {"x": 1}, "name": 1}}"#,
                [
                    "ok",
                    "unknown parameter 'x' at /next/next/x",
                    "schema: Additional properties are not allowed ('x' was unexpected) at next",
                ],
            ),
            (
                r#"{"next": {"children": {}, "x": 1}}"#,
                [
                    "ok",
                    "unknown parameter 'x' at /next/x",
                    "schema: Additional properties are not allowed ('x' was unexpected) at next",
                ],
            ),
        ],
    );
}

#[test]
fn what_says_otherwise_is_left_alone() {
    for schema in [
        r#"{"additionalProperties": {"type": "integer"}, "properties": {"a": {}}}"#,
        r#"{"unevaluatedProperties": true, "properties": {"a": {}}}"#,
        r#"{"allOf": [{"additionalProperties": true}, {"properties": {"a": {}}}]}"#,
        r#"{"allOf": [{"type": "object"}]}"#,
        r#"{"type": "object"}"#,
        r#"{"patternProperties": {"^a": {}}}"#,
        // One of the branches takes any object.
        r#"{"anyOf": [{"properties": {"a": {}}, "required": ["a"]}, {"type": "object"}]}"#,
        "true",
    ] {
        check_unknown(schema, &[(r#"{"x": 1}"#, ["ok"; 3])]);
    }
    let own = "schema: Additional properties are not allowed ('x' was unexpected)";
    check_unknown(r#"{"additionalProperties": false, "properties": {"a": {}}}"#, &[(r#"{"x": 1}"#, [own; 3])]);
}

#[test]
fn members_that_several_parts_judge_are_known_by_any() {
    check_unknown(
        r#"{"allOf": [
            {"properties": {"o": {"properties": {"p": {"properties": {"a": {}}}}}}},
            {"properties": {"o": {"properties": {"q": {}, "p": {"properties": {"b": {}}}}}}}
        ]}"#,
        &[(r#"{"o": {"q": 1, "p": {"a": 1, "b": 2}}}"#, ["ok"; 3])],
    );
}

#[test]
fn an_unknown_name_turns_no_verdict_round() {
    let not_valid = "schema: {'o': {'a': 1, 'x': 2}} should not be valid under {'properties': {'o': {'properties': \
                     {'a': {}}, 'required': ['a']}}, 'required': ['o']}";
    check_unknown(
        r#"{"not": {"properties": {"o": {"properties": {"a": {}}, "required": ["a"]}}, "required": ["o"]}}"#,
        &[(r#"{"o": {"a": 1, "x": 2}}"#, [not_valid; 3])],
    );
    // The condition holds whatever else there is.
    check_unknown(
        r#"{"if": {"properties": {"o": {"properties": {"a": {"const": 1}}}}}, "then": {"required": ["z"]}}"#,
        &[(r#"{"o": {"a": 1, "x": 2}}"#, ["schema: 'z' is a required property"; 3])],
    );
    check_unknown(
        r#"{"properties": {"l": {"contains": {"properties": {"a": {"const": 1}}, "required": ["a"]}}}}"#,
        &[(r#"{"l": [{"a": 1, "x": 2}]}"#, ["ok"; 3])],
    );
    // Two branches pass, and that one of them does not know a name must not make it one.
    let twice = "schema: {'o': {'p': 1}} is valid under each of {'properties': {'o': {'properties': {'p': {}}}}}, \
                 {'properties': {'o': {'properties': {'q': {}}}}}";
    check_unknown(
        r#"{"oneOf": [{"properties": {"o": {"properties": {"q": {}}}}}, {"properties": {"o": {"properties": {"p": {}}}}}]}"#,
        &[(r#"{"o": {"p": 1}}"#, [twice; 3])],
    );
}

#[test]
fn notices_inside_unions_are_those_of_the_branch_that_passes() {
    let schema = r#"{"properties": {"u": {"anyOf": [
        {"properties": {"k": {"const": 1}, "o": {"properties": {"a": {}}}}, "required": ["k"]},
        {"properties": {"k": {"const": 2}, "o": {"properties": {"b": {}}}}, "required": ["k"]},
        {"properties": {"k": {"const": 2}, "o": {"properties": {"c": {}}}}, "required": ["k"]}
    ]}}}"#;
    let catalog = catalog(schema, &unknown(UnknownParameters::Report));
    for (call, expected) in [
        (r#"{"u": {"k": 1, "o": {"a": 1}}}"#, "ok"),
        (r#"{"u": {"k": 1, "o": {"b": 1}}}"#, "unknown parameter 'b' at /u/o/b"),
        (r#"{"u": {"k": 2, "o": {"c": 1}}}"#, "ok"),
        (r#"{"u": {"k": 2, "o": {"a": 1}}}"#, "unknown parameter 'a' at /u/o/a"),
        (
            r#"{"u": {"k": 2, "o": {"c": 1}, "x": 1}, "v": 1}"#,
            "unknown parameter 'x' at /u/x; unknown parameter 'v' at /v",
        ),
    ] {
        assert_eq!(answer(&catalog, call), expected, "{call}");
    }
}

#[test]
fn notices_are_bounded() {
    let catalog = catalog(r#"{"properties": {}}"#, &unknown(UnknownParameters::Report));
    let members: Vec<String> = (0..50).map(|at| format!(r#""n{at}": 1"#)).collect();
    let call = format!("{{{}}}", members.join(", "));
    let mut session = Session::new();
    let Outcome::Accepted(accepted) = catalog.check(&mut session, "tool", &*call) else { panic!("accepted") };
    assert_eq!(accepted.notices.len(), 21);
    assert_eq!(accepted.notices[20], "30 more unknown parameters");
}

// --- null for an optional property -------------------------------------------------------------------------------

#[test]
fn b9_null_or_left_out() {
    let schema = r#"{"properties": {
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "seed": {"type": "integer", "minimum": 0, "description": "Omit for random."},
            "name": {"type": "string"}
        }, "required": ["name"]}"#;
    let both = [(r#"{"name": "n", "note": null}"#, "ok"), (r#"{"name": "n"}"#, "ok")];
    check(schema, &Options::default(), &both);
    check(schema, &nulls(), &both);
    let wrong = "schema: None is not of type 'integer' at seed — Omit for random.";
    check(schema, &Options::default(), &[(r#"{"name": "n", "seed": null}"#, wrong)]);
    check(
        schema,
        &nulls(),
        &[
            (r#"{"name": "n", "seed": null}"#, "ok"),
            (r#"{"name": "n", "seed": "x"}"#, "schema: 'x' is not of type 'integer' at seed — Omit for random."),
            (r#"{"name": "n", "seed": -1}"#, "schema: -1 is less than the minimum of 0 at seed — Omit for random."),
            (r#"{"name": null}"#, "schema: None is not of type 'string' at name"),
            ("null", "ok"),
            (r#"{"name": "n", "seed": null, "other": null}"#, "ok"),
        ],
    );
}

#[test]
fn null_is_absent_wherever_a_property_is_optional() {
    check(
        r##"{"properties": {
            "nested": {"properties": {"a": {"type": "string"}, "b": {"enum": ["x"]}}, "required": ["a"]},
            "list": {"items": {"properties": {"a": {"$ref": "#/$defs/text"}}}},
            "union": {"oneOf": [
                {"properties": {"kind": {"const": "a"}, "a": {"type": "integer"}}, "required": ["kind"]},
                {"properties": {"kind": {"const": "b"}, "b": {"type": "integer"}}, "required": ["kind"]}
            ]},
            "all": {"allOf": [{"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}, {"required": ["b"]}]},
            "map": {"additionalProperties": {"type": "string"}},
            "never": false
        }, "$defs": {"text": {"type": "string", "minLength": 1}}}"##,
        &nulls(),
        &[
            (r#"{"nested": null, "list": null, "union": null, "all": null, "map": null}"#, "ok"),
            (r#"{"nested": {"a": "", "b": null}}"#, "ok"),
            (r#"{"nested": {"a": null}}"#, "schema: None is not of type 'string' at nested/a"),
            (r#"{"list": [{"a": null}]}"#, "ok"),
            (r#"{"list": [null]}"#, "ok"),
            (r#"{"list": [{"a": ""}]}"#, "schema: '' should be non-empty at list/0/a"),
            (r#"{"union": {"kind": "b", "b": null}}"#, "ok"),
            (r#"{"all": {"a": null, "b": ""}}"#, "ok"),
            // Another part asks for it.
            (r#"{"all": {"b": null}}"#, "schema: None is not of type 'string' at all/b"),
            // A map's values are no optional properties, and what must not be there must not be null.
            (r#"{"map": {"k": null}}"#, "schema: None is not of type 'string' at map/k"),
            (r#"{"never": null}"#, "schema: False schema does not allow None"),
        ],
    );
}

#[test]
fn null_is_there_for_all_other_keywords() {
    check(
        r#"{"properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}},
            "minProperties": 1, "maxProperties": 2, "dependentRequired": {"a": ["b"]},
            "patternProperties": {"^c": {"type": "string"}}}"#,
        &nulls(),
        &[
            (r#"{"b": "x"}"#, "ok"),
            (r#"{"a": null}"#, "schema: 'b' is a dependency of 'a'"),
            // A name that another asks for may not be left out.
            (r#"{"b": null}"#, "schema: None is not of type 'string' at b"),
            (r#"{"c": null}"#, "schema: None is not of type 'string' at c"),
            (r#"{"a": null, "b": "x", "d": null}"#, "schema: {'a': None, 'b': 'x', 'd': None} has too many properties"),
        ],
    );
    // Where only a verdict counts, null is what it is.
    check(
        r#"{"properties": {"a": {"type": "string"}}, "not": {"properties": {"a": {"type": "string"}}, "required": ["a"]}}"#,
        &nulls(),
        &[(r#"{"a": null}"#, "ok"), ("{}", "ok")],
    );
}

#[test]
fn null_is_absent_and_unknown_names_are_forbidden() {
    let options = Options { unknown_parameters: UnknownParameters::Forbid, ..nulls() };
    check(
        r##"{"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"a": {"type": "string"}, "t": {"$ref": "#/$defs/t"}}}}}"##,
        &options,
        &[
            (r#"{"a": null, "t": {"a": null, "t": null}}"#, "ok"),
            (r#"{"t": {"b": null}}"#, "schema: Additional properties are not allowed ('b' was unexpected) at t"),
        ],
    );
}

// --- arguments that are empty ------------------------------------------------------------------------------------

#[test]
fn j13_no_arguments() {
    let schema = r#"{"type": "object", "properties": {"a": {}}}"#;
    let empty_calls = ["", "  \n\t", "null", "\"\"", "\" \\n\""];
    let no_object = |text: &str| format!("schema: {text} is not of type 'object'");
    for call in empty_calls {
        check(schema, &empty(), &[(call, "ok")]);
        assert!(answer(&catalog(schema, &Options::default()), call) != "ok", "{call:?}");
    }
    check(schema, &empty(), &[("[1]", &no_object("[1]")), ("0", &no_object("0")), ("\"a\"", &no_object("'a'"))]);
    check(
        schema,
        &Options::default(),
        &[("", "schema: arguments are not valid JSON: no value at byte 0"), ("null", &no_object("None"))],
    );
    // What is missing is said of `{}`.
    check(r#"{"required": ["a"]}"#, &empty(), &[("", "schema: 'a' is a required property")]);
}

// --- without options ---------------------------------------------------------------------------------------------

#[test]
fn c24_an_extra_key_where_the_schema_forbids_it() {
    let schema = r#"{"properties": {"a": {}}, "additionalProperties": false}"#;
    let line = "schema: Additional properties are not allowed ('x' was unexpected)";
    check(schema, &Options::default(), &[(r#"{"x": 1}"#, line)]);
    // The keyword speaks for itself, whatever the options.
    let catalog = catalog(schema, &unknown(UnknownParameters::Forbid));
    match catalog.check(&mut Session::new(), "tool", r#"{"x": 1}"#) {
        Outcome::Rejected(rejection) => {
            let failures: Vec<_> = rejection.failures().collect();
            assert_eq!(failures.len(), 1);
            assert_eq!(
                (failures[0].code(), failures[0].keyword_location()),
                ("additionalProperties", "/additionalProperties")
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn j16_a_tool_that_does_not_compile() {
    let text =
        r#"[{"name": "bad", "inputSchema": {"type": "strnig"}}, {"name": "good", "inputSchema": {"type": "object"}}]"#;
    let (catalog, report) = Catalog::compile(text, &empty()).expect("a catalog");
    // It is told once, when the catalog is compiled; that it is not compiled, at each call: the host opens or closes.
    let found: Vec<_> =
        report.findings.iter().map(|finding| (finding.kind.as_str(), finding.tool.as_deref())).collect();
    assert_eq!(found, [("not_well_formed", Some("bad"))]);
    let mut session = Session::new();
    assert_eq!(catalog.check(&mut session, "bad", "").code(), "SCHEMA_INVALID");
    assert_eq!(catalog.check(&mut session, "good", "").code(), "OK");
    assert_eq!(catalog.check(&mut session, "good", "[1]").code(), "ARGS_INVALID");
}

// --- all of them -------------------------------------------------------------------------------------------------

#[test]
fn a_failure_says_which_names_and_where() {
    let schema =
        r#"{"properties": {"o": {"description": "An object.", "properties": {"query": {}}, "required": ["query"]}}}"#;
    let catalog = catalog(schema, &unknown(UnknownParameters::Forbid));
    let mut session = Session::new();
    let Outcome::Rejected(rejection) = catalog.check(&mut session, "tool", r#"{"o": {"querry": 1, "x": 2}}"#) else {
        panic!("rejected")
    };
    assert_eq!(rejection.code(), "required");
    let failures: Vec<_> = rejection.failures().map(|failure| failure.to_owned()).collect();
    let [missing, unknown] = &failures[..] else { panic!("{failures:?}") };
    assert_eq!((missing.code(), missing.instance_location()), ("required", "/o"));
    assert_eq!((unknown.code(), unknown.keyword()), ("unknown_parameter", None));
    assert_eq!((unknown.instance_location(), unknown.keyword_location()), ("/o", "/properties/o"));
    assert_eq!(unknown.message(), "Additional properties are not allowed ('querry', 'x' were unexpected)");
    assert_eq!(unknown.description(), Some("An object."));
    assert!(!rejection.missing_only());
}

#[test]
fn only_notices_allocate() {
    let schema = r##"{"properties": {
        "a": {"type": "integer"},
        "u": {"anyOf": [{"properties": {"b": {"type": "string"}}}, {"properties": {"c": {}}, "required": ["c"]}]},
        "o": {"oneOf": [{"$ref": "#"}, {"type": "string"}]}
    }}"##;
    let all = Options { empty_arguments: EmptyArguments::AsObject, ..nulls() };
    for unknown_parameters in [UnknownParameters::Ignore, UnknownParameters::Report, UnknownParameters::Forbid] {
        let mut catalog = catalog(schema, &Options { unknown_parameters, ..all.clone() });
        catalog.count_calls();
        for call in [
            "",
            "null",
            r#"{"a": null, "u": {"c": 1, "b": null}, "o": {"a": 1, "o": "x"}}"#,
            r#"{"a": "1", "x": 1}"#,
            r#"{"u": {"b": 1}, "o": {"a": []}}"#,
            "{",
        ] {
            let found = nonzero(&catalog, call.len().max(2), "tool", call);
            assert!(found.is_empty(), "{unknown_parameters:?}: {found:?}");
        }
    }
}

#[test]
fn every_option_is_part_of_the_digest() {
    let schema = r#"{"properties": {"a": {"type": "string"}}}"#;
    let digest = |options: &Options| {
        let catalog = catalog(schema, options);
        let tool = catalog.tool("tool").expect("a tool");
        tool.compiled(SchemaRole::Input).expect("compiled").digest
    };
    let mut seen = vec![digest(&Options::default())];
    let formats = Options { assert_formats: true, ..Options::default() };
    let [report, forbid] = [UnknownParameters::Report, UnknownParameters::Forbid].map(unknown);
    for options in [formats, report, forbid, empty(), nulls()] {
        let digest = digest(&options);
        assert!(!seen.contains(&digest), "{options:?}");
        seen.push(digest);
    }
}

#[test]
fn options_are_kept_in_a_compiled_catalog() {
    let options = Options { unknown_parameters: UnknownParameters::Report, ..nulls() };
    let loaded = Catalog::load(catalog(r#"{"properties": {}}"#, &options).to_bytes()).expect("sound");
    let kept = loaded.options();
    assert_eq!(kept.unknown_parameters, UnknownParameters::Report);
    assert_eq!((kept.null_for_optional, kept.empty_arguments), (NullForOptional::AsAbsent, EmptyArguments::Reject));
    // What was known before a refresh is known after it, counterparts too.
    let (refreshed, _) = loaded.refresh(r#"[{"name": "tool", "inputSchema": {"properties": {}}}]"#).expect("a catalog");
    assert_eq!((refreshed.counters().compiled, refreshed.counters().reused), (0, 1));
    assert_eq!(answer(&refreshed, r#"{"a": 1}"#), "unknown parameter 'a' at /a");
}

/// Schemas that are compiled with all options and without.
const SCHEMAS: u64 = 2_000;

/// Instances for each.
const INSTANCES: usize = 6;

/// Random schemas, with instances made for them, and some of those with a name that was not meant.
fn random_pairs(seed: u64) -> (Options, Value, Vec<Value>) {
    let rng = &mut Rng::new(seed);
    let (draft, schema) = schemas::schema(rng);
    let instances = (0..INSTANCES).map(|at| {
        let fitting = instances::fitting(rng, &schema);
        if at % 2 == 0 { fitting } else { instances::changed(rng, &fitting) }
    });
    let instances = instances.collect();
    (Options { draft, ..Options::default() }, schema, instances)
}

/// Pointers to the names that `forbidding` does not know, by the machine alone: the same whatever nests and whatever is framed.
fn unknown_names(forbidding: &Schema, instance: &Value) -> Vec<String> {
    let mut buf = TapeBuf::new();
    let read = ReadOptions { depth_max: 256, bytes_max: 1 << 20, strict: true };
    let text = instance.to_string();
    let tape = buf.read(text.as_bytes(), read).expect("JSON");
    let mut names = UnknownNames::default();
    let mut found = [0, 2, NESTED_MAX].map(|nested_max| {
        let bounds = Bounds { fuel_max: 10_000_000, depth_max: 256, memo_max: 1 << 20, nested_max };
        let (mut stack, mut scratch) = (callgate_vm::scratch::Stack::default(), Scratch::default());
        let instance = TapeInstance::new(tape, 0);
        let passed =
            find_unknown(forbidding.unit(), instance, &mut stack, &mut scratch, &mut names, &bounds, usize::MAX);
        assert_eq!(passed, Ok(true), "{text}");
        let pointers = (0..names.listed()).map(|at| {
            let mut pointer = String::new();
            names.write_pointer(&mut pointer, tape, at).expect("a string takes every write");
            pointer
        });
        pointers.collect::<Vec<_>>()
    });
    assert!(found[0] == found[1] && found[1] == found[2], "{text}: {found:?}");
    std::mem::take(&mut found[0])
}

#[test]
fn what_is_forbidden_is_what_is_reported_and_no_verdict_is_turned_round() {
    let mut seen = [0; 3];
    for seed in 0..SCHEMAS {
        let (plain, schema, instances) = random_pairs(seed);
        let nulls = NullForOptional::AsAbsent;
        let null_for_optional = if seed % 2 == 0 { NullForOptional::Reject } else { nulls };
        let plain = Options { null_for_optional, ..plain };
        let compile = |unknown_parameters| {
            let options = Options { unknown_parameters, ..plain.clone() };
            Schema::compile(schema.to_string(), &options).ok().map(|(schema, _)| schema)
        };
        let Some([ignoring, reporting, forbidding]) =
            [UnknownParameters::Ignore, UnknownParameters::Report, UnknownParameters::Forbid]
                .map(compile)
                .into_iter()
                .collect::<Option<Vec<_>>>()
                .and_then(|schemas| <[Schema; 3]>::try_from(schemas).ok())
        else {
            continue;
        };
        for instance in &instances {
            let mut session = Session::new();
            let ignored = told(&ignoring.check(&mut session, instance));
            let is_accepted = ignored == "ok";
            let reported = told(&reporting.check(&mut session, instance));
            let forbidden = told(&forbidding.check(&mut session, instance));
            let case = format!("{instance} by {schema}:\n{ignored}\n{reported}\n{forbidden}");
            assert_eq!(is_accepted, reported == "ok" || reported.starts_with("unknown parameter "), "{case}");
            assert_eq!(forbidden == "ok", reported == "ok", "{case}");
            if is_accepted {
                assert_eq!(unknown_names(&forbidding, instance).is_empty(), reported == "ok", "{case}");
            } else {
                assert_eq!(reported, ignored, "{case}");
            }
            seen[usize::from(is_accepted) + usize::from(forbidden == "ok")] += 1;
        }
    }
    // Rejected anyhow, for unknown names alone, and accepted.
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}

#[test]
fn judging_and_explaining_agree_with_all_options() {
    for seed in 0..SCHEMAS / 2 {
        let (plain, schema, instances) = random_pairs(seed);
        // Where branches are counted the counterpart has a say that the unit alone does not know.
        let schema = serde_json::from_str(&schema.to_string().replace("oneOf", "anyOf")).expect("JSON as it was");
        let options = Options {
            unknown_parameters: UnknownParameters::Forbid,
            null_for_optional: NullForOptional::AsAbsent,
            ..plain
        };
        if let Some(problem) = problem_with(&options, &schema, &instances) {
            panic!("{problem}");
        }
    }
}
