//! Reading: field lines, lax checks, coerced copies; and that a reading by the schema agrees with the machine.

use allocation_counter::measure;
use callgate::{Arguments, Catalog, Options, Outcome, Schema, Session, Stack as HostStack};
use callgate_vm::execute::Bounds;
use callgate_vm::instance::Halt;
use callgate_vm::judge;
use callgate_vm::limits::NESTED_MAX;
use callgate_vm::read::{Mode, ReadInto, Reading, read};
use callgate_vm::scratch::{Scratch, Stack};
use callgate_vm::tape::{ReadOptions, TapeBuf, TapeInstance};

use serde_json::{Value, json};

use crate::hosts::{Heap, Host};
use crate::random::Rng;
use crate::verdict::{compile_with, start_of};
use crate::{instances, schemas};

// --- the machine and the reading ----------------------------------------------------------------------------------

/// Schemas in a run, and instances for each.
const SCHEMAS: u64 = 3_000;
const INSTANCES: usize = 6;

/// What the machine says, what a reading by the schema says, and how many failures that lists.
fn both(schema: &Schema, text: &str) -> (Result<bool, Halt>, Result<bool, Halt>, usize) {
    let bounds = Bounds { fuel_max: 10_000_000, depth_max: 256, memo_max: 1 << 20, nested_max: NESTED_MAX };
    let mut tape = TapeBuf::new();
    let options = ReadOptions { depth_max: 256, bytes_max: 1 << 20, strict: true };
    let tape = tape.read(text.as_bytes(), options).expect("it is JSON");
    let (mut stack, mut scratch, mut reading) = (Stack::default(), Scratch::default(), Reading::default());
    let judged = judge(schema.unit(), &mut TapeInstance::new(tape, 0), Some(&mut stack), &mut scratch, &bounds);
    let unit = schema.unit();
    let into = ReadInto { reading: &mut reading, failures_max: 1_000 };
    let read = read(unit, tape, Mode::Schema, &mut stack, &mut scratch, into, &bounds);
    (judged, read, reading.failures().len())
}

#[test]
fn a_reading_by_the_schema_agrees_with_the_machine() {
    for seed in 0..SCHEMAS {
        let mut rng = Rng::new(seed);
        let (draft, schema) = schemas::schema(&mut rng);
        let options = Options { draft, assert_formats: true, ..Options::default() };
        let Ok((compiled, _)) = Schema::compile(schema.to_string(), &options) else {
            continue;
        };
        for _ in 0..INSTANCES {
            let fitting = instances::fitting(&mut rng, &schema);
            for instance in [instances::changed(&mut rng, &fitting), fitting] {
                let (judged, read, failures) = both(&compiled, &instance.to_string());
                assert_eq!(judged, read, "seed {seed}: {schema} on {instance}");
                assert_eq!(read == Ok(true), failures == 0, "seed {seed}: {schema} on {instance}");
            }
        }
    }
}

// --- the rows of an adopting system -------------------------------------------------------------------------------

/// A handler's arguments, as pydantic writes their schema.
const HANDLER: &str = r#"{
    "title": "TryPush", "type": "object", "required": ["tests"],
    "properties": {
        "tests": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        "count": {"type": "integer"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
        "mode": {"type": "string", "enum": ["a", "b"]}
    }
}"#;

fn options(lax: bool) -> Options {
    Options { lax, assert_formats: true, ..Options::default() }
}

/// The field lines of a call, or `ok`.
fn fields<'a>(schema: &'a Schema, arguments: impl Into<Arguments<'a>>) -> String {
    let mut session = Session::new();
    let arguments = arguments.into();
    // The outcome borrows schema and session alike.
    let outcome = schema.check(&mut session, arguments);
    said(&outcome)
}

fn said(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Accepted(_) => "ok".to_owned(),
        Outcome::Rejected(rejection) => {
            let mut out = String::new();
            rejection.write_field(&mut out).expect("a String takes every write");
            assert_eq!(out, rejection.field_lines().join("\n"));
            out
        }
        other => format!("{other:?}"),
    }
}

/// The lines from text, from a value and from a host's object, lax and not.
#[track_caller]
fn check_both(schema: &str, arguments: &str, expected: &str) {
    for lax in [false, true] {
        check_fields(schema, lax, arguments, expected);
    }
}

#[track_caller]
fn check_fields(schema: &str, lax: bool, arguments: &str, expected: &str) {
    let schema = compile_with(schema, &options(lax));
    assert_eq!(fields(&schema, arguments), expected, "lax {lax}: {arguments}");
    let value: Value = serde_json::from_str(arguments).expect("it is JSON");
    assert_eq!(fields(&schema, &value), expected, "lax {lax}: {arguments} as a value");
    if lax {
        let heap = Heap::of(&value);
        let (mut session, mut stack) = (Session::new(), HostStack::default());
        let outcome = schema.check_instance(&mut session, &mut stack, &mut Host(&heap));
        assert_eq!(said(&outcome), expected, "{arguments} as a host's object");
    }
}

#[test]
fn b1_b2_no_list_and_no_string() {
    check_both(HANDLER, r#"{"tests": {"xpcshell": "dom/base/test"}}"#, "tests.xpcshell: Input should be a valid list");
    check_both(HANDLER, r#"{"tests": {"xpcshell": [42]}}"#, "tests.xpcshell.0: Input should be a valid string");
    check_both(HANDLER, r#"{"tests": {"xpcshell": ["dom/base/test"]}}"#, "ok");
}

#[test]
fn b4_b5_spellings_pass_and_the_handler_gets_what_was_sent() {
    for (sent, copy) in [(r#""123""#, "123"), (r#""1.0""#, "1"), ("true", "1")] {
        let arguments = format!(r#"{{"tests": {{}}, "count": {sent}}}"#);
        let (catalog, _) = Catalog::compile(format!(r#"[{{"name": "t", "inputSchema": {HANDLER}}}]"#), &options(true))
            .expect("a catalog");
        let mut session = catalog.session(1_024);
        // The verdict is all that a check answers: what was sent is the host's, untouched.
        let value: Value = serde_json::from_str(&arguments).expect("it is JSON");
        let before = value.clone();
        assert!(catalog.check(&mut session, "t", &value).is_accepted(), "{arguments}");
        assert_eq!(value, before);
        assert!(catalog.check(&mut session, "t", arguments.as_str()).is_accepted(), "{arguments}");
        let coerced = catalog.coerced(&mut session, "t", arguments.as_str()).expect("it is accepted");
        assert_eq!(coerced.to_string(), format!(r#"{{"count":{copy},"tests":{{}}}}"#));
        let strict = compile_with(HANDLER, &options(false));
        assert_eq!(fields(&strict, arguments.as_str()), "count: Input should be a valid integer");
    }
}

#[test]
fn b6_a_fraction() {
    let expected = "count: Input should be a valid integer, got a number with a fractional part";
    check_both(HANDLER, r#"{"tests": {}, "count": 1.5}"#, expected);
}

#[test]
fn b8_a_name_that_is_missing() {
    check_both(HANDLER, "{}", "tests: Field required");
}

#[test]
fn b9_null_and_left_out_are_told_apart() {
    let schema = compile_with(HANDLER, &options(true));
    let mut session = Session::new();
    for arguments in [r#"{"tests":{},"note":null}"#, r#"{"tests":{}}"#] {
        assert_eq!(fields(&schema, arguments), "ok");
        // No default is written into a copy either.
        assert_eq!(schema.coerced_text(&mut session, arguments).as_deref(), Some(arguments));
    }
}

#[test]
fn b10_a_constant() {
    check_both(HANDLER, r#"{"tests": {}, "mode": "c"}"#, "mode: Input should be 'a' or 'b'");
}

#[test]
fn b11_no_mapping() {
    check_both(HANDLER, r#"{"tests": []}"#, "tests: Input should be a valid dictionary");
}

#[test]
fn b12_several_failures() {
    check_both(
        HANDLER,
        r#"{"mode": 1, "count": [], "tests": {"a": 1, "b": [true]}}"#,
        "tests.a: Input should be a valid list\ntests.b.0: Input should be a valid string\n\
         count: Input should be a valid integer\nmode: Input should be 'a' or 'b'",
    );
}

// --- kinds --------------------------------------------------------------------------------------------------------

/// The schema of one property `v`.
fn one(property: &str) -> String {
    format!(r#"{{"title": "M", "type": "object", "properties": {{"v": {property}}}, "required": ["v"]}}"#)
}

/// What a lax reading makes of `v`: its copy, or its lines.
fn lax(property: &str, sent: &str) -> String {
    let schema = compile_with(&one(property), &options(true));
    let arguments = format!(r#"{{"v": {sent}}}"#);
    let mut session = Session::new();
    match schema.coerced_text(&mut session, arguments.as_str()) {
        Some(copy) => {
            copy.strip_prefix("{\"v\":").and_then(|copy| copy.strip_suffix('}')).expect("a member").to_owned()
        }
        None => fields(&schema, arguments.as_str()),
    }
}

#[track_caller]
fn check_lax(property: &str, table: &[(&str, &str)]) {
    for (sent, expected) in table {
        assert_eq!(lax(property, sent), *expected, "{property} on {sent}");
    }
}

#[test]
fn scalars() {
    check_lax(
        r#"{"type": "integer"}"#,
        &[
            ("1.0", "1"),
            (r#"" 1_000 ""#, "1000"),
            (r#""0-7""#, "-7"),
            ("100000000000000000000000", "100000000000000000000000"),
            (r#""1.5""#, "v: Input should be a valid integer, unable to parse string as an integer"),
            ("1e20", "v: Unable to parse input string as an integer, exceeded maximum size"),
            ("null", "v: Input should be a valid integer"),
        ],
    );
    check_lax(
        r#"{"type": "number"}"#,
        &[
            ("1", "1.0"),
            (r#""1e3""#, "1000.0"),
            (r#""inf""#, "null"),
            ("true", "1.0"),
            (r#""x""#, "v: Input should be a valid number, unable to parse string as a number"),
        ],
    );
    check_lax(
        r#"{"type": "boolean"}"#,
        &[
            ("1.0", "true"),
            (r#""OFF""#, "false"),
            ("2", "v: Input should be a valid boolean, unable to interpret input"),
            ("1.5", "v: Input should be a valid boolean"),
        ],
    );
    check_lax(r#"{"type": "string"}"#, &[(r#""7\u0022""#, r#""7\"""#), ("7", "v: Input should be a valid string")]);
    check_lax(r#"{"type": "null"}"#, &[("null", "null"), ("0", "v: Input should be None")]);
}

#[test]
fn one_constraint_speaks_and_the_order_is_fixed() {
    check_lax(
        r#"{"type": "integer", "minimum": 5, "maximum": 3, "multipleOf": 2}"#,
        &[("7", "v: Input should be a multiple of 2"), (r#""4""#, "v: Input should be less than or equal to 3")],
    );
    check_lax(
        r#"{"type": "number", "multipleOf": 0.01, "exclusiveMinimum": 1e-7}"#,
        &[
            ("19.99", "19.99"),
            ("4.35", "4.35"),
            ("0.005", "v: Input should be a multiple of 0.01"),
            ("0", "v: Input should be greater than 0.0000001"),
        ],
    );
    check_lax(
        r#"{"type": "string", "minLength": 2, "pattern": "^a"}"#,
        &[
            (r#""b""#, "v: String should have at least 2 characters"),
            (r#""bb""#, "v: String should match pattern '^a'"),
        ],
    );
    check_lax(
        r#"{"type": "array", "items": {"type": "integer"}, "maxItems": 1, "minItems": 1}"#,
        &[
            (r#"["1"]"#, "[1]"),
            (r#"["x", "y"]"#, "v: List should have at most 1 item after validation, not 2"),
            ("[]", "v: List should have at least 1 item after validation, not 0"),
        ],
    );
    check_lax(
        r#"{"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2, "minProperties": 1}"#,
        &[
            (r#"{"a": "1"}"#, r#"{"a":1}"#),
            ("{}", "v: Dictionary should have at least 1 item after validation, not 0"),
            (r#"{"a": 1, "b": 2, "c": 3}"#, "v: Dictionary should have at most 2 items after validation, not more"),
        ],
    );
}

#[test]
fn tuples() {
    let pair =
        r#"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}], "minItems": 2, "maxItems": 2}"#;
    check_lax(
        pair,
        &[
            (r#"["1", "on"]"#, "[1,true]"),
            (
                r#"["x"]"#,
                "v.0: Input should be a valid integer, unable to parse string as an integer\nv.1: Field required",
            ),
            ("[1, true, 3]", "v: Tuple should have at most 2 items after validation, not 3"),
            ("{}", "v: Input should be a valid tuple"),
        ],
    );
}

#[test]
fn formats() {
    let table = [
        ("date-time", "0", r#""1970-01-01T00:00:00Z""#),
        ("date-time", r#""2024-05-06""#, r#""2024-05-06T00:00:00""#),
        ("date-time", "[]", "v: Input should be a valid datetime"),
        ("date-time", r#""x""#, "v: Input should be a valid datetime or date, input is too short"),
        ("date", r#""2024-05-06T00:00:00Z""#, r#""2024-05-06""#),
        ("date", "1", "v: Datetimes provided to dates should have zero time - e.g. be exact dates"),
        ("time", "7", r#""00:00:07Z""#),
        ("time", "-1", "v: Input should be in a valid time format, time in seconds should be positive"),
        ("duration", "true", r#""PT1S""#),
        ("duration", r#""1 day""#, r#""P1D""#),
        ("uuid", r#""123E4567e89b12d3a456426614174000""#, r#""123e4567-e89b-12d3-a456-426614174000""#),
        ("uuid", r#""x""#, "v: Input should be a valid UUID, invalid character: found `x` at 0"),
        ("uri", r#""HTTP://Example.org""#, r#""http://example.org/""#),
        ("uri", r#""example.org""#, "v: Input should be a valid URL, relative URL without a base"),
        ("ipv4", "1", r#""0.0.0.1""#),
        ("ipv4", "1.0", "v: Input is not a valid IPv4 address"),
        ("ipv6", r#""::g""#, "v: Input is not a valid IPv6 address"),
        ("email", r#""abc""#, "v: value is not a valid email address: An email address must have an @-sign."),
        ("hostname", r#""a b""#, "v: Input should be a valid hostname"),
    ];
    for (format, sent, expected) in table {
        check_lax(&format!(r#"{{"type": "string", "format": "{format}"}}"#), &[(sent, expected)]);
    }
}

#[test]
fn constants() {
    check_lax(
        r#"{"enum": ["a", 2, true]}"#,
        &[("2.0", "2"), ("true", "true"), ("1", "true"), (r#""2""#, "v: Input should be 'a', 2 or True")],
    );
    check_lax(r#"{"const": "it's, \"so\"", "type": "string"}"#, &[("1", r#"v: Input should be 'it\'s, "so"'"#)]);
    let long = "v: Unable to parse input string as an integer, exceeded maximum size";
    check_lax(r#"{"enum": [1, 2]}"#, &[("9223372036854775808", long), ("9.3e18", "v: Input should be 1 or 2")]);
    // An enumeration that has a name is one of Python's.
    let named = r##"{"$defs": {"P": {"enum": [1, 2], "title": "P", "type": "integer"}},
        "type": "object", "properties": {"v": {"$ref": "#/$defs/P"}}}"##;
    let schema = compile_with(named, &options(true));
    let mut session = Session::new();
    assert_eq!(schema.coerced_text(&mut session, r#"{"v": "1.0"}"#).as_deref(), Some(r#"{"v":1}"#));
    assert_eq!(fields(&schema, r#"{"v": "3"}"#), "v: Input should be 1 or 2");
}

#[test]
fn unions_name_their_branches() {
    let union = r#"{"anyOf": [
        {"type": "integer", "minimum": 5}, {"type": "array", "items": {"type": "string", "maxLength": 1}},
        {"type": "object", "additionalProperties": {"type": "integer"}}, {"const": "auto"},
        {"type": "string", "format": "date"}, {"type": "null"}
    ]}"#;
    check_lax(
        union,
        &[
            ("null", "null"),
            (r#"{"a": "1"}"#, r#"{"a":1}"#),
            (
                "true",
                "v.constrained-int: Input should be greater than or equal to 5\nv.list[constrained-str]: Input should be a \
                 valid list\nv.dict[str,int]: Input should be a valid dictionary\nv.literal['auto']: Input should be 'auto'\n\
                 v.date: Input should be a valid date",
            ),
        ],
    );
    // One other branch beside null adds no step.
    check_lax(r#"{"anyOf": [{"type": "integer"}, {"type": "null"}]}"#, &[("[]", "v: Input should be a valid integer")]);
    check_lax(r#"{"type": ["integer", "null"]}"#, &[("[]", "v: Input should be a valid integer"), (r#""7""#, "7")]);
    let several = "v.int: Input should be a valid integer\nv.bool: Input should be a valid boolean";
    check_lax(r#"{"type": ["integer", "boolean"]}"#, &[("[]", several), (r#""1""#, "1"), (r#""on""#, "true")]);
}

#[test]
fn the_branch_that_fits_best_is_taken() {
    let int_or_text = r#"{"anyOf": [{"type": "integer"}, {"type": "string"}]}"#;
    check_lax(int_or_text, &[(r#""1""#, r#""1""#), ("true", "1"), ("1.0", "1")]);
    check_lax(r#"{"anyOf": [{"type": "boolean"}, {"type": "number"}]}"#, &[("1", "1.0"), (r#""1""#, "true")]);
    let models = r#"{"anyOf": [
        {"type": "object", "title": "A", "properties": {"x": {"type": "integer"}}},
        {"type": "object", "title": "B", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}
    ]}"#;
    check_lax(
        models,
        &[
            (r#"{"x": "1", "y": "2", "z": 3}"#, r#"{"x":1,"y":2}"#),
            (r#"{"x": "1"}"#, r#"{"x":1}"#),
            (
                "[]",
                "v.A: Input should be a valid dictionary or instance of A\nv.B: Input should be a valid dictionary or \
                 instance of B",
            ),
        ],
    );
}

/// A number or text is what pydantic writes for a decimal.
#[test]
fn decimals_are_copied_as_text() {
    check_lax(
        r#"{"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}"#,
        &[
            ("10.0", r#""10.0""#),
            ("7", r#""7""#),
            (r#"" 9e0 ""#, r#""9""#),
            (r#""abc""#, r#""abc""#),
            ("-1", "v: Input should be greater than or equal to 0"),
        ],
    );
}

const TAGGED: &str = r##"{
    "$defs": {
        "Card": {"title": "Card", "type": "object", "properties": {"type": {"const": "card"}, "cvc": {"type": "string", "minLength": 3}}, "required": ["type", "cvc"]},
        "Cash": {"title": "Cash", "type": "object", "properties": {"type": {"enum": ["cash", "coins"]}}, "required": ["type"]}
    },
    "type": "object",
    "properties": {"v": {"discriminator": {"propertyName": "type"}, "oneOf": [{"$ref": "#/$defs/Card"}, {"$ref": "#/$defs/Cash"}]}}
}"##;

#[test]
fn tags() {
    let table = [
        ("[]", "v: Input should be a valid dictionary or object to extract fields from"),
        ("{}", "v: Unable to extract tag using discriminator 'type'"),
        (
            r#"{"type": [7, "x"]}"#,
            "v: Input tag '[7, 'x']' found using 'type' does not match any of the expected tags: 'card', 'cash', 'coins'",
        ),
        (r#"{"type": "card"}"#, "v.card.cvc: Field required"),
        (r#"{"type": "card", "cvc": "1"}"#, "v.card.cvc: String should have at least 3 characters"),
        (r#"{"type": "coins"}"#, "ok"),
    ];
    for (sent, expected) in table {
        check_both(TAGGED, &format!(r#"{{"v": {sent}}}"#), expected);
    }
}

#[test]
fn names() {
    let schema = r#"{
        "type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b", "c", "a"],
        "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false
    }"#;
    check_both(
        schema,
        r#"{"a": [], "w": 1, "x-1": 2, "y": 3}"#,
        "a: Input should be a valid integer\nb: Field required\nc: Field required\nw: Extra inputs are not permitted\n\
         x-1: Input should be a valid string\ny: Extra inputs are not permitted",
    );
    let keyed =
        r#"{"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "integer"}}"#;
    check_both(keyed, r#"{"c": []}"#, "c.[key]: Input should be 'a' or 'b'\nc: Input should be a valid integer");
}

#[test]
fn further_names_are_left_out_unless_the_model_is_open() {
    let copy = |schema: &str| {
        let schema = compile_with(schema, &options(true));
        schema.coerced_text(&mut Session::new(), r#"{"a": "1", "b": {"c": 2}}"#).expect("it is accepted")
    };
    assert_eq!(copy(r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#), r#"{"a":1}"#);
    let whole = r#"{"a":1,"b":{"c":2}}"#;
    let open = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": true}"#;
    assert_eq!(copy(open), whole);
    let shared = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "allOf": [{"required": ["b"]}]}"#;
    assert_eq!(copy(shared), whole);
    let mapping = r#"{"type": "object", "patternProperties": {"^a": {"type": "integer"}}}"#;
    assert_eq!(copy(mapping), whole);
}

/// Keywords that pydantic does not write are judged all the same, of the value as it came.
#[test]
fn other_keywords() {
    let table = [
        (r#"{"not": {"const": 5}}"#, "5", "v: Input should not be what the schema excludes"),
        (r#"{"contains": {"const": 5}}"#, "[1]", "v: List should contain as many matching items as the schema says"),
        (r#"{"type": "array", "uniqueItems": true}"#, "[1, 1]", "v: List should not contain equal items"),
        (
            r#"{"oneOf": [{"type": "integer"}, {"minimum": 0}]}"#,
            "5",
            "v: Input should match only one of the alternatives",
        ),
        (
            r#"{"if": {"required": ["a"]}, "then": {"properties": {"b": {"type": "string"}}}, "else": {"required": ["c"]}}"#,
            r#"{"a": 1, "b": 2}"#,
            "v.b: Input should be a valid string",
        ),
        (r#"{"dependentRequired": {"a": ["b", "c"]}}"#, r#"{"a": 1, "c": 1}"#, "v.b: Field required"),
        (
            r#"{"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}"#,
            r#"{"a": 1, "b": 2}"#,
            "v: Input should not have parts that the schema does not name",
        ),
        (r#"{"properties": {"a": false}}"#, r#"{"a": 1}"#, "v.a: Input should be left out"),
        (r#"{"properties": {"a": true}}"#, r#"{"a": 1}"#, "ok"),
    ];
    for (property, sent, expected) in table {
        check_both(&one(property), &format!(r#"{{"v": {sent}}}"#), expected);
    }
}

// --- lax rejections -----------------------------------------------------------------------------------------------

/// What a lax reading forgives, no style holds against the call.
#[test]
fn only_what_really_failed_is_said() {
    let schema = compile_with(
        r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]}"#,
        &options(true),
    );
    let mut session = Session::new();
    let Outcome::Rejected(rejection) = schema.check(&mut session, r#"{"a": "7", "b": "x"}"#) else {
        panic!("b is no integer");
    };
    assert_eq!(rejection.to_string(), "schema: 'x' is not of type 'integer' at b");
    assert_eq!(rejection.failures().count(), 1);
    assert!(!rejection.missing_only());
    let number = compile_with(&one(r#"{"type": "array", "items": {"type": "number"}}"#), &options(true));
    let Outcome::Rejected(rejection) = number.check(&mut session, r#"{"v": ["inf", "nan", "x"]}"#) else {
        panic!("x is no number");
    };
    assert_eq!(rejection.to_owned().failures().len(), 1);
    let Outcome::Rejected(rejection) = schema.check(&mut session, r#"{"b": "7"}"#) else {
        panic!("a is missing");
    };
    assert!(rejection.missing_only());
    assert_eq!(said(&Outcome::Rejected(rejection)), "a: Field required");
}

/// Where the schema has nothing against a value that cannot be read, the reading speaks.
#[test]
fn what_only_a_reading_finds() {
    let schema =
        compile_with(r#"{"type": "object", "properties": {"a": {"items": {"type": "integer"}}}}"#, &options(true));
    let mut session = Session::new();
    let Outcome::Rejected(rejection) = schema.check(&mut session, r#"{"a": [1, 9.3e18]}"#) else {
        panic!("no 64 bits hold it");
    };
    let message = "Unable to parse input string as an integer, exceeded maximum size";
    assert_eq!(rejection.to_string(), format!("schema: {message} at a/1"));
    assert_eq!((rejection.code(), rejection.message()), ("int_parsing_size", message.to_owned()));
    let summary = rejection.to_owned();
    let [failure] = summary.failures() else {
        panic!("there is one failure");
    };
    assert_eq!((failure.code(), failure.message(), failure.instance_location()), ("int_parsing_size", message, "/a/1"));
    assert_eq!(summary.path(), failure.instance_path());
    assert_eq!(said(&Outcome::Rejected(rejection)), format!("a.1: {message}"));
}

#[test]
fn text_that_is_not_json_is_one_line() {
    for lax in [false, true] {
        let schema = compile_with(HANDLER, &options(lax));
        assert_eq!(fields(&schema, "{"), "arguments are not valid JSON: the text ends too early at byte 1");
        assert_eq!(schema.coerced(&mut Session::new(), "{"), None);
    }
}

#[test]
fn copies_are_values() {
    let schema = compile_with(r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#, &options(false));
    let mut session = Session::new();
    let sent = json!({"a": "7"});
    assert_eq!(schema.coerced(&mut session, &sent), Some(json!({"a": 7})));
    assert_eq!(schema.coerced(&mut session, &json!({"a": "x"})), None);
    assert_eq!(schema.accepts_strictly(&mut session, &sent), Some(false));
    assert_eq!(schema.accepts_strictly(&mut session, &json!({"a": 7})), Some(true));
}

/// A host's object that is not put on a tape is worded by what the machine has found.
#[test]
fn a_hosts_object_is_worded_by_the_machine() {
    let schema = compile_with(HANDLER, &options(false));
    let heap = Heap::of(&json!({"tests": {"a": [1]}, "mode": "c"}));
    let (mut session, mut stack) = (schema.session(1_024), HostStack::default());
    let outcome = schema.check_instance(&mut session, &mut stack, &mut Host(&heap));
    assert_eq!(said(&outcome), "tests.a.0: 1 is not of type 'string'\nmode: 'c' is not one of ['a', 'b']");
}

/// A compiled catalog keeps that it is lax.
#[test]
fn lax_is_kept_in_a_compiled_catalog() {
    let tools = format!(r#"[{{"name": "t", "inputSchema": {HANDLER}}}]"#);
    let (catalog, _) = Catalog::compile(&tools, &options(true)).expect("a catalog");
    let loaded = Catalog::load(catalog.to_bytes()).expect("a compiled catalog");
    let mut session = loaded.session(64);
    assert!(loaded.check(&mut session, "t", r#"{"tests": {}, "count": "1"}"#).is_accepted());
    assert_eq!(said(&loaded.check(&mut session, "t", r#"{"tests": []}"#)), "tests: Input should be a valid dictionary");
    let (strict, _) = Catalog::compile(&tools, &options(false)).expect("a catalog");
    let digest =
        |catalog: &Catalog| *catalog.tool("t").and_then(|tool| tool.input()).expect("it compiles").unit().digest();
    assert_ne!(digest(&catalog), digest(&strict));
}

// --- bounds -------------------------------------------------------------------------------------------------------

/// Deep calls end in a fault on a small stack, or are read.
#[test]
fn depth_is_bounded() {
    let node = r##"{"type": "object", "properties": {"child": {"anyOf": [{"$ref": "#"}, {"type": "integer"}, {"type": "boolean"}]}}}"##;
    let nested =
        |levels: usize, inside: &str| format!("{}{inside}{}", r#"{"child":"#.repeat(levels), "}".repeat(levels));
    let run = move || {
        for lax in [false, true] {
            let mut options = options(lax);
            options.limits.set("call_depth_max", 1_000).expect("it is below its ceiling");
            let schema = compile_with(node, &options);
            let (near, deep) = (nested(30, "[]"), nested(900, "[]"));
            assert!(fields(&schema, near.as_str()).ends_with("Input should be a valid boolean"));
            let deep = fields(&schema, deep.as_str());
            let expected = if lax { "Fault(Fault { code: Depth })" } else { "child: {'child': " };
            assert!(deep.starts_with(expected), "{}", start_of(&deep));
        }
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(run).expect("a thread");
    thread.join().expect("the stack suffices");
}

/// Wide unions over many values are bounded by fuel, and failures by their limit.
#[test]
fn work_and_failures_are_bounded() {
    let branches: Vec<String> = (0..200).map(|at| format!(r#"{{"type": "integer", "minimum": {at}}}"#)).collect();
    let schema = format!(r#"{{"type": "array", "items": {{"anyOf": [{}]}}}}"#, branches.join(","));
    let call = format!("[{}]", vec!["-1"; 1_000].join(","));
    let mut options = options(true);
    let compiled = compile_with(&schema, &options);
    let lines = fields_within(&compiled, &call);
    assert!(lines.starts_with("0.constrained-int: Input should be greater than or equal to 0\n0.constrained-int: "));
    assert!(lines.len() <= (64 << 10) + 64, "{} bytes", lines.len());
    options.limits.call_fuel_max = 10_000;
    assert_eq!(fields_within(&compile_with(&schema, &options), &call), "fault: fuel");
    options.limits.call_fuel_max = 10_000_000;
    options.limits.failures_max = 2;
    let mut lines = String::new();
    let compiled = compile_with(&schema, &options);
    let spent = measure(|| lines = fields_within(&compiled, &call)).bytes_max;
    assert!(lines.ends_with("\n… (199998 failures more)"), "{lines}");
    // What is not listed is not kept.
    assert!(spent < 1 << 20, "{spent} bytes at one time");
}

fn fields_within(schema: &Schema, call: &str) -> String {
    let mut session = Session::new();
    match schema.check(&mut session, call) {
        Outcome::Rejected(rejection) => {
            let mut out = String::new();
            rejection.write_field(&mut out).expect("a String takes every write");
            out
        }
        Outcome::Fault(fault) => format!("fault: {}", fault.code.as_str()),
        other => format!("{other:?}"),
    }
}

/// Labels of unions inside unions are cut.
#[test]
fn labels_are_bounded() {
    let mut inside = r#"{"type": "integer"}"#.to_owned();
    for _ in 0..12 {
        inside = format!(r#"{{"type": "array", "prefixItems": [{inside}, {inside}]}}"#);
    }
    let lines = lax(&format!(r#"{{"anyOf": [{inside}, {{"type": "boolean"}}]}}"#), "null");
    assert!(lines.starts_with("v.tuple[tuple[tuple[") && lines.contains('…') && lines.len() < 2_000, "{lines}");
}

/// What has no bound of its own, an `enum`, is cut in each line and in each label; once the whole is full, failures are counted.
#[test]
fn lines_are_bounded() {
    let constants: Vec<String> = (0..20_000).map(|at| format!("\"constant-{at:05}\"")).collect();
    let few = constants[..400].join(",");
    let constants = constants.join(",");
    let schema = format!(r#"{{"type": "array", "items": {{"enum": [{constants}]}}}}"#);
    let schema = compile_with(&schema, &options(true));
    let mut session = Session::new();
    let Outcome::Rejected(rejection) = schema.check(&mut session, "[0, 1, 2]") else {
        panic!("none is a constant");
    };
    let lines = rejection.field_lines();
    let all = 20_000 * "'constant-00000', ".len() - 2;
    let more = "0: Input should be ".len() + all - (64 << 10);
    assert_eq!(lines.len(), 3);
    for (at, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("{at}: Input should be 'constant-00000', 'constant-00001', ")), "{line}");
        assert!(line.ends_with(&format!("… ({more} bytes more)")), "{line}");
        assert!(line.len() < (64 << 10) + 64, "{} bytes", line.len());
    }
    let mut whole = String::new();
    rejection.write_field(&mut whole).expect("a String takes every write");
    assert_eq!(whole, format!("{}\n… (2 failures more)", lines[0]));

    let schema = format!(r#"{{"anyOf": [{{"enum": [{few}]}}, {{"type": "boolean"}}]}}"#);
    let label = &lax(&schema, "null")["v.literal[".len()..];
    let label = &label[..label.find(": ").expect("a message")];
    assert!(label.starts_with("'constant-00000','constant-00001',"), "{label}");
    assert_eq!(("literal[".len() + label.len(), label.ends_with('…')), ((4 << 10) + '…'.len_utf8(), true));
}

/// The labels of a wide tuple end once, not with a mark for every element.
#[test]
fn wide_labels_end_once() {
    let elements = vec![r#"{"type": "integer"}"#; 500].join(",");
    let lines = lax(
        &format!(r#"{{"anyOf": [{{"type": "array", "prefixItems": [{elements}]}}, {{"type": "boolean"}}]}}"#),
        "null",
    );
    assert_eq!(
        lines,
        format!(
            "v.tuple[{}…]: Input should be a valid tuple\nv.bool: Input should be a valid boolean",
            "int, ".repeat(63)
        )
    );
}

/// Looking for tags is paid for, and that a branch is null is told at a look.
#[test]
fn unions_pay_for_what_they_look_at() {
    let rules: Vec<String> = (0..200).map(|at| format!(r#"{{"not": {{"const": {at}}}}}"#)).collect();
    let rules = rules.join(",");
    let branches: Vec<String> = (0..50)
        .map(|at| format!(r#"{{"type": "object", "properties": {{"k": {{"const": "t{at}"}}}}, "required": ["k"], "allOf": [{rules}]}}"#))
        .collect();
    let schema = format!(
        r#"{{"type": "array", "items": {{"oneOf": [{}], "discriminator": {{"propertyName": "k"}}}}}}"#,
        branches.join(",")
    );
    let call = format!("[{}]", vec![r#"{"k": "z"}"#; 2_000].join(","));
    let compiled = compile_with(&schema, &options(true));
    assert!(fields_within(&compiled, r#"[{"k": "z"}]"#).starts_with("0: Input tag 'z' found using 'k' does not match"));
    assert_eq!(fields_within(&compiled, &call), "fault: fuel");

    let schema = format!(r#"{{"type": "array", "items": {{"anyOf": [{{"allOf": [{rules}]}}, {{"type": "null"}}]}}}}"#);
    let call = format!("[{}]", vec!["null"; 200_000].join(","));
    assert_eq!(fields_within(&compile_with(&schema, &options(true)), &call), "Accepted(Accepted { notices: [] })");
}

/// Long texts of every format and type end.
#[test]
fn long_texts_do_no_harm() {
    for text in ["1", "0", "-", "_", ".", "P1D", "é", " ", "http://a", "1:"] {
        let long = format!("\"{}\"", text.repeat(50_000));
        for property in [
            r#"{"type": "integer"}"#.to_owned(),
            r#"{"type": "number"}"#.to_owned(),
            r#"{"type": "boolean"}"#.to_owned(),
            r#"{"anyOf": [{"type": "number"}, {"type": "string"}]}"#.to_owned(),
        ]
        .into_iter()
        .chain(
            ["date-time", "date", "time", "duration", "uuid", "uri", "ipv4", "email"]
                .map(|format| format!(r#"{{"type": "string", "format": "{format}"}}"#)),
        ) {
            lax(&property, &long);
        }
    }
}

// --- memory -------------------------------------------------------------------------------------------------------

/// A lax check, its lines and its line allocate nothing on a session of its size.
#[test]
fn readings_do_not_allocate() {
    let schema = r##"{"$defs": {"N": {"title": "N", "type": "object", "properties": {"k": {"type": "integer"}, "n": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}}}},
        "type": "object", "properties": {
            "a": {"type": "integer"}, "b": {"anyOf": [{"type": "number"}, {"type": "boolean"}, {"$ref": "#/$defs/N"}]},
            "c": {"type": "array", "items": {"type": "string", "format": "date"}}, "d": {"enum": ["x", 1]},
            "u": {"type": "string", "format": "uri"}, "not": {"not": {"const": 1}}
        }}"##;
    let tools = format!(r#"[{{"name": "t", "inputSchema": {schema}}}]"#);
    let (catalog, _) = Catalog::compile(tools, &options(true)).expect("a catalog");
    let mut out = String::with_capacity(1 << 17);
    for call in [
        r#"{"a": "7", "b": "on", "c": ["2024-05-06", 0], "d": 1.0, "u": "http://x"}"#,
        r#"{"a": "x", "b": [], "c": [1, "y"], "d": 2, "u": "x", "not": 1}"#,
        r#"{"b": {"k": "1", "n": {"k": [], "n": {"n": 5}}}}"#,
    ] {
        let mut session = catalog.session(256);
        let count = measure(|| {
            if let Outcome::Rejected(rejection) = catalog.check(&mut session, "t", call) {
                rejection.write_field(&mut out).expect("a String takes every write");
                rejection.write_line(&mut out, "").expect("a String takes every write");
            }
        });
        out.clear();
        assert_eq!(count.count_total, 0, "{call}");
    }
}

/// Without lax, the first question for lines sizes the memory; from then on nothing is allocated.
#[test]
fn field_lines_do_not_allocate_once_their_memory_is_there() {
    let schema = compile_with(HANDLER, &options(false));
    let call = r#"{"tests": {"a": 1, "b": [true]}, "mode": "c", "count": "x"}"#;
    let mut session = schema.session(256);
    let mut out = String::with_capacity(1 << 12);
    let mut run = || {
        if let Outcome::Rejected(rejection) = schema.check(&mut session, call) {
            rejection.write_field(&mut out).expect("a String takes every write");
        }
        out.clear();
    };
    run();
    assert_eq!(measure(run).count_total, 0);
}

/// Formats and unions of unions take no memory but a session's own, whether it reads values anew or not.
#[test]
fn formats_and_unions_do_not_allocate() {
    let schema = r#"{"properties": {
        "uri": {"type": "string", "format": "uri"}, "id": {"type": "string", "format": "uuid"},
        "on": {"type": "string", "format": "date"}, "at": {"type": "string", "format": "date-time"},
        "all": {"type": "array", "items": {"anyOf": [
            {"anyOf": [{"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, {"type": "object"}]},
            {"anyOf": [{"type": "array"}, {"type": "number", "maximum": 3}]}
        ]}}
    }}"#;
    let tools = format!(r#"[{{"name": "t", "inputSchema": {schema}}}]"#);
    let wide = format!(r#"{{"all": [{}]}}"#, vec![r#""x""#; 250].join(","));
    let mut out = String::with_capacity(1 << 18);
    for lax in [false, true] {
        let (catalog, _) = Catalog::compile(&tools, &options(lax)).expect("a catalog");
        for call in [
            r#"{"uri": "http://example.org/é é é é é é é é é é é é é é é é é é é é é é é é é é"}"#,
            r#"{"uri": "x"}"#,
            r#"{"uri": "http://h:x/"}"#,
            r#"{"id": "\u0031\u0032-x"}"#,
            r#"{"id": "\u0030000000000000000000000000000000000000000000000000000000000000000"}"#,
            r#"{"on": "2024-13-01", "at": "2024-05-06T25:00:00Z"}"#,
            &wide,
        ] {
            let mut session = catalog.session(call.len());
            let count = measure(|| {
                if let Outcome::Rejected(rejection) = catalog.check(&mut session, "t", call) {
                    rejection.write_field(&mut out).expect("a String takes every write");
                }
            });
            assert_eq!(count.count_total, 0, "lax {lax}: {call}");
            out.clear();
        }
    }
}

/// What is said of a UUID does not depend on its spelling.
#[test]
fn uuids_with_escapes_are_said_as_others() {
    let schema = r#"{"type": "object", "properties": {"v": {"type": "string", "format": "uuid"}}}"#;
    let schema = compile_with(schema, &options(true));
    let zeros = "0".repeat(60);
    for (plain, escaped, expected) in [
        ("1g", r"\u0031g", "invalid character: found `g` at 1"),
        ("12é", r"1\u0032\u00e9", "invalid character: found `é` at 2"),
        (&*zeros, &*format!(r"\u0030{}", &zeros[1..]), "invalid length: found 60"),
    ] {
        let said = |text: &str| fields(&schema, format!(r#"{{"v": "{text}"}}"#).as_str());
        assert_eq!(said(plain), said(escaped));
        assert!(said(plain).contains(expected), "{}", said(plain));
    }
}
