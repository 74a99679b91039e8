//! `callgate check`: what is wrong with the tools of catalogs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use callgate::{Finding, FindingKind, Options, Portability, Report};
use serde::Serialize;

use crate::catalog_file::{CatalogFile, ensure_one_stdin, is_stdin};
use crate::findings::{self, FindingJson};
use crate::flags::{LimitFlags, PolicyFlags, ShapeFlag};
use crate::output::{self, Styles, print};
use crate::portability::{self, ForFlag, Judged, PortabilityJson};
use crate::progress::Progress;
use crate::{EXIT_REJECTED, EXIT_UNANSWERED, annotations, sarif};

/// The flags of `callgate check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Catalogs of tools: results and responses of MCP, requests and tools of OpenAI, Anthropic, Gemini and Bedrock,
    /// lists, maps and JSON lines of tools; or compiled ones, of which is said what was found when they were compiled. Each
    /// file is a catalog of its own; `-` is stdin.
    #[arg(required = true, value_name = "CATALOG")]
    catalogs: Vec<PathBuf>,
    /// Exit with 1 if any finding is an error, or if a provider refuses a tool.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    portable: ForFlag,
    #[command(flatten)]
    limits: LimitFlags,
    #[command(flatten)]
    shape: ShapeFlag,
    #[command(flatten)]
    policy: PolicyFlags,
    /// How to print the findings.
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    /// Text for people, with excerpts.
    Human,
    /// One line of JSON, as docs/check.schema.json describes it.
    Json,
    /// SARIF 2.1.0, for code review tools.
    Sarif,
    /// Workflow commands, which GitHub shows beside the lines of a change.
    Github,
}

/// A catalog and what was found in it.
struct Checked {
    file: CatalogFile,
    report: Report,
    portability: Portability,
}

/// Checks the catalogs and prints what was found. A file that cannot be read does not cost the others.
pub fn run(args: &Args) -> Result<ExitCode> {
    ensure_one_stdin(args.catalogs.iter().map(|path| is_stdin(path)))?;
    let options = Options { limits: args.limits.limits(), shape: args.shape.shape, ..Options::default() };
    let options = args.policy.apply(options);
    let mut checked = Vec::new();
    for path in &args.catalogs {
        match check(path, args, &options) {
            Ok(catalog) => checked.push(catalog),
            Err(error) => output::log(&format!("{error:#}")),
        }
    }
    let all_read = checked.len() == args.catalogs.len();
    if !checked.is_empty() {
        print(|out| match args.format {
            ReportFormat::Human => write_human(out, &checked),
            ReportFormat::Json => write_json(out, &checked),
            ReportFormat::Sarif => write_sarif(out, &checked),
            ReportFormat::Github => write_github(out, &checked),
        })?;
    }
    Ok(if !all_read {
        ExitCode::from(EXIT_UNANSWERED)
    } else if args.strict && checked.iter().any(Checked::has_errors) {
        ExitCode::from(EXIT_REJECTED)
    } else {
        ExitCode::SUCCESS
    })
}

fn check(path: &Path, args: &Args, options: &Options) -> Result<Checked> {
    let file = CatalogFile::read(path)?;
    let settled = file.is_compiled() && args.limits.is_any_set();
    ensure!(!settled, "{} is compiled: --limit is for its source", file.name());
    args.shape.ensure_for(&file)?;
    args.policy.ensure_for(&file)?;
    if args.portable.is_any_named() {
        file.ensure_text("--for")?;
    }
    let mut progress = Progress::of_tools(file.name());
    let compiled = file.compile_observed(options, &mut |done, all| progress.tell(done, all));
    let report = compiled.map_or_else(|report| report, |(_, report)| report);
    let portability = args.portable.judge(&file, options);
    Ok(Checked { file, report, portability })
}

impl Checked {
    fn has_errors(&self) -> bool {
        self.report.has_errors() || self.portability.refuses()
    }

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
    for Checked { file, report, .. } in checked {
        findings::write(out, styles, file, &report.findings)?;
        if !report.findings.is_empty() {
            writeln!(out)?;
        }
    }
    portability::write(out, styles, &judged(checked))?;
    let Counts { tools, healthy, flagged, refused } = Counts::of(checked);
    let plural = if tools == 1 { "" } else { "s" };
    write!(out, "{tools} tool{plural}: {healthy} healthy, {flagged} flagged, {refused} refused")?;
    match checked.iter().filter(|checked| checked.is_unreadable()).count() {
        0 => writeln!(out),
        1 => writeln!(out, "; 1 catalog unreadable"),
        catalogs => writeln!(out, "; {catalogs} catalogs unreadable"),
    }?;
    portability::write_summary(out, &judged(checked))
}

fn judged(checked: &[Checked]) -> Judged<'_> {
    checked.iter().map(|checked| (&checked.file, &checked.portability)).collect()
}

#[derive(Serialize)]
struct Json<'c> {
    #[serde(flatten)]
    counts: Counts,
    findings: Vec<FindingJson<'c>>,
    #[serde(flatten)]
    portability: PortabilityJson<'c>,
}

/// The findings of all catalogs, each with the file that it is from.
fn all(checked: &[Checked]) -> impl Iterator<Item = (&CatalogFile, &Finding)> {
    checked.iter().flat_map(|Checked { file, report, .. }| report.findings.iter().map(move |finding| (file, finding)))
}

fn write_json(out: &mut dyn Write, checked: &[Checked]) -> io::Result<()> {
    let findings = all(checked).map(|(file, finding)| FindingJson::new(file, finding));
    let portability = PortabilityJson::new(&judged(checked));
    let json = Json { counts: Counts::of(checked), findings: findings.collect(), portability };
    serde_json::to_writer(&mut *out, &json)?;
    writeln!(out)
}

fn write_sarif(out: &mut dyn Write, checked: &[Checked]) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &sarif::log(all(checked)))?;
    writeln!(out)
}

fn write_github(out: &mut dyn Write, checked: &[Checked]) -> io::Result<()> {
    all(checked).try_for_each(|(file, finding)| annotations::write(out, file, finding))
}
