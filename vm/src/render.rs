//! From a failure to text: the pinned line.
//!
//! Nothing is decided here. The instruction's note says which template, and brings every word that was fixed when
//! the schema was compiled; the tape brings the value. Values are written as Python literals
//! ([`crate::notation`]). All writing goes to a [`fmt::Write`] and allocates nothing of its own.

use std::fmt::{self, Write};

use crate::execute::CONTAINS_TOO_MANY;
use crate::explain::Explanation;
use crate::failure::{Inner, Ranked, Record, Step, Wording};
use crate::insn::Types;
use crate::instance::View;
use crate::missing::MissingName;
use crate::notation::{self, FALSE, NONE, TRUE};
use crate::opcode::Opcode;
use crate::shown::{write_masked, write_masked_text};
use crate::tape::{Node, Tape};
use crate::text::Text;
use crate::unit::{Note, NotePath, Segment, StrId, Unit};

/// The prefix that stands before a line unless the host sets another.
pub const PREFIX: &str = "schema: ";

/// Everything that words a failure: the unit, the tape and the explanation.
#[derive(Clone, Copy, Debug)]
pub struct Renderer<'r> {
    /// The unit that failed the call.
    pub unit: &'r Unit,
    /// The call.
    pub tape: Tape<'r>,
    /// The failures.
    pub explanation: &'r Explanation,
    /// Whether types and lengths stand in for all that is the call's own: values, and names that no schema declares. Every
    /// writer asks this; the pinned texts are those without it.
    pub masked: bool,
}

/// The failures inside a union; see [`Renderer::inside`].
#[derive(Clone, Debug)]
pub struct Inside<'r> {
    left: &'r [Inner],
    depth: u32,
}

impl Inside<'_> {
    /// How much of the list is left: what [`resume`](Self::resume) takes.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// Goes on where so much of the list is left.
    #[must_use]
    pub fn resume(self, left: usize) -> Self {
        let at = self.left.len().saturating_sub(left);
        Inside { left: &self.left[at..], ..self }
    }
}

impl<'r> Iterator for Inside<'r> {
    type Item = &'r Inner;

    fn next(&mut self) -> Option<&'r Inner> {
        loop {
            let (first, left) = self.left.split_first()?;
            self.left = left;
            if first.depth == self.depth {
                return Some(first);
            }
        }
    }
}

/// One step of an instance location.
#[derive(Clone, Copy, Debug)]
pub enum LocationStep<'r> {
    /// Into the member of that name.
    Name(Text<'r>),
    /// Into the element at that index.
    Index(u32),
}

/// One step of a schema location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'r> {
    /// A keyword, or a name under one.
    Name(&'r str),
    /// An index under a keyword.
    Index(u32),
}

impl<'r> Renderer<'r> {
    /// The failure that speaks for the call.
    pub fn top(self) -> Option<&'r Ranked> {
        self.explanation.top.as_ref()
    }

    /// The failures listed, in schema order.
    pub fn failures(self) -> &'r [Ranked] {
        &self.explanation.failures
    }

    /// How many failures are not listed.
    pub fn unlisted(self) -> u64 {
        self.explanation.unlisted
    }

    /// What the branches of a failed union said, one branch after the other: of a failure of the list. Empty where it is no
    /// union, one that matched too often, or had no room ([`inner_cut`](Self::inner_cut)).
    pub fn inside(self, failure: &Ranked) -> Inside<'r> {
        self.inner(&failure.own, 1)
    }

    /// As [`inside`](Self::inside), of a union inside another.
    pub fn inside_inner(self, inner: &Inner) -> Inside<'r> {
        self.inner(&inner.record, inner.depth + 1)
    }

    /// As [`inside`](Self::inside), of a record with so many unions around what its branches said.
    pub(crate) fn inner(self, record: &Record, depth: u32) -> Inside<'r> {
        let (from, to) = record.inner;
        Inside { left: self.explanation.inner.get(from as usize..to as usize).unwrap_or_default(), depth }
    }

    /// Whether failures inside unions had no room: as many are listed as failures outside may be.
    pub fn inner_cut(self) -> bool {
        self.explanation.inner_cut
    }

    /// The names that are missing, where that is all that is wrong; in the order of the schema.
    pub fn missing(self) -> &'r [MissingName] {
        &self.explanation.missing
    }

    /// Writes `MESSAGE[ at PATH][ — DESCRIPTION]`.
    pub fn write_line(self, out: &mut impl Write) -> fmt::Result {
        let Some(top) = self.top() else {
            return Ok(());
        };
        self.write_message(out, &top.deep)?;
        self.write_at(out, top.own.path)?;
        match self.unit.description(&top.own) {
            Some(description) if !description.is_empty() => {
                out.write_str(" — ")?;
                out.write_str(description)
            }
            _ => Ok(()),
        }
    }

    /// Writes names as they are and indices, joined; answers whether there is any.
    pub fn write_location(self, out: &mut impl Write, path: u32, joint: char) -> Result<bool, fmt::Error> {
        let mut any = false;
        for step in self.location(path) {
            if std::mem::replace(&mut any, true) {
                out.write_char(joint)?;
            }
            self.write_plain_step(out, step)?;
        }
        Ok(any)
    }

    /// Writes ` at PATH`: names as they are and indices, joined by slashes; nothing where that is empty.
    fn write_at(self, out: &mut impl Write, path: u32) -> fmt::Result {
        let mut steps = self.location(path);
        match (steps.next(), self.explanation.paths.len(path)) {
            (None, _) => return Ok(()),
            (Some(LocationStep::Name(name)), 1) if name.raw_bytes() == 0 => return Ok(()),
            (Some(first), _) => {
                out.write_str(" at ")?;
                self.write_plain_step(out, first)?;
            }
        }
        steps.try_for_each(|step| {
            out.write_char('/')?;
            self.write_plain_step(out, step)
        })
    }

    /// What the failure's message lists: nodes of the tape, or numbers of branches.
    pub(crate) fn extras(self, record: &Record) -> &'r [u32] {
        let (from, to) = record.extras;
        self.explanation.extras.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Whether the name of a member is not to be shown: values are masked, and the schema does not have it.
    pub(crate) fn hides_name(self, name: Text<'_>) -> bool {
        self.unit.hides(name, self.masked)
    }

    /// The steps from the root to a location.
    pub fn location(self, path: u32) -> impl Iterator<Item = LocationStep<'r>> {
        let paths = &self.explanation.paths;
        let tape = self.tape;
        (0..paths.len(path)).filter_map(move |at| {
            Some(match paths.step(path, at)? {
                Step::Name(name) => LocationStep::Name(tape.text(name)),
                Step::Index(index) => LocationStep::Index(index),
            })
        })
    }

    fn write_plain_step(self, out: &mut impl Write, step: LocationStep<'_>) -> fmt::Result {
        write_plain_step(out, step, |name| self.hides_name(name))
    }

    /// Writes the location as a JSON Pointer. Source: RFC 6901.
    pub fn write_pointer(self, out: &mut impl Write, path: u32) -> fmt::Result {
        write_pointer_steps(out, self.location(path), |name| self.hides_name(name))
    }

    /// Writes where the missing member would be, as a JSON Pointer. Source: RFC 6901.
    pub fn write_missing(self, out: &mut impl Write, missing: &MissingName) -> fmt::Result {
        // A name that is required is the schema's own.
        let name = LocationStep::Name(Text::plain_text(self.unit.str(missing.name)));
        self.write_pointer(out, missing.path)?;
        write_pointer_steps(out, [name].into_iter(), |_| false)
    }

    /// The evaluation path: keywords and names from the root schema to the failing keyword, through references.
    /// Known where the explanation was asked for it.
    pub fn evaluation_path(self, record: &'r Record) -> impl Iterator<Item = PathStep<'r>> {
        let (from, to) = record.trail;
        let frames = &self.explanation.trail[from as usize..to as usize];
        // Rule F: the step to a schema that is `false` is left out.
        let of_false = |note: &Note| note.path.is_empty() && note.wording == Wording::FalseSchema;
        let is_false = self.unit.note_of(record).is_some_and(of_false);
        let with_step = frames.len() - usize::from(is_false && !frames.is_empty());
        let calls = frames.iter().enumerate().flat_map(move |(index, (pc, at))| {
            let step = if index < with_step { self.applicator_step(*pc, *at) } else { None };
            self.note_path(*pc).chain(step)
        });
        calls.chain(self.note_path(record.pc))
    }

    fn note_path(self, pc: u32) -> impl Iterator<Item = PathStep<'r>> {
        let path = self.unit.note(pc).map_or(NotePath::Here, |note| note.path);
        path.segments().map(move |segment| match segment {
            Segment::Name(name) => PathStep::Name(self.unit.str(name)),
            Segment::Index(index) => PathStep::Index(index),
        })
    }

    /// The step under an applicator's keyword, from where its loop was.
    fn applicator_step(self, pc: u32, at: u32) -> Option<PathStep<'r>> {
        let word = self.unit.code()[pc as usize];
        match word.opcode() {
            Opcode::Properties => {
                let name = self.unit.table(word.c).names.get(at as usize)?;
                Some(PathStep::Name(self.unit.str(name.name)))
            }
            Opcode::PatternProperties => {
                let pattern = self.unit.list(word.c).get(2 * at as usize)?;
                Some(PathStep::Name(self.unit.pattern(*pattern).source()))
            }
            Opcode::DependentSchema => Some(PathStep::Name(self.unit.str(StrId(*self.unit.list(word.c).first()?)))),
            Opcode::PrefixItems => Some(PathStep::Index(at)),
            Opcode::IfThenElse => Some(PathStep::Name(if at == 1 { "then" } else { "else" })),
            _ => None,
        }
    }

    /// Writes the failure's message.
    pub fn write_message(self, out: &mut impl Write, record: &Record) -> fmt::Result {
        let Some(note) = self.unit.note_of(record) else {
            return out.write_str("the call does not satisfy its schema");
        };
        let text = self.unit.note_texts(note).first().map_or("", |id| self.unit.str(*id));
        let message = Message { renderer: self, record, note };
        match note.wording {
            Wording::NotOfType => message.about_value(out, " is not of type ", text),
            Wording::NotOneOf => message.about_value(out, " is not one of ", text),
            Wording::Expected => {
                out.write_str(text)?;
                out.write_str(" was expected")
            }
            Wording::Less => message.about_value(out, " is less than the minimum of ", text),
            Wording::Greater => message.about_value(out, " is greater than the maximum of ", text),
            Wording::LessOrEqual => message.about_value(out, " is less than or equal to the minimum of ", text),
            Wording::GreaterOrEqual => message.about_value(out, " is greater than or equal to the maximum of ", text),
            Wording::NotMultiple => message.about_value(out, " is not a multiple of ", text),
            Wording::TooShort => message.about_value(out, " is too short", ""),
            Wording::TooLong => message.about_value(out, " is too long", ""),
            Wording::NonEmpty => message.about_value(out, " should be non-empty", ""),
            Wording::ExpectedEmpty => message.about_value(out, " is expected to be empty", ""),
            Wording::NoMatch => message.about_value(out, " does not match ", text),
            Wording::NotFormat => message.about_value(out, " is not a ", text),
            Wording::NonUnique => message.about_value(out, " has non-unique elements", ""),
            Wording::ExtraItems => message.extra_items(out),
            Wording::AdditionalItems => message.additional_items(out),
            Wording::Contains => message.contains(out),
            Wording::NoneValid => {
                out.write_str("None of ")?;
                message.about_value(out, " are valid under the given schema", "")
            }
            Wording::Required => {
                out.write_str(message.text_at(record.arg as usize))?;
                out.write_str(" is a required property")
            }
            Wording::AdditionalProperties => message.unexpected(out, "Additional properties are not allowed"),
            Wording::MatchNoPattern => message.match_no_pattern(out, text),
            Wording::TooFewProperties => message.about_value(out, " does not have enough properties", ""),
            Wording::TooManyProperties => message.about_value(out, " has too many properties", ""),
            Wording::Dependency => {
                write!(out, "{} is a dependency of {text}", message.text_at(record.arg as usize + 1))
            }
            Wording::Union => message.union(out),
            Wording::Not => message.about_value(out, " should not be valid under ", text),
            Wording::FalseSchema => {
                out.write_str("False schema does not allow ")?;
                message.about_value(out, "", "")
            }
            Wording::UnevaluatedProperties => message.unexpected(out, "Unevaluated properties are not allowed"),
            Wording::UnevaluatedInvalid => message.unevaluated_invalid(out),
            Wording::UnevaluatedItems => message.unexpected(out, "Unevaluated items are not allowed"),
        }
    }
}

/// What the note of a failure says by itself.
impl Unit {
    fn note_of(&self, record: &Record) -> Option<&Note> {
        self.note_at(record.note)
    }

    /// The failing keyword; `None` for the schema `false`.
    pub fn keyword(&self, record: &Record) -> Option<&str> {
        let note = self.note_of(record)?;
        match (note.wording, record.arg) {
            (Wording::Contains, 0) => self.opt_str(note.keyword),
            (Wording::Contains, CONTAINS_TOO_MANY) => Some("maxContains"),
            (Wording::Contains, _) => Some("minContains"),
            _ => self.opt_str(note.keyword),
        }
    }

    /// How the failure is worded.
    pub fn wording(&self, record: &Record) -> Option<Wording> {
        self.note_of(record).map(|note| note.wording)
    }

    /// JSON Pointer of the failing keyword in the schema document.
    pub fn keyword_location(&self, record: &Record) -> &str {
        let Some(note) = self.note_of(record) else {
            return "";
        };
        let texts = self.note_texts(note);
        let bound = match (note.wording, record.arg) {
            (Wording::Contains, 0) => None,
            (Wording::Contains, CONTAINS_TOO_MANY) => texts.get(3),
            (Wording::Contains, _) => texts.get(2),
            _ => None,
        };
        self.str(*bound.unwrap_or(&note.keyword_location))
    }

    /// The types that the schema object which holds the failing keyword names; none if it names none.
    pub fn types(&self, record: &Record) -> Types {
        self.note_of(record).map_or(Types::NONE, |note| note.types)
    }

    /// The description of the schema object that holds the failing keyword.
    pub fn description(&self, record: &Record) -> Option<&str> {
        self.opt_str(self.note_of(record)?.description)
    }
}

/// The steps from `root` to a value of a tape below it. Cost: the entries passed on the way.
pub(crate) fn steps_of(tape: Tape<'_>, root: Node, node: Node) -> impl Iterator<Item = LocationStep<'_>> {
    let mut at = root;
    std::iter::from_fn(move || {
        let inside = |from: Node| node >= from && node < tape.entry(from).next;
        if at == node {
            return None;
        }
        if let Some((name, value)) = tape.member_nodes(at).find(|(_, value)| inside(*value)) {
            at = value;
            return Some(LocationStep::Name(tape.text(name)));
        }
        let (index, element) = tape.element_nodes(at).enumerate().find(|(_, element)| inside(*element))?;
        at = element;
        Some(LocationStep::Index(index as u32))
    })
}

/// Writes the JSON Pointer from `root` to a value of a tape below it; its names masked or not. Cost: the entries passed on
/// the way. Source: RFC 6901.
pub fn write_pointer_of(out: &mut impl Write, tape: Tape<'_>, root: Node, node: Node, masked: bool) -> fmt::Result {
    write_pointer_steps(out, steps_of(tape, root, node), |_| masked)
}

/// Writes steps as a JSON Pointer; `hides` says which names are not shown. Source: RFC 6901.
pub(crate) fn write_pointer_steps<'t>(
    out: &mut impl Write,
    mut steps: impl Iterator<Item = LocationStep<'t>>,
    hides: impl Fn(Text<'t>) -> bool,
) -> fmt::Result {
    steps.try_for_each(|step| {
        out.write_char('/')?;
        match step {
            LocationStep::Index(index) => write!(out, "{index}"),
            LocationStep::Name(name) if hides(name) => write_masked_name(out, name),
            LocationStep::Name(name) => name.chars().try_for_each(|c| write_pointer_char(out, c)),
        }
    })
}

/// Writes a name as it is, or an index; `hides` as above.
#[inline]
pub(crate) fn write_plain_step<'t>(
    out: &mut impl Write,
    step: LocationStep<'t>,
    hides: impl Fn(Text<'t>) -> bool,
) -> fmt::Result {
    match step {
        LocationStep::Index(index) => write!(out, "{index}"),
        LocationStep::Name(name) if hides(name) => write_masked_name(out, name),
        LocationStep::Name(name) => match name.as_plain() {
            Some(plain) => out.write_str(plain),
            None => name.chars().try_for_each(|c| out.write_char(c)),
        },
    }
}

/// Writes what stands for a masked name.
fn write_masked_name(out: &mut impl Write, name: Text<'_>) -> fmt::Result {
    out.write_char('<')?;
    write_masked_text(out, "name", name)?;
    out.write_char('>')
}

fn write_pointer_char(out: &mut impl Write, c: char) -> fmt::Result {
    match c {
        '~' => out.write_str("~0"),
        '/' => out.write_str("~1"),
        other => out.write_char(other),
    }
}

/// One failure's message.
#[derive(Clone, Copy)]
struct Message<'r, 'm> {
    renderer: Renderer<'r>,
    record: &'m Record,
    note: &'r Note,
}

impl<'r> Message<'r, '_> {
    fn about_value(self, out: &mut impl Write, middle: &str, text: &str) -> fmt::Result {
        self.write_value(out, self.record.node)?;
        out.write_str(middle)?;
        out.write_str(text)
    }

    fn write_value(self, out: &mut impl Write, node: Node) -> fmt::Result {
        if self.renderer.masked {
            out.write_char('<')?;
            write_masked(out, self.renderer.tape, node)?;
            return out.write_char('>');
        }
        write_value(out, self.renderer.tape, node)
    }

    fn text_at(self, at: usize) -> &'r str {
        let unit = self.renderer.unit;
        unit.note_texts(self.note).get(at).map_or("", |id| unit.str(*id))
    }

    fn extras(self) -> &'r [u32] {
        self.renderer.extras(self.record)
    }

    /// The elements after the first `len`.
    fn rest(self, len: usize) -> impl ExactSizeIterator<Item = Node> + Clone + 'r {
        let tape = self.renderer.tape;
        let total = tape.entry(self.record.node).len as usize;
        let mut elements = tape.element_nodes(self.record.node).skip(len);
        (len.min(total)..total).map(move |_| elements.next().unwrap_or_default())
    }

    /// How many elements the keyword allows: the note's first text, a count.
    fn allowed(self) -> usize {
        self.text_at(0).parse().unwrap_or(0)
    }

    fn extra_items(self, out: &mut impl Write) -> fmt::Result {
        let allowed = self.allowed();
        let rest = self.rest(allowed);
        let item = if allowed == 1 { "item" } else { "items" };
        write!(out, "Expected at most {allowed} {item} but found {} extra: ", rest.len())?;
        if rest.len() == 1 {
            return self.write_list(out, rest);
        }
        out.write_char('[')?;
        self.write_list(out, rest)?;
        out.write_char(']')
    }

    fn additional_items(self, out: &mut impl Write) -> fmt::Result {
        let rest = self.rest(self.allowed());
        let verb = if rest.len() == 1 { "was" } else { "were" };
        out.write_str("Additional items are not allowed (")?;
        self.write_list(out, rest)?;
        write!(out, " {verb} unexpected)")
    }

    fn contains(self, out: &mut impl Write) -> fmt::Result {
        match self.record.arg {
            0 => self.about_value(out, " does not contain items matching the given schema", ""),
            CONTAINS_TOO_MANY => {
                write!(out, "Too many items match the given schema (expected at most {})", self.text_at(1))
            }
            matched => write!(
                out,
                "Too few items match the given schema (expected at least {} but only {matched} matched)",
                self.text_at(0)
            ),
        }
    }

    fn write_list(self, out: &mut impl Write, nodes: impl Iterator<Item = Node>) -> fmt::Result {
        for (at, node) in nodes.enumerate() {
            if at > 0 {
                out.write_str(", ")?;
            }
            self.write_value(out, node)?;
        }
        Ok(())
    }

    fn unexpected(self, out: &mut impl Write, what: &str) -> fmt::Result {
        let extras = self.extras();
        write!(out, "{what} (")?;
        self.write_list(out, extras.iter().copied())?;
        out.write_str(if extras.len() == 1 { " was unexpected)" } else { " were unexpected)" })
    }

    fn match_no_pattern(self, out: &mut impl Write, patterns: &str) -> fmt::Result {
        let extras = self.extras();
        self.write_list(out, extras.iter().copied())?;
        let verb = if extras.len() == 1 { "does" } else { "do" };
        write!(out, " {verb} not match any of the regexes: {patterns}")
    }

    fn unevaluated_invalid(self, out: &mut impl Write) -> fmt::Result {
        let extras = self.extras();
        out.write_str("Unevaluated properties are not valid under the given schema (")?;
        self.write_list(out, extras.iter().copied())?;
        out.write_str(if extras.len() == 1 { " was" } else { " were" })?;
        out.write_str(" unevaluated and invalid)")
    }

    fn union(self, out: &mut impl Write) -> fmt::Result {
        if self.record.arg == 0 {
            return self.about_value(out, " is not valid under any of the given schemas", "");
        }
        self.about_value(out, " is valid under each of ", "")?;
        for (at, branch) in self.extras().iter().enumerate() {
            if at > 0 {
                out.write_str(", ")?;
            }
            out.write_str(self.text_at(*branch as usize))?;
        }
        Ok(())
    }
}

/// Writes the value at `node` in value notation. Recursion is bounded by the depth a tape can have.
pub fn write_value(out: &mut impl Write, tape: Tape<'_>, node: Node) -> fmt::Result {
    if let Some(literal) = tape.integer_literal(node) {
        return out.write_str(literal);
    }
    match tape.view_node(node) {
        View::Null => out.write_str(NONE),
        View::Bool(true) => out.write_str(TRUE),
        View::Bool(false) => out.write_str(FALSE),
        View::Number(number) => number.write(out),
        View::String(text) => write_text(out, text),
        View::NotJson(name) => write!(out, "<{name}>"),
        View::Array => {
            out.write_char('[')?;
            for (at, element) in tape.element_nodes(node).enumerate() {
                out.write_str(if at > 0 { ", " } else { "" })?;
                write_value(out, tape, element)?;
            }
            out.write_char(']')
        }
        View::Object => {
            out.write_char('{')?;
            for (at, (name, value)) in tape.member_nodes(node).enumerate() {
                out.write_str(if at > 0 { ", " } else { "" })?;
                write_text(out, tape.text(name))?;
                out.write_str(": ")?;
                write_value(out, tape, value)?;
            }
            out.write_char('}')
        }
    }
}

/// Writes a text in value notation.
pub fn write_text(out: &mut impl Write, text: Text<'_>) -> fmt::Result {
    match text.as_plain() {
        Some(plain) => notation::write_plain_str(out, plain),
        None => notation::write_str(out, text.chars()),
    }
}

/// A writer that passes on so many bytes and counts the rest, to say how many it cut.
#[derive(Debug)]
pub struct Bounded<'w, W> {
    out: &'w mut W,
    left: usize,
    cut: usize,
}

impl<'w, W: Write> Bounded<'w, W> {
    /// Passes on at most `bytes_max` bytes to `out`.
    pub fn new(out: &'w mut W, bytes_max: usize) -> Self {
        Bounded { out, left: bytes_max, cut: 0 }
    }

    /// Whether something has been cut, so that nothing more is passed on.
    pub fn is_cut(&self) -> bool {
        self.cut > 0
    }

    /// Ends the text: says what was cut, if anything.
    pub fn finish(self) -> fmt::Result {
        if self.cut == 0 { Ok(()) } else { write!(self.out, "… ({} bytes more)", self.cut) }
    }
}

impl<W: Write> Write for Bounded<'_, W> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Once something is cut, nothing is left.
        match self.left.checked_sub(text.len()) {
            Some(left) if self.cut == 0 => {
                self.left = left;
                self.out.write_str(text)
            }
            _ => self.cut_str(text),
        }
    }

    #[inline]
    fn write_char(&mut self, c: char) -> fmt::Result {
        match self.left.checked_sub(c.len_utf8()) {
            Some(left) if self.cut == 0 => {
                self.left = left;
                self.out.write_char(c)
            }
            _ => self.cut_str(c.encode_utf8(&mut [0; 4])),
        }
    }
}

impl<W: Write> Bounded<'_, W> {
    #[cold]
    fn cut_str(&mut self, text: &str) -> fmt::Result {
        if self.cut > 0 {
            self.cut += text.len();
            return Ok(());
        }
        let end = (0..=self.left).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        self.cut = text.len() - end;
        self.left = 0;
        self.out.write_str(&text[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_cut(text: &str, bytes_max: usize, expected: &str) {
        let mut out = String::new();
        let mut bounded = Bounded::new(&mut out, bytes_max);
        assert!(text.chars().try_for_each(|c| bounded.write_char(c)).is_ok());
        assert!(bounded.finish().is_ok());
        assert_eq!(out, expected);
    }

    #[test]
    fn pointers_are_found() {
        let mut buf = crate::tape::TapeBuf::new();
        let options = crate::tape::ReadOptions { depth_max: 4, bytes_max: 100, strict: true };
        let tape = buf.read(br#"{"a": [1, {"b/c": 2}]}"#, options).expect("reads");
        for (root, node, expected) in [(0, 6, "/a/1/b~1c"), (2, 6, "/1/b~1c"), (0, 0, "")] {
            let mut pointer = String::new();
            assert!(write_pointer_of(&mut pointer, tape, root, node, false).is_ok());
            assert_eq!(pointer, expected);
        }
    }

    #[test]
    fn cut_on_a_character_boundary() {
        check_cut("abc", 3, "abc");
        check_cut("abcd", 3, "abc… (1 bytes more)");
        check_cut("aéb", 2, "a… (3 bytes more)");
    }
}
