//! `callgate call`: one call of a tool, judged.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use callgate::{Catalog, Outcome, Rejection, Rendering, RepairOptions, Report, SchemaRole, Session, Style};
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::Serialize;

use crate::arguments::CallArguments;
use crate::catalog_file::{CatalogFile, ensure_one_stdin, is_stdin};
use crate::findings;
use crate::flags::{CompileFlags, Format, FormatFlag, MaskedStyleFlags};
use crate::output::{self, as_printed, print};
use crate::shown_repair::ShownRepair;
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
    /// Say how a rejected call can be repaired without a loss, if it can: each rule and where, and the repaired arguments.
    /// `--format json` always does.
    #[arg(long)]
    repair: bool,
    /// ARGS is what the tool answered: an MCP result, whose structured content is held against the tool's output schema.
    #[arg(long)]
    result: bool,
    #[command(flatten)]
    compile: CompileFlags,
    #[command(flatten)]
    style: MaskedStyleFlags,
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
        Ok((catalog, report)) => judge(&file, &catalog, &report, args, &arguments),
        Err(report) => refused(&file, &report, None, args.role()),
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
    /// With what is to be said of it.
    Accepted(Vec<String>),
    Rejected {
        /// As `--format json` prints it, the object of the style `json`.
        text: String,
        repair: Option<ShownRepair>,
    },
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

impl Args {
    /// What is checked.
    fn role(&self) -> SchemaRole {
        if self.result { SchemaRole::Output } else { SchemaRole::Input }
    }

    fn rendering(&self) -> Rendering {
        match self.format.format {
            Format::Human => self.style.rendering(),
            Format::Json => self.style.rendering_of(Style::Json),
        }
    }

    /// Whether it is to be said how a call is repaired.
    fn repairs(&self) -> bool {
        !self.result && (self.repair || self.format.format == Format::Json)
    }
}

fn judge(file: &CatalogFile, catalog: &Catalog, report: &Report, args: &Args, arguments: &[u8]) -> Answer {
    let name = args.tool.as_str();
    let tool = match file.tool(catalog, name) {
        Ok(tool) => tool,
        Err(unknown) => {
            return Answer::unanswered(NoVerdict::UnknownTool, "unknown_tool", unknown.to_string());
        }
    };
    let mut session = Session::new();
    let outcome = match args.role() {
        SchemaRole::Input => catalog.check(&mut session, name, arguments),
        SchemaRole::Output => catalog.check_result(&mut session, name, arguments),
    };
    let mut answer = match outcome {
        Outcome::Accepted(accepted) => {
            let notices = match accepted.notices.len() {
                // They name what the call has and the schema has not.
                len if len > 0 && args.style.mask => vec![format!("{len} notices are not shown")],
                _ => accepted.notices,
            };
            for notice in &notices {
                output::log(notice);
            }
            Answer::Accepted(notices)
        }
        Outcome::Rejected(rejection) => Answer::rejected(&rejection, &args.rendering()),
        Outcome::Fault(fault) => {
            Answer::unanswered(NoVerdict::Fault, fault.code.as_str(), fault.code.detail().to_owned())
        }
        Outcome::UnknownTool | Outcome::NotCompiled => refused(file, report, Some(name), args.role()),
    };
    if let Answer::Rejected { repair, .. } = &mut answer
        && args.repairs()
        && let Some(schema) = tool.input()
    {
        *repair = schema
            .repair(&mut session, arguments, &RepairOptions::default())
            .map(|repair| ShownRepair::of(repair, args.style.mask));
    }
    answer
}

/// The answer where a tool (or the catalog) is not compiled; its findings go to stderr.
fn refused(file: &CatalogFile, report: &Report, tool: Option<&str>, role: SchemaRole) -> Answer {
    let refusing = findings::that_refuse(report, tool, role);
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
        Answer::Rejected { text, repair: None }
    }

    fn unanswered(outcome: NoVerdict, code: &str, detail: String) -> Answer {
        Answer::Unanswered(Reason { outcome, code: code.to_owned(), detail })
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Answer::Accepted(_) => ExitCode::SUCCESS,
            Answer::Rejected { .. } => ExitCode::from(EXIT_REJECTED),
            Answer::Unanswered(_) => ExitCode::from(EXIT_UNANSWERED),
        }
    }

    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Answer::Accepted(_) => writeln!(out, "ok"),
            Answer::Rejected { text, repair } => {
                writeln!(out, "{}", as_printed(text))?;
                repair.as_ref().map_or(Ok(()), |repair| repair.write_human(out))
            }
            Answer::Unanswered(_) => Ok(()),
        }
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Answer::Accepted(notices) if notices.is_empty() => writeln!(out, "{ACCEPTED_JSON}"),
            Answer::Accepted(notices) => write_with(out, ACCEPTED_JSON, "notices", notices),
            Answer::Rejected { text, repair: None } => writeln!(out, "{text}"),
            Answer::Rejected { text, repair: Some(repair) } => write_with(out, text, "repair", repair),
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

/// Writes a JSON object with a member more.
fn write_with(out: &mut dyn Write, object: &str, name: &str, value: &impl Serialize) -> io::Result<()> {
    write!(out, "{},\"{name}\":", object.strip_suffix('}').unwrap_or(object))?;
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out, "}}")
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
