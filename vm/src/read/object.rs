//! Objects: models, which have named properties, and mappings.

use super::block::{Block, note_text};
use super::failure::{FieldCode, FieldStep};
use super::walk::{Exactness, Reader, Step};
use crate::insn::{Operand, Target};
use crate::opcode::Opcode;
use crate::tape::Node;
use crate::unit::{Extra, Table};

/// What becomes of the members that no property names.
#[derive(Clone, Copy)]
struct Further<'r> {
    /// Names and patterns that claim members, and what is done with all others.
    table: Option<(u32, &'r Table)>,
    /// Pattern and target in turn.
    patterns: &'r [u32],
    /// Reads the names.
    names: Target,
    /// Whether a stray member is left out of a coerced copy.
    drops: bool,
}

impl<'r> Reader<'r, '_> {
    /// Reads the members: properties in the order of the schema, then the others in that of the call.
    pub(super) fn object(&mut self, block: Block<'r>, node: Node, at: u32) -> Step<bool> {
        let (mark, len) = (self.reading.mark(), self.tape.entry(node).len);
        self.spend(1 + u64::from(len))?;
        if let Some((pc, word)) = block.find(Opcode::MaxProperties)
            && len > word.c
        {
            self.count(FieldCode::TooLong, pc, node, at, len);
            return Ok(false);
        }
        let unit = self.unit;
        let required = block.find(Opcode::Required).map(|(_, word)| unit.table(word.c));
        let properties = block.properties();
        let mut passed = self.properties(properties.map(|(_, table)| table), required, node, at)?;
        if let Some(required) = required {
            passed &= self.undeclared(properties.map(|(_, table)| table), required, node, at)?;
        }
        passed &= self.further(block, node, at)?;
        if let Some((pc, word)) = block.find(Opcode::MinProperties)
            && len < word.c
            && self.reading.is_clean_since(mark)
        {
            self.count(FieldCode::TooShort, pc, node, at, len);
            passed = false;
        }
        Ok(passed)
    }

    /// The properties that the schema names, and which of them are missing.
    fn properties(&mut self, table: Option<&'r Table>, required: Option<&Table>, node: Node, at: u32) -> Step<bool> {
        let Some(table) = table else {
            return Ok(true);
        };
        let from = self.reading.slots.len();
        for (name, value) in self.tape.member_nodes(node) {
            if let Some(index) = self.find_name(table, name)? {
                self.reading.slots.push((index, value));
            }
        }
        let to = self.reading.slots.len();
        self.reading.slots[from..].sort_unstable();
        if self.mode.is_pydantic() {
            self.floor(Exactness::Lax);
            let fields = (to - from) as u32;
            self.fit.fields = Some(self.fit.fields.unwrap_or(0).saturating_add(fields));
        }
        self.spend(table.names.len() as u64)?;
        let (mut passed, mut next) = (true, from);
        for (index, property) in (0..).zip(&table.names) {
            let slot = self.reading.slots.get(next).copied().filter(|(of, _)| next < to && *of == index);
            if let Some((_, value)) = slot {
                next += 1;
                // The name of a member lies before its value.
                let step = FieldStep::Name(value.saturating_sub(1));
                passed &= self.child(property.target, value, at, step)?;
            } else if required
                .is_some_and(|required| self.unit.find_name(required, self.unit.str(property.name)).is_some())
            {
                self.missing(property.name, at, node);
                passed = false;
            }
        }
        self.reading.slots.truncate(from);
        Ok(passed)
    }

    /// Names that are required and no properties.
    fn undeclared(&mut self, table: Option<&Table>, required: &'r Table, node: Node, at: u32) -> Step<bool> {
        let mut passed = true;
        for name in &required.names {
            let text = self.unit.str(name.name);
            if table.is_some_and(|table| self.unit.find_name(table, text).is_some()) {
                continue;
            }
            if self.member(node, text)?.is_none() {
                self.missing(name.name, at, node);
                passed = false;
            }
        }
        Ok(passed)
    }

    fn find_name(&mut self, table: &Table, name: Node) -> Step<Option<u32>> {
        let text = self.tape.text(name);
        self.spend(1 + text.raw_bytes() as u64 / 16)?;
        let text = text.plain(self.scratch.patterns.plain());
        Ok(self.unit.find_name(table, text).map(|(at, _)| at as u32))
    }

    /// The members that are no properties, and the names of all.
    fn further(&mut self, block: Block<'r>, node: Node, at: u32) -> Step<bool> {
        let unit = self.unit;
        let properties = block.properties();
        let is_open = properties.is_some_and(|(pc, _)| note_text(unit, pc, 0).is_some());
        let more = Further {
            table: block.find(Opcode::AdditionalProperties).map(|(pc, word)| (pc, unit.table(word.c))),
            patterns: block.find(Opcode::PatternProperties).map_or(&[][..], |(_, word)| unit.list(word.c)),
            names: block.find(Opcode::PropertyNames).map_or(Target::NONE, |(_, word)| Target::decode(word.c)),
            drops: properties.is_some() && !is_open && !self.shared && self.mode.is_pydantic(),
        };
        if more.table.is_none() && more.patterns.is_empty() && !more.names.is_some() && !more.drops {
            return Ok(true);
        }
        let mut passed = true;
        for (name, value) in self.tape.member_nodes(node) {
            if more.names.is_some() {
                let mark = self.reading.mark();
                let key = self.reading.locations.push(at, FieldStep::Name(name));
                passed &= self.child(more.names, name, key, FieldStep::Key)?;
                self.reading.forget_locations(mark);
            }
            let known = match properties {
                Some((_, table)) => self.find_name(table, name)?.is_some(),
                None => false,
            };
            passed &= self.stray(more, known, (name, value), at)?;
        }
        Ok(passed)
    }

    /// A member by what claims it: patterns, whether or not it is a property; else what is done with others.
    fn stray(&mut self, more: Further<'r>, known: bool, (name, value): (Node, Node), at: u32) -> Step<bool> {
        let (mut passed, mut claimed) = (true, known);
        for pair in more.patterns.chunks_exact(2) {
            if self.matches(pair[0], name)? {
                claimed = true;
                passed &= self.child(Target::from_bits(pair[1]), value, at, FieldStep::Name(name))?;
            }
        }
        let Some((pc, table)) = more.table.filter(|_| !claimed) else {
            if !claimed && more.drops {
                self.drop_member(name);
            }
            return Ok(passed);
        };
        for (pattern, _) in &table.patterns {
            claimed |= more.patterns.is_empty() && self.matches(*pattern, name)?;
        }
        // Where an option forbids what is unknown, the table has the names of other schemas too.
        claimed = claimed || self.find_name(table, name)?.is_some();
        match table.extra {
            _ if claimed => Ok(passed),
            Extra::Skip => Ok(passed),
            Extra::Forbid => {
                self.fail_below(FieldCode::Extra, (at, FieldStep::Name(name)), pc, value);
                Ok(false)
            }
            Extra::Run(target) => Ok(self.child(target, value, at, FieldStep::Name(name))? && passed),
        }
    }

    fn matches(&mut self, pattern: u32, name: Node) -> Step<bool> {
        let (pattern, text) = (self.unit.pattern(pattern), self.tape.text(name));
        self.spend(1 + pattern.fuel(text.raw_bytes()))?;
        Ok(pattern.is_match(text, &mut self.scratch.patterns)?)
    }
}
