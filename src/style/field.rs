//! Field lines: `LOCATION: MESSAGE`, a line a failure, in the words of pydantic; see `reading.rs`.

use std::fmt::{self, Write};

use super::Rendering;
use crate::rejection::Rejection;

pub(super) fn write(rejection: &Rejection<'_>, out: &mut dyn Write, rendering: &Rendering) -> fmt::Result {
    rejection.write_field_masked(out, rendering.masked)
}
