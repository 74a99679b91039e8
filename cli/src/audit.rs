//! `callgate audit`: recorded calls, judged by a catalog: a line for each, and what fails where, by tool.

mod finder;
mod input;
mod judge;
mod pipeline;
mod rows;
mod scan;
mod table;
mod tally;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use callgate::{Catalog, Report};

use self::judge::{Targets, Wanted};
use self::pipeline::Done;
use self::table::Summary;
use crate::catalog_file::{CatalogFile, ensure_one_stdin, is_stdin};
use crate::findings;
use crate::flags::{CompileFlags, Format, FormatFlag, MaskedStyleFlags};
use crate::output::{self, Styles, print};
use crate::progress::{Progress, RowProgress};
use crate::{EXIT_REJECTED, EXIT_UNANSWERED};

/// The flags of `callgate audit`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The catalog that has the tools; `-` is stdin.
    catalog: PathBuf,
    /// JSON lines of calls, packed by gzip or zstd or not; `-` is stdin.
    ///
    /// A row is a call as it is (`{name, arguments}`, arguments as a value or as JSON text), OpenAI's `tool_calls` and
    /// `function_call` items, Anthropic's `tool_use`, Gemini's `functionCall`, MCP's `tools/call`, or a message, response or
    /// list with several of them. A row without a call is counted; one that cannot be read is answered as `malformed`.
    #[arg(required = true, value_name = "CALLS")]
    calls: Vec<PathBuf>,
    /// Write what became of each call to a file, as JSON lines in the order of the rows; `-` is stdout, and then the
    /// summary goes to stderr.
    ///
    /// Each line is `{file, row, call, tool, outcome, line, code, keyword_location}`, without the members that do not apply.
    /// `line` is the text of `--style`, the pinned line without it.
    /// `file` is there where several are read; `row` is the number of the line in it and `call` that of the call in the row,
    /// both from 1. `outcome` is accepted, rejected, fault, unknown_tool, not_compiled or malformed.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How many examples the summary shows of what fails in one place, at most 20.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=20))]
    sample: u8,
    /// Count the rejected calls that can be repaired without a loss, by tool and rule. Each takes a few more checks.
    ///
    /// The lines of `--output` then have `repair: {patch, steps, arguments}`.
    #[arg(long)]
    repair: bool,
    /// Exit with 1 if any call is rejected.
    #[arg(long)]
    fail_on_reject: bool,
    #[command(flatten)]
    compile: CompileFlags,
    #[command(flatten)]
    style: MaskedStyleFlags,
    #[command(flatten)]
    format: FormatFlag,
}

/// Judges all calls. Errors: the catalog or the calls cannot be read, or the lines not written.
pub fn run(args: &Args) -> Result<ExitCode> {
    ensure_one_stdin(args.calls.iter().chain([&args.catalog]).map(|path| is_stdin(path)))?;
    let output = args.output.as_deref().map(|path| Output::new(path, args)).transpose()?;
    let file = CatalogFile::read(&args.catalog)?;
    args.compile.ensure_for(&file)?;
    let Some((catalog, report)) = compile(&file, args) else {
        return Ok(ExitCode::from(EXIT_UNANSWERED));
    };
    let targets = Targets::of(&catalog, &report);
    let names: Vec<String> = args.calls.iter().map(|path| path.display().to_string()).collect();
    let wanted = Wanted {
        lines: output.is_some(),
        samples: usize::from(args.sample),
        repairs: args.repair,
        files: if names.len() > 1 { names.clone() } else { Vec::new() },
        style: args.style,
    };
    let is_stdout = output.as_ref().is_some_and(Output::is_stdout);
    let done = match judge(args, &targets, &wanted, output) {
        Ok(done) => done,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::from(EXIT_UNANSWERED)),
        Err(error) => return Err(error).context("cannot write what became of the calls"),
    };
    for (file, error) in &done.unread {
        output::log(&format!("cannot read {}: {error}", names.get(*file).map_or("", String::as_str)));
    }
    let summary = Summary::new(&done.tally, &targets, &wanted);
    let format = args.format.format;
    if is_stdout {
        // Nobody is left to hear that stderr is closed.
        let _ = write_summary(&mut io::stderr().lock(), &summary, format, Styles::of(&io::stderr()));
    } else {
        print(|out| write_summary(out, &summary, format, Styles::of(&io::stdout())))?;
    }
    Ok(exit_code(args, &done))
}

fn exit_code(args: &Args, done: &Done) -> ExitCode {
    if !done.unread.is_empty() {
        ExitCode::from(EXIT_UNANSWERED)
    } else if args.fail_on_reject && done.tally.counts.rejected > 0 {
        ExitCode::from(EXIT_REJECTED)
    } else {
        ExitCode::SUCCESS
    }
}

/// The catalog; none if the text is no catalog, which has been said then.
fn compile(file: &CatalogFile, args: &Args) -> Option<(Catalog, Report)> {
    let mut progress = Progress::of_tools(file.name());
    let compiled = file.compile_observed(&args.compile.options(), &mut |done, all| progress.tell(done, all));
    drop(progress);
    compiled.map_err(|report| findings::log(file, &report.findings.iter().collect::<Vec<_>>())).ok()
}

fn judge(args: &Args, targets: &Targets<'_>, wanted: &Wanted, output: Option<Output>) -> io::Result<Done> {
    let mut out: Box<dyn Write> = match output {
        Some(output) => output.open()?,
        None => Box::new(io::sink()),
    };
    let progress = RowProgress::of_bytes(bytes_of(&args.calls));
    pipeline::run(&args.calls, targets, wanted, &mut out, &mut |tally, read| progress.tell(read, tally.counts.calls))
}

/// The bytes of all files; `None` where they are not known.
fn bytes_of(files: &[PathBuf]) -> Option<u64> {
    let bytes = |path: &PathBuf| {
        let is_known = |metadata: &fs::Metadata| metadata.is_file() && !is_stdin(path);
        fs::metadata(path).ok().filter(is_known).map(|metadata| metadata.len())
    };
    files.iter().map(bytes).sum()
}

fn write_summary(out: &mut dyn Write, summary: &Summary<'_>, format: Format, styles: Styles) -> io::Result<()> {
    match format {
        Format::Human => summary.write_human(out, styles),
        Format::Json => summary.write_json(out),
    }
}

/// Where the lines go.
enum Output {
    Stdout,
    File(PathBuf),
}

impl Output {
    /// Errors: the file is one of those that are read, and opening it to write would empty it.
    fn new(path: &Path, args: &Args) -> Result<Output> {
        if is_stdin(path) {
            return Ok(Output::Stdout);
        }
        let is_same = |read: &PathBuf| match (fs::canonicalize(read), fs::canonicalize(path)) {
            (Ok(read), Ok(written)) => read == written,
            _ => false,
        };
        let read = args.calls.iter().chain([&args.catalog]).find(|read| !is_stdin(read) && is_same(read));
        ensure!(read.is_none(), "{} is read, and cannot be the output too", path.display());
        Ok(Output::File(path.to_owned()))
    }

    fn is_stdout(&self) -> bool {
        matches!(self, Output::Stdout)
    }

    fn open(self) -> io::Result<Box<dyn Write>> {
        Ok(match self {
            Output::Stdout => Box::new(io::stdout().lock()),
            Output::File(path) => {
                let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
                Box::new(File::create(&path).map_err(named)?)
            }
        })
    }
}
