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
    let diff = compare((&schema(old), options), (&schema(new), options), &mut 1_000_000);
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
    check(r#"{"type": ["string", "null"]}"#, r#"{"type": ["null", "string"]}"#, "cosmetic\ncosmetic: type changed");
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

#[test]
fn types() {
    narrows(r#"{"type": "number"}"#, r#"{"type": "integer"}"#, "narrower: type number -> integer");
    narrows("{}", r#"{"type": "object"}"#, "narrower: type object added");
    narrows(
        r#"{"anyOf": [{"type": "integer"}, {"type": "null"}]}"#,
        r#"{"type": "integer"}"#,
        "narrower: type null -> integer",
    );
    check(
        r#"{"properties": {"a": {"type": "string"}}}"#,
        r#"{"properties": {"a": {"type": "integer"}}}"#,
        "incompatible\nnarrower at /properties/a: type string -> integer\nwider at /properties/a: type string -> integer",
    );
    check(
        r#"{"type": ["string", "null"], "minLength": 1}"#,
        r#"{"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]}"#,
        "cosmetic\ncosmetic: anyOf added\ncosmetic: minLength removed\ncosmetic: type removed",
    );
}

#[test]
fn objects() {
    narrows(
        r#"{"type": "object"}"#,
        r#"{"type": "object", "required": ["depth"]}"#,
        "narrower: required 'depth' added",
    );
    narrows(
        r#"{"properties": {"a": {}, "b": {}}}"#,
        r#"{"properties": {"a": {}}, "additionalProperties": false}"#,
        "narrower at /additionalProperties: property 'b' is not taken any more\n\
         narrower at /additionalProperties: any other property is not taken any more",
    );
    narrows(
        r#"{"properties": {"a": {}, "b": {}}, "additionalProperties": false}"#,
        r#"{"properties": {"a": {}}, "additionalProperties": false}"#,
        "narrower at /additionalProperties: property 'b' is not taken any more",
    );
    narrows(
        r#"{"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": ["integer", "string"]}}"#,
        r#"{"additionalProperties": {"type": "string"}}"#,
        "narrower at /additionalProperties: type integer, string -> string",
    );
    narrows(
        r#"{"patternProperties": {"^x-": {"type": "string"}}, "properties": {"x-a": {}}}"#,
        r#"{"patternProperties": {"^x-": {"type": "string", "maxLength": 3}}}"#,
        "narrower at /patternProperties/^x-: maxLength 3 added",
    );
    narrows(r#"{"type": "object"}"#, r#"{"type": "object", "maxProperties": 2}"#, "narrower: maxProperties 2 added");
    narrows(
        r#"{"properties": {"a": {}}, "additionalProperties": false}"#,
        r#"{"propertyNames": {"maxLength": 1}, "properties": {"a": {}}, "additionalProperties": false, "required": ["a"]}"#,
        "narrower: required 'a' added",
    );
    narrows(
        r#"{"required": ["a"]}"#,
        r#"{"required": ["a"], "dependentRequired": {"a": ["b"]}}"#,
        "narrower: dependentRequired added",
    );
    narrows(
        r#"{"required": ["a", "b"]}"#,
        r#"{"required": ["a", "b"], "dependentRequired": {"a": ["b"]}, "minProperties": 3}"#,
        "narrower: minProperties 3 added",
    );
}

#[test]
fn arrays() {
    narrows(
        r#"{"items": {"type": "string"}}"#,
        r#"{"items": {"type": "string", "minLength": 2}}"#,
        "narrower at /items: minLength 2 added",
    );
    narrows(
        r#"{"prefixItems": [{"type": "string"}], "items": false}"#,
        r#"{"prefixItems": [{"type": "string"}], "items": false, "minItems": 1}"#,
        "narrower: minItems 1 added",
    );
    narrows(r#"{"type": "array"}"#, r#"{"type": "array", "uniqueItems": true}"#, "narrower: uniqueItems added");
    narrows(
        r#"{"contains": {"type": "number"}}"#,
        r#"{"contains": {"type": "integer"}}"#,
        "narrower: contains changed",
    );
    narrows(
        r#"{"maxItems": 3}"#,
        r#"{"maxItems": 3, "items": {"prefixItems": [{}, {"const": 1}]}}"#,
        "narrower at /items/prefixItems/1: const 1 added",
    );
}

#[test]
fn values() {
    narrows(
        r#"{"properties": {"kind": {"enum": ["page", "image", "sheet"]}}}"#,
        r#"{"properties": {"kind": {"enum": ["image", "page"]}}}"#,
        "narrower at /properties/kind: 'sheet' is not taken any more",
    );
    narrows(r#"{"type": "string"}"#, r#"{"type": "string", "enum": ["a"]}"#, "narrower: enum added");
    narrows(r#"{"type": "boolean"}"#, r#"{"const": true}"#, "narrower: False is not taken any more");
    check(
        r#"{"enum": [1, "a"]}"#,
        r#"{"anyOf": [{"const": "a"}, {"const": 1.0}]}"#,
        "cosmetic\ncosmetic: anyOf added\ncosmetic: enum removed",
    );
}

#[test]
fn unions() {
    let union = |branches: &str| format!(r#"{{"anyOf": [{branches}]}}"#);
    let (page, image) = (
        r#"{"type": "object", "properties": {"kind": {"const": "page"}, "n": {"type": "integer"}}, "required": ["kind"]}"#,
        r#"{"type": "object", "properties": {"kind": {"const": "image"}}, "required": ["kind"]}"#,
    );
    narrows(
        &union(&format!("{page},{image}")),
        &union(image),
        "narrower: no branch of anyOf surely takes every object",
    );
    check(
        &union(&format!("{image},{page}")),
        &union(&format!("{},{image}", page.replace("integer", "null"))),
        "incompatible\nnarrower at /anyOf/0/properties/n: type integer -> null\n\
         wider at /anyOf/1/properties/n: None was not taken before",
    );
    // The tag keeps the branches apart.
    let one = format!(r#"{{"oneOf": [{page},{image}]}}"#);
    check(&one, &union(&format!("{page},{image}")), "cosmetic\ncosmetic: anyOf added\ncosmetic: oneOf removed");
    narrows(
        r#"{"anyOf": [{"type": "integer"}, {"type": "number"}]}"#,
        r#"{"oneOf": [{"type": "integer"}, {"type": "number"}]}"#,
        "narrower: no branch of oneOf surely takes every integer\n\
         narrower: no branch of oneOf surely takes every number",
    );
    narrows(r#"{"not": {"type": "string"}}"#, r#"{"not": {"type": ["string", "null"]}}"#, "narrower: not changed");
    narrows(
        r#"{"if": {"required": ["a"]}, "then": {"required": ["b"]}}"#,
        r#"{"if": {"required": ["a"]}, "then": {"required": ["b", "c"]}}"#,
        "narrower at /then: required 'c' added",
    );
}

#[test]
fn what_is_not_followed_is_undecided() {
    let schema =
        |rest: &str| format!(r#"{{"allOf": [{{"properties": {{"a": {{}}}}}}], "unevaluatedProperties": {rest}}}"#);
    check(
        &schema("false"),
        &schema(r#"{"type": "string"}"#),
        "undecided\nundecided: unevaluatedProperties changed\nwider: unevaluatedProperties changed",
    );
    check(
        &schema("false"),
        &schema("false").replace(r#""a""#, r#""b""#),
        "incompatible\nnarrower: unevaluatedProperties changed\nwider: unevaluatedProperties changed",
    );
    check(
        r##"{"$dynamicAnchor": "n", "properties": {"a": {"$dynamicRef": "#n"}}}"##,
        r##"{"$dynamicAnchor": "n", "properties": {"a": {"$dynamicRef": "#n", "title": "A"}}}"##,
        "cosmetic\ncosmetic at /properties/a: title added",
    );
    check(
        r##"{"$dynamicAnchor": "n", "properties": {"a": {"$dynamicRef": "#n"}}}"##,
        r##"{"$dynamicAnchor": "n", "properties": {"a": {"$dynamicRef": "#n"}}, "required": ["a"]}"##,
        "undecided\nundecided at /properties/a: a dynamic reference is not followed\nnarrower: required 'a' added\n\
         undecided at /properties/a: a dynamic reference is not followed",
    );
    check(
        r#"{"pattern": "^a*$"}"#,
        r#"{"pattern": "^(?:a|aa)*$"}"#,
        "undecided\nundecided: pattern '^a*$' -> '^(?:a|aa)*$'\nundecided: pattern '^a*$' -> '^(?:a|aa)*$'",
    );
    // The string is short enough anyhow.
    narrows(
        r#"{"properties": {"a": {"pattern": "^[0-9]{4}$"}}}"#,
        r#"{"properties": {"a": {"pattern": "^[0-9]{4}$", "maxLength": 4, "type": "string"}}}"#,
        "narrower at /properties/a: type string added",
    );
}

#[test]
fn recursion() {
    let list = |n: &str, name: &str| {
        format!(
            r##"{{"$ref": "#/$defs/{name}", "$defs": {{"{name}": {{"type": "object", "properties": {{"n": {{"type": "integer", "minimum": {n}}}, "next": {{"$ref": "#/$defs/{name}"}}}}}}}}}}"##
        )
    };
    narrows(&list("0", "Node"), &list("1", "Item"), "narrower at /$defs/Item/properties/n: minimum 0 -> 1");
}
