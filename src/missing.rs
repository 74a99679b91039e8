//! What is missing from a rejected call, where that is all that is wrong with it.
//!
//! Nothing is decided here: see `missing.rs` of the machine.

use std::fmt::{self, Write};

use callgate_vm::render::Renderer;
use callgate_vm::unit::Unit;

use crate::rejection::{Cause, Rejection};

impl<'s> Rejection<'s> {
    /// Whether all that is wrong is that required information is missing ([`missing`](Rejection::missing) says which), so
    /// that a host may have it filled in. Decided branch by branch: where a union fails, the one branch that would pass if
    /// nothing were missing is the one that was meant. Doubt is a no: none or several such branches, anything else wrong
    /// anywhere, text that is not JSON, and what is beyond the limits of a call.
    ///
    /// Cost: at the first question the listing of all [`failures`](Rejection::failures), and where they leave it open one
    /// more run for each level of unions inside each other.
    pub fn missing_only(&self) -> bool {
        match &self.cause {
            Cause::Failed(_, found) => found.try_borrow_mut().is_ok_and(|mut found| found.missing_only()),
            Cause::Misread(..) | Cause::Malformed(_) | Cause::NotJson(..) => false,
        }
    }

    /// What is missing: each member that should be there, once, in the order of the schema. Empty unless that is all that
    /// is wrong ([`missing_only`](Rejection::missing_only)).
    pub fn missing(&self) -> impl Iterator<Item = Missing<'_, 's>> {
        let len = match &self.cause {
            Cause::Failed(_, found) if self.missing_only() => found.borrow().renderer().missing().len(),
            _ => 0,
        };
        (0..len).map(|at| Missing { rejection: self, at })
    }
}

/// A member that is missing, where that is all that is wrong with a call.
#[derive(Clone, Copy)]
pub struct Missing<'r, 's> {
    rejection: &'r Rejection<'s>,
    at: usize,
}

impl<'s> Missing<'_, 's> {
    /// The member's name.
    pub fn name(&self) -> &'s str {
        match &self.rejection.cause {
            Cause::Failed(unit, found) => {
                let unit: &'s Unit = unit;
                found.borrow().renderer().missing().get(self.at).map_or("", |missing| unit.missing_name(missing))
            }
            _ => "",
        }
    }

    /// Where it should be, as a JSON Pointer (RFC 6901) into the arguments.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        let written = self.write_pointer(&mut pointer);
        debug_assert!(written.is_ok());
        pointer
    }

    /// Writes the [`pointer`](Missing::pointer). Allocates nothing of its own.
    pub fn write_pointer(&self, out: &mut impl Write) -> fmt::Result {
        self.write_pointer_masked(out, false)
    }

    pub(crate) fn write_pointer_masked(&self, out: &mut impl Write, masked: bool) -> fmt::Result {
        let Cause::Failed(_, found) = &self.rejection.cause else {
            return Ok(());
        };
        let found = found.borrow();
        let renderer = Renderer { masked, ..found.renderer() };
        renderer.missing().get(self.at).map_or(Ok(()), |missing| renderer.write_missing(out, missing))
    }
}

impl fmt::Debug for Missing<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Missing").field(&self.pointer()).finish()
    }
}
