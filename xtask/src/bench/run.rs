//! One bench program: built by cargo, run as often as asked, its results read.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{cargo, root};

/// Who was measured, on which set of which group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) group: String,
    pub(crate) set: String,
    pub(crate) who: String,
}

/// Time of one pass over a set: quartiles and median. Unit: nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
    /// Calls, or schemas where they are compiled.
    pub(crate) len: f64,
}

/// What one run measured.
pub(crate) type Run = BTreeMap<Entry, Time>;

/// A bench program of one revision.
pub(crate) struct Program {
    file: PathBuf,
    results: PathBuf,
}

impl Program {
    /// Builds the bench of that name in the repository, or in another copy of it.
    ///
    /// Both share the target folder, so that dependencies are built once.
    pub(crate) fn build(folder: &Path, name: &str) -> Result<Program> {
        let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["bench", "--bench", name, "--no-run", "--message-format", "json-render-diagnostics"]);
        build.arg("--target-dir").arg(cargo::target_folder()).current_dir(folder).stderr(Stdio::inherit());
        let output = build.output().context("cannot run cargo")?;
        ensure!(output.status.success(), "cargo bench --bench {name} --no-run: {}", output.status);
        let text = String::from_utf8_lossy(&output.stdout);
        let file = text.lines().find_map(|line| executable(line, name)).context("cargo names no program")?;
        let kept = if folder == root() { "criterion" } else { "criterion-against" };
        Ok(Program { file, results: cargo::target_folder().join(kept) })
    }

    /// Runs it so many times.
    pub(crate) fn measure(&self, filter: &str, runs: usize) -> Result<Vec<Run>> {
        (1..=runs).map(|number| self.run(filter, &format!("run {number} of {runs}"))).collect()
    }

    /// Runs it once. Criterion's own report is not shown.
    pub(crate) fn run(&self, filter: &str, shown: &str) -> Result<Run> {
        eprintln!("measuring, {shown}");
        self.output(filter)?;
        let file = self.results.join("measured.json");
        let run = times(&read(&file)?).with_context(|| format!("{} is not what a bench writes", file.display()))?;
        ensure!(!run.is_empty(), "nothing is called {filter}");
        Ok(run)
    }

    /// Allocations of a check by group: mean, most in one set, and that set.
    pub(crate) fn allocations(&self, filter: &str) -> Result<Value> {
        self.output(filter)?;
        read(&self.results.join("allocations.json"))
    }

    /// What it prints.
    pub(crate) fn text(&self) -> Result<String> {
        self.output("")
    }

    fn output(&self, filter: &str) -> Result<String> {
        let mut program = Command::new(&self.file);
        program.arg("--bench").args(Some(filter).filter(|filter| !filter.is_empty())).current_dir(root());
        program.env("CRITERION_HOME", &self.results);
        if env::var_os("CALLGATE_CORPUS").is_none() {
            program.env("CALLGATE_CORPUS", root().join("../shared/corpus"));
        }
        let output = program.output().with_context(|| format!("cannot run {}", self.file.display()))?;
        if !output.status.success() {
            bail!("{}: {}\n{}", self.file.display(), output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The program that a line of cargo's messages tells of.
fn executable(line: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_ours = message["target"]["name"] == name && message["target"]["kind"][0] == "bench";
    message["executable"].as_str().filter(|_| is_ours).map(PathBuf::from)
}

fn read(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))
}

fn times(measured: &Value) -> Option<Run> {
    let time = |entry: &Value| {
        let text = |name: &str| Some(entry[name].as_str()?.to_owned());
        let number = |name: &str| entry[name].as_f64();
        let key = Entry { group: text("group")?, set: text("set")?, who: text("who")? };
        let [low, median, high] = [number("low")?, number("median")?, number("high")?];
        Some((key, Time { low, median, high, len: number("len")? }))
    };
    measured.as_array()?.iter().map(time).collect()
}
