//! callgate's machine: judges instances by compiled schemas.
//!
//! ```text
//!            Unit (code, pools, notes)            made by callgate-compiler, checked once
//!              │
//! instance ─► judge ─┬─► accepted
//! (text, Value,      └─► explain ─► Explanation ─► Renderer ─► text
//!  tape, host)           over a tape
//! ```
//!
//! The machine knows instructions, not schemas: no keyword, no URI, no draft. It allocates nothing once its
//! memory ([`Scratch`], [`Stack`], [`Explanation`]) has the size of the calls; every loop is bounded by fuel, every
//! nesting by depth. Start reading at [`opcode`], the table of instructions; [`execute`] has their bodies.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod cost;
mod describe;
pub mod ecma;
pub mod equal;
pub mod execute;
pub mod explain;
pub mod failure;
pub mod format;
pub mod guided;
pub mod image;
pub mod insn;
pub mod instance;
pub mod json;
pub mod json_text;
pub mod limits;
pub mod listing;
mod literal;
mod meant;
mod memo;
pub mod missing;
pub mod names;
pub mod nearest;
mod nonprintable;
pub mod notation;
pub mod number;
pub mod opcode;
pub mod pattern;
pub mod read;
pub mod render;
pub mod scratch;
mod shown;
pub mod tape;
pub mod text;
pub mod unit;
pub mod unknown;
pub mod value;

use execute::{Bounds, Judge, Machine, judge_object};
use explain::{Collect, Copies, Explanation, Extent, Whole};
use instance::{Halt, Instance};
use scratch::{Scratch, Stack, StackOf};
use tape::{TapeBuf, TapeInstance};
use unit::Unit;

/// Judges `instance` by `unit`: whether it satisfies the schema.
///
/// Errors: [`Halt::Fault`] beyond the bounds, [`Halt::Unreadable`] where only a tape can tell, [`Halt::Stackless`] where
/// there is no `stack` and a frame is needed (deep nesting, evaluated sets, `uniqueItems`). Allocates only while `stack`
/// and `scratch` grow to the call's size.
#[inline(always)]
#[allow(clippy::inline_always)] // once in each kind of check, and a tenth of a small call
pub fn judge<'a, I: Instance<'a>>(
    unit: &Unit,
    instance: &mut I,
    stack: Option<&mut StackOf<'a, I>>,
    scratch: &mut Scratch,
    bounds: &Bounds,
) -> Result<bool, Halt> {
    match unit.root_table() {
        Some(table) => judge_object(unit, table, instance, stack, scratch, bounds),
        None => Machine::new(unit, instance, stack, scratch, Judge(()), bounds).judge(),
    }
}

/// Judges a tape to the end and keeps what fails in `explanation`. The verdict is that of [`judge`].
pub fn explain<'t>(
    unit: &Unit,
    mut instance: TapeInstance<'t>,
    stack: &mut StackOf<'t, TapeInstance<'t>>,
    scratch: &mut Scratch,
    explanation: &mut Explanation,
    bounds: &Bounds,
    extent: Extent,
) -> Result<bool, Halt> {
    let capture = Whole(instance.tape());
    let sink = Collect::new(explanation, unit, capture, extent);
    Machine::new(unit, &mut instance, Some(stack), scratch, sink, bounds).explain()
}

/// Memory that [`explain_in_place`] fills.
#[derive(Debug)]
pub struct ExplainInto<'e> {
    /// The failures.
    pub explanation: &'e mut Explanation,
    /// The values and names that they name; it does not grow.
    pub copies: &'e mut TapeBuf,
}

/// As [`explain()`], for any instance where it lies: what failures name is copied to `copies`, from which messages are
/// written ([`TapeBuf::copied`]).
///
/// Errors: beside those of `explain`, [`Halt::Unreadable`] where `copies` has no room or the instance cannot be judged in
/// place; a tape of the whole instance can then be explained.
pub fn explain_in_place<'a, I: Instance<'a>>(
    unit: &Unit,
    instance: &mut I,
    stack: Option<&mut StackOf<'a, I>>,
    scratch: &mut Scratch,
    into: &mut ExplainInto<'_>,
    bounds: &Bounds,
    extent: Extent,
) -> Result<bool, Halt> {
    let capture = Copies::new(into.copies, bounds.depth_max);
    let sink = Collect::new(into.explanation, unit, capture, extent);
    let mut machine = Machine::new(unit, instance, stack, scratch, sink, bounds);
    let passed = machine.explain()?;
    machine.sink.lost().map_or(Ok(passed), Err)
}

/// [`judge`] on a tape, with `trace` called before each instruction: pc and fuel used so far.
pub fn judge_traced(
    unit: &Unit,
    mut instance: TapeInstance<'_>,
    bounds: Bounds,
    mut trace: impl FnMut(u32, u64),
) -> (Result<bool, Halt>, u64) {
    let mut stack = Stack::default();
    let mut scratch = Scratch::default();
    let forward = |pc, left| trace(pc, bounds.fuel_max - left);
    let sink = Judge(forward);
    let mut machine = Machine::new(unit, &mut instance, Some(&mut stack), &mut scratch, sink, &bounds);
    let verdict = machine.judge();
    let used = machine.fuel_used();
    (verdict, used)
}
