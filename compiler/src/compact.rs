//! A value's JSON text without white space, in source order, with numbers and escapes spelled as they are.

use callgate_vm::tape::{EntryKind, Node, Tape};

/// Appends the value at `node`. Recursion is bounded by the depth that a schema may have.
pub(crate) fn write(out: &mut String, tape: Tape<'_>, node: Node) {
    match tape.entry(node).kind {
        EntryKind::Array => {
            out.push('[');
            for (at, element) in tape.element_nodes(node).enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write(out, tape, element);
            }
            out.push(']');
        }
        EntryKind::Object => {
            out.push('{');
            for (at, (name, value)) in tape.member_nodes(node).enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write(out, tape, name);
                out.push(':');
                write(out, tape, value);
            }
            out.push('}');
        }
        EntryKind::String | EntryKind::EscapedString => {
            out.push('"');
            out.push_str(tape.slice(node));
            out.push('"');
        }
        EntryKind::Null | EntryKind::False | EntryKind::True | EntryKind::Number | EntryKind::NotJson => {
            out.push_str(tape.slice(node));
        }
    }
}
