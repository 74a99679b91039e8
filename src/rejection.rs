//! A rejection: what is wrong with a call, borrowed from the check, and as owned data.

use std::cell::RefCell;
use std::fmt::{self, Write};

use crate::found::Found;
use crate::schema::Fault;
use crate::style::Rendering;
use crate::summary::Step;
use callgate_vm::failure::{Inner, Record, Wording};
use callgate_vm::insn::Types;
use callgate_vm::json::{Malformed, Reason};
use callgate_vm::render::{Bounded, Inside, LocationStep, PREFIX, PathStep, Renderer, write_pointer_of};
use callgate_vm::tape::{Node, Tape};
use callgate_vm::unit::Unit;

/// A call that does not satisfy its schema, or is not JSON. Its `Display` is the line.
///
/// Borrows the session, the catalog and the arguments; [`to_owned`](Rejection::to_owned) lets go of all three. A check
/// finds the failure that speaks; the first question for the others ([`failures`](Rejection::failures),
/// [`unlisted`](Rejection::unlisted)) judges the arguments once more, to the end.
pub struct Rejection<'s> {
    pub(crate) cause: Cause<'s>,
    text_bytes_max: usize,
    /// What was checked, as it is named where it is not JSON.
    subject: &'static str,
    /// The catalog's default.
    pub(crate) rendering: &'s Rendering,
}

/// What most checks are of.
const ARGUMENTS: &str = "arguments are";

/// What a rejection is of.
pub(crate) enum Cause<'s> {
    Failed(&'s Unit, RefCell<Found<'s>>),
    /// The schema has nothing against the arguments as a lax handler reads them, but they cannot be read so.
    Misread(RefCell<Found<'s>>),
    Malformed(Malformed),
    NotJson(Tape<'s>, Node),
}

/// Bytes of a line about text that is not JSON are few and need no limit of their own.
const UNBOUNDED: usize = usize::MAX;

impl<'s> Rejection<'s> {
    fn new(cause: Cause<'s>, text_bytes_max: usize) -> Self {
        Rejection { cause, text_bytes_max, subject: ARGUMENTS, rendering: &Rendering::DEFAULT }
    }

    pub(crate) fn of(found: Found<'s>, text_bytes_max: usize) -> Self {
        Rejection::new(Cause::Failed(found.schema().unit(), RefCell::new(found)), text_bytes_max)
    }

    pub(crate) fn misread(found: Found<'s>, text_bytes_max: usize) -> Self {
        Rejection::new(Cause::Misread(RefCell::new(found)), text_bytes_max)
    }

    /// How much text is written at most.
    pub(crate) fn text_bytes_max(&self) -> usize {
        self.text_bytes_max
    }

    /// The first thing that a reading found, where the schema has nothing to say.
    fn misread_code(found: &RefCell<Found<'_>>) -> &'static str {
        found.borrow().field_lines(false).reading.failures().first().map_or(NOT_JSON, |failure| failure.code.as_str())
    }

    pub(crate) fn not_json(malformed: Malformed) -> Self {
        Rejection::new(Cause::Malformed(malformed), UNBOUNDED)
    }

    /// The first value of a host's object that JSON does not have.
    pub(crate) fn not_json_value(tape: Tape<'s>) -> Self {
        let node = tape.first_not_json().unwrap_or(0);
        Rejection::new(Cause::NotJson(tape, node), UNBOUNDED)
    }

    /// The same of a result.
    pub(crate) fn about_result(self) -> Self {
        Rejection { subject: "the result is", ..self }
    }

    /// Writes the line behind `prefix`, which is the host's to set; [`PREFIX`] is the usual one. Cut at the output
    /// limit on a character boundary, and then ends in `… (N bytes more)`. Allocates nothing of its own.
    pub fn write_line(&self, out: &mut impl Write, prefix: &str) -> fmt::Result {
        self.write_line_masked(out, prefix, false)
    }

    /// As [`write_line`](Self::write_line), its values masked or not.
    pub(crate) fn write_line_masked(&self, out: &mut impl Write, prefix: &str, masked: bool) -> fmt::Result {
        let mut out = Bounded::new(out, self.text_bytes_max);
        out.write_str(prefix)?;
        self.write_text(&mut out, masked)?;
        out.finish()
    }

    pub(crate) fn write_text(&self, out: &mut impl Write, masked: bool) -> fmt::Result {
        match &self.cause {
            Cause::Failed(_, found) => Renderer { masked, ..found.borrow().renderer() }.write_line(out),
            Cause::Misread(found) => write_misread(out, &found.borrow(), masked),
            Cause::Malformed(malformed) => write!(out, "{} not valid JSON: {malformed}", self.subject),
            Cause::NotJson(tape, node) => {
                write!(out, "{} not valid JSON: {} is no JSON value", self.subject, tape.slice(*node))?;
                if *node == 0 {
                    return Ok(());
                }
                out.write_str(" at ")?;
                write_pointer_of(&mut WithoutFirst { out, first: true }, *tape, 0, *node, masked)
            }
        }
    }

    /// The message alone: of the failure that speaks, without location and description.
    pub fn message(&self) -> String {
        let mut message = String::new();
        let written = match &self.cause {
            Cause::Failed(_, found) => {
                let found = found.borrow();
                let renderer = found.renderer();
                let mut out = Bounded::new(&mut message, self.text_bytes_max);
                let written = renderer.top().map_or(Ok(()), |top| renderer.write_message(&mut out, &top.deep));
                written.and_then(|()| out.finish())
            }
            Cause::Misread(found) => {
                let found = found.borrow();
                let lines = found.field_lines(false);
                let mut out = Bounded::new(&mut message, self.text_bytes_max);
                let first = lines.reading.failures().first();
                let written = first.map_or(Ok(()), |failure| lines.write_message(&mut out, failure));
                written.and_then(|()| out.finish())
            }
            _ => self.write_text(&mut message, false),
        };
        debug_assert!(written.is_ok());
        message
    }

    /// Where the failure that speaks stands: steps from the arguments' root.
    pub fn path(&self) -> Vec<Step> {
        match &self.cause {
            Cause::Failed(_, found) => {
                let found = found.borrow();
                let renderer = found.renderer();
                renderer.top().map_or(Vec::new(), |top| steps(renderer.location(top.own.path)))
            }
            Cause::Misread(found) => {
                let found = found.borrow();
                let lines = found.field_lines(false);
                let first = lines.reading.failures().first();
                first.map_or(Vec::new(), |failure| steps(lines.instance_steps(failure)))
            }
            _ => Vec::new(),
        }
    }

    /// The code of the failure that speaks; see [`Failure::code`]. Lists no others.
    pub fn code(&self) -> &'s str {
        match &self.cause {
            Cause::Failed(unit, _) => self.top().map_or(FALSE_SCHEMA, |own| code_of_failure(unit, &own)),
            Cause::Misread(found) => Self::misread_code(found),
            Cause::Malformed(malformed) => code_of(malformed),
            Cause::NotJson(..) => NOT_JSON,
        }
    }

    /// Where in the schema the keyword of the failure that speaks is; see [`Failure::keyword_location`]. Lists no others.
    pub fn keyword_location(&self) -> &'s str {
        match &self.cause {
            Cause::Failed(unit, _) => self.top().map_or("", |own| unit.keyword_location(&own)),
            _ => "",
        }
    }

    /// The failure that speaks, as it stands in the list of all.
    fn top(&self) -> Option<Record> {
        match &self.cause {
            Cause::Failed(_, found) => found.borrow().renderer().top().map(|top| top.own),
            _ => None,
        }
    }

    /// The failures, in the order of the schema; at most as many as the limit on listed failures says, see
    /// [`unlisted`](Rejection::unlisted). Text that is not JSON is one failure. So it is where listing them all is beyond
    /// the limits of a call ([`listing_fault`](Rejection::listing_fault)): then the one that speaks stands alone.
    pub fn failures(&self) -> impl Iterator<Item = Failure<'_, 's>> {
        let len = match &self.cause {
            Cause::Failed(_, found) => {
                list(found);
                found.borrow().failures().len()
            }
            _ => 1,
        };
        (0..len).map(|at| Failure { rejection: self, at: At::Listed(at) })
    }

    /// How many failures are not listed.
    pub fn unlisted(&self) -> u64 {
        match &self.cause {
            Cause::Failed(_, found) => {
                list(found);
                found.borrow().unlisted()
            }
            _ => 0,
        }
    }

    /// Whether all that the branches of unions say is listed; [`Failure::branches`] leaves out what had no room.
    pub(crate) fn branches_are_whole(&self) -> bool {
        match &self.cause {
            Cause::Failed(_, found) => {
                list(found);
                !found.borrow().renderer().inner_cut()
            }
            _ => true,
        }
    }

    /// Why the failures beside the one that speaks could not be listed, if they could not.
    pub fn listing_fault(&self) -> Option<Fault> {
        match &self.cause {
            Cause::Failed(_, found) => {
                list(found);
                found.borrow().stopped().map(Fault::from)
            }
            _ => None,
        }
    }
}

/// Writes the first thing that a reading found, where the schema has nothing to say.
#[cold]
#[inline(never)]
fn write_misread(out: &mut impl Write, found: &Found<'_>, masked: bool) -> fmt::Result {
    let lines = found.field_lines(masked);
    lines.reading.failures().first().map_or(Ok(()), |failure| {
        lines.write_message(out, failure)?;
        lines.write_at(out, failure)
    })
}

/// The code of a schema that is `false`.
pub(crate) const FALSE_SCHEMA: &str = "false_schema";

/// The code of names that no part of the schema knows, where the options forbid them.
pub(crate) const UNKNOWN_PARAMETER: &str = "unknown_parameter";

/// The code of a failure: its keyword, or what failed without one.
pub(crate) fn code_of_failure<'u>(unit: &'u Unit, failure: &Record) -> &'u str {
    match (unit.keyword(failure), unit.wording(failure)) {
        (Some(keyword), _) => keyword,
        (None, Some(Wording::AdditionalProperties)) => UNKNOWN_PARAMETER,
        (None, _) => FALSE_SCHEMA,
    }
}

/// The code of what is not JSON.
pub(crate) const NOT_JSON: &str = "not_json";

/// The code of text that is not JSON.
pub(crate) fn code_of(malformed: &Malformed) -> &'static str {
    match malformed.reason {
        Reason::DuplicateName => "duplicate_member",
        _ => NOT_JSON,
    }
}

impl fmt::Debug for Rejection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rejection").field(&format_args!("{self}")).finish()
    }
}

/// Lists all failures, unless that is asked for by the writer that the line is being written to.
fn list(found: &RefCell<Found<'_>>) {
    if let Ok(mut found) = found.try_borrow_mut() {
        found.list();
    }
}

/// Passes on all but the first character: a JSON Pointer without its leading slash.
struct WithoutFirst<'w, W> {
    out: &'w mut W,
    first: bool,
}

impl<W: Write> Write for WithoutFirst<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let skip = if self.first { text.chars().next().map_or(0, char::len_utf8) } else { 0 };
        self.first &= text.is_empty();
        self.out.write_str(&text[skip..])
    }
}

impl fmt::Display for Rejection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_line(f, PREFIX)
    }
}

/// One failure of a call.
#[derive(Clone, Copy)]
pub struct Failure<'r, 's> {
    rejection: &'r Rejection<'s>,
    at: At,
}

/// Where a failure is listed.
#[derive(Clone, Copy)]
enum At {
    /// In the list of all: its place.
    Listed(usize),
    /// Among those inside unions: the failure itself, and which listing it is of.
    Inside(Inner, u32),
}

impl<'s> Failure<'_, 's> {
    /// What the unit, which outlives the rejection, says of the failure; `None` for text that is not JSON.
    fn noted(&self) -> Option<(&'s Unit, Record)> {
        match &self.rejection.cause {
            Cause::Failed(unit, found) => Some((*unit, self.at.record(&found.borrow())?)),
            _ => None,
        }
    }

    /// What is to be worded from the arguments.
    fn worded<T>(&self, word: impl FnOnce(Renderer<'_>, &Record) -> T) -> Option<T> {
        match &self.rejection.cause {
            Cause::Failed(_, found) => {
                let found = found.borrow();
                Some(word(found.renderer(), &self.at.record(&found)?))
            }
            _ => None,
        }
    }

    /// The stable code: the failing keyword, `false_schema`, `unknown_parameter`, `not_json` or `duplicate_member`.
    pub fn code(&self) -> &'s str {
        match &self.rejection.cause {
            Cause::Failed(..) => self.noted().map_or(FALSE_SCHEMA, |(unit, record)| code_of_failure(unit, &record)),
            Cause::Misread(found) => Rejection::misread_code(found),
            Cause::Malformed(malformed) => code_of(malformed),
            Cause::NotJson(..) => NOT_JSON,
        }
    }

    /// The failing keyword; none for the schema `false`, for unknown parameters and for text that is not JSON.
    pub fn keyword(&self) -> Option<&'s str> {
        let (unit, record) = self.noted()?;
        unit.keyword(&record)
    }

    /// Where in the arguments: JSON Pointer (RFC 6901).
    pub fn instance_location(&self) -> String {
        let mut pointer = String::new();
        let written = self.write_instance_location(&mut pointer, false);
        debug_assert!(written.is_ok());
        pointer
    }

    pub(crate) fn write_instance_location(&self, out: &mut impl Write, masked: bool) -> fmt::Result {
        match &self.rejection.cause {
            Cause::NotJson(tape, node) => write_pointer_of(out, *tape, 0, *node, masked),
            Cause::Misread(found) => {
                let found = found.borrow();
                let lines = found.field_lines(masked);
                lines.reading.failures().first().map_or(Ok(()), |failure| lines.write_pointer(out, failure))
            }
            _ => self
                .worded(|renderer, record| Renderer { masked, ..renderer }.write_pointer(out, record.path))
                .unwrap_or(Ok(())),
        }
    }

    /// Where in the arguments: the steps from their root.
    pub fn instance_path(&self) -> Vec<Step> {
        let worded = self.worded(|renderer, record| steps(renderer.location(record.path)));
        worded.unwrap_or_else(|| self.rejection.path())
    }

    /// Where in the schema the keyword is: JSON Pointer.
    pub fn keyword_location(&self) -> &'s str {
        self.noted().map_or("", |(unit, record)| unit.keyword_location(&record))
    }

    /// The way from the root schema to the keyword, through references. Empty unless the session keeps it
    /// ([`Session::keep_evaluation_paths`](crate::Session::keep_evaluation_paths)).
    pub fn evaluation_path(&self) -> Vec<Step> {
        let steps = self.worded(|renderer, record| {
            let steps = renderer.evaluation_path(record).map(|step| match step {
                PathStep::Name(name) => Step::Name(name.to_owned()),
                PathStep::Index(index) => Step::Index(index),
            });
            steps.collect()
        });
        steps.unwrap_or_default()
    }

    /// What is wrong. Cut at the output limit, like the line.
    pub fn message(&self) -> String {
        let mut message = String::new();
        let written = self.write_message(&mut message, false);
        debug_assert!(written.is_ok());
        message
    }

    pub(crate) fn write_message(&self, mut out: &mut dyn Write, masked: bool) -> fmt::Result {
        match &self.rejection.cause {
            Cause::Failed(..) => {}
            Cause::Misread(found) => {
                let found = found.borrow();
                let lines = found.field_lines(masked);
                let mut out = Bounded::new(&mut out, self.rejection.text_bytes_max);
                let first = lines.reading.failures().first();
                first.map_or(Ok(()), |failure| lines.write_message(&mut out, failure))?;
                return out.finish();
            }
            Cause::Malformed(_) | Cause::NotJson(..) => return self.rejection.write_text(&mut out, masked),
        }
        let worded = self.worded(|renderer, record| {
            let mut out = Bounded::new(&mut out, self.rejection.text_bytes_max);
            Renderer { masked, ..renderer }.write_message(&mut out, record).and_then(|()| out.finish())
        });
        worded.unwrap_or(Ok(()))
    }

    /// The description of the schema object that holds the keyword.
    pub fn description(&self) -> Option<&'s str> {
        let (unit, record) = self.noted()?;
        unit.description(&record)
    }

    /// The types that the schema object which holds the keyword names; none if it names none.
    pub(crate) fn types(&self) -> Types {
        self.noted().map_or(Types::NONE, |(unit, record)| unit.types(&record))
    }

    /// Whether the failure is that of a union (`anyOf`, `oneOf`).
    pub fn is_union(&self) -> bool {
        self.noted().is_some_and(|(unit, record)| unit.wording(&record) == Some(Wording::Union))
    }

    /// What the branches of a failed union said, one branch after the other: each branch's number and one of its failures,
    /// located like those of the list. Unions inside unions have theirs in turn. Empty for all other failures, for a `oneOf`
    /// that matched too often, and where there was no room: as many are listed inside unions as failures may be listed.
    pub fn branches(&self) -> impl Iterator<Item = (usize, Failure<'_, 's>)> {
        let mut left = usize::MAX;
        std::iter::from_fn(move || {
            let Cause::Failed(_, found) = &self.rejection.cause else {
                return None;
            };
            let found = found.borrow();
            let mut inside = self.at.inside(&found)?.resume(left);
            let inner = *inside.next()?;
            left = inside.left();
            let at = At::Inside(inner, found.listing());
            Some((inner.branch as usize, Failure { rejection: self.rejection, at }))
        })
    }
}

impl At {
    fn record(&self, found: &Found<'_>) -> Option<Record> {
        match self {
            At::Listed(at) => found.failures().get(*at).map(|failure| failure.own),
            At::Inside(inner, listing) => (*listing == found.listing()).then_some(inner.record),
        }
    }

    /// The failures inside a union.
    fn inside<'f>(&self, found: &'f Found<'_>) -> Option<Inside<'f>> {
        let renderer = found.renderer();
        match self {
            At::Listed(at) => Some(renderer.inside(found.failures().get(*at)?)),
            At::Inside(inner, listing) => (*listing == found.listing()).then(|| renderer.inside_inner(inner)),
        }
    }
}

impl fmt::Debug for Failure<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure").field("code", &self.code()).field("message", &self.message()).finish()
    }
}

fn steps<'r>(steps: impl Iterator<Item = LocationStep<'r>>) -> Vec<Step> {
    let steps = steps.map(|step| match step {
        LocationStep::Name(name) => Step::Name(name.chars().collect()),
        LocationStep::Index(index) => Step::Index(index),
    });
    steps.collect()
}
