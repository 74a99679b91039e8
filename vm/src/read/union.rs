//! Unions: `anyOf`, `oneOf`, with and without a tag.
//!
//! `null` with one other branch makes a value optional, which adds nothing to locations. Else a branch is chosen that fits
//! best: all are read, the first that is exact is taken, or the one that sets most properties, or needs least reading anew.

use super::Mode;
use super::block::{Block, discriminator};
use super::decimal;
use super::failure::{FieldCode, FieldStep, NO_PC};
use super::literal::Found;
use super::walk::{Fit, Reader, Step};
use crate::insn::{Target, Types, Word};
use crate::instance::View;
use crate::opcode::Opcode;
use crate::tape::Node;
use crate::unit::Unit;

impl<'r> Reader<'r, '_> {
    pub(super) fn union(&mut self, (pc, word): (u32, Word), node: Node, at: u32) -> Step<bool> {
        let unit = self.unit;
        let branches = unit.list(word.c);
        // Whether a branch is null is told at a look.
        self.spend(branches.len() as u64)?;
        if let Some(name) = discriminator(unit, pc)
            && self.have_tags(branches, name)?
        {
            return self.tagged((pc, name), branches, node, at);
        }
        let is_null =
            |bits: &u32| Block::of(unit, Target::from_bits(*bits)).is_some_and(|block| block.resolved().is_null());
        let nulls = branches.iter().filter(|bits| is_null(bits)).count();
        if nulls > 0 && matches!(self.tape.view_node(node), View::Null) && self.mode.is_pydantic() {
            return Ok(true);
        }
        let others = branches.iter().copied().filter(|bits| !is_null(bits));
        if self.mode == Mode::Lax && is_decimal(unit, others.clone()) {
            return self.decimal(pc, others, node, at);
        }
        match others.clone().next() {
            Some(only)
                if nulls > 0 && branches.len() - nulls == 1 && !matches!(self.tape.view_node(node), View::Null) =>
            {
                self.value(Target::from_bits(only), node, at)
            }
            Some(_) if nulls > 0 && !matches!(self.tape.view_node(node), View::Null) => {
                self.smart(pc, others, node, at)
            }
            _ => self.smart(pc, branches.iter().copied(), node, at),
        }
    }

    /// Whether the branch takes the value as it came.
    fn takes(&mut self, target: Target, node: Node) -> Step<bool> {
        Ok(!target.is_some() || self.machine(node, |machine| machine.run_block(target.pc()))?)
    }

    /// The branch that fits best. `oneOf` minds that several take the value as it came, which is put to the machine.
    fn smart(&mut self, pc: u32, branches: impl Iterator<Item = u32>, node: Node, at: u32) -> Step<bool> {
        let one_only = self.unit.code().get(pc as usize).is_some_and(|word| word.opcode() == Opcode::OneOf);
        let (outer, start, edits) = (self.fit, self.reading.mark(), self.reading.edit_mark());
        let mut best: Option<Fit> = None;
        let mut takers = 0;
        for bits in branches {
            let target = Target::from_bits(bits);
            let (before, tried) = (self.reading.mark(), self.reading.edit_mark());
            let step = FieldStep::Branch(if target.is_some() { target.pc() } else { NO_PC });
            let location = self.reading.locations.push(at, step);
            self.fit = Fit::EXACT;
            if !self.value(target, node, location)? {
                self.reading.undo_edits(tried);
                if best.is_some() {
                    self.reading.rewind(before);
                }
                self.reading.forget_locations(before);
                continue;
            }
            self.reading.rewind(before);
            if one_only {
                takers += u32::from(self.takes(target, node)?);
            }
            if best.is_none_or(|best| self.fit.is_better_than(best)) {
                best = Some(self.fit);
                self.reading.undo_edits_between(edits, tried);
            } else {
                self.reading.undo_edits(tried);
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

    /// A number or text, which a handler gets as decimal text: what is wrong with a value that is no text is said of the
    /// number alone. Text that is no number may pass by the other branch, as the schema says.
    fn decimal(&mut self, pc: u32, mut others: impl Iterator<Item = u32> + Clone, node: Node, at: u32) -> Step<bool> {
        let view = self.tape.view_node(node);
        self.spend(1 + view.bytes() as u64)?;
        let edits = self.reading.edit_mark();
        let passed = match (view, others.clone().next()) {
            (View::String(_), _) | (_, None) => self.smart(pc, others.by_ref(), node, at)?,
            (_, Some(number)) => self.value(Target::from_bits(number), node, at)?,
        };
        if passed && matches!(view, View::String(_) | View::Number(_)) {
            // What the branches made of it is not wanted.
            self.reading.undo_edits(edits);
            self.copy_as_decimal(view, node);
        }
        Ok(passed)
    }

    fn copy_as_decimal(&mut self, view: View<'_>, node: Node) {
        let text = match view {
            View::String(text) => text.plain(&mut self.reading.spare),
            View::Number(number) => {
                self.reading.spare.clear();
                let written = number.write(&mut self.reading.spare);
                debug_assert!(written.is_ok());
                &self.reading.spare
            }
            _ => return,
        };
        let from = self.reading.text.len();
        self.reading.text.push('"');
        if decimal::write(text, &mut self.reading.text) {
            self.reading.text.push('"');
            self.settle(node, (from as u32, self.reading.text.len() as u32));
        } else {
            self.reading.text.truncate(from);
        }
    }

    /// Whether every branch has a tag of that name.
    fn have_tags(&mut self, branches: &[u32], name: &str) -> Step<bool> {
        for bits in branches {
            if self.tag(*bits, name)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The constants of a branch's tag. The instructions that are looked at are paid for.
    fn tag(&mut self, bits: u32, name: &str) -> Step<Option<Block<'r>>> {
        let Some(branch) = Block::of(self.unit, Target::from_bits(bits)).map(Block::resolved) else {
            return Ok(None);
        };
        self.spend(branch.cost())?;
        let tag = branch.tag(name);
        self.spend(tag.map_or(0, Block::cost))?;
        Ok(tag)
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
            let literal = self.tag(*bits, name)?.and_then(Block::literal);
            let Some((_, word)) = literal else {
                continue;
            };
            if matches!(self.found(word, tag)?, Found::No) {
                continue;
            }
            let mark = self.reading.mark();
            let location = self.reading.locations.push(at, FieldStep::Tag(tag));
            let passed = self.value(Target::from_bits(*bits), node, location)?;
            self.reading.forget_locations(mark);
            return Ok(passed);
        }
        self.fail(FieldCode::TagInvalid, at, pc, tag);
        Ok(false)
    }
}

/// Whether the branches are a number and text, in this order, with nothing but constraints.
fn is_decimal(unit: &Unit, mut branches: impl Iterator<Item = u32>) -> bool {
    let mut is_plain = |types: Types| {
        let block = branches.next().and_then(|bits| Block::of(unit, Target::from_bits(bits)));
        block.is_some_and(|block| {
            let is_it = block.types().is_some_and(|(_, of)| of == types);
            is_it && block.literal().is_none() && block.format().is_none()
        })
    };
    is_plain(Types::NUMBER) && is_plain(Types::STRING) && branches.next().is_none()
}
