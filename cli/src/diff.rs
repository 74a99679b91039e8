//! `callgate diff`: what has changed from one catalog to another, and whether it breaks those who call.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use callgate::{Catalog, Change, Diff, Difference, Effect, Finding, Options, ToolDiff};
use serde::Serialize;

use crate::catalog_file::{CatalogFile, ensure_one_stdin, is_stdin};
use crate::findings;
use crate::flags::{CompileFlags, Format, FormatFlag};
use crate::output::{Styles, print, visible};
use crate::{EXIT_REJECTED, EXIT_UNANSWERED};

/// An example is shown up to here. Unit: characters.
const EXAMPLE_CHARS_MAX: usize = 80;

/// The flags of `callgate diff`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The catalog as it was, or its compiled form; `-` is stdin.
    old: PathBuf,
    /// The catalog as it is now, or its compiled form; `-` is stdin.
    new: PathBuf,
    /// Do not exit with 1 for a tool of which nothing but an undecided change counts as breaking.
    #[arg(long)]
    allow_undecided: bool,
    #[command(flatten)]
    compile: CompileFlags,
    #[command(flatten)]
    format: FormatFlag,
}

/// Compares the catalogs and prints what has changed.
pub fn run(args: &Args) -> Result<ExitCode> {
    ensure_one_stdin([&args.old, &args.new].map(|path| is_stdin(path)))?;
    let options = args.compile.options();
    let [old, new] = [&args.old, &args.new].map(|path| catalog(path, &args.compile, &options));
    let (old, new) = (old?, new?);
    let (Some(old), Some(new)) = (old, new) else {
        return Ok(ExitCode::from(EXIT_UNANSWERED));
    };
    let diff = new.diff_from(&old);
    print(|out| match args.format.format {
        Format::Human => write_human(out, &diff),
        Format::Json => write_json(out, &diff),
    })?;
    let breaks = |tool: &ToolDiff| tool.breaking && !(args.allow_undecided && tool.is_breaking_undecided());
    Ok(if diff.tools.iter().any(breaks) { ExitCode::from(EXIT_REJECTED) } else { ExitCode::SUCCESS })
}

/// The catalog of the file; `None` if it is none, which has been said then.
fn catalog(path: &Path, flags: &CompileFlags, options: &Options) -> Result<Option<Catalog>> {
    let file = CatalogFile::read(path)?;
    flags.ensure_for(&file)?;
    Ok(match file.compile(options) {
        Ok((catalog, _)) => Some(catalog),
        Err(report) => {
            findings::log(&file, &report.findings.iter().collect::<Vec<&Finding>>());
            None
        }
    })
}

/// ```text
/// narrower: 1 tool
///   roll (breaking)
///     input narrower at /properties/seed: minimum 0 -> 1, e.g. {"seed":0}
///
/// 3 tools: 1 narrower, 2 unchanged; 1 breaks callers
/// ```
fn write_human(out: &mut dyn Write, diff: &Diff) -> io::Result<()> {
    let styles = Styles::of(&io::stdout());
    for change in Change::ALL.into_iter().rev().filter(|change| *change != Change::Unchanged) {
        let tools: Vec<&ToolDiff> = diff.tools.iter().filter(|tool| tool.change == change).collect();
        if tools.is_empty() {
            continue;
        }
        writeln!(out, "{}{change}{:#}: {}", styles.name, styles.name, counted(tools.len()))?;
        for tool in tools {
            write_tool(out, styles, tool)?;
        }
        writeln!(out)?;
    }
    write_summary(out, diff)
}

fn write_tool(out: &mut dyn Write, styles: Styles, tool: &ToolDiff) -> io::Result<()> {
    let Styles { name, error, .. } = styles;
    write!(out, "  {name}{}{name:#}", visible(&tool.tool_id))?;
    writeln!(out, "{}", if tool.breaking { format!(" {error}(breaking){error:#}") } else { String::new() })?;
    let schemas = [("input", &tool.input), ("output", &tool.output)];
    for (role, schema) in schemas.into_iter().filter_map(|(role, diff)| diff.as_ref().map(|diff| (role, diff))) {
        for difference in &schema.differences {
            write_difference(out, styles, role, difference)?;
        }
    }
    tool.definition.iter().try_for_each(|difference| write_difference(out, styles, "definition", difference))
}

fn write_difference(out: &mut dyn Write, styles: Styles, role: &str, difference: &Difference) -> io::Result<()> {
    let style = match difference.effect {
        Effect::Narrower | Effect::Wider => styles.warning,
        Effect::Cosmetic | Effect::Undecided => styles.place,
    };
    write!(out, "    {role} {style}{}{style:#}", difference.effect)?;
    if !difference.pointer.is_empty() {
        write!(out, " at {}", visible(&difference.pointer))?;
    }
    write!(out, ": {}", visible(&difference.reason))?;
    match &difference.witness {
        Some(witness) => writeln!(out, ", e.g. {}", visible(&shortened(witness))),
        None => writeln!(out),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(EXAMPLE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn counted(tools: usize) -> String {
    format!("{tools} tool{}", if tools == 1 { "" } else { "s" })
}

fn write_summary(out: &mut dyn Write, diff: &Diff) -> io::Result<()> {
    write!(out, "{}", counted(diff.tools.len()))?;
    let counts = Change::ALL.into_iter().rev().map(|change| (change, diff.count(change)));
    for (at, (change, count)) in counts.filter(|(_, count)| *count > 0).enumerate() {
        write!(out, "{} {count} {change}", if at == 0 { ":" } else { "," })?;
    }
    match diff.tools.iter().filter(|tool| tool.breaking).count() {
        0 => writeln!(out, "; none breaks callers"),
        1 => writeln!(out, "; 1 breaks callers"),
        tools => writeln!(out, "; {tools} break callers"),
    }
}

/// How many tools there are of each kind of change, and how many break callers.
#[derive(Serialize)]
struct Counts {
    unchanged: usize,
    cosmetic: usize,
    added: usize,
    wider: usize,
    narrower: usize,
    undecided: usize,
    incompatible: usize,
    removed: usize,
    breaking: usize,
}

#[derive(Serialize)]
struct Json<'d> {
    counts: Counts,
    tools: &'d [ToolDiff],
}

fn write_json(out: &mut dyn Write, diff: &Diff) -> io::Result<()> {
    let counts = Counts {
        unchanged: diff.count(Change::Unchanged),
        cosmetic: diff.count(Change::Cosmetic),
        added: diff.count(Change::Added),
        wider: diff.count(Change::Wider),
        narrower: diff.count(Change::Narrower),
        undecided: diff.count(Change::Undecided),
        incompatible: diff.count(Change::Incompatible),
        removed: diff.count(Change::Removed),
        breaking: diff.tools.iter().filter(|tool| tool.breaking).count(),
    };
    serde_json::to_writer(&mut *out, &Json { counts, tools: &diff.tools })?;
    writeln!(out)
}
