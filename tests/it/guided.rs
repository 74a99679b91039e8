//! Styles, and above all the guided text: what a model is told that must repair its call.
//!
//! `snapshots/failures` has the guided text of every kind of failure beside the pinned line.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use callgate::{
    Catalog, Change, Draft, Failure, Options, Outcome, PREFIX, Rejection, Rendering, Schema, Session, Stack, Style,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::hosts::{Heap, Host};
use crate::random::Rng;
use crate::{instances, schemas};

const GUIDED: Rendering = Rendering { style: Style::Guided, masked: false, failures_max: 20, text_bytes_max: 4_096 };

fn text_of(rejection: &Rejection<'_>, rendering: &Rendering) -> String {
    let mut text = String::new();
    rejection.write(&mut text, rendering).expect("a string takes all");
    text
}

/// The text of a call that fails, the same from text and from a parsed value.
#[track_caller]
fn written(schema: &Value, instance: &Value, rendering: &Rendering) -> String {
    let (schema, _) = Schema::compile(schema.to_string(), &Options::default()).expect("the schema compiles");
    let (mut session, mut other) = (Session::new(), Session::new());
    let text = instance.to_string();
    match (schema.check(&mut session, text.as_str()), schema.check(&mut other, instance)) {
        (Outcome::Rejected(from_text), Outcome::Rejected(from_value)) => {
            let written = text_of(&from_text, rendering);
            assert_eq!(text_of(&from_value, rendering), written, "from a value");
            written
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
#[allow(clippy::needless_pass_by_value)] // what `json!` makes
fn check(schema: Value, instance: Value, expected: &str) {
    assert_eq!(written(&schema, &instance, &GUIDED), expected);
}

// --- what the systems want ----------------------------------------------------------------------------------------

#[test]
fn j11_a_union_without_a_closest_branch_says_what_its_branches_want() {
    let schema = json!({"properties": {"seed": {
        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "description": "Omit for random."
    }}});
    check(
        schema.clone(),
        json!({"seed": "x"}),
        r#"seed: expected integer >= 0 or null, got string "x". Omit for random."#,
    );
    let line = written(&schema, &json!({"seed": "x"}), &Rendering::default());
    assert_eq!(line, "schema: 'x' is not valid under any of the given schemas at seed — Omit for random.");
}

/// `push(tests: dict[str, list[str]], mode: "a" | "b" = "a")`, further parameters forbidden.
fn push() -> Value {
    json!({
        "type": "object",
        "properties": {
            "tests": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
                "description": "Tests to run."
            },
            "mode": {"enum": ["fast", "safe"]}
        },
        "required": ["tests"],
        "additionalProperties": false
    })
}

#[test]
fn b7_a_forbidden_name_is_told_with_the_nearest_known_one() {
    check(push(), json!({"tests": {}, "moed": "fast"}), "'moed' is unknown; did you mean 'mode'?");
    check(push(), json!({"tests": {}, "hallu": 1}), "'hallu' is unknown; known names: 'mode', 'tests'");
}

#[test]
fn c24_so_is_an_extra_key_that_stands_for_a_missing_one() {
    check(
        push(),
        json!({"testz": {}, "mode": "fast"}),
        "'testz' is unknown; did you mean 'tests' (object whose values are arrays of strings), which is required? Tests to run.",
    );
}

#[test]
fn c25_the_text_is_bounded_however_large_the_call() {
    let schema = json!({"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "integer"}});
    let long = "x".repeat(100_000);
    check(
        schema.clone(),
        json!({"a": long}),
        &format!("a: expected integer, got string \"{}… (100000 characters)", "x".repeat(59)),
    );
    let many: Value = (0..1_000).map(|at| (format!("name {at:03} {}", &long[..500]), json!("x"))).collect();
    for rendering in [
        GUIDED,
        Rendering { failures_max: 64, ..GUIDED },
        Rendering { failures_max: usize::MAX, text_bytes_max: 300, ..GUIDED },
        Rendering { text_bytes_max: 40, ..GUIDED },
        Rendering { text_bytes_max: 0, ..GUIDED },
    ] {
        let text = written(&schema, &many, &rendering);
        assert!(text.len() <= rendering.text_bytes_max, "{}", text.len());
        let lines = text.lines().count();
        assert!(lines <= rendering.failures_max.saturating_add(1), "{lines}");
        let is_counted = text.lines().last().is_none_or(|last| last.starts_with("… and ") && last.ends_with(" more"));
        assert!(is_counted, "{text}");
    }
    let told = written(&schema, &many, &GUIDED);
    let lines = told.lines().count() as u64 - 1;
    assert!(told.ends_with(&format!("… and {} more", 1_000 - lines)), "{told}");
}

#[test]
fn lists_sent_as_strings_are_told_so() {
    check(
        push(),
        json!({"tests": {"xpcshell": "[\"dom/base\"]"}}),
        r#"tests.xpcshell: expected array of strings, got string "[\"dom/base\"]"; send the array itself, not its text in a string"#,
    );
    let schema =
        json!({"properties": {"n": {"type": "integer"}, "o": {"type": "object"}, "s": {"type": ["boolean", "null"]}}});
    check(schema.clone(), json!({"n": "7"}), r#"n: expected integer, got string "7"; write it without quotes"#);
    check(schema.clone(), json!({"n": "7.5"}), r#"n: expected integer, got string "7.5""#);
    check(schema.clone(), json!({"n": "inf"}), r#"n: expected integer, got string "inf""#);
    check(
        schema.clone(),
        json!({"s": "true"}),
        r#"s: expected boolean or null, got string "true"; write it without quotes"#,
    );
    check(schema.clone(), json!({"n": null}), "n: expected integer, got null; leave it out instead of null");
    check(
        schema,
        json!({"o": [{"a": 1}]}),
        r#"o: expected object, got array [{"a": 1}]; send the object itself, not in a list"#,
    );
}

// --- names --------------------------------------------------------------------------------------------------------

#[test]
fn unknown_names_are_paired_with_missing_ones_each_once() {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for."},
            "queries": {"type": "array"},
            "file_path": {"type": "string"},
            "limit": {"type": "integer"}
        },
        "required": ["query", "queries", "file_path"],
        "additionalProperties": false
    });
    check(
        schema.clone(),
        json!({"querry": "x", "path": "y", "hallu": 1}),
        "'querry' is unknown; did you mean 'query' (string), which is required? What to look for.\n\
         'path' is unknown; did you mean 'file_path' (string), which is required?\n\
         'hallu' is unknown; known names: 'file_path', 'limit', 'queries', 'query'\n\
         missing required 'queries' (array)",
    );
    // Of two that are near one, the nearer has it; a name that is there is not meant.
    check(
        schema,
        json!({"query": "x", "querys": [], "file_path": "y", "limt": 1, "limitt": 2}),
        "'querys' is unknown; did you mean 'queries' (array), which is required?\n\
         'limitt' is unknown; did you mean 'limit'?\n\
         'limt' is unknown; did you mean 'limit'?",
    );
}

#[test]
fn names_are_known_by_the_schemas_around_too() {
    let schema = json!({
        "properties": {"name": {"type": "string"}, "names": {"type": "array", "description": "All of them."}},
        "if": {"required": ["name"]},
        "then": {"required": ["names"]}
    });
    check(schema, json!({"name": "x"}), "missing required 'names' (array): All of them.");
}

#[test]
fn the_only_pair_left_is_one_if_the_value_would_do() {
    let schema = json!({
        "properties": {"content": {"type": "string"}}, "required": ["content"], "additionalProperties": false
    });
    check(
        schema.clone(),
        json!({"body": "x"}),
        "'body' is unknown; did you mean 'content' (string), which is required?",
    );
    check(schema, json!({"body": 7}), "'body' is unknown; known names: 'content'\nmissing required 'content' (string)");
}

#[test]
fn ignored_names_are_told_where_they_are_near_a_missing_one() {
    let schema = json!({"properties": {"file_path": {"type": "string"}}, "required": ["file_path"]});
    check(
        schema.clone(),
        json!({"filePath": "x", "other": 1}),
        "'filePath' is unknown; did you mean 'file_path' (string), which is required?",
    );
    check(schema, json!({"text": "x"}), "missing required 'file_path' (string)");
}

#[test]
fn names_the_schema_has_in_another_branch_are_no_strays() {
    let schema = json!({
        "oneOf": [
            {"properties": {"kind": {"const": "a"}, "value": {"type": "integer"}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "b"}, "values": {"type": "array"}}, "required": ["kind"]}
        ],
        "unevaluatedProperties": false
    });
    check(schema.clone(), json!({"kind": "a", "value": "x"}), r#"value: expected integer, got string "x""#);
    check(schema, json!({"kind": "a", "values": []}), "'values' is not allowed together with the other members");
}

#[test]
fn members_of_members_are_named_as_they_are_written() {
    let schema = json!({"properties": {"filters": {
        "properties": {"tags": {"items": {"type": "string"}}, "a b": {"required": ["c"]}}, "additionalProperties": false
    }}});
    check(
        schema,
        json!({"filters": {"tags": ["x", 1], "a b": {}, "tgas": 2}}),
        "filters: 'tgas' is unknown; known names: 'a b', 'tags'\n\
         filters[\"a b\"]: missing required 'c'\n\
         filters.tags[1]: expected string, got integer 1",
    );
}

#[test]
fn names_that_are_not_allowed_are_said_to_be_names() {
    let schema = json!({"properties": {"env": {"propertyNames": {"pattern": "^[A-Z]+$"}}}});
    check(
        schema,
        json!({"env": {"path": 1}}),
        "env: the name 'path' is not allowed: expected string matching `^[A-Z]+$`, got string \"path\"",
    );
    let schema =
        json!({"patternProperties": {"^x-": {}, "^y-": {}}, "properties": {"name": {}}, "additionalProperties": false});
    check(schema, json!({"z-a": 1}), "'z-a' is unknown; known names: 'name'; other names must match `^x-` or `^y-`");
}

// --- values -------------------------------------------------------------------------------------------------------

#[test]
fn enums_name_the_nearest_value_and_are_cut() {
    check(
        push(),
        json!({"tests": {}, "mode": "fsat"}),
        r#"mode: expected one of "fast", "safe", got string "fsat"; did you mean "fast"?"#,
    );
    check(push(), json!({"tests": {}, "mode": "c"}), r#"mode: expected one of "fast", "safe", got string "c""#);
    check(push(), json!({"tests": {}, "mode": 3}), r#"mode: expected one of "fast", "safe", got integer 3"#);
    let many: Vec<String> = (0..40).map(|at| format!("value-{at:02}")).collect();
    check(
        json!({"enum": many}),
        json!("valeu_31"),
        "expected one of \"value-00\", \"value-01\", \"value-02\", \"value-03\", \"value-04\", \"value-05\", \"value-06\", \
         \"value-07\", \"value-08\", \"value-09\", \"value-10\", \"value-11\", … (40 values), got string \"valeu_31\"; did you \
         mean \"value-31\"?",
    );
    // The order of the schema, in which values often rise.
    check(
        json!({"type": "string", "enum": ["low", "medium", "high", "it's \"x\"\n"]}),
        json!("HIGH"),
        r#"expected one of "low", "medium", "high", "it's \"x\"\n", got string "HIGH"; did you mean "high"?"#,
    );
}

#[test]
fn a_value_is_told_all_that_is_wanted_of_it_once() {
    let schema = json!({"type": "string", "minLength": 3, "pattern": "^[a-z]+$", "enum": ["abc"]});
    check(schema, json!("A"), r#"expected "abc", got string "A""#);
    let schema = json!({"type": "string", "minLength": 3, "pattern": "^[a-z]+$"});
    check(
        schema,
        json!("A"),
        "expected string of at least 3 characters matching `^[a-z]+$`, got string \"A\" (1 character)",
    );
    check(
        json!({"type": "integer", "minimum": 1, "maximum": 10}),
        json!(12),
        "expected integer from 1 to 10, got integer 12",
    );
    check(json!({"exclusiveMinimum": 0, "maximum": 2.5}), json!(3), "expected number > 0 and <= 2.5, got integer 3");
}

#[test]
fn schemas_inside_each_other_are_told_to_a_depth() {
    let schema = json!({"type": "array", "minItems": 1, "items": {
        "type": "object",
        "properties": {"at": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
        "required": ["at"]
    }});
    check(schema, json!(3), "expected non-empty array of objects with 'at' (object with 'lat'), got integer 3");
}

#[test]
fn alternatives_are_told_from_what_is_inside() {
    let list = |items: Value| json!({"type": ["array", "null"], "items": items});
    check(list(json!({"type": "string"})), json!(3), "expected array of strings, or null, got integer 3");
    check(
        list(json!({"type": ["string", "null"]})),
        json!(3),
        "expected array, each item (string or null), or null, got integer 3",
    );
    check(
        json!({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer", "minimum": 1}}}),
        json!(3),
        "expected object whose values are arrays of integers >= 1, got integer 3",
    );
    check(
        json!({"type": ["number", "null"], "exclusiveMinimum": 0, "multipleOf": 0.5}),
        json!("x"),
        "expected number > 0 and a multiple of 0.5, or null, got string \"x\"",
    );
}

#[test]
fn objects_of_many_kinds_are_told_by_their_tag() {
    let kind = |kind: &str, name: &str| {
        json!({"type": "object", "required": ["kind", name],
            "properties": {"kind": {"const": kind}, name: {"type": "string", "pattern": "^[a-z]{1,20}(-[a-z]{1,20})*$"}}})
    };
    check(
        json!({"anyOf": [kind("card", "number"), kind("iban", "account"), kind("cash", "desk"), {"type": "null"}]}),
        json!(3),
        "expected object with 'kind' (one of \"card\", \"iban\", \"cash\"), which tells what else is wanted, or null, got \
         integer 3",
    );
}

#[test]
fn what_a_hint_proposes_would_do() {
    let numbers = json!({"type": "array", "items": {"type": "number", "minimum": 0}});
    let list = "expected array of numbers >= 0, got integer 3; put it in a list";
    check(numbers, json!(3), list);
    let number = json!({"type": "number", "minimum": 0});
    check(number.clone(), json!("-1"), "expected number >= 0, got string \"-1\"");
    check(number.clone(), json!("1"), "expected number >= 0, got string \"1\"; write it without quotes");
    check(number.clone(), json!([1]), "expected number >= 0, got array [1]; send the integer itself, not in a list");
    check(number, json!([-1]), "expected number >= 0, got array [-1]");
    let objects = json!({"type": "array", "items": {"type": "object", "properties": {"a": true}, "required": ["a"]}});
    let wanted = "expected array of objects with 'a', got";
    check(objects.clone(), json!({"a": 1}), &format!("{wanted} object {{\"a\": 1}}; put it in a list"));
    check(objects, json!({"0": {"a": 1}}), &format!("{wanted} object {{\"0\": {{\"a\": 1}}}}"));
}

#[test]
fn all_that_comes_twice_is_told() {
    let unique = || json!({"uniqueItems": true});
    let told = "expected array without duplicates; item [2] repeats item [0]";
    check(unique(), json!([1, 2, 1, 2]), &format!("{told}, item [3] item [1]"));
    let more = format!("{told}, item [3] item [0], item [4] item [0], item [5] item [0] and 2 more");
    check(unique(), json!([1, 2, 1, 1, 1, 1, 1, 1]), &more);
}

// --- unions -------------------------------------------------------------------------------------------------------

/// Two shapes that `kind` tells apart.
fn shapes() -> Value {
    json!({"properties": {"shape": {"oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "description": "In metres."}},
            "required": ["kind", "radius"],
            "additionalProperties": false
        },
        {"$ref": "#/$defs/box"},
        {"type": "null"}
    ]}}, "$defs": {"box": {
        "type": "object",
        "properties": {"kind": {"enum": ["box", "cube"]}, "size": {"type": "integer"}},
        "required": ["kind"]
    }}})
}

#[test]
fn a_tag_tells_the_branch() {
    check(
        shapes(),
        json!({"shape": {"kind": "circle"}}),
        "shape (kind \"circle\"): missing required 'radius' (number): In metres.",
    );
    check(
        shapes(),
        json!({"shape": {"kind": "cube", "size": "big"}}),
        r#"shape.size: expected integer, got string "big""#,
    );
}

#[test]
fn a_tag_that_is_nearly_right_tells_it_too() {
    check(
        shapes(),
        json!({"shape": {"kind": "Cirkle"}}),
        "shape (kind \"circle\"): missing required 'radius' (number): In metres.\n\
         shape.kind: expected one of \"circle\", \"box\", \"cube\", got string \"Cirkle\"; did you mean \"circle\"?",
    );
    check(
        shapes(),
        json!({"shape": {"kind": "sphere"}}),
        "shape.kind: expected one of \"circle\", \"box\", \"cube\", got string \"sphere\"",
    );
    check(
        shapes(),
        json!({"shape": {"kind": 7, "size": 1}}),
        "shape.kind: expected one of \"circle\", \"box\", \"cube\", got integer 7",
    );
}

#[test]
fn a_tag_that_is_missing_is_asked_for() {
    check(
        shapes(),
        json!({"shape": {}}),
        "shape: missing 'kind' (one of \"circle\", \"box\", \"cube\"), which tells what else is wanted",
    );
    // What else is there may tell.
    check(shapes(), json!({"shape": {"size": 2}}), "shape: missing required 'kind' (one of \"box\", \"cube\")");
}

#[test]
fn types_tell_the_branch() {
    let schema = json!({"properties": {"at": {"anyOf": [
        {"type": "string", "minLength": 2},
        {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]},
        {"type": "null"}
    ]}}});
    check(schema.clone(), json!({"at": {}}), "at: missing required 'lat' (number)");
    check(schema.clone(), json!({"at": {"lat": "x"}}), r#"at.lat: expected number, got string "x""#);
    check(
        schema.clone(),
        json!({"at": "x"}),
        "at: expected string of at least 2 characters, got string \"x\" (1 character)",
    );
    check(
        schema,
        json!({"at": 3}),
        "at: expected string of at least 2 characters or object with 'lat' (number), or null, got integer 3",
    );
}

#[test]
fn else_the_closest_branch_speaks_if_there_is_one() {
    let schema = json!({"anyOf": [
        {"properties": {"path": {"type": "string"}, "line": {"type": "integer"}}, "required": ["path", "line"]},
        {"properties": {"url": {"type": "string"}, "title": {"type": "string"}}, "required": ["url", "title"]}
    ]});
    check(schema.clone(), json!({"path": "x"}), "missing required 'line' (integer)");
    check(
        schema,
        json!({}),
        "expected object with 'path' (string) and 'line' (integer), or object with 'url' (string) and 'title' (string), got \
         object {}",
    );
    // Two strings, equally far.
    check(
        json!({"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "maxLength": 1}]}),
        json!("bc"),
        "expected string matching `^a` or string of at most 1 character, got string \"bc\"",
    );
}

#[test]
fn unions_inside_unions_are_told_as_one() {
    let schema = json!({"anyOf": [{"type": "null"}, {"anyOf": [
        {"type": "integer", "minimum": 10},
        {"oneOf": [{"type": "array", "items": {"type": "integer"}}, {"not": {}}]}
    ]}]});
    check(schema.clone(), json!("x"), "expected null or integer >= 10 or array of integers, got string \"x\"");
    check(schema.clone(), json!(7), "expected integer >= 10, got integer 7");
    check(schema, json!([1, "x"]), r#"[1]: expected integer, got string "x""#);
}

#[test]
fn a_one_of_that_matched_twice_says_which() {
    check(
        json!({"properties": {"one": {"oneOf": [{"type": "number"}, {"type": "integer"}, {"type": "string"}]}}}),
        json!({"one": 1}),
        "one: must fit exactly one alternative, but fits more: integer; number; got integer 1",
    );
}

// --- what is not JSON ---------------------------------------------------------------------------------------------

#[test]
fn text_that_is_not_json_is_told_with_its_place() {
    let (schema, _) = Schema::compile("true", &Options::default()).expect("the schema compiles");
    let mut session = Session::new();
    let Outcome::Rejected(rejection) = schema.check(&mut session, "{\"a\" 1}") else {
        panic!("is no JSON");
    };
    assert_eq!(
        text_of(&rejection, &GUIDED),
        "the arguments are not valid JSON: expected ':' at byte 5. Send one JSON object."
    );
}

#[test]
fn values_that_json_does_not_have_are_told_with_their_place() {
    let (schema, _) = Schema::compile("true", &Options::default()).expect("the schema compiles");
    let heap = Heap::of(&json!({"filters": {"a b": [1, "<nan>"]}}));
    let mut session = Session::new();
    let mut stack = Stack::default();
    let Outcome::Rejected(rejection) = schema.check_instance(&mut session, &mut stack, &mut Host(&heap)) else {
        panic!("is no JSON");
    };
    assert_eq!(text_of(&rejection, &GUIDED), r#"filters["a b"][1]: got NaN, which JSON does not have"#);
    let masked = text_of(&rejection, &Rendering { masked: true, ..GUIDED });
    assert_eq!(masked, "[name of 7 characters][name of 3 characters][1]: got NaN, which JSON does not have");
    let line = text_of(&rejection, &Rendering { style: Style::Line, masked: true, ..GUIDED });
    assert_eq!(
        line,
        "schema: arguments are not valid JSON: NaN is no JSON value at <name of 7 characters>/<name of 3 characters>/1"
    );
}

// --- masks --------------------------------------------------------------------------------------------------------

#[test]
fn masked_values_are_types_and_lengths() {
    let masked = |style| Rendering { style, masked: true, ..GUIDED };
    let schema = json!({
        "properties": {"n": {"type": "integer", "minimum": 0}, "s": {"enum": ["a", "b"]}, "m": {
            "additionalProperties": {"type": "array", "items": {"type": "string"}}
        }},
        "required": ["query"],
        "additionalProperties": false
    });
    let call = json!({"n": -7, "s": "secret", "m": {"key": [{"deep": "value"}]}, "querry": 1});
    assert_eq!(
        written(&schema, &call, &masked(Style::Guided)),
        "a name of 6 characters is unknown; did you mean 'query', which is required?\n\
         n: expected integer >= 0, got another integer\n\
         s: expected one of \"a\", \"b\", got string of 6 characters\n\
         m[name of 3 characters][0]: expected string, got object of 1 member"
    );
    assert_eq!(
        written(&schema, &json!({"query": 1, "hallu": 2}), &masked(Style::Line)),
        "schema: Additional properties are not allowed (<string of 5 characters>, <string of 5 characters> were unexpected)"
    );
    assert_eq!(
        written(&json!({"additionalProperties": {"maximum": 1}}), &json!({"key": 72}), &masked(Style::Line)),
        "schema: <integer> is greater than the maximum of 1 at <name of 3 characters>"
    );
}

/// Random schemas, each with a call: as many as `CALLGATE_PAIRS` says.
fn pairs() -> usize {
    std::env::var("CALLGATE_PAIRS").ok().and_then(|pairs| pairs.parse().ok()).unwrap_or(3_000)
}

/// Text and number that no schema has.
const CANARY: &str = "canary";
const CANARY_NUMBER: i64 = 918_273_645;

/// The instance with canaries in place of some of its values and names.
fn planted(rng: &mut Rng, instance: &Value) -> Value {
    match instance {
        Value::Array(items) => items.iter().map(|item| planted(rng, item)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let name = if rng.chance(20) { format!("{CANARY}{}", rng.below(100)) } else { name.clone() };
                (name, planted(rng, value))
            })
            .collect(),
        Value::Number(_) if rng.chance(70) => json!(CANARY_NUMBER),
        _ if rng.chance(50) => json!(format!("{CANARY} \"é\" {}", rng.below(100))),
        other => other.clone(),
    }
}

#[test]
fn no_masked_text_has_anything_of_the_call() {
    let mut rng = Rng::new(25);
    let (mut session, mut rejected) = (Session::new(), 0);
    for _ in 0..pairs() {
        let (draft, schema) = schemas::schema(&mut rng);
        let options = Options { draft, ..Options::default() };
        let Ok((compiled, _)) = Schema::compile(schema.to_string(), &options) else {
            continue;
        };
        let fitting = instances::fitting(&mut rng, &schema);
        let call = planted(&mut rng, &fitting);
        let text = call.to_string();
        let from_text = compiled.check(&mut session, text.as_str());
        let Outcome::Rejected(rejection) = from_text else {
            continue;
        };
        rejected += 1;
        for style in Style::ALL {
            let masked = text_of(&rejection, &Rendering { style: *style, masked: true, ..GUIDED });
            let leaks = masked.contains(CANARY) || masked.contains(&CANARY_NUMBER.to_string());
            assert!(!leaks, "{style:?} of {schema} on {call}: {masked}");
        }
    }
    assert!(rejected > pairs() / 4, "{rejected}");
}

// --- all styles ---------------------------------------------------------------------------------------------------

/// On random schemas and calls: bounded, of one line a failure, the same from text and value, and without a word of the
/// schema's own notation.
#[test]
fn guided_texts_keep_their_bounds() {
    let mut rng = Rng::new(11);
    let (mut session, mut other, mut rejected) = (Session::new(), Session::new(), 0);
    for _ in 0..pairs() {
        let (draft, schema) = schemas::schema(&mut rng);
        let options = Options { draft, ..Options::default() };
        let Ok((compiled, _)) = Schema::compile(schema.to_string(), &options) else {
            continue;
        };
        let call = instances::fitting(&mut rng, &schema);
        let call = instances::changed(&mut rng, &call);
        let text = call.to_string();
        let (from_text, from_value) = (compiled.check(&mut session, text.as_str()), compiled.check(&mut other, &call));
        let (Outcome::Rejected(from_text), Outcome::Rejected(from_value)) = (from_text, from_value) else {
            continue;
        };
        rejected += 1;
        let heap = Heap::of(&call);
        let mut host_session = Session::new();
        let from_host = compiled.check_instance(&mut host_session, &mut Stack::default(), &mut Host(&heap));
        if let Outcome::Rejected(from_host) = from_host {
            // Where a host's own object was explained in place, what depends on the whole of it is left out.
            let written = text_of(&from_host, &GUIDED);
            assert!(!written.is_empty() && written.len() <= 4_096, "{schema} on {call}");
        }
        let failures = from_value.failures().count();
        let written = text_of(&from_text, &GUIDED);
        assert_eq!(text_of(&from_value, &GUIDED), written, "{schema} on {call}");
        assert_eq!(from_value.failures().count(), failures, "{schema} on {call}");
        assert!(!written.is_empty() && written.len() <= 4_096 && written.lines().count() <= 21, "{schema} on {call}");
        assert!(written.lines().all(|line| !line.trim().is_empty()), "{schema} on {call}: {written}");
        assert!(!written.contains("$ref") && !written.contains("#/"), "{schema} on {call}: {written}");
    }
    assert!(rejected > pairs() / 4, "{rejected}");
}

#[test]
fn the_json_style_has_every_field() {
    let schema = json!({"properties": {"a": {"type": "integer", "description": "It's \"a\"."}}, "required": ["b"]});
    let call = json!({"a": "x\ny"});
    let written = written(&schema, &call, &Rendering::of(Style::Json));
    let (compiled, _) = Schema::compile(schema.to_string(), &Options::default()).expect("the schema compiles");
    let mut session = Session::new();
    let Outcome::Rejected(rejection) = compiled.check(&mut session, &call) else {
        panic!("is rejected");
    };
    let of = |failure: Failure<'_, '_>| {
        json!({
            "code": failure.code(),
            "keyword": failure.keyword(),
            "instance_location": failure.instance_location(),
            "keyword_location": failure.keyword_location(),
            "message": failure.message(),
            "description": failure.description(),
        })
    };
    let expected = json!({
        "valid": false,
        "line": rejection.to_string(),
        "missing_only": false,
        "missing": [],
        "signature": format!("{:016x}", rejection.signature()),
        "failures": rejection.failures().map(of).collect::<Vec<_>>(),
    });
    assert_eq!(serde_json::from_str::<Value>(&written).expect("is JSON"), expected);
    assert!(written.starts_with(r#"{"valid":false,"line":"schema: 'b' is a required property","missing_only":false"#));
}

#[test]
fn a_catalog_has_a_rendering_for_its_rejections() {
    let tools = json!({"tools": [{"name": "t", "inputSchema": {"required": ["a"]}}]}).to_string();
    let (mut catalog, _) = Catalog::compile(&tools, &Options::default()).expect("is a catalog");
    assert_eq!(catalog.rendering(), Rendering::default());
    catalog.set_rendering(GUIDED);
    let (catalog, diff) = catalog.refresh(&tools).expect("is a catalog");
    assert_eq!(diff.count(Change::Unchanged), diff.tools.len(), "it is no part of what is compiled");
    let mut session = Session::new();
    let Outcome::Rejected(rejection) = catalog.check(&mut session, "t", b"{}") else {
        panic!("is rejected");
    };
    assert_eq!(text_of(&rejection, &rejection.rendering()), "missing required 'a'");
    let mut line = String::new();
    rejection.write_line(&mut line, PREFIX).expect("a string takes all");
    assert_eq!(line, rejection.to_string(), "the line stays the line");
}

// --- hostile schemas and calls ------------------------------------------------------------------------------------

/// Far above what a text takes, and far below what work that grows with schema times call would.
const TEXT_TIME_MAX: Duration = Duration::from_secs(2);

/// The text of a large call, which is bounded in bytes and in time.
#[track_caller]
fn check_hostile(name: &str, schema: &Value, call: &Value) -> String {
    let (schema, _) = Schema::compile(schema.to_string(), &Options::default()).expect("the schema compiles");
    let mut session = Session::new();
    let call = call.to_string();
    let Outcome::Rejected(rejection) = schema.check(&mut session, call.as_str()) else {
        panic!("{name} was to fail");
    };
    let start = Instant::now();
    let text = text_of(&rejection, &Rendering { failures_max: 64, text_bytes_max: 65_536, ..GUIDED });
    let taken = start.elapsed();
    assert!(taken < TEXT_TIME_MAX, "{name}: {taken:?}");
    assert!(!text.is_empty() && text.len() <= 65_536, "{name}");
    text
}

fn named(count: usize, name: &str, value: &Value) -> Value {
    (0..count).map(|at| (format!("{name}{at:06}"), value.clone())).collect()
}

#[test]
fn many_required_names_are_not_sought_one_by_one() {
    let properties = named(20_000, "property_", &json!({"type": "integer"}));
    let required: Vec<String> = properties.as_object().expect("an object").keys().cloned().collect();
    let schema = json!({"items": {"anyOf": [
        {"type": "object", "properties": properties, "required": required}, {"type": "null"}, {"type": "string"}
    ]}});
    let text = check_hostile("required", &schema, &json!([1, 2, 3, 4, 5, 6, 7, 8]));
    assert!(text.contains("'property_000005' (integer) and 19994 more"), "{text}");
}

#[test]
fn many_branches_with_tags_are_not_all_looked_into() {
    let branch =
        |at: usize| json!({"required": ["kind"], "properties": {"kind": {"const": format!("kind-{at:06}")}, "a": {}}});
    let schema =
        json!({"items": {"anyOf": (0..10_000).map(branch).chain([json!({"type": "null"})]).collect::<Vec<_>>()}});
    let text = check_hostile("tags", &schema, &json!([{"kind": "kind-00000x"}, {"kind": 3}, {}]));
    assert!(text.contains("kind"), "{text}");
}

#[test]
fn many_extras_are_counted_alone() {
    let schema = json!({
        "allOf": [{"properties": named(2_000, "known_name_", &json!({}))}], "unevaluatedProperties": false
    });
    let text = check_hostile("extras", &schema, &named(100_000, "unknown_name_", &json!(1)));
    assert!(text.contains(" more"), "{text}");
}

#[test]
fn the_nearest_of_many_texts_is_sought_among_some() {
    let texts: Vec<String> = (0..100_000).map(|at| format!("value-{at:06}")).collect();
    let text = check_hostile("enum", &json!({"items": {"enum": texts}}), &json!(["valeu-000007", "valeu-090007"]));
    assert!(text.contains("(100000 values)") && text.contains("did you mean \"value-000007\"?"), "{text}");
}

#[test]
fn names_of_many_places_are_compared_up_to_a_limit() {
    let long = "x".repeat(40);
    let known = named(5_000, &format!("{}_", &long[..30]), &json!({}));
    let schema = json!({"items": {"properties": known, "additionalProperties": false}});
    let unknown = named(16, &format!("{long}_"), &json!(1));
    let text = check_hostile("names", &schema, &Value::Array(vec![unknown; 64]));
    assert!(text.contains("unknown"), "{text}");
}

// --- a catalog ----------------------------------------------------------------------------------------------------

/// Calls of `examples/library.json` that go wrong as calls of models do.
const LIBRARY_CALLS: &[(&str, &str)] = &[
    ("search_catalogue", r#"{"querry": "tides", "seed": "x"}"#),
    ("search_catalogue", r#"{"query": "", "fields": "title", "limit": "20", "published": {"to": "1999"}}"#),
    ("search_catalogue", r#"{"query": "tides", "fields": ["titel", "author", "author"], "seed": -1}"#),
    ("search_catalogue", r#"{"text": "tides", "limit": 1000}"#),
    ("search_catalogue", r#""{\"query\": \"tides\"}""#),
    ("search_catalogue", r#"{"query": "tides""#),
    ("reserve_book", r#"{"memberId": "M000042", "isbn": "978-0-306", "pick_up": {"branch": "Central"}}"#),
    (
        "reserve_book",
        r#"{"member_id": "M000042", "isbn": "9780306406157", "pick_up": null, "notify": {"by": "text", "address": "a@b.org"}}"#,
    ),
    (
        "reserve_book",
        r#"{"member_id": 42, "isbn": "9780306406157", "pick_up": {"date": "soon", "branch": "east"}, "notify": {"by": "e-mail"}}"#,
    ),
    ("reserve_book", r#"{"member_id": "M000042", "isbn": "9780306406157", "pick_up": {}, "notify": "text"}"#),
    ("pay_fine", r#"{"member_id": "M000042", "amount": "12.50", "method": "account"}"#),
    ("pay_fine", r#"{"member_id": "M000042", "amount": 12.345, "method": "Card"}"#),
    (
        "move_shelf",
        r#"{"shelf": {"label": "A", "inside": [{"label": "B"}, {"lable": "C"}, {"label": 4, "inside": {}}]}, "into": null}"#,
    ),
    ("opening_hours", "[]"),
];

#[test]
fn calls_of_a_catalog_read_as_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/library.json");
    let tools = fs::read(path).expect("the catalog is read");
    let options = Options { assert_formats: true, ..Options::default() };
    let (catalog, _) = Catalog::compile(tools, &options).expect("is a catalog");
    let mut session = catalog.session(1_024);
    let mut text = String::new();
    for (tool, call) in LIBRARY_CALLS {
        let Outcome::Rejected(rejection) = catalog.check(&mut session, tool, call.as_bytes()) else {
            panic!("{tool} {call} was to fail");
        };
        let _ = writeln!(text, "{tool} {call}\n{rejection}\n");
        for rendering in [GUIDED, Rendering { masked: true, ..GUIDED }] {
            text_of(&rejection, &rendering).lines().for_each(|line| {
                let _ = writeln!(text, "  {line}");
            });
            text.push('\n');
        }
    }
    check_snapshot("library", &text);
}

// --- recorded calls -----------------------------------------------------------------------------------------------

#[derive(serde::Deserialize)]
struct Row<'r> {
    id: String,
    dialect: String,
    #[serde(default)]
    assert_format: bool,
    #[serde(borrow)]
    schema: &'r RawValue,
    #[serde(borrow, default, deserialize_with = "present")]
    instance: Option<&'r RawValue>,
    instance_text: Option<String>,
}

/// A member that is there, `null` too.
fn present<'r, D: serde::Deserializer<'r>>(deserializer: D) -> Result<Option<&'r RawValue>, D::Error> {
    serde::Deserialize::deserialize(deserializer).map(Some)
}

/// The calls that were recorded for the pinned line, where their folder is there: `../shared/oracle` beside the repository.
#[test]
fn recorded_calls_are_told_what_is_allowed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/oracle/tools.jsonl");
    let Ok(rows) = fs::read_to_string(path) else {
        return;
    };
    let (mut session, mut told, mut snapshot) = (Session::new(), 0, String::new());
    for row in rows.lines() {
        // Schema and call as they are written: the order of keys is theirs.
        let row: Row<'_> = serde_json::from_str(row).expect("a row");
        let draft = Draft::from_name(&row.dialect).expect("a dialect");
        let options = Options { draft, assert_formats: row.assert_format, ..Options::default() };
        let (schema, _) = Schema::compile(row.schema.get(), &options).expect("the schema compiles");
        let call = row.instance_text.or_else(|| Some(row.instance?.get().to_owned())).expect("an instance");
        if let Outcome::Rejected(rejection) = schema.check(&mut session, call.as_str()) {
            let text = text_of(&rejection, &GUIDED);
            assert!(!text.is_empty() && text.len() <= 4_096, "{call}: {text}");
            assert!(!text.contains("#/") && !text.contains("$ref"), "{call}: {text}");
            let has_unions = rejection.failures().any(|failure| failure.is_union());
            let types =
                ["string", "number", "integer", "boolean", "array", "object", "null", "one of \"", "known names"];
            // What came names a type too, and tells nothing of what is allowed.
            let is_told = |line: &str| {
                let allowed = line.split(", got ").next().unwrap_or_default();
                types.iter().any(|word| allowed.contains(word))
            };
            assert!(!has_unions || text.lines().any(is_told), "{call}: {text}");
            let _ = writeln!(snapshot, "{}\n  {}", row.id, text.replace('\n', "\n  "));
            told += 1;
        }
    }
    assert!(told > 1_500, "{told}");
    check_snapshot("tools", &snapshot);
}

#[track_caller]
fn check_snapshot(name: &str, text: &str) {
    insta::with_settings!({snapshot_path => "../../snapshots/guided", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!(name, text);
    });
}
