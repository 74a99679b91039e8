//! `cargo xtask test`: everything a fresh machine needs to pass, in order, up to the first step that fails.
//!
//! ```text
//! == lints
//! == lints: ok (12.4 s)
//! …
//! 17 passed, 0 failed
//! ```
//!
//! Cheap steps come first. What needs `../shared` or valgrind is left out, and said so, where that is not there.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::{cargo, codegen, instructions, oracle, tidy};

/// Runs the steps. Errors: the name of the one that failed.
pub(crate) fn test() -> Result<()> {
    let mut passed = 0;
    let mut skipped = 0;
    let mut failed = None;
    for step in steps() {
        if let Some(lack) = step.lack {
            println!("== {}: skipped, {lack}", step.name);
            skipped += 1;
        } else if step.pass() {
            passed += 1;
        } else {
            failed = Some(step.name);
            break;
        }
    }
    println!("{}", summary(passed, failed.iter().len(), skipped));
    match failed {
        Some(name) => bail!("the step failed: {name}"),
        None => Ok(()),
    }
}

/// `serde_json`'s features that change what a `Value` is. A user's build may have any of them on.
const VALUE_FEATURES: [&str; 3] = ["preserve_order", "arbitrary_precision", "float_roundtrip"];

/// Cargo's arguments for all tests but those in docs. The tests are told to be quiet, since the conformance test has
/// thousands; cargo is not, since it would tell most of them again.
pub(crate) const TESTS: [&str; 9] =
    ["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests", "--examples", "--", "--quiet"];

/// One step: a name, and what must succeed.
struct Step {
    name: String,
    /// What it needs and this machine has not.
    lack: Option<&'static str>,
    work: Box<dyn Fn() -> Result<()>>,
}

fn steps() -> Vec<Step> {
    let mut steps = vec![
        Step::new("formatting", || cargo::run(&["fmt", "--all", "--check"], &[])),
        Step::new("tidy", tidy::check),
        Step::new("generated pages", codegen::check),
        Step::new("lints", || {
            cargo::run(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])
        }),
        Step::new("tests", || cargo::run(&TESTS, &[])),
        Step::new("doc tests", || cargo::run(&["test", "--quiet", "--workspace", "--doc"], &[])),
        Step::new("documentation", || {
            cargo::run(&["doc", "--quiet", "--workspace", "--lib", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])
        }),
    ];
    steps.extend(feature_sets().map(|features| features_step(&features)));
    let valgrind = "valgrind is not installed";
    steps.push(Step::new("instructions", instructions::check).lacking(valgrind, instructions::is_possible()));
    for (name, work) in [("oracle", oracle::score as fn() -> Result<()>), ("catalogs", oracle::read_catalogs)] {
        steps.push(Step::new(name, work).lacking("../shared is not here", oracle::is_here()));
    }
    steps
}

impl Step {
    fn new(name: impl Into<String>, work: impl Fn() -> Result<()> + 'static) -> Step {
        Step { name: name.into(), lack: None, work: Box::new(work) }
    }

    /// Left out, and said so, unless what it needs is here.
    fn lacking(self, lack: &'static str, is_here: bool) -> Step {
        Step { lack: Some(lack).filter(|_| !is_here), ..self }
    }

    /// Runs the step and says how it went.
    fn pass(&self) -> bool {
        println!("== {}", self.name);
        let start = Instant::now();
        let done = (self.work)();
        let seconds = start.elapsed().as_secs_f64();
        match done {
            Ok(()) => println!("== {}: ok ({seconds:.1} s)", self.name),
            Err(ref error) => println!("== {}: FAILED ({seconds:.1} s)\n{error:#}", self.name),
        }
        done.is_ok()
    }
}

/// Every set of [`VALUE_FEATURES`], from none to all.
fn feature_sets() -> impl Iterator<Item = Vec<&'static str>> {
    let has = |bits: u32, at: usize| bits >> at & 1 == 1;
    let set = move |bits| (0..VALUE_FEATURES.len()).filter(|at| has(bits, *at)).map(|at| VALUE_FEATURES[at]).collect();
    (0..1 << VALUE_FEATURES.len()).map(set)
}

/// The conformance test with `serde_json` built so: bytes and `Value` agree on the official suite.
///
/// It is this package's own build of the test, since the root package's always has the features that the peers switch
/// on. Without optimisation, each set takes less than half the time: nearly all of it is compiling.
fn features_step(features: &[&str]) -> Step {
    let name = if features.is_empty() { "serde_json as it is".to_owned() } else { features.join(", ") };
    let flags: Vec<String> = features.iter().map(|feature| format!("serde_json/{feature}")).collect();
    let plain = ["callgate", "callgate-compiler", "callgate-vm"];
    let plain = plain.map(|package| format!("--config=profile.dev.package.{package}.opt-level=0"));
    Step::new(format!("agreement: {name}"), move || {
        let mut arguments = vec!["test", "--package", "xtask", "--test", "conformance"];
        arguments.extend(plain.iter().map(String::as_str));
        let flags = flags.join(",");
        arguments.extend(["--features", &flags, "--", "--quiet"]);
        cargo::run(&arguments, &[])
    })
}

/// The plain line that ends a run.
fn summary(passed: usize, failed: usize, skipped: usize) -> String {
    let skipped = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
    format!("{passed} passed, {failed} failed{skipped}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_sets_go_from_none_to_all() {
        let sets: Vec<_> = feature_sets().collect();
        assert_eq!(sets.len(), 8);
        assert_eq!((sets[0].as_slice(), sets[7].as_slice()), ([].as_slice(), VALUE_FEATURES.as_slice()));
    }

    #[test]
    fn a_summary_names_what_was_skipped() {
        assert_eq!(summary(3, 0, 0), "3 passed, 0 failed");
        assert_eq!(summary(3, 1, 2), "3 passed, 1 failed, 2 skipped");
    }
}
