//! Reading: what a call means to a handler that takes arguments as pydantic does, and what is wrong with it in such terms.
//!
//! The machine judges by JSON Schema. A *reading* walks the same program, the blocks of the explain section, over a tape,
//! and takes values as [`Mode`] says: `"7"` is an integer to a lax reading. It yields
//!
//! ```text
//!                      ┌─► failures   FieldFailure: code, location, instruction     FieldLines ─► tests.xpcshell: Input should be …
//! tape + explain code ─┤
//!                      └─► edits      what stands in place of a value               write_coerced ─► JSON text
//! ```
//!
//! There is no second form of a schema: what a block is (a model, a mapping, a tuple, a union's branch, its label) is told
//! from its instructions and notes while it is read. Leaves are the machine's own: numbers compare, patterns match, formats
//! check as they do in [`mod@crate::execute`]. Keywords that pydantic does not have (`not`, `contains`, `uniqueItems`, evaluated
//! sets) are put to the machine, one instruction at a time; they judge the value as it came.
//!
//! Order and choice of failures: of one value first its type, then one constraint; properties in the order of the schema,
//! further names last in the order of the call; every branch of a union that failed. A union takes the branch that fits best.
//!
//! Bounds: every step is paid in fuel, blocks inside each other are at most [`BLOCKS_MAX`], failures as many as the caller
//! lists, fewer where their locations are long. Nothing is allocated once [`Reading`] has the size of the calls, but for hosts
//! of URLs that are not plain lower-case text, and, in a lax reading, where several blocks read the same values anew
//! ([`Reading::reserve`]).

mod array;
mod block;
mod boolean;
mod coerced;
mod decimal;
mod duration;
mod email;
mod failure;
mod float;
mod formats;
mod integer;
mod label;
mod literal;
mod object;
mod problem;
mod render;
mod scalar;
mod timestamp;
mod union;
mod url;
mod walk;

pub use coerced::CopyExtent;
pub use failure::{FieldCode, FieldFailure, Reading};
pub use render::FieldLines;

use crate::execute::Bounds;
use crate::insn::Target;
use crate::instance::Halt;
use crate::scratch::{Scratch, StackOf};
use crate::tape::{Tape, TapeInstance};
use crate::unit::Unit;

use failure::ROOT;
use walk::Reader;

/// Blocks of a unit that a reading has open inside each other; deeper, it is a fault. Reason: they lie on the thread's stack.
pub const BLOCKS_MAX: u32 = 256;

/// How values are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Spellings of what is wanted are taken for it: `"7"` for an integer, `0` for a date.
    Lax,
    /// As pydantic's strict mode takes JSON: only text for what JSON has no type for.
    Strict,
    /// As the schema says, no more and no less.
    Schema,
}

impl Mode {
    /// Whether values count as pydantic counts them, not as JSON Schema does.
    pub(crate) fn is_pydantic(self) -> bool {
        self != Mode::Schema
    }
}

/// Where a reading leaves what it finds.
#[derive(Debug)]
pub struct ReadInto<'r> {
    /// What is wrong, and what would stand in a coerced copy.
    pub reading: &'r mut Reading,
    /// How much of the former is listed.
    pub failures_max: usize,
}

/// Reads the whole tape by `unit`: whether it is accepted.
///
/// Errors: a fault beyond the bounds. Cost: linear in the instructions of the blocks that look at a value, and of the branches
/// whose tags are looked for; and in the members of its objects. All of it is paid in fuel.
pub fn read<'t>(
    unit: &Unit,
    tape: Tape<'t>,
    mode: Mode,
    stack: &mut StackOf<'t, TapeInstance<'t>>,
    scratch: &mut Scratch,
    into: ReadInto<'_>,
    bounds: &Bounds,
) -> Result<bool, Halt> {
    into.reading.clear();
    let mut reader = Reader::new(unit, tape, mode, stack, scratch, into, bounds);
    reader.value(Target::new(unit.parts.explain, false, false), 0, ROOT)
}
