//! Recorded calls and real catalogs, where they are at hand: a set for each recording, with the schemas of its calls'
//! tools, and one set of schemas from the catalogs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Call, Case, Judges, Set, corpus, files};

/// Of the catalogs' tools every n-th is compiled: some two hundred.
const TOOLS_STEP: usize = 20;

/// Most calls that one tool has in a set, so that no set is one tool alone.
const CALLS_MAX: usize = 200;

pub(super) fn sets() -> Vec<Set> {
    let folder = corpus().join("calls");
    let paths = files(&folder, "jsonl");
    if paths.is_empty() {
        println!("no recorded calls at hand: only the sets of this repository are measured");
    }
    paths.iter().map(|path| set(&folder, path)).collect()
}

/// The calls of one recording, by tool. Without those whose schema one of the validators does not take.
fn set(folder: &Path, path: &Path) -> Set {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut cases: BTreeMap<String, Option<Case>> = BTreeMap::new();
    let mut catalogs = BTreeMap::new();
    for record in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let Some((name, arguments)) = record["name"].as_str().zip(record["arguments_raw"].as_str()) else {
            continue;
        };
        let call = Call::read(arguments).filter(|call| call.value.is_object());
        let schema = tools_of(&record, folder, &mut catalogs).and_then(|tools| schema_of(&tools, name));
        if let Some((schema, call)) = schema.zip(call) {
            let case = cases.entry(format!("{name} {schema}")).or_insert_with(|| taken(schema));
            case.iter_mut().filter(|case| case.calls.len() < CALLS_MAX).for_each(|case| case.calls.push(call.clone()));
        }
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Set::new(name, cases.into_values().flatten().collect())
}

/// The schema with no calls yet, if all validators take it.
fn taken(schema: Value) -> Option<Case> {
    Some(Case::new(schema, [])).filter(|case| Judges::new(case).is_some())
}

/// The tools that the caller had: in the record itself, or in a file. One kind of file has them in a dialect that is not
/// JSON Schema; it is left out.
fn tools_of(record: &Value, folder: &Path, catalogs: &mut BTreeMap<String, Value>) -> Option<Value> {
    let Some(file) = record["catalog"].as_str() else {
        return Some(record["tools"].clone());
    };
    if record["catalog_key"].is_string() {
        return None;
    }
    let read = || fs::read_to_string(folder.join(file)).ok().and_then(|text| serde_json::from_str(&text).ok());
    Some(catalogs.entry(file.to_owned()).or_insert_with(|| read().unwrap_or_default()).clone())
}

/// The tool's schema, in the shapes of `OpenAI` and Anthropic.
fn schema_of(tools: &Value, name: &str) -> Option<Value> {
    let unwrap = |tool: &'static str| move |of: &Value| of[tool].clone();
    let function = unwrap("function");
    let plain = |tool: &Value| if tool["function"].is_object() { function(tool) } else { tool.clone() };
    let tool = tools.as_array()?.iter().map(plain).find(|tool| tool["name"] == name)?;
    let schemas = ["parameters", "input_schema", "inputSchema"].map(|key| tool[key].clone());
    schemas.into_iter().find(Value::is_object)
}

/// Schemas of real tools, for compiling alone.
pub(super) fn catalogs() -> Option<Set> {
    let texts = files(&corpus().join("catalogs"), "json").into_iter().filter_map(|path| fs::read_to_string(path).ok());
    let catalogs = texts.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
    let tools: Vec<Value> =
        catalogs.flat_map(|catalog| catalog["tools"].as_array().cloned().unwrap_or_default()).collect();
    let schemas = tools.iter().step_by(TOOLS_STEP).map(|tool| tool["inputSchema"].clone());
    let cases: Vec<Case> = schemas.filter_map(taken).collect();
    (!cases.is_empty()).then(|| Set::new("catalogs", cases))
}
