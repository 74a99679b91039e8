//! The names that objects of a block may have, and the blocks around it that have names for the same object.

use std::ops::ControlFlow;

use super::{CALLS_MAX, STEPS_MAX, Steps, Wanted, block_of, block_words};
use crate::insn::Target;
use crate::opcode::Opcode;
use crate::unit::{Table, Unit};

/// Goes through the names that objects of `block` may have, with what their values must be: those of its own properties, of
/// what it refers to and of its branches and conditions. A name may come several times; what is beyond [`NAMES_MAX`] is left out.
pub(crate) fn each_name<'u, B>(
    unit: &'u Unit,
    block: u32,
    visit: &mut dyn FnMut(&'u str, Wanted) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut left = Steps(NAMES_MAX + 1);
    let flow = each_table(unit, block, &mut |table| {
        for name in &table.names {
            if !left.take() {
                return ControlFlow::Break(None);
            }
            if name.declared
                && let ControlFlow::Break(value) = visit(unit.str(name.name), Wanted::named(name))
            {
                return ControlFlow::Break(Some(value));
            }
        }
        ControlFlow::Continue(())
    });
    flow.break_value().flatten().map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

/// Entries of property tables that are gone through.
const NAMES_MAX: u32 = 1_024;

/// Goes through the tables that [`each_name`] takes its names from. Cost: the instructions, at most [`STEPS_MAX`].
fn each_table<'u, B>(unit: &'u Unit, block: u32, visit: &mut dyn FnMut(&'u Table) -> ControlFlow<B>) -> ControlFlow<B> {
    each_table_within(unit, block, CALLS_MAX, &mut Steps(STEPS_MAX), visit)
}

fn each_table_within<'u, B>(
    unit: &'u Unit,
    block: u32,
    levels_left: u32,
    steps: &mut Steps,
    visit: &mut dyn FnMut(&'u Table) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let Some(levels_left) = levels_left.checked_sub(1) else {
        return ControlFlow::Continue(());
    };
    for (_, word) in block_words(unit, block) {
        if !steps.take() {
            break;
        }
        match word.opcode() {
            Opcode::Properties | Opcode::ObjectTable => {
                visit(unit.table(word.c))?;
            }
            op if op.runs_in_place() && !matches!(op, Opcode::Not | Opcode::MarkBy) => {
                let mut flow = ControlFlow::Continue(());
                // What a condition asks is not what is wanted.
                let condition = (op == Opcode::IfThenElse).then(|| unit.list(word.c).first().copied()).flatten();
                crate::listing::each_target(unit, word, &mut |target| {
                    let is_condition = condition.is_some_and(|bits| Target::from_bits(bits) == target);
                    if flow.is_continue() && !is_condition {
                        flow = each_table_within(unit, target.pc(), levels_left, steps, visit);
                    }
                });
                flow?;
            }
            _ => {}
        }
    }
    ControlFlow::Continue(())
}

/// Blocks around one that are looked into.
const AROUND_MAX: usize = 12;

/// Instructions among which those that run a block are sought.
const CALLERS_SOUGHT_MAX: usize = 20_000;

/// A block and those that run it on their own instance (`then`, a branch, what is referred to), the nearest first.
#[derive(Clone, Copy)]
pub(crate) struct Around {
    blocks: [u32; AROUND_MAX],
    len: usize,
}

impl Around {
    /// The blocks around `block`. Cost: a pass over the explaining code for each.
    pub(crate) fn of(unit: &Unit, block: u32) -> Around {
        let mut around = Around { blocks: [block; AROUND_MAX], len: 1 };
        let mut at = 0;
        while at < around.len {
            around.add_callers(unit, around.blocks[at]);
            at += 1;
        }
        around
    }

    pub(crate) fn blocks(&self) -> &[u32] {
        &self.blocks[..self.len]
    }

    fn add_callers(&mut self, unit: &Unit, block: u32) {
        let explain_at = unit.parts.explain_at;
        let words = unit.code().get(explain_at as usize..).unwrap_or_default().iter().take(CALLERS_SOUGHT_MAX);
        for (pc, word) in (explain_at..).zip(words) {
            let mut runs_it = false;
            if word.opcode().runs_in_place() && word.opcode() != Opcode::MarkBy {
                crate::listing::each_target(unit, *word, &mut |target| runs_it |= target.pc() == block);
            }
            if runs_it {
                let caller = block_of(unit, pc);
                if self.len < AROUND_MAX && !self.blocks().contains(&caller) {
                    self.blocks[self.len] = caller;
                    self.len += 1;
                }
            }
        }
    }
}

/// What the member `name` of the objects that `block` is about must be: as the block tells, or else one around it.
pub(crate) fn property_around(unit: &Unit, block: u32, name: &str) -> Option<Wanted> {
    let around = || Around::of(unit, block).blocks().iter().find_map(|block| property(unit, *block, name));
    property(unit, block, name).or_else(around)
}

/// What the member `name` of objects of `block` must be, where that is told: by its own properties before others.
pub(crate) fn property(unit: &Unit, block: u32, name: &str) -> Option<Wanted> {
    let find = |table| match unit.find_name(table, name) {
        Some((_, entry)) if entry.declared => ControlFlow::Break(Wanted::named(entry)),
        _ => ControlFlow::Continue(()),
    };
    let mut own = block_words(unit, block)
        .take(STEPS_MAX as usize)
        .filter(|(_, word)| matches!(word.opcode(), Opcode::Properties | Opcode::ObjectTable));
    own.find_map(|(_, word)| find(unit.table(word.c)).break_value())
        .or_else(|| each_table(unit, block, &mut |table| find(table)).break_value())
}
