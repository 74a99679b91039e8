//! Scores: the oracle data and the real catalogs of `../shared`, judged by the release build of the command.
//!
//! ```text
//! oracle/FILE ─► callgate eval [--lax] ─► answers ─► score.py FILE answers --min-…      below the floor: failed
//! corpus/catalogs/* ─► callgate check                                           exit code other than 0: failed
//! ```
//!
//! The floors are the figures reached; a change that loses one is either wrong or says why it lowers the floor.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::{cargo, root};

/// What must be reached on one file of oracle data. Unit: percent.
struct Floor {
    file: &'static str,
    /// Agreement on the verdict.
    valid: &'static str,
    /// Agreement on the line, byte for byte.
    line: &'static str,
    /// Agreement on the verdicts of the official suite's required cases.
    required: &'static str,
    /// What is compared beside.
    mode: &'static str,
}

#[rustfmt::skip]
const FLOORS: [Floor; 5] = [
    Floor { file: "pins.jsonl",         valid: "100",   line: "100", required: "0",   mode: "--schema-path" },
    Floor { file: "tools.jsonl",        valid: "100",   line: "100", required: "0",   mode: "--schema-path" },
    Floor { file: "edge.jsonl",         valid: "100",   line: "100", required: "0",   mode: "--schema-path" },
    // What is missing are optional cases that are answered otherwise by intention: see tests/conformance.
    Floor { file: "suite.jsonl",        valid: "99.42", line: "100", required: "100", mode: "--spec" },
    Floor { file: "suite-format.jsonl", valid: "100",   line: "100", required: "0",   mode: "--spec" },
];

/// What must be reached by lax readings. Unit: percent.
struct ReadingFloor {
    file: &'static str,
    /// Agreement on the lax verdict.
    verdict: &'static str,
    /// Agreement on all field lines of a rejected call, the words of parsers included.
    lines: &'static str,
    /// Agreement on the copy of an accepted call.
    coerced: f64,
}

#[rustfmt::skip]
const READINGS: [ReadingFloor; 2] = [
    // What is missing is a path, of which the schema says that it is text.
    ReadingFloor { file: "pydantic.jsonl",       verdict: "100",   lines: "100", coerced: 99.82 },
    // And a pattern that finds digits beyond ASCII.
    ReadingFloor { file: "pydantic-micro.jsonl", verdict: "99.96", lines: "100", coerced: 99.85 },
];

/// Whether the data is there.
pub(crate) fn is_here() -> bool {
    folder("oracle").is_dir()
}

/// [`score`] and [`read_catalogs`], for the command of that name.
pub(crate) fn score_all() -> Result<()> {
    ensure!(is_here(), "{} is not here", folder("oracle").display());
    score()?;
    read_catalogs()
}

/// Judges every file of [`FLOORS`]. Errors: a figure is below its floor.
pub(crate) fn score() -> Result<()> {
    let command = build()?;
    for floor in &FLOORS {
        let answers = answer(&command, floor.file, &[])?;
        let mut python = Command::new("python3");
        python.arg(folder("oracle").join("score.py")).arg(folder("oracle").join(floor.file)).arg(answers);
        python.args(["--min-valid", floor.valid, "--min-line", floor.line, "--min-required", floor.required]);
        figures_of(floor.file, python.arg(floor.mode))?;
    }
    READINGS.iter().try_for_each(|floor| score_reading(&command, floor))
}

fn score_reading(command: &PathBuf, floor: &ReadingFloor) -> Result<()> {
    let answers = answer(command, floor.file, &["--lax"])?;
    let mut python = Command::new("python3");
    python.arg(folder("oracle").join("score.py")).arg(folder("oracle").join(floor.file)).arg(answers);
    let figures = figures_of(floor.file, python.args(["--min-valid", floor.verdict, "--min-line", floor.lines]))?;
    let coerced = figures.lines().find(|line| line.starts_with("coerced")).and_then(|line| line.rsplit_once(' '));
    let reached: f64 = coerced.and_then(|(_, percent)| percent.trim_end_matches('%').parse().ok()).unwrap_or(0.0);
    ensure!(reached >= floor.coerced, "{}: {reached} % of copies, below {} %", floor.file, floor.coerced);
    Ok(())
}

/// Runs the score and shows its figures. Errors: one is below its floor.
fn figures_of(file: &str, score: &mut Command) -> Result<String> {
    let Output { status, stdout, stderr } = score.output().context("cannot run python3")?;
    let report = String::from_utf8_lossy(&stdout);
    if !status.success() {
        bail!("{file} is below its floor\n{report}{}", String::from_utf8_lossy(&stderr));
    }
    // Figures come first, then tables by keyword, of interest only where a figure is too low.
    let figures = report.split("\n\n").next().unwrap_or_default();
    println!("{file}\n{figures}");
    Ok(figures.to_owned())
}

/// Reads every catalog of the corpus. Errors: the command fails on one.
pub(crate) fn read_catalogs() -> Result<()> {
    let command = build()?;
    let catalogs = folder("corpus/catalogs");
    let entries = fs::read_dir(&catalogs).with_context(|| format!("cannot list {}", catalogs.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    for file in &files {
        let mut check = Command::new(&command);
        check.args(["check", "--format", "json"]).arg(file).stdout(Stdio::null());
        cargo::run_as(&format!("callgate check {}", file.display()), &mut check)?;
    }
    println!("{} catalogs read", files.len());
    Ok(())
}

fn folder(name: &str) -> PathBuf {
    root().join("../shared").join(name)
}

/// The command, built as users have it.
fn build() -> Result<PathBuf> {
    cargo::run(&["build", "--quiet", "--release", "--package", "callgate-cli"], &[])?;
    Ok(cargo::target_folder().join("release").join("callgate"))
}

/// The file with the command's answers.
fn answer(command: &PathBuf, file: &str, flags: &[&str]) -> Result<PathBuf> {
    let answers = cargo::target_folder().join("oracle").join(file);
    fs::create_dir_all(answers.with_file_name("")).context("cannot make a folder for the answers")?;
    let out = File::create(&answers).with_context(|| format!("cannot write {}", answers.display()))?;
    let mut eval = Command::new(command);
    eval.arg("eval").args(flags).arg(folder("oracle").join(file)).stdout(out);
    for documents in ["remotes.json", "metaschemas.json"] {
        eval.arg("--documents").arg(folder("oracle").join(documents));
    }
    cargo::run_as(&format!("callgate eval {file}"), &mut eval)?;
    Ok(answers)
}
