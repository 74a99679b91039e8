//! What the branches of failed unions say: what their schemas say by themselves.
//!
//! ```text
//! {"anyOf": [A, B], ..}  ─► failure ─► branches: 0 ─► a tree of failures  ═  {"allOf": [A], ..} ─► failures, as trees
//! ```

use callgate::{Draft, Failure, Options, Outcome, Schema, Session};
use serde_json::{Map, Value, json};

use crate::instances;
use crate::random::Rng;
use crate::schemas;

/// Random schemas tried.
const SCHEMAS: usize = 4_000;

/// Instances for each.
const INSTANCES: usize = 6;

/// What a failure says, with what its branches say.
fn tree(failure: &Failure<'_, '_>) -> String {
    let branches: Vec<String> =
        failure.branches().map(|(branch, inner)| format!("{branch}: {}", tree(&inner))).collect();
    format!("{} {} {} {branches:?}", failure.code(), failure.instance_location(), failure.message())
}

fn trees(outcome: &Outcome<'_>) -> Vec<String> {
    match outcome {
        Outcome::Rejected(rejection) => rejection.failures().map(|failure| tree(&failure)).collect(),
        _ => Vec::new(),
    }
}

fn compile(draft: Draft, schema: &Value) -> Option<Schema> {
    Schema::compile(schema.to_string(), &Options { draft, ..Options::default() }).ok().map(|(schema, _)| schema)
}

/// The document with nothing at its root but `keyword`.
fn only(document: &Map<String, Value>, keyword: &str, value: Value) -> Value {
    let keeps = ["$schema", "$id", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];
    let kept = document.iter().filter(|(key, _)| keeps.contains(&key.as_str()));
    let mut only: Map<String, Value> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
    only.insert(keyword.to_owned(), value);
    Value::Object(only)
}

#[test]
fn branches_say_what_their_schemas_say() {
    let mut rng = Rng::new(5);
    let mut session = Session::new();
    let (mut compared, mut nested) = (0, 0);
    for _ in 0..SCHEMAS {
        let (draft, document) = schemas::schema(&mut rng);
        let (_, other) = schemas::schema(&mut rng);
        let Value::Object(document) = document else { continue };
        let mut first = document.clone();
        first.retain(|key, _| !["$schema", "$id", "$defs", "definitions"].contains(&key.as_str()));
        let second = match other {
            Value::Object(other) => other.get("items").or(other.get("not")).cloned().unwrap_or(json!({"type": "null"})),
            other => other,
        };
        let branches = [Value::Object(first), second];
        let keyword = if rng.chance(50) { "anyOf" } else { "oneOf" };
        let union = only(&document, keyword, json!(branches));
        // References to the root are to another one in either form.
        if ["\"#\"", "recursiveRef", "dynamicRef"].iter().any(|word| union.to_string().contains(word)) {
            continue;
        }
        let Some(union_schema) = compile(draft, &union) else { continue };
        let alone: Vec<Option<Schema>> =
            branches.iter().map(|branch| compile(draft, &only(&document, "allOf", json!([branch])))).collect();
        for _ in 0..INSTANCES {
            let fitting = instances::fitting(&mut rng, &union);
            let instance = instances::changed(&mut rng, &fitting);
            let outcome = union_schema.check(&mut session, &instance);
            let Outcome::Rejected(rejection) = &outcome else { continue };
            let Some(failure) = rejection.failures().next() else { panic!("no failure: {union}") };
            let mut said = vec![Vec::new(); branches.len()];
            failure.branches().for_each(|(branch, inner)| said[branch].push(tree(&inner)));
            if said.iter().all(Vec::is_empty) {
                assert!(failure.message().contains("is valid under each of"), "{union} {instance}");
                continue;
            }
            for (said, schema) in said.iter().zip(&alone) {
                let Some(schema) = schema else { continue };
                let expected = trees(&schema.check(&mut Session::new(), &instance));
                assert_eq!(*said, expected, "{draft:?} {union} {instance}");
                compared += 1;
                nested += usize::from(said.iter().any(|tree| tree.contains("[\"")));
            }
        }
    }
    assert!(compared > 2_000 && nested > 100, "{compared} compared, {nested} with unions inside");
}

/// A union inside a recursive schema whose verdicts are kept says the same each time.
#[test]
fn kept_verdicts_say_it_again() {
    let schema = r##"{"$defs": {"node": {
        "anyOf": [{"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]},
                  {"type": "integer", "minimum": 5}]}},
        "anyOf": [{"allOf": [{"$ref": "#/$defs/node"}, {"$ref": "#/$defs/node"}]}, {"$ref": "#/$defs/node"}]}"##;
    let (schema, _) = Schema::compile(schema, &Options::default()).expect("compiles");
    let mut session = Session::new();
    let outcome = schema.check(&mut session, r#"{"next": {"next": 3}}"#);
    let node = |at: &str, inside: &str| {
        format!(
            "anyOf {at} {} is not valid under any of the given schemas {inside}",
            match at {
                "" => "{'next': {'next': 3}}",
                "/next" => "{'next': 3}",
                _ => "3",
            }
        )
    };
    let integer = |at: &str, value: &str| format!("type {at} {value} is not of type 'integer' []");
    let innermost = node(
        "/next/next",
        &format!(
            "{:?}",
            [
                "0: type /next/next 3 is not of type 'object' []",
                "1: minimum /next/next 3 is less than the minimum of 5 []"
            ]
        ),
    );
    let middle =
        node("/next", &format!("{:?}", [format!("0: {innermost}"), format!("1: {}", integer("/next", "{'next': 3}"))]));
    let outer =
        node("", &format!("{:?}", [format!("0: {middle}"), format!("1: {}", integer("", "{'next': {'next': 3}}"))]));
    let expected = node("", &format!("{:?}", [format!("0: {outer}"), format!("0: {outer}"), format!("1: {outer}")]));
    assert_eq!(trees(&outcome), [expected]);
}

/// As many failures are listed inside unions as may be outside; the line stays.
#[test]
fn there_are_not_more_than_the_limit() {
    let mut options = Options::default();
    options.limits.failures_max = 3;
    let schema = r#"{"anyOf": [{"items": {"type": "integer"}}, {"items": {"type": "null"}}]}"#;
    let (schema, _) = Schema::compile(schema, &options).expect("compiles");
    let mut session = Session::new();
    let Outcome::Rejected(rejection) = schema.check(&mut session, r#"["a", "b"]"#) else { panic!("accepted") };
    let branches: Vec<(usize, String)> = rejection
        .failures()
        .flat_map(|failure| failure.branches().map(|(branch, inner)| (branch, inner.message())).collect::<Vec<_>>())
        .collect();
    assert_eq!(
        branches,
        [
            (0, "'a' is not of type 'integer'".to_owned()),
            (0, "'b' is not of type 'integer'".to_owned()),
            (1, "'a' is not of type 'null'".to_owned())
        ]
    );
}
