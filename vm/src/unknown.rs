//! Unknown names: which members of an accepted call no part of its schema knows.
//!
//! The compiler can read a schema so that objects must not have such names ([`Flags::UNKNOWN`](crate::insn::Flags)). A host
//! that only wants to be told of them judges by the schema as it is written, and asks here for the names. The explain
//! section of the other reading is run with a sink that *takes notice*: what fails for unknown names alone passes, and
//! each is noted with its place.
//!
//! ```text
//! a union            passes by the first branch that has none, else by the first that passes: its names are noted
//! not, if, contains  mean what they say: nothing is noted in them
//! all else           fails as ever
//! ```

use std::fmt::{self, Write};

use crate::execute::{Bounds, Into, Machine, Sink};
use crate::failure::{Paths, ROOT_PATH, Step};
use crate::instance::Halt;
use crate::render::{LocationStep, write_pointer_steps, write_text};
use crate::scratch::{Scratch, StackOf};
use crate::tape::{Node, Tape, TapeInstance};
use crate::unit::Unit;

/// Names that were noted; owned by a session, used again for each call.
#[derive(Debug, Default)]
pub struct UnknownNames {
    names: Vec<UnknownName>,
    paths: Paths,
    /// All of them, listed or not.
    len: u32,
}

/// A member whose name is unknown.
#[derive(Clone, Copy, Debug)]
struct UnknownName {
    /// The object's location.
    path: u32,
    name: Node,
    /// Locations before this mark are named by the list so far.
    keep: u32,
}

impl UnknownNames {
    /// How many are listed: at most as many as were asked for.
    pub fn listed(&self) -> usize {
        self.names.len()
    }

    /// How many are not.
    pub fn unlisted(&self) -> usize {
        self.len as usize - self.names.len()
    }

    /// Writes the name in value notation. `tape`: the instance that was looked through.
    pub fn write_name(&self, out: &mut impl Write, tape: Tape<'_>, at: usize) -> fmt::Result {
        self.names.get(at).map_or(Ok(()), |unknown| write_text(out, tape.text(unknown.name)))
    }

    /// Writes where the member is, as a JSON Pointer. Source: RFC 6901.
    pub fn write_pointer(&self, out: &mut impl Write, tape: Tape<'_>, at: usize) -> fmt::Result {
        let Some(unknown) = self.names.get(at) else {
            return Ok(());
        };
        let steps = (0..self.paths.len(unknown.path)).filter_map(|at| self.paths.step(unknown.path, at));
        let steps = steps.chain([Step::Name(unknown.name)]).map(|step| match step {
            Step::Index(index) => LocationStep::Index(index),
            Step::Name(name) => LocationStep::Name(tape.text(name)),
        });
        write_pointer_steps(out, steps, |_| false)
    }
}

/// Notes the unknown names of an instance in `names`, of which at most `names_max` are listed. `unit` forbids them; the
/// answer is whether nothing else is wrong by it.
///
/// Errors: as [`explain`](crate::explain()). Cost: as that, at most twice for each level of unions inside each other.
/// Allocates only while the memory grows to the call's size.
pub fn find_unknown<'t>(
    unit: &Unit,
    mut instance: TapeInstance<'t>,
    stack: &mut StackOf<'t, TapeInstance<'t>>,
    scratch: &mut Scratch,
    names: &mut UnknownNames,
    bounds: &Bounds,
    names_max: usize,
) -> Result<bool, Halt> {
    names.names.clear();
    names.paths.clear();
    names.len = 0;
    let sink = Notice { names, names_max, path: ROOT_PATH };
    Machine::new(unit, &mut instance, Some(stack), scratch, sink, bounds).explain()
}

/// The sink that takes notice.
struct Notice<'n> {
    names: &'n mut UnknownNames,
    names_max: usize,
    path: u32,
}

impl<'t> Sink<'t, TapeInstance<'t>> for Notice<'_> {
    const COLLECTS: bool = false;
    const NOTICES: bool = true;
    const TRACES: bool = false;

    fn here(&self) -> (u32, u32) {
        (self.path, self.names.paths.mark())
    }

    fn enter(&mut self, _: &mut TapeInstance<'t>, into: Into<Node>) -> (u32, u32) {
        let here = (self.path, self.names.paths.mark());
        let step = match into {
            Into::Place | Into::Name => return here,
            Into::Member(name) => Step::Name(name),
            Into::Element(index) => Step::Index(index),
        };
        self.path = self.names.paths.push(self.path, step);
        here
    }

    fn leave(&mut self, path: u32, mark: u32) {
        self.path = path;
        let keep = self.names.names.last().map_or(0, |unknown| unknown.keep);
        self.names.paths.truncate(mark.max(keep));
    }

    fn unknown(&mut self, name: Node) {
        self.names.len += 1;
        if self.names.names.len() < self.names_max {
            let keep = self.names.paths.mark();
            self.names.names.push(UnknownName { path: self.path, name, keep });
        }
    }

    fn noted_len(&self) -> u32 {
        self.names.len
    }

    fn forget_noted(&mut self, len: u32) {
        self.names.len = len;
        self.names.names.truncate(len as usize);
    }
}
