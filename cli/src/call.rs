//! `callgate call`: one call of a tool, judged.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use callgate::{Catalog, Outcome, Rejection, Rendering, Report, SchemaRole, Session, Style};
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::Serialize;

use crate::arguments::CallArguments;
use crate::catalog_file::{CatalogFile, ensure_one_stdin, is_stdin};
use crate::findings;
use crate::flags::{CompileFlags, Format, FormatFlag, StyleFlags};
use crate::output::{self, as_printed, print};
use crate::{EXIT_REJECTED, EXIT_UNANSWERED};

/// The flags of `callgate call`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The catalog that has the tool, or its compiled form; `-` is stdin.
    catalog: PathBuf,
    /// The tool's name.
    tool: String,
    /// The arguments: JSON text, `@FILE`, or `-` for stdin. Without them the call has no arguments, which is `{}`.
    #[arg(value_name = "ARGS", allow_negative_numbers = true)]
    #[arg(value_parser = OsStringValueParser::new().try_map(CallArguments::parse))]
    arguments: Option<CallArguments>,
    #[command(flatten)]
    compile: CompileFlags,
    #[command(flatten)]
    style: StyleFlags,
    #[command(flatten)]
    format: FormatFlag,
}

/// Judges the call and prints `ok` or what is wrong with it.
pub fn run(args: &Args) -> Result<ExitCode> {
    let arguments_stdin = args.arguments.as_ref().is_some_and(CallArguments::is_stdin);
    ensure_one_stdin([is_stdin(&args.catalog), arguments_stdin])?;
    let file = CatalogFile::read(&args.catalog)?;
    args.compile.ensure_for(&file)?;
    let options = args.compile.options();
    let arguments = match &args.arguments {
        Some(arguments) => arguments.read(&options.limits)?,
        None => b"{}".to_vec(),
    };
    let answer = match file.compile(&options) {
        Ok((catalog, report)) => {
            let rendering = match args.format.format {
                Format::Human => args.style.rendering(),
                Format::Json => args.style.rendering_of(Style::Json),
            };
            judge(&file, &catalog, &report, &args.tool, &arguments, &rendering)
        }
        Err(report) => refused(&file, &report, None),
    };
    if let Answer::Unanswered(error) = &answer {
        output::log(&error.to_string());
    }
    print(|out| match args.format.format {
        Format::Human => answer.write_human(out),
        Format::Json => answer.write_json(out),
    })?;
    Ok(answer.exit_code())
}

/// The answer to a call.
enum Answer {
    Accepted,
    /// The text of the rejection: as `--format json` prints it, the object of the style `json`.
    Rejected(String),
    Unanswered(Reason),
}

/// Why there is no verdict.
#[derive(Serialize)]
struct Reason {
    outcome: NoVerdict,
    code: String,
    detail: String,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum NoVerdict {
    /// The schema, or the catalog, is not compiled.
    Finding,
    /// The gate declined.
    Fault,
    /// The catalog has no such tool.
    UnknownTool,
}

fn judge(
    file: &CatalogFile,
    catalog: &Catalog,
    report: &Report,
    name: &str,
    arguments: &[u8],
    rendering: &Rendering,
) -> Answer {
    let tool = match file.tool(catalog, name) {
        Ok(tool) => tool,
        Err(unknown) => {
            return Answer::unanswered(NoVerdict::UnknownTool, "unknown_tool", unknown.to_string());
        }
    };
    let Some(schema) = tool.input() else {
        return refused(file, report, Some(name));
    };
    match schema.check(&mut Session::new(), arguments) {
        Outcome::Accepted(accepted) => {
            accepted.notices.iter().for_each(|notice| output::log(notice));
            Answer::Accepted
        }
        Outcome::Rejected(rejection) => Answer::rejected(&rejection, rendering),
        Outcome::Fault(fault) => {
            Answer::unanswered(NoVerdict::Fault, fault.code.as_str(), fault.code.detail().to_owned())
        }
        // A schema of its own is there and compiled.
        Outcome::UnknownTool | Outcome::NotCompiled => refused(file, report, Some(name)),
    }
}

/// The answer where a tool (or the catalog) is not compiled; its findings go to stderr.
fn refused(file: &CatalogFile, report: &Report, tool: Option<&str>) -> Answer {
    let refusing = findings::that_refuse(report, tool, SchemaRole::Input);
    findings::log(file, &refusing);
    let (code, detail) = refusing.first().map_or(("not_compiled", String::new()), |finding| {
        let place = if finding.pointer.is_empty() { String::new() } else { format!(" at {}", finding.pointer) };
        (finding.kind.as_str(), format!("{}{place}", finding.detail))
    });
    Answer::unanswered(NoVerdict::Finding, code, detail)
}

impl Answer {
    fn rejected(rejection: &Rejection<'_>, rendering: &Rendering) -> Answer {
        let mut text = String::new();
        let written = rejection.write(&mut text, rendering);
        debug_assert!(written.is_ok(), "a string takes all");
        Answer::Rejected(text)
    }

    fn unanswered(outcome: NoVerdict, code: &str, detail: String) -> Answer {
        Answer::Unanswered(Reason { outcome, code: code.to_owned(), detail })
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Answer::Accepted => ExitCode::SUCCESS,
            Answer::Rejected(_) => ExitCode::from(EXIT_REJECTED),
            Answer::Unanswered(_) => ExitCode::from(EXIT_UNANSWERED),
        }
    }

    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Answer::Accepted => writeln!(out, "ok"),
            Answer::Rejected(text) => writeln!(out, "{}", as_printed(text)),
            Answer::Unanswered(_) => Ok(()),
        }
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Answer::Accepted => writeln!(out, "{ACCEPTED_JSON}"),
            Answer::Rejected(text) => writeln!(out, "{text}"),
            Answer::Unanswered(error) => {
                #[derive(Serialize)]
                struct Unanswered<'a> {
                    error: &'a Reason,
                }
                serde_json::to_writer(&mut *out, &Unanswered { error })?;
                writeln!(out)
            }
        }
    }
}

/// What an accepted call is answered by: the members of a rejection, without any.
const ACCEPTED_JSON: &str =
    r#"{"valid":true,"line":null,"missing_only":false,"missing":[],"signature":null,"failures":[]}"#;

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outcome {
            NoVerdict::Finding => write!(f, "not compiled: {}", self.code),
            NoVerdict::Fault => write!(f, "fault: {}: {}", self.code, self.detail),
            NoVerdict::UnknownTool => f.write_str(&self.detail),
        }
    }
}
