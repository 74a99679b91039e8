//! Which blocks judge one and the same instance, one inside the other: no block may come back to itself so, and the
//! longest chain of them is what memory for frames is sized by.

use std::collections::BTreeSet;

use super::{BadUnit, Requirements, Unit};
use crate::listing::each_target;
use crate::opcode::Opcode;

impl Unit {
    /// What memory for calls is sized by. The unit's operands have been checked.
    /// Errors: a block that runs itself on its own instance, and so would never end.
    pub(super) fn required(&self) -> Result<Requirements, BadUnit> {
        let (mut kept, mut listing, mut chains) = (BTreeSet::new(), 0, false);
        for word in &self.parts.code {
            let op = word.opcode();
            chains |= op.runs_in_place() || op == Opcode::TrackOpen;
            match op {
                Opcode::CallMemo => {
                    kept.insert(word.c);
                }
                Opcode::AdditionalProperties | Opcode::UnevaluatedProperties | Opcode::UnevaluatedItems => listing += 1,
                _ => {}
            }
        }
        let frames = if chains { Chains::of(self).longest()? } else { 1 };
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
        let starts = (0..self.unit.code().len() as u32).filter(|pc| self.unit.starts_block(*pc));
        let mut longest = 1;
        for start in starts {
            longest = longest.max(self.from(start)?);
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
