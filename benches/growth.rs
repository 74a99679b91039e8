//! What one more costs: one more member, item, branch of a union or level of nesting in a call, one more property in a
//! schema, at four sizes each. A cost for each that stays flat is what is wanted.
//!
//! ```text
//! kind × size ─► schema, accepted call, rejected call ─► time of a check / size, as a table
//! ```
//!
//! Rejected calls fail at the very end, so that all before it was looked at twice: judged, and explained.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // a bench prints, and its counts are small

use std::hint::black_box;
use std::time::{Duration, Instant};

use callgate::{Options, Outcome, PREFIX, Schema};
use serde_json::{Map, Value, json};

const SIZES: [usize; 4] = [8, 64, 512, 4096];

/// Depth ends where judging in place does: half of what a call may have.
const DEPTHS: [usize; 4] = [4, 16, 64, 120];

/// How long one figure is measured, and in how many samples. Samples are shorter than what a scheduler gives at a time:
/// on a busy machine some are then measured without a break.
const SAMPLE: Duration = Duration::from_millis(1);
const SAMPLES: usize = 200;

/// Grows with one number.
struct Kind {
    name: &'static str,
    sizes: [usize; 4],
    case: fn(usize) -> Case,
}

/// One schema of a size, and two calls.
struct Case {
    schema: Value,
    accepted: Value,
    rejected: Value,
}

const KINDS: [Kind; 6] = [
    Kind { name: "member, each with a property", sizes: SIZES, case: members },
    Kind { name: "member, of no known name", sizes: SIZES, case: free_members },
    Kind { name: "item, a number", sizes: SIZES, case: items },
    Kind { name: "item, an object", sizes: SIZES, case: objects },
    Kind { name: "branch of a union", sizes: SIZES, case: branches },
    Kind { name: "level of nesting", sizes: DEPTHS, case: levels },
];

fn main() {
    // Cargo's own arguments are of no use here, and a filter that is not about growth is not for this program.
    if std::env::args().skip(1).any(|argument| !argument.starts_with('-') && !"growth".contains(&argument)) {
        return;
    }
    println!("| nanoseconds for one | at | accepted, bytes | accepted, value | rejected, bytes | rejected, value |");
    println!("|---|---:|---:|---:|---:|---:|");
    for kind in &KINDS {
        for size in kind.sizes {
            let times = check_times(&(kind.case)(size)).map(|time| shown(time / size as f64));
            println!("| {} | {size} | {} |", kind.name, times.join(" | "));
        }
    }
    println!("\n| microseconds for one | at | compile |\n|---|---:|---:|");
    for size in SIZES {
        let text = members(size).schema.to_string();
        let time = time(|| drop(black_box(Schema::compile(black_box(&text), &Options::default()))));
        println!("| property | {size} | {} |", shown(time / size as f64 / 1_000.0));
    }
}

fn shown(number: f64) -> String {
    if number < 100.0 { format!("{number:.2}") } else { format!("{number:.0}") }
}

// --- measuring -----------------------------------------------------------------------------------------------

/// Accepted from bytes and value, rejected from bytes and value with the line. Unit: nanoseconds.
fn check_times(case: &Case) -> [f64; 4] {
    let (schema, _) = Schema::compile(case.schema.to_string(), &Options::default()).expect("it compiles");
    let (accepted, rejected) = (case.accepted.to_string(), case.rejected.to_string());
    let mut session = schema.session(rejected.len());
    let mut line = String::with_capacity(1 << 17);
    let accept = |outcome: &Outcome<'_>| assert!(outcome.is_accepted(), "{outcome:?}");
    let accepted_bytes = time(|| accept(&schema.check(&mut session, black_box(accepted.as_str()))));
    let accepted_value = time(|| accept(&schema.check(&mut session, black_box(&case.accepted))));
    let mut reject = |outcome: &Outcome<'_>| {
        let Outcome::Rejected(rejection) = outcome else { panic!("{outcome:?}") };
        line.clear();
        rejection.write_line(&mut line, PREFIX).expect("a string takes every write");
    };
    let rejected_bytes = time(|| reject(&schema.check(&mut session, black_box(rejected.as_str()))));
    let rejected_value = time(|| reject(&schema.check(&mut session, black_box(&case.rejected))));
    [accepted_bytes, accepted_value, rejected_bytes, rejected_value]
}

/// The fastest of the samples, since what disturbs only adds. Unit: nanoseconds.
fn time(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut runs = 0_u32;
    while start.elapsed() < SAMPLE {
        work();
        runs += 1;
    }
    let mut sample = || {
        let start = Instant::now();
        (0..runs).for_each(|_| work());
        start.elapsed().as_nanos() as f64 / f64::from(runs)
    };
    (0..SAMPLES).map(|_| sample()).fold(f64::INFINITY, f64::min)
}

// --- cases ---------------------------------------------------------------------------------------------------

fn name(at: usize) -> String {
    format!("property_{at}")
}

/// Members as many as properties; the last is of the wrong type.
fn members(size: usize) -> Case {
    let properties: Map<String, Value> = (0..size).map(|at| (name(at), json!({"type": "integer"}))).collect();
    let accepted: Map<String, Value> = (0..size).map(|at| (name(at), json!(at))).collect();
    let mut rejected = accepted.clone();
    rejected.insert(name(size - 1), json!("text"));
    Case {
        schema: json!({"type": "object", "properties": properties, "additionalProperties": false}),
        accepted: accepted.into(),
        rejected: rejected.into(),
    }
}

/// Members under `additionalProperties`; the last is of the wrong type.
fn free_members(size: usize) -> Case {
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    Case { schema, ..members(size) }
}

/// Numbers within bounds; the last is not.
fn items(size: usize) -> Case {
    let accepted: Vec<usize> = (0..size).collect();
    let mut rejected: Vec<Value> = accepted.iter().map(|at| json!(at)).collect();
    rejected[size - 1] = json!(-1);
    Case {
        schema: json!({"type": "array", "items": {"type": "integer", "minimum": 0}}),
        accepted: json!(accepted),
        rejected: json!(rejected),
    }
}

/// Small objects; the last lacks a name.
fn objects(size: usize) -> Case {
    let item = json!({
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "state": {"enum": ["open", "done"]}},
        "required": ["id", "name"],
        "additionalProperties": false
    });
    let object = |at: usize| json!({"id": at, "name": name(at), "state": "open"});
    let accepted: Vec<Value> = (0..size).map(object).collect();
    let mut rejected = accepted.clone();
    rejected[size - 1] = json!({"id": 1, "state": "open"});
    Case { schema: json!({"type": "array", "items": item}), accepted: accepted.into(), rejected: rejected.into() }
}

/// Flat alternatives that a tag tells apart; the call is of the last, or of none.
fn branches(size: usize) -> Case {
    let branch = |at: usize| {
        json!({
            "type": "object",
            "properties": {"kind": {"const": name(at)}, "count": {"type": "integer"}},
            "required": ["kind", "count"]
        })
    };
    let call = |kind: String| json!({"kind": kind, "count": 1});
    Case {
        schema: json!({"anyOf": (0..size).map(branch).collect::<Vec<_>>()}),
        accepted: call(name(size - 1)),
        rejected: call("none of them".to_owned()),
    }
}

/// Objects within objects; the innermost is of the wrong type.
fn levels(size: usize) -> Case {
    let schema = json!({
        "type": "object",
        "properties": {"label": {"type": "string"}, "inside": {"$ref": "#"}},
        "required": ["label"]
    });
    let nest = |innermost: Value| (1..size).fold(innermost, |inside, _| json!({"label": "x", "inside": inside}));
    Case { schema, accepted: nest(json!({"label": "x"})), rejected: nest(json!({"label": 1})) }
}
