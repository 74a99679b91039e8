//! `callgate listing`: what a catalog's tools were compiled to, what a call runs of it, and what either costs.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use callgate::{Catalog, Options, Outcome, Report, Schema, SchemaRole, Session, Tool};
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::arguments::CallArguments;
use crate::catalog_file::{CatalogFile, ensure_one_stdin, is_stdin};
use crate::findings;
use crate::flags::CompileFlags;
use crate::output::{as_printed, print};
use crate::{EXIT_REJECTED, EXIT_UNANSWERED};

/// The flags of `callgate listing`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The catalog, or its compiled form; `-` is stdin.
    catalog: PathBuf,
    /// The tool to list; all of the catalog without it.
    tool: Option<String>,
    /// Which stage of compiling to print.
    #[arg(long, value_enum, default_value_t = Stage::Final)]
    stage: Stage,
    /// Also judge a call of the tool with these arguments (JSON text, `@FILE`, or `-` for stdin), and print each
    /// instruction it runs, behind the fuel used before it. The exit code is then that of `callgate call`.
    #[arg(long, value_name = "ARGS", allow_negative_numbers = true)]
    #[arg(value_parser = OsStringValueParser::new().try_map(CallArguments::parse))]
    call: Option<CallArguments>,
    /// Also say what each instruction costs at most, once and by size, and what the tool costs as a whole; with `--call`,
    /// what each instruction spent of the fuel that a call may use.
    #[arg(long)]
    cost: bool,
    #[command(flatten)]
    compile: CompileFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// The schema's rules, as they were read.
    Ir,
    /// Blocks of instructions with labels.
    Lowered,
    /// The program that runs.
    Final,
}

/// Prints the programs, and the path of the call if there is one.
pub fn run(args: &Args) -> Result<ExitCode> {
    ensure_one_stdin([is_stdin(&args.catalog), args.call.as_ref().is_some_and(CallArguments::is_stdin)])?;
    let file = CatalogFile::read(&args.catalog)?;
    args.compile.ensure_for(&file)?;
    if args.stage != Stage::Final {
        file.ensure_text("--stage")?;
    }
    let options = args.compile.options();
    let (catalog, report) = match file.compile(&options) {
        Ok(compiled) => compiled,
        Err(report) => {
            log_refused(&file, &report, &[None]);
            bail!("{} is no catalog", file.name());
        }
    };
    let tools: Vec<&Tool> = match &args.tool {
        Some(name) => vec![file.tool(&catalog, name)?],
        None => catalog.tools().collect(),
    };
    log_refused(&file, &report, &tools.iter().map(|tool| Some(tool.name())).collect::<Vec<_>>());
    if args.cost && args.stage != Stage::Final {
        bail!("--cost is of the final program: it cannot be shown with another --stage");
    }
    let options = if file.is_compiled() { catalog.options().clone() } else { options };
    let lister = Lister { file: &file, options: &options, stage: args.stage, cost: args.cost };
    if let Some(arguments) = &args.call {
        return lister.list_call(&tools, &arguments.read(&options.limits)?);
    }
    print(|out| lister.list(out, &tools))?;
    // Of a whole catalog, what is compiled is the answer; of a tool that was named, that it is not.
    let is_missing = args.tool.is_some() && tools.iter().any(|tool| tool.input().is_none());
    Ok(if is_missing { ExitCode::from(EXIT_UNANSWERED) } else { ExitCode::SUCCESS })
}

/// Says on stderr why schemas of the tools (or, for none, the catalog) are not compiled, where they are not.
fn log_refused(file: &CatalogFile, report: &Report, tools: &[Option<&str>]) {
    let roles = [SchemaRole::Input, SchemaRole::Output];
    let refusing = tools.iter().flat_map(|tool| roles.map(|role| findings::that_refuse(report, *tool, role)));
    findings::log(file, &refusing.flatten().collect::<Vec<_>>());
}

/// Lists tools of one catalog.
struct Lister<'c> {
    file: &'c CatalogFile,
    options: &'c Options,
    stage: Stage,
    cost: bool,
}

impl Lister<'_> {
    fn list(&self, out: &mut dyn Write, tools: &[&Tool]) -> io::Result<()> {
        let texts = tools.iter().flat_map(|tool| self.texts(tool));
        for (at, text) in texts.enumerate() {
            writeln!(out, "{}{}", if at == 0 { "" } else { "\n" }, as_printed(text.trim_end()))?;
        }
        Ok(())
    }

    fn texts(&self, tool: &Tool) -> Vec<String> {
        match self.stage {
            Stage::Ir => self.stage_text(tool, callgate::Stage::Ir).into_iter().collect(),
            Stage::Lowered => self.stage_text(tool, callgate::Stage::Lowered).into_iter().collect(),
            Stage::Final => self.final_texts(tool),
        }
    }

    /// A stage before the last of what judges the tool's arguments.
    fn stage_text(&self, tool: &Tool, stage: callgate::Stage) -> Option<String> {
        tool.input()?;
        // The catalog has been compiled, so it is one.
        let text = Catalog::stage_listing(self.file.text(), tool.name(), stage, self.options).ok()?;
        Some(match text {
            Some(text) => format!("unit {}\n{text}", tool.name()),
            None => format!("unit {}   no schema", tool.name()),
        })
    }

    /// What judges the tool's arguments, then what judges its results; as far as they are compiled.
    fn final_texts(&self, tool: &Tool) -> Vec<String> {
        let output_name = format!("{} (output)", tool.name());
        let schemas = [(tool.input(), tool.name()), (tool.output(), &output_name)];
        let compiled = schemas.into_iter().filter_map(|(schema, name)| Some((schema?, name)));
        compiled
            .map(
                |(schema, name)| {
                    if self.cost { schema.cost_listing(name).to_string() } else { schema.listing(name).to_string() }
                },
            )
            .collect()
    }

    /// Lists one tool, the path of a call or what it spent, and the verdict.
    fn list_call(&self, tools: &[&Tool], arguments: &[u8]) -> Result<ExitCode> {
        let [tool] = tools else {
            bail!("--call needs a TOOL: {} has {}", self.file.name(), tools.len());
        };
        if self.stage != Stage::Final {
            bail!("--call runs the final program: it cannot be shown with another --stage");
        }
        let Some(schema) = tool.input() else {
            return Ok(ExitCode::from(EXIT_UNANSWERED));
        };
        let mut session = Session::new();
        let outcome = schema.check(&mut session, arguments);
        print(|out| {
            self.list(out, tools)?;
            let fuel =
                if self.cost { write_spending(out, schema, arguments) } else { write_path(out, schema, arguments) };
            write_outcome(out, &outcome, &fuel?)
        })?;
        Ok(match outcome {
            Outcome::Accepted(_) => ExitCode::SUCCESS,
            Outcome::Rejected(_) => ExitCode::from(EXIT_REJECTED),
            Outcome::Fault(_) | Outcome::UnknownTool | Outcome::NotCompiled => ExitCode::from(EXIT_UNANSWERED),
        })
    }
}

/// Writes each instruction that the call runs, behind the fuel used before it; answers the fuel in all.
fn write_path(out: &mut dyn Write, schema: &Schema, arguments: &[u8]) -> io::Result<String> {
    writeln!(out, "call")?;
    let mut written = Ok(());
    let fuel = schema.trace(arguments, |used, insn| {
        if written.is_ok() {
            written = writeln!(out, "{used:>8}  {insn}");
        }
    });
    written.map(|()| fuel.to_string())
}

/// Writes each instruction that the call runs, behind its fuel and how often it ran; answers the fuel in all, with its
/// share of the limit.
fn write_spending(out: &mut dyn Write, schema: &Schema, arguments: &[u8]) -> io::Result<String> {
    let spending = schema.spending(arguments);
    writeln!(out, "call\n    fuel     runs")?;
    for spent in &spending.insns {
        writeln!(out, "{:>8} {:>8}  {}", spent.fuel, spent.runs, spent.insn)?;
    }
    Ok(format!("{}, {} of {}", spending.fuel, share(spending.fuel, spending.fuel_max), spending.fuel_max))
}

/// Which part of the whole it is, in percent.
fn share(part: u64, whole: u64) -> String {
    match u128::from(part) * 10_000 / u128::from(whole.max(1)) {
        0 if part > 0 => "less than 0.01 %".to_owned(),
        hundredths => format!("{}.{:02} %", hundredths / 100, hundredths % 100),
    }
}

fn write_outcome(out: &mut dyn Write, outcome: &Outcome<'_>, fuel: &str) -> io::Result<()> {
    match outcome {
        Outcome::Accepted(_) => writeln!(out, "accepted   fuel {fuel}"),
        Outcome::Rejected(rejection) => {
            writeln!(out, "rejected   fuel {fuel}\n{}", as_printed(&rejection.to_string()))
        }
        Outcome::Fault(fault) => writeln!(out, "fault   fuel {fuel}\n{fault}"),
        Outcome::UnknownTool | Outcome::NotCompiled => writeln!(out, "not compiled"),
    }
}
