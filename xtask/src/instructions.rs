//! `cargo xtask instructions [--bless]`: instructions of ten fixed cases, counted and held against stored figures.
//!
//! ```text
//! xtask/examples/instructions.rs ─► valgrind, at two numbers of runs ─► difference / runs ─► benches/instructions.json
//! ```
//!
//! Start-up falls out of the difference. Times differ from run to run by a tenth, counts by 0.6 per cent at most
//! (names are hashed by a seed that is another one in each process), so a guard can be strict. Counts depend on the
//! toolchain: figures of another one are compared, and a difference is only said.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{cargo, root, source};

/// How far a figure may be off. Unit: per cent.
const MARGIN: f64 = 3.0;

const FIGURES: &str = "benches/instructions.json";

/// Whether what counts is installed.
pub(crate) fn is_possible() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Counts every case. Errors: one takes more than its figure and [`MARGIN`] allow.
pub(crate) fn check() -> Result<()> {
    let stored: Value = serde_json::from_str(&source::text(FIGURES)?).with_context(|| FIGURES.to_owned())?;
    let counts = count_all()?;
    let toolchain = toolchain()?;
    let same = stored["toolchain"] == toolchain;
    let verdicts = counts.iter().map(|(case, count)| verdict(case, stored["cases"][case].as_f64(), *count));
    let verdicts: Vec<Verdict> = verdicts.collect();
    for verdict in &verdicts {
        println!("{}", verdict.text);
    }
    let worse: Vec<&str> =
        verdicts.iter().filter(|verdict| verdict.worse).map(|verdict| verdict.text.as_str()).collect();
    if !worse.is_empty() && !same {
        println!("figures are of {}, this is {toolchain}: not held against it", stored["toolchain"]);
        return Ok(());
    }
    ensure!(worse.is_empty(), "more instructions than {FIGURES} allows:\n{}\n{HINT}", worse.join("\n"));
    if verdicts.iter().any(|verdict| verdict.better) {
        println!("Some take fewer: cargo xtask instructions --bless keeps it so.");
    }
    Ok(())
}

const HINT: &str = "If that is the price of something, cargo xtask instructions --bless, and say so in the commit.";

/// Writes the figures of today.
pub(crate) fn bless() -> Result<()> {
    let cases = count_all()?;
    for (case, count) in &cases {
        println!("{case:<24} {count:>9.0}");
    }
    let cases: BTreeMap<&str, u64> = cases.iter().map(|(case, count)| (case.as_str(), rounded(*count))).collect();
    let text = serde_json::to_string_pretty(&json!({"toolchain": toolchain()?, "cases": cases}))?;
    fs::write(root().join(FIGURES), text + "\n").with_context(|| format!("cannot write {FIGURES}"))
}

// --- counting ------------------------------------------------------------------------------------------------

/// Name and instructions of one run of each case, in their order.
fn count_all() -> Result<Vec<(String, f64)>> {
    ensure!(is_possible(), "valgrind is not installed");
    let program = build()?;
    let names = Command::new(&program).output().with_context(|| format!("cannot run {}", program.display()))?;
    let names = String::from_utf8(names.stdout).context("names are text")?;
    names.lines().map(|case| Ok((case.to_owned(), count(&program, case)?))).collect()
}

fn build() -> Result<PathBuf> {
    cargo::run(&["build", "--quiet", "--release", "--package", "xtask", "--example", "instructions"], &[])?;
    Ok(cargo::target_folder().join("release/examples/instructions"))
}

/// Instructions of one run of a case. Compiling takes so many that fewer runs do.
fn count(program: &Path, case: &str) -> Result<f64> {
    let (few, many) = if case.starts_with("compile") { (50, 250) } else { (100, 1_100) };
    let difference = count_runs(program, case, many)? - count_runs(program, case, few)?;
    Ok(difference / f64::from(many - few))
}

/// Instructions of the whole process.
fn count_runs(program: &Path, case: &str, runs: u32) -> Result<f64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).arg(case).arg(runs.to_string());
    let output = valgrind.output().context("cannot run valgrind")?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("valgrind, on {case}: {}\n{report}", output.status);
    }
    collected(&report).with_context(|| format!("valgrind says no count, on {case}:\n{report}"))
}

/// The number in the line `==PID== Collected : NUMBER`.
fn collected(report: &str) -> Option<f64> {
    report.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

/// What decides, beside the source, how many instructions there are.
fn toolchain() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().context("cannot run rustc")?;
    let version = String::from_utf8_lossy(&output.stdout);
    Ok(format!("{} for {}", version.trim(), std::env::consts::ARCH))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count is small, and not negative")]
fn rounded(count: f64) -> u64 {
    count.round().max(0.0) as u64
}

// --- verdicts ------------------------------------------------------------------------------------------------

struct Verdict {
    text: String,
    worse: bool,
    better: bool,
}

fn verdict(case: &str, figure: Option<f64>, count: f64) -> Verdict {
    let Some(figure) = figure else {
        return Verdict { text: format!("{case}: {count:.0}, and no figure is stored"), worse: true, better: false };
    };
    let change = (count / figure - 1.0) * 100.0;
    let text = format!("{case}: {figure:.0} before, {count:.0} after ({change:+.2} %)");
    Verdict { text, worse: change > MARGIN, better: change < -MARGIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_a_report() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 265668963\n"), Some(265_668_963.0));
        assert_eq!(collected("==7== Events    : Ir\n"), None);
    }

    #[test]
    fn a_margin_is_allowed() {
        let (more, less) = (verdict("a", Some(1_000.0), 1_031.0), verdict("a", Some(1_000.0), 969.0));
        assert_eq!(more.text, "a: 1000 before, 1031 after (+3.10 %)");
        assert_eq!((more.worse, more.better, less.worse, less.better), (true, false, false, true));
        let near = verdict("a", Some(1_000.0), 1_029.0);
        assert!(!near.worse && !near.better);
        assert!(verdict("new", None, 1.0).worse);
    }
}
