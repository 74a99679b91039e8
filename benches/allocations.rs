//! Allocations of a check, by group and set: of callgate, on a session that has seen the calls.
//!
//! It is a program of its own, since counting costs time at every allocation, and what stands beside callgate in the
//! other bench would pay for it.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // a bench prints, and its counts are small

mod results;
mod sets;

use std::hint::black_box;

use allocation_counter::measure;
use callgate::{Arguments, Options, Outcome, PREFIX, Schema, Session};
use serde_json::{Map, Value, json};

use sets::{GROUPS, Set};

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let of_group = filter.split('/').next().unwrap_or_default();
    let groups: Vec<&str> = GROUPS.into_iter().filter(|group| group.contains(of_group)).collect();
    if groups.is_empty() {
        return;
    }
    let sets = sets::all();
    let mut all: Map<String, Value> = Map::new();
    println!("{:<15} {:>11}  most in one set", "allocations of", "a check");
    for group in groups {
        let sets = match group {
            "compile" => &sets.schemas,
            "accepted_value" | "accepted_bytes" => &sets.accepted,
            _ => &sets.rejected,
        };
        let counts: Vec<(f64, &str)> = sets.iter().map(|set| (count(group, set), set.name.as_str())).collect();
        let mean = counts.iter().map(|(count, _)| count).sum::<f64>() / counts.len() as f64;
        let (most, set) = counts.iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are sets");
        println!("{group:<15} {mean:>11.2}  {most:.2} ({set})");
        all.insert(group.to_owned(), json!({"mean": mean, "most": most, "set": set}));
    }
    results::write("allocations.json", &Value::Object(all));
}

/// Allocations of one check, or of compiling one schema: the mean over the set.
fn count(group: &str, set: &Set) -> f64 {
    let compile = |text: &str| Schema::compile(text, &Options::default()).expect("the schema was taken before").0;
    if group == "compile" {
        let count: u64 =
            set.cases.iter().map(|case| measure(|| drop(black_box(compile(&case.text)))).count_total).sum();
        return count as f64 / set.len() as f64;
    }
    let mut line = String::with_capacity(1 << 17);
    let mut count = 0;
    for case in &set.cases {
        let schema = compile(&case.text);
        let mut session = schema.session(1 << 16);
        for call in &case.calls {
            let arguments = if group.ends_with("value") { (&call.value).into() } else { call.text.as_str().into() };
            count += count_check(&schema, &mut session, arguments, &mut line);
        }
    }
    count as f64 / set.len() as f64
}

/// The check, and the writing of the line if there is one.
fn count_check(schema: &Schema, session: &mut Session, arguments: Arguments<'_>, line: &mut String) -> u64 {
    let mut check = || {
        line.clear();
        if let Outcome::Rejected(rejection) = schema.check(session, black_box(arguments)) {
            rejection.write_line(line, PREFIX).expect("a string takes every write");
        }
    };
    check();
    measure(check).count_total
}
