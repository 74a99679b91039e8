//! Styles: how a rejection is put into words. All of them are of the same failures; none judges anything.
//!
//! ```text
//! line     schema: 'x' is not valid under any of the given schemas at seed — Omit for random.
//! field    seed: 'x' is not valid under any of the given schemas
//! guided   seed: expected integer >= 0 or null, got string "x". Omit for random.
//! json     {"valid":false,"line":"schema: …","failures":[{"code":"anyOf","instance_location":"/seed", …}]}
//! ```
//!
//! A style is a file here with a function `write`, and a row of the table below.

use std::fmt::{self, Write};

use callgate_vm::render::Renderer;

use crate::found::Found;
use crate::rejection::Rejection;

/// Hands every row of the table of styles to the enum, its names and the dispatch.
macro_rules! styles {
    ($( $(#[$about:meta])+ $variant:ident $module:ident )*) => {
        $( mod $module; )*

        /// How a rejection is put into words.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Style {
            $( $(#[$about])+ $variant, )*
        }

        impl Style {
            /// Every style.
            pub const ALL: &'static [Style] = &[ $(Style::$variant),* ];

            /// The style's name, as flags spell it.
            pub fn name(self) -> &'static str {
                match self { $( Style::$variant => stringify!($module), )* }
            }

            fn write(self, rejection: &Rejection<'_>, out: &mut dyn Write, rendering: &Rendering) -> fmt::Result {
                match self { $( Style::$variant => $module::write(rejection, out, rendering), )* }
            }
        }
    };
}

styles! {
    /// One line: the failure that speaks, in words that are pinned.
    #[default]
    Line line
    /// All failures, a line each: where, and what is wrong.
    Field field
    /// All failures, for a model that is to repair the call: where, what came, what is allowed, what it is for.
    Guided guided
    /// One JSON object with all that is known.
    Json json
}

impl Style {
    /// The style of that name.
    pub fn from_name(name: &str) -> Option<Style> {
        Style::ALL.iter().copied().find(|style| style.name() == name)
    }
}

/// How a rejection is to be written; given per call, with a default per catalog
/// ([`Catalog::set_rendering`](crate::Catalog::set_rendering)). No part of what is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rendering {
    /// The style.
    pub style: Style,
    /// Whether types and lengths stand in for all that is the call's own: values, and names that no schema declares. The
    /// pinned texts are those that are not masked.
    pub masked: bool,
    /// Lines of the guided text at most; the failures beyond are counted in one line more. At most
    /// [`GUIDED_FAILURES_MAX`] are put in order.
    pub failures_max: usize,
    /// Bytes of the guided text at most. The other styles keep to the catalog's limits on failures listed and on the bytes of
    /// each text.
    pub text_bytes_max: usize,
}

/// Failures that a guided text puts in order.
pub const GUIDED_FAILURES_MAX: usize = callgate_vm::guided::ITEMS_MAX;

impl Default for Rendering {
    fn default() -> Self {
        Rendering::DEFAULT
    }
}

impl Rendering {
    pub(crate) const DEFAULT: Rendering =
        Rendering { style: Style::Line, masked: false, failures_max: 20, text_bytes_max: 4_096 };

    /// The style, with the defaults for all else.
    pub fn of(style: Style) -> Rendering {
        Rendering { style, ..Rendering::default() }
    }
}

impl Rejection<'_> {
    /// Writes the rejection. Errors: only those of `out`. Cost: all styles but the line list the failures first, which judges
    /// the arguments once more unless that has been done; allocates nothing of its own.
    pub fn write(&self, out: &mut impl Write, rendering: &Rendering) -> fmt::Result {
        rendering.style.write(self, out, rendering)
    }

    /// The rendering that is the catalog's default.
    pub fn rendering(&self) -> Rendering {
        *self.rendering
    }
}

/// The renderer of what was found, masked or not.
fn renderer<'r>(found: &'r Found<'_>, rendering: &Rendering) -> Renderer<'r> {
    Renderer { masked: rendering.masked, ..found.renderer() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_have_names() {
        for style in Style::ALL {
            assert_eq!(Style::from_name(style.name()), Some(*style));
        }
        assert_eq!(Style::from_name("Line"), None);
        assert_eq!(Style::default(), Style::Line);
    }
}
