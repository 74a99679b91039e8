//! `callgate check`: what is wrong with the tools of catalogs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use callgate::{FindingKind, Options, Report};
use serde::Serialize;

use crate::catalog_file::{CatalogFile, ensure_one_stdin, is_stdin};
use crate::findings::{self, FindingJson};
use crate::flags::{Format, FormatFlag, LimitFlags};
use crate::output::{self, Styles, print};
use crate::{EXIT_REJECTED, EXIT_UNANSWERED};

/// The flags of `callgate check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Catalogs of tools: MCP `tools/list` results or responses, OpenAI or Anthropic tools, a list or map of tools; or
    /// compiled ones, of which is said what was found when they were compiled. Each file is a catalog of its own; `-` is stdin.
    #[arg(required = true, value_name = "CATALOG")]
    catalogs: Vec<PathBuf>,
    /// Exit with 1 if any finding is an error.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    limits: LimitFlags,
    #[command(flatten)]
    format: FormatFlag,
}

/// A catalog and what was found in it.
struct Checked {
    file: CatalogFile,
    report: Report,
}

/// Checks the catalogs and prints what was found. A file that cannot be read does not cost the others.
pub fn run(args: &Args) -> Result<ExitCode> {
    ensure_one_stdin(args.catalogs.iter().map(|path| is_stdin(path)))?;
    let options = Options { limits: args.limits.limits(), ..Options::default() };
    let mut checked = Vec::new();
    for path in &args.catalogs {
        match check(path, &options, args.limits.is_any_set()) {
            Ok(catalog) => checked.push(catalog),
            Err(error) => output::log(&format!("{error:#}")),
        }
    }
    let all_read = checked.len() == args.catalogs.len();
    if !checked.is_empty() {
        print(|out| match args.format.format {
            Format::Human => write_human(out, &checked),
            Format::Json => write_json(out, &checked),
        })?;
    }
    Ok(if !all_read {
        ExitCode::from(EXIT_UNANSWERED)
    } else if args.strict && checked.iter().any(|checked| checked.report.has_errors()) {
        ExitCode::from(EXIT_REJECTED)
    } else {
        ExitCode::SUCCESS
    })
}

fn check(path: &Path, options: &Options, limits_are_set: bool) -> Result<Checked> {
    let file = CatalogFile::read(path)?;
    let compiled = file.text().is_none();
    ensure!(!(compiled && limits_are_set), "{} is compiled: --limit is for its source", file.name());
    let report = file.compile(options).map_or_else(|report| report, |(_, report)| report);
    Ok(Checked { file, report })
}

impl Checked {
    /// Whether no catalog is in the file, and so no tool to count.
    fn is_unreadable(&self) -> bool {
        self.report.findings.iter().any(|finding| finding.kind == FindingKind::Unreadable)
    }
}

/// The tools of all catalogs, counted.
#[derive(Debug, Default, Serialize)]
struct Counts {
    tools: usize,
    healthy: usize,
    flagged: usize,
    refused: usize,
}

impl Counts {
    fn of(checked: &[Checked]) -> Counts {
        let sum = |count: fn(&Report) -> usize| checked.iter().map(|checked| count(&checked.report)).sum();
        Counts {
            tools: sum(|report| report.tools),
            healthy: sum(|report| report.healthy),
            flagged: sum(|report| report.flagged),
            refused: sum(|report| report.refused),
        }
    }
}

fn write_human(out: &mut dyn Write, checked: &[Checked]) -> io::Result<()> {
    let styles = Styles::of(&io::stdout());
    for Checked { file, report } in checked {
        findings::write(out, styles, file, &report.findings)?;
        if !report.findings.is_empty() {
            writeln!(out)?;
        }
    }
    let Counts { tools, healthy, flagged, refused } = Counts::of(checked);
    let plural = if tools == 1 { "" } else { "s" };
    write!(out, "{tools} tool{plural}: {healthy} healthy, {flagged} flagged, {refused} refused")?;
    match checked.iter().filter(|checked| checked.is_unreadable()).count() {
        0 => writeln!(out),
        1 => writeln!(out, "; 1 catalog unreadable"),
        catalogs => writeln!(out, "; {catalogs} catalogs unreadable"),
    }
}

#[derive(Serialize)]
struct Json<'c> {
    #[serde(flatten)]
    counts: Counts,
    findings: Vec<FindingJson<'c>>,
}

fn write_json(out: &mut dyn Write, checked: &[Checked]) -> io::Result<()> {
    let findings = checked.iter().flat_map(|Checked { file, report }| {
        report.findings.iter().map(move |finding| FindingJson::new(file, finding))
    });
    let json = Json { counts: Counts::of(checked), findings: findings.collect() };
    serde_json::to_writer(&mut *out, &json)?;
    writeln!(out)
}
