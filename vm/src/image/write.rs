//! Units to bytes.

use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;

use super::patterns;
use super::wire::Writer;
use crate::insn::Target;
use crate::names::NameIndex;
use crate::pattern::Pattern;
use crate::unit::{EnumSet, Extra, Note, NotePath, PoolNumber, Table, TagSwitch, Unit, UnitParts};

/// Units being written, each once, with the patterns that they share.
#[derive(Debug, Default)]
pub struct Image {
    units: Writer,
    unit_numbers: HashMap<[u8; 32], u32, RandomState>,
    patterns: Writer,
    pattern_numbers: HashMap<String, u32, RandomState>,
}

/// How a number of the pool is written.
pub(super) const INT: u8 = 0;
/// By its literal: a larger integer or a decimal, which the literal tells.
pub(super) const LITERAL: u8 = 1;

/// What becomes of further members.
pub(super) const SKIP: u8 = 0;
pub(super) const FORBID: u8 = 1;
pub(super) const RUN: u8 = 2;

/// A note's path.
pub(super) const HERE: u8 = 0;
pub(super) const KEYWORD: u8 = 1;
pub(super) const ELEMENT: u8 = 2;

impl Image {
    /// Nothing yet.
    pub fn new() -> Image {
        Image::default()
    }

    /// Adds a unit, unless one of its digest is there. Answers its number.
    pub fn add(&mut self, unit: &Unit) -> u32 {
        if let Some(number) = self.unit_numbers.get(unit.digest()) {
            return *number;
        }
        let number = self.unit_numbers.len() as u32;
        self.unit_numbers.insert(*unit.digest(), number);
        let patterns: Vec<u32> = unit.parts.patterns.iter().map(|pattern| self.pattern(pattern)).collect();
        self.units.sized(|out| write_unit(out, &unit.parts, &patterns));
        number
    }

    fn pattern(&mut self, pattern: &Arc<Pattern>) -> u32 {
        if let Some(number) = self.pattern_numbers.get(pattern.source()) {
            return *number;
        }
        let number = self.pattern_numbers.len() as u32;
        self.pattern_numbers.insert(pattern.source().to_owned(), number);
        patterns::write(&mut self.patterns, pattern);
        number
    }

    /// Adds the patterns to `out`.
    pub fn write_patterns(&self, out: &mut Writer) {
        out.count(self.pattern_numbers.len());
        out.raw(self.patterns.as_bytes());
    }

    /// Adds the units to `out`.
    pub fn write_units(&self, out: &mut Writer) {
        out.count(self.unit_numbers.len());
        out.raw(self.units.as_bytes());
    }
}

/// In the order in which `read` takes it: each part after those that it names.
fn write_unit(out: &mut Writer, parts: &UnitParts, patterns: &[u32]) {
    out.raw(&parts.digest);
    out.u32(parts.explain_at);
    out.u32(parts.accept.bits());
    out.u32(parts.accept_guard.bits());
    out.u32(parts.explain);
    out.u8(parts.revisits.into());
    out.count(parts.code.len());
    for word in &parts.code {
        out.u8(word.op);
        out.u8(word.a);
        out.raw(&word.b.to_le_bytes());
        out.u32(word.c);
    }
    out.text(&parts.text);
    out.count(parts.strings.len());
    for (start, end) in &parts.strings {
        out.u32(*start);
        out.u32(*end);
    }
    write_numbers(out, &parts.numbers);
    out.text(&parts.value_text);
    out.count(parts.enums.len());
    parts.enums.iter().for_each(|set| write_enum(out, set));
    out.count(parts.switches.len());
    parts.switches.iter().for_each(|switch| write_switch(out, switch));
    out.words(patterns.iter().copied());
    out.count(parts.tables.len());
    parts.tables.iter().for_each(|table| write_table(out, table));
    out.words(parts.lists.iter().copied());
    write_notes(out, parts);
}

fn write_numbers(out: &mut Writer, numbers: &[PoolNumber]) {
    out.count(numbers.len());
    for number in numbers {
        match number {
            PoolNumber::Int(value) => {
                out.u8(INT);
                out.raw(&value.to_le_bytes());
            }
            PoolNumber::Big(literal) | PoolNumber::Decimal(_, literal) => {
                out.u8(LITERAL);
                out.u64(literal.0.into());
            }
        }
    }
}

fn write_enum(out: &mut Writer, set: &EnumSet) {
    out.u8(u8::from(set.null) | u8::from(set.yes) << 1 | u8::from(set.no) << 2);
    out.words(set.strings.iter().map(|(_, id)| id.0));
    write_index(out, &set.index);
    out.words(set.numbers.iter().copied());
    out.words(set.containers.iter().copied());
}

fn write_switch(out: &mut Writer, switch: &TagSwitch) {
    out.u32(switch.name.0);
    out.count(switch.tags.len());
    for tag in &switch.tags {
        out.u32(tag.text.0);
        out.u32(tag.target.bits());
    }
    write_index(out, &switch.index);
}

fn write_table(out: &mut Writer, table: &Table) {
    out.count(table.names.len());
    for name in &table.names {
        out.u32(name.name.0);
        out.u32(name.target.bits());
        out.u32(name.guard.bits() | u32::from(name.declared) << 16);
    }
    write_index(out, &table.index);
    out.u64(table.required);
    out.count(table.patterns.len());
    for (pattern, target) in &table.patterns {
        out.u32(*pattern);
        out.u32(target.bits());
    }
    let (extra, target) = match table.extra {
        Extra::Skip => (SKIP, Target::NONE),
        Extra::Forbid => (FORBID, Target::NONE),
        Extra::Run(target) => (RUN, target),
    };
    out.u8(extra);
    out.u32(target.bits());
}

fn write_index(out: &mut Writer, index: &NameIndex) {
    out.u8(index.spread());
}

fn write_notes(out: &mut Writer, parts: &UnitParts) {
    out.count(parts.notes.len());
    parts.notes.iter().for_each(|note| write_note(out, note));
    out.words(parts.note_texts.iter().map(|id| id.0));
    out.count(parts.note_at.len());
    for (pc, note) in &parts.note_at {
        out.u32(*pc);
        out.u32(*note);
    }
}

fn write_note(out: &mut Writer, note: &Note) {
    let (path, keyword, element) = match note.path {
        NotePath::Here => (HERE, 0, 0),
        NotePath::Keyword(keyword) => (KEYWORD, keyword.0, 0),
        NotePath::Element(keyword, element) => (ELEMENT, keyword.0, element),
    };
    out.u32(note.keyword.0);
    out.u32(note.keyword_location.0);
    out.u32(note.description.0);
    out.u32(note.texts.0);
    out.u32(note.texts.1);
    out.u32(keyword);
    out.u32(element);
    out.raw(&[note.types.0, note.wording as u8, path, 0]);
}
