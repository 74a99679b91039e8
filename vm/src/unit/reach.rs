//! Which blocks judge one and the same instance, one inside the other: no block may come back to itself so, and the
//! longest chain of them is what memory for frames is sized by.

use std::collections::BTreeSet;

use super::{BadUnit, Requirements, Unit};
use crate::listing::each_target;
use crate::opcode::{Opcode, Traits};

/// The opcodes whose messages list members or elements, one bit each.
const LISTING: u64 = 1 << Opcode::AdditionalProperties as u8
    | 1 << Opcode::UnevaluatedProperties as u8
    | 1 << Opcode::UnevaluatedItems as u8;

/// The opcodes for which a frame may lie on another of the same instance.
const CHAINED: u64 = {
    let (mut chained, mut op) = (1 << Opcode::TrackOpen as u8, 0);
    while op < Opcode::ALL.len() {
        if Opcode::ALL[op].traits().has(Traits::IN_PLACE) {
            chained |= 1 << op;
        }
        op += 1;
    }
    chained
};

impl Unit {
    /// What memory for calls is sized by. The unit's operands have been checked; `opcodes` are those that there are, one bit
    /// each. Errors: a block that runs itself on its own instance, and so would never end.
    pub(super) fn required(&self, opcodes: u64) -> Result<Requirements, BadUnit> {
        let code = || self.parts.code.iter().map(|word| (word.opcode(), word.c));
        let kept: BTreeSet<u32> = if opcodes & 1 << Opcode::CallMemo as u8 == 0 {
            BTreeSet::new()
        } else {
            code().filter(|(op, _)| *op == Opcode::CallMemo).map(|(_, block)| block).collect()
        };
        let listing =
            if opcodes & LISTING == 0 { 0 } else { code().filter(|(op, _)| LISTING >> *op as u8 & 1 == 1).count() };
        let frames = if opcodes & CHAINED == 0 { 1 } else { Chains::of(self).longest()? };
        Ok(Requirements { frames_per_level: frames as usize, kept: kept.len(), listing })
    }
}

/// A block whose chain is being measured.
struct Open {
    pc: u32,
    /// Where its callees begin that are still to be seen.
    callees_from: usize,
    /// The longest chain of those seen so far.
    longest: u32,
}

/// The longest chains from blocks, by an explicit stack: chains are as long as the unit's author likes.
struct Chains<'u> {
    unit: &'u Unit,
    /// By the pc of a block's start: its chain, [`UNSEEN`] or [`OPEN`].
    chain: Vec<u32>,
    open: Vec<Open>,
    callees: Vec<u32>,
}

const UNSEEN: u32 = 0;
const OPEN: u32 = u32::MAX;

impl<'u> Chains<'u> {
    fn of(unit: &'u Unit) -> Self {
        Chains { unit, chain: vec![UNSEEN; unit.code().len()], open: Vec::new(), callees: Vec::new() }
    }

    /// The longest of all. Unit: frames. Errors: a cycle.
    fn longest(mut self) -> Result<u32, BadUnit> {
        let (mut longest, mut start) = (1, 0);
        for (pc, word) in self.unit.code().iter().enumerate() {
            if word.op == Opcode::Leave as u8 {
                longest = longest.max(self.from(start)?);
                start = pc as u32 + 1;
            }
        }
        Ok(longest)
    }

    /// The longest chain from the block at `start`.
    fn from(&mut self, start: u32) -> Result<u32, BadUnit> {
        self.enter(start);
        while let Some(Open { pc, callees_from, longest }) = self.open.last_mut() {
            if self.callees.len() == *callees_from {
                let length = longest.saturating_add(own_frames(self.unit, *pc));
                self.chain[*pc as usize] = length;
                self.open.pop();
                if let Some(around) = self.open.last_mut() {
                    around.longest = around.longest.max(length);
                }
                continue;
            }
            let Some(callee) = self.callees.pop() else {
                break;
            };
            match self.chain[callee as usize] {
                UNSEEN => self.enter(callee),
                OPEN => return Err(BadUnit(format!("{callee:04} runs itself on its own instance"))),
                length => *longest = length.max(*longest),
            }
        }
        Ok(self.chain[start as usize])
    }

    fn enter(&mut self, pc: u32) {
        if self.chain[pc as usize] != UNSEEN {
            return;
        }
        self.chain[pc as usize] = OPEN;
        self.open.push(Open { pc, callees_from: self.callees.len(), longest: 0 });
        let unit = self.unit;
        for word in unit.block(pc).filter(|word| word.opcode().runs_in_place()) {
            each_target(unit, *word, &mut |target| self.callees.push(unit.block_start(target.pc())));
        }
    }
}

/// Frames that the block itself takes: its own, and one for each evaluated set open at once.
fn own_frames(unit: &Unit, pc: u32) -> u32 {
    let (mut sets, mut most) = (0_u32, 0);
    for word in unit.block(pc) {
        match word.opcode() {
            Opcode::TrackOpen => sets += 1,
            Opcode::TrackClose => sets = sets.saturating_sub(1),
            _ => {}
        }
        most = most.max(sets);
    }
    1 + most
}
