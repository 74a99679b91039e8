//! What changes a verdict: options of compilation, part of a unit's digest.

use std::fmt::Write as _;
use std::sync::Arc;

use callgate_vm::limits::Limits;

use crate::dialect::Draft;
use crate::document::Documents;

/// How schemas are compiled.
#[derive(Clone, Debug)]
pub struct Options {
    /// The draft of a schema that does not say with `$schema`. MCP's default is 2020-12.
    pub draft: Draft,
    /// Whether `format` asserts. Otherwise it is an annotation, as the specification has it.
    pub assert_formats: bool,
    /// Documents that references may reach, by URI. Nothing else is ever read.
    pub documents: Arc<Documents>,
    /// Bounds.
    pub limits: Limits,
    /// Rewrites of the accept code. On by default; off only to compare.
    pub peephole: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            draft: Draft::D2020,
            assert_formats: false,
            documents: Arc::default(),
            limits: Limits::default(),
            peephole: true,
        }
    }
}

impl Options {
    /// What of the options belongs into a digest: all that can change a unit.
    pub(crate) fn fingerprint(&self) -> String {
        let mut out = String::with_capacity(512);
        let written = write!(
            out,
            "draft={} formats={} peephole={} limits=",
            self.draft.name(),
            self.assert_formats,
            self.peephole
        );
        debug_assert!(written.is_ok());
        for (at, value) in self.limits.values().enumerate() {
            let written = write!(out, "{}{value}", if at > 0 { "," } else { "" });
            debug_assert!(written.is_ok());
        }
        out.push_str(" documents=");
        out.push_str(self.documents.fingerprint());
        out
    }
}
