//! The words for facets.

use std::fmt::{self, Write};
use std::ops::ControlFlow;

use super::names::{each_name, property};
use super::{Facets, OPEN, Steps, Wanted, admitted, branches};
use crate::format::Format;
use crate::insn::{Target, Types};
use crate::literal;
use crate::meant::each_tag_text;
use crate::shown::{clipped, write_count, write_json, write_json_text, write_name_chars};
use crate::unit::{EnumSet, Unit};

/// Schemas inside each other that a phrase goes into.
pub(crate) const LEVEL_MAX: u32 = 2;

/// Values of an `enum` that are listed; of longer ones the number is told.
const VALUES_MAX: usize = 12;

/// Of all values listed. Unit: bytes.
const VALUES_BYTES_MAX: usize = 240;

/// Of one value. Unit: bytes.
const VALUE_BYTES_MAX: usize = 60;

/// Of a pattern. Unit: bytes.
const PATTERN_BYTES_MAX: usize = 80;

/// Names that are listed.
const NAMES_MAX: usize = 6;

/// Branches of a union that are told.
const BRANCHES_MAX: usize = 12;

/// Writes what is wanted, at most `bytes_max` bytes of it.
pub(crate) fn write_wanted(out: &mut dyn Write, unit: &Unit, wanted: Wanted, bytes_max: usize) -> fmt::Result {
    clipped(out, bytes_max, |out| Phrase { room: bytes_max, ..Phrase::new(unit, out) }.wanted(wanted, 0)).map(|_| ())
}

/// As [`write_wanted`], without what a list of values or a union says: types, and what is asserted of them.
pub(crate) fn write_asserted(out: &mut dyn Write, unit: &Unit, wanted: Wanted, bytes_max: usize) -> fmt::Result {
    let facets = Facets::of(unit, wanted);
    clipped(out, bytes_max, |out| Phrase::new(unit, out).typed(&facets, 0)).map(|_| ())
}

/// Schemas that one phrase looks at.
const PARTS_MAX: u32 = 256;

/// Entries of a list that count as one schema.
const PART_ENTRIES: usize = 1_024;

/// Names that are tried as the tag of a union.
const TAGS_MAX: u32 = 16;

/// Unions inside each other that are told as one.
const UNIONS_MAX: u32 = 4;

struct Phrase<'u, 'o> {
    unit: &'u Unit,
    out: &'o mut dyn Write,
    /// Schemas that it may still look at.
    left: u32,
    /// Unions inside each other that it may still go into.
    unions_left: u32,
    /// Whether the next noun is to stand for many.
    is_many: bool,
    /// Branches that take more bytes are told by the tag of their objects, if they have one.
    room: usize,
}

impl<'u, 'o> Phrase<'u, 'o> {
    fn new(unit: &'u Unit, out: &'o mut dyn Write) -> Self {
        Phrase { unit, out, left: PARTS_MAX, unions_left: UNIONS_MAX, is_many: false, room: usize::MAX }
    }
}

impl Phrase<'_, '_> {
    fn wanted(&mut self, wanted: Wanted, level: u32) -> fmt::Result {
        let Some(left) = self.left.checked_sub(1) else {
            return self.out.write_char('…');
        };
        self.left = left;
        let mut facets = Facets::of(self.unit, wanted);
        if facets.never {
            return self.out.write_str("nothing");
        }
        if let Some(value) = facets.constant {
            let (values, node) = (self.unit.values(), self.unit.value(value));
            clipped(self.out, VALUE_BYTES_MAX, |out| write_json(out, values, node))?;
        } else if let Some(pc) = facets.list {
            self.values(pc)?;
        } else if let Some(pc) = facets.union.filter(|pc| self.tells_more(*pc)) {
            if let Some(unions_left) = self.unions_left.checked_sub(1).filter(|_| level <= LEVEL_MAX) {
                self.unions_left = unions_left;
                self.union(pc, facets.or_types, level)?;
                self.unions_left += 1;
                return Ok(());
            }
            facets.types = admitted(self.unit, wanted);
            return self.typed(&facets, level);
        } else {
            return self.typed(&facets, level);
        }
        self.or_types(facets.or_types, " or ")
    }

    /// Takes a list that was counted off what may still be looked at: long ones cost more than a schema does.
    fn spend_on(&mut self, entries: usize) {
        self.left = self.left.saturating_sub((entries / PART_ENTRIES) as u32);
    }

    /// As [`wanted`](Self::wanted), in brackets where it has alternatives of its own.
    fn apart(&mut self, wanted: Wanted, facets: &Facets, level: u32) -> fmt::Result {
        let has_more = facets.union.is_some() || kinds(facets).count() > 1;
        self.out.write_str(if has_more { "(" } else { "" })?;
        self.wanted(wanted, level)?;
        self.out.write_str(if has_more { ")" } else { "" })
    }

    /// Whether a branch of the union says anything.
    fn tells_more(&self, pc: u32) -> bool {
        let mut targets = self.targets(pc);
        targets.any(|target| !Facets::of(self.unit, Wanted::target(target)).is_open())
    }

    /// The branches of a union, in explaining or judging code.
    fn targets(&self, pc: u32) -> impl Iterator<Item = Target> + Clone + '_ {
        let word = self.unit.code().get(pc as usize);
        let switch = word.filter(|word| word.opcode() == crate::opcode::Opcode::SwitchTag);
        let tags = switch.map_or(&[][..], |word| &self.unit.parts.switches[word.c as usize].tags);
        branches(self.unit, pc).chain(tags.iter().map(|tag| tag.target)).take(BRANCHES_MAX)
    }

    /// The branches, those of equal words once. Objects that a tag tells apart are told by it, where all would take too long.
    fn union(&mut self, pc: u32, or_types: Types, level: u32) -> fmt::Result {
        let is_outermost = level == 0 && self.unions_left + 1 == UNIONS_MAX;
        let tag = if is_outermost && self.is_long(pc)? { common_tag(self.unit, pc) } else { None };
        let mut seen = [0; BRANCHES_MAX];
        let (mut len, mut separator) = (0, "");
        if let Some(tag) = tag {
            self.told_by(tag, pc)?;
            separator = ", or ";
        }
        for at in 0..BRANCHES_MAX {
            let Some(branch) = self.targets(pc).nth(at).map(Wanted::target) else {
                break;
            };
            let facets = Facets::of(self.unit, branch);
            let hash = self.measured(|phrase| phrase.wanted(branch, level))?.hash;
            let is_told = tag.is_some() && facets.is_about_members();
            if is_told || facets.never || seen[..len].contains(&hash) || self.is_told_by_another(&facets, pc) {
                continue;
            }
            self.out.write_str(separator)?;
            seen[len] = hash;
            len += 1;
            self.wanted(branch, level)?;
            separator = joint(&facets);
        }
        self.or_types(or_types, separator)
    }

    /// Whether the branches take more than the room that one phrase should.
    fn is_long(&mut self, pc: u32) -> Result<bool, fmt::Error> {
        let left = self.left;
        let measure = self.measured(|phrase| {
            for at in 0..BRANCHES_MAX {
                let Some(branch) = phrase.targets(pc).nth(at) else {
                    break;
                };
                phrase.wanted(Wanted::target(branch), 0)?;
            }
            Ok(())
        })?;
        self.left = left;
        Ok(measure.bytes > self.room)
    }

    /// `object with 'kind' (one of "circle", "box"), which tells what else is wanted`
    fn told_by(&mut self, tag: &str, pc: u32) -> fmt::Result {
        self.out.write_str("object with ")?;
        self.name(tag)?;
        self.out.write_str(" (one of ")?;
        let (mut at, mut written) = (0, Ok(()));
        each_tag_text(self.unit, pc, tag, &mut |text| {
            if written.is_ok() && at < VALUES_MAX {
                written = self.out.write_str(if at > 0 { ", " } else { "" });
                let clip = clipped(self.out, VALUE_BYTES_MAX, |out| write_json_text(out, text.chars()));
                written = written.and(clip.map(|_| ()));
            }
            at += 1;
        });
        written?;
        if at > VALUES_MAX {
            write!(self.out, ", … ({at} values)")?;
        }
        self.out.write_str("), which tells what else is wanted")
    }

    /// Whether it is integers alone, and another branch is all numbers.
    fn is_told_by_another(&self, facets: &Facets, pc: u32) -> bool {
        let of = |target| Facets::of(self.unit, Wanted::target(target));
        is_plain_number(facets, true) && self.targets(pc).any(|target| is_plain_number(&of(target), false))
    }

    /// What `write` writes, measured and not written.
    fn measured(&mut self, write: impl FnOnce(&mut Phrase<'_, '_>) -> fmt::Result) -> Result<Measure, fmt::Error> {
        let mut measure = Measure::default();
        let Phrase { unit, left, unions_left, room, .. } = *self;
        let mut phrase = Phrase { unit, out: &mut measure, left, unions_left, is_many: false, room };
        write(&mut phrase)?;
        self.left = phrase.left;
        Ok(measure)
    }

    fn or_types(&mut self, types: Types, separator: &str) -> fmt::Result {
        if types == Types::NONE {
            return Ok(());
        }
        self.out.write_str(separator)?;
        self.typed(&Facets { types, ..OPEN }, LEVEL_MAX)
    }

    /// The values of the `enum` at `pc`: in the order of the schema where its note has them.
    fn values(&mut self, pc: u32) -> fmt::Result {
        let unit = self.unit;
        let Some(word) = unit.code().get(pc as usize) else {
            return Ok(());
        };
        let note = unit.note(pc).and_then(|note| unit.note_texts(note).first()).map(|id| unit.str(*id));
        match note {
            Some(list) => {
                let values = literal::elements(list);
                let total = literal::elements(list).count();
                self.listed(values, total, &mut |out, value| literal::write_as_json(out, value))
            }
            None => {
                let set = &unit.parts.enums[word.c as usize];
                let total = SetValue::all(set).count();
                self.listed(SetValue::all(set), total, &mut |out, value| value.write(out, unit))
            }
        }
    }

    fn listed<T>(
        &mut self,
        values: impl Iterator<Item = T>,
        total: usize,
        write: &mut dyn FnMut(&mut dyn Write, T) -> fmt::Result,
    ) -> fmt::Result {
        self.spend_on(total);
        self.out.write_str(if total > 1 { "one of " } else { "" })?;
        let shown_max = if total <= VALUES_MAX + 2 { total } else { VALUES_MAX };
        let mut shown = 0;
        let is_cut = clipped(self.out, VALUES_BYTES_MAX, |out| {
            for value in values.take(shown_max) {
                out.write_str(if shown > 0 { ", " } else { "" })?;
                clipped(out, VALUE_BYTES_MAX, |out| write(out, value))?;
                shown += 1;
            }
            Ok(())
        })?;
        if is_cut {
            write!(self.out, " ({total} values)")
        } else if shown < total {
            write!(self.out, ", … ({total} values)")
        } else {
            Ok(())
        }
    }

    fn typed(&mut self, facets: &Facets, level: u32) -> fmt::Result {
        let types = facets.subject().union(facets.or_types);
        if types == Types::ANY || types == Types::NONE {
            return self.out.write_str(if types == Types::NONE { "nothing" } else { "any value" });
        }
        let mut separator = "";
        for of in kinds(facets) {
            self.out.write_str(separator)?;
            match of {
                Types::WHOLE => self.number(facets, types)?,
                Types::STRING => self.string(facets)?,
                Types::BOOLEAN => self.noun("boolean")?,
                Types::ARRAY => self.array(facets, level)?,
                Types::OBJECT => self.object(facets, level)?,
                _ => self.out.write_str("null")?,
            }
            let is_long = match of {
                Types::WHOLE => facets.has_many_bounds(),
                Types::ARRAY => facets.is_about_elements(),
                Types::OBJECT => facets.is_about_members(),
                _ => false,
            };
            separator = if is_long { ", or " } else { " or " };
        }
        Ok(())
    }

    /// A noun for one, or for many.
    fn noun(&mut self, one: &str) -> fmt::Result {
        self.out.write_str(one)?;
        self.out.write_str(if std::mem::take(&mut self.is_many) { "s" } else { "" })
    }

    fn number(&mut self, facets: &Facets, types: Types) -> fmt::Result {
        self.noun(if types.meets(Types::NUMBER) { "number" } else { "integer" })?;
        match (facets.lower, facets.upper) {
            (Some((lower, false)), Some((upper, false))) => {
                self.out.write_str(" from ")?;
                self.unit.number(lower).write(self.out)?;
                self.out.write_str(" to ")?;
                self.unit.number(upper).write(self.out)?;
            }
            (lower, upper) => {
                if let Some((lower, is_open)) = lower {
                    self.out.write_str(if is_open { " > " } else { " >= " })?;
                    self.unit.number(lower).write(self.out)?;
                }
                if let Some((bound, is_open)) = upper {
                    self.out.write_str(if lower.is_some() { " and" } else { "" })?;
                    self.out.write_str(if is_open { " < " } else { " <= " })?;
                    self.unit.number(bound).write(self.out)?;
                }
            }
        }
        if let Some(multiple) = facets.multiple {
            let is_bounded = facets.lower.is_some() || facets.upper.is_some();
            self.out.write_str(if is_bounded { " and a multiple of " } else { ", a multiple of " })?;
            self.unit.number(multiple).write(self.out)?;
        }
        Ok(())
    }

    fn string(&mut self, facets: &Facets) -> fmt::Result {
        let word = emptiness(facets.chars);
        self.out.write_str(word)?;
        self.noun("string")?;
        if word.is_empty() {
            self.range(" of ", facets.chars, "character")?;
        }
        if let Some(format) = facets.format.and_then(Format::from_u8) {
            write!(self.out, " in {} format", format.name())?;
        }
        if let Some(pattern) = facets.pattern {
            let source = self.unit.pattern(pattern).source();
            self.out.write_str(" matching `")?;
            clipped(self.out, PATTERN_BYTES_MAX, |out| write_name_chars(out, source.chars()))?;
            self.out.write_char('`')?;
        }
        Ok(())
    }

    /// ` of at least 2 characters`; nothing where all counts will do.
    fn range(&mut self, before: &str, (min, max): (u32, u32), one: &str) -> fmt::Result {
        match (min, max) {
            (0, u32::MAX) => Ok(()),
            (min, max) if min == max => {
                write!(self.out, "{before}exactly ")?;
                write_count(self.out, min.into(), one)
            }
            (min, u32::MAX) => {
                write!(self.out, "{before}at least ")?;
                write_count(self.out, min.into(), one)
            }
            (0, max) => {
                write!(self.out, "{before}at most ")?;
                write_count(self.out, max.into(), one)
            }
            (min, max) => {
                write!(self.out, "{before}{min} to ")?;
                write_count(self.out, max.into(), one)
            }
        }
    }

    fn array(&mut self, facets: &Facets, level: u32) -> fmt::Result {
        if let Some(prefix) = facets.prefix.filter(|_| level < LEVEL_MAX) {
            return self.tuple(self.unit.list(prefix), facets.rest, level);
        }
        let word = emptiness(facets.items);
        self.out.write_str(word)?;
        self.noun("array")?;
        let is_counted = word.is_empty() && facets.items != OPEN.items;
        if is_counted {
            self.range(" of ", facets.items, "item")?;
        }
        if let Some(element) = facets.element {
            let inner = Facets::of(self.unit, element);
            if is_one_kind(&inner) && (level < LEVEL_MAX || inner.is_plain()) {
                self.out.write_str(if is_counted { ", all " } else { " of " })?;
                self.is_many = true;
                self.typed(&inner, level + 1)?;
            } else if level < LEVEL_MAX && !inner.is_open() {
                self.out.write_str(if is_counted { ", each " } else { ", each item " })?;
                self.apart(element, &inner, level + 1)?;
            }
        }
        self.out.write_str(if facets.is_unique { ", without duplicates" } else { "" })
    }

    /// `array [number, number]`
    fn tuple(&mut self, targets: &[u32], rest: Option<Wanted>, level: u32) -> fmt::Result {
        self.noun("array")?;
        self.out.write_str(" [")?;
        for (at, bits) in targets.iter().take(NAMES_MAX).enumerate() {
            self.out.write_str(if at > 0 { ", " } else { "" })?;
            self.wanted(Wanted::target(Target::from_bits(*bits)), level + 1)?;
        }
        if let Some(rest) = rest.filter(|_| targets.len() <= NAMES_MAX) {
            self.out.write_str(", ")?;
            self.wanted(rest, level + 1)?;
        }
        self.out.write_str(if rest.is_some() || targets.len() > NAMES_MAX { ", …]" } else { "]" })
    }

    fn object(&mut self, facets: &Facets, level: u32) -> fmt::Result {
        let is_empty_forbidden = facets.members_min == 1 && facets.required.len == 0;
        self.out.write_str(if is_empty_forbidden { "non-empty " } else { "" })?;
        self.noun("object")?;
        if facets.members_min > 1 {
            self.range(" of ", (facets.members_min, u32::MAX), "member")?;
        }
        if level > LEVEL_MAX {
            return Ok(());
        }
        let unit = self.unit;
        let total = facets.required_total(unit);
        for (at, name) in facets.required_names(unit).take(NAMES_MAX).enumerate() {
            let wanted = facets.wanted_of(unit, name);
            self.out.write_str(match at {
                0 => " with ",
                last if last + 1 == total => " and ",
                _ => ", ",
            })?;
            self.name(unit.str(name))?;
            if level < LEVEL_MAX && !Facets::of(unit, wanted).is_open() {
                self.out.write_str(" (")?;
                self.wanted(wanted, level + 1)?;
                self.out.write_char(')')?;
            }
        }
        if total > NAMES_MAX {
            write!(self.out, " and {} more", total - NAMES_MAX)?;
        }
        if total > 0 {
            return Ok(());
        }
        match facets.values {
            Some(values) => self.map_of(values, level),
            None if level < LEVEL_MAX => self.optional_names(facets),
            None => Ok(()),
        }
    }

    fn map_of(&mut self, values: Wanted, level: u32) -> fmt::Result {
        let inner = Facets::of(self.unit, values);
        if is_one_kind(&inner) && (level < LEVEL_MAX || inner.is_plain()) {
            self.out.write_str(" whose values are ")?;
            self.is_many = true;
            return self.typed(&inner, level + 1);
        }
        if level >= LEVEL_MAX || inner.is_open() {
            return Ok(());
        }
        self.out.write_str(", each value ")?;
        self.apart(values, &inner, level + 1)
    }

    fn optional_names(&mut self, facets: &Facets) -> fmt::Result {
        let unit = self.unit;
        let total = facets.declared_names(unit).count();
        self.spend_on(total);
        for (at, entry) in facets.declared_names(unit).take(NAMES_MAX).enumerate() {
            self.out.write_str(if at == 0 { " with optional " } else { ", " })?;
            self.name(unit.str(entry.name))?;
        }
        if total > NAMES_MAX { write!(self.out, " and {} more", total - NAMES_MAX) } else { Ok(()) }
    }

    fn name(&mut self, name: &str) -> fmt::Result {
        self.out.write_char('\'')?;
        clipped(self.out, VALUE_BYTES_MAX, |out| write_name_chars(out, name.chars()))?;
        self.out.write_char('\'')
    }
}

/// The word for a count that any but none will do, or none but none.
fn emptiness(range: (u32, u32)) -> &'static str {
    match range {
        (1, u32::MAX) => "non-empty ",
        (_, 0) => "empty ",
        _ => "",
    }
}

/// What facets without a type are about.
pub(super) fn inferred(facets: &Facets) -> Types {
    let mut types = Types::NONE;
    if facets.lower.is_some() || facets.upper.is_some() || facets.multiple.is_some() {
        types = types.union(Types::NUMBER).union(Types::WHOLE);
    }
    if facets.chars != OPEN.chars || facets.pattern.is_some() || facets.format.is_some() {
        types = types.union(Types::STRING);
    }
    if facets.is_about_elements() {
        types = types.union(Types::ARRAY);
    }
    if facets.is_about_members() {
        types = types.union(Types::OBJECT);
    }
    if types == Types::NONE { Types::ANY } else { types }
}

/// The kinds of value that are told one by one.
const KINDS: [Types; 6] = [Types::WHOLE, Types::STRING, Types::BOOLEAN, Types::ARRAY, Types::OBJECT, Types::NULL];

/// The kinds that may pass, as far as they are told.
fn kinds(facets: &Facets) -> impl Iterator<Item = Types> + use<> {
    let types = facets.subject().union(facets.or_types);
    KINDS.into_iter().filter(move |of| types.meets(*of))
}

/// Whether it is told by one noun, and what is asserted of it.
fn is_one_kind(facets: &Facets) -> bool {
    let is_listed = facets.constant.is_some() || facets.list.is_some() || facets.union.is_some() || facets.never;
    let is_null = facets.subject() == Types::NULL;
    !is_listed && !is_null && kinds(facets).count() == 1
}

/// Whether nothing is said but that it is a number of that kind.
fn is_plain_number(facets: &Facets, is_whole: bool) -> bool {
    let types = facets.types.union(facets.or_types);
    facets.is_plain() && is_one_kind(facets) && types.meets(Types::WHOLE) && types.meets(Types::NUMBER) != is_whole
}

/// What stands before the next alternative: what lists more than a word ends in a comma, so that its last part is told from
/// what follows.
fn joint(facets: &Facets) -> &'static str {
    let is_long = facets.is_about_members() || facets.is_about_elements() || facets.has_many_bounds();
    if is_long { ", or " } else { " or " }
}

/// The name of the property by whose texts the objects among the branches of the union at `pc` are told apart, if there
/// are several and all fix it.
fn common_tag(unit: &Unit, pc: u32) -> Option<&str> {
    let mut objects = branches(unit, pc)
        .take(BRANCHES_MAX)
        .filter(|target| Facets::of(unit, Wanted::target(*target)).is_about_members());
    let (first, second) = (objects.next()?, objects.next()?);
    let fixes = |target: Target, name| property(unit, target.pc(), name).is_some_and(|wanted| is_text(unit, wanted));
    let mut left = Steps(TAGS_MAX + 1);
    let found = each_name(unit, first.pc(), &mut |name, wanted| {
        let is_tag = is_text(unit, wanted)
            && left.take()
            && fixes(second, name)
            && objects.clone().all(|other| fixes(other, name));
        if is_tag { ControlFlow::Break(name) } else { ControlFlow::Continue(()) }
    });
    found.break_value()
}

/// Whether only texts of a list pass.
fn is_text(unit: &Unit, wanted: Wanted) -> bool {
    let facets = Facets::of(unit, wanted);
    facets.constant_text(unit).is_some() || facets.enum_set(unit).is_some_and(|set| !set.strings.is_empty())
}

/// A value of an `enum` that has no note.
#[derive(Clone, Copy)]
enum SetValue<'u> {
    Word(&'static str),
    Text(crate::unit::StrId),
    Number(u32),
    Container(&'u u32),
}

impl<'u> SetValue<'u> {
    fn all(set: &'u EnumSet) -> impl Iterator<Item = SetValue<'u>> {
        let words = [(set.null, "null"), (set.yes, "true"), (set.no, "false")];
        let words = words.into_iter().filter(|(is_there, _)| *is_there).map(|(_, word)| SetValue::Word(word));
        let texts = set.strings.iter().map(|(_, text)| SetValue::Text(*text));
        let numbers = set.numbers.iter().map(|id| SetValue::Number(*id));
        texts.chain(numbers).chain(set.containers.iter().map(SetValue::Container)).chain(words)
    }

    fn write(self, out: &mut dyn Write, unit: &Unit) -> fmt::Result {
        match self {
            SetValue::Word(word) => out.write_str(word),
            SetValue::Text(text) => write_json_text(out, unit.str(text).chars()),
            SetValue::Number(id) => unit.number(id).write(out),
            SetValue::Container(id) => write_json(out, unit.values(), unit.value(*id)),
        }
    }
}

/// A phrase by its length and its hash, by which equal ones are told: FNV-1a of 64 bits.
struct Measure {
    hash: u64,
    bytes: usize,
}

impl Default for Measure {
    fn default() -> Self {
        Measure { hash: 0xcbf2_9ce4_8422_2325, bytes: 0 }
    }
}

impl Write for Measure {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes += text.len();
        self.hash = text.bytes().fold(self.hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        Ok(())
    }
}
