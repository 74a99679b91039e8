//! Runs one fixed case so many times: what `cargo xtask instructions` counts the instructions of.
//!
//! ```text
//! instructions                  the names of the cases
//! instructions CASE RUNS        the case, RUNS times
//! ```
//!
//! The cases are made here and stay as they are, so that a figure of today compares with one of last year.

#![allow(clippy::print_stdout, reason = "the names are asked for by another program")]

use std::hint::black_box;

use callgate::{Options, Outcome, PREFIX, Schema};
use serde_json::{Value, json};

/// What is done with a schema and a call.
#[derive(Clone, Copy)]
enum Work {
    Compile,
    AcceptBytes,
    AcceptValue,
    /// Rejecting includes the line.
    RejectBytes,
    RejectValue,
}

/// A schema, a call that satisfies it and one that does not.
struct Case {
    schema: Value,
    accepted: Value,
    rejected: Value,
}

/// Makes a case.
type Data = fn() -> Case;

/// Name, work and data of each case.
const CASES: [(&str, Work, Data); 10] = [
    ("accepted_bytes_object", Work::AcceptBytes, object),
    ("accepted_value_object", Work::AcceptValue, object),
    ("rejected_bytes_object", Work::RejectBytes, object),
    ("accepted_bytes_union", Work::AcceptBytes, union),
    ("rejected_value_union", Work::RejectValue, union),
    ("accepted_bytes_array", Work::AcceptBytes, array),
    ("accepted_value_array", Work::AcceptValue, array),
    ("accepted_bytes_strings", Work::AcceptBytes, strings),
    ("rejected_bytes_nested", Work::RejectBytes, nested),
    ("compile", Work::Compile, object),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, runs] = arguments.as_slice() else {
        for (name, ..) in CASES {
            println!("{name}");
        }
        return;
    };
    let (_, work, case) = CASES.iter().find(|(case, ..)| case == name).expect("a case of that name");
    run(*work, &case(), runs.parse().expect("a number of runs"));
}

fn run(work: Work, case: &Case, runs: u64) {
    let text = case.schema.to_string();
    let compile = |text: &str| Schema::compile(text, &Options::default()).expect("it compiles").0;
    let schema = compile(&text);
    let mut session = schema.session(1 << 14);
    let (accepted, rejected) = (case.accepted.to_string(), case.rejected.to_string());
    let mut line = String::with_capacity(1 << 12);
    for _ in 0..runs {
        match work {
            Work::Compile => drop(black_box(compile(black_box(&text)))),
            Work::AcceptBytes => accept(&schema.check(&mut session, black_box(accepted.as_str()))),
            Work::AcceptValue => accept(&schema.check(&mut session, black_box(&case.accepted))),
            Work::RejectBytes => reject(&schema.check(&mut session, black_box(rejected.as_str())), &mut line),
            Work::RejectValue => reject(&schema.check(&mut session, black_box(&case.rejected)), &mut line),
        }
    }
}

fn accept(outcome: &Outcome<'_>) {
    assert!(black_box(outcome).is_accepted());
}

fn reject(outcome: &Outcome<'_>, line: &mut String) {
    let Outcome::Rejected(rejection) = outcome else { panic!("{outcome:?}") };
    line.clear();
    rejection.write_line(line, PREFIX).expect("a string takes every write");
    black_box(line.as_str());
}

// --- cases ---------------------------------------------------------------------------------------------------

/// A tool as most are: a few members, most of them scalars; the last member is out of bounds.
fn object() -> Case {
    let call = |limit: i64| {
        json!({
            "query": "tides of the north sea", "folder": "/notes/2026", "kinds": ["page", "image"],
            "since": "2026-02-01", "recursive": true, "cursor": null, "limit": limit
        })
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Words to look for."},
            "folder": {"type": "string", "description": "Where to look."},
            "kinds": {"type": "array", "items": {"enum": ["page", "image", "sheet"]}, "uniqueItems": true},
            "since": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "description": "First day."},
            "recursive": {"type": "boolean", "default": false},
            "cursor": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "How many to return."}
        },
        "required": ["query", "limit"],
        "additionalProperties": false
    });
    Case { schema, accepted: call(20), rejected: call(500) }
}

/// One of twelve objects that a tag tells apart.
fn union() -> Case {
    let branch = |at: usize| {
        json!({
            "type": "object",
            "properties": {
                "kind": {"const": format!("kind_{at}")},
                "id": {"type": "integer", "minimum": 0},
                "title": {"type": "string"}
            },
            "required": ["kind", "id"],
            "additionalProperties": false
        })
    };
    let schema = json!({
        "type": "object",
        "properties": {"target": {"anyOf": (0..12).map(branch).collect::<Vec<_>>(), "description": "What to change."}},
        "required": ["target"]
    });
    let call = |id: i64| json!({"target": {"kind": "kind_9", "id": id, "title": "a title"}});
    Case { schema, accepted: call(4), rejected: call(-4) }
}

/// Numbers, and small objects.
fn array() -> Case {
    let row = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "count": {"type": "integer", "minimum": 0}},
        "required": ["name", "count"]
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "numbers": {"type": "array", "items": {"type": "number", "minimum": -1000, "maximum": 1000}},
            "rows": {"type": "array", "items": row}
        }
    });
    let numbers: Vec<f64> = (0..60_i32).map(|at| f64::from(at * 37 % 400 - 200) / 4.0).collect();
    let rows = |last: &str| -> Vec<Value> {
        (0..12)
            .map(|at| json!({"name": format!("row {at}"), "count": if at == 11 { json!(last) } else { json!(at) }}))
            .collect()
    };
    let mut accepted = rows("");
    accepted[11]["count"] = json!(11);
    Case {
        schema,
        accepted: json!({"numbers": numbers, "rows": accepted}),
        rejected: json!({"numbers": numbers, "rows": rows("many")}),
    }
}

/// Text with a limit: plain, with escapes, beyond ASCII.
fn strings() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {
            "plain": {"type": "string", "maxLength": 5000},
            "escaped": {"type": "string", "maxLength": 5000},
            "wide": {"type": "string", "maxLength": 5000},
            "code": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"}
        }
    });
    let call = |code: &str| {
        json!({
            "plain": "The ship left at dawn, and nobody saw it go. ".repeat(20),
            "escaped": "a \"quoted\" word\n\tand a line\\".repeat(10),
            "wide": "Möwen über Sylt … 海の上 ".repeat(10),
            "code": code
        })
    };
    Case { schema, accepted: call("left-at-dawn"), rejected: call("left at dawn") }
}

/// Objects within objects, eight deep; the innermost is of the wrong type.
fn nested() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {
            "label": {"type": "string", "description": "On the front."},
            "inside": {"type": "array", "items": {"$ref": "#"}, "description": "What is in it."}
        },
        "required": ["label"]
    });
    let nest = |innermost: Value| (0..8).fold(innermost, |inside, _| json!({"label": "box", "inside": [inside]}));
    Case { schema, accepted: nest(json!({"label": "box"})), rejected: nest(json!({"label": 7})) }
}
