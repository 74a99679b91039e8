//! Field lines: `LOC: MESSAGE`, one for each failure.

use std::fmt::{self, Write};

use super::block::{Block, constants, discriminator, note_text};
use super::failure::{FieldCode, FieldFailure, FieldStep, Reading};
use super::label::write_label;
use crate::describe::block_of;
use crate::format::Format;
use crate::insn::Target;
use crate::instance::View;
use crate::literal;
use crate::number::Number;
use crate::opcode::Opcode;
use crate::render::{LocationStep, write_plain_step, write_pointer_steps, write_value};
use crate::shown::write_masked;
use crate::tape::{Node, Tape};
use crate::text::Text;
use crate::unit::Unit;

/// Alternatives that are taken apart for a message; longer lists stand in it as a schema has them, and of tags there are no
/// more. Reason: a list may be as long as a schema, and a message is written for every failure. Unit: bytes.
const LIST_BYTES_MAX: usize = 64 << 10;

/// The longest text of which the reader of UUIDs tells more than the length. Unit: bytes.
const UUID_BYTES_MAX: usize = 45;

/// Words what a reading has left behind.
#[derive(Clone, Copy, Debug)]
pub struct FieldLines<'r> {
    /// The unit that was read by.
    pub unit: &'r Unit,
    /// The call.
    pub tape: Tape<'r>,
    /// What is wrong.
    pub reading: &'r Reading,
    /// Whether types and lengths stand in for values, and for names that no schema declares.
    pub masked: bool,
}

impl<'r> FieldLines<'r> {
    /// Writes `LOC: MESSAGE`, or the message alone where there is no step.
    pub fn write_line(self, out: &mut impl Write, failure: &FieldFailure) -> fmt::Result {
        if self.write_location(out, failure)? {
            out.write_str(": ")?;
        }
        self.write_message(out, failure)
    }

    /// Writes the steps to the value, joined by dots; answers whether there are any.
    fn write_location(self, out: &mut impl Write, failure: &FieldFailure) -> Result<bool, fmt::Error> {
        let mut any = false;
        for step in self.reading.locations.steps(failure.location) {
            out.write_str(if any { "." } else { "" })?;
            any = true;
            match step {
                FieldStep::Name(node) => self.write_name(out, node)?,
                // One of the schema's constants.
                FieldStep::Tag(node) => self.write_tag(out, node)?,
                FieldStep::Missing(name) => out.write_str(self.unit.str(name))?,
                FieldStep::Index(index) => write!(out, "{index}")?,
                FieldStep::Branch(pc) => write_label(out, self.unit, pc)?,
                FieldStep::Key => out.write_str("[key]")?,
            }
        }
        Ok(any)
    }

    /// The steps into the call itself: names and indices, without branches.
    pub fn instance_steps(self, failure: &FieldFailure) -> impl Iterator<Item = LocationStep<'r>> {
        let steps = self.reading.locations.steps(failure.location);
        steps.filter_map(move |step| match step {
            FieldStep::Name(node) => Some(LocationStep::Name(self.tape.text(node))),
            FieldStep::Missing(name) => Some(LocationStep::Name(Text::plain_text(self.unit.str(name)))),
            FieldStep::Index(index) => Some(LocationStep::Index(index)),
            FieldStep::Tag(_) | FieldStep::Branch(_) | FieldStep::Key => None,
        })
    }

    /// Writes ` at PATH` as the pinned line has it; nothing at the root.
    pub fn write_at(self, out: &mut impl Write, failure: &FieldFailure) -> fmt::Result {
        for (at, step) in self.instance_steps(failure).enumerate() {
            out.write_str(if at > 0 { "/" } else { " at " })?;
            write_plain_step(out, step, |name| self.hides(name))?;
        }
        Ok(())
    }

    /// Writes the place as a JSON Pointer. Source: RFC 6901.
    pub fn write_pointer(self, out: &mut impl Write, failure: &FieldFailure) -> fmt::Result {
        write_pointer_steps(out, self.instance_steps(failure), |name| self.hides(name))
    }

    fn hides(self, name: Text<'_>) -> bool {
        self.unit.hides(name, self.masked)
    }

    /// A member's name, without quotes.
    fn write_name(self, out: &mut impl Write, node: Node) -> fmt::Result {
        write_plain_step(out, LocationStep::Name(self.tape.text(node)), |name| self.hides(name))
    }

    /// A text without quotes of its own, anything else in value notation.
    fn write_tag(self, out: &mut impl Write, node: Node) -> fmt::Result {
        match self.tape.view_node(node) {
            View::String(text) => text.write(out),
            _ => write_value(out, self.tape, node),
        }
    }

    /// Writes what is wrong.
    pub fn write_message(self, out: &mut impl Write, failure: &FieldFailure) -> fmt::Result {
        let FieldFailure { code, pc, len, .. } = *failure;
        match code {
            FieldCode::Missing => out.write_str("Field required"),
            FieldCode::Extra => out.write_str("Extra inputs are not permitted"),
            FieldCode::String => out.write_str("Input should be a valid string"),
            FieldCode::Int => out.write_str("Input should be a valid integer"),
            FieldCode::IntFromFloat => {
                out.write_str("Input should be a valid integer, got a number with a fractional part")
            }
            FieldCode::IntParsing => {
                out.write_str("Input should be a valid integer, unable to parse string as an integer")
            }
            FieldCode::IntParsingSize => {
                out.write_str("Unable to parse input string as an integer, exceeded maximum size")
            }
            FieldCode::Float => out.write_str("Input should be a valid number"),
            FieldCode::FloatParsing => {
                out.write_str("Input should be a valid number, unable to parse string as a number")
            }
            FieldCode::Finite => out.write_str("Input should be a finite number"),
            FieldCode::Bool => out.write_str("Input should be a valid boolean"),
            FieldCode::BoolParsing => out.write_str("Input should be a valid boolean, unable to interpret input"),
            FieldCode::None => out.write_str("Input should be None"),
            FieldCode::List => out.write_str("Input should be a valid list"),
            FieldCode::Tuple => out.write_str("Input should be a valid tuple"),
            FieldCode::Dict => out.write_str("Input should be a valid dictionary"),
            FieldCode::Model => {
                let title = note_text(self.unit, pc, 1).unwrap_or_default();
                write!(out, "Input should be a valid dictionary or instance of {title}")
            }
            FieldCode::ModelAttributes => {
                out.write_str("Input should be a valid dictionary or object to extract fields from")
            }
            FieldCode::TagNotFound => {
                let name = discriminator(self.unit, pc).unwrap_or_default();
                write!(out, "Unable to extract tag using discriminator '{name}'")
            }
            FieldCode::TagInvalid => self.tag_invalid(out, failure),
            FieldCode::Literal | FieldCode::Enum => self.literal(out, pc),
            FieldCode::GreaterThanEqual => self.bound(out, "greater than or equal to", pc),
            FieldCode::GreaterThan => self.bound(out, "greater than", pc),
            FieldCode::LessThanEqual => self.bound(out, "less than or equal to", pc),
            FieldCode::LessThan => self.bound(out, "less than", pc),
            FieldCode::MultipleOf => self.bound(out, "a multiple of", pc),
            FieldCode::StringTooShort => self.length(out, "at least", pc),
            FieldCode::StringTooLong => self.length(out, "at most", pc),
            FieldCode::PatternMismatch => {
                let pattern = self.operand(pc).map_or("", |id| self.unit.pattern(id).source());
                write!(out, "String should match pattern '{pattern}'")
            }
            FieldCode::TooShort | FieldCode::TooLong => self.count(out, failure, len),
            FieldCode::Format => {
                let name = self.format(pc).map_or("", Format::name);
                write!(out, "Input should be a valid {name}")
            }
            _ => self.parsed(out, failure),
        }
    }

    /// What the parsers of formats say, and what only the machine has found.
    fn parsed(self, out: &mut impl Write, failure: &FieldFailure) -> fmt::Result {
        out.write_str(match failure.code {
            FieldCode::DateTime | FieldCode::DateTimeParsing => "Input should be a valid datetime",
            FieldCode::DateTimeFromDate => "Input should be a valid datetime or date",
            FieldCode::Date => "Input should be a valid date",
            FieldCode::DateFromDateTime => "Input should be a valid date or datetime",
            FieldCode::DateInexact => "Datetimes provided to dates should have zero time - e.g. be exact dates",
            FieldCode::Time => "Input should be a valid time",
            FieldCode::TimeParsing => "Input should be in a valid time format",
            FieldCode::TimeDelta | FieldCode::TimeDeltaParsing => "Input should be a valid timedelta",
            FieldCode::Uuid => "UUID input should be a string, bytes or UUID object",
            FieldCode::UuidParsing => "Input should be a valid UUID",
            FieldCode::Url => "URL input should be a string or URL",
            FieldCode::UrlParsing => "Input should be a valid URL",
            FieldCode::Ipv4 => "Input is not a valid IPv4 address",
            FieldCode::Ipv6 => "Input is not a valid IPv6 address",
            FieldCode::Email => "value is not a valid email address",
            FieldCode::Never => "Input should be left out",
            FieldCode::Not => "Input should not be what the schema excludes",
            FieldCode::Contains => "List should contain as many matching items as the schema says",
            FieldCode::Unique => "List should not contain equal items",
            FieldCode::SeveralBranches => "Input should match only one of the alternatives",
            _ => "Input should not have parts that the schema does not name",
        })?;
        match failure.problem {
            Some(problem) => {
                out.write_str(if failure.code == FieldCode::Email { ": " } else { ", " })?;
                out.write_str(problem.text())
            }
            // It quotes what it does not know.
            None if failure.code == FieldCode::UuidParsing && !self.masked => self.uuid_problem(out, failure.node),
            None => Ok(()),
        }
    }

    /// Reads the text once more, for the words of the crate that does. Of one that is longer than any UUID it tells the
    /// length alone, so that a short buffer holds all that it has to see.
    fn uuid_problem(self, out: &mut impl Write, node: Node) -> fmt::Result {
        let View::String(text) = self.tape.view_node(node) else {
            return Ok(());
        };
        let mut buffer = [0; UUID_BYTES_MAX];
        let mut len = 0;
        for c in text.chars() {
            let end = len + c.len_utf8();
            if let Some(place) = buffer.get_mut(len..end) {
                c.encode_utf8(place);
            }
            len = end;
        }
        match buffer.get(..len).map(str::from_utf8) {
            Some(Ok(plain)) => match uuid::Uuid::parse_str(plain) {
                Err(problem) => write!(out, ", {problem}"),
                Ok(_) => Ok(()),
            },
            _ => write!(out, ", invalid length: found {len}"),
        }
    }

    fn operand(self, pc: u32) -> Option<u32> {
        self.unit.code().get(pc as usize).map(|word| word.c)
    }

    fn format(self, pc: u32) -> Option<Format> {
        let mut words = self.unit.code().iter().skip(pc as usize).take_while(|word| word.opcode() != Opcode::Leave);
        words.find(|word| word.opcode() == Opcode::FormatIs).and_then(|word| Format::from_u8(word.a))
    }

    fn literal(self, out: &mut impl Write, pc: u32) -> fmt::Result {
        out.write_str("Input should be ")?;
        match constants(self.unit, pc) {
            (list, true) if list.len() <= LIST_BYTES_MAX => write_alternatives(out, list),
            (text, _) => out.write_str(text),
        }
    }

    fn tag_invalid(self, out: &mut impl Write, failure: &FieldFailure) -> fmt::Result {
        let unit = self.unit;
        let name = discriminator(unit, failure.pc).unwrap_or_default();
        out.write_str("Input tag '")?;
        if self.masked {
            write_masked(out, self.tape, failure.node)?;
        } else {
            self.write_tag(out, failure.node)?;
        }
        write!(out, "' found using '{name}' does not match any of the expected tags: ")?;
        let branches = self.operand(failure.pc).map_or(&[][..], |list| unit.list(list));
        let tags = branches.iter().filter_map(|bits| Block::of(unit, Target::from_bits(*bits))?.tag(name)?.literal());
        let mut bytes = 0;
        for (at, (pc, _)) in tags.enumerate() {
            out.write_str(if at > 0 { ", " } else { "" })?;
            if bytes > LIST_BYTES_MAX {
                return out.write_char('…');
            }
            let (text, _) = constants(unit, pc);
            out.write_str(text)?;
            bytes += text.len();
        }
        Ok(())
    }

    fn bound(self, out: &mut impl Write, what: &str, pc: u32) -> fmt::Result {
        write!(out, "Input should be {what} ")?;
        match self.operand(pc).map(|id| self.unit.number(id)) {
            Some(Number::Decimal { value, .. }) => write!(out, "{value}"),
            Some(number) => number.write(out),
            None => Ok(()),
        }
    }

    fn length(self, out: &mut impl Write, what: &str, pc: u32) -> fmt::Result {
        let len = self.operand(pc).unwrap_or(0);
        let characters = if len == 1 { "character" } else { "characters" };
        write!(out, "String should have {what} {len} {characters}")
    }

    fn count(self, out: &mut impl Write, failure: &FieldFailure, len: u32) -> fmt::Result {
        let Some(word) = self.unit.code().get(failure.pc as usize) else {
            return Ok(());
        };
        let of_object = matches!(word.opcode(), Opcode::MinProperties | Opcode::MaxProperties);
        let subject = match of_object {
            true => "Dictionary",
            false if self.is_tuple(failure.pc) => "Tuple",
            false => "List",
        };
        let what = if failure.code == FieldCode::TooShort { "at least" } else { "at most" };
        let items = if word.c == 1 { "item" } else { "items" };
        write!(out, "{subject} should have {what} {} {items} after validation, not ", word.c)?;
        if of_object && failure.code == FieldCode::TooLong { out.write_str("more") } else { write!(out, "{len}") }
    }

    /// Whether the block around the instruction has elements of their own.
    fn is_tuple(self, pc: u32) -> bool {
        Block { unit: self.unit, pc: block_of(self.unit, pc) }.has(Opcode::PrefixItems)
    }
}

/// Writes `'a', 2 or True`.
fn write_alternatives(out: &mut impl Write, list: &str) -> fmt::Result {
    let mut texts = literal::elements_inside(list).peekable();
    let mut first = true;
    while let Some(text) = texts.next() {
        let joint = if texts.peek().is_some() { ", " } else { " or " };
        out.write_str(if first { "" } else { joint })?;
        first = false;
        out.write_str(text)?;
    }
    Ok(())
}
