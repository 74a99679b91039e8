//! Every rule with a tool that it takes and one that it objects to, and the walk on hostile schemas.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{PROVIDERS, Portability, Provider, Rule, portability};
use crate::options::Options;

/// A rule: the provider, the rule, a tool that passes, one that does not, and what is said of that: pointer and detail.
type Case = (&'static str, &'static str, String, String, &'static str, &'static str);

/// A tool of that name with an empty object as input.
fn named(name: &str) -> String {
    format!(r#"{{"name": "{name}", "inputSchema": {{"type": "object", "properties": {{}}}}}}"#)
}

/// A tool with that input.
fn input(schema: &str) -> String {
    format!(r#"{{"name": "t", "inputSchema": {schema}}}"#)
}

/// A tool whose input has one property `a`.
fn property(schema: &str) -> String {
    input(&format!(r#"{{"type": "object", "properties": {{"a": {schema}}}}}"#))
}

/// A tool with that output.
fn output(schema: &str) -> String {
    format!(r#"{{"name": "t", "inputSchema": {{"type": "object"}}, "outputSchema": {schema}}}"#)
}

fn repeated(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect::<Vec<_>>().join(", ")
}

/// So many objects inside each other, beside the root.
fn nested(objects: usize) -> String {
    let open = r#"{"type": "object", "properties": {"a": "#.repeat(objects);
    format!("{open}{{\"type\": \"string\"}}{}", "}}".repeat(objects))
}

#[rustfmt::skip]
fn openai_cases() -> Vec<Case> {
    let root = "{\"type\": \"object\", \"properties\": {}";
    vec![
        ("openai", "tool_name", named("a_B-9"), named("admin.list"), "",
            r#""admin.list" does not match ^[a-zA-Z0-9_-]{1,64}$"#),
        ("openai", "root_type", input(r#"{"type": "object"}"#), input(r#"{"type": ["object"]}"#), "/type",
            "the root's type is a list"),
        ("openai", "root_combinator", property(r#"{"oneOf": []}"#), input(&format!("{root}, \"oneOf\": [{{}}]}}")), "/oneOf",
            r#""oneOf" stands at the root"#),
        ("openai", "root_properties", property(r#"{"type": "object"}"#), input(r#"{"type": "object"}"#), "",
            r#"the root has no "properties""#),
        ("openai", "array_items", property(r#"{"type": "array", "items": {}}"#), property(r#"{"type": ["null", "array"]}"#),
            "/properties/a", r#"the array has no "items""#),
        ("openai", "not_2020_12", property(r#"{"type": "string"}"#), property(r#"{"type": "strnig"}"#), "/properties/a/type",
            "'strnig' is not valid under any of the given schemas"),
        ("openai", "pattern_syntax", property(r#"{"pattern": "^(?!a)\\d$"}"#), property(r#"{"pattern": "\\p{L}"}"#),
            "/properties/a/pattern", r"the pattern has \p, which Python's re does not read"),
    ]
}

#[rustfmt::skip]
fn strict_cases() -> Vec<Case> {
    let closed = |inside: &str| input(&format!(r#"{{"type": "object", "additionalProperties": false, {inside}}}"#));
    let values = |count: usize, chars: usize| {
        let list = repeated(count, |at| format!("\"{at:0chars$}\""));
        property(&format!("{{\"enum\": [{list}]}}"))
    };
    let properties = |count: usize| {
        input(&format!("{{\"properties\": {{{}}}}}", repeated(count, |at| format!("\"p{at}\": {{}}"))))
    };
    let definitions = |chars: usize| {
        let name = "é".repeat(chars);
        input(&format!(r#"{{"properties": {{"ab": {{"const": "cd"}}}}, "$defs": {{"{name}": {{"enum": ["ef", 7]}}}}}}"#))
    };
    vec![
        ("openai-strict", "additional_properties", closed(r#""properties": {}"#), closed(r#""properties": {
            "a": {"type": ["object", "null"], "additionalProperties": {"type": "string"}}}"#),
            "/properties/a/additionalProperties", r#""additionalProperties" is not false"#),
        ("openai-strict", "not_all_required", closed(r#""properties": {"a": {}, "b": {}}, "required": ["b", "a"]"#),
            closed(r#""properties": {"a": {}, "b": {}, "c": {}, "d": {}, "e": {}}, "required": ["c"]"#), "/required",
            r#"properties are not required: "a", "b", "d" and 1 more"#),
        ("openai-strict", "composition", property(r#"{"anyOf": [{}]}"#), property(r#"{"allOf": [{}]}"#),
            "/properties/a/allOf", r#""allOf" is not supported"#),
        ("openai-strict", "one_of", property(r#"{"enum": ["oneOf"]}"#), property(r#"{"oneOf": [{}]}"#),
            "/properties/a/oneOf", r#""oneOf" is not supported"#),
        ("openai-strict", "property_names", input(r#"{"properties": {"propertyNames": {}}}"#),
            property(r#"{"propertyNames": {"type": "string"}}"#), "/properties/a/propertyNames",
            r#""propertyNames" is not supported"#),
        ("openai-strict", "untyped", input(r##"{"type": "object", "additionalProperties": {"not": {"$ref": "#"}}}"##), input(r#"{"type": "array", "items": {}}"#), "/items",
            r#"the schema has no "type""#),
        ("openai-strict", "format", property(r#"{"type": "string", "format": "uuid"}"#),
            property(r#"{"type": ["string", "null"], "format": "uri"}"#), "/properties/a/format",
            r#""uri" is none of the formats for string"#),
        ("openai-strict", "pattern_lookaround", property(r#"{"pattern": "^[(?=]$"}"#), property(r#"{"pattern": "^(?!x)"}"#),
            "/properties/a/pattern", "the pattern looks around"),
        ("openai-strict", "ref_siblings", property(r##"{"$ref": "#"}"##),
            property(r##"{"$ref": "#", "description": "x"}"##), "/properties/a/description",
            r#""description" stands beside "$ref""#),
        ("openai-strict", "ref_target", property(r##"{"$ref": "#/$defs/x"}"##), property(r##"{"$ref": "#/properties/b/x"}"##),
            "/properties/a/$ref", r##""#/properties/b/x" leads to no definition at the root"##),
        ("openai-strict", "depth", input(&nested(10)), input(&nested(12)), "/properties/a/properties/a/properties/a\
            /properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a",
            "12 nested objects > 10"),
        ("openai-strict", "properties", properties(5_000), properties(5_001), "", "5001 properties > 5000"),
        ("openai-strict", "name_chars", definitions(119_994), definitions(119_995), "",
            "120001 characters of names and values > 120000"),
        ("openai-strict", "enum_values", values(1_000, 4), values(1_001, 4), "", "1001 values of enums > 1000"),
        ("openai-strict", "enum_chars", values(250, 100), values(251, 100), "/properties/a/enum",
            "25100 characters in 251 values > 15000"),
        ("openai-strict", "default", input(r#"{"properties": {"default": {}}}"#), property(r#"{"default": 7}"#),
            "/properties/a/default", r#""default" is not listed as supported"#),
        ("openai-strict", "unlisted_keyword", property(r#"{"minItems": 1}"#), property(r#"{"uniqueItems": true}"#),
            "/properties/a/uniqueItems", r#""uniqueItems" is not listed as supported"#),
    ]
}

#[rustfmt::skip]
fn anthropic_cases() -> Vec<Case> {
    let long = "a".repeat(65);
    let key = |name: &str| input(&format!(r#"{{"type": "object", "properties": {{"{name}": {{}}}}}}"#));
    let nested = property(r#"{"properties": {"$top": {}}}"#);
    let typed = r#"{"type": "object", "properties": {}"#;
    vec![
        ("anthropic", "tool_name", named(&long), named("a/b"), "", r#""a/b" does not match ^[a-zA-Z0-9_-]{1,128}$"#),
        ("anthropic", "tool_name_bedrock", named(&long[1..]), named(&long), "",
            "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…\" does not match ^[a-zA-Z0-9_-]{1,64}$"),
        ("anthropic", "no_schema", named("t"), r#"{"name": "t", "inputSchema": null}"#.to_owned(), "",
            "the tool has no schema of its arguments"),
        ("anthropic", "root_type", named("t"), input(r#"{"properties": {}}"#), "", r#"the root has no "type""#),
        ("anthropic", "root_combinator", input(&format!("{typed}, \"not\": {{}}}}")),
            input(&format!("{typed}, \"anyOf\": [{{}}]}}")), "/anyOf", r#""anyOf" stands at the root"#),
        ("anthropic", "property_key", nested, key("$top/x"), "/properties/$top~1x",
            r#""$top/x" does not match ^[a-zA-Z0-9_.-]{1,64}$"#),
        ("anthropic", "not_2020_12", property(r#"{"exclusiveMinimum": 0}"#),
            input(r#"{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 0, "exclusiveMinimum": true}"#),
            "/exclusiveMinimum", "True is not of type 'number'"),
    ]
}

#[rustfmt::skip]
fn gemini_cases() -> Vec<Case> {
    let text = |inside: &str| property(&format!(r#"{{"type": "string", {inside}}}"#));
    vec![
        ("gemini", "tool_name", named("_a.b:c-9"), named("21st_magic"), "",
            r#""21st_magic" does not match ^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$"#),
        ("gemini", "root_type", input(r#"{"type": "OBJECT"}"#), input("true"), "", "the schema is no object"),
        ("gemini", "additional_properties", input(r#"{"properties": {"additionalProperties": {}}}"#),
            input(r#"{"additionalProperties": false}"#), "/additionalProperties", r#""additionalProperties" is not supported"#),
        ("gemini", "schema_uri", input("{}"), input(r#"{"$schema": "x"}"#), "/$schema", r#""$schema" is not supported"#),
        ("gemini", "reference", property(r#"{"type": "string"}"#), property(r##"{"$ref": "#"}"##), "/properties/a/$ref",
            r#""$ref" is not supported"#),
        ("gemini", "const", text(r#""enum": ["x"]"#), text(r#""const": "x""#), "/properties/a/const",
            r#""const" is not supported"#),
        ("gemini", "combinator", property(r#"{"anyOf": [{}]}"#), property(r#"{"oneOf": [{}]}"#), "/properties/a/oneOf",
            r#""oneOf" is not supported"#),
        ("gemini", "exclusive_bound", property(r#"{"minimum": 1}"#), property(r#"{"exclusiveMinimum": 0}"#),
            "/properties/a/exclusiveMinimum", r#""exclusiveMinimum" is not supported"#),
        ("gemini", "unknown_field", property(r#"{"nullable": true, "example": {"x-a": 1}}"#), property(r#"{"x-\u0061": 1}"#),
            "/properties/a/x-a", r#""x-a" is not supported"#),
        ("gemini", "type_list", property(r#"{"type": "string"}"#), property(r#"{"type": ["string", "null"]}"#),
            "/properties/a/type", r#"the type is a list: "string", "null""#),
        ("gemini", "untyped", input(r#"{"type": "array", "items": {"anyOf": []}}"#),
            input(r#"{"type": "array", "items": {"enum": ["x"]}}"#), "/items", r#"the schema has no "type""#),
        ("gemini", "no_object", input(r#"{"additionalProperties": true}"#), property("true"), "/properties/a",
            "true stands where a schema object is expected"),
        ("gemini", "array_items", property(r#"{"type": "ARRAY", "items": {}}"#), property(r#"{"type": "ARRAY"}"#),
            "/properties/a", r#"the array has no "items""#),
        ("gemini", "required_undefined", input(r#"{"properties": {"a": {}}, "required": ["a"]}"#),
            input(r#"{"properties": {"a": {}}, "required": ["a", "b"]}"#), "/required/1", r#""b" is none of the properties"#),
        ("gemini", "object_only", input(r#"{"type": "OBJECT", "required": []}"#), input(r#"{"type": "string", "required": []}"#),
            "/required", r#""required" stands beside the type "string""#),
        ("gemini", "enum_type", text(r#""enum": ["1"]"#), property(r#"{"enum": ["1"]}"#), "/properties/a/enum",
            r#""enum" stands beside no "type""#),
        ("gemini", "enum_value", text(r#""enum": ["1", "2"]"#), text(r#""enum": ["1", 2, 3]"#), "/properties/a/enum/1",
            "the value 2 is no string"),
        ("gemini", "enum_empty", text(r#""enum": [" "]"#), text(r#""enum": ["a", ""]"#), "/properties/a/enum/1",
            "the value is an empty string"),
        ("gemini", "no_properties", property("{}"), input(r#"{"type": "object", "properties": {}}"#), "",
            "the object has no properties"),
        ("gemini", "format", text(r#""format": "date-time""#), text(r#""format": "uri""#), "/properties/a/format",
            r#""uri" is none of the formats for string"#),
        ("gemini", "any_of_siblings", property(r#"{"anyOf": [{}], "description": "x"}"#),
            property(r#"{"anyOf": [{}], "items": {}}"#), "/properties/a/items", r#""items" stands beside "anyOf""#),
        ("gemini", "property_name", input(r#"{"properties": {"a_9": {}}}"#), property(r#"{"properties": {"a-b": {}}}"#),
            "/properties/a/properties/a-b", r#""a-b" does not match ^[a-zA-Z_][a-zA-Z0-9_]{0,63}$"#),
        ("gemini-json-schema", "root_type", named("t"), input("[]"), "", "the schema is no object"),
        ("gemini-json-schema", "ref_siblings", property(r##"{"$ref": "#", "description": "x"}"##),
            property(r##"{"title": "x", "$ref": "#"}"##), "/properties/a/title", r#""title" stands beside "$ref""#),
        ("gemini-json-schema", "unlisted_keyword", property(r#"{"oneOf": []}"#), property(r#"{"not": {}}"#),
            "/properties/a/not", r#""not" is not listed as supported"#),
    ]
}

#[rustfmt::skip]
fn mcp_cases() -> Vec<Case> {
    let header = |schema: &str| property(&format!(r#"{{"x-mcp-header": {schema}}}"#));
    vec![
        ("mcp", "tool_name", named("admin.tools-list_2"), named("Dockerfile scanner"), "",
            r#""Dockerfile scanner" does not match ^[A-Za-z0-9_.-]{1,128}$"#),
        ("mcp", "no_schema", named("t"), r#"{"name": "t"}"#.to_owned(), "", "the tool has no schema of its arguments"),
        ("mcp", "input_type", output("{}"), input("{}"), "", r#"the root has no "type""#),
        ("mcp", "output_type", input("{}"), output(r#"{"type": "array"}"#), "/type", r#"the root's type is "array""#),
        ("mcp", "malformed", output(r#"{"maxItems": 1}"#), output(r#"{"maxItems": "1"}"#), "/maxItems",
            "'1' is not of type 'integer'"),
        ("mcp", "dialect", output(r#"{"$schema": "https://json-schema.org/draft/2020-12/schema"}"#),
            output(r#"{"$schema": "http://json-schema.org/draft-07/schema#"}"#), "/$schema", "the schema is of draft 7"),
        ("mcp", "header_name", header("\"X-Region\""), header("\"a b\""), "/properties/a/x-mcp-header",
            r#""a b" is no name of an HTTP header"#),
        ("mcp", "header_type", property(r#"{"type": "integer", "x-mcp-header": "n"}"#),
            property(r#"{"type": "number", "x-mcp-header": "n"}"#), "/properties/a/x-mcp-header",
            r#"the header is beside the type "number""#),
    ]
}

fn cases() -> Vec<Case> {
    [openai_cases(), strict_cases(), anthropic_cases(), gemini_cases(), mcp_cases()].concat()
}

fn provider(name: &str) -> Provider {
    Provider::named(name).unwrap_or_else(|| panic!("no provider {name}"))
}

fn judge(tool: &str, providers: &[Provider]) -> Portability {
    portability(format!("[{tool}]").as_bytes(), &Options::default(), providers).expect("a catalog")
}

/// Pointers and details of the objections of one rule.
fn objections(tool: &str, provider: Provider, rule: &str) -> Vec<(String, String)> {
    let judged = judge(tool, &[provider]);
    assert_eq!((judged.tools, judged.unlisted), (1, 0), "{tool}");
    let of_rule = judged.objections.into_iter().filter(|objection| objection.rule == rule);
    of_rule.map(|objection| (objection.pointer, objection.detail)).collect()
}

#[test]
fn every_rule_takes_and_objects() {
    for (name, rule, passing, failing, pointer, detail) in cases() {
        let provider = provider(name);
        assert_eq!(objections(&passing, provider, rule), [], "{name}[{rule}]");
        let expected = [(pointer.to_owned(), detail.to_owned())];
        assert_eq!(objections(&failing, provider, rule), expected, "{name}[{rule}]");
    }
}

#[test]
fn every_rule_has_a_case() {
    let cases = cases();
    let find = |name: &str, id: &str| provider(name).rules().find(|rule| rule.id() == id);
    for rule in PROVIDERS.into_iter().flat_map(Provider::rules) {
        // A rule that tables share needs one case.
        let same = |found: &Rule| found.when() == rule.when() && found.source() == rule.source();
        let has = cases.iter().any(|case| find(case.0, case.1).is_some_and(same));
        assert!(has, "{}", rule.id());
    }
}

#[test]
fn tables_are_sound() {
    let mut names = BTreeSet::new();
    for provider in PROVIDERS {
        assert!(names.insert(provider.name()) && !provider.about().is_empty());
        let mut ids = BTreeSet::new();
        for rule in provider.rules() {
            let id = rule.id();
            assert!(ids.insert(id), "{id} stands twice for {}", provider.name());
            assert!(id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{id}");
            assert!(rule.source().starts_with("https://") && !rule.source().contains(char::is_whitespace), "{id}");
            assert!(!rule.hint().is_empty() && !rule.hint().contains('\n') && !rule.when().is_empty(), "{id}");
        }
    }
}

// --- counts and order ---------------------------------------------------------------------------------------------

#[test]
fn tools_are_counted_by_provider() {
    let tools = [property(r#"{"const": 1, "default": 1}"#), property(r#"{"const": 1}"#), "7".to_owned()].join(", ");
    let tools = tools.replacen("\"t\"", "\"u\"", 1);
    let asked = ["gemini", "mcp", "gemini"].map(provider);
    let judged = judge(&format!("{tools}, {}", property("{}")), &asked);
    // What is no tool, and the second of a name, are not judged.
    assert_eq!(judged.tools, 2);
    let verdicts: Vec<_> = judged.providers.iter().map(|of| (of.provider, of.accepted, of.refused)).collect();
    assert_eq!(verdicts, [("gemini", 0, 2), ("mcp", 2, 0)]);
    let rules: Vec<_> = judged.providers[0].rules.iter().map(|count| (count.rule, count.tools)).collect();
    assert_eq!(rules, [("const", 2), ("untyped", 2)]);
    assert!(judged.refuses() && !judge(&named("t"), &[provider("mcp")]).refuses());
}

#[test]
fn objections_come_by_tool_provider_and_text() {
    let tool = input(
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"b": {"const": 1}, "a": true}}"#,
    );
    let judged = judge(&tool, &["mcp", "gemini"].map(provider));
    let mut listed = String::new();
    for objection in &judged.objections {
        let written = writeln!(listed, "{}[{}] {}", objection.provider, objection.rule, objection.pointer);
        assert!(written.is_ok());
    }
    let expected = "mcp[input_type] \nmcp[dialect] /$schema\ngemini[root_type] \ngemini[schema_uri] /$schema\n\
        gemini[untyped] \ngemini[object_only] /properties\ngemini[const] /properties/b/const\n\
        gemini[untyped] /properties/b\ngemini[no_object] /properties/a\n";
    assert_eq!(listed, expected);
    let text = format!("[{tool}]");
    let at = judged.objections.iter().find(|objection| objection.rule == "const").map(|objection| objection.at);
    assert_eq!(at, text.find("1}"));
}

#[test]
fn a_text_that_is_no_catalog_is_an_error() {
    for text in ["", "{", "7", "{}"] {
        assert!(portability(text.as_bytes(), &Options::default(), &PROVIDERS).is_err(), "{text}");
    }
    assert_eq!(judge(&named("t"), &[]).providers, []);
}

// --- hostile schemas ----------------------------------------------------------------------------------------------

#[test]
fn schemas_that_do_not_compile_are_judged() {
    for schema in ["7", "null", "[]", "\"x\"", r#"{"type": 7, "properties": [], "required": {}, "enum": 7}"#] {
        let judged = judge(&input(schema), &PROVIDERS);
        assert_eq!(judged.tools, 1, "{schema}");
    }
    let broken = property(r##"{"$ref": "#/nowhere", "const": 1}"##);
    assert_eq!(objections(&broken, provider("gemini"), "const").len(), 1);
}

#[test]
fn deep_nesting_ends_and_is_listed_within_bounds() {
    for step in [r#"{"not":"#, r#"{"properties":{"a":"#] {
        let levels = 100_000;
        let close = "}".repeat(step.matches('{').count()).repeat(levels);
        let judged = judge(&input(&format!("{}{{}}{close}", step.repeat(levels))), &PROVIDERS);
        assert!(judged.unlisted > levels && judged.refuses());
        let bytes: usize = judged.objections.iter().map(|objection| objection.pointer.len()).sum();
        assert!(bytes <= super::judging::LISTED_BYTES_MAX, "{bytes}");
    }
}

#[test]
fn recursion_is_walked_once() {
    let tree = r##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {
        "n": {"properties": {"l": {"$ref": "#/$defs/n"}, "r": {"$ref": "#"}, "x": {"const": 1}}}}}"##;
    let found = objections(&input(tree), provider("gemini"), "const");
    assert_eq!(found, [("/$defs/n/properties/x/const".to_owned(), "\"const\" is not supported".to_owned())]);
}

#[test]
fn many_references_end() {
    let count = 50_000;
    let references = repeated(count, |at| format!("\"p{at}\": {{\"$ref\": \"#/x/{}\"}}", count - at - 1));
    let targets = repeated(count, |_| r#"{"const": 1}"#.to_owned());
    let tool = input(&format!("{{\"properties\": {{{references}}}, \"x\": [{targets}]}}"));
    let judged = judge(&tool, &[provider("gemini")]);
    // Each reference, each target twice (it has no type), and four members of the root.
    assert_eq!(judged.objections.len() + judged.unlisted, 3 * count + 4);
}

#[test]
fn many_properties_end() {
    let properties = repeated(100_000, |at| format!("\"p{at}\": {{\"oneOf\": []}}"));
    let tool = input(&format!("{{\"type\": \"object\", \"properties\": {{{properties}}}, \"required\": [\"p7\"]}}"));
    let judged = judge(&tool, &PROVIDERS);
    let detail = |rule: &str| {
        judged.objections.iter().find(|objection| objection.rule == rule).map(|objection| objection.detail.as_str())
    };
    let optional = "properties are not required: \"p0\", \"p1\", \"p2\" and 99996 more";
    assert_eq!(detail("not_all_required"), Some(optional));
    assert!(judged.unlisted > 0);
    let broken = |rule: &str| judged.providers[0].rules.iter().any(|count| count.rule == rule);
    assert!(broken("properties") && broken("one_of"));
}
