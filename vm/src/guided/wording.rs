//! The words of a line: one arm for each [`Wording`].
//!
//! Failures about a value itself are told by all that its schema object wants (`expected integer from 1 to 10, got 12`), so
//! that one repair is enough; the others say what is wrong with the members or elements.

use std::fmt::{self, Write};

use super::line::{DESCRIPTION_BYTES_MAX, Line};
use super::{Guided, Item, Kind};
use crate::describe::names::property_around;
use crate::describe::phrase::{write_asserted, write_wanted};
use crate::describe::{Facets, Wanted, admitted, block_of, branches, description, fits};
use crate::equal::{Budget, equal};
use crate::execute::CONTAINS_TOO_MANY;
use crate::failure::Wording;
use crate::insn::{Target, Types};
use crate::instance::View;
use crate::limits::DEPTH_CEILING;
use crate::literal;
use crate::nearest::nearness;
use crate::opcode::Opcode;
use crate::shown::{
    clipped, type_word, write_count, write_json, write_masked, write_masked_text, write_name_chars, write_one_line,
};
use crate::tape::{Node, TapeInstance};
use crate::text::Text;
use crate::unit::{StrId, Unit};

/// Of what is wanted. Unit: bytes.
const WANTED_BYTES_MAX: usize = 260;

/// Of what is wanted of a property that is missing, and of the branches that matched. Unit: bytes.
pub(super) const BRIEF_BYTES_MAX: usize = 200;

/// Of a value that came. Unit: bytes.
pub(super) const VALUE_BYTES_MAX: usize = 60;

/// Of a name. Unit: bytes.
pub(super) const NAME_BYTES_MAX: usize = 60;

/// Values of an `enum` among which the nearest is sought.
const VALUES_SOUGHT_MAX: usize = 1_024;

/// Elements that come twice and are told.
const REPEATED_MAX: usize = 4;

/// Elements among which one that comes twice is sought.
const ELEMENTS_SOUGHT_MAX: usize = 64;

/// What that may take. Unit: fuel.
const EQUAL_FUEL_MAX: u64 = 20_000;

/// Writes what is wrong.
pub(super) fn write<'r>(guided: Guided<'r>, line: &mut Line, item: &Item<'r>) -> fmt::Result {
    let words = Words { guided, item };
    match item.kind {
        Kind::Own => words.own(line),
        Kind::Branches => words.expected(line, Wanted::block(words.block())),
        Kind::UnknownTag(name) => words.tag(line, name),
        Kind::NoTag(name) => words.no_tag(line, name),
    }
}

/// Whether the line tells all that the schema object wants of the value.
pub(super) fn tells_all(guided: Guided<'_>, item: &Item<'_>) -> bool {
    use Wording as W;
    let of_value = matches!(
        guided.wording(item),
        Some(
            W::NotOfType
                | W::NotOneOf
                | W::Expected
                | W::Less
                | W::Greater
                | W::LessOrEqual
                | W::GreaterOrEqual
                | W::NotMultiple
                | W::TooShort
                | W::TooLong
                | W::NonEmpty
                | W::ExpectedEmpty
                | W::NoMatch
                | W::NotFormat
        )
    );
    of_value && item.kind == Kind::Own
}

/// Whether the line is about the value at its location, and not about a member of it.
pub(super) fn speaks_of_value(guided: Guided<'_>, item: &Item<'_>) -> bool {
    use Wording as W;
    let of_members = matches!(
        guided.wording(item),
        Some(
            W::Required
                | W::AdditionalProperties
                | W::MatchNoPattern
                | W::Dependency
                | W::UnevaluatedProperties
                | W::UnevaluatedInvalid
        )
    );
    !of_members && matches!(item.kind, Kind::Own | Kind::Branches)
}

/// The schema object that failed.
pub(super) fn block(unit: &Unit, item: &Item<'_>) -> u32 {
    block_of(unit, item.record.pc)
}

/// The words for one item.
#[derive(Clone, Copy)]
pub(super) struct Words<'r, 'i> {
    pub(super) guided: Guided<'r>,
    pub(super) item: &'i Item<'r>,
}

impl<'r> Words<'r, '_> {
    pub(super) fn unit(self) -> &'r Unit {
        self.guided.renderer.unit
    }

    pub(super) fn node(self) -> Node {
        self.item.record.node
    }

    /// Elements or members of the value.
    fn len(self) -> u64 {
        self.guided.renderer.tape.entry(self.node()).len.into()
    }

    /// The value: known where the wording shows it, as for the pinned message.
    pub(super) fn view(self) -> View<'r> {
        self.guided.renderer.tape.view_node(self.node())
    }

    fn block(self) -> u32 {
        block(self.unit(), self.item)
    }

    /// The large operand of the instruction that failed.
    pub(super) fn operand(self) -> u32 {
        self.unit().code().get(self.item.record.pc as usize).map_or(0, |word| word.c)
    }

    fn own(self, line: &mut Line) -> fmt::Result {
        use Wording as W;
        match self.guided.wording(self.item) {
            None => line.write_str("the call does not satisfy its schema"),
            Some(
                W::NotOfType
                | W::NotOneOf
                | W::Expected
                | W::Less
                | W::Greater
                | W::LessOrEqual
                | W::GreaterOrEqual
                | W::NotMultiple
                | W::NoMatch
                | W::NotFormat,
            ) => self.value(line),
            Some(
                W::TooShort | W::TooLong | W::NonEmpty | W::ExpectedEmpty | W::TooFewProperties | W::TooManyProperties,
            ) => self.counted(line),
            Some(W::ExtraItems | W::AdditionalItems) => self.at_most(line, "item"),
            Some(W::NonUnique) => self.repeated(line),
            Some(W::Contains | W::NoneValid) => self.contains(line),
            Some(W::Required) => self.missing(line, None),
            Some(W::Dependency) => {
                let given = self.unit().list(self.operand()).first().map(|id| self.unit().str(StrId(*id)));
                self.missing(line, given)
            }
            Some(W::Not) => self.forbidden(line),
            Some(W::FalseSchema) => {
                let is_root = self.guided.renderer.explanation.paths.len(self.item.record.path) == 0;
                line.write_str(if is_root { "no arguments are accepted" } else { "not allowed here; leave it out" })
            }
            Some(W::Union) => self.matched_twice(line),
            Some(W::UnevaluatedItems) => self.items_not_allowed(line),
            // Their names are told by `stray`.
            Some(W::AdditionalProperties | W::MatchNoPattern | W::UnevaluatedProperties | W::UnevaluatedInvalid) => {
                Ok(())
            }
        }
    }

    // --- values ----------------------------------------------------------------------------------------------

    pub(super) fn wanted(self, line: &mut Line, wanted: Wanted, bytes_max: usize) -> fmt::Result {
        write_wanted(line, self.unit(), wanted, bytes_max)
    }

    fn expected(self, line: &mut Line, wanted: Wanted) -> fmt::Result {
        self.name_at_fault(line)?;
        line.write_str("expected ")?;
        self.wanted(line, wanted, WANTED_BYTES_MAX)?;
        self.got(line)?;
        self.hint(line, wanted)
    }

    /// All that is wanted of the value, and what came.
    fn value(self, line: &mut Line) -> fmt::Result {
        let wording = self.guided.wording(self.item);
        match self.union_as_one() {
            Some(union) => self.expected(line, Wanted::block(block_of(self.unit(), union)))?,
            None if matches!(wording, Some(Wording::NotOfType | Wording::NotOneOf | Wording::Expected)) => {
                self.expected(line, Wanted::block(self.block()))?;
            }
            None => {
                self.name_at_fault(line)?;
                line.write_str("expected ")?;
                write_asserted(line, self.unit(), Wanted::block(self.block()), WANTED_BYTES_MAX)?;
                self.got(line)?;
            }
        }
        if wording == Some(Wording::NotOneOf) { self.nearest_value(line) } else { Ok(()) }
    }

    /// The union around the failure, where it is about the same value and its other branches are told in a word.
    fn union_as_one(self) -> Option<u32> {
        let union = self.item.around.union.filter(|_| self.item.around.by_type)?;
        let unit = self.unit();
        let is_brief =
            |target: Target| admitted(unit, Wanted::target(target)).meets(Types::NULL) || target.pc() == self.block();
        let same = union.path == self.item.record.path && union.node == self.node();
        (same && branches(unit, union.pc).len() <= 3 && branches(unit, union.pc).all(is_brief)).then_some(union.pc)
    }

    /// `the name 'x': `, where it is a name that failed.
    fn name_at_fault(self, line: &mut Line) -> fmt::Result {
        if !self.is_name() {
            return Ok(());
        }
        line.write_str(if self.guided.renderer.masked { "" } else { "the name " })?;
        write_instance_name(self.guided, line, self.guided.renderer.tape.text(self.node()))?;
        line.write_str(" is not allowed: ")
    }

    pub(super) fn is_name(self) -> bool {
        let tape = self.guided.renderer.tape;
        let Some(at) = self.guided.value_at(self.item.record.path).filter(|at| *at != self.node()) else {
            return false;
        };
        tape.member_nodes(at).any(|(name, _)| name == self.node())
    }

    /// `, got string "x"`
    pub(super) fn got(self, line: &mut Line) -> fmt::Result {
        line.write_str(", got ")?;
        self.came(line)
    }

    pub(super) fn came(self, line: &mut Line) -> fmt::Result {
        let (tape, node) = (self.guided.renderer.tape, self.node());
        let view = self.view();
        if self.guided.renderer.masked {
            // A number that is of the right type: nothing more can be said of it.
            let is_other = matches!(view, View::Number(_)) && tells_all(self.guided, self.item) && {
                fits(view.types(), admitted(self.unit(), Wanted::block(self.block())))
            };
            line.write_str(if is_other { "another " } else { "" })?;
            return write_masked(line, tape, node);
        }
        if !matches!(view, View::Null) {
            write!(line, "{} ", type_word(view))?;
        }
        let is_cut = clipped(line, VALUE_BYTES_MAX, |out| write_json(out, tape, node))?;
        match view {
            View::String(text) if is_cut => {
                line.write_str(" (")?;
                write_count(line, text.char_len() as u64, "character")?;
                line.write_char(')')
            }
            _ => Ok(()),
        }
    }

    /// `; did you mean "fast"?`
    fn nearest_value(self, line: &mut Line) -> fmt::Result {
        let unit = self.unit();
        let (View::String(given), Some(note)) = (self.view(), unit.note(self.item.record.pc)) else {
            return Ok(());
        };
        let list = unit.note_texts(note).first().map_or("", |id| unit.str(*id));
        let near = literal::elements(list).take(VALUES_SOUGHT_MAX).filter_map(|value| {
            let distance = nearness(given.chars(), literal::string_chars(value)?)?;
            Some((distance, value))
        });
        match near.min_by_key(|(distance, _)| *distance) {
            Some((_, value)) => {
                line.write_str("; did you mean ")?;
                clipped(line, VALUE_BYTES_MAX, |out| literal::write_as_json(out, value))?;
                line.write_char('?')
            }
            None => Ok(()),
        }
    }

    /// What the value is must not be: where that is a name alone, or says nothing of values of its type, in other words.
    fn forbidden(self, line: &mut Line) -> fmt::Result {
        let wanted = Wanted::target(Target::from_bits(self.operand()));
        let facets = Facets::of(self.unit(), wanted);
        if let Some(names) = facets.only_required(self.unit()).filter(|_| matches!(self.view(), View::Object)) {
            line.write_str("must not have ")?;
            for (at, name) in names.take(4).enumerate() {
                line.write_str(if at > 0 { " and '" } else { "'" })?;
                clipped(line, NAME_BYTES_MAX, |out| write_name_chars(out, name.chars()))?;
                line.write_char('\'')?;
            }
            return Ok(());
        }
        if let Some(divisor) = facets.only_multiple().filter(|_| matches!(self.view(), View::Number(_))) {
            line.write_str("must not be a multiple of ")?;
            self.unit().number(divisor).write(line)?;
            return self.got(line);
        }
        if fits(self.view().types(), facets.subject()) && facets.subject() != Types::ANY {
            line.write_str("must not be ")?;
            self.wanted(line, wanted, WANTED_BYTES_MAX)?;
            self.got(line)
        } else {
            self.came(line)?;
            line.write_str(" is not allowed here")
        }
    }

    // --- counts ----------------------------------------------------------------------------------------------

    fn counted(self, line: &mut Line) -> fmt::Result {
        let len = self.len();
        let opcode = self.unit().code().get(self.item.record.pc as usize).map(|word| word.opcode());
        if opcode == Some(Opcode::MaxProperties) {
            return self.at_most(line, "member");
        }
        self.name_at_fault(line)?;
        line.write_str("expected ")?;
        if opcode == Some(Opcode::MinProperties) {
            line.write_str("at least ")?;
            write_count(line, self.operand().into(), "member")?;
            return got_count(line, len);
        }
        let wanted = match self.union_as_one() {
            Some(union) => Wanted::block(block_of(self.unit(), union)),
            None => Wanted::block(self.block()),
        };
        match self.union_as_one() {
            Some(_) => self.wanted(line, wanted, WANTED_BYTES_MAX)?,
            None => write_asserted(line, self.unit(), wanted, WANTED_BYTES_MAX)?,
        }
        match self.view() {
            View::Array if len == 0 => line.write_str(", got an empty array"),
            View::Array => {
                line.write_str(", got ")?;
                write_count(line, len, "item")
            }
            View::String(text) if text.raw_bytes() == 0 => line.write_str(", got an empty string"),
            View::String(text) => {
                self.got(line)?;
                if self.guided.renderer.masked || text.chars().map(char::len_utf8).sum::<usize>() + 2 > VALUE_BYTES_MAX
                {
                    return Ok(());
                }
                line.write_str(" (")?;
                write_count(line, text.char_len() as u64, "character")?;
                line.write_char(')')
            }
            _ => self.got(line),
        }
    }

    fn at_most(self, line: &mut Line, one: &str) -> fmt::Result {
        match self.operand() {
            0 => write!(line, "expected no {one}s")?,
            most => {
                line.write_str("expected at most ")?;
                write_count(line, most.into(), one)?;
            }
        }
        got_count(line, self.len())
    }

    fn contains(self, line: &mut Line) -> fmt::Result {
        let (list, found) = (self.unit().list(self.operand()), self.item.record.arg);
        let &[target, min, max] = list else {
            return Ok(());
        };
        let (word, count) = if found == CONTAINS_TOO_MANY { ("most", max) } else { ("least", min.max(1)) };
        write!(line, "expected at {word} {count} of the items to be ")?;
        self.wanted(line, Wanted::target(Target::from_bits(target)), WANTED_BYTES_MAX)?;
        match found {
            CONTAINS_TOO_MANY => line.write_str(", got more"),
            0 => line.write_str(", got none"),
            found => write!(line, ", got {found}"),
        }
    }

    fn repeated(self, line: &mut Line) -> fmt::Result {
        line.write_str("expected array without duplicates")?;
        let tape = self.guided.renderer.tape;
        let mut budget = Budget { fuel: EQUAL_FUEL_MAX, depth: DEPTH_CEILING };
        let mut is_equal = |a: Node, b: Node| {
            let (mut one, mut other) = (TapeInstance::new(tape, a), TapeInstance::new(tape, b));
            equal(&mut one, a, &mut other, b, &mut budget) == Ok(true)
        };
        let elements = || tape.element_nodes(self.node()).take(ELEMENTS_SOUGHT_MAX).enumerate();
        let twins = elements().filter_map(|(at, element)| {
            let first = elements().take(at).find(|(_, other)| is_equal(*other, element))?.0;
            Some((first, at))
        });
        let mut told = 0;
        for (first, second) in twins {
            told += 1;
            match told {
                1 => write!(line, "; item [{second}] repeats item [{first}]")?,
                2..=REPEATED_MAX => write!(line, ", item [{second}] item [{first}]")?,
                _ => {}
            }
        }
        match told {
            0 => self.got(line),
            told if told > REPEATED_MAX => write!(line, " and {} more", told - REPEATED_MAX),
            _ => Ok(()),
        }
    }

    fn items_not_allowed(self, line: &mut Line) -> fmt::Result {
        let extras = self.guided.renderer.extras(&self.item.record);
        write_count(line, extras.len() as u64, "item")?;
        line.write_str(" too many")?;
        if self.guided.renderer.masked {
            return Ok(());
        }
        let tape = self.guided.renderer.tape;
        line.write_str(": ")?;
        clipped(line, BRIEF_BYTES_MAX, |out| {
            extras.iter().enumerate().try_for_each(|(at, node)| {
                out.write_str(if at > 0 { ", " } else { "" })?;
                clipped(out, VALUE_BYTES_MAX, |out| write_json(out, tape, *node)).map(|_| ())
            })
        })
        .map(|_| ())
    }

    // --- members ---------------------------------------------------------------------------------------------

    fn missing(self, line: &mut Line, given: Option<&str>) -> fmt::Result {
        let Some(name) = missing_name(self.guided, self.item) else {
            return line.write_str("a required member is missing");
        };
        line.write_str(if given.is_some() { "missing '" } else { "missing required '" })?;
        clipped(line, NAME_BYTES_MAX, |out| write_name_chars(out, name.chars()))?;
        line.write_char('\'')?;
        let wanted = missing_wanted(self.guided, self.item, name);
        self.in_brackets(line, wanted)?;
        if let Some(given) = given {
            line.write_str(", required because '")?;
            clipped(line, NAME_BYTES_MAX, |out| write_name_chars(out, given.chars()))?;
            line.write_str("' is given")?;
        }
        self.described(line, wanted, ": ")
    }

    fn in_brackets(self, line: &mut Line, wanted: Option<Wanted>) -> fmt::Result {
        let Some(wanted) = wanted.filter(|wanted| !Facets::of(self.unit(), *wanted).is_open()) else {
            return Ok(());
        };
        line.write_str(" (")?;
        self.wanted(line, wanted, BRIEF_BYTES_MAX)?;
        line.write_char(')')
    }

    fn described(self, line: &mut Line, wanted: Option<Wanted>, before: &str) -> fmt::Result {
        let text = wanted.and_then(|wanted| wanted.block).and_then(|block| description(self.unit(), block));
        let Some(text) = text else {
            return Ok(());
        };
        line.write_str(before)?;
        clipped(line, DESCRIPTION_BYTES_MAX, |out| write_one_line(out, text)).map(|_| ())
    }
}

/// The name that a failure says is missing.
pub(super) fn missing_name<'r>(guided: Guided<'r>, item: &Item<'r>) -> Option<&'r str> {
    let unit = guided.renderer.unit;
    let word = unit.code().get(item.record.pc as usize)?;
    let at = item.record.arg as usize;
    let id = match word.opcode() {
        Opcode::Required => unit.table(word.c).names.get(at)?.name,
        Opcode::DependentRequired => StrId(*unit.list(word.c).get(at + 1)?),
        _ => return None,
    };
    Some(unit.str(id))
}

/// What the missing member must be: as the schema object says that requires it, or one around it.
pub(super) fn missing_wanted(guided: Guided<'_>, item: &Item<'_>, name: &str) -> Option<Wanted> {
    let unit = guided.renderer.unit;
    property_around(unit, block(unit, item), name)
}

/// Writes a name of the instance: quoted, or what masking leaves of it.
pub(super) fn write_instance_name(guided: Guided<'_>, out: &mut dyn Write, name: Text<'_>) -> fmt::Result {
    if guided.renderer.masked {
        return write_masked_text(out, "a name", name);
    }
    out.write_char('\'')?;
    clipped(out, NAME_BYTES_MAX, |out| write_name_chars(out, name.chars()))?;
    out.write_char('\'')
}

/// `, got 3`
fn got_count(line: &mut Line, count: u64) -> fmt::Result {
    match count {
        0 => line.write_str(", got none"),
        count => write!(line, ", got {count}"),
    }
}
