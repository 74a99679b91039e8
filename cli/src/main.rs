//! The `callgate` command. Results on stdout, everything else on stderr; exit codes as the help says.
//!
//! ```text
//! main ─► check    a catalog's findings       ┐   catalog_file   a catalog's text, compiled; the tool meant
//!      ├► call     one call                   ├─► arguments      a call's text
//!      ├► listing  the compiled programs      │   findings       findings as text and as JSON
//!      ├► eval     many instances and schemas │   flags, output   flags and streams that commands share
//!      └► audit    recordings of many calls   ┘   progress        how far a long run has come
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
mod eval;
mod excerpt;
mod findings;
mod flags;
mod listing;
mod output;
mod portability;
mod progress;
mod sarif;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks an AI agent's tool calls against the tools' own schemas.
#[derive(Debug, Parser)]
#[command(name = "callgate", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 accepted, healthy, or every row answered; 1 rejected (in an audit \
    under --fail-on-reject), or unhealthy under --strict; 2 usage, input/output, fault, unknown or uncompiled tool.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Compile catalogs and say what is wrong with their tools.
    Check(check::Args),
    /// Judge one call of a tool.
    Call(call::Args),
    /// Print what a catalog's tools were compiled to, and what a call runs of it.
    Listing(listing::Args),
    /// Judge many instances, each by its own schema: JSON lines in, JSON lines out.
    Eval(eval::Args),
    /// Judge recorded calls by a catalog: what became of each, and what fails where, by tool.
    Audit(audit::Args),
}

/// Exit code of a call that was rejected, and of catalogs that are unhealthy.
const EXIT_REJECTED: u8 = 1;

/// Exit code where there is no answer: usage, input/output, fault, a tool that is not there or not compiled.
const EXIT_UNANSWERED: u8 = 2;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Check(args) => check::run(&args),
        Command::Call(args) => call::run(&args),
        Command::Listing(args) => listing::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Audit(args) => audit::run(&args),
    };
    done.unwrap_or_else(|error| {
        output::log(&format!("{error:#}"));
        ExitCode::from(EXIT_UNANSWERED)
    })
}
