//! `callgate call`: one call of a tool, judged.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use callgate::{Catalog, Failure, Outcome, Rejection, Repair, RepairOptions, Report, SchemaRole, Session};
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::Serialize;

use crate::arguments::CallArguments;
use crate::catalog_file::{CatalogFile, ensure_one_stdin, is_stdin};
use crate::findings;
use crate::flags::{CompileFlags, Format, FormatFlag};
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
        Ok((catalog, report)) => judge(&file, &catalog, &report, args, &arguments, Wanted::of(args)),
        Err(report) => refused(&file, &report, None, args.role()),
    };
    if let Answer::Unanswered { error } = &answer {
        output::log(&error.to_string());
    }
    print(|out| match args.format.format {
        Format::Human => answer.write_human(out),
        Format::Json => answer.write_json(out),
    })?;
    Ok(answer.exit_code())
}

/// What is wanted of a rejection beside its line; each takes time.
#[derive(Clone, Copy)]
struct Wanted {
    /// The failures behind the line.
    listed: bool,
    repair: bool,
}

impl Wanted {
    fn of(args: &Args) -> Wanted {
        let listed = args.format.format == Format::Json;
        Wanted { listed, repair: listed || args.repair }
    }
}

/// The answer to a call, as `--format json` prints it.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Verdict {
        valid: bool,
        line: Option<String>,
        /// Whether all that is wrong is that required information is missing.
        missing_only: bool,
        /// JSON Pointers of what is missing, if so.
        missing: Vec<String>,
        /// 16 hexadecimal digits; none for an accepted call.
        signature: Option<String>,
        failures: Vec<FailureJson>,
        /// How many failures the limit on listed ones has left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        unlisted: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        repair: Option<Repair>,
        /// What is to be said of an accepted call.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        notices: Vec<String>,
    },
    Unanswered {
        error: Reason,
    },
}

#[derive(Serialize)]
struct FailureJson {
    code: String,
    keyword: Option<String>,
    instance_location: String,
    keyword_location: String,
    message: String,
    description: Option<String>,
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
}

fn judge(
    file: &CatalogFile,
    catalog: &Catalog,
    report: &Report,
    args: &Args,
    arguments: &[u8],
    wanted: Wanted,
) -> Answer {
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
            accepted.notices.iter().for_each(|notice| output::log(notice));
            Answer::accepted(accepted.notices)
        }
        Outcome::Rejected(rejection) => Answer::rejected(&rejection, wanted.listed),
        Outcome::Fault(fault) => {
            Answer::unanswered(NoVerdict::Fault, fault.code.as_str(), fault.code.detail().to_owned())
        }
        Outcome::UnknownTool | Outcome::NotCompiled => refused(file, report, Some(name), args.role()),
    };
    if let Answer::Verdict { valid: false, repair, .. } = &mut answer
        && wanted.repair
        && args.role() == SchemaRole::Input
        && let Some(schema) = tool.input()
    {
        *repair = schema.repair(&mut session, arguments, &RepairOptions::default());
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
    fn accepted(notices: Vec<String>) -> Answer {
        Answer::Verdict {
            valid: true,
            line: None,
            missing_only: false,
            missing: Vec::new(),
            signature: None,
            failures: Vec::new(),
            unlisted: None,
            repair: None,
            notices,
        }
    }

    /// `listed`: whether the failures behind the line are to be shown too; writing them all out can take long.
    fn rejected(rejection: &Rejection<'_>, listed: bool) -> Answer {
        Answer::Verdict {
            valid: false,
            line: Some(rejection.to_string()),
            missing_only: listed && rejection.missing_only(),
            missing: if listed { rejection.missing().map(|missing| missing.pointer()).collect() } else { Vec::new() },
            signature: Some(format!("{:016x}", rejection.signature())),
            failures: if listed {
                rejection.failures().map(|failure| FailureJson::of(&failure)).collect()
            } else {
                Vec::new()
            },
            unlisted: Some(rejection.unlisted()).filter(|unlisted| *unlisted > 0),
            repair: None,
            notices: Vec::new(),
        }
    }

    fn unanswered(outcome: NoVerdict, code: &str, detail: String) -> Answer {
        Answer::Unanswered { error: Reason { outcome, code: code.to_owned(), detail } }
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Answer::Verdict { valid: true, .. } => ExitCode::SUCCESS,
            Answer::Verdict { .. } => ExitCode::from(EXIT_REJECTED),
            Answer::Unanswered { .. } => ExitCode::from(EXIT_UNANSWERED),
        }
    }

    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Answer::Verdict { line: Some(line), repair, .. } => {
                writeln!(out, "{}", as_printed(line))?;
                repair.as_ref().map_or(Ok(()), |repair| write_repair(out, repair))
            }
            Answer::Verdict { .. } => writeln!(out, "ok"),
            Answer::Unanswered { .. } => Ok(()),
        }
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }
}

fn write_repair(out: &mut dyn Write, repair: &Repair) -> io::Result<()> {
    for step in repair.steps() {
        writeln!(out, "repair: {} at {}", step.rule(), as_printed(step.path()))?;
    }
    writeln!(out, "repaired: {}", as_printed(repair.arguments()))
}

impl FailureJson {
    fn of(failure: &Failure<'_, '_>) -> FailureJson {
        FailureJson {
            code: failure.code().to_owned(),
            keyword: failure.keyword().map(str::to_owned),
            instance_location: failure.instance_location(),
            keyword_location: failure.keyword_location().to_owned(),
            message: failure.message(),
            description: failure.description().map(str::to_owned),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outcome {
            NoVerdict::Finding => write!(f, "not compiled: {}", self.code),
            NoVerdict::Fault => write!(f, "fault: {}: {}", self.code, self.detail),
            NoVerdict::UnknownTool => f.write_str(&self.detail),
        }
    }
}
