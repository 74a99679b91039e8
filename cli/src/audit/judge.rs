//! Judges batches of rows: what became of each call, counted, and as a line of JSON if that is wanted.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::panic::{self, AssertUnwindSafe};

use callgate::{Catalog, Outcome, Report, Schema, SchemaRole, Session};
use serde::Serialize;

use super::input::{ROW_BYTES_MAX, Rows};
use super::rows::{Call, Malformed, Row};
use super::tally::{Example, Tally, Verdict};
use crate::findings;
use crate::flags::StyleFlags;

/// The tools that calls are judged by, numbered in the order of the catalog.
pub struct Targets<'c> {
    by_name: HashMap<&'c str, usize>,
    tools: Vec<Target<'c>>,
}

/// A tool.
pub struct Target<'c> {
    /// Its name in the catalog.
    pub name: &'c str,
    /// Its schema, or the kind and the detail of the finding that refuses it.
    schema: Result<&'c Schema, (String, String)>,
}

impl<'c> Targets<'c> {
    /// The tools of a catalog.
    pub fn of(catalog: &'c Catalog, report: &Report) -> Targets<'c> {
        let target = |tool: &'c callgate::Tool| {
            let schema = tool.input().ok_or_else(|| {
                let refusing = findings::that_refuse(report, Some(tool.name()), SchemaRole::Input);
                let first = refusing.first().map(|finding| (finding.kind.as_str().to_owned(), finding.detail.clone()));
                first.unwrap_or_else(|| ("not_compiled".to_owned(), String::new()))
            });
            Target { name: tool.name(), schema }
        };
        let tools: Vec<_> = catalog.tools().map(target).collect();
        let by_name = tools.iter().enumerate().map(|(at, tool)| (tool.name, at)).collect();
        Targets { by_name, tools }
    }

    /// The tools, by their numbers.
    pub fn tools(&self) -> &[Target<'c>] {
        &self.tools
    }

    /// The tool of that name: in the catalog of the row, if the file has several, or in the file as such.
    fn find(&self, group: Option<&str>, name: &str) -> Option<usize> {
        let grouped = group.and_then(|group| self.by_name.get(format!("{group}/{name}").as_str()));
        grouped.or_else(|| self.by_name.get(name)).copied()
    }
}

/// What is wanted of the judges.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// A line for each call and malformed row.
    pub lines: bool,
    /// Examples of each signature.
    pub samples: usize,
    /// The files' names, to be told in each line; none if there is one file.
    pub files: Vec<String>,
    /// How rejections are put into words.
    pub style: StyleFlags,
}

/// Memory for one batch and what became of it.
#[derive(Debug, Default)]
pub struct Batch {
    pub rows: Rows,
    /// The lines, up to [`LINES_BYTES`] and the last of them.
    pub lines: Vec<u8>,
    pub tally: Tally,
}

/// Lines that are kept of a batch. A short call can be answered by a long line, and a row hold many calls, so there is no
/// other bound. Unit: bytes.
pub const LINES_BYTES: usize = 4 << 20;

/// Takes the lines so far of a batch that has more than [`LINES_BYTES`] of them, and leaves none.
pub type Spill<'s> = &'s mut dyn FnMut(&mut Vec<u8>);

/// One thread's judge.
pub struct Judge<'j> {
    targets: &'j Targets<'j>,
    wanted: &'j Wanted,
    session: Session,
    /// The text of a rejection.
    text: String,
}

/// Where a row, or a call in it, is.
#[derive(Clone, Copy)]
struct Place {
    file: usize,
    row: u64,
    /// The call's number in its row, from 1; none for a row.
    call: Option<u64>,
}

/// What a line of the output says.
#[derive(Serialize)]
struct Answer<'l> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'l str>,
    row: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'l str>,
    outcome: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword_location: Option<&'l str>,
}

impl<'j> Judge<'j> {
    /// A judge with memory of its own.
    pub fn new(targets: &'j Targets<'j>, wanted: &'j Wanted) -> Self {
        Judge { targets, wanted, session: Session::new(), text: String::new() }
    }

    /// Judges the rows of a batch, whose lines and tally are empty.
    pub fn judge(&mut self, batch: &mut Batch, spill: Spill<'_>) {
        let Batch { rows, lines, tally } = batch;
        let lines = &mut Lines { wanted: self.wanted, bytes: lines, spill };
        let mut place = Place { file: rows.file, row: rows.first, call: None };
        if rows.is_too_long {
            tally.rows += 1;
            let why = format!("the row is longer than {} MiB", ROW_BYTES_MAX >> 20);
            self.malformed(lines, tally, place, &why);
            return;
        }
        let text = rows.text.strip_suffix(b"\n").unwrap_or(&rows.text);
        for row in text.split(|byte| *byte == b'\n') {
            // A mark that some editors begin a file with.
            let row = if place.row == 1 { row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row) } else { row };
            if !row.trim_ascii().is_empty() {
                tally.rows += 1;
                self.judge_or_say_why(lines, tally, place, row);
            }
            place.row += 1;
        }
    }

    /// No row makes the judge panic. Should one do so, it is told as malformed, and the rows after it are judged as ever.
    fn judge_or_say_why(&mut self, lines: &mut Lines<'_>, tally: &mut Tally, place: Place, row: &[u8]) {
        if panic::catch_unwind(AssertUnwindSafe(|| self.judge_row(lines, tally, place, row))).is_err() {
            self.session = Session::new();
            self.malformed(lines, tally, place, "judging the row panicked: a defect of callgate");
        }
    }

    fn judge_row(&mut self, lines: &mut Lines<'_>, tally: &mut Tally, place: Place, row: &[u8]) {
        let text = match std::str::from_utf8(row) {
            Ok(text) => text,
            Err(error) => {
                let why = format!("the row is not UTF-8 at column {}", error.valid_up_to() + 1);
                return self.malformed(lines, tally, place, &why);
            }
        };
        let row = match Row::read(text) {
            Ok(row) => row,
            Err(Malformed(why)) => return self.malformed(lines, tally, place, &why),
        };
        let group = row.catalog_key().map(std::borrow::Cow::into_owned);
        // A recording that comes with its tools is a catalog by its own number, in the file of all of them.
        let group = group.or_else(|| row.has_tools().then(|| place.row.to_string()));
        let mut calls = 0;
        row.calls(&mut |call| {
            calls += 1;
            let place = Place { call: Some(calls), ..place };
            match call {
                Ok(call) => self.judge_call(lines, tally, place, group.as_deref(), &call),
                Err(Malformed(why)) => self.malformed(lines, tally, place, &why),
            }
        });
        tally.without_call += u64::from(calls == 0);
    }

    fn judge_call(
        &mut self,
        lines: &mut Lines<'_>,
        tally: &mut Tally,
        place: Place,
        group: Option<&str>,
        call: &Call<'_>,
    ) {
        let Judge { targets, wanted, session, text } = self;
        let Some(at) = targets.find(group, &call.name) else {
            tally.unknown(&call.name, place.file, place.row);
            return lines.write(place, &Answer { tool: Some(&call.name), ..Answer::of(Verdict::UnknownTool) });
        };
        let Target { name, schema } = &targets.tools[at];
        let tool = Some(*name);
        text.clear();
        let outcome = match schema {
            Ok(schema) => schema.check(session, call.arguments.as_ref()),
            Err(_) => Outcome::NotCompiled,
        };
        let (verdict, code, keyword_location) = match &outcome {
            Outcome::Accepted(_) => {
                tally.accepted(at);
                return lines.write(place, &Answer { tool, ..Answer::of(Verdict::Accepted) });
            }
            Outcome::Rejected(rejection) => (Verdict::Rejected, rejection.code(), rejection.keyword_location()),
            Outcome::Fault(fault) => (Verdict::Fault, fault.code.as_str(), ""),
            Outcome::UnknownTool | Outcome::NotCompiled => {
                (Verdict::NotCompiled, schema.as_ref().err().map_or("not_compiled", |(kind, _)| kind.as_str()), "")
            }
        };
        let examples = tally.failed(at, verdict, code, keyword_location);
        let is_example = examples.len() < wanted.samples;
        if is_example || wanted.lines {
            // Writing to a string does not fail.
            let _ = match &outcome {
                Outcome::Rejected(rejection) => rejection.write(text, &wanted.style.rendering()),
                Outcome::Fault(fault) => write!(text, "{}", fault.code.detail()),
                _ => write!(text, "{}", schema.as_ref().err().map_or("", |(_, detail)| detail.as_str())),
            };
        }
        if is_example {
            examples.push(Example::new(place.file, place.row, text));
        }
        let keyword_location = (verdict == Verdict::Rejected).then_some(keyword_location);
        let line = Answer { tool, line: Some(text), code: Some(code), keyword_location, ..Answer::of(verdict) };
        lines.write(place, &line);
    }

    /// Counts what cannot be read, and says why.
    fn malformed(&self, lines: &mut Lines<'_>, tally: &mut Tally, place: Place, why: &str) {
        tally.malformed += 1;
        if tally.malformed_rows.len() < self.wanted.samples {
            tally.malformed_rows.push(Example::new(place.file, place.row, why));
        }
        lines.write(place, &Answer { line: Some(why), ..Answer::of(Verdict::Malformed) });
    }
}

impl Answer<'_> {
    fn of(outcome: Verdict) -> Self {
        Answer { file: None, row: 0, call: None, tool: None, outcome, line: None, code: None, keyword_location: None }
    }
}

/// The lines of a batch while they are written.
struct Lines<'l> {
    wanted: &'l Wanted,
    bytes: &'l mut Vec<u8>,
    spill: Spill<'l>,
}

impl Lines<'_> {
    /// Writes the line of that place, if lines are wanted.
    fn write(&mut self, place: Place, line: &Answer<'_>) {
        if !self.wanted.lines {
            return;
        }
        let Place { file, row, call } = place;
        let line = Answer { file: self.wanted.files.get(file).map(String::as_str), row, call, ..*line };
        // Strings and numbers always serialise, and a vector takes all.
        let written = serde_json::to_writer(&mut *self.bytes, &line);
        debug_assert!(written.is_ok());
        self.bytes.push(b'\n');
        if self.bytes.len() > LINES_BYTES {
            (self.spill)(self.bytes);
        }
    }
}
