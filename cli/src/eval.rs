//! `callgate eval`: JSON lines of schemas and instances in, verdicts and failures out, in the same order.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use callgate::{Documents, DocumentsBuilder, Draft, Options, Outcome, Schema, Session, Step};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Rows handed out to the threads at once.
const BATCH_ROWS: usize = 2_048;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// JSON lines of `{id, schema, instance | instance_text, dialect?, assert_format?}`; standard input without it or
    /// with `-`.
    file: Option<PathBuf>,
    /// A JSON object from URI to document, for references to reach. May be given several times.
    #[arg(long, value_name = "FILE")]
    documents: Vec<PathBuf>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let documents = Arc::new(read_documents(&args.documents)?);
    let input: Box<dyn BufRead> = match &args.file {
        Some(path) if path.as_os_str() != "-" => {
            let file = std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            Box::new(BufReader::new(file))
        }
        _ => Box::new(BufReader::new(std::io::stdin())),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut lines = input.split(b'\n');
    loop {
        let batch: Vec<Vec<u8>> =
            lines.by_ref().take(BATCH_ROWS).collect::<Result<_, _>>().context("cannot read the rows")?;
        if batch.is_empty() {
            break;
        }
        for answer in answer_all(&batch, &documents) {
            out.write_all(answer.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn read_documents(paths: &[PathBuf]) -> Result<Documents> {
    let mut builder = DocumentsBuilder::default();
    for path in paths {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let map: BTreeMap<String, &RawValue> = serde_json::from_str(&text)
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
fn answer_all(batch: &[Vec<u8>], documents: &Arc<Documents>) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = batch.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = batch
            .chunks(part)
            .map(|rows| scope.spawn(move || Answerer::new(documents).answers(rows)))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
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
}

/// Answers rows, one thread's share. Rows that follow each other often have one schema: the last one compiled is kept.
struct Answerer<'d> {
    documents: &'d Arc<Documents>,
    session: Session,
    last: Option<(String, Result<Schema, (String, String)>)>,
}

impl<'d> Answerer<'d> {
    fn new(documents: &'d Arc<Documents>) -> Self {
        Answerer { documents, session: Session::new(), last: None }
    }

    fn answers(mut self, rows: &[Vec<u8>]) -> Vec<String> {
        rows.iter().filter(|row| !row.trim_ascii().is_empty()).map(|row| self.answer(row)).collect()
    }

    fn answer(&mut self, row: &[u8]) -> String {
        match serde_json::from_slice::<Row<'_>>(row) {
            Ok(row) => match self.judge(&row) {
                Ok(line) => line,
                Err(reason) => line(&Unanswered { id: &row.id, error: reason }),
            },
            Err(error) => {
                let id = id_of(row);
                line(&Unanswered { id: &id, error: Reason::finding("unreadable", format!("the row: {error}")) })
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
        self.session.keep_evaluation_paths(true);
        let verdict = match schema.check(&mut self.session, instance) {
            Outcome::Accepted(_) => {
                Verdict { id: &row.id, valid: true, line: None, top_path: None, message: None, errors: Vec::new() }
            }
            Outcome::Rejected(rejection) => Verdict {
                id: &row.id,
                valid: false,
                line: Some(rejection.to_string()),
                top_path: Some(rejection.path()),
                message: Some(rejection.message()),
                errors: rejection.failures().map(|failure| Failure {
                    keyword: failure.keyword().map(str::to_owned),
                    instance_path: failure.instance_path(),
                    schema_path: failure.evaluation_path(),
                    message: failure.message(),
                    description: failure.description().map(str::to_owned),
                }).collect(),
            },
            Outcome::Fault(fault) => {
                return Err(Reason {
                    outcome: "fault",
                    code: fault.code.as_str().to_owned(),
                    detail: fault.code.detail().to_owned(),
                });
            }
            Outcome::UnknownTool | Outcome::NotCompiled => {
                return Err(Reason::finding("not_compiled", "the schema was not compiled"));
            }
        };
        Ok(line(&verdict))
    }

    fn options(&self, row: &Row<'_>) -> Result<Options, Reason> {
        let draft = match &row.dialect {
            None => Draft::D2020,
            Some(name) => Draft::from_name(name)
                .ok_or_else(|| Reason::finding("unknown_dialect", format!("{name} is no dialect")))?,
        };
        Ok(Options {
            draft,
            assert_formats: row.assert_format,
            documents: Arc::clone(self.documents),
            ..Options::default()
        })
    }

    fn schema(&mut self, row: &Row<'_>, options: &Options) -> Result<Schema, Reason> {
        let key = format!("{} {} {}", options.draft.name(), options.assert_formats, row.schema.get());
        if self.last.as_ref().is_none_or(|(last, _)| *last != key) {
            let compiled = Schema::compile(row.schema.get(), options).map(|(schema, _)| schema).map_err(|refused| {
                let finding = refused.report.findings.iter().find(|finding| !finding.kind.compiles());
                finding.map_or_else(Default::default, |finding| {
                    let place = if finding.pointer.is_empty() { String::new() } else { format!(" at {}", finding.pointer) };
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

/// The row's id, where the rest of the row cannot be read.
fn id_of(row: &[u8]) -> serde_json::Value {
    serde_json::from_slice::<serde_json::Value>(row)
        .ok()
        .and_then(|row| row.get("id").cloned())
        .unwrap_or_default()
}

fn line(answer: &impl Serialize) -> String {
    // Strings, numbers and lists of them always serialise.
    let mut line = serde_json::to_string(answer).unwrap_or_default();
    line.push('\n');
    line
}
