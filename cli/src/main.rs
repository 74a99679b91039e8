//! The `callgate` command. Results on stdout, everything else on stderr; exit codes as the help says.
//!
//! ```text
//! main ─► check    a catalog's findings       ┐   catalog_file   a catalog's text, compiled; the tool meant
//!      ├► call     one call                   ├─► arguments      a call's text
//!      ├► diff     what changed in a catalog  │   findings       findings as text and as JSON
//!      ├► listing  the compiled programs      │   flags, output  flags and streams that commands share
//!      ├► compile  a catalog's compiled file  │   progress       how far a long run has come
//!      ├► eval     many instances and schemas │
//!      └► audit    recordings of many calls   ┘
//!
//! check ─► findings (with excerpt), annotations, sarif             portability    what providers have against tools
//! audit ─► input (files, packed or not) ─► pipeline ─► judge (with rows) ─► tally ─► table
//! ```

mod annotations;
mod arguments;
mod audit;
mod call;
mod catalog_file;
mod check;
mod compile;
mod diff;
mod eval;
mod excerpt;
mod findings;
mod flags;
mod listing;
mod output;
mod portability;
mod progress;
mod sarif;
mod shown_repair;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks an AI agent's tool calls against the tools' own schemas.
#[derive(Debug, Parser)]
#[command(name = "callgate", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 accepted, healthy, or every row answered; 1 rejected (in an audit under \
    --fail-on-reject), unhealthy under --strict, or a breaking diff; 2 usage, input/output, fault, unknown or uncompiled tool.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Compile catalogs and say what is wrong with their tools.
    Check(check::Args),
    /// Judge one call of a tool.
    Call(call::Args),
    /// Tell what has changed from one catalog to another, and whether it breaks callers.
    Diff(diff::Args),
    /// Print what a catalog's tools were compiled to, and what a call runs of it.
    Listing(listing::Args),
    /// Write a catalog's compiled form, which `check`, `call` and `listing` take in place of the catalog.
    Compile(compile::Args),
    /// Judge many instances, each by its own schema: JSON lines in, JSON lines out.
    Eval(eval::Args),
    /// Judge recorded calls by a catalog: what became of each, and what fails where, by tool.
    Audit(audit::Args),
}

/// Exit code of a call that was rejected, of catalogs that are unhealthy, and of a change that breaks callers.
const EXIT_REJECTED: u8 = 1;

/// Exit code where there is no answer: usage, input/output, fault, a tool that is not there or not compiled.
const EXIT_UNANSWERED: u8 = 2;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Check(args) => check::run(&args),
        Command::Call(args) => call::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Listing(args) => listing::run(&args),
        Command::Compile(args) => compile::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Audit(args) => audit::run(&args),
    };
    done.unwrap_or_else(|error| {
        output::log(&format!("{error:#}"));
        ExitCode::from(EXIT_UNANSWERED)
    })
}
