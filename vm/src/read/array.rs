//! Arrays: lists and tuples.

use super::block::Block;
use super::failure::{FieldCode, FieldFailure, FieldStep, NO_PC};
use super::walk::{Reader, Step};
use crate::insn::{Operand, Target};
use crate::opcode::Opcode;
use crate::tape::Node;

impl<'r> Reader<'r, '_> {
    /// Reads the elements. A list that is too long is not looked into; one that is too short is.
    pub(super) fn array(&mut self, block: Block<'r>, node: Node, at: u32) -> Step<bool> {
        let len = self.tape.entry(node).len;
        self.spend(1 + u64::from(len))?;
        for op in [Opcode::MaxItems, Opcode::ItemsEnd] {
            if let Some((pc, word)) = block.find(op)
                && len > word.c
            {
                self.count(FieldCode::TooLong, pc, node, at, len);
                return Ok(false);
            }
        }
        let unit = self.unit;
        let prefix = block.find(Opcode::PrefixItems).map_or(&[][..], |(_, word)| unit.list(word.c));
        let rest = block.find(Opcode::Items).map(|(_, word)| (u32::from(word.b), Target::decode(word.c)));
        let mut passed = true;
        for (index, element) in (0..).zip(self.tape.element_nodes(node)) {
            let target = match prefix.get(index as usize) {
                Some(bits) => Target::from_bits(*bits),
                None => rest.filter(|(from, _)| index >= *from).map_or(Target::NONE, |(_, target)| target),
            };
            passed &= self.child(target, element, at, FieldStep::Index(index))?;
        }
        let Some((pc, word)) = block.find(Opcode::MinItems).filter(|(_, word)| len < word.c) else {
            return Ok(passed);
        };
        if prefix.is_empty() {
            if passed {
                self.count(FieldCode::TooShort, pc, node, at, len);
            }
            return Ok(false);
        }
        self.spend(word.c.into())?;
        for index in len..word.c.min(prefix.len() as u32) {
            self.fail_below(FieldCode::Missing, (at, FieldStep::Index(index)), NO_PC, node);
        }
        if len >= prefix.len() as u32 && passed {
            self.count(FieldCode::TooShort, pc, node, at, len);
        }
        Ok(false)
    }

    /// Notes that there are too few or too many.
    pub(super) fn count(&mut self, code: FieldCode, pc: u32, node: Node, location: u32, len: u32) {
        self.note(FieldFailure { code, location, pc, node, len, problem: None });
    }
}
