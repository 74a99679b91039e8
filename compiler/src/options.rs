//! What changes a verdict: options of compilation, part of a unit's digest.

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
    /// Instructions that do the work of several. On by default; off only to compare.
    pub fusion: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            draft: Draft::D2020,
            assert_formats: false,
            documents: Arc::default(),
            limits: Limits::default(),
            peephole: true,
            fusion: true,
        }
    }
}

impl Options {
    /// What of the options belongs into a digest: all that can change a unit.
    pub(crate) fn fingerprint(&self) -> String {
        let limits: Vec<String> = self.limits.values().map(|value| value.to_string()).collect();
        format!(
            "draft={} formats={} peephole={} fusion={} limits={} documents={}",
            self.draft.name(),
            self.assert_formats,
            self.peephole,
            self.fusion,
            limits.join(","),
            self.documents.fingerprint(),
        )
    }
}
