//! Unions: `anyOf`, `oneOf`, with and without a tag.
//!
//! `null` with one other branch makes a value optional, which adds nothing to locations. Else a branch is chosen that fits
//! best: all are read, the first that is exact is taken, or the one that sets most properties, or needs least reading anew.

use super::Mode;
use super::block::{Block, discriminator};
use super::failure::{FieldCode, FieldStep, NO_PC};
use super::literal::Found;
use super::walk::{Exactness, Fit, Reader, Step};
use crate::insn::{Target, Word};
use crate::instance::View;
use crate::opcode::Opcode;
use crate::tape::Node;

impl<'r> Reader<'r, '_> {
    pub(super) fn union(&mut self, (pc, word): (u32, Word), node: Node, at: u32) -> Step<bool> {
        let unit = self.unit;
        let branches = unit.list(word.c);
        self.spend(branches.len() as u64)?;
        if let Some(name) = discriminator(unit, pc)
            && branches.iter().all(|bits| self.tag(*bits, name).is_some())
        {
            return self.tagged((pc, name), branches, node, at);
        }
        let is_null = |bits: &u32| Block::of(unit, Target::from_bits(*bits)).is_some_and(|block| block.resolved().is_null());
        let nulls = branches.iter().filter(|bits| is_null(bits)).count();
        if nulls > 0 && matches!(self.tape.view_node(node), View::Null) && self.mode.is_pydantic() {
            return Ok(true);
        }
        let mut others = branches.iter().copied().filter(|bits| !is_null(bits)).peekable();
        match others.peek().copied() {
            Some(only) if nulls > 0 && branches.len() - nulls == 1 && !matches!(self.tape.view_node(node), View::Null) => {
                self.value(Target::from_bits(only), node, at)
            }
            Some(_) if nulls > 0 && !matches!(self.tape.view_node(node), View::Null) => self.smart(pc, others, node, at),
            _ => self.smart(pc, branches.iter().copied(), node, at),
        }
    }

    /// Whether `oneOf` minds that several branches take the value: without reading it anew, as the schema does.
    fn smart(&mut self, pc: u32, branches: impl Iterator<Item = u32>, node: Node, at: u32) -> Step<bool> {
        let one_only = self.unit.code().get(pc as usize).is_some_and(|word| word.opcode() == Opcode::OneOf);
        let (outer, start, edits) = (self.fit, self.reading.mark(), self.reading.edits.len());
        let mut best: Option<Fit> = None;
        let mut takers = 0;
        for bits in branches {
            let target = Target::from_bits(bits);
            let (before, tried) = (self.reading.mark(), self.reading.edits.len());
            let step = FieldStep::Branch(if target.is_some() { target.pc() } else { NO_PC });
            let location = self.reading.locations.push(at, step);
            self.fit = Fit::EXACT;
            if !self.value(target, node, location)? {
                self.reading.edits.truncate(tried);
                if best.is_some() {
                    self.reading.rewind(before);
                }
                continue;
            }
            self.reading.rewind(before);
            takers += u32::from(self.fit.exactness > Exactness::Lax || self.mode == Mode::Strict);
            if best.is_none_or(|best| self.fit.is_better_than(best)) {
                best = Some(self.fit);
                self.reading.edits.drain(edits..tried);
            } else {
                self.reading.edits.truncate(tried);
            }
            if best == Some(Fit::EXACT) && !one_only {
                break;
            }
        }
        self.fit = outer;
        let Some(best) = best else {
            return Ok(false);
        };
        self.reading.rewind(start);
        self.floor(best.exactness);
        if let Some(fields) = best.fields {
            self.fit.fields = Some(self.fit.fields.unwrap_or(0).saturating_add(fields));
        }
        if one_only && takers > 1 {
            self.fail(FieldCode::SeveralBranches, at, pc, node);
            return Ok(false);
        }
        Ok(true)
    }

    /// The constants of a branch's tag.
    fn tag(&self, bits: u32, name: &str) -> Option<Block<'r>> {
        Block::of(self.unit, Target::from_bits(bits))?.tag(name)
    }

    /// Takes the branch that the tag means.
    fn tagged(&mut self, (pc, name): (u32, &str), branches: &[u32], node: Node, at: u32) -> Step<bool> {
        if !matches!(self.tape.view_node(node), View::Object) {
            self.fail(FieldCode::ModelAttributes, at, pc, node);
            return Ok(false);
        }
        let Some(tag) = self.member(node, name)? else {
            self.fail(FieldCode::TagNotFound, at, pc, node);
            return Ok(false);
        };
        for bits in branches {
            let literal = self.tag(*bits, name).and_then(Block::literal);
            let Some((_, word)) = literal else {
                continue;
            };
            if matches!(self.found(word, tag)?, Found::No) {
                continue;
            }
            let mark = self.reading.mark();
            let location = self.reading.locations.push(at, FieldStep::Name(tag));
            let passed = self.value(Target::from_bits(*bits), node, location)?;
            if self.reading.is_clean_since(mark) {
                self.reading.rewind(mark);
            }
            return Ok(passed);
        }
        self.fail(FieldCode::TagInvalid, at, pc, tag);
        Ok(false)
    }
}
