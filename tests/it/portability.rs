//! Portability as a host sees it: the rules on their page, and real catalogs where they are there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use callgate::{Catalog, Options, PROVIDERS, Portability, Provider, portability};
use serde_json::{Value, json};

fn provider(name: &str) -> Provider {
    Provider::named(name).unwrap_or_else(|| panic!("no provider {name}"))
}

/// `docs/portability.md` has a section for each provider, and there each rule in a row with its source.
#[test]
fn every_rule_is_documented_with_its_source() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/portability.md");
    let page = fs::read_to_string(path).expect("the page is read");
    for provider in PROVIDERS {
        let head = format!("\n### {}\n", provider.name());
        let (_, section) = page.split_once(&head).unwrap_or_else(|| panic!("no section {}", provider.name()));
        let section = section.split("\n### ").next().unwrap_or_default();
        assert!(section.contains(provider.about()), "{}", provider.name());
        for rule in provider.rules() {
            let start = format!("| `{}` | {} | ", rule.id(), rule.when());
            let end = format!("[{}]({}) |", rule.basis(), rule.source());
            let row = section.lines().find(|line| line.starts_with(&start) && line.ends_with(&end));
            assert!(row.is_some(), "{}[{}]", provider.name(), rule.id());
        }
    }
}

#[test]
fn the_facade_answers_as_the_compiler_does() {
    let tools = r#"{"tools": [{"name": "a.b", "inputSchema": {"type": "object"}}]}"#;
    let judged = portability(tools, &Options::default(), &[provider("anthropic"), provider("mcp")]).expect("a catalog");
    let objections: Vec<_> = judged.objections.iter().map(|objection| (objection.provider, objection.rule)).collect();
    let expected = [("anthropic", "tool_name"), ("anthropic", "tool_name_bedrock")];
    assert_eq!(objections, expected);
    assert_eq!(serde_json::to_value(&judged).expect("is data")["providers"][1]["accepted"], 1);
    let refused = portability("7", &Options::default(), &PROVIDERS).expect_err("no catalog");
    assert_eq!(refused.to_string(), Catalog::compile("7", &Options::default()).expect_err("none").to_string());
}

/// The tool in a plain form, and the table by which the host that it was sent to would have judged it.
fn sent(host: &str, tool: &Value) -> Option<(Value, &'static str)> {
    let inner = if tool["function"].is_object() { &tool["function"] } else { tool };
    let (schema, table) = match host {
        "api.openai.com" if inner["strict"] == true => (&inner["parameters"], "openai-strict"),
        "api.openai.com" => (&inner["parameters"], "openai"),
        "api.anthropic.com" => (&inner["input_schema"], "anthropic"),
        _ if !host.ends_with(".googleapis.com") => return None,
        _ if inner["parameters"].is_object() => (&inner["parameters"], "gemini"),
        _ => {
            let either = ["parametersJsonSchema", "parameters_json_schema"].iter().find_map(|name| inner.get(*name));
            (either?, "gemini-json-schema")
        }
    };
    schema.is_object().then(|| (json!([{"name": inner["name"], "parameters": schema}]), table))
}

/// Over the shared recordings: a tool that a provider has answered a request with is not refused by its table.
#[test]
#[allow(clippy::print_stdout)]
fn tools_that_providers_took_are_not_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/calls");
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("{} is not there: nothing is tested", folder.display());
        return;
    };
    let paths = entries.map(|entry| entry.expect("the entry is read").path());
    let mut judged: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for path in paths.filter(|path| path.extension().is_some_and(|of| of == "jsonl")) {
        let text = fs::read_to_string(path).expect("the file is UTF-8");
        for record in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let host = record["host"].as_str().unwrap_or_default();
            let tools = record["tools"].as_array().into_iter().flatten();
            for (tool, table) in tools.filter_map(|tool| sent(host, tool)) {
                judged.entry(table).or_default().insert(tool.to_string());
            }
        }
    }
    for (table, tools) in &judged {
        for tool in tools {
            let verdict = portability(tool, &Options::default(), &[provider(table)]).expect("a catalog");
            assert!(!verdict.refuses(), "{table}: {:?}", verdict.objections);
        }
    }
    let counts: BTreeMap<&str, usize> = judged.iter().map(|(table, tools)| (*table, tools.len())).collect();
    println!("{counts:?}");
    assert!(counts.values().sum::<usize>() > 200);
}

/// Over the shared catalogs: nothing panics, and each provider judges each tool.
#[test]
#[allow(clippy::print_stdout)]
fn real_catalogs_are_judged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/catalogs");
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("{} is not there: nothing is tested", folder.display());
        return;
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the entry is read").path()).collect();
    paths.sort();
    let mut sums: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|of| of == "json")) {
        let text = fs::read(path).expect("the file is read");
        let judged = portability(&text, &Options::default(), &PROVIDERS).expect("a catalog");
        let Portability { tools, providers, objections, unlisted } = judged;
        assert_eq!(unlisted, 0, "{}", path.display());
        for of in providers {
            assert_eq!(of.accepted + of.refused, tools, "{}", path.display());
            let sum = sums.entry(of.provider).or_default();
            *sum = (sum.0 + of.accepted, sum.1 + of.refused);
        }
        for objection in objections {
            let rest = text.get(objection.at..).unwrap_or_default();
            assert!(!rest.is_empty(), "{}: {objection:?}", path.display());
        }
    }
    println!("accepted and refused: {sums:?}");
    assert!(sums.values().all(|(accepted, refused)| accepted + refused > 3_000));
    // Other people's tools run with these clients and providers every day.
    for (provider, refused_max) in [("anthropic", 10), ("mcp", 10), ("openai", 20)] {
        assert!(sums[provider].1 <= refused_max, "{provider}");
    }
}
