//! Pairs of schemas, and what is said about them.

use crate::options::Options;
use crate::{KnownSchemas, compare, compile_catalog};

fn compared(old: &str, new: &str, options: &Options) -> String {
    let schema = |text: &str| {
        let catalog = format!(r#"[{{"name": "t", "inputSchema": {text}}}]"#);
        let mut compiled = compile_catalog(catalog.as_bytes(), options, KnownSchemas::default()).expect("a catalog");
        let schema = compiled.tools.remove(0).input;
        assert!(schema.unit.is_some(), "{text}: {:?}", schema.findings);
        schema
    };
    let diff = compare((&schema(old), options), (&schema(new), options));
    diff.differences.iter().fold(diff.change.to_string(), |text, difference| format!("{text}\n{difference}"))
}

#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    assert_eq!(compared(old, new, &Options::default()), expected, "{old}\n{new}");
}

/// Both ways: wider one way is narrower the other.
#[track_caller]
fn narrows(old: &str, new: &str, expected: &str) {
    check(old, new, &format!("narrower\n{expected}"));
    let back = compared(new, old, &Options::default());
    assert!(back.starts_with("wider\n"), "{back}");
}

#[test]
fn annotations() {
    check(
        r#"{"type": "object", "properties": {"a": {"type": "string", "description": "x"}, "b": {}}}"#,
        r#"{"properties": {"b": {"title": "B"}, "a": {"description": "y", "type": "string"}}, "type": "object"}"#,
        "cosmetic\ncosmetic at /properties/a: description changed\ncosmetic at /properties/b: title added",
    );
    check(
        r#"{"type": ["string", "null"]}"#,
        r#"{"type": ["null", "string"]}"#,
        "cosmetic\ncosmetic at /type: 0 changed\ncosmetic at /type: 1 changed",
    );
    check(r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#, "cosmetic");
}

#[test]
fn bounds() {
    narrows(
        r#"{"properties": {"seed": {"type": "integer", "minimum": 0}}}"#,
        r#"{"properties": {"seed": {"type": "integer", "minimum": 1}}}"#,
        "narrower at /properties/seed: minimum 0 -> 1",
    );
    narrows(r#"{"type": "number"}"#, r#"{"type": "number", "maximum": 1e3}"#, "narrower: maximum 1000.0 added");
    check(
        r#"{"type": "integer", "exclusiveMinimum": 0}"#,
        r#"{"type": "integer", "minimum": 1}"#,
        "cosmetic\ncosmetic: exclusiveMinimum removed\ncosmetic: minimum added",
    );
    narrows(r#"{"exclusiveMinimum": 0}"#, r#"{"minimum": 1}"#, "narrower: minimum 1 added");
    narrows(r#"{"multipleOf": 0.5}"#, r#"{"multipleOf": 1}"#, "narrower: multipleOf 0.5 -> 1");
}
