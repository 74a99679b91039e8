//! Two revisions, measured turn by turn: callgate now over callgate then.
//!
//! The other revision is checked out below the target folder for as long as it takes, and given the benches of the
//! working tree, so that both are measured on the same sets. What stands beside callgate is the same code in both
//! programs: by how much its times differ, the machine was slower, and ours are divided by that.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::ratios::{GROUPS, sets, time};
use super::run::{Program, Run};
use super::table::{geometric_mean, machine, spread, table};
use crate::{cargo, root};

/// Runs of both, the working tree's first.
pub(crate) fn measure(revision: &str, filter: &str, runs: usize) -> Result<(Vec<Run>, Vec<Run>)> {
    let now = Program::build(root(), "check")?;
    let checkout = Checkout::new(revision)?;
    let then = Program::build(&checkout.folder, "check")?;
    let (mut of_now, mut of_then) = (Vec::new(), Vec::new());
    for number in 1..=runs {
        of_now.push(now.run(filter, &format!("run {number} of {runs}, now"))?);
        of_then.push(then.run(filter, &format!("run {number} of {runs}, {revision}"))?);
    }
    Ok((of_now, of_then))
}

const HEAD: [&str; 5] = ["group", "set", "now/then", "spread", "not adjusted"];

/// The table of groups, and below it one of sets.
pub(crate) fn tables(revision: &str, now: &[Run], then: &[Run]) -> String {
    let mut groups = Vec::new();
    let mut rows = Vec::new();
    for group in GROUPS {
        let change = |set: String| change(now, then, group, &set).map(|change| (set, change));
        let changes: Vec<(String, Change)> = sets(now, group).into_iter().filter_map(change).collect();
        groups.extend(row(group, "all", &changes.iter().map(|(_, change)| change).collect::<Vec<_>>()));
        rows.extend(changes.iter().filter_map(|(set, change)| row(group, set, &[change])));
    }
    let runs = now.len();
    format!(
        "callgate now over callgate at {revision}: below 1, it is faster now. {runs} runs of each; {}.\n\n{}\n{}",
        machine(),
        table(&HEAD, 2, &groups),
        table(&HEAD, 2, &rows),
    )
}

/// How callgate's time changed on one set.
struct Change {
    low: f64,
    median: f64,
    high: f64,
    raw: f64,
}

/// `None` where one of the revisions did not measure it.
fn change(now: &[Run], then: &[Run], group: &str, set: &str) -> Option<Change> {
    let pairs = || now.iter().zip(then);
    let raw = pairs().filter_map(|(now, then)| quotient(now, then, group, set, "callgate")).collect();
    let adjusted = pairs().filter_map(|(now, then)| {
        let machine = machine_change(now, then, group, set).unwrap_or(1.0);
        Some(quotient(now, then, group, set, "callgate")? / machine)
    });
    let [low, median, high] = spread(adjusted.collect())?;
    let [_, raw, _] = spread(raw)?;
    Some(Change { low, median, high, raw })
}

fn quotient(now: &Run, then: &Run, group: &str, set: &str, who: &str) -> Option<f64> {
    Some(time(now, group, set, who)?.median / time(then, group, set, who)?.median)
}

/// How much longer the others took, who are the same in both.
fn machine_change(now: &Run, then: &Run, group: &str, set: &str) -> Option<f64> {
    let others = now.keys().filter(|entry| entry.group == group && entry.set == set && entry.who != "callgate");
    geometric_mean(&others.filter_map(|entry| quotient(now, then, group, set, &entry.who)).collect::<Vec<_>>())
}

/// The means of the changes; `None` of none.
fn row(group: &str, set: &str, changes: &[&Change]) -> Option<Vec<String>> {
    let mean = |of: fn(&Change) -> f64| geometric_mean(&changes.iter().map(|change| of(change)).collect::<Vec<_>>());
    let (low, high) = (mean(|change| change.low)?, mean(|change| change.high)?);
    let (median, raw) = (mean(|change| change.median)?, mean(|change| change.raw)?);
    let spread = format!("{low:.3} – {high:.3}");
    Some(vec![group.to_owned(), set.to_owned(), format!("{median:.3}"), spread, format!("{raw:.3}")])
}

/// A revision in a folder of its own, which goes when this does.
struct Checkout {
    folder: PathBuf,
}

impl Checkout {
    fn new(revision: &str) -> Result<Checkout> {
        let folder = cargo::target_folder().join("against");
        let checkout = Checkout { folder };
        checkout.remove(); // what a run that was stopped has left
        let mut add = Command::new("git");
        add.args(["worktree", "add", "--quiet", "--detach"]).arg(&checkout.folder).arg(revision);
        cargo::run_as(&format!("git worktree add {revision}"), &mut add)?;
        let benches = checkout.folder.join("benches");
        fs::remove_dir_all(&benches).context("the revision has no benches")?;
        copy(&root().join("benches"), &benches)?;
        Ok(checkout)
    }

    fn remove(&self) {
        if self.folder.exists() {
            let mut remove = Command::new("git");
            remove.args(["worktree", "remove", "--force"]).arg(&self.folder);
            // Where it fails, adding fails as well, and says why.
            let _ = cargo::run_as("git worktree remove", &mut remove);
        }
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        self.remove();
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let path = entry?.path();
        let place = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &place)?;
        } else {
            fs::copy(&path, &place).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::run::{Entry, Time};

    fn run(callgate: f64, other: f64) -> Run {
        let key = |who: &str| Entry { group: "compile".to_owned(), set: "a".to_owned(), who: who.to_owned() };
        let time = |median| Time { low: median, median, high: median, len: 1.0 };
        [(key("callgate"), time(callgate)), (key("boon"), time(other))].into()
    }

    #[test]
    fn a_slower_machine_falls_out() {
        let change = change(&[run(6.0, 20.0)], &[run(6.0, 10.0)], "compile", "a").unwrap();
        assert!((change.median - 0.5).abs() < 1e-12 && (change.raw - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_one_side_lacks_is_left_out() {
        assert!(change(&[run(1.0, 1.0)], &[Run::new()], "compile", "a").is_none());
        let tables = tables("HEAD", &[run(1.0, 1.0)], &[Run::new()]);
        assert!(!tables.contains("| compile"), "{tables}");
    }
}
