//! Measures of a schema: size, depth, properties, and keys that stand twice. Flat loops over the tape: a schema of
//! 100,000 levels is measured like any other.

use std::ops::Range;

use callgate_vm::instance::View;
use callgate_vm::limits::Limits;
use callgate_vm::render::write_pointer_of;
use callgate_vm::tape::{EntryKind, Node, Tape};

use crate::finding::{Finding, FindingKind};

/// What keeps a schema from being compiled at all: it is too large or nests too deep. Answers the depth otherwise.
pub(crate) fn hard(tape: Tape<'_>, root: Node, limits: &Limits) -> Result<u64, Finding> {
    let bytes = source_bytes(tape, root);
    if bytes > limits.schema_bytes_max {
        let detail = format!("{bytes} bytes > {}", limits.schema_bytes_max);
        return Err(Finding::new(FindingKind::SizeLimit, "", detail));
    }
    let depth = depth(tape, root);
    if depth > limits.schema_depth_max {
        let detail = format!("depth {depth} > {}", limits.schema_depth_max);
        return Err(Finding::new(FindingKind::DepthLimit, "", detail));
    }
    Ok(depth)
}

fn source_bytes(tape: Tape<'_>, root: Node) -> u64 {
    let entry = tape.entry(root);
    u64::from(entry.end - entry.start)
}

/// A byte of source adds at most so many to the text that [`ascii_bytes`] measures: `\u007f` for one, and less for a
/// number that is written out.
const GROWTH_MAX: u64 = 6;

/// What a healthy schema stays within. In the order size, depth, properties; what cannot be exceeded is not measured.
pub(crate) fn health(tape: Tape<'_>, root: Node, depth: u64, limits: &Limits, findings: &mut Vec<Finding>) {
    let mut check = |kind, amount: u64, limit: u64, before: &str, after: &str| {
        if amount > limit {
            findings.push(Finding::new(kind, "", format!("{before}{amount}{after} > {limit}")));
        }
    };
    let healthy = limits.schema_bytes_healthy;
    if source_bytes(tape, root) * GROWTH_MAX > healthy && ascii_bytes_max(tape, root) > healthy {
        check(FindingKind::SizeExceeded, ascii_bytes(tape, root), limits.schema_bytes_healthy, "", " bytes");
    }
    check(FindingKind::DepthExceeded, depth, limits.schema_depth_healthy, "depth ", "");
    // A property is a name and a value.
    let entries = u64::from(tape.entry(root).next - root);
    if entries / 2 > limits.properties_healthy && properties_max(tape, root) > limits.properties_healthy {
        check(FindingKind::PropertiesExceeded, properties(tape, root), limits.properties_healthy, "", " properties");
    }
}

/// Keys that stand twice in one object.
pub(crate) fn duplicates(tape: Tape<'_>, root: Node, findings: &mut Vec<Finding>) {
    const LISTED_MAX: usize = 20;
    let end = tape.entry(root).next;
    let inside = tape.duplicates().iter().filter(|name| (root..end).contains(*name));
    for name in inside.take(LISTED_MAX) {
        let key: String = tape.text(*name).chars().collect();
        let detail = format!("the key {key:?} stands twice");
        let mut pointer = String::new();
        // A member's value follows its name.
        let written = write_pointer_of(&mut pointer, tape, root, *name + 1, false);
        debug_assert!(written.is_ok());
        findings.push(Finding::new(FindingKind::DuplicateMember, pointer, detail));
    }
}

/// Where in the text the value is that a JSON Pointer from `root` names; as far as it leads.
pub(crate) fn span_at(tape: Tape<'_>, root: Node, pointer: &str) -> Range<usize> {
    let mut at = root;
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let next = match tape.entry(at).kind {
            EntryKind::Object => tape.member(at, &name),
            EntryKind::Array => name.parse().ok().and_then(|index: usize| tape.element_nodes(at).nth(index)),
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    span_of(tape, at)
}

/// Where in the text the value is, a string with its quotes.
pub(crate) fn span_of(tape: Tape<'_>, node: Node) -> Range<usize> {
    let entry = tape.entry(node);
    let quote = usize::from(tape.is_string(node));
    (entry.start as usize).saturating_sub(quote)..entry.end as usize + quote
}

/// Containers inside containers; the root's own level is 0.
fn depth(tape: Tape<'_>, root: Node) -> u64 {
    let mut ends: Vec<Node> = Vec::with_capacity(32);
    let mut deepest = 0;
    for node in root..tape.entry(root).next {
        while ends.last().is_some_and(|end| *end <= node) {
            ends.pop();
        }
        let entry = tape.entry(node);
        if matches!(entry.kind, EntryKind::Array | EntryKind::Object) {
            deepest = deepest.max(ends.len() as u64);
            ends.push(entry.next);
        }
    }
    deepest
}

/// Size of the compact JSON text with everything beyond ASCII escaped. Unit: bytes. The order of keys does not matter.
fn ascii_bytes(tape: Tape<'_>, root: Node) -> u64 {
    (root..tape.entry(root).next).map(|node| own_bytes(tape, node)).sum()
}

/// At least what [`ascii_bytes`] measures, for less: only what is not printable ASCII and numbers can grow.
fn ascii_bytes_max(tape: Tape<'_>, root: Node) -> u64 {
    let entry = tape.entry(root);
    let source = &tape.source().as_bytes()[entry.start as usize..entry.end as usize];
    // In pieces that a byte can count, so that many are compared at once.
    let count = |piece: &[u8]| u64::from(piece.iter().map(|byte| u8::from(*byte >= 0x7f)).sum::<u8>());
    let other: u64 = source.chunks(u8::MAX.into()).map(count).sum();
    let entries = (root..entry.next).map(|node| tape.entry(node));
    let numbers = entries.filter(|entry| entry.kind == EntryKind::Number);
    let digits: u64 = numbers.map(|entry| u64::from(entry.end - entry.start)).sum();
    source_bytes(tape, root) + (GROWTH_MAX - 1) * (other + digits)
}

/// What an entry adds: a container its brackets, commas and colons, a scalar its text.
fn own_bytes(tape: Tape<'_>, node: Node) -> u64 {
    let entry = tape.entry(node);
    let len = u64::from(entry.len);
    match entry.kind {
        EntryKind::Array => 2 + len.saturating_sub(1),
        EntryKind::Object => 2 + len.saturating_sub(1) + len,
        // Nothing in it is a quote or a backslash.
        EntryKind::String if is_printable_ascii(tape.slice(node)) => 2 + tape.slice(node).len() as u64,
        EntryKind::String => 2 + tape.slice(node).bytes().map(|byte| u64::from(UTF8_BYTES[byte as usize])).sum::<u64>(),
        EntryKind::EscapedString => 2 + tape.text(node).chars().map(char_bytes).sum::<u64>(),
        EntryKind::Number => number_bytes(tape, node),
        EntryKind::Null | EntryKind::True | EntryKind::False | EntryKind::NotJson => u64::from(entry.end - entry.start),
    }
}

fn is_printable_ascii(text: &str) -> bool {
    // Without an early end: many bytes at once.
    text.bytes().fold(0, |other, byte| other | u8::from(!matches!(byte, b' '..=b'~'))) == 0
}

/// By a byte of UTF-8 that stands as it is in a string: what its character takes, if it is the first of it.
const UTF8_BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut at = 0;
    while at < 256 {
        bytes[at] = match at {
            0x20..=0x7e => 1,
            0x80..=0xbf => 0,
            // Two units of UTF-16.
            0xf0.. => 12,
            _ => 6,
        };
        at += 1;
    }
    bytes
};

fn char_bytes(c: char) -> u64 {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        _ => 6 * c.len_utf16() as u64,
    }
}

fn number_bytes(tape: Tape<'_>, node: Node) -> u64 {
    let View::Number(number) = tape.view_node(node) else {
        return 0;
    };
    let mut text = String::new();
    let written = number.write(&mut text);
    debug_assert!(written.is_ok());
    text.len() as u64
}

/// Keywords whose values are data, not schemas.
const DATA: [&str; 4] = ["enum", "const", "default", "examples"];

/// At least what [`properties`] counts, for less: the lengths of all objects behind a text that may be the name.
fn properties_max(tape: Tape<'_>, root: Node) -> u64 {
    let objects = (root..tape.entry(root).next).map(|node| (node, tape.entry(node)));
    let objects = objects.filter(|(node, entry)| entry.kind == EntryKind::Object && *node > root);
    let behind = objects.filter(|(node, _)| match tape.entry(node - 1).kind {
        EntryKind::String => tape.slice(node - 1) == "properties",
        kind => kind == EntryKind::EscapedString,
    });
    behind.map(|(_, entry)| u64::from(entry.len)).sum()
}

/// The lengths of all `properties` objects, summed; data is no schema.
fn properties(tape: Tape<'_>, root: Node) -> u64 {
    let mut sum = 0;
    let mut open = vec![root];
    let mut name = String::new();
    while let Some(node) = open.pop() {
        open.extend(tape.element_nodes(node));
        for (key, value) in tape.member_nodes(node) {
            let key = tape.text(key).plain(&mut name);
            if DATA.contains(&key) {
                continue;
            }
            if key == "properties" && tape.entry(value).kind == EntryKind::Object {
                sum += u64::from(tape.entry(value).len);
                // Below are names, which may be called like keywords.
                open.extend(tape.member_nodes(value).map(|(_, value)| value));
            } else {
                open.push(value);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::SCHEMA_READ;
    use callgate_vm::tape::TapeBuf;

    #[track_caller]
    fn check(text: &str, bytes: u64, deep: u64, props: u64) {
        let mut buf = TapeBuf::new();
        let tape = buf.read(text.as_bytes(), SCHEMA_READ).expect("reads");
        assert_eq!((ascii_bytes(tape, 0), depth(tape, 0), properties(tape, 0)), (bytes, deep, props));
        assert!(ascii_bytes_max(tape, 0) >= bytes && properties_max(tape, 0) >= props);
    }

    #[test]
    fn measures() {
        check(r#"{ "a": [1, 2.0, "é\n"] }"#, 24, 1, 0);
        check("[\"é\u{7f}\u{2014}\u{1f432}x\"]", 2 + 2 + 6 + 6 + 6 + 12 + 1, 0, 0);
        check(r#"{"properties": {"properties": {"properties": {"x": {}}}}}"#, 53, 4, 2);
        check(r#"{"default": {"properties": {"x": 1}}}"#, 34, 2, 0);
        check(r#"{"\u0070roperties": {"x": 1}}"#, 22, 1, 1);
    }

    #[test]
    fn texts_grow_within_their_bound() {
        let texts =
            ["\"\u{7f}\"", "\"é\"", "\"\u{1f432}\"", "1e15", "9e9", "-1e15", "1e-4", "1e-9", "1e999", "0", "-0.0"];
        for text in texts {
            let mut buf = TapeBuf::new();
            let tape = buf.read(text.as_bytes(), SCHEMA_READ).expect("reads");
            assert!(ascii_bytes(tape, 0) <= GROWTH_MAX * text.len() as u64, "{text}");
            assert!(ascii_bytes(tape, 0) <= 2 + ascii_bytes_max(tape, 0), "{text}");
        }
    }
}
