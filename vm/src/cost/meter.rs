//! What a call spends, instruction by instruction.
//!
//! An applicator's loop goes on after each block it ran, so fuel between two instructions belongs to either. The
//! machine tells where blocks begin and end, and the meter goes by that.

use crate::execute::{Bounds, Judge, Machine, Trace};
use crate::instance::Halt;
use crate::listing::Insn;
use crate::scratch::{Scratch, Stack};
use crate::tape::TapeInstance;
use crate::unit::Unit;

/// What one instruction spent in a call.
#[derive(Clone, Copy, Debug)]
pub struct Spent<'u> {
    /// The instruction.
    pub insn: Insn<'u>,
    /// How often it ran.
    pub runs: u64,
    /// What it spent by itself, in all its runs. Unit: fuel.
    pub fuel: u64,
}

/// What a call spent.
#[derive(Clone, Debug, Default)]
pub struct Spending<'u> {
    /// The instructions that ran, by pc.
    pub insns: Vec<Spent<'u>>,
    /// Fuel in all.
    pub fuel: u64,
    /// Fuel that a call may spend.
    pub fuel_max: u64,
}

/// Counts runs and fuel.
struct Meter<'s> {
    /// Runs and fuel by pc.
    spent: &'s mut [(u64, u64)],
    /// Fuel left when it was last told.
    left: u64,
    /// The instruction that runs.
    now: Option<u32>,
    /// Those whose blocks run.
    around: Vec<Option<u32>>,
}

impl Meter<'_> {
    fn charge(&mut self, left: u64) {
        if let Some(pc) = self.now {
            self.spent[pc as usize].1 += self.left - left;
        }
        self.left = left;
    }
}

impl Trace for Meter<'_> {
    fn step(&mut self, pc: u32, left: u64) {
        self.charge(left);
        self.now = Some(pc);
        self.spent[pc as usize].0 += 1;
    }

    fn enter_block(&mut self, left: u64) {
        self.charge(left);
        self.around.push(self.now);
    }

    fn leave_block(&mut self, left: u64) {
        self.charge(left);
        self.now = self.around.pop().flatten();
    }
}

/// [`judge`](crate::judge) on a tape; answers the verdict, and what each instruction spent. Allocates.
pub fn judge_metered<'u>(
    unit: &'u Unit,
    mut instance: TapeInstance<'_>,
    bounds: Bounds,
) -> (Result<bool, Halt>, Spending<'u>) {
    let mut spent = vec![(0, 0); unit.code().len()];
    let (mut stack, mut scratch) = (Stack::default(), Scratch::default());
    let meter = Meter { spent: &mut spent, left: bounds.fuel_max, now: None, around: Vec::new() };
    let mut machine = Machine::new(unit, &mut instance, Some(&mut stack), &mut scratch, Judge(meter), &bounds);
    let verdict = machine.judge();
    let fuel = machine.fuel_used();
    machine.sink.0.charge(bounds.fuel_max - fuel);
    let ran = spent.iter().enumerate().filter(|(_, (runs, _))| *runs > 0);
    let insns = ran.map(|(pc, (runs, fuel))| Spent { insn: Insn { unit, pc: pc as u32 }, runs: *runs, fuel: *fuel });
    let insns = insns.collect();
    (verdict, Spending { insns, fuel, fuel_max: bounds.fuel_max })
}
