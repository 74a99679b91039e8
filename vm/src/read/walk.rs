//! The walk: a block over a value.

use super::block::Block;
use super::failure::{Edit, FieldCode, FieldFailure, FieldStep, NO_PC, Reading};
use super::problem::Problem;
use super::{BLOCKS_MAX, Mode, ReadInto};
use crate::execute::{Bounds, Judge, Machine};
use crate::failure::FaultCode;
use crate::insn::{Operand, Target, Types};
use crate::instance::{Halt, View};
use crate::number::Number;
use crate::opcode::Opcode;
use crate::scratch::{Scratch, StackOf};
use crate::tape::{Node, Tape, TapeInstance};
use crate::text::Text;
use crate::unit::{StrId, Unit};

pub(super) type Step<T> = Result<T, Halt>;

/// How well a value fits what took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exactness {
    /// It had to be read as another.
    Lax,
    /// It is of another type of JSON, but the same value.
    Strict,
    /// It is what is wanted.
    Exact,
}

/// What a union chooses its branch by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    pub(super) exactness: Exactness,
    /// Properties of models that are set; none where there is no model.
    pub(super) fields: Option<u32>,
}

impl Fit {
    pub(super) const EXACT: Fit = Fit { exactness: Exactness::Exact, fields: None };

    /// Whether a branch that fits so is taken before one that fits as `other`: more properties count before exactness.
    pub(super) fn is_better_than(self, other: Fit) -> bool {
        match (self.fields, other.fields) {
            (Some(ours), Some(theirs)) if ours != theirs => ours > theirs,
            _ => self.exactness > other.exactness,
        }
    }
}

/// A value as it is taken.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'t> {
    /// Nothing more is said of it: null, a boolean, a date.
    Settled,
    Number(Number<'t>),
    /// An integer of text: its literal, a range of [`Reading::text`].
    Digits((u32, u32)),
    /// A number where doubles are computed with.
    Float(f64),
    Text(Text<'t>),
    Array,
    Object,
}

/// What is wrong with a value, before it is known where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Misfit {
    pub(super) code: FieldCode,
    pub(super) problem: Option<Problem>,
}

impl From<FieldCode> for Misfit {
    fn from(code: FieldCode) -> Self {
        Misfit { code, problem: None }
    }
}

impl Misfit {
    pub(super) fn of(code: FieldCode, problem: Problem) -> Misfit {
        Misfit { code, problem: Some(problem) }
    }
}

/// Walks one call.
pub(super) struct Reader<'r, 't> {
    pub(super) unit: &'r Unit,
    pub(super) tape: Tape<'t>,
    pub(super) mode: Mode,
    pub(super) stack: &'r mut StackOf<'t, TapeInstance<'t>>,
    pub(super) scratch: &'r mut Scratch,
    pub(super) reading: &'r mut Reading,
    bounds: &'r Bounds,
    failures_max: usize,
    pub(super) fuel: u64,
    blocks_left: u32,
    pub(super) fit: Fit,
    /// Whether other blocks have a say in the same object, so that no name is a stray one for this.
    pub(super) shared: bool,
}

impl<'r, 't> Reader<'r, 't> {
    pub(super) fn new(
        unit: &'r Unit,
        tape: Tape<'t>,
        mode: Mode,
        stack: &'r mut StackOf<'t, TapeInstance<'t>>,
        scratch: &'r mut Scratch,
        into: ReadInto<'r>,
        bounds: &'r Bounds,
    ) -> Self {
        let ReadInto { reading, failures_max } = into;
        let (fuel, blocks_left) = (bounds.fuel_max, BLOCKS_MAX);
        let (fit, shared) = (Fit::EXACT, false);
        Reader { unit, tape, mode, stack, scratch, reading, bounds, failures_max, fuel, blocks_left, fit, shared }
    }

    pub(super) fn spend(&mut self, fuel: u64) -> Step<()> {
        self.fuel = self.fuel.checked_sub(fuel).ok_or(Halt::Fault(FaultCode::Fuel))?;
        Ok(())
    }

    // --- values ----------------------------------------------------------------------------------------------

    /// Reads the value at `node` by the block; whether it is accepted. Recursion is bounded by [`BLOCKS_MAX`].
    pub(super) fn value(&mut self, target: Target, node: Node, at: u32) -> Step<bool> {
        let Some(block) = Block::of(self.unit, target) else {
            return Ok(true);
        };
        self.blocks_left = self.blocks_left.checked_sub(1).ok_or(Halt::Fault(FaultCode::Depth))?;
        let passed = self.block(block, node, at)?;
        self.blocks_left += 1;
        Ok(passed)
    }

    /// As [`value`](Self::value), one step down. What is not named by a failure is forgotten.
    pub(super) fn child(&mut self, target: Target, node: Node, at: u32, step: FieldStep) -> Step<bool> {
        let mark = self.reading.mark();
        let shared = std::mem::replace(&mut self.shared, false);
        let at = self.reading.locations.push(at, step);
        let passed = self.value(target, node, at)?;
        self.shared = shared;
        self.reading.forget_locations(mark);
        Ok(passed)
    }

    fn block(&mut self, block: Block<'r>, node: Node, at: u32) -> Step<bool> {
        let (len, in_place) = block
            .words()
            .fold((0, 0), |(len, in_place), (_, word)| (len + 1, in_place + u32::from(is_in_place(word.opcode()))));
        self.spend(1 + len)?;
        if self.tape.view_node(node).types().meets(block.skipped()) {
            return Ok(true);
        }
        if let Some((pc, _)) = block.find(Opcode::Never) {
            self.fail(FieldCode::Never, at, pc, node);
            return Ok(false);
        }
        let Some(value) = self.typed(block, node, at)? else {
            return Ok(false);
        };
        let outer = self.shared;
        self.shared |= in_place > 1 || in_place == 1 && block.is_model();
        let passed = match value {
            Value::Array => self.array(block, node, at)?,
            Value::Object => self.object(block, node, at)?,
            scalar => match self.misfit(block, scalar)? {
                Some((code, pc)) => {
                    self.fail(code, at, pc, node);
                    false
                }
                None => true,
            },
        };
        let is_container = matches!(value, Value::Array | Value::Object);
        let passed = if passed || is_container { self.in_place(block, node, at)? && passed } else { false };
        self.shared = outer;
        Ok(passed)
    }

    /// The value as the block's types, format and constants take it; none where they do not, which has been noted.
    fn typed(&mut self, block: Block<'r>, node: Node, at: u32) -> Step<Option<Value<'t>>> {
        if let Some(literal) = block.literal() {
            let value = self.literal(block, literal, node, at)?;
            let other = block.find(Opcode::ConstIs).filter(|other| value.is_some() && *other != literal);
            return other.map_or(Ok(value), |other| self.literal(block, other, node, at));
        }
        self.of_block(block, node, at)
    }

    /// As [`typed`](Self::typed), whatever the constants are.
    pub(super) fn of_block(&mut self, block: Block<'r>, node: Node, at: u32) -> Step<Option<Value<'t>>> {
        let format = block.format();
        let Some((pc, types)) = block.types() else {
            let value = self.raw(node);
            return match (value, format) {
                (Value::Text(_), Some(_)) => {
                    self.of_type(block, Types::STRING, format.map_or(NO_PC, |(pc, _)| pc), node, at)
                }
                _ => Ok(Some(value)),
            };
        };
        self.of_types(block, (pc, types), node, at)
    }

    /// The value as it is.
    pub(super) fn raw(&self, node: Node) -> Value<'t> {
        match self.tape.view_node(node) {
            View::Number(number) => Value::Number(number),
            View::String(text) => Value::Text(text),
            View::Array => Value::Array,
            View::Object => Value::Object,
            View::Null | View::Bool(_) | View::NotJson(_) => Value::Settled,
        }
    }

    // --- what stands beside ----------------------------------------------------------------------------------

    /// The applicators in place, and what only the machine knows.
    fn in_place(&mut self, block: Block<'r>, node: Node, at: u32) -> Step<bool> {
        let mut passed = true;
        for (pc, word) in block.words() {
            passed &= match word.opcode() {
                Opcode::Call | Opcode::CallMemo => self.value(Target::decode(word.c), node, at)?,
                Opcode::AnyOf | Opcode::OneOf => self.union((pc, word), node, at)?,
                Opcode::IfThenElse => self.conditional(word.c, node, at)?,
                Opcode::DependentSchema => match *self.unit.list(word.c) {
                    [name, target] if self.has_member(node, StrId(name))? => {
                        self.value(Target::from_bits(target), node, at)?
                    }
                    _ => true,
                },
                Opcode::DependentRequired => self.dependent_required(word.c, node, at)?,
                Opcode::Not => self.asked(FieldCode::Not, (pc, pc + 1), node, at)?,
                Opcode::Contains => self.asked(FieldCode::Contains, (pc, pc + 1), node, at)?,
                Opcode::UniqueItems => self.asked(FieldCode::Unique, (pc, pc + 1), node, at)?,
                Opcode::TrackOpen => self.unevaluated(block, pc, node, at)?,
                _ => true,
            };
        }
        Ok(passed)
    }

    fn conditional(&mut self, list: u32, node: Node, at: u32) -> Step<bool> {
        let &[condition, then, otherwise] = self.unit.list(list) else {
            return Ok(false);
        };
        let condition = Target::from_bits(condition);
        let holds = !condition.is_some() || self.machine(node, |machine| machine.run_block(condition.pc()))?;
        self.value(Target::from_bits(if holds { then } else { otherwise }), node, at)
    }

    fn dependent_required(&mut self, list: u32, node: Node, at: u32) -> Step<bool> {
        let Some((present, needed)) = self.unit.list(list).split_first() else {
            return Ok(true);
        };
        if !self.has_member(node, StrId(*present))? {
            return Ok(true);
        }
        let mut passed = true;
        for name in needed {
            if !self.has_member(node, StrId(*name))? {
                self.missing(StrId(*name), at, node);
                passed = false;
            }
        }
        Ok(passed)
    }

    /// The instructions from `track_open` to `track_close`, of which one is about what is left.
    fn unevaluated(&mut self, block: Block<'r>, open: u32, node: Node, at: u32) -> Step<bool> {
        let close = block.words().find(|(pc, word)| *pc > open && word.opcode() == Opcode::TrackClose);
        let Some((close, _)) = close else {
            return Ok(true);
        };
        if self.machine(node, |machine| machine.run_part(open, close + 1))? {
            return Ok(true);
        }
        // The note is that of the instruction before the last.
        self.fail(FieldCode::Unevaluated, at, close - 1, node);
        Ok(false)
    }

    /// Puts instructions to the machine.
    fn asked(&mut self, code: FieldCode, (pc, end): (u32, u32), node: Node, at: u32) -> Step<bool> {
        let passed = self.machine(node, |machine| machine.run_part(pc, end))?;
        if !passed {
            self.fail(code, at, pc, node);
        }
        Ok(passed)
    }

    /// Runs the machine on a value, on the fuel that is left.
    pub(super) fn machine(
        &mut self,
        node: Node,
        run: impl FnOnce(&mut Machine<'_, 't, TapeInstance<'t>, Judge>) -> Step<bool>,
    ) -> Step<bool> {
        let mut instance = TapeInstance::new(self.tape, node);
        let bounds = Bounds { fuel_max: self.fuel, ..*self.bounds };
        let stack = Some(&mut *self.stack);
        let mut machine = Machine::new(self.unit, &mut instance, stack, self.scratch, Judge(()), &bounds);
        let answer = run(&mut machine);
        self.fuel -= machine.fuel_used();
        answer
    }

    /// Whether the value is an object that has the member.
    pub(super) fn has_member(&mut self, node: Node, name: StrId) -> Step<bool> {
        Ok(self.member(node, self.unit.str(name))?.is_some())
    }

    /// The member's value.
    pub(super) fn member(&mut self, node: Node, name: &str) -> Step<Option<Node>> {
        self.spend(u64::from(self.tape.entry(node).len))?;
        Ok(self.tape.member(node, name))
    }

    // --- what is noted ---------------------------------------------------------------------------------------

    pub(super) fn fail(&mut self, code: FieldCode, location: u32, pc: u32, node: Node) {
        self.note(FieldFailure { code, location, pc, node, len: 0, problem: None });
    }

    pub(super) fn note(&mut self, failure: FieldFailure) {
        self.reading.note(failure, self.failures_max);
    }

    /// Notes that a member is missing.
    pub(super) fn missing(&mut self, name: StrId, at: u32, node: Node) {
        self.fail_below(FieldCode::Missing, (at, FieldStep::Missing(name)), NO_PC, node);
    }

    /// Notes what is wrong one step below a location.
    pub(super) fn fail_below(&mut self, code: FieldCode, (at, step): (u32, FieldStep), pc: u32, node: Node) {
        let mark = self.reading.mark();
        let location = self.reading.locations.push(at, step);
        self.fail(code, location, pc, node);
        self.reading.forget_locations(mark);
    }

    pub(super) fn floor(&mut self, exactness: Exactness) {
        self.fit.exactness = self.fit.exactness.min(exactness);
    }

    /// Notes what stands in place of the value: what `write` appends, as JSON text. Answers where that lies.
    pub(super) fn edit(&mut self, node: Node, write: impl FnOnce(&mut String) -> std::fmt::Result) -> (u32, u32) {
        let from = self.reading.text.len() as u32;
        let written = write(&mut self.reading.text);
        debug_assert!(written.is_ok());
        let range = (from, self.reading.text.len() as u32);
        self.reading.edits.push(Edit { node, text: Some(range) });
        range
    }

    /// Notes that the member of that name is dropped.
    pub(super) fn drop_member(&mut self, name: Node) {
        self.reading.edits.push(Edit { node: name, text: None });
    }
}

/// Whether it may run blocks on the same value.
fn is_in_place(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::Call
            | Opcode::CallMemo
            | Opcode::AnyOf
            | Opcode::OneOf
            | Opcode::IfThenElse
            | Opcode::DependentSchema
            | Opcode::TrackOpen
    )
}
