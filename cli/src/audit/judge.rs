//! Judges batches of rows: what became of each call, counted, and as a line of JSON if that is wanted.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::str::{self, Utf8Error};

use ahash::RandomState;
use callgate::{Catalog, Outcome, RepairOptions, Report, Schema, SchemaRole, Session};
use memchr::memchr_iter;
use serde::Serialize;

use super::finder::Finder;
use super::input::{ROW_BYTES_MAX, Rows};
use super::rows::{Call, Malformed, Row};
use super::tally::{Example, Tally, Verdict};
use crate::findings;
use crate::flags::MaskedStyleFlags;
use crate::shown_repair::ShownRepair;

/// The tools that calls are judged by, numbered in the order of the catalog.
pub struct Targets<'c> {
    by_name: HashMap<&'c str, usize, RandomState>,
    tools: Vec<Target<'c>>,
}

/// A tool.
pub struct Target<'c> {
    /// Its name in the catalog.
    pub name: &'c str,
    /// Its schema, or the kind and the detail of the finding that refuses it.
    schema: Result<&'c Schema, (String, String)>,
    /// How the line of an accepted call ends.
    accepted: String,
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
            // A string always serialises.
            let name = serde_json::to_string(tool.name()).unwrap_or_default();
            Target { name: tool.name(), schema, accepted: format!(",\"tool\":{name},\"outcome\":\"accepted\"}}\n") }
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
    /// How rejected calls can be repaired.
    pub repairs: bool,
    /// The files' names, to be told in each line; none if there is one file.
    pub files: Vec<String>,
    /// How rejections are put into words.
    pub style: MaskedStyleFlags,
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

/// Memory for one call's arguments that is kept for later batches. Unit: bytes.
const PLAIN_BYTES: usize = 1 << 20;

/// Takes the lines so far of a batch that has more than [`LINES_BYTES`] of them, and leaves none.
pub type Spill<'s> = &'s mut dyn FnMut(&mut Vec<u8>);

/// One thread's judge.
pub struct Judge<'j> {
    targets: &'j Targets<'j>,
    wanted: &'j Wanted,
    session: Session,
    /// For repairs: what a rejection says is still in the other one.
    repairs: Session,
    /// The text of a rejection.
    text: String,
    /// Arguments without the escapes that they have as a string.
    plain: String,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<&'l ShownRepair>,
}

impl<'j> Judge<'j> {
    /// A judge with memory of its own.
    pub fn new(targets: &'j Targets<'j>, wanted: &'j Wanted) -> Self {
        let (session, repairs) = (Session::new(), Session::new());
        Judge { targets, wanted, session, repairs, text: String::new(), plain: String::new() }
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
        // A mark that some editors begin a file with.
        let mark: &[u8] = if place.row == 1 { b"\xef\xbb\xbf" } else { b"" };
        let text = text.strip_prefix(mark).unwrap_or(text);
        // All at once, this takes less than row by row.
        let whole = str::from_utf8(text).ok();
        let (mut finder, mut start) = (Finder::default(), 0);
        for end in memchr_iter(b'\n', text).chain([text.len()]) {
            let row = whole.and_then(|whole| whole.get(start..end));
            let row = row.map_or_else(|| str::from_utf8(&text[start..end]), Ok);
            if !row.is_ok_and(|row| row.trim_ascii().is_empty()) {
                tally.rows += 1;
                self.judge_or_say_why(lines, tally, place, row, &mut finder);
            }
            place.row += 1;
            start = end + 1;
        }
        self.plain.shrink_to(PLAIN_BYTES);
    }

    /// No row makes the judge panic. Should one do so, it is told as malformed, and the rows after it are judged as ever.
    fn judge_or_say_why<'r>(
        &mut self,
        lines: &mut Lines<'_>,
        tally: &mut Tally,
        place: Place,
        row: Result<&'r str, Utf8Error>,
        finder: &mut Finder<'r>,
    ) {
        if panic::catch_unwind(AssertUnwindSafe(|| self.judge_row(lines, tally, place, row, finder))).is_err() {
            (self.session, self.repairs) = (Session::new(), Session::new());
            self.malformed(lines, tally, place, "judging the row panicked: a defect of callgate");
        }
    }

    fn judge_row<'r>(
        &mut self,
        lines: &mut Lines<'_>,
        tally: &mut Tally,
        place: Place,
        row: Result<&'r str, Utf8Error>,
        finder: &mut Finder<'r>,
    ) {
        let not_text = |error: Utf8Error| format!("the row is not UTF-8 at column {}", error.valid_up_to() + 1);
        let row = match row.map_err(not_text).and_then(|text| Row::read(text, finder).map_err(|Malformed(why)| why)) {
            Ok(row) => row,
            Err(why) => return self.malformed(lines, tally, place, &why),
        };
        // A recording that comes with its tools is a catalog by its own number, in the file of all of them.
        let group = row.catalog_key().or_else(|| row.has_tools().then(|| place.row.to_string().into()));
        let mut plain = mem::take(&mut self.plain);
        let mut calls = 0;
        row.calls(&mut plain, &mut |call| {
            calls += 1;
            let place = Place { call: Some(calls), ..place };
            match call {
                Ok(call) => self.judge_call(lines, tally, place, group.as_deref(), &call),
                Err(Malformed(why)) => self.malformed(lines, tally, place, &why),
            }
        });
        self.plain = plain;
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
        let Judge { targets, wanted, session, repairs, text, .. } = self;
        let Some(at) = targets.find(group, &call.name) else {
            tally.unknown(&call.name, place.file, place.row);
            return lines.write(place, &Answer { tool: Some(&call.name), ..Answer::of(Verdict::UnknownTool) });
        };
        let Target { name, schema, accepted } = &targets.tools[at];
        let tool = Some(*name);
        text.clear();
        let outcome = match schema {
            Ok(schema) => schema.check(session, call.arguments),
            Err(_) => Outcome::NotCompiled,
        };
        let (verdict, code, keyword_location) = match &outcome {
            Outcome::Accepted(_) => {
                tally.accepted(at);
                return lines.write_accepted(place, accepted);
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
        let repair = match schema {
            Ok(schema) if wanted.repairs && verdict == Verdict::Rejected => {
                schema.repair(repairs, call.arguments, &RepairOptions::default())
            }
            _ => None,
        };
        let repair = repair.map(|repair| {
            tally.repaired(at, &repair);
            ShownRepair::of(repair, wanted.style.mask)
        });
        let (line, code, repair) = (Some(text.as_str()), Some(code), repair.as_ref());
        lines.write(place, &Answer { tool, line, code, keyword_location, repair, ..Answer::of(verdict) });
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
        Answer {
            file: None,
            row: 0,
            call: None,
            tool: None,
            outcome,
            line: None,
            code: None,
            keyword_location: None,
            repair: None,
        }
    }
}

/// The lines of a batch while they are written.
struct Lines<'l> {
    wanted: &'l Wanted,
    bytes: &'l mut Vec<u8>,
    spill: Spill<'l>,
}

impl Lines<'_> {
    /// Writes the line of an accepted call, if lines are wanted: as below, but most lines are such.
    fn write_accepted(&mut self, place: Place, end: &str) {
        if !self.wanted.lines {
            return;
        }
        let Place { file, row, call } = place;
        self.bytes.push(b'{');
        if let Some(file) = self.wanted.files.get(file) {
            self.write_member("\"file\":", file);
            self.bytes.push(b',');
        }
        self.write_member("\"row\":", &row);
        if let Some(call) = call {
            self.write_member(",\"call\":", &call);
        }
        self.bytes.extend_from_slice(end.as_bytes());
        self.spill_if_many();
    }

    fn write_member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.bytes.extend_from_slice(name.as_bytes());
        self.write_value(value);
    }

    fn write_value(&mut self, value: &(impl Serialize + ?Sized)) {
        // Strings and numbers always serialise, and a vector takes all.
        let written = serde_json::to_writer(&mut *self.bytes, value);
        debug_assert!(written.is_ok());
    }

    fn spill_if_many(&mut self) {
        if self.bytes.len() > LINES_BYTES {
            (self.spill)(self.bytes);
        }
    }

    /// Writes the line of that place, if lines are wanted.
    fn write(&mut self, place: Place, line: &Answer<'_>) {
        if !self.wanted.lines {
            return;
        }
        let Place { file, row, call } = place;
        let line = Answer { file: self.wanted.files.get(file).map(String::as_str), row, call, ..*line };
        self.write_value(&line);
        self.bytes.push(b'\n');
        self.spill_if_many();
    }
}
