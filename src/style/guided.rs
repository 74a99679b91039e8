//! The guided text; its words are the machine's (`callgate_vm::guided`), which knows the blocks that failed.

use std::fmt::{self, Write};

use callgate_vm::guided::{self, Guided};
use callgate_vm::render::Bounded;

use super::{Rendering, renderer};
use crate::rejection::{Cause, Rejection};

pub(super) fn write(rejection: &Rejection<'_>, mut out: &mut dyn Write, rendering: &Rendering) -> fmt::Result {
    match &rejection.cause {
        Cause::Failed(_, found) => {
            let is_whole = found.try_borrow_mut().is_ok_and(|mut found| found.list_whole());
            let found = found.borrow();
            let guided = Guided {
                renderer: renderer(&found, rendering),
                failures: found.failures(),
                unlisted: found.unlisted(),
                is_whole,
                lines_max: rendering.failures_max,
                bytes_max: rendering.text_bytes_max,
            };
            guided.write(&mut out)
        }
        // The schema has nothing to say of it.
        Cause::Misread(_) => {
            let mut out = Bounded::new(&mut out, rendering.text_bytes_max);
            rejection.write_text(&mut out, rendering.masked)?;
            out.finish()
        }
        Cause::Malformed(malformed) => guided::write_malformed(out, *malformed, rendering.text_bytes_max),
        Cause::NotJson(tape, node) => {
            guided::write_not_json(out, *tape, *node, rendering.masked, rendering.text_bytes_max)
        }
    }
}
