//! The constants of a unit: what `const` and `enum` compare with, as a tape.

use crate::limits::DEPTH_CEILING;
use crate::tape::{Entry, EntryKind, Node, ReadOptions, Tape, TapeBuf};

use super::BadUnit;

/// The array of constants, one level around values that nest no deeper than a schema may.
const READ: ReadOptions = ReadOptions { depth_max: DEPTH_CEILING + 1, bytes_max: 1 << 30, strict: true };

/// Entries of the constants' text, and where each constant starts. Read from the text and never kept in a file, so that
/// no walk over them can go astray.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    entries: Vec<Entry>,
    nodes: Vec<Node>,
}

impl Constants {
    /// Reads the text. Errors: it is no JSON array.
    pub(super) fn read(text: &str) -> Result<Constants, BadUnit> {
        if text.is_empty() {
            return Ok(Constants::default());
        }
        let mut buf = TapeBuf::new();
        let tape =
            buf.read_text(text, READ).map_err(|error| BadUnit(format!("the constants do not read back: {error}")))?;
        if tape.entry(0).kind != EntryKind::Array {
            return Err(BadUnit("the constants are no array".to_owned()));
        }
        let nodes = tape.element_nodes(0).collect();
        Ok(Constants { entries: (0..tape.entry_len() as Node).map(|node| tape.entry(node)).collect(), nodes })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The tape of all; `text` is what was read.
    pub(super) fn tape<'t>(&'t self, text: &'t str) -> Tape<'t> {
        Tape::new(text, &self.entries)
    }

    /// Where the constant of that id starts.
    pub(super) fn node(&self, id: u32) -> Node {
        self.nodes[id as usize]
    }
}
