//! Field lines: `LOCATION: MESSAGE`, a line a failure, the location's steps joined by dots.

use std::fmt::{self, Write};

use super::Rendering;
use crate::rejection::Rejection;

pub(super) fn write(rejection: &Rejection<'_>, out: &mut dyn Write, rendering: &Rendering) -> fmt::Result {
    for (at, failure) in rejection.failures().enumerate() {
        out.write_str(if at > 0 { "\n" } else { "" })?;
        let mut dotted = Dotted { out, is_first: true };
        failure.write_instance_location(&mut dotted, rendering.masked)?;
        let is_root = dotted.is_first;
        out.write_str(if is_root { "" } else { ": " })?;
        failure.write_message(out, rendering.masked)?;
    }
    Ok(())
}

/// Turns a JSON Pointer into dotted steps: `/tests/0` into `tests.0`.
struct Dotted<'w> {
    out: &'w mut dyn Write,
    is_first: bool,
}

impl Write for Dotted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| {
            let is_first = std::mem::replace(&mut self.is_first, false);
            match c {
                '/' if is_first => Ok(()),
                '/' => self.out.write_char('.'),
                other => self.out.write_char(other),
            }
        })
    }
}
