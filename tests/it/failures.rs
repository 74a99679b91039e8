//! The text of every failure: one snapshot a keyword, schemas and instances at its head.
//!
//! J8: the keywords read as the pinned text says. The cases are our own; the snapshot shows for each the line, the
//! failures behind it with their code and locations, and the guided text, plain and masked.

use std::fmt::Write as _;

use callgate::{Arguments, Draft, Options, Outcome, Rendering, Schema, Style, UnknownParameters};

/// A dialect, a schema, and instances that fail.
type Case = (Draft, &'static str, &'static [&'static str]);

use Draft::{D4, D6, D7, D2019, D2020};

/// A name for the snapshot, and its cases. Every failure code is among them; a test says so.
const FAILURES: &[(&str, &[Case])] = &[
    (
        "type",
        &[
            (D2020, r#"{"type": "integer"}"#, &[r#""7""#, "1.5", "true", "null"]),
            (D2020, r#"{"type": ["integer", "null"], "description": "Both."}"#, &["[]"]),
            (D4, r#"{"type": "integer"}"#, &["1.0"]),
        ],
    ),
    ("enum", &[(D2020, r#"{"enum": [1, "a", null, true, 1.5, {"k": [2]}]}"#, &[r#""b""#, "1.25", r#"{"k": [3]}"#])]),
    ("const", &[(D2020, r#"{"const": {"k": 1.0}}"#, &["2", r#"{"k": 1, "l": 2}"#])]),
    (
        "minimum",
        &[
            (D2020, r#"{"minimum": 0.5}"#, &["0", "-1e400"]),
            (D4, r#"{"minimum": 0, "exclusiveMinimum": true}"#, &["0"]),
        ],
    ),
    (
        "maximum",
        &[
            (D2020, r#"{"maximum": 10}"#, &["1e20", "18446744073709551616"]),
            (D4, r#"{"maximum": 1, "exclusiveMaximum": true}"#, &["1"]),
        ],
    ),
    ("exclusiveMinimum", &[(D2020, r#"{"exclusiveMinimum": 0}"#, &["-30", "-0.0"])]),
    ("exclusiveMaximum", &[(D2020, r#"{"exclusiveMaximum": 1}"#, &["1.0"])]),
    ("multipleOf", &[(D2020, r#"{"multipleOf": 0.01}"#, &["19.995"]), (D2020, r#"{"multipleOf": 2.0}"#, &["7"])]),
    ("minLength", &[(D2020, r#"{"minLength": 3}"#, &[r#""ab""#]), (D2020, r#"{"minLength": 1}"#, &[r#""""#])]),
    ("maxLength", &[(D2020, r#"{"maxLength": 2}"#, &[r#""a\"'b""#]), (D2020, r#"{"maxLength": 0}"#, &[r#""\n""#])]),
    ("pattern", &[(D2020, r#"{"pattern": "^\\d+$"}"#, &[r#""it's""#])]),
    ("format", &[(D2020, r#"{"format": "date"}"#, &[r#""2026-02-30""#])]),
    ("minItems", &[(D2020, r#"{"minItems": 2}"#, &["[1]"]), (D2020, r#"{"minItems": 1}"#, &["[]"])]),
    ("maxItems", &[(D2020, r#"{"maxItems": 1}"#, &["[1, null]"]), (D2020, r#"{"maxItems": 0}"#, &["[1]"])]),
    ("uniqueItems", &[(D2020, r#"{"uniqueItems": true}"#, &["[1, 1.0]", r#"[{"a": 1, "b": 2}, {"b": 2, "a": 1}]"#])]),
    (
        "items",
        &[
            (D2020, r#"{"items": false}"#, &["[1]"]),
            (D2020, r#"{"prefixItems": [{}], "items": false}"#, &[r#"[1, "a", null]"#]),
            (D2020, r#"{"prefixItems": [{}, {}], "items": false}"#, &[r#"[1, 2, "x"]"#]),
        ],
    ),
    ("additionalItems", &[(D7, r#"{"items": [{}], "additionalItems": false}"#, &["[1, 2]", r#"[1, 2, "x"]"#])]),
    (
        "contains",
        &[
            (D2020, r#"{"contains": {"type": "string"}}"#, &["[1, 2]"]),
            (D6, r#"{"contains": {"type": "string"}}"#, &["[1, 2]"]),
        ],
    ),
    ("minContains", &[(D2019, r#"{"contains": {"type": "string"}, "minContains": 2}"#, &[r#"["a", 1]"#])]),
    ("maxContains", &[(D2019, r#"{"contains": {"type": "string"}, "maxContains": 1}"#, &[r#"["a", "b", "c"]"#])]),
    ("required", &[(D2020, r#"{"required": ["it's", "b"], "description": "The tool."}"#, &["{}", r#"{"b": 1}"#])]),
    (
        "additionalProperties",
        &[
            (
                D2020,
                r#"{"properties": {"a": {}}, "additionalProperties": false}"#,
                &[r#"{"b": 1}"#, r#"{"é": 1, "Z": 2}"#],
            ),
            (
                D2020,
                r#"{"patternProperties": {"^y": {}, "^x": {}}, "additionalProperties": false}"#,
                &[r#"{"b": 1, "a": 2}"#],
            ),
        ],
    ),
    (
        "minProperties",
        &[(D2020, r#"{"minProperties": 2}"#, &[r#"{"a": 1}"#]), (D2020, r#"{"minProperties": 1}"#, &["{}"])],
    ),
    (
        "maxProperties",
        &[
            (D2020, r#"{"maxProperties": 1}"#, &[r#"{"a": 1, "b": null}"#]),
            (D2020, r#"{"maxProperties": 0}"#, &[r#"{"a": 1}"#]),
        ],
    ),
    ("dependentRequired", &[(D2020, r#"{"dependentRequired": {"a": ["b", "c"]}}"#, &[r#"{"a": 1}"#])]),
    (
        "dependencies",
        &[(D7, r#"{"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}"#, &[r#"{"a": 1}"#, r#"{"c": 1}"#])],
    ),
    (
        "anyOf",
        &[
            (D2020, r#"{"anyOf": [{"type": "string"}, {"type": "null"}]}"#, &["1"]),
            (
                D2020,
                r#"{"properties": {"n": {"anyOf": [{"type": "object", "properties": {"d": {"minimum": 1}}}, {"type": "null"}], "description": "Nested."}}}"#,
                &[r#"{"n": {"d": 0}}"#],
            ),
        ],
    ),
    (
        "oneOf",
        &[
            (D2020, r#"{"oneOf": [{"type": "string"}, {"type": "null"}]}"#, &["1"]),
            (D2020, r#"{"oneOf": [{"type": "integer"}, {"minimum": 2}, {"maximum": 9, "title": "t"}]}"#, &["5", "1"]),
        ],
    ),
    ("not", &[(D2020, r#"{"not": {"type": "integer", "enum": [1]}}"#, &["1"])]),
    (
        "false_schema",
        &[
            (D2020, "false", &["{}"]),
            (D2020, r#"{"properties": {"p": {"properties": {"gone": false}}}}"#, &[r#"{"p": {"gone": 1}}"#]),
        ],
    ),
    (
        "unevaluatedProperties",
        &[
            (
                D2020,
                r#"{"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}"#,
                &[r#"{"c": 1, "b": 2, "a": 3}"#],
            ),
            (D2020, r#"{"unevaluatedProperties": {"type": "string", "enum": ["x"]}}"#, &[r#"{"b": 1}"#]),
        ],
    ),
    (
        "unevaluatedItems",
        &[
            (D2020, r#"{"prefixItems": [{}], "unevaluatedItems": false}"#, &[r#"[1, 2, "x"]"#]),
            (D2019, r#"{"items": [{}], "unevaluatedItems": {"type": "string"}}"#, &[r#"[1, 2, "a"]"#]),
        ],
    ),
    (
        "propertyNames",
        &[(D2020, r#"{"propertyNames": {"maxLength": 2, "description": "Short."}}"#, &[r#"{"abc": 1}"#])],
    ),
    ("then_else", &[(D7, r#"{"if": {"minimum": 0}, "then": {"maximum": 9}, "else": {"const": -1}}"#, &["10", "-2"])]),
    ("not_json", &[(D2020, "true", &["{", "[1] 2", r#""\x""#])]),
    ("duplicate_member", &[(D2020, "true", &[r#"{"a": 1, "a": 1}"#])]),
    (
        UNKNOWN,
        &[
            (
                D2020,
                r#"{"properties": {"query": {"type": "string"}}, "required": ["query"]}"#,
                &[r#"{"query": "x", "qurey": 1}"#, r#"{"query": "x", "b": 1, "a": 2}"#],
            ),
            (
                D7,
                r#"{"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {"properties": {}, "description": "Nothing."}}}]}"#,
                &[r#"{"a": 1, "c": 2}"#, r#"{"b": {"c": 1}}"#],
            ),
        ],
    ),
];

/// The failure that there is only where unknown names are forbidden.
const UNKNOWN: &str = "unknown_parameter";

/// Compiles a schema of the cases of that name.
fn compiled(name: &str, draft: Draft, schema: &str) -> Schema {
    let unknown_parameters = if name == UNKNOWN { UnknownParameters::Forbid } else { UnknownParameters::Ignore };
    let options = Options { draft, assert_formats: true, unknown_parameters, ..Options::default() };
    Schema::compile(schema, &options).expect("the schema compiles").0
}

/// Each schema of the cases, compiled, with its text and its instances.
fn all_cases() -> impl Iterator<Item = (Schema, &'static str, &'static [&'static str])> {
    let cases = FAILURES.iter().flat_map(|(name, cases)| cases.iter().map(move |case| (*name, case)));
    cases.map(|(name, (draft, schema, instances))| (compiled(name, *draft, schema), *schema, *instances))
}

#[test]
fn every_failure_reads_as_recorded() {
    for (name, cases) in FAILURES {
        let mut text = String::new();
        for (draft, schema, instances) in *cases {
            let compiled = compiled(name, *draft, schema);
            let _ = writeln!(text, "schema    {schema}   draft {}", draft.name());
            for instance in *instances {
                explain(&mut text, &compiled, instance);
            }
        }
        insta::with_settings!({snapshot_path => "../../snapshots/failures", prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!(*name, text);
        });
    }
}

fn explain(text: &mut String, schema: &Schema, instance: &str) {
    let mut session = schema.session(1024);
    session.keep_evaluation_paths(true);
    let _ = writeln!(text, "instance  {instance}");
    let Outcome::Rejected(rejection) = schema.check(&mut session, instance) else {
        panic!("{instance} was to fail");
    };
    let _ = writeln!(text, "          {rejection}");
    for failure in rejection.failures() {
        let _ = writeln!(
            text,
            "          [{}] at {:?} by {:?}: {}",
            failure.code(),
            failure.instance_location(),
            failure.keyword_location(),
            failure.message(),
        );
    }
    for (head, masked) in [("guided", false), ("masked", true)] {
        let mut told = String::new();
        rejection.write(&mut told, &Rendering { masked, ..Rendering::of(Style::Guided) }).expect("a string takes all");
        told.lines().for_each(|line| {
            let _ = writeln!(text, "          {head}: {line}");
        });
    }
}

/// The closed list of codes: keywords that fail, and four more.
const CODES: &[&str] = &[
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "items",
    "additionalItems",
    "contains",
    "minContains",
    "maxContains",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependencies",
    "anyOf",
    "oneOf",
    "not",
    "false_schema",
    "unevaluatedProperties",
    "unevaluatedItems",
    "not_json",
    "duplicate_member",
    UNKNOWN,
];

#[test]
fn every_code_has_a_snapshot() {
    let mut seen = std::collections::BTreeSet::new();
    for (compiled, _, instances) in all_cases() {
        for instance in instances {
            let mut session = compiled.session(1024);
            if let Outcome::Rejected(rejection) = compiled.check(&mut session, *instance) {
                seen.extend(rejection.failures().map(|failure| failure.code().to_owned()));
            }
        }
    }
    let listed: std::collections::BTreeSet<String> = CODES.iter().map(|code| (*code).to_owned()).collect();
    assert_eq!(seen, listed);
}

/// The failure that speaks is told without the list, is one of it, and stays the same when all are listed.
#[test]
fn the_failure_that_speaks_is_one_of_the_list() {
    for (compiled, schema, instances) in all_cases() {
        let mut session = compiled.session(1024);
        for instance in instances {
            let Outcome::Rejected(rejection) = compiled.check(&mut session, *instance) else {
                panic!("{schema} rejects {instance}");
            };
            let spoken = (rejection.code(), rejection.keyword_location(), rejection.path());
            let listed = rejection.failures();
            let mut listed =
                listed.map(|failure| (failure.code(), failure.keyword_location(), failure.instance_path()));
            assert!(listed.any(|failure| failure == spoken), "{schema} {instance}: {spoken:?}");
            assert_eq!((rejection.code(), rejection.keyword_location(), rejection.path()), spoken);
        }
    }
}

#[test]
fn a_summary_owns_its_data() {
    let summary = {
        let (schema, _) = Schema::compile(r#"{"required": ["a"]}"#, &Options::default()).expect("it compiles");
        let mut session = schema.session(64);
        let arguments = String::from("{}");
        match schema.check(&mut session, arguments.as_str()) {
            Outcome::Rejected(rejection) => rejection.to_owned(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(summary.line(), "schema: 'a' is a required property");
    assert_eq!(summary.failures()[0].keyword_location(), "/required");
    let json = serde_json::to_value(&summary).expect("it serialises");
    assert_eq!(json["failures"][0]["code"], "required");
}

/// The line is there at once, the list when it is asked for; asking changes nothing. Where listing is beyond the fuel of a
/// call, the failure that speaks stands alone.
#[test]
fn failures_are_listed_when_asked_for() {
    let rows = format!("[{}1]", "{}, ".repeat(40));
    let schema = r#"{"items": {"type": "object", "required": ["name", "size"]}}"#;
    for (fuel, listed) in [(10_000, 81), (100, 1)] {
        let mut options = Options::default();
        options.limits.set("call_fuel_max", fuel).expect("a limit");
        let (compiled, _) = Schema::compile(schema, &options).expect("it compiles");
        let value: serde_json::Value = serde_json::from_str(&rows).expect("JSON");
        let mut session = compiled.session(1024);
        for arguments in [Arguments::from(rows.as_str()), Arguments::from(&value)] {
            let Outcome::Rejected(rejection) = compiled.check(&mut session, arguments) else {
                panic!("rows lack their names");
            };
            let line = rejection.to_string();
            assert_eq!(line, "schema: 1 is not of type 'object' at 40");
            for _ in 0..2 {
                assert_eq!(rejection.failures().count(), listed);
                assert_eq!(rejection.listing_fault().is_some(), listed == 1);
                assert_eq!((rejection.unlisted(), rejection.to_string()), (0, line.clone()));
                assert_eq!(rejection.to_owned().failures().len(), listed);
            }
            let last = rejection.failures().last().expect("there is one");
            assert_eq!((last.code(), last.instance_location().as_str()), ("type", "/40"));
        }
    }
}

/// A value that is too deep to be copied, with more failures than there is room to name: the one that speaks still does.
#[test]
fn a_line_outlives_a_listing_that_fails() {
    let (compiled, _) = Schema::compile(r#"{"properties": {"x": {"items": {"type": "string"}}}}"#, &Options::default())
        .expect("compiles");
    let mut deep = serde_json::json!(1);
    for _ in 0..300 {
        deep = serde_json::json!([deep]);
    }
    let value = serde_json::json!({"x": (0..600).collect::<Vec<_>>(), "y": deep});
    let mut session = compiled.session(1_000);
    let Outcome::Rejected(rejection) = compiled.check(&mut session, &value) else {
        panic!("numbers are no strings");
    };
    let line = rejection.to_string();
    assert_eq!(line, "schema: 599 is not of type 'string' at x/599");
    assert_eq!(rejection.failures().count(), 1);
    assert!(rejection.listing_fault().is_some());
    assert_eq!(rejection.to_string(), line);
}

/// A union whose verdict is kept may name what a message outside it lists.
#[test]
fn kept_unions_and_listed_names() {
    let schema = r##"{"$defs": {"t": {"additionalProperties": false}}, "anyOf": [{
        "unevaluatedProperties": {"$ref": "#/$defs/t"},
        "anyOf": [{"properties": {"a": {"$ref": "#/$defs/t"}}}]
    }]}"##;
    let (schema, _) = Schema::compile(schema, &Options::default()).expect("it compiles");
    let mut session = schema.session(64);
    let Outcome::Rejected(rejection) = schema.check(&mut session, r#"{"a": {"x": 1, "y": 2, "z": 3}}"#) else {
        panic!("the names are not allowed");
    };
    let line = "schema: Additional properties are not allowed ('x', 'y', 'z' were unexpected)";
    assert_eq!(rejection.to_string(), line);
}

#[test]
fn a_long_line_is_cut_and_says_so() {
    let mut options = Options::default();
    options.limits.set("text_bytes_max", 40).expect("a limit");
    let (schema, _) = Schema::compile(r#"{"type": "integer"}"#, &options).expect("it compiles");
    let mut session = schema.session(1024);
    let instance = format!("\"{}\"", "x".repeat(100));
    let Outcome::Rejected(rejection) = schema.check(&mut session, instance.as_str()) else {
        panic!("a string is no integer");
    };
    let line = rejection.to_string();
    assert_eq!(line, format!("schema: '{}… (95 bytes more)", "x".repeat(31)));
}
