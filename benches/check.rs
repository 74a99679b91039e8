//! How long compiling and checking take beside two other validators, in one process.
//!
//! ```text
//! sets ─► group × who × set, timed by criterion ─► ratios, printed; measured.json, for `cargo xtask bench`
//! ```
//!
//! Beside the validators stand limits: two readers of JSON that keep nothing, and a walk that only looks at a value.
//! Three environment variables change how long it takes: `CALLGATE_BENCH_WARM_UP_MS`, `CALLGATE_BENCH_MEASURE_MS` and
//! `CALLGATE_BENCH_SAMPLES`.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // a bench prints, and its counts are small

mod results;
mod sets;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::time::Duration;

use callgate::{Options, Outcome, Schema, Session};
use criterion::{BenchmarkId, Criterion};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use sets::{GROUPS, Set};

fn main() {
    let sets = sets::all();
    let mut bench = Bench::new();
    for set in &sets.schemas {
        compile(&mut bench, set);
    }
    for set in &sets.accepted {
        accepted_value(&mut bench, set);
        accepted_bytes(&mut bench, set);
    }
    for set in &sets.rejected {
        rejected(&mut bench, set);
    }
    bench.criterion.final_summary();
    let measured = bench.measured();
    print_ratios(&measured);
    write(&measured);
}

// --- measuring -----------------------------------------------------------------------------------------------

/// Criterion, and what it was made to measure in this run.
struct Bench {
    criterion: Criterion,
    ran: RefCell<BTreeMap<(&'static str, String, &'static str), usize>>,
}

impl Bench {
    fn new() -> Bench {
        let criterion = Criterion::default()
            .warm_up_time(Duration::from_millis(setting("CALLGATE_BENCH_WARM_UP_MS", 100)))
            .measurement_time(Duration::from_millis(setting("CALLGATE_BENCH_MEASURE_MS", 500)))
            .sample_size(setting("CALLGATE_BENCH_SAMPLES", 30) as usize)
            // For criterion's own report alone: quartiles are of the samples, and need no resampling.
            .nresamples(2_000)
            .without_plots()
            .configure_from_args();
        Bench { criterion, ran: RefCell::default() }
    }

    /// Times one pass over a set.
    fn time(&mut self, group: &'static str, who: &'static str, set: &Set, mut pass: impl FnMut()) {
        let ran = &self.ran;
        let mut criterion_group = self.criterion.benchmark_group(group);
        criterion_group.bench_function(BenchmarkId::new(who, &set.name), |bencher| {
            ran.borrow_mut().insert((group, set.name.clone(), who), set.len());
            bencher.iter(&mut pass);
        });
        criterion_group.finish();
    }

    fn measured(&self) -> Vec<Measured> {
        let ran = self.ran.borrow();
        let read = |((group, set, who), len): (&(&'static str, String, &'static str), &usize)| {
            let [low, median, high] = quartiles(group, who, set)?;
            Some(Measured { group, set: set.clone(), who, len: *len, low, median, high })
        };
        ran.iter().filter_map(read).collect()
    }
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn compile(bench: &mut Bench, set: &Set) {
    bench.time("compile", "callgate", set, || {
        for case in &set.cases {
            let _ = black_box(Schema::compile(black_box(&case.text), &Options::default()));
        }
    });
    bench.time("compile", "jsonschema", set, || {
        for case in &set.cases {
            let _ = black_box(jsonschema::validator_for(black_box(&case.value)));
        }
    });
    bench.time("compile", "boon", set, || {
        for case in &set.cases {
            black_box(sets::boon_of(black_box(&case.value)));
        }
    });
}

fn accepted_value(bench: &mut Bench, set: &Set) {
    const GROUP: &str = "accepted_value";
    let compiled = Compiled::new(set);
    let mut session = compiled.session();
    bench.time(GROUP, "callgate", set, || {
        for (schema, call) in compiled.callgate.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            assert!(schema.check(&mut session, black_box(&call.value)).is_accepted());
        }
    });
    bench.time(GROUP, "jsonschema", set, || {
        for (validator, call) in compiled.jsonschema.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            assert!(validator.is_valid(black_box(&call.value)));
        }
    });
    bench.time(GROUP, "boon", set, || {
        for ((schemas, index), call) in compiled.boon.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            assert!(schemas.validate(black_box(&call.value), *index).is_ok());
        }
    });
    bench.time(GROUP, "walk", set, || {
        for call in set.cases.iter().flat_map(|case| &case.calls) {
            black_box(walk(black_box(&call.value)));
        }
    });
}

fn accepted_bytes(bench: &mut Bench, set: &Set) {
    const GROUP: &str = "accepted_bytes";
    let compiled = Compiled::new(set);
    let mut session = compiled.session();
    bench.time(GROUP, "callgate", set, || {
        for (schema, call) in compiled.callgate.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            assert!(schema.check(&mut session, black_box(call.text.as_bytes())).is_accepted());
        }
    });
    bench.time(GROUP, "jsonschema", set, || {
        for (validator, call) in compiled.jsonschema.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            assert!(validator.is_valid(&parse(&call.text)));
        }
    });
    bench.time(GROUP, "boon", set, || {
        for ((schemas, index), call) in compiled.boon.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            assert!(schemas.validate(&parse(&call.text), *index).is_ok());
        }
    });
    bench.time(GROUP, "serde_json", set, || {
        for call in set.cases.iter().flat_map(|case| &case.calls) {
            assert!(serde_json::from_slice::<IgnoredAny>(black_box(call.text.as_bytes())).is_ok());
        }
    });
    bench.time(GROUP, "sonic_rs", set, || {
        for call in set.cases.iter().flat_map(|case| &case.calls) {
            assert!(sonic_rs::from_slice::<IgnoredAny>(black_box(call.text.as_bytes())).is_ok());
        }
    });
}

/// Both forms of rejected calls, each with its line or text rendered.
fn rejected(bench: &mut Bench, set: &Set) {
    let compiled = Compiled::new(set);
    let mut session = compiled.session();
    let mut line = String::with_capacity(1 << 16);
    bench.time("rejected_value", "callgate", set, || {
        for (schema, call) in compiled.callgate.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            render(&schema.check(&mut session, black_box(&call.value)), &mut line);
        }
    });
    bench.time("rejected_bytes", "callgate", set, || {
        for (schema, call) in compiled.callgate.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            render(&schema.check(&mut session, black_box(call.text.as_bytes())), &mut line);
        }
    });
    let by_jsonschema = |validator: &jsonschema::Validator, value: &Value| {
        let text = validator.validate(value).map_err(|error| error.to_string());
        black_box(text).expect_err("the call is broken");
    };
    bench.time("rejected_value", "jsonschema", set, || {
        for (validator, call) in compiled.jsonschema.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            by_jsonschema(validator, black_box(&call.value));
        }
    });
    bench.time("rejected_bytes", "jsonschema", set, || {
        for (validator, call) in compiled.jsonschema.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            by_jsonschema(validator, &parse(&call.text));
        }
    });
    let by_boon = |(schemas, index): &(boon::Schemas, boon::SchemaIndex), value: &Value| {
        let text = schemas.validate(value, *index).map_err(|error| error.to_string());
        black_box(text).expect_err("the call is broken");
    };
    bench.time("rejected_value", "boon", set, || {
        for (boon, call) in compiled.boon.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            by_boon(boon, black_box(&call.value));
        }
    });
    bench.time("rejected_bytes", "boon", set, || {
        for (boon, call) in compiled.boon.iter().zip(&set.cases).flat_map(|(s, case)| with(s, case)) {
            by_boon(boon, &parse(&call.text));
        }
    });
}

/// Renders the line into memory that is used again and again, as a host would.
fn render(outcome: &Outcome<'_>, line: &mut String) {
    let Outcome::Rejected(rejection) = outcome else { panic!("the call is broken: {outcome:?}") };
    line.clear();
    rejection.write_line(line, callgate::PREFIX).expect("a string takes every write");
    black_box(line.as_str());
}

fn parse(text: &str) -> Value {
    serde_json::from_str(black_box(text)).expect("the calls are JSON")
}

/// Looks at every node of a value, and at nothing twice: what no judging of values can be faster than.
fn walk(value: &Value) -> usize {
    match value {
        Value::Null => 1,
        Value::Bool(flag) => usize::from(*flag),
        Value::Number(number) => usize::from(number.is_f64()),
        Value::String(text) => text.len(),
        Value::Array(elements) => elements.iter().map(walk).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + walk(value)).sum(),
    }
}

/// The schemas of a set in callgate and in the peers, in the order of its cases.
struct Compiled {
    callgate: Vec<Schema>,
    jsonschema: Vec<jsonschema::Validator>,
    boon: Vec<(boon::Schemas, boon::SchemaIndex)>,
}

impl Compiled {
    fn new(set: &Set) -> Compiled {
        let taken = "the schema was taken before";
        let callgate = set.cases.iter().map(|case| Schema::compile(&case.text, &Options::default()).expect(taken).0);
        let jsonschema = set.cases.iter().map(|case| jsonschema::validator_for(&case.value).expect(taken));
        let boon = set.cases.iter().map(|case| sets::boon_of(&case.value).expect(taken));
        Compiled { callgate: callgate.collect(), jsonschema: jsonschema.collect(), boon: boon.collect() }
    }

    fn session(&self) -> Session {
        self.callgate[0].session(1 << 16)
    }
}

/// The calls of a case, each beside what judges it.
fn with<'a, T>(judge: &'a T, case: &'a sets::Case) -> impl Iterator<Item = (&'a T, &'a sets::Call)> {
    case.calls.iter().map(move |call| (judge, call))
}

// --- what was measured ---------------------------------------------------------------------------------------

/// The time of one pass over a set. Unit: nanoseconds.
struct Measured {
    group: &'static str,
    set: String,
    who: &'static str,
    /// Calls in it, or schemas where they are compiled.
    len: usize,
    low: f64,
    median: f64,
    high: f64,
}

/// Quartiles of the samples that criterion has just written down. Unit: nanoseconds a pass.
fn quartiles(group: &str, who: &str, set: &str) -> Option<[f64; 3]> {
    let file = results::folder().join(group).join(who).join(set).join("new/sample.json");
    let sample: Value = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
    let numbers = |name: &str| Some(sample[name].as_array()?.iter().filter_map(Value::as_f64).collect::<Vec<_>>());
    let mut passes: Vec<f64> = numbers("times")?.iter().zip(numbers("iters")?).map(|(time, len)| time / len).collect();
    passes.sort_by(f64::total_cmp);
    let last = passes.len().checked_sub(1)?;
    Some([last / 4, last / 2, last * 3 / 4].map(|at| passes[at]))
}

/// Writes down what this run measured, and nothing of earlier runs.
fn write(measured: &[Measured]) {
    let entry = |entry: &Measured| {
        json!({
            "group": entry.group, "set": entry.set, "who": entry.who, "len": entry.len,
            "low": entry.low, "median": entry.median, "high": entry.high
        })
    };
    results::write("measured.json", &measured.iter().map(entry).collect());
}

// --- ratios --------------------------------------------------------------------------------------------------

fn print_ratios(measured: &[Measured]) {
    println!("\nTime of the other over callgate's: above 1, callgate is faster.");
    println!("{:<15} {:<11} {:>9}  {:<27} each", "group", "to", "geo. mean", "worst set");
    for group in GROUPS {
        for who in ["jsonschema", "boon", "serde_json", "sonic_rs", "walk"] {
            let ratios = ratios(measured, group, who);
            let Some(worst) = ratios.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
            let mean = (ratios.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            let each: Vec<String> = ratios.iter().map(|(set, ratio)| format!("{set} {ratio:.2}")).collect();
            let worst = format!("{} {:.2}", worst.0, worst.1);
            println!("{group:<15} {who:<11} {mean:>9.2}  {worst:<27} {}", each.join(", "));
        }
    }
}

/// By set, for the sets measured with both.
fn ratios<'a>(measured: &'a [Measured], group: &str, who: &str) -> Vec<(&'a str, f64)> {
    let of = |who: &str, set: &str| {
        let found = measured.iter().find(|entry| entry.group == group && entry.who == who && entry.set == set);
        found.map(|entry| entry.median)
    };
    let callgate = measured.iter().filter(|entry| entry.group == group && entry.who == "callgate");
    callgate.filter_map(|entry| Some((entry.set.as_str(), of(who, &entry.set)? / entry.median))).collect()
}
