//! Missing-only and the signature: what a host asks before it has a call filled in, or breaks a loop.
//!
//! Rows L1 to L6 of a host's acceptance table, each union and nesting that could mislead, and two oracles over random
//! schemas: the same schema without its required names, and a slow reading of the rule, union by union.

use callgate::{Draft, Options, Outcome, Rejection, Schema, Session, Stack};
use serde_json::{Map, Value, json};

use crate::hosts::{Heap, Host};
use crate::random::Rng;
use crate::verdict::{compile, compile_with};
use crate::{instances, schemas};

/// What a rejection says of what is missing: `no`, or the pointers.
fn said(rejection: &Rejection<'_>) -> String {
    let pointers: Vec<String> = rejection.missing().map(|missing| missing.pointer()).collect();
    let said = if rejection.missing_only() { format!("missing {}", pointers.join(" ")) } else { "no".to_owned() };
    assert_eq!(rejection.missing_only(), !pointers.is_empty(), "{said}");
    let summary = rejection.to_owned();
    assert_eq!((summary.missing_only(), summary.missing()), (rejection.missing_only(), pointers.as_slice()));
    assert_eq!(summary.signature(), rejection.signature());
    said
}

fn answer(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Accepted(_) => "ok".to_owned(),
        Outcome::Rejected(rejection) => said(rejection),
        Outcome::Fault(fault) => fault.code.as_str().to_owned(),
        other => other.code().to_owned(),
    }
}

/// What is said of the call as text, and as a value, and as a host's object: one and the same.
#[track_caller]
fn ask(schema: &Schema, call: &str) -> String {
    let said = answer(&schema.check(&mut Session::new(), call));
    if let Ok(value) = serde_json::from_str::<Value>(call) {
        // A session without room for copies, and one with.
        for mut session in [Session::new(), schema.session(call.len()), schema.session(1 << 16)] {
            assert_eq!(answer(&schema.check(&mut session, &value)), said, "as a value: {call}");
        }
        let heap = Heap::of(&value);
        for mut session in [Session::new(), schema.session(1 << 16)] {
            let mut stack = Stack::default();
            let outcome = schema.check_instance(&mut session, &mut stack, &mut Host(&heap));
            assert_eq!(answer(&outcome), said, "as a host's object: {call}");
        }
    }
    said
}

#[track_caller]
fn check(schema: &str, rows: &[(&str, &str)]) {
    let fused = compile(schema);
    let plain = compile_with(schema, &Options { fusion: false, peephole: false, ..Options::default() });
    for (call, expected) in rows {
        assert_eq!(ask(&fused, call), *expected, "{call}");
        assert_eq!(ask(&plain, call), *expected, "without rewrites: {call}");
    }
}

// --- the rows ------------------------------------------------------------------------------------------------

/// Branches told apart by `kind`.
const TAGGED: &str = r#"{
    "type": "object", "required": ["action"], "properties": {"action": {"UNION": [
        {"type": "object", "required": ["kind", "to", "body"], "properties": {
            "kind": {"const": "mail"}, "to": {"type": "string"}, "body": {"type": "string"}}},
        {"type": "object", "required": ["kind", "at", "place"], "properties": {
            "kind": {"enum": ["meet"]}, "at": {"type": "integer"}, "place": {"type": "string"}}}
    ]}}
}"#;

#[track_caller]
fn check_tagged(rows: &[(&str, &str)]) {
    check(&TAGGED.replace("UNION", "anyOf"), rows);
    check(&TAGGED.replace("UNION", "oneOf"), rows);
}

#[test]
fn l1_the_branch_that_the_tag_means_has_a_wrong_type() {
    let call = r#"{"action": {"kind": "mail", "to": 7, "body": "x"}}"#;
    check_tagged(&[
        (call, "no"),
        (r#"{"action": {"kind": "mail", "to": 7}}"#, "no"),
        (r#"{"action": {"kind": "meet", "at": "noon", "place": "here"}}"#, "no"),
    ]);
    let schema = compile(&TAGGED.replace("UNION", "anyOf"));
    assert_eq!(schema.check(&mut Session::new(), call).code(), "ARGS_INVALID");
}

#[test]
fn l2_the_branch_that_the_tag_means_lacks_a_field() {
    check_tagged(&[
        (r#"{"action": {"kind": "mail", "to": "ann", "body": "x"}}"#, "ok"),
        (r#"{"action": {"kind": "mail", "to": "ann"}}"#, "missing /action/body"),
        (r#"{"action": {"kind": "mail"}}"#, "missing /action/to /action/body"),
        (r#"{"action": {"kind": "meet", "place": "here"}}"#, "missing /action/at"),
        ("{}", "missing /action"),
    ]);
}

#[test]
fn l3_ambiguous_is_no() {
    check_tagged(&[
        (r#"{"action": {}}"#, "no"),
        // Without the tag, what is there decides, where it can.
        (r#"{"action": {"at": 3}}"#, "no"),
        (r#"{"action": {"to": 3}}"#, "missing /action/kind /action/at /action/place"),
        (r#"{"action": {"kind": "call"}}"#, "no"),
        (r#"{"action": 3}"#, "no"),
    ]);
    let untagged = r#"{"anyOf": [
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}, "additionalProperties": false},
        {"type": "object", "required": ["b", "c"], "properties": {"b": {"type": "string"}, "c": {}}, "additionalProperties": false}
    ]}"#;
    check(untagged, &[("{}", "no"), (r#"{"b": "x"}"#, "missing /c"), (r#"{"b": 1}"#, "no"), (r#"{"a": "x"}"#, "ok")]);
}

#[test]
fn l4_a_plain_object() {
    let schema = r#"{"type": "object", "required": ["q", "n", "deep"], "properties": {
        "q": {"type": "string"}, "n": {"type": "integer"},
        "deep": {"type": "object", "required": ["x/y", "z~"], "properties": {"x/y": {"type": "string"}}}
    }}"#;
    check(
        schema,
        &[
            ("{}", "missing /q /n /deep"),
            (r#"{"q": "x", "deep": {}}"#, "missing /n /deep/x~1y /deep/z~0"),
            (r#"{"q": 1}"#, "no"),
            (r#"{"q": "x", "deep": {"x/y": 1}}"#, "no"),
            (r#"{"q": "x", "n": 1, "deep": {"x/y": 1, "z~": 1}}"#, "no"),
            (r#"{"q": "x", "n": 1, "deep": {"x/y": "", "z~": 1}}"#, "ok"),
        ],
    );
}

#[test]
fn l5_a_host_value_that_is_not_json() {
    let schema = compile(r#"{"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "array"}}}"#);
    for call in [
        json!({"a": "<set>"}),
        json!({"a": ["<nan>"]}),
        json!({"other": {"deep": "<set>"}}),
        json!("<keys>"),
        json!({"a": [], "b": "<keys>"}),
    ] {
        let heap = Heap::of(&call);
        let mut session = Session::new();
        match schema.check_instance(&mut session, &mut Stack::default(), &mut Host(&heap)) {
            Outcome::Rejected(rejection) => {
                assert_eq!(said(&rejection), "no", "{call}");
                assert_eq!(rejection.failures().map(|failure| failure.code()).collect::<Vec<_>>(), ["not_json"]);
                assert_eq!(rejection.signature(), 0x5a0d_1c5d_c389_6a77);
            }
            other => panic!("{other:?}"),
        }
    }
    // What is inside itself has no end: it is declined, whatever the schema says.
    let heap = Heap::inside_itself();
    let mut session = Session::new();
    let outcome = schema.check_instance(&mut session, &mut Stack::default(), &mut Host(&heap));
    assert_eq!(answer(&outcome), "depth");
    for text in ["{", r#"{"a": [], "a": []}"#, "", "\u{feff}{}"] {
        assert_eq!(answer(&schema.check(&mut Session::new(), text)), "no", "{text}");
    }
}

#[test]
fn l6_the_summary_stands_alone() {
    let summary = {
        let schema = compile(&TAGGED.replace("UNION", "anyOf"));
        let call = r#"{"action": {"kind": "meet", "place": "here"}}"#.to_owned();
        let mut session = Session::new();
        match schema.check(&mut session, call.as_bytes()) {
            Outcome::Rejected(rejection) => rejection.to_owned(),
            other => panic!("{other:?}"),
        }
    };
    assert!(summary.missing_only());
    assert_eq!(summary.missing(), ["/action/at"]);
    let data = serde_json::to_value(&summary).expect("is data");
    assert_eq!((&data["missing_only"], &data["missing"]), (&json!(true), &json!(["/action/at"])));
    assert_eq!(data["signature"], json!(format!("{:016x}", summary.signature())));
}

// --- keywords ------------------------------------------------------------------------------------------------

#[test]
fn names_that_others_depend_on_are_missing() {
    let rows = [(r#"{"card": 1}"#, "missing /address /name"), (r#"{"card": 1, "name": 1}"#, "missing /address")];
    check(r#"{"dependentRequired": {"card": ["address", "name"]}}"#, &rows);
    check(
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"card": ["address", "name"]}}"#,
        &rows,
    );
    check(
        r#"{"dependentSchemas": {"card": {"required": ["address"], "properties": {"card": {"type": "integer"}}}}}"#,
        &[(r#"{"card": 1}"#, "missing /address"), (r#"{"card": "x"}"#, "no")],
    );
}

#[test]
fn numbers_of_members_and_elements_are_not_names() {
    check(r#"{"minProperties": 1}"#, &[("{}", "no")]);
    check(r#"{"required": ["a"], "minProperties": 1}"#, &[("{}", "no"), (r#"{"b": 1}"#, "missing /a")]);
    check(r#"{"minItems": 1}"#, &[("[]", "no")]);
    check(r#"{"required": ["a"], "properties": {"b": false}}"#, &[(r#"{"b": 1}"#, "no"), ("{}", "missing /a")]);
    check(r#"{"required": ["a"], "additionalProperties": false}"#, &[(r#"{"b": 1}"#, "no"), ("{}", "missing /a")]);
    check(r#"{"required": ["a"], "propertyNames": {"maxLength": 1}}"#, &[(r#"{"bb": 1}"#, "no"), ("{}", "missing /a")]);
}

#[test]
fn conditions_mean_what_they_say() {
    check(r#"{"not": {"required": ["a"]}, "required": ["b"]}"#, &[("{}", "missing /b"), (r#"{"a": 1}"#, "no")]);
    check(r#"{"not": {"not": {"required": ["a"]}}}"#, &[("{}", "no"), (r#"{"a": 1}"#, "ok")]);
    check(
        r#"{"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}"#,
        &[("{}", "missing /c"), (r#"{"a": 1}"#, "missing /b"), (r#"{"c": 1}"#, "ok")],
    );
    check(
        r#"{"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": false}"#,
        &[(r#"{"a": 1}"#, "missing /b"), (r#"{"a": 2}"#, "no"), ("{}", "missing /b")],
    );
    check(r#"{"contains": {"required": ["a"]}}"#, &[("[{}]", "no"), (r#"[{"a": 1}]"#, "ok")]);
    check(
        r#"{"contains": {"required": ["a"]}, "items": {"required": ["b"]}}"#,
        &[(r#"[{"a": 1}, {"b": 1}]"#, "missing /0/b")],
    );
}

#[test]
fn a_name_is_missing_once() {
    check(
        r#"{"allOf": [{"required": ["a", "b"]}, {"required": ["b", "c"]}], "required": ["c", "a"]}"#,
        &[("{}", "missing /a /b /c"), (r#"{"b": 1}"#, "missing /a /c")],
    );
    check(
        r#"{"allOf": [{"items": {"required": ["a"]}}, {"items": {"properties": {"b": {}}, "required": ["a", "b"]}}]}"#,
        &[("[{}, {}]", "missing /0/a /1/a /0/b /1/b")],
    );
}

#[test]
fn items_and_patterns_and_further_members() {
    check(
        r#"{"prefixItems": [{"required": ["a"]}], "items": {"required": ["b"]}}"#,
        &[("[{}, {}, 3]", "missing /0/a /1/b")],
    );
    check(
        r#"{"patternProperties": {"^x": {"required": ["a"]}}, "additionalProperties": {"required": ["b"]}}"#,
        &[(r#"{"x1": {}, "y": {}, "z": 1}"#, "missing /x1/a /y/b")],
    );
    check(
        r#"{"unevaluatedProperties": {"required": ["a"]}, "allOf": [{"properties": {"k": true}}]}"#,
        &[(r#"{"k": {}, "m": {}}"#, "missing /m/a")],
    );
    // Whose names a branch that lacks something looks at is not known: a no that is on the safe side.
    check(
        r#"{"unevaluatedProperties": false, "anyOf": [{"required": ["a"], "properties": {"b": true}}]}"#,
        &[("{}", "missing /a"), (r#"{"b": 1}"#, "no")],
    );
}

#[test]
fn unions_of_unions() {
    let schema = r#"{"oneOf": [
        {"properties": {"kind": {"const": "a"}}, "required": ["kind"], "anyOf": [
            {"properties": {"how": {"const": 1}}, "required": ["how", "x"]},
            {"properties": {"how": {"const": 2}}, "required": ["how", "y"]}
        ]},
        {"properties": {"kind": {"const": "b"}}, "required": ["kind", "z"]}
    ]}"#;
    check(
        schema,
        &[
            (r#"{"kind": "a", "how": 1}"#, "missing /x"),
            (r#"{"kind": "a", "how": 2}"#, "missing /y"),
            (r#"{"kind": "b", "how": 2}"#, "missing /z"),
            // The inner union is ambiguous, so the outer branch would not pass.
            (r#"{"kind": "a"}"#, "no"),
            (r#"{"how": 3}"#, "missing /kind /z"),
            (r#"{"how": 1}"#, "no"),
        ],
    );
}

#[test]
fn one_of_matched_twice_lacks_nothing() {
    check(
        r#"{"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"], "properties": {"a": {"type": "null"}}}]}"#,
        &[(r#"{"a": 1, "b": 1}"#, "no"), (r#"{"a": 1}"#, "ok"), ("{}", "no")],
    );
}

#[test]
fn types_tell_branches_apart() {
    check(
        r#"{"anyOf": [{"type": "null"}, {"type": "array", "items": {"required": ["id"]}}, {"type": "object", "required": ["id"]}]}"#,
        &[("{}", "missing /id"), ("[{}, {}]", "missing /0/id /1/id"), ("3", "no"), ("null", "ok")],
    );
    // A nullable object, which is fused.
    check(
        r#"{"properties": {"o": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["id"]}]}}}"#,
        &[(r#"{"o": {}}"#, "missing /o/id"), (r#"{"o": 3}"#, "no")],
    );
}

#[test]
fn arrays_of_unions() {
    let schema = r##"{"type": "array", "items": {"$ref": "#/$defs/step"}, "$defs": {
        "step": {"oneOf": [{"$ref": "#/$defs/go"}, {"$ref": "#/$defs/stay"}]},
        "go": {"type": "object", "properties": {"do": {"const": "go"}, "to": {"type": "string"}}, "required": ["do", "to"]},
        "stay": {"type": "object", "properties": {"do": {"const": "stay"}, "for": {"type": "integer"}}, "required": ["do", "for"]}
    }}"##;
    check(
        schema,
        &[
            (r#"[{"do": "go"}, {"do": "stay", "for": 1}, {"do": "stay"}]"#, "missing /0/to /2/for"),
            (r#"[{"do": "go"}, {"do": "stay", "for": "x"}]"#, "no"),
            (r#"[{"do": "go"}, {}]"#, "no"),
        ],
    );
}

#[test]
fn references_that_come_back() {
    let schema = r##"{"$ref": "#/$defs/node", "$defs": {"node": {
        "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}}
    }}}"##;
    check(
        schema,
        &[
            (r#"{"name": "a", "next": {"next": {"name": "c", "next": null}}}"#, "missing /next/name"),
            (r#"{"next": {"next": {"next": {}}}}"#, "missing /name /next/name /next/next/name /next/next/next/name"),
            (r#"{"next": {"next": {"next": {"name": 1}}}}"#, "no"),
        ],
    );
    // Deeper than blocks nest on the thread's stack.
    let schema = compile(schema);
    let levels = 100;
    let call = format!("{}{}", r#"{"name": "n", "next": "#.repeat(levels), "{}") + &"}".repeat(levels);
    assert_eq!(ask(&schema, &call), format!("missing {}/name", "/next".repeat(levels)));
}

#[test]
fn blocks_whose_verdicts_are_kept() {
    // Two ways meet again on every node, so verdicts are kept (`call_memo`).
    let schema = r##"{"$ref": "#/$defs/node", "$defs": {"node": {
        "properties": {"l": {"allOf": [{"$ref": "#/$defs/node"}, {"$ref": "#/$defs/node"}]}},
        "anyOf": [{"$ref": "#/$defs/named"}, {"type": "null"}]
    }, "named": {"required": ["n"], "properties": {"l": {"$ref": "#/$defs/node"}}}}}"##;
    assert!(compile(schema).unit().revisits());
    check(
        schema,
        &[
            (r#"{"n": 1, "l": {"n": 1, "l": {"n": 1}}}"#, "ok"),
            (r#"{"n": 1, "l": {"n": 1, "l": {}}}"#, "missing /l/l/n"),
            (r#"{"l": {"n": 1, "l": {}}}"#, "missing /l/l/n /n"),
        ],
    );
}

#[test]
fn many_required_names() {
    for (len, properties) in [(64, true), (65, true), (65, false), (300, true)] {
        let names: Vec<String> = (0..len).map(|at| format!("p{at}")).collect();
        let all: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({"type": "integer"}))).collect();
        let mut schema = json!({"type": "object", "required": names});
        if properties {
            schema["properties"] = all.into();
        }
        let mut call: Map<String, Value> = names.iter().map(|name| (name.clone(), json!(1))).collect();
        call.remove("p7");
        call.remove("p63");
        check(&schema.to_string(), &[(&Value::from(call.clone()).to_string(), "missing /p7 /p63"), ("3", "no")]);
        if properties {
            call.insert("p9".to_owned(), json!("x"));
            check(&schema.to_string(), &[(&Value::from(call).to_string(), "no")]);
        }
    }
}

#[test]
fn draft_7() {
    let schema = r##"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {
        "a": {"type": "object", "properties": {"t": {"const": 1}}, "required": ["t", "x"]},
        "b": {"type": "object", "properties": {"t": {"const": 2}}, "required": ["t", "y"]}},
        "items": [{"oneOf": [{"$ref": "#/definitions/a"}, {"$ref": "#/definitions/b"}]}],
        "additionalItems": {"required": ["z"]}
    }"##;
    check(
        schema,
        &[(r#"[{"t": 2}, {}]"#, "missing /0/y /1/z"), (r#"[{"t": 3}, {}]"#, "no"), (r#"[{"t": 1, "x": 0}]"#, "ok")],
    );
}

#[test]
fn beyond_the_limits_the_answer_is_no() {
    let schema = r#"{"items": {"required": ["a"]}}"#;
    let limited = |name: &str, limit: u64| {
        let mut options = Options::default();
        options.limits.set(name, limit).expect("is a limit");
        compile_with(schema, &options)
    };
    // Each name is listed, or none.
    assert_eq!(ask(&limited("failures_max", 2), "[{}, {}]"), "missing /0/a /1/a");
    assert_eq!(ask(&limited("failures_max", 2), "[{}, {}, {}]"), "no");
}

#[test]
fn a_member_taken_from_an_accepted_call_is_what_is_missing() {
    let schema = r#"{"type": "object", "required": ["a", "b", "c", "d"], "additionalProperties": false, "properties": {
        "a": {"type": "string", "minLength": 1}, "b": {"type": "array", "items": {"enum": [1, 2]}},
        "c": {"type": "object", "required": ["e", "f"]}, "d": {"anyOf": [{"type": "null"}, {"const": "x"}]}
    }}"#;
    let call = json!({"a": "x", "b": [1, 2], "c": {"e": 1, "f": 2}, "d": null});
    check(schema, &[(&call.to_string(), "ok")]);
    for pointer in ["/a", "/b", "/c", "/d", "/c/e", "/c/f"] {
        let (object, name) = pointer.rsplit_once('/').expect("is a pointer");
        let mut less = call.clone();
        less.pointer_mut(object).and_then(Value::as_object_mut).expect("is an object").remove(name);
        check(schema, &[(&less.to_string(), &format!("missing {pointer}"))]);
    }
}

// --- the signature -------------------------------------------------------------------------------------------

fn signature(schema: &str, call: &str) -> u64 {
    match compile(schema).check(&mut Session::new(), call) {
        Outcome::Rejected(rejection) => rejection.signature(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn signatures_are_of_the_schema_and_not_of_values() {
    let schema = r#"{"required": ["n"], "properties": {"n": {"type": "integer"}, "seed": {"minimum": 0}}}"#;
    // FNV-1a of `required\0/required` and so on, computed elsewhere.
    assert_eq!(signature(schema, "{}"), 0xa7e9_bb7b_d7f3_85c8);
    assert_eq!(signature(schema, r#"{"n": 1, "seed": -1}"#), 0x4ed9_4c8d_2222_51f6);
    assert_eq!(signature(schema, r#"{"n": 1, "seed": -7.5}"#), 0x4ed9_4c8d_2222_51f6);
    assert_eq!(signature(schema, r#"{"n": "thirty"}"#), 0xaa06_0def_5698_523d);
    assert_eq!(signature(schema, "not JSON"), 0x5a0d_1c5d_c389_6a77);
    assert_ne!(signature(schema, r#"{"n": 1, "n": 1}"#), 0x5a0d_1c5d_c389_6a77);
    // A schema that is `false` has no keyword.
    assert_eq!(
        signature(r#"{"properties": {"a": false}}"#, r#"{"a": 1}"#),
        signature(r#"{"properties": {"a": false}}"#, r#"{"a": 2}"#)
    );
}

#[test]
fn a_union_has_the_signature_of_what_is_said() {
    let schema = TAGGED.replace("UNION", "anyOf");
    let of = |call: &str| signature(&schema, call);
    assert_eq!(of(r#"{"action": 3}"#), of(r#"{"action": "x"}"#));
    assert_ne!(of(r#"{"action": {"kind": "mail", "to": 7, "body": "x"}}"#), of(r#"{"action": 3}"#));
}

// --- random schemas ------------------------------------------------------------------------------------------

const SCHEMAS: u64 = 400;

const INSTANCES: usize = 8;

fn options(draft: Draft) -> Options {
    Options { draft, ..Options::default() }
}

fn compiled(draft: Draft, schema: &Value) -> Option<Schema> {
    Schema::compile(schema.to_string(), &options(draft)).ok().map(|(schema, _)| schema)
}

fn accepts(draft: Draft, schema: &Value, instance: &Value) -> bool {
    compiled(draft, schema).is_some_and(|schema| schema.check(&mut Session::new(), instance).is_accepted())
}

/// The schema without the keywords of these names, wherever they stand.
fn without(schema: &Value, names: &[&str]) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), without(value, names)))
            .collect(),
        Value::Array(elements) => elements.iter().map(|element| without(element, names)).collect(),
        scalar => scalar.clone(),
    }
}

/// The schema, with some of the names that it describes required.
fn asking(rng: &mut Rng, schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut asking: Map<String, Value> =
                members.iter().map(|(name, value)| (name.clone(), asking(rng, value))).collect();
            if let Some(properties) = members.get("properties").and_then(Value::as_object)
                && !properties.is_empty()
                && rng.chance(60)
            {
                let required: Vec<&String> = properties.keys().take(rng.between(1, 2)).collect();
                asking.insert("required".to_owned(), json!(required));
            }
            asking.into()
        }
        Value::Array(elements) => elements.iter().map(|element| asking(rng, element)).collect(),
        scalar => scalar.clone(),
    }
}

/// Instances that likely fit but for a place, or a name.
fn calls(rng: &mut Rng, schema: &Value) -> Vec<Value> {
    let some = (0..INSTANCES).map(|at| {
        let fitting = instances::fitting(rng, schema);
        match at % 3 {
            0 => instances::changed(rng, &fitting),
            _ => thinned(rng, &fitting),
        }
    });
    some.collect()
}

/// The value without some of its members.
fn thinned(rng: &mut Rng, value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept: Vec<_> = members.iter().filter(|_| rng.chance(75)).collect();
            kept.into_iter().map(|(name, member)| (name.clone(), thinned(rng, member))).collect()
        }
        Value::Array(elements) => elements.iter().map(|element| thinned(rng, element)).collect(),
        scalar => scalar.clone(),
    }
}

/// Holds every answer against `expected`; answers how many were yes, and how many no.
fn hold(seed: u64, draft: Draft, schema: &Value, expected: impl Fn(&Value) -> bool) -> (usize, usize) {
    let Some(compiled) = compiled(draft, schema) else {
        return (0, 0);
    };
    let mut rng = Rng::new(seed ^ 0x5eed);
    let (mut yes, mut no) = (0, 0);
    for call in calls(&mut rng, schema) {
        let said = ask(&compiled, &call.to_string());
        if said == "ok" {
            continue;
        }
        assert_eq!(said != "no", expected(&call), "seed {seed}: {said} of {call} by {draft:?} {schema}");
        let Some(pointers) = said.strip_prefix("missing ") else {
            no += 1;
            continue;
        };
        yes += 1;
        for pointer in pointers.split(' ') {
            let (object, _) = pointer.rsplit_once('/').expect("is a pointer");
            assert!(call.pointer(object).is_some_and(Value::is_object), "{pointer} of {call}");
            assert!(call.pointer(pointer).is_none(), "{pointer} of {call}");
        }
        assert_kinds(&compiled, &call);
    }
    (yes, no)
}

/// All failures of a call that only lacks names are of these kinds.
fn assert_kinds(schema: &Schema, call: &Value) {
    match schema.check(&mut Session::new(), call) {
        Outcome::Rejected(rejection) => rejection.failures().for_each(|failure| {
            let kinds = ["required", "dependentRequired", "dependencies", "anyOf", "oneOf", "unevaluatedProperties"];
            assert!(kinds.contains(&failure.code()), "{failure:?} of {call}");
        }),
        other => panic!("{other:?}"),
    }
}

/// Keywords that ask for names.
const ASKING: [&str; 2] = ["required", "dependentRequired"];

/// Keywords whose branches are weighed, or of which only the verdict counts; and `dependencies`, which asks for names or
/// has schemas.
const WEIGHING: [&str; 9] = [
    "anyOf",
    "oneOf",
    "not",
    "if",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
    "dependencies",
    "minContains",
];

#[test]
fn without_unions_it_is_the_schema_that_asks_for_no_names() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..SCHEMAS {
        let (draft, schema) = schemas::schema(&mut Rng::new(seed));
        let schema = asking(&mut Rng::new(seed), &without(&schema, &WEIGHING));
        let lenient = without(&schema, &ASKING);
        let held = hold(seed, draft, &schema, |call| accepts(draft, &lenient, call));
        (yes, no) = (yes + held.0, no + held.1);
    }
    assert!(yes > 40 && no > 500, "{yes} yes, {no} no");
}

/// Keywords that the reading below does not go into.
const NOT_READ: [&str; 9] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "unevaluatedProperties",
    "unevaluatedItems",
    "patternProperties",
    "prefixItems",
    "additionalItems",
    "dependencies",
];

#[test]
fn unions_are_weighed_branch_by_branch() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..2 * SCHEMAS {
        let (draft, schema) = schemas::schema(&mut Rng::new(seed));
        let schema = asking(&mut Rng::new(seed), &with_single_items(&without(&schema, &NOT_READ)));
        let held = hold(seed, draft, &schema, |call| forgives(draft, &schema, call));
        (yes, no) = (yes + held.0, no + held.1);
    }
    assert!(yes > 80 && no > 500, "{yes} yes, {no} no");
}

/// Without `items` that are a list.
fn with_single_items(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .filter(|(name, value)| *name != "items" || !value.is_array())
            .map(|(name, value)| (name.clone(), with_single_items(value)))
            .collect(),
        Value::Array(elements) => elements.iter().map(with_single_items).collect(),
        scalar => scalar.clone(),
    }
}

/// The rule, read slowly: whether the instance would pass if nothing were missing.
fn forgives(draft: Draft, schema: &Value, instance: &Value) -> bool {
    let Some(keywords) = schema.as_object() else {
        return accepts(draft, schema, instance);
    };
    // What has no subschemas, or is a condition, means what it says.
    let mut rest = keywords.clone();
    for name in
        ["required", "dependentRequired", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "items"]
    {
        rest.remove(name);
    }
    let properties = keywords.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let none = if draft == Draft::D4 { json!({}) } else { json!(true) };
    if !properties.is_empty() {
        let names: Map<String, Value> = properties.keys().map(|name| (name.clone(), none.clone())).collect();
        rest.insert("properties".to_owned(), names.into());
    }
    if keywords.get("additionalProperties").is_some_and(Value::is_object) {
        rest.remove("additionalProperties");
    }
    let list = |name: &str| keywords.get(name).and_then(Value::as_array).cloned();
    let forgives_all = |schema: &Value, instance: &Value| forgives(draft, schema, instance);
    accepts(draft, &rest.into(), instance)
        && list("allOf").unwrap_or_default().iter().all(|branch| forgives_all(branch, instance))
        && list("anyOf").is_none_or(|branches| forgives_union(draft, &branches, instance, false))
        && list("oneOf").is_none_or(|branches| forgives_union(draft, &branches, instance, true))
        && forgives_chosen(draft, keywords, instance)
        && forgives_children(draft, keywords, &properties, instance)
}

fn forgives_union(draft: Draft, branches: &[Value], instance: &Value, exclusive: bool) -> bool {
    match branches.iter().filter(|branch| accepts(draft, branch, instance)).count() {
        0 => branches.iter().filter(|branch| forgives(draft, branch, instance)).count() == 1,
        1 => true,
        _ => !exclusive,
    }
}

fn forgives_chosen(draft: Draft, keywords: &Map<String, Value>, instance: &Value) -> bool {
    let conditional = draft >= Draft::D7;
    let chosen = match keywords.get("if") {
        Some(condition) if conditional && accepts(draft, condition, instance) => keywords.get("then"),
        Some(_) if conditional => keywords.get("else"),
        _ => None,
    };
    let dependent = keywords.get("dependentSchemas").filter(|_| draft >= Draft::D2019).and_then(Value::as_object);
    let mut dependent = dependent.into_iter().flatten().filter(|(name, _)| instance.get(name.as_str()).is_some());
    chosen.is_none_or(|schema| forgives(draft, schema, instance))
        && dependent.all(|(_, schema)| forgives(draft, schema, instance))
}

fn forgives_children(
    draft: Draft,
    keywords: &Map<String, Value>,
    properties: &Map<String, Value>,
    instance: &Value,
) -> bool {
    let further = keywords.get("additionalProperties").filter(|schema| schema.is_object());
    match instance {
        Value::Object(members) => members.iter().all(|(name, member)| {
            properties.get(name).or(further).is_none_or(|schema| forgives(draft, schema, member))
        }),
        Value::Array(elements) => {
            keywords.get("items").is_none_or(|schema| elements.iter().all(|element| forgives(draft, schema, element)))
        }
        _ => true,
    }
}
