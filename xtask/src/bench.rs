//! `cargo xtask bench`: the benches, run and told as tables.
//!
//! ```text
//! bench [FILTER]          times beside other validators, as ratios; allocations
//!       --runs N          N times over: medians, and how far apart the runs are
//!       --against REV     the same on another revision, turn by turn; now over then
//!       --write           the table goes into benches/README.md
//! bench growth [--write]  time for one more member, item, branch, level, property
//! bench load [--write]    loading compiled catalogs beside compiling them
//! bench sizes [--write]   memory of compiled tools
//! ```
//!
//! A page is written between two markers that name the table; the text around them is written by hand.

mod compare;
mod ratios;
mod run;
mod sizes;
mod table;

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{root, source};
use run::Program;

/// Runs the command of these arguments.
pub(crate) fn bench(arguments: &[&str]) -> Result<()> {
    match arguments {
        [name @ ("growth" | "load"), rest @ ..] => own(name, Arguments::read(rest)?.write),
        ["sizes", rest @ ..] => tell("sizes", &sizes::tell()?, Arguments::read(rest)?.write),
        _ => times(&Arguments::read(arguments)?),
    }
}

/// What the command line asks for.
struct Arguments {
    filter: String,
    runs: usize,
    against: Option<String>,
    write: bool,
}

impl Arguments {
    fn read(arguments: &[&str]) -> Result<Arguments> {
        let mut read = Arguments { filter: String::new(), runs: 1, against: None, write: false };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{argument} needs a value"));
            match *argument {
                "--write" => read.write = true,
                "--runs" => read.runs = value()?.parse().context("--runs is a number")?,
                "--against" => read.against = Some((*value()?).to_owned()),
                flag if flag.starts_with('-') => bail!("bench does not know {flag}"),
                filter => filter.clone_into(&mut read.filter),
            }
        }
        read.runs = read.runs.max(1);
        Ok(read)
    }
}

fn times(arguments: &Arguments) -> Result<()> {
    let Some(revision) = &arguments.against else {
        let program = Program::build(root(), "check")?;
        let runs = program.measure(&arguments.filter, arguments.runs)?;
        let allocations = Program::build(root(), "allocations")?.allocations(&arguments.filter)?;
        return tell("ratios", &ratios::tables(&runs, &allocations), arguments.write);
    };
    let (now, then) = compare::measure(revision, &arguments.filter, arguments.runs)?;
    tell("against", &compare::tables(revision, &now, &then), false)
}

/// What is measured and told by a program of its own.
fn own(name: &str, write: bool) -> Result<()> {
    tell(name, &Program::build(root(), name)?.text()?, write)
}

/// Prints a table, and writes it into the page if that is asked for.
fn tell(name: &str, text: &str, write: bool) -> Result<()> {
    println!("{text}");
    if !write {
        return Ok(());
    }
    let page = "benches/README.md";
    let written =
        replace(&source::text(page)?, name, text).with_context(|| format!("{page} has no place for {name}"))?;
    fs::write(root().join(page), written).with_context(|| format!("cannot write {page}"))
}

/// The page with the text between the markers of that name.
fn replace(page: &str, name: &str, text: &str) -> Option<String> {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = page.split_once(&start)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{start}\n{}\n\n{end}{after}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_the_one_before() {
        let page = "# Page\n<!-- sizes -->\n\nold\n\n<!-- /sizes -->\nmore\n";
        let once = replace(page, "sizes", "new\n").unwrap();
        assert_eq!(once, "# Page\n<!-- sizes -->\n\nnew\n\n<!-- /sizes -->\nmore\n");
        assert_eq!(replace(&once, "sizes", "new\n").as_deref(), Some(once.as_str()));
        assert_eq!(replace(page, "growth", "new"), None);
    }

    #[test]
    fn arguments_are_in_any_order() {
        let read = Arguments::read(&["--runs", "3", "accepted", "--against", "HEAD~1"]).unwrap();
        assert_eq!((read.runs, read.filter.as_str(), read.against.as_deref()), (3, "accepted", Some("HEAD~1")));
        assert!(Arguments::read(&["--runs"]).is_err());
        assert!(Arguments::read(&["--fast"]).is_err());
    }
}
