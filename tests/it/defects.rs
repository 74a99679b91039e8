//! Seeded defects: one defect in one tool of a real catalog, of every kind that a schema can have. It must be found where it
//! is, and the tools beside it must stay clean.
//!
//! The tools are those of the corpus where that is at hand, of the example catalog otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use callgate::{Catalog, DocumentsBuilder, Finding, FindingKind, Options};
use serde_json::{Map, Value, json};

use crate::random::Rng;

/// Defects to seed.
const SEEDS: u64 = 2_600;

/// A defect: what must be found, where, in which text.
struct Seeded {
    kind: FindingKind,
    pointer: String,
    schema: String,
}

/// Tools without a finding: name and schema.
fn tools() -> Vec<(String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = vec![fs::read(root.join("examples/library.json")).expect("the example is there")];
    if let Ok(folder) = fs::read_dir(root.join("../shared/corpus/catalogs")) {
        let mut paths: Vec<_> = folder.map(|entry| entry.expect("the entry is read").path()).collect();
        paths.sort();
        texts.extend(paths.iter().map(|path| fs::read(path).expect("the file is read")));
    }
    let mut tools = Vec::new();
    for text in texts {
        let (_, report) = Catalog::compile(&text, &Options::default()).expect("a catalog");
        let catalog: Value = serde_json::from_slice(&text).expect("JSON");
        for tool in catalog["tools"].as_array().into_iter().flatten() {
            let name = tool["name"].as_str().expect("a name");
            let is_clean = report.findings.iter().all(|finding| finding.tool.as_deref() != Some(name));
            if is_clean && tool["inputSchema"].is_object() {
                tools.push((name.to_owned(), tool["inputSchema"].clone()));
            }
        }
    }
    tools
}

/// Pointers of all schema objects, the root first.
fn places(schema: &Value) -> Vec<String> {
    let mut places = Vec::new();
    let mut open = vec![(String::new(), schema)];
    while let Some((pointer, schema)) = open.pop() {
        let Some(members) = schema.as_object() else {
            continue;
        };
        for (name, value) in members {
            let at = format!("{pointer}/{}", escaped(name));
            match name.as_str() {
                "properties" | "$defs" | "definitions" => {
                    let members = value.as_object().into_iter().flatten();
                    open.extend(members.map(|(name, schema)| (format!("{at}/{}", escaped(name)), schema)));
                }
                "items" | "additionalProperties" => open.push((at, value)),
                "anyOf" | "oneOf" | "allOf" => {
                    let branches = value.as_array().into_iter().flatten().enumerate();
                    open.extend(branches.map(|(index, schema)| (format!("{at}/{index}"), schema)));
                }
                _ => {}
            }
        }
        places.push(pointer);
    }
    places.sort_by_key(String::len);
    places
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Schemas of their own that are put into a tool under a new property: text, where inside the defect is, and which.
const PLANTED: [(&str, &str, FindingKind); 30] = [
    (r#"{"type": "strnig"}"#, "/type", FindingKind::NotWellFormed),
    (r#"{"type": ["string", "nul"]}"#, "/type/1", FindingKind::NotWellFormed),
    (r#"{"type": "object", "properties": ["a"]}"#, "/properties", FindingKind::NotWellFormed),
    (r#"{"type": "object", "required": "a"}"#, "/required", FindingKind::NotWellFormed),
    (r#"{"type": "integer", "minimum": "0"}"#, "/minimum", FindingKind::NotWellFormed),
    (r#"{"type": "string", "minLength": -1}"#, "/minLength", FindingKind::NotWellFormed),
    (r#"{"enum": "a"}"#, "/enum", FindingKind::NotWellFormed),
    (r#"{"anyOf": []}"#, "/anyOf", FindingKind::NotWellFormed),
    (r#"{"items": 7}"#, "/items", FindingKind::NotWellFormed),
    (r##"{"$ref": "#/$defs/nowhere"}"##, "/$ref", FindingKind::RefUnresolved),
    (r#"{"items": {"$ref": "other.json"}}"#, "/items/$ref", FindingKind::RefUnresolved),
    (r#"{"$ref": "https://example.com/x.json"}"#, "/$ref", FindingKind::RefRemote),
    (r#"{"pattern": "(a"}"#, "/pattern", FindingKind::PatternInvalid),
    (r#"{"pattern": "[z-a]"}"#, "/pattern", FindingKind::PatternInvalid),
    (r#"{"patternProperties": {"*": {}}}"#, "/patternProperties/*", FindingKind::PatternInvalid),
    (r#"{"pattern": "^(?=a)b"}"#, "/pattern", FindingKind::PatternBacktracks),
    (r#"{"minimum": 5, "maximum": 1}"#, "/minimum", FindingKind::Contradiction),
    (r#"{"minLength": 5, "maxLength": 1}"#, "/minLength", FindingKind::Contradiction),
    (r#"{"type": "array", "minItems": 2, "maxItems": 1}"#, "/minItems", FindingKind::Contradiction),
    (r#"{"type": "string", "enum": [1, 2]}"#, "/enum", FindingKind::Contradiction),
    (r#"{"enum": []}"#, "/enum", FindingKind::Contradiction),
    (r#"{"allOf": [{"type": "string"}, {"type": "number"}]}"#, "/allOf", FindingKind::Contradiction),
    (r#"{"additionalProperties": false, "required": ["a"]}"#, "/required/0", FindingKind::Contradiction),
    (r#"{"type": "string", "nullable": true}"#, "/nullable", FindingKind::ForeignKeyword),
    (r#"{"divisibleBy": 2}"#, "/divisibleBy", FindingKind::ForeignKeyword),
    (r#"{"min_length": 2}"#, "/min_length", FindingKind::UnknownKeyword),
    (r#"{"requried": ["a"]}"#, "/requried", FindingKind::UnknownKeyword),
    (r#"{"proprties": {"a": {}}}"#, "/proprties", FindingKind::UnknownKeyword),
    (r#"{"patern": "a"}"#, "/patern", FindingKind::UnknownKeyword),
    (r#"{"maxItem": 3}"#, "/maxItem", FindingKind::UnknownKeyword),
];

/// One of [`PLANTED`], or one that is made: too long, too deep.
fn planted(rng: &mut Rng) -> (String, &'static str, FindingKind) {
    let deep = |levels: usize| format!("{}{{}}{}", r#"{"not":"#.repeat(levels), "}".repeat(levels));
    match rng.below(PLANTED.len() + 7) {
        0 => (format!(r#"{{"pattern": "{}"}}"#, "a".repeat(17_000)), "/pattern", FindingKind::PatternLimit),
        1 => (format!(r#"{{"description": "{}"}}"#, "x".repeat(70_000)), "", FindingKind::SizeExceeded),
        2 => (deep(40), "", FindingKind::DepthExceeded),
        3 => (deep(1_100), "", FindingKind::DepthLimit),
        4 => (format!(r#"{{"description": "{}"}}"#, "x".repeat(4 << 20)), "", FindingKind::SizeLimit),
        5 => (format!(r#"{{"allOf": [{}true]}}"#, "true,".repeat(50_001)), "/allOf", FindingKind::SubschemaLimit),
        6 => {
            let names: Vec<String> = (0..40_000).map(|at| format!("\"value {at}\"")).collect();
            (format!(r#"{{"enum": [{}]}}"#, names.join(",")), "", FindingKind::ProgramLimit)
        }
        other => {
            let (schema, inside, kind) = PLANTED[other - 7];
            (schema.to_owned(), inside, kind)
        }
    }
}

/// Seeds one defect; none where the tool has no place for it.
fn seed(rng: &mut Rng, schema: &Value) -> Option<Seeded> {
    let mut schema = schema.clone();
    let places = places(&schema);
    let at = rng.pick(&places).clone();
    let of = |kind, pointer: String, schema: &Value| Some(Seeded { kind, pointer, schema: schema.to_string() });
    let place = |schema: &mut Value| schema.pointer_mut(&at).and_then(Value::as_object_mut).map(std::mem::take);
    match rng.below(13) {
        0 => {
            // A type that is there is misspelt.
            let mut members = place(&mut schema)?;
            let name = members.get("type")?.as_str()?.to_owned();
            let mut letters: Vec<char> = name.chars().collect();
            letters.swap(1, 2);
            let misspelt: String = letters.into_iter().collect();
            if misspelt == name {
                return None;
            }
            members.insert("type".to_owned(), misspelt.into());
            *schema.pointer_mut(&at)? = Value::Object(members);
            of(FindingKind::NotWellFormed, format!("{at}/type"), &schema)
        }
        1 => {
            // A keyword that is there loses a letter.
            let mut members = place(&mut schema)?;
            let long: Vec<String> = members.keys().filter(|name| is_misspellable(name)).cloned().collect();
            let name = long.get(rng.below(long.len()))?.clone();
            let value = members.remove(&name)?;
            let cut = rng.between(1, name.len() - 2);
            let misspelt = format!("{}{}", &name[..cut], &name[cut + 1..]);
            members.insert(misspelt.clone(), value);
            *schema.pointer_mut(&at)? = Value::Object(members);
            of(FindingKind::UnknownKeyword, format!("{at}/{misspelt}"), &schema)
        }
        2 => {
            // A key stands twice.
            let members = schema.pointer(&at)?.as_object()?;
            let name = members.keys().nth(rng.below(members.len()))?.clone();
            let value = members.get(&name)?.clone();
            schema.pointer_mut(&at)?.as_object_mut()?.insert("\u{1}twice".to_owned(), value);
            let text = schema.to_string().replace("\"\\u0001twice\"", &Value::from(name.as_str()).to_string());
            Some(Seeded {
                kind: FindingKind::DuplicateMember,
                pointer: format!("{at}/{}", escaped(&name)),
                schema: text,
            })
        }
        3 => {
            schema.as_object_mut()?.insert("$schema".to_owned(), "https://example.com/draft".into());
            of(FindingKind::UnknownDialect, "/$schema".to_owned(), &schema)
        }
        4 => {
            schema
                .as_object_mut()?
                .insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema#/".into());
            of(FindingKind::NearDialect, "/$schema".to_owned(), &schema)
        }
        5 => {
            schema.as_object_mut()?.insert("type".to_owned(), "array".into());
            let only = Map::from_iter([("type".to_owned(), json!("array"))]);
            of(FindingKind::RootNotObject, "/type".to_owned(), &Value::Object(only))
        }
        6 => {
            schema = json!({"properties": {"a": {"$anchor": "here"}, "b": {"items": {"$anchor": "here"}}}});
            of(FindingKind::DuplicateId, "/properties/b/items/$anchor".to_owned(), &schema)
        }
        7 => {
            let name = format!("{at}/properties/self");
            let planted = json!({"allOf": [{"$ref": format!("#{}", name.replace('%', "%25").replace(' ', "%20"))}]});
            plant(&mut schema, &at, "self", planted)?;
            of(FindingKind::RefCycle, format!("{name}/allOf/0/$ref"), &schema)
        }
        8 => {
            schema.as_object_mut()?.insert("$schema".to_owned(), STRANGE.into());
            of(FindingKind::VocabularyUnknown, "/$schema".to_owned(), &schema)
        }
        _ => {
            let (planted, inside, kind) = planted(rng);
            plant(&mut schema, &at, "planted", PLACEHOLDER.into())?;
            let text = schema.to_string().replace(&format!("{PLACEHOLDER:?}"), &planted);
            let whole = inside.is_empty();
            let pointer = if whole { String::new() } else { format!("{at}/properties/planted{inside}") };
            Some(Seeded { kind, pointer, schema: text })
        }
    }
}

/// Whether the name without one of its inner letters is still told: short ones may mean anything.
fn is_misspellable(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "properties",
        "required",
        "additionalProperties",
        "description",
        "default",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
    ];
    NAMES.contains(&name)
}

/// Stands where the text of a planted schema is put.
const PLACEHOLDER: &str = "the planted schema";

/// Puts a schema under a property of the schema object at `at`, which is no reference.
fn plant(schema: &mut Value, at: &str, name: &str, planted: Value) -> Option<()> {
    let members = schema.pointer_mut(at)?.as_object_mut()?;
    if members.contains_key("$ref") {
        return None;
    }
    let properties = members.entry("properties").or_insert_with(|| json!({}));
    properties.as_object_mut()?.insert(name.to_owned(), planted);
    Some(())
}

/// A registered metaschema that requires a vocabulary which nobody knows.
const STRANGE: &str = "https://example.com/strange";

/// Limits that a tool of the corpus keeps and a planted schema breaks, and the strange metaschema.
fn options() -> Options {
    let mut documents = DocumentsBuilder::default();
    let text = format!(r#"{{"$id": "{STRANGE}", "$vocabulary": {{"https://example.com/vocabulary": true}}}}"#);
    documents.add(STRANGE, text.as_bytes()).expect("JSON");
    let mut options = Options { documents: Arc::new(documents.build()), ..Options::default() };
    options.limits.set("unit_bytes_max", 1 << 19).expect("a limit");
    options
}

/// The findings of a catalog of the defect between two untouched tools.
fn findings(seeded: &Seeded, before: &Value, after: &Value, options: &Options) -> Vec<Finding> {
    let text = format!(
        r#"{{"tools": [{{"name": "before", "inputSchema": {before}}}, {{"name": "defect", "inputSchema": {}}}, {{"name": "after", "inputSchema": {after}}}]}}"#,
        seeded.schema
    );
    Catalog::compile(text, options).expect("a catalog").1.findings
}

#[test]
fn a_seeded_defect_is_found_where_it_is() {
    let (tools, options) = (tools(), options());
    let (mut seeds, mut found) = (0, 0);
    let mut missed: BTreeMap<FindingName, Vec<String>> = BTreeMap::new();
    for number in 0..SEEDS {
        let mut rng = Rng::new(number);
        let [before, after, touched] = [0; 3].map(|_| &rng.pick(&tools).1);
        let Some(seeded) = seed(&mut rng, touched) else {
            continue;
        };
        let findings = findings(&seeded, before, after, &options);
        let others = findings.iter().filter(|finding| finding.tool.as_deref() != Some("defect"));
        assert_eq!(others.count(), 0, "seed {number}: an untouched tool is blamed: {findings:?}");
        seeds += 1;
        // One subschema too many is told where it stands, somewhere below.
        let is_there = |pointer: &str| match seeded.kind {
            FindingKind::SubschemaLimit => pointer.starts_with(&seeded.pointer),
            _ => pointer == seeded.pointer,
        };
        let is_it = |finding: &Finding| finding.kind == seeded.kind && is_there(&finding.pointer);
        if findings.iter().any(is_it) {
            found += 1;
        } else {
            let said = findings.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
            let list = missed.entry(seeded.kind.as_str()).or_default();
            list.push(format!("seed {number} at {}: {said}", seeded.pointer));
        }
    }
    assert!(seeds >= 2_000, "only {seeds} defects were seeded");
    let rate = f64::from(found) / f64::from(seeds);
    assert!(rate >= 0.98, "{found} of {seeds} found: {missed:#?}");
}

type FindingName = &'static str;
