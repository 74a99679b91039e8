//! The tape: a JSON text read once, strictly, into a flat array of entries.
//!
//! ```text
//! {"a": [1, true]}      0 Object len 1 next 6
//!                       1   String "a"
//!                       2   Array  len 2 next 5
//!                       3     Number 1
//!                       4     True
//! ```
//!
//! An entry is a kind, the text's range and the index after its subtree; names and values of an object alternate.
//! The tape is what explanation walks: it keeps key order, exact numbers and the source. It is also the
//! compiler's reader of schemas. The entries live in a [`TapeBuf`] that is filled again and again without
//! allocating; a [`Tape`] borrows it together with the text.
//!
//! [`TapeBuf::read`] fills it from JSON text, [`TapeBuf::copy`] from any other [`Instance`].

use std::cmp::Ordering;

use crate::equal::{self, Budget};
use crate::failure::FaultCode;
use crate::insn::Types;
use crate::instance::{Halt, Instance, Member, View};
use crate::json::{self, Malformed, Reason, malformed};
use crate::names::TextKey;
use crate::number::Number;
use crate::text::Text;

/// An index into the tape's entries.
pub type Node = u32;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EntryKind {
    /// `null`
    Null,
    /// `false`
    False,
    /// `true`
    True,
    /// A number; the range is its literal.
    Number,
    /// A string without escapes; the range is its inside.
    String,
    /// A string with escapes; the range is its inside.
    EscapedString,
    /// An array; the range is its whole text.
    Array,
    /// An object; the range is its whole text.
    Object,
    /// A host's value that JSON does not have; the range is its name.
    NotJson,
}

/// One value (or name) of the text.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Where its text starts. Unit: bytes.
    pub start: u32,
    /// Where its text ends.
    pub end: u32,
    /// The index after its subtree.
    pub next: Node,
    /// Elements or members.
    pub len: u32,
}

/// Bounds and choices of a reading.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Containers inside containers. Unit: levels.
    pub depth_max: u32,
    /// Bytes of text.
    pub bytes_max: usize,
    /// Whether a duplicate name ends the reading (otherwise the tape notes it, [`Tape::duplicates`]), and a number
    /// beyond the bounds is a fault (otherwise it is kept as its literal, and reads as 0).
    pub strict: bool,
}

/// Why a text has no tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It is not JSON.
    Malformed(Malformed),
    /// It is over a bound.
    Fault(FaultCode),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::Malformed(malformed) => write!(f, "not JSON: {malformed}"),
            ReadError::Fault(code) => write!(f, "{}: {}", code.as_str(), code.detail()),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<Malformed> for ReadError {
    fn from(malformed: Malformed) -> Self {
        ReadError::Malformed(malformed)
    }
}

impl From<FaultCode> for ReadError {
    fn from(code: FaultCode) -> Self {
        ReadError::Fault(code)
    }
}

/// Memory for tapes, used again for each.
#[derive(Debug, Default)]
pub struct TapeBuf {
    entries: Vec<Entry>,
    /// Open containers while reading.
    open: Vec<Node>,
    /// Names of the object that has just closed, sorted to find equal ones.
    names: Vec<Node>,
    duplicates: Vec<Node>,
    /// Texts of an instance that has no JSON text of its own.
    text: String,
}

impl TapeBuf {
    /// An empty buffer.
    pub fn new() -> Self {
        TapeBuf::default()
    }

    /// Allocates what texts of `bytes` need.
    pub fn reserve(&mut self, bytes: usize, depth_max: usize) {
        // The densest text is an array of one-digit numbers: an entry for two bytes.
        let entries = bytes / 2 + 2;
        reserve_total(&mut self.entries, entries);
        reserve_total(&mut self.open, depth_max.min(bytes) + 1);
        reserve_total(&mut self.names, bytes / 5 + 1);
        // A parsed value is spelled out anew, and `1e15` takes 18 bytes then.
        let text = 5 * bytes + 64;
        if self.text.capacity() < text {
            self.text.reserve(text - self.text.len());
        }
    }

    /// Whether nothing has been allocated yet.
    pub fn is_unused(&self) -> bool {
        self.entries.capacity() == 0
    }

    /// Reads `bytes`, all of them. Errors: the first thing wrong, in the order of the text.
    ///
    /// Cost: one pass, and a sort of each object's names. Allocates only while the buffer has not yet grown to
    /// the text's size.
    pub fn read<'t>(&'t mut self, bytes: &'t [u8], options: ReadOptions) -> Result<Tape<'t>, ReadError> {
        if bytes.len() > options.bytes_max.min(u32::MAX as usize / 2) {
            return Err(FaultCode::CallBytes.into());
        }
        self.read_text(json::utf8(bytes)?, options)
    }

    /// As [`read`](Self::read), of a text that [`json::utf8`] has answered.
    pub fn read_text<'t>(&'t mut self, text: &'t str, options: ReadOptions) -> Result<Tape<'t>, ReadError> {
        if text.len() > options.bytes_max.min(u32::MAX as usize / 2) {
            return Err(FaultCode::CallBytes.into());
        }
        Reader { buf: self, text, at: 0, options }.run()?;
        Ok(self.tape(text))
    }

    /// Copies any instance. Errors: over-deep nesting (a cycle ends so too), and what the instance answers.
    pub fn copy<'t, 'a, I: Instance<'a>>(&'t mut self, instance: &mut I, depth_max: u32) -> Result<Tape<'t>, Halt> {
        self.clear();
        self.text.clear();
        let root = instance.root();
        Copier { buf: self, instance, depth_max, grows: true }.value(root, 0)?;
        Ok(self.copied())
    }

    /// Reads the text that `write` appends to the buffer's own, which [`copied`](Self::copied) is then of. Errors: as of
    /// [`read`](Self::read).
    pub fn fill(&mut self, options: ReadOptions, write: impl FnOnce(&mut String)) -> Result<Tape<'_>, ReadError> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        write(&mut text);
        let read = self.read_text(&text, options).map(|_| ());
        self.text = text;
        read.map(|()| self.copied())
    }

    /// Forgets the copies.
    pub(crate) fn clear_copies(&mut self) {
        self.clear();
        self.text.clear();
    }

    /// Copies one value or name behind those that are there; the buffer does not grow. Errors: [`Halt::Unreadable`] where
    /// there is no room, else as [`copy`](Self::copy).
    pub(crate) fn append<'a, I: Instance<'a>>(
        &mut self,
        instance: &mut I,
        node: I::Node,
        depth_max: u32,
    ) -> Result<Node, Halt> {
        let index = self.entries.len() as Node;
        Copier { buf: self, instance, depth_max, grows: false }.value(node, 0)?;
        Ok(index)
    }

    /// The tape of the last [`copy`](Self::copy), or of copies made one by one.
    pub fn copied(&self) -> Tape<'_> {
        self.tape(&self.text)
    }

    /// The tape of the last [`read`](Self::read), which was of `text`.
    pub fn tape<'t>(&'t self, text: &'t str) -> Tape<'t> {
        Tape { text, entries: &self.entries, duplicates: &self.duplicates }
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.open.clear();
        self.duplicates.clear();
    }
}

pub(crate) fn reserve_total<T>(vec: &mut Vec<T>, total: usize) {
    if vec.capacity() < total {
        vec.reserve_exact(total - vec.len());
    }
}

/// Reads text into entries, with an explicit stack of open containers.
struct Reader<'t, 'b> {
    buf: &'b mut TapeBuf,
    text: &'t str,
    at: usize,
    options: ReadOptions,
}

impl Reader<'_, '_> {
    /// Reads the text. Two places: a value starts here; a value ended here.
    fn run(mut self) -> Result<(), ReadError> {
        self.buf.clear();
        // What a schema has, so that a first reading need not grow step by step. Less than `reserve` makes room for.
        self.buf.entries.reserve(self.text.len() / 10);
        let bytes = self.text.as_bytes();
        self.at = json::skip_space(bytes, 0);
        if self.at == bytes.len() {
            return Ok(malformed(Reason::Empty, self.at)?);
        }
        loop {
            if self.value()? {
                continue;
            }
            loop {
                self.at = json::skip_space(bytes, self.at);
                let Some(&container) = self.buf.open.last() else {
                    let ends = self.at == bytes.len();
                    return if ends { Ok(()) } else { Ok(malformed(Reason::TrailingText, self.at)?) };
                };
                if self.after_value(container)? {
                    break;
                }
            }
        }
    }

    /// Reads the value that starts here: a scalar, or the start of a container. Answers whether another value starts
    /// behind it, the first one inside.
    #[inline]
    fn value(&mut self) -> Result<bool, ReadError> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        match bytes.get(start) {
            Some(b'"') => self.string()?,
            Some(b'{') => {
                self.open(EntryKind::Object)?;
                if bytes.get(self.at) != Some(&b'}') {
                    self.name()?;
                    return Ok(true);
                }
                self.close()?;
            }
            Some(b'[') => {
                self.open(EntryKind::Array)?;
                if bytes.get(self.at) != Some(&b']') {
                    return Ok(true);
                }
                self.close()?;
            }
            Some(b'-' | b'0'..=b'9') => {
                let end = match json::short_integer_end(bytes, start) {
                    Some(end) => end,
                    None => {
                        let scanned = json::scan_number(bytes, start)?;
                        if !scanned.bounded && self.options.strict {
                            return Err(FaultCode::Number.into());
                        }
                        scanned.end
                    }
                };
                self.push(EntryKind::Number, start, end);
            }
            Some(b't') => self.word("true", EntryKind::True)?,
            Some(b'f') => self.word("false", EntryKind::False)?,
            Some(b'n') => self.word("null", EntryKind::Null)?,
            _ => return Ok(json::no_value(bytes, start)?),
        }
        Ok(false)
    }

    /// Goes on behind a value inside `container`: answers whether another one starts there; or else the container has ended.
    #[inline]
    fn after_value(&mut self, container: Node) -> Result<bool, ReadError> {
        let bytes = self.text.as_bytes();
        let entry = &mut self.buf.entries[container as usize];
        entry.len += 1;
        let object = entry.kind == EntryKind::Object;
        match bytes.get(self.at) {
            Some(b',') => {
                self.at = json::skip_space(bytes, self.at + 1);
                if object {
                    self.name()?;
                }
                Ok(true)
            }
            Some(b'}') if object => self.close(),
            Some(b']') if !object => self.close(),
            None => Ok(malformed(Reason::CutOff, self.at)?),
            Some(_) => Ok(malformed(Reason::ExpectedCommaOrEnd, self.at)?),
        }
    }

    fn word(&mut self, word: &'static str, kind: EntryKind) -> Result<(), ReadError> {
        let end = json::scan_word(self.text.as_bytes(), self.at, word)?;
        self.push(kind, self.at, end);
        Ok(())
    }

    #[inline]
    fn string(&mut self) -> Result<(), ReadError> {
        let bytes = self.text.as_bytes();
        let scanned = match json::string_end(bytes, self.at) {
            Some(scanned) => scanned,
            None => json::scan_string(bytes, self.at)?,
        };
        let kind = if scanned.escaped { EntryKind::EscapedString } else { EntryKind::String };
        self.push(kind, self.at + 1, scanned.close);
        self.at = scanned.close + 1;
        Ok(())
    }

    #[inline]
    fn push(&mut self, kind: EntryKind, start: usize, end: usize) {
        self.at = end;
        let next = self.buf.entries.len() as Node + 1;
        self.buf.entries.push(Entry { kind, start: start as u32, end: end as u32, next, len: 0 });
    }

    /// Opens a container, and goes to the first thing inside.
    fn open(&mut self, kind: EntryKind) -> Result<(), ReadError> {
        if self.buf.open.len() >= self.options.depth_max as usize {
            return Err(FaultCode::Depth.into());
        }
        self.buf.open.push(self.buf.entries.len() as Node);
        self.push(kind, self.at, self.at + 1);
        self.at = json::skip_space(self.text.as_bytes(), self.at);
        Ok(())
    }

    /// Reads a name and its colon, and goes to its value.
    #[inline]
    fn name(&mut self) -> Result<(), ReadError> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at) {
            Some(b'"') => self.string()?,
            None => return Ok(malformed(Reason::CutOff, self.at)?),
            Some(_) => return Ok(malformed(Reason::ExpectedName, self.at)?),
        }
        self.at = json::skip_space(bytes, self.at);
        match bytes.get(self.at) {
            Some(b':') => self.at = json::skip_space(bytes, self.at + 1),
            None => return Ok(malformed(Reason::CutOff, self.at)?),
            Some(_) => return Ok(malformed(Reason::ExpectedColon, self.at)?),
        }
        Ok(())
    }

    /// Ends the innermost container at its bracket. Answers that no value starts behind it.
    fn close(&mut self) -> Result<bool, ReadError> {
        self.at += 1;
        if let Some(container) = self.buf.open.pop() {
            let next = self.buf.entries.len() as Node;
            let entry = &mut self.buf.entries[container as usize];
            entry.end = self.at as u32;
            entry.next = next;
            if entry.kind == EntryKind::Object && entry.len > 1 && !self.names_differ(container) {
                self.find_duplicates(container)?;
            }
        }
        Ok(false)
    }

    /// Whether the names of a small object are surely distinct: by their keys alone.
    fn names_differ(&self, object: Node) -> bool {
        let tape = Tape { text: self.text, entries: &self.buf.entries, duplicates: &[] };
        let mut keys = [TextKey::default(); SMALL_OBJECT];
        if tape.entry(object).len as usize > SMALL_OBJECT {
            return false;
        }
        tape.member_nodes(object).enumerate().all(|(at, (name, _))| {
            let key = TextKey::of(tape.slice(name));
            keys[at] = key;
            tape.entry(name).kind == EntryKind::String && !keys[..at].contains(&key)
        })
    }

    /// Sorts the names of the object and looks for equal neighbours.
    fn find_duplicates(&mut self, object: Node) -> Result<(), ReadError> {
        let TapeBuf { entries, names, duplicates, .. } = &mut *self.buf;
        let tape = Tape { text: self.text, entries, duplicates: &[] };
        names.clear();
        names.extend(tape.member_nodes(object).map(|(name, _)| name));
        names.sort_unstable_by(|a, b| tape.name_order(*a, *b).then(a.cmp(b)));
        let repeated = names.windows(2).filter(|pair| tape.name_order(pair[0], pair[1]).is_eq()).map(|pair| pair[1]);
        if self.options.strict {
            if let Some(first) = repeated.min() {
                let at = entries[first as usize].start as usize - 1;
                return Ok(malformed(Reason::DuplicateName, at)?);
            }
        } else {
            duplicates.extend(repeated);
        }
        Ok(())
    }
}

/// Objects up to this size have the keys of their names compared pair by pair. Unit: members.
const SMALL_OBJECT: usize = 16;

/// Copies an instance into entries. Recursion is bounded by the depth limit, itself below
/// [`crate::limits::DEPTH_CEILING`].
struct Copier<'b, 'i, I> {
    buf: &'b mut TapeBuf,
    instance: &'i mut I,
    depth_max: u32,
    /// Whether the buffer may grow.
    grows: bool,
}

impl<'a, I: Instance<'a>> Copier<'_, '_, I> {
    /// There must be room for another entry of so many bytes.
    fn room(&self, bytes: usize) -> Result<(), Halt> {
        let TapeBuf { entries, text, .. } = &*self.buf;
        let room = entries.len() < entries.capacity() && text.capacity() - text.len() >= bytes;
        if self.grows || room { Ok(()) } else { Err(Halt::Unreadable) }
    }

    fn value(&mut self, node: I::Node, depth: u32) -> Result<(), Halt> {
        let view = self.instance.view(node);
        self.room(match view {
            Ok(View::Number(number)) => number.literal_bytes_max(),
            Ok(View::String(string)) => string.raw_bytes(),
            Ok(View::NotJson(name)) => name.len(),
            Err(_) if !self.grows => return Err(Halt::Unreadable),
            _ => 0,
        })?;
        match view {
            Ok(View::Null) => self.leaf(EntryKind::Null, |_| ()),
            Ok(View::Bool(true)) => self.leaf(EntryKind::True, |_| ()),
            Ok(View::Bool(false)) => self.leaf(EntryKind::False, |_| ()),
            Ok(View::Number(number)) => self.leaf(EntryKind::Number, |text| number.write_literal(text)),
            Ok(View::String(string)) => self.string(string),
            Ok(View::NotJson(name)) => self.leaf(EntryKind::NotJson, |text| text.push_str(name)),
            Ok(View::Array) => return self.array(node, depth),
            Ok(View::Object) => return self.object(node, depth),
            Err(Halt::Unreadable) => self.literal(node)?,
            Err(fault) => return Err(fault),
        }
        self.check_size()
    }

    fn check_size(&self) -> Result<(), Halt> {
        if self.buf.text.len() > u32::MAX as usize / 2 || self.buf.entries.len() > u32::MAX as usize / 2 {
            return Err(FaultCode::CallBytes.into());
        }
        Ok(())
    }

    /// A number that the instance spells out but cannot lend.
    fn literal(&mut self, node: I::Node) -> Result<(), Halt> {
        let start = self.buf.text.len();
        self.instance.write_number(node, &mut self.buf.text)?;
        let scanned = json::scan_number(self.buf.text.as_bytes(), start).map_err(|_| Halt::Unreadable)?;
        if !scanned.bounded {
            return Err(FaultCode::Number.into());
        }
        self.push(EntryKind::Number, start);
        Ok(())
    }

    fn leaf(&mut self, kind: EntryKind, write: impl FnOnce(&mut String)) {
        let start = self.buf.text.len();
        write(&mut self.buf.text);
        self.push(kind, start);
    }

    fn string(&mut self, string: Text<'a>) {
        self.leaf(EntryKind::String, |text| match string.as_plain() {
            Some(plain) => text.push_str(plain),
            None => text.extend(string.chars()),
        });
    }

    fn push(&mut self, kind: EntryKind, start: usize) -> Node {
        let index = self.buf.entries.len() as Node;
        let end = self.buf.text.len() as u32;
        self.buf.entries.push(Entry { kind, start: start as u32, end, next: index + 1, len: 0 });
        index
    }

    fn array(&mut self, node: I::Node, depth: u32) -> Result<(), Halt> {
        let index = self.container(EntryKind::Array, depth)?;
        let mut at = self.instance.elements(node);
        while let Some(element) = self.instance.next_element(&mut at)? {
            self.buf.entries[index as usize].len += 1;
            self.value(element, depth + 1)?;
        }
        self.buf.entries[index as usize].next = self.buf.entries.len() as Node;
        Ok(())
    }

    fn object(&mut self, node: I::Node, depth: u32) -> Result<(), Halt> {
        let index = self.container(EntryKind::Object, depth)?;
        let mut at = self.instance.members(node);
        while let Some(member) = self.instance.next_member(&mut at)? {
            self.buf.entries[index as usize].len += 1;
            self.room(member.name.raw_bytes())?;
            self.string(member.name);
            self.value(member.value, depth + 1)?;
        }
        self.buf.entries[index as usize].next = self.buf.entries.len() as Node;
        Ok(())
    }

    fn container(&mut self, kind: EntryKind, depth: u32) -> Result<Node, Halt> {
        if depth >= self.depth_max {
            return Err(FaultCode::Depth.into());
        }
        let start = self.buf.text.len();
        Ok(self.push(kind, start))
    }
}

/// A text together with its tape.
#[derive(Debug, Default)]
pub struct OwnedTape {
    text: String,
    buf: TapeBuf,
}

impl OwnedTape {
    /// Reads `bytes` and keeps them. Errors: as [`TapeBuf::read`].
    pub fn read(bytes: &[u8], options: ReadOptions) -> Result<OwnedTape, ReadError> {
        let mut buf = TapeBuf::new();
        let text = buf.read(bytes, options)?.source().to_owned();
        Ok(OwnedTape { text, buf })
    }

    /// The tape.
    pub fn tape(&self) -> Tape<'_> {
        self.buf.tape(&self.text)
    }
}

/// A tape: entries and the text they lie in.
#[derive(Clone, Copy, Debug)]
pub struct Tape<'t> {
    text: &'t str,
    entries: &'t [Entry],
    duplicates: &'t [Node],
}

impl<'t> Tape<'t> {
    /// A tape over entries that a [`TapeBuf`] made of `text`.
    pub(crate) fn new(text: &'t str, entries: &'t [Entry]) -> Self {
        Tape { text, entries, duplicates: &[] }
    }

    /// The entry at `node`.
    pub fn entry(self, node: Node) -> Entry {
        self.entries[node as usize]
    }

    /// How many entries there are.
    pub fn entry_len(self) -> usize {
        self.entries.len()
    }

    /// The text that the tape was read from.
    pub fn source(self) -> &'t str {
        self.text
    }

    /// The value's text: a scalar's literal, a string's inside, a container whole.
    pub fn slice(self, node: Node) -> &'t str {
        let entry = self.entry(node);
        &self.text[entry.start as usize..entry.end as usize]
    }

    /// The string or name at `node`; empty for anything else.
    pub fn text(self, node: Node) -> Text<'t> {
        match self.entry(node).kind {
            EntryKind::String => Text::plain_text(self.slice(node)),
            EntryKind::EscapedString => Text::escaped_text(self.slice(node), true),
            _ => Text::plain_text(""),
        }
    }

    /// Whether the value is a string.
    pub fn is_string(self, node: Node) -> bool {
        matches!(self.entry(node).kind, EntryKind::String | EntryKind::EscapedString)
    }

    /// The first value that JSON does not have, in a tape copied from a host's object.
    pub fn first_not_json(self) -> Option<Node> {
        self.entries.iter().position(|entry| entry.kind == EntryKind::NotJson).map(|at| at as Node)
    }

    /// Names that stand a second time in their object, where the reading did not end at them.
    pub fn duplicates(self) -> &'t [Node] {
        self.duplicates
    }

    /// Names and values of the object, in order. Empty for anything else.
    pub fn member_nodes(self, node: Node) -> impl Iterator<Item = (Node, Node)> + Clone + 't {
        let entry = self.entry(node);
        let object = entry.kind == EntryKind::Object;
        let end = if object { entry.next } else { node };
        let mut at = node + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let name = at;
                at = self.entry(name + 1).next;
                (name, name + 1)
            })
        })
        .fuse()
    }

    /// Elements of the array, in order. Empty for anything else.
    pub fn element_nodes(self, node: Node) -> impl Iterator<Item = Node> + Clone + 't {
        let entry = self.entry(node);
        let end = if entry.kind == EntryKind::Array { entry.next } else { node };
        let mut at = node + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let element = at;
                at = self.entry(element).next;
                element
            })
        })
    }

    /// The value of the object's member `name`. Cost: one pass over the members.
    pub fn member(self, object: Node, name: &str) -> Option<Node> {
        self.member_nodes(object).find(|(key, _)| self.text(*key).is(name)).map(|(_, value)| value)
    }

    /// An order of names that groups equal ones: by bytes where both are plain, by characters otherwise.
    fn name_order(self, a: Node, b: Node) -> Ordering {
        let (a, b) = (self.text(a), self.text(b));
        match (a.as_plain(), b.as_plain()) {
            (Some(x), Some(y)) => x.cmp(y),
            _ => a.compare(b),
        }
    }

    /// The literal of a number that is written as its own notation: an integer other than `-0`.
    pub(crate) fn integer_literal(self, node: Node) -> Option<&'t str> {
        if self.entry(node).kind != EntryKind::Number {
            return None;
        }
        let literal = self.slice(node);
        let digits = literal.strip_prefix('-').unwrap_or(literal);
        (digits.bytes().all(|byte| byte.is_ascii_digit()) && literal != "-0").then_some(literal)
    }

    /// The value at `node`, without the fault that a number beyond the bounds is (a read tape holds none).
    pub fn view_node(self, node: Node) -> View<'t> {
        match self.entry(node).kind {
            EntryKind::Null => View::Null,
            EntryKind::False => View::Bool(false),
            EntryKind::True => View::Bool(true),
            EntryKind::Number => View::Number(Number::parse(self.slice(node)).unwrap_or(Number::Int(0))),
            EntryKind::String | EntryKind::EscapedString => View::String(self.text(node)),
            EntryKind::Array => View::Array,
            EntryKind::Object => View::Object,
            EntryKind::NotJson => View::NotJson(self.slice(node)),
        }
    }
}

/// A position among entries.
#[derive(Clone, Copy, Debug)]
pub struct TapeCursor {
    at: Node,
    end: Node,
}

/// A tape as an instance, from `root` on: the whole text, or a schema inside a catalog.
#[derive(Clone, Copy, Debug)]
pub struct TapeInstance<'t> {
    tape: Tape<'t>,
    root: Node,
}

impl<'t> TapeInstance<'t> {
    /// The value at `root` and what is below it.
    pub fn new(tape: Tape<'t>, root: Node) -> Self {
        TapeInstance { tape, root }
    }

    /// The tape.
    pub fn tape(&self) -> Tape<'t> {
        self.tape
    }
}

impl<'t> Instance<'t> for TapeInstance<'t> {
    type Node = Node;
    type Members = TapeCursor;
    type Elements = TapeCursor;

    fn root(&self) -> Node {
        self.root
    }

    fn identity(&self, node: Node) -> Option<u64> {
        Some(node.into())
    }

    #[inline]
    fn view(&mut self, node: Node) -> Result<View<'t>, Halt> {
        Ok(self.tape.view_node(node))
    }

    #[inline]
    fn types(&mut self, node: Node) -> Result<Types, Halt> {
        Ok(match self.tape.entry(node).kind {
            EntryKind::Null => Types::NULL,
            EntryKind::False | EntryKind::True => Types::BOOLEAN,
            EntryKind::String | EntryKind::EscapedString => Types::STRING,
            EntryKind::Array => Types::ARRAY,
            EntryKind::Object => Types::OBJECT,
            EntryKind::Number | EntryKind::NotJson => self.tape.view_node(node).types(),
        })
    }

    #[inline]
    fn kind(&mut self, node: Node) -> Result<Types, Halt> {
        match self.tape.entry(node).kind {
            EntryKind::Number => Ok(Types::NUMBER),
            _ => self.types(node),
        }
    }

    #[inline]
    fn members(&mut self, node: Node) -> TapeCursor {
        TapeCursor { at: node + 1, end: self.tape.entry(node).next }
    }

    #[inline]
    fn next_member(&mut self, at: &mut TapeCursor) -> Result<Option<Member<'t, Node>>, Halt> {
        if at.at >= at.end {
            return Ok(None);
        }
        let name = at.at;
        at.at = self.tape.entry(name + 1).next;
        Ok(Some(Member { name: self.tape.text(name), name_node: name, value: name + 1 }))
    }

    fn elements(&mut self, node: Node) -> TapeCursor {
        TapeCursor { at: node + 1, end: self.tape.entry(node).next }
    }

    #[inline]
    fn next_element(&mut self, at: &mut TapeCursor) -> Result<Option<Node>, Halt> {
        if at.at >= at.end {
            return Ok(None);
        }
        let element = at.at;
        at.at = self.tape.entry(element).next;
        Ok(Some(element))
    }

    fn equal(&mut self, a: Node, b: Node, budget: &mut Budget) -> Result<bool, Halt> {
        equal::equal(&mut self.clone(), a, self, b, budget)
    }

    fn member_len(&mut self, node: Node) -> Result<usize, Halt> {
        Ok(self.tape.entry(node).len as usize)
    }

    fn element_len(&mut self, node: Node) -> Result<usize, Halt> {
        Ok(self.tape.entry(node).len as usize)
    }
}

impl Number<'_> {
    /// No less than the bytes of [`write_literal`](Self::write_literal).
    fn literal_bytes_max(self) -> usize {
        match self {
            Number::Big(literal) => literal.len(),
            Number::Decimal { literal, .. } => literal.len().max(32),
            Number::Int(_) => 20,
        }
    }

    /// Writes a literal that reads back as the same number.
    fn write_literal(self, text: &mut String) {
        let written = match self {
            Number::Decimal { literal, .. } if !literal.is_empty() => {
                text.push_str(literal);
                Ok(())
            }
            // A host that answers an infinity gets the literal that reads back as one.
            Number::Decimal { value, .. } if value.is_infinite() => {
                text.push_str(if value > 0.0 { "1e400" } else { "-1e400" });
                Ok(())
            }
            number @ Number::Decimal { .. } => number.write(text),
            Number::Int(value) => {
                text.push_str(itoa::Buffer::new().format(value));
                Ok(())
            }
            Number::Big(literal) => {
                text.push_str(literal);
                Ok(())
            }
        };
        // A `String` takes every write.
        debug_assert!(written.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: ReadOptions = ReadOptions { depth_max: 4, bytes_max: 1000, strict: true };

    #[track_caller]
    fn check_error(text: &[u8], expected: &str) {
        let mut buf = TapeBuf::new();
        let got = match buf.read(text, OPTIONS) {
            Ok(_) => "read".to_owned(),
            Err(ReadError::Malformed(malformed)) => malformed.to_string(),
            Err(ReadError::Fault(code)) => format!("{code:?}"),
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn strict_reading() {
        check_error(b"", "no value at byte 0");
        check_error(b"  ", "no value at byte 2");
        check_error(b"{\"a\": 1, \"a\": 2}", "duplicate member name at byte 9");
        check_error(b"{\"a\": 1, \"\\u0061\": 2}", "duplicate member name at byte 9");
        check_error(b"{\"a\": NaN}", "NaN and Infinity are not JSON at byte 6");
        check_error(b"[1, 2", "the text ends too early at byte 5");
        check_error(b"[1,]", "expected a value at byte 3");
        check_error(b"{\"a\": 1,}", "expected a member name in double quotes at byte 8");
        check_error(b"{a: 1}", "expected a member name in double quotes at byte 1");
        check_error(b"[1 2]", "expected ',' or the closing bracket at byte 3");
        check_error(b"{} x", "text after the value at byte 3");
        check_error(b"\xef\xbb\xbf{}", "byte order mark at byte 0");
        check_error(b"[\"\xff\"]", "invalid UTF-8 at byte 2");
        check_error(b"[[[[[]]]]]", "Depth");
        check_error(b"[1e100001]", "Number");
        check_error(b"tru", "the text ends too early at byte 3");
        check_error(b" {\"a\": [1 , 2 ] , \"b\" : {} } ", "read");
        check_error(b"[ ] ]", "text after the value at byte 4");
    }

    #[test]
    fn entries_keep_order_and_extent() {
        let mut buf = TapeBuf::new();
        let tape = buf.read(br#"{"a": [1, true], "b": "x"}"#, OPTIONS).expect("reads");
        assert_eq!(tape.entry_len(), 7);
        assert_eq!(tape.entry(0).len, 2);
        assert_eq!(tape.member(0, "b").map(|n| tape.slice(n)), Some("x"));
        assert_eq!(tape.element_nodes(2).count(), 2);
    }
}
