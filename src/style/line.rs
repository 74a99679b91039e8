//! The line: pinned to the byte, so nothing is chosen here.

use std::fmt::{self, Write};

use callgate_vm::render::PREFIX;

use super::Rendering;
use crate::rejection::Rejection;

pub(super) fn write(rejection: &Rejection<'_>, mut out: &mut dyn Write, rendering: &Rendering) -> fmt::Result {
    rejection.write_line_masked(&mut out, PREFIX, rendering.masked)
}
