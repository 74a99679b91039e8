//! `callgate eval`: JSON lines of schemas and instances in, verdicts and failures out, in the same order.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use callgate::{Documents, DocumentsBuilder, Draft, Options, Outcome, Rejection, Rendering, Schema, Session, Step};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::EXIT_UNANSWERED;
use crate::catalog_file::{INPUT_BYTES_MAX, ensure_one_stdin, is_stdin, read_file};
use crate::flags::{LimitFlags, PolicyFlags, StyleFlags};

/// Rows handed out to the threads at once.
const BATCH_ROWS: usize = 2_048;

/// Bytes of rows after which a batch takes no further one.
const BATCH_BYTES: usize = 64 << 20;

/// The flags of `callgate eval`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// JSON lines of `{id, schema, instance | instance_text, dialect?, assert_format?}`; stdin without it or with `-`.
    ///
    /// `dialect` is 4, 6, 7, 2019-09 or 2020-12 (the default), and holds where the schema has no `$schema`. Other
    /// members are ignored. Each row is answered by one line, in the same order: `{id, valid, line, top_path, message,
    /// errors}`, or `{id, error: {outcome, code, detail}}` where there is no verdict. With `--style` it has the
    /// rejection's `text` too.
    #[arg(value_name = "FILE")]
    rows: Option<PathBuf>,
    /// A JSON object from URI to document, for references to reach; may be given several times.
    #[arg(long, value_name = "FILE")]
    documents: Vec<PathBuf>,
    /// Judges by a lax reading, with formats asserted, and answers `{id, lax_ok, strict_ok, lines, coerced}`.
    ///
    /// `lines` are the field lines of a rejected instance; `coerced` is what a handler would get of an accepted one, else null.
    /// `strict_ok` says whether the instance is accepted without reading one type for another.
    #[arg(long)]
    lax: bool,
    #[command(flatten)]
    limits: LimitFlags,
    #[command(flatten)]
    policy: PolicyFlags,
    #[command(flatten)]
    style: StyleFlags,
}

/// Answers every row. Errors: the rows or documents cannot be read, or the answers not written.
pub fn run(args: &Args) -> Result<ExitCode> {
    let stdin = args.rows.as_deref().is_none_or(is_stdin);
    ensure_one_stdin(args.documents.iter().map(|path| is_stdin(path)).chain([stdin]))?;
    let documents = Arc::new(read_documents(&args.documents)?);
    let lax = args.lax;
    let base = Options { documents, limits: args.limits.limits(), lax, ..Options::default() };
    let base = args.policy.apply(base);
    let base = Options { assert_formats: lax || base.assert_formats, ..base };
    let input: Box<dyn BufRead> = match &args.rows {
        Some(path) if !stdin => {
            let file = std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            Box::new(BufReader::new(file))
        }
        _ => Box::new(io::stdin().lock()),
    };
    answer_rows(input, &mut BufWriter::new(io::stdout().lock()), &base, args.style)
}

/// Answers the rows batch by batch. A reader of the answers that goes away ends the run, without a word.
fn answer_rows(mut input: impl BufRead, out: &mut impl Write, base: &Options, style: StyleFlags) -> Result<ExitCode> {
    loop {
        let batch = read_batch(&mut input)?;
        if batch.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        let answers = answer_all(&batch, base, style);
        match answers.iter().try_for_each(|answer| out.write_all(answer.as_bytes())).and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::from(EXIT_UNANSWERED)),
            Err(error) => return Err(error).context("cannot write to stdout"),
        }
    }
}

/// The next rows; none at the end.
fn read_batch(input: &mut impl BufRead) -> Result<Vec<Vec<u8>>> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while batch.len() < BATCH_ROWS && bytes < BATCH_BYTES {
        let mut row = Vec::new();
        input.take(INPUT_BYTES_MAX).read_until(b'\n', &mut row).context("cannot read the rows")?;
        if row.is_empty() {
            break;
        }
        ensure!((row.len() as u64) < INPUT_BYTES_MAX, "cannot read the rows: one is larger than 1 GiB");
        bytes += row.len();
        row.pop_if(|last| *last == b'\n');
        batch.push(row);
    }
    Ok(batch)
}

fn read_documents(paths: &[PathBuf]) -> Result<Documents> {
    let mut builder = DocumentsBuilder::default();
    for path in paths {
        let map: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(&read_file(path)?)
            .with_context(|| format!("{} is no object from URI to document", path.display()))?;
        for (uri, document) in map {
            builder
                .add(&uri, document.get().as_bytes())
                .map_err(|error| anyhow::anyhow!("{}: {uri}: {error:?}", path.display()))?;
        }
    }
    Ok(builder.build())
}

/// The answers to a batch, in its order; every core takes a part.
fn answer_all(batch: &[Vec<u8>], base: &Options, style: StyleFlags) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = batch.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> =
            batch.chunks(part).map(|rows| scope.spawn(move || Answerer::new(base, style).answers(rows))).collect();
        let answers = parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        answers.flatten().collect()
    })
}

#[derive(Deserialize)]
struct Row<'r> {
    #[serde(default)]
    id: serde_json::Value,
    #[serde(borrow)]
    schema: &'r RawValue,
    #[serde(borrow, default, deserialize_with = "present")]
    instance: Option<&'r RawValue>,
    instance_text: Option<String>,
    dialect: Option<String>,
    #[serde(default)]
    assert_format: bool,
}

/// A member that is there, `null` too.
fn present<'r, D: serde::Deserializer<'r>>(deserializer: D) -> Result<Option<&'r RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Serialize)]
struct Verdict<'v> {
    id: &'v serde_json::Value,
    valid: bool,
    line: Option<String>,
    top_path: Option<Vec<Step>>,
    message: Option<String>,
    errors: Vec<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// The answer of `--lax`.
#[derive(Serialize)]
struct Reading<'v> {
    id: &'v serde_json::Value,
    lax_ok: bool,
    strict_ok: Option<bool>,
    lines: Vec<String>,
    coerced: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Failure {
    keyword: Option<String>,
    instance_path: Vec<Step>,
    schema_path: Vec<Step>,
    message: String,
    description: Option<String>,
}

#[derive(Serialize)]
struct Unanswered<'v> {
    id: &'v serde_json::Value,
    error: Reason,
}

#[derive(Serialize)]
struct Reason {
    outcome: &'static str,
    code: String,
    detail: String,
}

impl Reason {
    fn finding(code: &str, detail: impl Into<String>) -> Reason {
        Reason { outcome: "finding", code: code.to_owned(), detail: detail.into() }
    }

    /// Of an outcome that is no verdict.
    fn undecided(outcome: &Outcome<'_>) -> Reason {
        match outcome {
            Outcome::Fault(fault) => Reason {
                outcome: "fault",
                code: fault.code.as_str().to_owned(),
                detail: fault.code.detail().to_owned(),
            },
            _ => Reason::finding("not_compiled", "the schema was not compiled"),
        }
    }
}

/// Answers rows, one thread's share. Rows that follow each other often have one schema: the last one compiled is kept.
struct Answerer<'o> {
    base: &'o Options,
    style: StyleFlags,
    session: Session,
    last: Option<(String, Compiled)>,
}

/// A schema, or the code and the detail of the finding that refuses it.
type Compiled = Result<Schema, (String, String)>;

impl<'o> Answerer<'o> {
    fn new(base: &'o Options, style: StyleFlags) -> Self {
        let mut session = Session::new();
        session.keep_evaluation_paths(true);
        Answerer { base, style, session, last: None }
    }

    fn answers(mut self, rows: &[Vec<u8>]) -> Vec<String> {
        rows.iter().filter(|row| !row.trim_ascii().is_empty()).map(|row| self.answer_or_say_why(row)).collect()
    }

    /// No row makes the judge panic. Should one do so, it is answered as such, and the rows after it as ever.
    fn answer_or_say_why(&mut self, row: &[u8]) -> String {
        panic::catch_unwind(AssertUnwindSafe(|| self.answer(row))).unwrap_or_else(|_| {
            *self = Answerer::new(self.base, self.style);
            let detail = "judging the row panicked: a defect of callgate".to_owned();
            line(&Unanswered { id: &id_of(row), error: Reason { outcome: "fault", code: "panic".to_owned(), detail } })
        })
    }

    fn answer(&mut self, row: &[u8]) -> String {
        match serde_json::from_slice::<Row<'_>>(row) {
            Ok(row) => match self.judge(&row) {
                Ok(line) => line,
                Err(reason) => line(&Unanswered { id: &row.id, error: reason }),
            },
            Err(error) => {
                let reason = Reason::finding("unreadable", format!("the row: {error}"));
                line(&Unanswered { id: &id_of(row), error: reason })
            }
        }
    }

    fn judge(&mut self, row: &Row<'_>) -> Result<String, Reason> {
        let options = self.options(row)?;
        let instance = match (row.instance, &row.instance_text) {
            (Some(instance), None) => instance.get(),
            (None, Some(text)) => text,
            _ => return Err(Reason::finding("unreadable", "the row needs either instance or instance_text")),
        };
        let schema = self.schema(row, &options)?;
        if options.lax {
            return self.read(row, &schema, instance);
        }
        let verdict = match schema.check(&mut self.session, instance) {
            Outcome::Accepted(_) => Verdict {
                id: &row.id,
                valid: true,
                line: None,
                top_path: None,
                message: None,
                errors: Vec::new(),
                text: None,
            },
            Outcome::Rejected(rejection) => Verdict {
                id: &row.id,
                valid: false,
                line: Some(rejection.to_string()),
                top_path: Some(rejection.path()),
                message: Some(rejection.message()),
                errors: rejection
                    .failures()
                    .map(|failure| Failure {
                        keyword: failure.keyword().map(str::to_owned),
                        instance_path: failure.instance_path(),
                        schema_path: failure.evaluation_path(),
                        message: failure.message(),
                        description: failure.description().map(str::to_owned),
                    })
                    .collect(),
                text: self.style.style.map(|style| text_of(&rejection, &Rendering::of(style))),
            },
            other => return Err(Reason::undecided(&other)),
        };
        Ok(line(&verdict))
    }

    fn read(&mut self, row: &Row<'_>, schema: &Schema, instance: &str) -> Result<String, Reason> {
        let lines = match schema.check(&mut self.session, instance) {
            Outcome::Accepted(_) => Vec::new(),
            Outcome::Rejected(rejection) => rejection.field_lines(),
            other => return Err(Reason::undecided(&other)),
        };
        let coerced = schema.coerced_text(&mut self.session, instance);
        Ok(line(&Reading {
            id: &row.id,
            lax_ok: coerced.is_some(),
            strict_ok: schema.accepts_strictly(&mut self.session, instance),
            lines,
            coerced: coerced.and_then(|text| RawValue::from_string(text).ok()),
        }))
    }

    fn options(&self, row: &Row<'_>) -> Result<Options, Reason> {
        let draft = match &row.dialect {
            None => Draft::D2020,
            Some(name) => Draft::from_name(name)
                .ok_or_else(|| Reason::finding("unknown_dialect", format!("{name} is no dialect")))?,
        };
        let assert_formats = row.assert_format || self.base.assert_formats;
        Ok(Options { draft, assert_formats, ..self.base.clone() })
    }

    fn schema(&mut self, row: &Row<'_>, options: &Options) -> Result<Schema, Reason> {
        let key = format!("{} {} {}", options.draft.name(), options.assert_formats, row.schema.get());
        if self.last.as_ref().is_none_or(|(last, _)| *last != key) {
            let compiled = Schema::compile(row.schema.get(), options).map(|(schema, _)| schema).map_err(|refused| {
                let finding = refused.report.findings.iter().find(|finding| !finding.kind.compiles());
                finding.map_or_else(Default::default, |finding| {
                    let place =
                        if finding.pointer.is_empty() { String::new() } else { format!(" at {}", finding.pointer) };
                    (finding.kind.as_str().to_owned(), format!("{}{place}", finding.detail))
                })
            });
            self.last = Some((key, compiled));
        }
        match &self.last {
            Some((_, Ok(schema))) => Ok(schema.clone()),
            Some((_, Err((code, detail)))) => Err(Reason::finding(code, detail.clone())),
            None => Err(Reason::finding("not_compiled", "")),
        }
    }
}

fn text_of(rejection: &Rejection<'_>, rendering: &Rendering) -> String {
    let mut text = String::new();
    let written = rejection.write(&mut text, rendering);
    debug_assert!(written.is_ok(), "a string takes all");
    text
}

/// The row's id, where the rest of the row cannot be read.
fn id_of(row: &[u8]) -> serde_json::Value {
    serde_json::from_slice::<serde_json::Value>(row).ok().and_then(|row| row.get("id").cloned()).unwrap_or_default()
}

fn line(answer: &impl Serialize) -> String {
    // Strings, numbers and lists of them always serialise.
    let mut line = serde_json::to_string(answer).unwrap_or_default();
    line.push('\n');
    line
}
