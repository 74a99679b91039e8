//! A value's JSON text without white space, in source order, with numbers and escapes spelled as they are.
//!
//! Flat loops: what stands between two scalars is brackets, commas, colons, quotes and white space, and only the last
//! is left out.

use std::borrow::Cow;

use callgate_vm::tape::{Entry, EntryKind, Node, Tape};

/// The text of the value at `node`: a part of the source where that has no white space.
///
/// The tape is one that was read from text.
pub(crate) fn text(tape: Tape<'_>, node: Node) -> Cow<'_, str> {
    let (start, end) = extent(tape.entry(node));
    if compact_bytes(tape, node) == end - start {
        return Cow::Borrowed(&tape.source()[start..end]);
    }
    Cow::Owned(text_without(tape, node, &[]))
}

/// As [`text`], with `null` in the places of the values at `left_out`.
pub(crate) fn text_without(tape: Tape<'_>, node: Node, left_out: &[Node]) -> String {
    let end = tape.entry(node).next;
    let (mut at, text_end) = extent(tape.entry(node));
    let mut out = String::with_capacity(if left_out.is_empty() { text_end - at } else { 0 });
    let mut node = node;
    while node < end {
        let entry = tape.entry(node);
        let is_left_out = left_out.contains(&node);
        node = if is_left_out { entry.next } else { node + 1 };
        if is_container(entry) && !is_left_out {
            continue;
        }
        let (value_at, value_end) = extent(entry);
        out.extend(tape.source()[at..value_at].chars().filter(|c| !c.is_ascii_whitespace()));
        out.push_str(if is_left_out { "null" } else { &tape.source()[value_at..value_end] });
        at = value_end;
    }
    out.extend(tape.source()[at..text_end].chars().filter(|c| !c.is_ascii_whitespace()));
    out
}

/// Where the value lies in the source, a string with its quotes.
fn extent(entry: Entry) -> (usize, usize) {
    let quote = u32::from(matches!(entry.kind, EntryKind::String | EntryKind::EscapedString));
    ((entry.start - quote) as usize, (entry.end + quote) as usize)
}

fn is_container(entry: Entry) -> bool {
    matches!(entry.kind, EntryKind::Array | EntryKind::Object)
}

/// How long the text is without white space.
fn compact_bytes(tape: Tape<'_>, root: Node) -> usize {
    let own = |entry: Entry| match entry.kind {
        EntryKind::Array => 2 + entry.len.saturating_sub(1) as usize,
        EntryKind::Object => 2 + (2 * entry.len).saturating_sub(1) as usize,
        _ => {
            let (start, end) = extent(entry);
            end - start
        }
    };
    (root..tape.entry(root).next).map(|node| own(tape.entry(node))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::SCHEMA_READ;
    use callgate_vm::tape::TapeBuf;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let mut buf = TapeBuf::new();
        let tape = buf.read(source.as_bytes(), SCHEMA_READ).expect("reads");
        let found = text(tape, 0);
        assert_eq!(found, expected);
        assert_eq!(matches!(found, Cow::Borrowed(_)), source.trim().len() == expected.len());
    }

    #[test]
    fn only_white_space_goes() {
        check(r#"{"a":[1,{},[]],"b c":"\u0020 \n"}"#, r#"{"a":[1,{},[]],"b c":"\u0020 \n"}"#);
        check("{ \"a\" :\n[ 1.0 , { } , [ ] ],\t\"b c\": \" \\\" \"}", r#"{"a":[1.0,{},[]],"b c":" \" "}"#);
        check("[ null , true,false ]", "[null,true,false]");
        check(" \" x \" ", "\" x \"");
        check("true", "true");
        check("{ }", "{}");
    }

    #[test]
    fn a_part_of_the_source() {
        let mut buf = TapeBuf::new();
        let tape = buf.read(br#"{"a": {"b":[ "c"]}, "d":1}"#, SCHEMA_READ).expect("reads");
        assert_eq!(text(tape, 2), r#"{"b":["c"]}"#);
        assert_eq!(text(tape, 4), r#"["c"]"#);
        assert_eq!(text(tape, 5), r#""c""#);
        assert_eq!(text_without(tape, 0, &[2]), r#"{"a":null,"d":1}"#);
        assert_eq!(text_without(tape, 0, &[4, 7]), r#"{"a":{"b":null},"d":null}"#);
        assert_eq!(text_without(tape, 2, &[2]), "null");
    }
}
