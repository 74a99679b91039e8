//! Compiled schemas by digest: what need not be compiled again.

use std::sync::Arc;

use ahash::HashMap;
use callgate_vm::unit::Unit;

use crate::finding::Finding;

/// A schema, compiled as far as it can be. Cheap to clone: its parts are shared.
#[derive(Clone, Debug)]
pub struct CompiledSchema {
    /// SHA-256 of the compact text, the options that can change a unit, and the format version. Equal digests mean equal
    /// units and findings.
    pub digest: [u8; 32],
    /// The compact text: in source order, with numbers and escapes spelled as they are. None for a schema that is larger
    /// or deeper than the hard limits, which is not kept.
    pub source: Option<Arc<str>>,
    /// What judges instances; none if the schema could not be compiled.
    pub unit: Option<Arc<Unit>>,
    /// The same schema read the other way where unknown parameters are not ignored. What reports them: the unit that
    /// forbids them. What forbids them: the one that does not, where a `oneOf` counts branches and must not pass by a
    /// branch that fails for an unknown name alone. None where neither is of use. What would report them and be larger than a
    /// unit may be has a unit in its place whose digest says so ([`left_out_digest`](crate::left_out_digest)).
    pub counterpart: Option<Arc<Unit>>,
    /// What was found, with pointers into the schema, and neither tool nor place in a text.
    pub findings: Arc<[Finding]>,
}

/// Compiled schemas by digest.
#[derive(Clone, Debug, Default)]
pub struct KnownSchemas(HashMap<[u8; 32], CompiledSchema>);

impl KnownSchemas {
    /// The schema of that digest.
    pub fn get(&self, digest: &[u8; 32]) -> Option<&CompiledSchema> {
        self.0.get(digest)
    }

    pub(crate) fn insert(&mut self, schema: CompiledSchema) {
        self.0.insert(schema.digest, schema);
    }
}

impl FromIterator<CompiledSchema> for KnownSchemas {
    fn from_iter<I: IntoIterator<Item = CompiledSchema>>(schemas: I) -> Self {
        KnownSchemas(schemas.into_iter().map(|schema| (schema.digest, schema)).collect())
    }
}
