//! Real catalogs and real calls, where the folder of them is there: `../shared/corpus` beside the repository. Nothing
//! needs it; without it each test says so and is done.
//!
//! The catalogs come without calls, so calls are made up from their schemas; `jsonschema` says which are right.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use callgate::{Catalog, Draft, Options, Session, Severity};
use serde_json::{Value, json};

use crate::alloc::nonzero;
use crate::instances;
use crate::peers::jsonschema_of;
use crate::random::Rng;
use crate::verdict::{Verdict, judge};

/// Tools whose schemas are in error, each looked at: catalog, tool, kind.
const IN_ERROR: [(&str, &str, &str); 0] = [];

/// Calls on which `jsonschema` and callgate differ, each looked at: part of the call's tool, why, and who is right.
const DIFFERENCES: [(&str, &str); 0] = [];

/// The folder, or a note that it is not there.
#[allow(clippy::print_stdout)]
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("{} is not there: nothing is tested", folder.display());
    None
}

/// Names and texts of the files with that ending, by name.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let entries =
        fs::read_dir(folder).expect("the folder is read").map(|entry| entry.expect("the entry is read").path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).expect("the file is UTF-8"))).collect()
}

#[allow(clippy::print_stdout)]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

// --- catalogs -----------------------------------------------------------------------------------------------------

#[test]
fn every_catalog_compiles() {
    let Some(folder) = corpus() else {
        return;
    };
    let mut counts = BTreeMap::new();
    let (mut tools, mut healthy, mut refused) = (0, 0, 0);
    for (name, text) in files(&folder.join("catalogs"), ".json") {
        let (catalog, report) = Catalog::compile(&text, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        (tools, healthy, refused) = (tools + report.tools, healthy + report.healthy, refused + report.refused);
        assert_eq!(catalog.tools().len(), report.tools, "{name}");
        for finding in &report.findings {
            *counts.entry(finding.kind.as_str()).or_insert(0) += 1;
            say(&format!("{name}: {finding}"));
            let tool = finding.tool.as_deref().unwrap_or("");
            let reviewed = IN_ERROR.contains(&(name.as_str(), tool, finding.kind.as_str()));
            assert!(finding.severity == Severity::Warning || reviewed, "{name}: {finding}");
        }
        for tool in catalog.tools() {
            let said = report.findings.iter().any(|finding| finding.tool.as_deref() == Some(tool.name()));
            assert!(tool.input().is_some() || said, "{name}: {} does not compile and nothing is said", tool.name());
        }
    }
    say(&format!("{tools} tools, {healthy} healthy, {refused} refused; findings: {counts:?}"));
    assert!(tools > 3_000);
}

#[test]
fn tools_without_an_error_compile_in_the_peer() {
    let Some(folder) = corpus() else {
        return;
    };
    let mut compiled = 0;
    for (name, text) in files(&folder.join("catalogs"), ".json") {
        let (catalog, report) = Catalog::compile(&text, &Options::default()).expect("a catalog");
        let in_error: Vec<_> = report.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
        let tools: Value = serde_json::from_str(&text).expect("JSON");
        for tool in tools["tools"].as_array().expect("a list") {
            let tool_name = tool["name"].as_str().expect("a name");
            if catalog.tool(tool_name).is_none() || in_error.iter().any(|f| f.tool.as_deref() == Some(tool_name)) {
                continue;
            }
            for schema in [tool.get("inputSchema"), tool.get("outputSchema")].into_iter().flatten() {
                let peer = jsonschema::validator_for(schema);
                assert!(peer.is_ok(), "{name}: {tool_name}: {:?}", peer.err());
                compiled += 1;
            }
        }
    }
    say(&format!("{compiled} schemas without an error compile in jsonschema too"));
}

#[test]
fn every_tool_of_the_providers_compiles() {
    let Some(folder) = corpus() else {
        return;
    };
    let text = fs::read_to_string(folder.join("provider_tools.jsonl")).expect("the file is read");
    let (catalog, report) = Catalog::compile(&text, &Options::default()).expect("a catalog");
    assert_eq!(catalog.tools().len(), text.lines().count());
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "{:?}", report.findings);
    report.findings.iter().for_each(|finding| say(&finding.to_string()));
}

/// Recordings and the leaderboard's files are catalogs too: of the tools that were sent, or of calls alone.
#[test]
fn every_record_is_read() {
    let Some(folder) = corpus() else {
        return;
    };
    let folder = folder.join("calls");
    for (name, text) in files(&folder, ".json").into_iter().chain(files(&folder, ".jsonl")) {
        let (catalog, report) = Catalog::compile(&text, &Options::default()).expect("a catalog");
        let others: Vec<_> = report.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
        assert!(others.iter().all(|finding| finding.detail.starts_with("a call and no tool")), "{name}: {others:?}");
        assert!(catalog.tools().len() > 0 || others.len() == text.lines().count(), "{name}");
        say(&format!("{name}: {} tools, {} calls alone", catalog.tools().len(), others.len()));
    }
}

// --- recorded calls -----------------------------------------------------------------------------------------------

fn record(line: &str) -> Value {
    serde_json::from_str(line).expect("a record is JSON")
}

fn is_in_scope(record: &Value) -> bool {
    let dialect = record["dialect"].as_str().unwrap_or("");
    ["openai-chat", "openai-responses", "anthropic"].contains(&dialect)
        || record["catalog"].as_str().is_some_and(|file| file.starts_with("tau_bench"))
}

/// The record's tools, as text of a catalog.
fn tools_of(folder: &Path, record: &Value) -> String {
    match record["catalog"].as_str() {
        Some(file) => fs::read_to_string(folder.join("calls").join(file)).expect("the catalog is read"),
        None => record["tools"].to_string(),
    }
}

/// The schema of the tool's arguments, whichever provider's form it has.
fn schema_of(tools: &Value, name: &str) -> Option<Value> {
    let tools = tools.as_array()?.iter();
    let inner = tools.map(|tool| if tool["function"].is_object() { &tool["function"] } else { tool });
    let tool = inner.into_iter().find(|tool| tool["name"] == name)?;
    let schema = ["parameters", "input_schema", "inputSchema"].iter().find_map(|key| tool.get(*key).cloned());
    Some(schema.filter(|schema| !schema.is_null()).unwrap_or_else(|| json!({})))
}

/// Why a difference is none, if it is listed.
fn difference(tool: &str) -> Option<&'static str> {
    DIFFERENCES.iter().find(|(part, _)| tool.contains(part)).map(|(_, reason)| *reason)
}

#[test]
fn recorded_calls_get_verdicts() {
    let Some(folder) = corpus() else {
        return;
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (file, text) in files(&folder.join("calls"), ".jsonl") {
        for record in text.lines().map(record).filter(is_in_scope) {
            let outcome = recorded_call(&folder, &record);
            *counts.entry(format!("{file}: {outcome}")).or_default() += 1;
        }
    }
    for (what, count) in &counts {
        say(&format!("{count:>5} {what}"));
    }
    assert!(counts.values().sum::<usize>() > 1_000);
}

/// Checks one recorded call; answers what became of it.
fn recorded_call(folder: &Path, record: &Value) -> String {
    let tools = tools_of(folder, record);
    let (name, arguments) = (record["name"].as_str().unwrap_or(""), record["arguments_raw"].as_str().unwrap_or(""));
    let (catalog, _) = Catalog::compile(&tools, &Options::default()).unwrap_or_else(|e| panic!("{e}: {tools}"));
    let mut session = Session::new();
    let verdict = Verdict::from(catalog.check(&mut session, name, arguments));
    let tools: Value = serde_json::from_str(&tools).expect("the tools are JSON");
    let Some(schema) = schema_of(&tools, name) else {
        assert_eq!(verdict, Verdict::UnknownTool, "{name}");
        return "unknown tool".to_owned();
    };
    let Ok(value) = serde_json::from_str::<Value>(arguments) else {
        assert!(["not_json", "duplicate_member"].contains(&verdict.code()), "{arguments}: {verdict:?}");
        return "not JSON".to_owned();
    };
    let peer = jsonschema_of(Draft::D2020, &schema).map(|validator| validator.is_valid(&value));
    let agrees = peer.is_none_or(|valid| valid == verdict.is_accepted());
    assert!(agrees || difference(name).is_some(), "{name}: {verdict:?}, jsonschema {peer:?}\n{schema}\non {arguments}");
    match verdict {
        Verdict::Accepted => "accepted".to_owned(),
        Verdict::Rejected(..) => format!("rejected for {}", verdict.code()),
        other => panic!("{name}: {other:?}"),
    }
}

// --- calls made up ------------------------------------------------------------------------------------------------

/// Attempts to make an accepted call.
const ATTEMPTS: u64 = 60;

/// Calls of one tool, made up: such that `jsonschema` takes and such that it does not.
#[derive(Default)]
pub(crate) struct Calls {
    accepted: Vec<Value>,
    rejected: Vec<Value>,
}

impl Calls {
    /// Each with whether it is accepted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Value, bool)> {
        let accepted = self.accepted.iter().map(|call| (call, true));
        accepted.chain(self.rejected.iter().map(|call| (call, false)))
    }
}

fn calls_of(schema: &Value, seed: u64) -> Option<Calls> {
    let validator = jsonschema_of(Draft::D2020, schema)?;
    let mut calls = Calls::default();
    let mut rng = Rng::new(seed);
    for _ in 0..ATTEMPTS {
        if calls.accepted.len() >= 2 && calls.rejected.len() >= 2 {
            break;
        }
        let call = instances::fitting(&mut rng, schema);
        let call = if calls.accepted.len() < 2 { call } else { instances::changed(&mut rng, &call) };
        let kept = if validator.is_valid(&call) { &mut calls.accepted } else { &mut calls.rejected };
        if kept.len() < 2 && !kept.contains(&call) {
            kept.push(call);
        }
    }
    Some(calls)
}

/// Walks all tools of all catalogs with calls made up for them.
pub(crate) fn each_tool(folder: &Path, mut visit: impl FnMut(&str, &Catalog, &str, &Value, &Calls)) {
    for (file, text) in files(&folder.join("catalogs"), ".json") {
        let (catalog, _) = Catalog::compile(&text, &Options::default()).unwrap_or_else(|e| panic!("{file}: {e}"));
        let parsed: Value = serde_json::from_str(&text).expect("the catalog is JSON");
        for (at, tool) in parsed["tools"].as_array().into_iter().flatten().enumerate() {
            let name = tool["name"].as_str().unwrap_or("");
            if let Some(calls) = calls_of(&tool["inputSchema"], at as u64) {
                visit(&file, &catalog, name, &tool["inputSchema"], &calls);
            }
        }
    }
}

#[test]
fn made_up_calls_are_judged_as_by_the_peer() {
    let Some(folder) = corpus() else {
        return;
    };
    let (mut tools, mut accepted, mut rejected) = (0, 0, 0);
    let mut without = Vec::new();
    each_tool(&folder, |file, catalog, name, schema, calls| {
        tools += 1;
        if calls.accepted.is_empty() {
            without.push(format!("{file}: {name}"));
        }
        let mut session = catalog.session(4_096);
        for (call, valid) in calls.iter() {
            let text = call.to_string();
            let verdict = Verdict::from(catalog.check(&mut session, name, text.as_str()));
            let agrees = verdict.is_accepted() == valid || difference(name).is_some();
            assert!(agrees, "{file}: {name}: {verdict:?}, jsonschema {valid}\n{schema}\non {text}");
            assert_eq!(Verdict::from(catalog.check(&mut session, name, call)), verdict, "{file}: {name}: {text}");
            if valid { accepted += 1 } else { rejected += 1 }
        }
    });
    say(&format!("{tools} tools, {accepted} accepted calls, {rejected} rejected"));
    // Its one required member has an `enum` without values: nothing satisfies it.
    assert_eq!(without, ["netlify: netlify-coding-rules"], "tools without an accepted call");
}

#[test]
fn made_up_results_are_judged_as_by_the_peer() {
    let Some(folder) = corpus() else {
        return;
    };
    let (mut accepted, mut rejected) = (0, 0);
    for (file, text) in files(&folder.join("catalogs"), ".json") {
        let (catalog, _) = Catalog::compile(&text, &Options::default()).unwrap_or_else(|e| panic!("{file}: {e}"));
        let parsed: Value = serde_json::from_str(&text).expect("the catalog is JSON");
        for tool in parsed["tools"].as_array().into_iter().flatten() {
            let name = tool["name"].as_str().unwrap_or("");
            let Some(schema) = catalog.tool(name).and_then(|tool| tool.output()) else {
                assert!(tool["outputSchema"].is_null(), "{file}: {name} has results that cannot be judged");
                continue;
            };
            for (result, valid) in calls_of(&tool["outputSchema"], 7).unwrap_or_default().iter() {
                let verdict = judge(schema, result);
                assert_eq!(verdict.is_accepted(), valid, "{file}: {name}: {verdict:?} on {result}");
                if valid { accepted += 1 } else { rejected += 1 }
            }
        }
    }
    say(&format!("{accepted} accepted results, {rejected} rejected"));
}

// --- allocations --------------------------------------------------------------------------------------------------

/// Tools with patterns that look around or back: the listed exceptions.
const EXCEPTED: [(&str, &str); 1] = [("postman", "getWorkspace")];

#[test]
fn no_call_of_the_corpus_allocates() {
    let Some(folder) = corpus() else {
        return;
    };
    let (mut cells, mut found) = (0, Vec::new());
    let mut count = |file: &str, catalog: &Catalog, name: &str, text: &str| {
        cells += 2;
        if !EXCEPTED.contains(&(file, name)) {
            found.extend(nonzero(catalog, text.len(), name, text).into_iter().map(|cell| format!("{file}: {cell}")));
        }
    };
    each_tool(&folder, |file, catalog, name, _, calls| {
        for (call, _) in calls.iter() {
            count(file, catalog, name, &call.to_string());
        }
    });
    for (file, text) in files(&folder.join("calls"), ".jsonl") {
        for record in text.lines().map(record).filter(is_in_scope) {
            let (catalog, _) = Catalog::compile(tools_of(&folder, &record), &Options::default()).expect("is a catalog");
            let name = record["name"].as_str().unwrap_or("");
            count(&file, &catalog, name, record["arguments_raw"].as_str().unwrap_or(""));
        }
    }
    for cell in &found {
        say(cell);
    }
    assert!(found.is_empty(), "{} cells of {cells} are not zero; they are listed above", found.len());
    say(&format!("{cells} cells, all zero"));
}

#[test]
fn exceptions_are_those_that_backtrack() {
    let Some(folder) = corpus() else {
        return;
    };
    let mut named = Vec::new();
    for (file, text) in files(&folder.join("catalogs"), ".json") {
        let (_, report) = Catalog::compile(&text, &Options::default()).expect("is a catalog");
        let backtracking = report.findings.into_iter().filter(|finding| finding.kind.as_str() == "pattern_backtracks");
        named.extend(backtracking.map(|finding| (file.clone(), finding.tool.unwrap_or_default())));
    }
    named.dedup();
    let named: Vec<_> = named.iter().map(|(file, tool)| (file.as_str(), tool.as_str())).collect();
    assert_eq!(named, EXCEPTED);
}
