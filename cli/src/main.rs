//! The `callgate` command. Results on stdout, everything else on stderr; exit codes as the help says.

mod eval;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks an AI agent's tool calls against the tools' own schemas.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 accepted, healthy, or every row answered; 1 rejected, or unhealthy under --strict; \
    2 usage, input/output, fault, unknown or uncompiled tool.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge many instances, each by its own schema: JSON lines in, JSON lines out.
    Eval(eval::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Eval(args) => eval::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("callgate: {error:#}");
            ExitCode::from(2)
        }
    }
}
