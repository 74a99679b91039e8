//! Findings: a schema for each kind, what is said, and where.

use callgate::{Catalog, FindingKind, Options};

/// The findings of a catalog of one tool, one line each.
#[track_caller]
fn check(schema: &str, expected: &[&str]) {
    check_catalog(&format!(r#"{{"tools": [{{"name": "t", "inputSchema": {schema}}}]}}"#), expected);
}

#[track_caller]
fn check_catalog(catalog: &str, expected: &[&str]) {
    let report = match Catalog::compile(catalog, &Options::default()) {
        Ok((_, report)) => report,
        Err(refused) => refused.report,
    };
    let lines: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(lines, expected);
}

#[test]
fn healthy() {
    check("{}", &[]);
    check_catalog(r#"{"tools": [{"name": "t"}]}"#, &[]);
}

#[test]
fn not_well_formed() {
    check(
        r#"{"type": "object", "properties": {"a": {"type": "strnig"}}}"#,
        &[
            "error[not_well_formed] t at /properties/a/type: 'strnig' is not valid under any of the given schemas; did you mean \"string\"?",
        ],
    );
    check(r#"{"properties": ["a"]}"#, &["error[not_well_formed] t at /properties: ['a'] is not of type 'object'"]);
    check("[1]", &["error[not_well_formed] t: a schema is an object or a boolean"]);
}

#[test]
fn references() {
    check(r##"{"$ref": "#/$defs/a"}"##, &["error[ref_unresolved] t at /$ref: #/$defs/a points to nothing"]);
    check(
        r#"{"properties": {"a": {"$ref": "https://example.com/a.json"}}}"#,
        &[
            "error[ref_remote] t at /properties/a/$ref: https://example.com/a.json is not registered, and nothing is fetched",
        ],
    );
    check(
        r##"{"$ref": "#"}"##,
        &["error[ref_cycle] t at /$ref: the reference comes back to itself without looking into the instance"],
    );
    check(
        r##"{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}"##,
        &["error[ref_cycle] t at /$defs/a/$ref: the reference comes back to itself without looking into the instance"],
    );
}

#[test]
fn dialects() {
    check(
        r#"{"$schema": "https://json-schema.org/draft-07/schema", "type": "object"}"#,
        &[
            "warning[near_dialect] t at /$schema: https://json-schema.org/draft-07/schema is read as http://json-schema.org/draft-07/schema",
        ],
    );
    check(
        r#"{"$schema": "https://example.com/mine", "type": "object"}"#,
        &[
            "error[unknown_dialect] t at /$schema: https://example.com/mine is neither a draft of JSON Schema nor a registered document",
        ],
    );
}

#[test]
fn keys_and_identifiers_that_stand_twice() {
    check(
        r#"{"type": "object", "type": "object"}"#,
        &["error[duplicate_member] t at /type: the key \"type\" stands twice"],
    );
    check(
        r#"{"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}"#,
        &["error[duplicate_id] t at /$defs/b/$anchor: the anchor x stands twice"],
    );
    check(
        r#"{"$defs": {"a": {"$id": "http://x.example/a"}, "b": {"$id": "http://x.example/a"}}}"#,
        &["error[duplicate_id] t at /$defs/b: http://x.example/a names two resources"],
    );
}

#[test]
fn patterns() {
    check(
        r#"{"properties": {"a": {"pattern": "(a"}}}"#,
        &[
            "error[pattern_invalid] t at /properties/a/pattern: not an ECMA-262 pattern: a group is not closed at byte 2",
        ],
    );
    check(
        r#"{"properties": {"a": {"pattern": "^(?!x)"}}}"#,
        &[
            "warning[pattern_backtracks] t at /properties/a/pattern: '^(?!x)' needs look-around or back-references: it backtracks, under a step limit",
        ],
    );
}

#[test]
fn parts_that_nothing_refers_to() {
    check(
        r##"{"$defs": {"x": {"$ref": "#/nope"}}}"##,
        &["error[ref_unresolved] t at /$defs/x/$ref: #/nope points to nothing"],
    );
    check(
        r#"{"$defs": {"x": {"patternProperties": {"a/(": {}}}}}"#,
        &[
            "error[pattern_invalid] t at /$defs/x/patternProperties/a~1(: not an ECMA-262 pattern: a group is not closed at byte 3",
        ],
    );
}

#[test]
fn health() {
    let nested = |levels: usize| format!("{}{{}}{}", r#"{"properties": {"a": "#.repeat(levels), "}}".repeat(levels));
    check(&nested(16), &[]);
    check(&nested(20), &["warning[depth_exceeded] t: depth 40 > 32"]);
    let many: Vec<String> = (0..600).map(|at| format!(r#""p{at}": {{}}"#)).collect();
    check(
        &format!(r#"{{"properties": {{{}}}}}"#, many.join(", ")),
        &["warning[properties_exceeded] t: 600 properties > 512"],
    );
    check(
        &format!(r#"{{"description": "{}"}}"#, "x".repeat(70_000)),
        &["warning[size_exceeded] t: 70018 bytes > 65536"],
    );
}

#[test]
fn limits() {
    let deep = format!("{}{{}}{}", r#"{"not": "#.repeat(10_000), "}".repeat(10_000));
    check(&deep, &["error[depth_limit] t: depth 10000 > 1024"]);
}

#[test]
fn roots() {
    check(
        r#"{"type": "array"}"#,
        &["error[root_not_object] t at /type: the type excludes objects, and arguments are an object"],
    );
}

#[test]
fn entries_that_are_no_tools() {
    check_catalog(
        r#"{"tools": [1, {"inputSchema": {}}, {"name": "a"}, {"name": "a"}]}"#,
        &[
            "error[not_a_tool] at /tools/0: a tool is an object",
            "error[not_a_tool] at /tools/1: the tool has no name",
            "error[duplicate_tool] a at /tools/3: the catalog has a tool of that name already; the first is kept",
        ],
    );
    check_catalog("{\"tools\": ", &["error[unreadable]: not JSON: the text ends too early at byte 10"]);
    check_catalog("{}", &["error[unreadable]: the object is empty: it has no list of tools"]);
    check_catalog("7", &["error[unreadable]: a catalog is an object or an array"]);
}

#[test]
fn two_tools_that_share_an_identifier() {
    let tool = |name: &str, of: &str| {
        format!(
            r##"{{"name": "{name}", "inputSchema": {{"$id": "http://x.example/s", "properties": {{"a": {{"$ref": "#/$defs/t"}}}}, "$defs": {{"t": {{"type": "{of}"}}}}}}}}"##
        )
    };
    let text = format!("[{}, {}]", tool("one", "string"), tool("two", "integer"));
    let (catalog, report) = Catalog::compile(&text, &Options::default()).expect("a catalog");
    assert_eq!(report.findings, []);
    let mut session = catalog.session(64);
    assert!(catalog.check(&mut session, "one", r#"{"a": "x"}"#).is_accepted());
    assert!(catalog.check(&mut session, "two", r#"{"a": 1}"#).is_accepted());
}

#[test]
fn contradictions() {
    let contradiction = |schema: &str, pointer: &str, detail: &str| {
        check(schema, &[&format!("warning[contradiction] t at {pointer}: {detail}")]);
    };
    contradiction(r#"{"minimum": 5, "maximum": 1}"#, "/minimum", "no number satisfies both minimum 5 and maximum 1");
    contradiction(
        r#"{"properties": {"a": {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}}}"#,
        "/properties/a/exclusiveMinimum",
        "no integer satisfies both exclusiveMinimum 1 and exclusiveMaximum 2",
    );
    contradiction(
        r#"{"properties": {"a": {"exclusiveMinimum": 1.5, "maximum": 1.5}}}"#,
        "/properties/a/exclusiveMinimum",
        "no number satisfies both exclusiveMinimum 1.5 and maximum 1.5",
    );
    contradiction(
        r#"{"properties": {"a": {"minLength": 3, "maxLength": 2}}}"#,
        "/properties/a/minLength",
        "no string satisfies both minLength 3 and maxLength 2",
    );
    contradiction(
        r#"{"properties": {"a": {"type": "array", "prefixItems": [{}], "items": false, "minItems": 2}}}"#,
        "/properties/a/minItems",
        "minItems is 2, but nothing may stand behind the first 1",
    );
    contradiction(
        r#"{"properties": {"a": {"contains": {}, "minContains": 3, "maxItems": 2}}}"#,
        "/properties/a/contains",
        "3 elements must match, but no more than 2 may stand there",
    );
    contradiction(
        r#"{"properties": {"a": {"enum": []}}}"#,
        "/properties/a/enum",
        "the list is empty, and nothing satisfies it",
    );
    contradiction(
        r#"{"properties": {"a": {"type": "integer", "enum": ["1", "2"]}}}"#,
        "/properties/a/enum",
        "none of its values satisfies the rest of the schema, such as `type`",
    );
    contradiction(
        r#"{"properties": {"a": {"const": "abc", "maxLength": 2}}}"#,
        "/properties/a/const",
        "its value does not satisfy the rest of the schema, such as `maxLength`",
    );
    contradiction(
        r#"{"properties": {"a": {"allOf": [{"type": "string"}, {"type": "integer"}]}}}"#,
        "/properties/a/allOf",
        "the types that it asks for together exclude each other",
    );
    contradiction(
        r#"{"properties": {"a": {"type": "object", "anyOf": [{"type": "string"}, {"const": 1}]}}}"#,
        "/properties/a/anyOf",
        "no branch admits the type that stands beside it",
    );
    contradiction(
        r#"{"properties": {"a": {}}, "required": ["a", "b"], "additionalProperties": false}"#,
        "/required/1",
        "'b' is required, but it is no property, and no others may stand there",
    );
    contradiction(
        r#"{"properties": {"a": {"not": {}}}, "required": ["a"]}"#,
        "/required/0",
        "'a' is required, but its schema takes no value",
    );
    contradiction(
        r#"{"required": ["a", "b"], "maxProperties": 1}"#,
        "/maxProperties",
        "2 names are required, but no more than 1 may stand there",
    );
    contradiction(
        r##"{"properties": {"a": {"$ref": "#/$defs/n", "maximum": 0}}, "$defs": {"n": {"type": "integer", "minimum": 1}}}"##,
        "/properties/a/maximum",
        "no number satisfies both minimum 1 and maximum 0",
    );
}

#[test]
fn what_is_no_contradiction() {
    for schema in [
        r#"{"properties": {"a": {"type": "integer", "minimum": 1, "maximum": 1}}}"#,
        r#"{"properties": {"a": {"type": "string", "minimum": 5, "maximum": 1}}}"#,
        r#"{"properties": {"a": {"type": ["integer", "null"], "enum": [1, null]}}}"#,
        r#"{"properties": {"a": {"enum": [1, "x"], "type": "string"}}}"#,
        r#"{"properties": {"a": {"not": {}}, "b": false}}"#,
        r#"{"patternProperties": {"^x": {}}, "required": ["xy"], "additionalProperties": false}"#,
        r#"{"properties": {"a": {"type": "number", "anyOf": [{"type": "integer"}, {"type": "string"}]}}}"#,
        r##"{"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {}]}}}"##,
        r#"{"properties": {"a": {"const": 1.0, "type": "integer"}}}"#,
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {"enum": [1.0], "type": "integer"}}}"#,
    ] {
        let report = Catalog::compile(format!(r#"[{{"name": "t", "inputSchema": {schema}}}]"#), &Options::default());
        let findings = report.expect("compiles").1.findings;
        assert!(findings.iter().all(|finding| finding.kind != FindingKind::Contradiction), "{schema}: {findings:?}");
    }
}

#[test]
fn keywords_of_other_drafts_and_flavours() {
    check(
        r#"{"properties": {"a": {"type": "string", "nullable": true}}}"#,
        &[
            "warning[foreign_keyword] t at /properties/a/nullable: `nullable` is OpenAPI 3.0's, and says nothing here; say \"type\": [TYPE, \"null\"]",
        ],
    );
    check(
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"prefixItems": [{}]}}}"#,
        &[
            "warning[foreign_keyword] t at /properties/a/prefixItems: `prefixItems` is new in draft 2020-12, and says nothing in draft 7; say \"$schema\": \"https://json-schema.org/draft/2020-12/schema\"",
        ],
    );
    check(
        r#"{"dependencies": {"a": ["b"]}}"#,
        &[
            "warning[foreign_keyword] t at /dependencies: `dependencies` went with draft 7, and says nothing in draft 2020-12; say \"dependentRequired\" or \"dependentSchemas\"",
        ],
    );
    check(
        r#"{"properties": {"a": {"minimum": 0, "exclusiveMinimum": true}}}"#,
        &[
            "error[not_well_formed] t at /properties/a/exclusiveMinimum: True is not of type 'number'; a boolean here is draft 4's: give the bound itself, or say \"$schema\": \"http://json-schema.org/draft-04/schema#\"",
            "warning[foreign_keyword] t at /properties/a/exclusiveMinimum: a boolean `exclusiveMinimum` is draft 4's: since draft 6 it is the bound itself",
        ],
    );
    check(
        r#"{"properties": {"a": {"type": "string", "required": true}}}"#,
        &[
            "error[not_well_formed] t at /properties/a/required: True is not of type 'array'; a boolean here is draft 3's: put the property's name into the \"required\" of the object around it",
            "warning[foreign_keyword] t at /properties/a/required: `required` is draft 3's inside a property, and says nothing here; put the property's name into the object's \"required\"",
        ],
    );
}

#[test]
fn misspelt_keywords() {
    check(
        r#"{"properties": {"min_length": {"min_length": 2, "x-min_length": 3}}}"#,
        &[
            "warning[unknown_keyword] t at /properties/min_length/min_length: `min_length` is no keyword, and says nothing; did you mean \"minLength\"?",
        ],
    );
    check(
        r#"{"additonalProperties": false, "$defs": {"a": {"requierd": ["x"]}}}"#,
        &[
            "warning[unknown_keyword] t at /additonalProperties: `additonalProperties` is no keyword, and says nothing; did you mean \"additionalProperties\"?",
            "warning[unknown_keyword] t at /$defs/a/requierd: `requierd` is no keyword, and says nothing; did you mean \"required\"?",
        ],
    );
    check(r#"{"default": {"min_length": 2}, "examples": [{"proprties": 1}], "example": {}, "ui:order": ["a"]}"#, &[]);
}
