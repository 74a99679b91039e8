//! The coerced copy: the call with what its handler would get in place of what was sent.

use super::failure::{Edit, Reading};
use super::formats::write_json_char;
use crate::tape::{EntryKind, Node, Tape};
use crate::text::Text;

/// What stands for a number that is not finite, without a sign: JSON has none, and its reader takes this for infinite.
pub(super) const NOT_FINITE: &str = "1e999";

/// Which edits a copy takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyExtent {
    /// All: values read anew, `null` for what is not finite, and members left out that a model does not take.
    Handler,
    /// Only the values: what a call is explained by.
    Values,
}

impl Reading {
    /// Appends the call on `tape`, which has just been read, as JSON text. Values that failed stand as they came; defaults are
    /// not written. Cost: linear in the text. Recursion is bounded by the depth a tape can have.
    pub fn write_coerced(&mut self, tape: Tape<'_>, extent: CopyExtent, out: &mut String) {
        // Of several about one value the first stands.
        self.edits.sort_unstable_by_key(|edit| (edit.node, edit.text));
        Copier { tape, edits: &self.edits, text: &self.text, extent, out }.value(0);
    }
}

struct Copier<'c> {
    tape: Tape<'c>,
    edits: &'c [Edit],
    text: &'c str,
    extent: CopyExtent,
    out: &'c mut String,
}

impl Copier<'_> {
    fn edit(&self, node: Node) -> Option<Edit> {
        let at = self.edits.partition_point(|edit| edit.node < node);
        self.edits.get(at).copied().filter(|edit| edit.node == node)
    }

    fn is_dropped(&self, name: Node) -> bool {
        self.extent == CopyExtent::Handler && self.edit(name).is_some_and(|edit| edit.text.is_none())
    }

    fn value(&mut self, node: Node) {
        if let Some(Edit { text: Some((from, to)), .. }) = self.edit(node) {
            let text = self.text.get(from as usize..to as usize).unwrap_or_default();
            let is_lost = self.extent == CopyExtent::Handler && text.ends_with(NOT_FINITE);
            self.out.push_str(if is_lost { "null" } else { text });
            return;
        }
        match self.tape.entry(node).kind {
            EntryKind::Null | EntryKind::NotJson => self.out.push_str("null"),
            EntryKind::False => self.out.push_str("false"),
            EntryKind::True => self.out.push_str("true"),
            EntryKind::Number => self.out.push_str(self.tape.slice(node)),
            EntryKind::String | EntryKind::EscapedString => self.string(self.tape.text(node)),
            EntryKind::Array => {
                self.out.push('[');
                for (at, element) in self.tape.element_nodes(node).enumerate() {
                    self.out.push_str(if at > 0 { "," } else { "" });
                    self.value(element);
                }
                self.out.push(']');
            }
            EntryKind::Object => {
                self.out.push('{');
                let mut first = true;
                for (name, value) in self.tape.member_nodes(node) {
                    if self.is_dropped(name) {
                        continue;
                    }
                    self.out.push_str(if first { "" } else { "," });
                    first = false;
                    self.string(self.tape.text(name));
                    self.out.push(':');
                    self.value(value);
                }
                self.out.push('}');
            }
        }
    }

    fn string(&mut self, text: Text<'_>) {
        self.out.push('"');
        let written = text.chars().try_for_each(|c| write_json_char(self.out, c));
        debug_assert!(written.is_ok());
        self.out.push('"');
    }
}
