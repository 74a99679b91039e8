//! The words of a line: one arm for each [`Wording`].
//!
//! Failures about a value itself are told by all that its schema object wants (`expected integer from 1 to 10, got 12`), so
//! that one repair is enough; the others say what is wrong with the members or elements.

use std::fmt::{self, Write};

use super::line::{DESCRIPTION_BYTES_MAX, Line};
use super::{Guided, Item, Kind};
use crate::describe::phrase::{write_asserted, write_wanted};
use crate::describe::{Facets, Wanted, admitted, block_of, branches, description, fits, property_around};
use crate::equal::{Budget, equal};
use crate::execute::CONTAINS_TOO_MANY;
use crate::failure::{Step, Wording};
use crate::insn::{Target, Types};
use crate::instance::View;
use crate::limits::DEPTH_CEILING;
use crate::literal;
use crate::meant::each_tag_text;
use crate::nearest::nearness;
use crate::number::Number;
use crate::opcode::Opcode;
use crate::render::Renderer;
use crate::shown::{
    clipped, type_word, write_count, write_json, write_json_text, write_masked, write_masked_text, write_name_chars,
    write_one_line,
};
use crate::tape::{Node, TapeInstance};
use crate::text::Text;
use crate::unit::{StrId, Unit};

/// Of what is wanted. Unit: bytes.
const WANTED_BYTES_MAX: usize = 260;

/// Of what is wanted of a property that is missing, and of the branches that matched. Unit: bytes.
const BRIEF_BYTES_MAX: usize = 120;

/// Of a value that came. Unit: bytes.
const VALUE_BYTES_MAX: usize = 60;

/// Of a name. Unit: bytes.
pub(super) const NAME_BYTES_MAX: usize = 60;

/// Values of an `enum` among which the nearest is sought.
const VALUES_SOUGHT_MAX: usize = 1_024;

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

#[derive(Clone, Copy)]
struct Words<'r, 'i> {
    guided: Guided<'r>,
    item: &'i Item<'r>,
}

impl<'r> Words<'r, '_> {
    fn unit(self) -> &'r Unit {
        self.guided.renderer.unit
    }

    fn node(self) -> Node {
        self.item.record.node
    }

    /// Elements or members of the value.
    fn len(self) -> u64 {
        self.guided.renderer.tape.entry(self.node()).len.into()
    }

    /// The value: known where the wording shows it, as for the pinned message.
    fn view(self) -> View<'r> {
        self.guided.renderer.tape.view_node(self.node())
    }

    fn block(self) -> u32 {
        block(self.unit(), self.item)
    }

    /// The large operand of the instruction that failed.
    fn operand(self) -> u32 {
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

    fn wanted(self, line: &mut Line, wanted: Wanted, bytes_max: usize) -> fmt::Result {
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

    fn is_name(self) -> bool {
        let tape = self.guided.renderer.tape;
        let Some(at) = self.guided.value_at(self.item.record.path).filter(|at| *at != self.node()) else {
            return false;
        };
        tape.member_nodes(at).any(|(name, _)| name == self.node())
    }

    /// `, got string "x"`
    fn got(self, line: &mut Line) -> fmt::Result {
        line.write_str(", got ")?;
        self.came(line)
    }

    fn came(self, line: &mut Line) -> fmt::Result {
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

    /// What the value likely is in another form than is wanted.
    fn hint(self, line: &mut Line, wanted: Wanted) -> fmt::Result {
        let types = admitted(self.unit(), wanted);
        match self.view() {
            View::String(text) if !types.meets(Types::STRING) => {
                if is_spelt(text, types) {
                    return line.write_str("; write it without quotes");
                }
                hint_of_container(line, text, types)
            }
            View::Array if types.meets(Types::OBJECT) && !types.meets(Types::ARRAY) => self.hint_of_list(line),
            View::Null if self.may_be_absent() => line.write_str("; leave it out instead of null"),
            _ => Ok(()),
        }
    }

    /// One object in a list where the object is wanted.
    fn hint_of_list(self, line: &mut Line) -> fmt::Result {
        let tape = self.guided.renderer.tape;
        let mut elements = tape.element_nodes(self.node());
        let is_object = |node: Node| matches!(tape.view_node(node), View::Object);
        match (elements.next(), elements.next()) {
            (Some(only), None) if is_object(only) => line.write_str("; send the object itself, not in a list"),
            _ => Ok(()),
        }
    }

    /// Whether no schema of the unit requires a member of that name.
    fn may_be_absent(self) -> bool {
        let Renderer { unit, tape, explanation, .. } = self.guided.renderer;
        let Some((_, Step::Name(name))) = explanation.paths.parent(self.item.record.path) else {
            return false;
        };
        let name = tape.text(name);
        let required = unit.code().iter().filter(|word| word.opcode() == Opcode::Required);
        let mut names = required.flat_map(|word| &unit.table(word.c).names);
        !self.is_name() && !names.any(|entry| name.is(unit.str(entry.name)))
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
                if self.guided.renderer.masked || text.raw_bytes() + 2 > VALUE_BYTES_MAX {
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
        let twin = elements().find_map(|(at, element)| {
            let first = elements().take(at).find(|(_, other)| is_equal(*other, element))?.0;
            Some((first, at))
        });
        match twin {
            Some((first, second)) => write!(line, "; item [{second}] repeats item [{first}]"),
            None => self.got(line),
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

    // --- unions ----------------------------------------------------------------------------------------------

    fn matched_twice(self, line: &mut Line) -> fmt::Result {
        line.write_str("must fit exactly one alternative, but fits more: ")?;
        for (at, branch) in self.guided.renderer.extras(&self.item.record).iter().take(4).enumerate() {
            line.write_str(if at > 0 { "; " } else { "" })?;
            if let Some(target) = branches(self.unit(), self.item.record.pc).nth(*branch as usize) {
                self.wanted(line, Wanted::target(target), BRIEF_BYTES_MAX)?;
            }
        }
        line.write_str("; got ")?;
        self.came(line)
    }

    fn tag(self, line: &mut Line, name: &str) -> fmt::Result {
        let tape = self.guided.renderer.tape;
        self.tag_texts(line, "expected ", name)?;
        let Some(value) = tape.member(self.node(), name) else {
            return Ok(());
        };
        let mut record = self.item.record;
        record.node = value;
        let item = Item { record, ..*self.item };
        Words { item: &item, ..self }.got(line)?;
        let View::String(given) = tape.view_node(value) else {
            return Ok(());
        };
        let mut near = None;
        each_tag_text(self.unit(), self.item.record.pc, name, &mut |text| {
            let distance = nearness(given.chars(), text.chars());
            if let Some(distance) = distance.filter(|distance| near.is_none_or(|(nearest, _)| *distance < nearest)) {
                near = Some((distance, text));
            }
        });
        match near {
            Some((_, text)) => {
                line.write_str("; did you mean ")?;
                clipped(line, VALUE_BYTES_MAX, |out| write_json_text(out, text.chars()))?;
                line.write_char('?')
            }
            None => Ok(()),
        }
    }

    fn no_tag(self, line: &mut Line, name: &str) -> fmt::Result {
        line.write_str("missing '")?;
        clipped(line, NAME_BYTES_MAX, |out| write_name_chars(out, name.chars()))?;
        self.tag_texts(line, "' (", name)?;
        line.write_str("), which tells what else is wanted")
    }

    fn tag_texts(self, line: &mut Line, before: &str, name: &str) -> fmt::Result {
        line.write_str(before)?;
        line.write_str("one of ")?;
        let mut total = 0;
        each_tag_text(self.unit(), self.item.record.pc, name, &mut |_| total += 1);
        let is_cut = clipped(line, BRIEF_BYTES_MAX, |out| {
            let (mut at, mut written) = (0, Ok(()));
            each_tag_text(self.unit(), self.item.record.pc, name, &mut |text| {
                if written.is_ok() {
                    written =
                        out.write_str(if at > 0 { ", " } else { "" }).and_then(|()| write_json_text(out, text.chars()));
                }
                at += 1;
            });
            written
        })?;
        if is_cut { write!(line, " ({total} values)") } else { Ok(()) }
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

/// JSON text where the value itself belongs.
fn hint_of_container(line: &mut Line, text: Text<'_>, types: Types) -> fmt::Result {
    let first = text.chars().find(|c| !c.is_whitespace());
    match first {
        Some('[') if types.meets(Types::ARRAY) => line.write_str("; send the array itself, not its text in a string"),
        Some('{') if types.meets(Types::OBJECT) => line.write_str("; send the object itself, not its text in a string"),
        _ => Ok(()),
    }
}

/// `, got 3`
fn got_count(line: &mut Line, count: u64) -> fmt::Result {
    match count {
        0 => line.write_str(", got none"),
        count => write!(line, ", got {count}"),
    }
}

/// Texts that are longer spell no scalar. Unit: bytes.
const SPELT_BYTES_MAX: usize = 40;

/// Whether the text spells a scalar of one of the types, but for space around it.
fn is_spelt(text: Text<'_>, types: Types) -> bool {
    let (mut bytes, mut len) = ([0; SPELT_BYTES_MAX], 0);
    for c in text.chars() {
        let Some(byte) = bytes.get_mut(len).filter(|_| c.is_ascii()) else {
            return false;
        };
        *byte = c as u8;
        len += 1;
    }
    match std::str::from_utf8(&bytes[..len]).unwrap_or_default().trim() {
        "true" | "false" => types.meets(Types::BOOLEAN),
        "null" => types.meets(Types::NULL),
        text => is_spelt_number(text, types),
    }
}

fn is_spelt_number(text: &str, types: Types) -> bool {
    // No word that other notations have for a number.
    let only = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
    only && text.parse::<f64>().is_ok()
        && Number::parse(text).is_ok_and(|number| fits(View::Number(number).types(), types))
}
