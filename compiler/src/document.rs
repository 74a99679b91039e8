//! Documents that references may reach: registered beforehand, never fetched.

use std::collections::BTreeMap;

use callgate_vm::tape::{OwnedTape, ReadError, ReadOptions, Tape};
use sha2::{Digest, Sha256};

/// How schemas are read: a duplicate name is a finding about one schema and not the end of the catalog, and depth is
/// measured later, schema by schema.
pub(crate) const SCHEMA_READ: ReadOptions = ReadOptions { depth_max: 1 << 20, bytes_max: 1 << 30, strict: false };

/// Registered documents, by URI without fragment.
#[derive(Debug, Default)]
pub struct Documents {
    tapes: Vec<OwnedTape>,
    by_uri: BTreeMap<String, usize>,
    fingerprint: String,
}

/// Collects [`Documents`].
#[derive(Debug, Default)]
pub struct DocumentsBuilder {
    documents: Documents,
    hasher: Sha256,
}

impl DocumentsBuilder {
    /// Registers `text` under `uri`, and under the `$id` it gives itself. Errors: the text is not JSON.
    pub fn add(&mut self, uri: &str, text: &[u8]) -> Result<(), ReadError> {
        let tape = OwnedTape::read(text, SCHEMA_READ)?;
        self.hasher.update(uri.as_bytes());
        self.hasher.update([0]);
        self.hasher.update(text);
        self.hasher.update([0]);
        let index = self.documents.tapes.len();
        let mut buffer = String::new();
        for keyword in ["$id", "id"] {
            let id = tape.tape().member(0, keyword).map(|id| tape.tape().text(id).plain(&mut buffer).to_owned());
            if let Some(id) = id.filter(|id| id.contains(':')) {
                self.documents.by_uri.entry(without_fragment(&id).to_owned()).or_insert(index);
            }
        }
        self.documents.by_uri.insert(without_fragment(uri).to_owned(), index);
        self.documents.tapes.push(tape);
        Ok(())
    }

    /// The documents.
    pub fn build(mut self) -> Documents {
        if !self.documents.tapes.is_empty() {
            self.documents.fingerprint = crate::hex(&self.hasher.finalize());
        }
        self.documents
    }
}

impl Documents {
    /// The document of that URI.
    pub(crate) fn get(&self, uri: &str) -> Option<Tape<'_>> {
        self.by_uri.get(uri).map(|index| self.tapes[*index].tape())
    }

    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// The URI up to `#`.
pub(crate) fn without_fragment(uri: &str) -> &str {
    uri.split_once('#').map_or(uri, |(before, _)| before)
}
