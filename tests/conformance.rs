//! Conformance: callgate against every case of the official suite that belongs to a draft it reads.
//!
//! One named test a case; the name is the case's id and what the suite calls it:
//!
//! ```text
//! draft2020-12/anyOf/1/2 anyOf with base schema: both anyOf invalid
//! draft7/optional/format/date/0/6 validation of date strings: a valid date string
//! ```
//!
//! Each instance is judged twice, as text and (where one holds it) as a parsed value; both verdicts must be the
//! suite's. Formats are asserted only in `optional/format`, as the suite has it.
//!
//! `conformance/expected-failures.txt` lists the cases whose verdict is another one by intention, each with its
//! reason. Such a case is still run, twice as well, and fails the run if it passes after all.

#[path = "conformance/suite.rs"]
mod suite;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use callgate::{Documents, Options, Outcome, Schema, Session};
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::suite::{Group, Suite};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = suite::load().and_then(|suite| trials(suite, &Expectation::list(EXPECTED_FAILURES)?));
    match trials {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a test harness reports there")]
            {
                eprintln!("{error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn trials(suite: Suite, expected: &[Expectation]) -> Result<Vec<Trial>, String> {
    let documents = Arc::new(suite.documents);
    let mut trials = Vec::new();
    let mut used = vec![false; expected.len()];
    for group in suite.groups {
        let judged = Arc::new(JudgedGroup { options: options(&group, &documents), group, schema: OnceLock::new() });
        for (at, case) in judged.group.cases.iter().enumerate() {
            let id = format!("{}/{at}", judged.group.id);
            let expectation = expected.iter().position(|expectation| expectation.covers(&id));
            if let Some(at) = expectation {
                used[at] = true;
            }
            let name = format!("{id} {}: {}", judged.group.description, case.description).replace('\n', " ");
            trials.push(trial(name, &judged, at, expectation.map(|at| expected[at].reason)));
        }
    }
    match used.iter().position(|used| !used) {
        Some(at) => Err(format!("expected-failures.txt: no case is called {}", expected[at].pattern)),
        None => Ok(trials),
    }
}

fn trial(name: String, group: &Arc<JudgedGroup>, at: usize, expected: Option<&'static str>) -> Trial {
    let group = Arc::clone(group);
    let valid = group.group.cases[at].valid;
    match expected {
        None => Trial::test(name, move || group.judge(at, valid).map_err(Failed::from)),
        Some(reason) => Trial::test(name, move || {
            let judged = group.judge(at, !valid);
            judged.map_err(|error| format!("not the failure that is expected ({reason}): {error}").into())
        })
        .with_kind("expected failure"),
    }
}

// --- judging -------------------------------------------------------------------------------------------------

/// A group with its schema, compiled by the first of its cases that runs.
struct JudgedGroup {
    group: Group,
    options: Options,
    schema: OnceLock<Result<Schema, String>>,
}

fn options(group: &Group, documents: &Arc<Documents>) -> Options {
    Options {
        draft: group.draft,
        assert_formats: group.id.contains("/optional/format/"),
        documents: Arc::clone(documents),
        ..Options::default()
    }
}

impl JudgedGroup {
    /// Errors: the instance is not judged `valid`, or the schema is none as callgate sees it.
    fn judge(&self, at: usize, valid: bool) -> Result<(), String> {
        let text = &self.group.cases[at].data;
        let schema = self.schema.get_or_init(|| self.compile()).as_ref()?;
        let mut session = Session::new();
        agree(valid, &schema.check(&mut session, text.get())).map_err(|error| format!("as text, {text} {error}"))?;
        match serde_json::from_str::<Value>(text.get()) {
            Ok(value) if holds(&value, text) => agree(valid, &schema.check(&mut session, &value))
                .map_err(|error| format!("as a parsed value, {text} {error}")),
            _ => Ok(()),
        }
    }

    fn compile(&self) -> Result<Schema, String> {
        let compiled = Schema::compile(self.group.schema.get(), &self.options);
        compiled.map(|(schema, _)| schema).map_err(|refused| refused.to_string())
    }
}

/// Whether `value` says what its text says. An integer beyond 64 bits is a float in a parsed value (unless `serde_json`
/// keeps the spelling), and what callgate then judges is another number.
fn holds(value: &Value, text: &RawValue) -> bool {
    match value {
        Value::Number(number) => !number.is_f64() || text.get().contains(['.', 'e', 'E']),
        Value::Array(elements) => parts::<Vec<&RawValue>>(text)
            .is_some_and(|texts| elements.iter().zip(texts).all(|(element, text)| holds(element, text))),
        Value::Object(members) => parts::<BTreeMap<String, &RawValue>>(text).is_some_and(|texts| {
            members.iter().all(|(name, value)| texts.get(name).is_some_and(|text| holds(value, text)))
        }),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

fn parts<'t, T: Deserialize<'t>>(text: &'t RawValue) -> Option<T> {
    serde_json::from_str(text.get()).ok()
}

fn agree(valid: bool, outcome: &Outcome<'_>) -> Result<(), String> {
    let got = match outcome {
        Outcome::Accepted(_) if valid => return Ok(()),
        Outcome::Rejected(_) if !valid => return Ok(()),
        Outcome::Accepted(_) => "accepted".to_owned(),
        Outcome::Rejected(rejection) => format!("rejected: {rejection}"),
        Outcome::Fault(fault) => format!("not decided: {fault}"),
        Outcome::UnknownTool | Outcome::NotCompiled => "not decided".to_owned(),
    };
    let want = if valid { "accepted" } else { "rejected" };
    Err(format!("should be {want}, and was {got}"))
}

// --- expected failures ---------------------------------------------------------------------------------------

const EXPECTED_FAILURES: &str = include_str!("conformance/expected-failures.txt");

/// A line of the list: `pattern<TAB>reason`. A `*` in the pattern stands for one part of an id between slashes.
struct Expectation {
    pattern: &'static str,
    reason: &'static str,
}

impl Expectation {
    /// The lines of the list but its comments. Errors: a line without a reason.
    fn list(text: &'static str) -> Result<Vec<Expectation>, String> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let parse = |line: &'static str| match line.split_once('\t') {
            Some((pattern, reason)) if !reason.trim().is_empty() => Ok(Expectation { pattern, reason }),
            _ => Err(format!("expected-failures.txt: a pattern, a tab and a reason are wanted: {line}")),
        };
        lines.map(parse).collect()
    }

    fn covers(&self, id: &str) -> bool {
        let mut parts = id.split('/');
        let same = self.pattern.split('/').all(|want| parts.next().is_some_and(|part| want == "*" || want == part));
        same && parts.next().is_none()
    }
}
