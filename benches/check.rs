//! How long compiling and checking take beside two other validators, in one process.
//!
//! A *set* is a list of schemas with calls that satisfy them. Each is measured whole, so that a number is the time of
//! all its calls; what is printed at the end are ratios, since the machines are not alike. Sets are the example catalog
//! with calls written here, and, where the recorded calls are at hand, those of each recording.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // a bench prints, and its counts are small

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use callgate::{Options, Outcome, Schema};
use criterion::{BenchmarkId, Criterion};
use serde_json::Value;

/// A schema and calls that satisfy it.
struct Case {
    schema: Value,
    calls: Vec<String>,
}

/// Cases measured together.
struct Set {
    name: String,
    cases: Vec<Case>,
}

fn main() {
    let sets = sets();
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1_200))
        .sample_size(20)
        .configure_from_args();
    for set in &sets {
        compile(&mut criterion, set);
        accepted_value(&mut criterion, set);
        accepted_bytes(&mut criterion, set);
        rejected_bytes(&mut criterion, set);
    }
    criterion.final_summary();
    print_ratios(&sets);
}

// --- measuring -----------------------------------------------------------------------------------------------

fn compile(criterion: &mut Criterion, set: &Set) {
    let mut group = criterion.benchmark_group("compile");
    let texts: Vec<String> = set.cases.iter().map(|case| case.schema.to_string()).collect();
    group.bench_function(BenchmarkId::new("callgate", &set.name), |bencher| {
        bencher.iter(|| {
            for text in &texts {
                let _ = black_box(Schema::compile(black_box(text), &Options::default()));
            }
        });
    });
    group.bench_function(BenchmarkId::new("jsonschema", &set.name), |bencher| {
        bencher.iter(|| {
            for case in &set.cases {
                let _ = black_box(jsonschema::validator_for(black_box(&case.schema)));
            }
        });
    });
    group.bench_function(BenchmarkId::new("boon", &set.name), |bencher| {
        bencher.iter(|| set.cases.iter().for_each(|case| drop(black_box(boon_of(&case.schema)))));
    });
    group.finish();
}

fn accepted_value(criterion: &mut Criterion, set: &Set) {
    let mut group = criterion.benchmark_group("accepted_value");
    let values: Vec<Vec<Value>> = set.cases.iter().map(|case| case.calls.iter().map(|c| parse(c)).collect()).collect();
    let schemas = schemas(set);
    let mut session = schemas[0].session(1 << 16);
    group.bench_function(BenchmarkId::new("callgate", &set.name), |bencher| {
        bencher.iter(|| {
            for (schema, values) in schemas.iter().zip(&values) {
                for value in values {
                    assert!(schema.check(&mut session, black_box(value)).is_accepted());
                }
            }
        });
    });
    let validators: Vec<_> = set.cases.iter().map(|case| jsonschema_of(&case.schema)).collect();
    group.bench_function(BenchmarkId::new("jsonschema", &set.name), |bencher| {
        bencher.iter(|| {
            for (validator, values) in validators.iter().zip(&values) {
                for value in values {
                    assert!(validator.is_valid(black_box(value)));
                }
            }
        });
    });
    let validators: Vec<_> = set.cases.iter().map(|case| boon_of(&case.schema)).collect();
    group.bench_function(BenchmarkId::new("boon", &set.name), |bencher| {
        bencher.iter(|| {
            for ((schemas, index), values) in validators.iter().zip(&values) {
                for value in values {
                    assert!(schemas.validate(black_box(value), *index).is_ok());
                }
            }
        });
    });
    group.finish();
}

fn accepted_bytes(criterion: &mut Criterion, set: &Set) {
    let mut group = criterion.benchmark_group("accepted_bytes");
    let schemas = schemas(set);
    let mut session = schemas[0].session(1 << 16);
    group.bench_function(BenchmarkId::new("callgate", &set.name), |bencher| {
        bencher.iter(|| {
            for (schema, case) in schemas.iter().zip(&set.cases) {
                for call in &case.calls {
                    assert!(schema.check(&mut session, black_box(call.as_bytes())).is_accepted());
                }
            }
        });
    });
    let validators: Vec<_> = set.cases.iter().map(|case| jsonschema_of(&case.schema)).collect();
    group.bench_function(BenchmarkId::new("jsonschema", &set.name), |bencher| {
        bencher.iter(|| {
            for (validator, case) in validators.iter().zip(&set.cases) {
                for call in &case.calls {
                    assert!(validator.is_valid(&parse(black_box(call))));
                }
            }
        });
    });
    let validators: Vec<_> = set.cases.iter().map(|case| boon_of(&case.schema)).collect();
    group.bench_function(BenchmarkId::new("boon", &set.name), |bencher| {
        bencher.iter(|| {
            for ((schemas, index), case) in validators.iter().zip(&set.cases) {
                for call in &case.calls {
                    assert!(schemas.validate(&parse(black_box(call)), *index).is_ok());
                }
            }
        });
    });
    group.finish();
}

/// Each call with a list in place of its first member's value; calls that still satisfy the schema are left out.
fn rejected_bytes(criterion: &mut Criterion, set: &Set) {
    let mut group = criterion.benchmark_group("rejected_bytes");
    let schemas = schemas(set);
    let mut session = schemas[0].session(1 << 16);
    let validators: Vec<_> = set.cases.iter().map(|case| jsonschema_of(&case.schema)).collect();
    let calls: Vec<Vec<String>> = set
        .cases
        .iter()
        .zip(&validators)
        .map(|(case, validator)| {
            case.calls.iter().filter_map(|call| broken(call)).filter(|call| !validator.is_valid(&parse(call))).collect()
        })
        .collect();
    let mut line = String::with_capacity(1 << 16);
    group.bench_function(BenchmarkId::new("callgate", &set.name), |bencher| {
        bencher.iter(|| {
            for (schema, calls) in schemas.iter().zip(&calls) {
                for call in calls {
                    line.clear();
                    match schema.check(&mut session, black_box(call.as_bytes())) {
                        Outcome::Rejected(rejection) => {
                            let written = rejection.write_line(&mut line, callgate::PREFIX);
                            assert!(written.is_ok());
                        }
                        other => panic!("{other:?}"),
                    }
                    black_box(&line);
                }
            }
        });
    });
    group.bench_function(BenchmarkId::new("jsonschema", &set.name), |bencher| {
        bencher.iter(|| {
            for (validator, calls) in validators.iter().zip(&calls) {
                for call in calls {
                    let value = parse(black_box(call));
                    let error = validator.validate(&value).map_err(|error| error.to_string());
                    black_box(error).expect_err("the call was broken");
                }
            }
        });
    });
    group.finish();
}

fn broken(call: &str) -> Option<String> {
    let mut value = parse(call);
    let (_, first) = value.as_object_mut()?.iter_mut().next()?;
    *first = serde_json::json!([[1]]);
    Some(value.to_string())
}

// --- peers ---------------------------------------------------------------------------------------------------

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the calls are JSON")
}

fn schemas(set: &Set) -> Vec<Schema> {
    let compile = |case: &Case| Schema::compile(case.schema.to_string(), &Options::default()).expect("it compiles").0;
    set.cases.iter().map(compile).collect()
}

fn jsonschema_of(schema: &Value) -> jsonschema::Validator {
    jsonschema::validator_for(schema).expect("it compiles there too")
}

fn boon_of(schema: &Value) -> (boon::Schemas, boon::SchemaIndex) {
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("schema.json", schema.clone()).expect("a resource");
    let index = compiler.compile("schema.json", &mut schemas).expect("it compiles there too");
    (schemas, index)
}

// --- data ----------------------------------------------------------------------------------------------------

fn sets() -> Vec<Set> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sets = vec![example_set(root)];
    let recordings = root.join("../shared/corpus/calls");
    if let Ok(entries) = fs::read_dir(&recordings) {
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let jsonl = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        sets.extend(jsonl.filter_map(|path| recorded_set(&recordings, path)));
    } else {
        println!("no recorded calls at hand: only the example catalog is measured");
    }
    sets
}

/// The example catalog, with calls as a model makes them.
fn example_set(root: &Path) -> Set {
    let text = fs::read_to_string(root.join("examples/library.json")).expect("the example is there");
    let catalog = parse(&text);
    let calls: BTreeMap<&str, &[&str]> = BTreeMap::from([
        (
            "search_catalogue",
            &[
                r#"{"query": "tides of the north", "fields": ["title", "subject"], "published": {"from": 1950, "to": 1999}, "limit": 10, "seed": null}"#,
                r#"{"query": "lighthouses"}"#,
            ][..],
        ),
        (
            "reserve_book",
            &[
                r#"{"member_id": "M000042", "isbn": "9780306406157", "pick_up": {"date": "2026-03-01", "branch": "harbour"}, "notify": {"by": "text", "number": "+4915112345678"}}"#,
            ][..],
        ),
        (
            "pay_fine",
            &[
                r#"{"member_id": "M000042", "amount": 12.35, "method": "card"}"#,
                r#"{"member_id": "M000042", "amount": 4, "method": "account", "iban": "DE02120300000000202051"}"#,
            ][..],
        ),
        (
            "move_shelf",
            &[
                r#"{"shelf": {"label": "A1", "inside": [{"label": "A1a"}, {"label": "A1b", "inside": [{"label": "x"}]}]}, "into": "Maritime"}"#,
            ][..],
        ),
        ("opening_hours", &["{}"][..]),
    ]);
    let tools = catalog["tools"].as_array().expect("a list of tools");
    let case = |tool: &Value| Case {
        schema: tool["inputSchema"].clone(),
        calls: calls[tool["name"].as_str().unwrap_or_default()].iter().map(|call| (*call).to_owned()).collect(),
    };
    Set { name: "library".to_owned(), cases: tools.iter().map(case).collect() }
}

/// The accepted calls of one recording, by tool. `None` where its tools are of a shape that is not read.
fn recorded_set(folder: &Path, path: &Path) -> Option<Set> {
    let text = fs::read_to_string(path).ok()?;
    let mut cases: BTreeMap<String, Case> = BTreeMap::new();
    let mut catalogs: BTreeMap<String, Value> = BTreeMap::new();
    for line in text.lines() {
        let record = parse(line);
        let Some((name, arguments)) = record["name"].as_str().zip(record["arguments_raw"].as_str()) else {
            continue;
        };
        let tools = match record["catalog"].as_str() {
            Some(_) if record["catalog_key"].is_string() => continue,
            Some(file) => catalogs
                .entry(file.to_owned())
                .or_insert_with(|| fs::read_to_string(folder.join(file)).map_or(Value::Null, |text| parse(&text)))
                .clone(),
            None => record["tools"].clone(),
        };
        let Some(schema) = tools.as_array().and_then(|tools| tools.iter().find_map(|tool| schema_of(tool, name)))
        else {
            continue;
        };
        let usable = serde_json::from_str::<Value>(arguments).ok().as_ref().is_some_and(Value::is_object);
        let accepted = usable
            && Schema::compile(schema.to_string(), &Options::default())
                .is_ok_and(|(schema, _)| schema.check(&mut schema.session(1024), arguments).is_accepted())
            && jsonschema::validator_for(&schema).is_ok_and(|validator| validator.is_valid(&parse(arguments)));
        if accepted {
            let key = format!("{name} {schema}");
            cases.entry(key).or_insert_with(|| Case { schema, calls: Vec::new() }).calls.push(arguments.to_owned());
        }
    }
    let name = path.file_stem()?.to_string_lossy().into_owned();
    (!cases.is_empty()).then(|| Set { name, cases: cases.into_values().collect() })
}

/// The tool's schema, in the shapes of OpenAI and Anthropic.
fn schema_of(tool: &Value, name: &str) -> Option<Value> {
    let tool = if tool["function"].is_object() { &tool["function"] } else { tool };
    (tool["name"] == name).then_some(())?;
    ["parameters", "input_schema", "inputSchema"]
        .iter()
        .map(|key| &tool[key])
        .find(|schema| schema.is_object())
        .cloned()
}

// --- ratios --------------------------------------------------------------------------------------------------

fn print_ratios(sets: &[Set]) {
    println!("\nHow many times as fast as its peer callgate is; above 1 is faster.");
    println!("{:<16} {:<12} {:>10}   by set", "group", "peer", "geo. mean");
    for group in ["compile", "accepted_value", "accepted_bytes", "rejected_bytes"] {
        for peer in ["jsonschema", "boon"] {
            let ratios: Vec<(f64, &str)> = sets
                .iter()
                .filter_map(|set| {
                    Some((median(group, peer, &set.name)? / median(group, "callgate", &set.name)?, set.name.as_str()))
                })
                .collect();
            if ratios.is_empty() {
                continue;
            }
            let mean = (ratios.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            let each: Vec<String> = ratios.iter().map(|(ratio, name)| format!("{name} {ratio:.2}")).collect();
            println!("{group:<16} {peer:<12} {mean:>10.2}   {}", each.join(", "));
        }
    }
}

/// The median that criterion has just written down. Unit: nanoseconds.
fn median(group: &str, peer: &str, set: &str) -> Option<f64> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), std::path::PathBuf::from);
    let file = target.join("criterion").join(group).join(peer).join(set).join("new/estimates.json");
    let estimates: Value = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}
