//! Changes made in a JSON text, which stays as it was everywhere else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use callgate_vm::tape::{EntryKind, Node, Tape};
use serde_json::{Number, Value};

use super::RepairRule;
use super::places::Places;
use super::reading::Reading;
use crate::summary::Step;

/// What becomes of the value at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: Vec<Step>,
    pub(super) rule: RepairRule,
    /// The value's JSON text; none for a member that is left out.
    pub(super) becomes: Option<String>,
}

impl Change {
    pub(super) fn new(path: Vec<Step>, reading: Reading) -> Self {
        Change { path, rule: reading.rule, becomes: reading.becomes }
    }

    /// Whether the location is that of the change, or one inside it.
    pub(super) fn covers(&self, path: &[Step]) -> bool {
        path.starts_with(&self.path)
    }

    /// Makes the change in a parsed value. `None` if it has no such place.
    pub(super) fn apply_to(&self, root: &mut Value) -> Option<()> {
        let (last, above) = match self.path.split_last() {
            Some((last, above)) => (Some(last), above),
            None => (None, [].as_slice()),
        };
        let parent = above.iter().try_fold(root, |value, step| child(value, step))?;
        match (&self.becomes, last) {
            (Some(text), Some(last)) => *child(parent, last)? = value_of(text, self.rule)?,
            (Some(text), None) => *parent = value_of(text, self.rule)?,
            (None, Some(Step::Name(name))) => drop(parent.as_object_mut()?.remove(name)?),
            (None, _) => return None,
        }
        Some(())
    }
}

fn child<'v>(value: &'v mut Value, step: &Step) -> Option<&'v mut Value> {
    match step {
        Step::Name(name) => value.as_object_mut()?.get_mut(name),
        Step::Index(index) => value.as_array_mut()?.get_mut(*index as usize),
    }
}

/// The value of the text that a rule has made. Decimals are read by the standard library: `serde_json` may be off by the
/// last bit.
fn value_of(text: &str, rule: RepairRule) -> Option<Value> {
    let is_decimal = rule == RepairRule::StrToNumber && text.contains(['.', 'e']);
    if is_decimal {
        return Number::from_f64(text.parse().ok()?).map(Value::Number);
    }
    serde_json::from_str(text).ok()
}

/// The value's own text, a string's with its quotes.
pub(super) fn value_text(tape: Tape<'_>, node: Node) -> &str {
    &tape.source()[range(tape, node)]
}

fn range(tape: Tape<'_>, node: Node) -> Range<usize> {
    let entry = tape.entry(node);
    let quote = usize::from(matches!(entry.kind, EntryKind::String | EntryKind::EscapedString));
    entry.start as usize - quote..entry.end as usize + quote
}

/// The text with the changes made, which are of distinct values, none inside another. `None` if there is no such place.
pub(super) fn changed(places: &Places<'_>, changes: &[Change]) -> Option<String> {
    let tape = places.tape;
    let mut splices: Vec<(Range<usize>, &str)> = Vec::with_capacity(changes.len());
    let mut left_out: BTreeMap<Node, Vec<Node>> = BTreeMap::new();
    for change in changes {
        let place = places.locate(&change.path)?;
        match (&change.becomes, place.member) {
            (Some(text), _) => splices.push((range(tape, place.node), text)),
            (None, Some((object, name))) => left_out.entry(object).or_default().push(name),
            (None, None) => return None,
        }
    }
    for (object, mut names) in left_out {
        names.sort_unstable();
        splices.extend(members(tape, object, &names).into_iter().map(|range| (range, "")));
    }
    splices.sort_by_key(|(range, _)| range.start);
    let (source, mut text, mut at) = (tape.source(), String::new(), 0);
    for (range, with) in splices {
        text.push_str(source.get(at..range.start)?);
        text.push_str(with);
        at = range.end;
    }
    text.push_str(source.get(at..)?);
    Some(text)
}

/// The text of members to be left out, whose names are sorted; each with one comma as long as others stay.
fn members(tape: Tape<'_>, object: Node, names: &[Node]) -> Vec<Range<usize>> {
    let all: Vec<(Range<usize>, bool)> = tape
        .member_nodes(object)
        .map(|(name, value)| (range(tape, name).start..range(tape, value).end, names.binary_search(&name).is_ok()))
        .collect();
    let kept_to = all.iter().rposition(|(_, is_left_out)| !is_left_out).map_or(0, |last| last + 1);
    // Before the last one that stays, up to the next member; behind it, from the end of that one.
    let mut ranges: Vec<_> =
        all[..kept_to].windows(2).filter(|pair| pair[0].1).map(|pair| pair[0].0.start..pair[1].0.start).collect();
    if let (Some((first, _)), Some((last, true))) = (all.first(), all.last()) {
        let from = kept_to.checked_sub(1).map_or(first.start, |kept| all[kept].0.end);
        ranges.push(from..last.end);
    }
    ranges
}

/// The location as a JSON Pointer. Source: RFC 6901.
pub(super) fn pointer(path: &[Step]) -> String {
    let mut pointer = String::new();
    for step in path {
        // Writing to a string does not fail.
        let _ = match step {
            Step::Name(name) => write!(pointer, "/{}", name.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => write!(pointer, "/{index}"),
        };
    }
    pointer
}

/// The location as a path from `$`. Source: RFC 9535, sections 2.5.1 (the short form of plain names) and 2.7.
pub(super) fn json_path(path: &[Step]) -> String {
    let mut text = "$".to_owned();
    for step in path {
        // As above.
        let _ = match step {
            Step::Index(index) => write!(text, "[{index}]"),
            Step::Name(name) if is_plain(name) => write!(text, ".{name}"),
            Step::Name(name) => write!(text, "['{}']", quoted(name)),
        };
    }
    text
}

fn is_plain(name: &str) -> bool {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word && !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit())
}

fn quoted(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        let _ = match c {
            '\'' | '\\' => write!(text, "\\{c}"),
            '\n' => text.write_str("\\n"),
            '\r' => text.write_str("\\r"),
            '\t' => text.write_str("\\t"),
            '\u{8}' => text.write_str("\\b"),
            '\u{c}' => text.write_str("\\f"),
            '\0'..='\x1f' => write!(text, "\\u{:04x}", u32::from(c)),
            _ => text.write_char(c),
        };
    }
    text
}

/// JSON text without white space between its tokens.
pub(super) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    out.extend(text.chars().filter(|c| {
        let kept = in_string || !matches!(c, ' ' | '\t' | '\n' | '\r');
        match c {
            '"' if !escaped => in_string = !in_string,
            _ => {}
        }
        escaped = in_string && *c == '\\' && !escaped;
        kept
    }));
    out
}

#[cfg(test)]
mod tests {
    use callgate_vm::tape::{ReadOptions, TapeBuf};

    use super::*;

    fn name(name: &str) -> Step {
        Step::Name(name.to_owned())
    }

    /// The text after each change `(path, value)`, where no value leaves a member out.
    #[track_caller]
    fn check(text: &str, changes: &[(&[Step], Option<&str>)], expected: &str) {
        let mut buf = TapeBuf::new();
        let tape = buf.read_text(text, ReadOptions { depth_max: 8, bytes_max: 1 << 10, strict: true }).expect("JSON");
        let changes: Vec<_> = changes
            .iter()
            .map(|(path, becomes)| Change {
                path: path.to_vec(),
                rule: RepairRule::StrToInteger,
                becomes: becomes.map(str::to_owned),
            })
            .collect();
        assert_eq!(changed(&Places::of(tape), &changes).as_deref(), Some(expected), "{text}");
        let (mut value, expected) = (value(text), value(expected));
        assert!(changes.iter().all(|change| change.apply_to(&mut value).is_some()));
        assert_eq!(value, expected, "{text}");
    }

    fn value(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn values_are_replaced() {
        check(r#" "1" "#, &[(&[], Some("1"))], " 1 ");
        let text = r#"{ "a" : "1",  "b": [ "x", "\u0032" ] }"#;
        let changes: [(&[Step], _); 2] =
            [(&[name("b"), Step::Index(1)], Some("2")), (&[name("a")], Some(r#"{"c": 1}"#))];
        check(text, &changes, r#"{ "a" : {"c": 1},  "b": [ "x", 2 ] }"#);
    }

    #[test]
    fn members_are_left_out() {
        let text = r#"{ "a": 1, "b": 2, "c" : 3 , "d":4 }"#;
        check(text, &[(&[name("a")], None)], r#"{ "b": 2, "c" : 3 , "d":4 }"#);
        check(text, &[(&[name("c")], None)], r#"{ "a": 1, "b": 2, "d":4 }"#);
        check(text, &[(&[name("d")], None)], r#"{ "a": 1, "b": 2, "c" : 3 }"#);
        check(text, &[(&[name("d")], None), (&[name("b")], None), (&[name("c")], None)], r#"{ "a": 1 }"#);
        check(text, &[(&[name("a")], None), (&[name("c")], None)], r#"{ "b": 2, "d":4 }"#);
        check(text, &[(&[name("a")], None), (&[name("b")], Some("0"))], r#"{ "b": 0, "c" : 3 , "d":4 }"#);
        check(r#"{ "a" : 1 , "b":2 }"#, &[(&[name("a")], None), (&[name("b")], None)], "{  }");
    }

    #[test]
    fn locations() {
        let path = [name("a/b~"), Step::Index(3), name("it's\n"), name("x_1"), name("1")];
        assert_eq!(pointer(&path), "/a~1b~0/3/it's\n/x_1/1");
        assert_eq!(json_path(&path), r"$['a/b~'][3]['it\'s\n'].x_1['1']");
    }

    #[test]
    fn white_space() {
        assert_eq!(compact("{ \"a b\" :\t[1 ,\n\"\\\" \\\\\" , 2 ] }"), r#"{"a b":[1,"\" \\",2]}"#);
    }
}
