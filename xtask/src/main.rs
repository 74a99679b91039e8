//! Developer commands, run as `cargo xtask COMMAND`.
//!
//! ```text
//! test              everything a fresh machine needs to pass, step by step
//! codegen [--check] docs/ from the tables of the source
//! bless             accept changed snapshots
//! tidy              rules of the house that no lint knows
//! oracle            scores of the oracle data and the catalogs of ../shared
//! instructions      counts of fixed cases, held against stored figures
//! bench             speed beside other validators, and beside another revision; growth; sizes
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line is what this crate is")]

mod bench;
mod cargo;
mod codegen;
mod instructions;
mod oracle;
mod source;
mod steps;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask COMMAND
  test
  codegen [--check]
  bless
  tidy
  oracle
  instructions [--bless]
  bench [FILTER] [--runs N] [--against REV] [--write]
  bench growth [--write]
  bench sizes [--write]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["test"] => steps::test(),
        ["codegen"] => codegen::write(),
        ["codegen", "--check"] => codegen::check(),
        ["bless"] => bless(),
        ["tidy"] => tidy::check(),
        ["oracle"] => oracle::score_all(),
        ["instructions"] => instructions::check(),
        ["instructions", "--bless"] => instructions::bless(),
        ["bench", rest @ ..] => bench::bench(rest),
        _ => bail!("{USAGE}"),
    }
}

/// Writes every snapshot anew. What changed is then in the working tree, to be read.
fn bless() -> Result<()> {
    cargo::run(&steps::TESTS, &[("INSTA_UPDATE", "always")])?;
    println!("Snapshots are written. Read the diff (git diff), line by line, before you commit it.");
    Ok(())
}

/// The repository.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
