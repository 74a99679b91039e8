//! JSON text judged in place: a node is an offset into the text, and nothing is built.
//!
//! The machine's cursors read the text as they pass: names, strings, numbers, commas. A value that no instruction
//! visits is passed over by a skip that checks all the same, so an accepted call has been read strictly from
//! end to end, in one pass where the schema looks at each value once. What was walked to its end is remembered
//! (`walked`), so that the cursor around it need not read it again.
//!
//! That names are distinct is found out at the end of their object, by hashes: of every name in a skipped object, and of
//! those that the machine [notes](Instance::note_name) in one that it walks; names that it finds in a property table it
//! tells apart itself.
//!
//! Anything wrong, or in doubt (two names of one object with one hash, deep nesting), is [`Halt::Unreadable`]:
//! the tape then reads the text and says exactly what is wrong and where. This module never words an error.

use ahash::RandomState;

use crate::insn::Types;
use crate::instance::{Halt, Instance, Member, View};
use crate::json::{self, ScannedNumber};
use crate::names::TextKey;
use crate::number::Number;
use crate::text::Text;

/// Memory of in-place reading, used again for each text.
#[derive(Debug)]
pub struct TextScratch {
    /// Names of the objects being walked, innermost last: where the object is, and the name's hash.
    names: Vec<(u32, u64)>,
    /// Containers open inside a skip.
    open: Vec<Open>,
    /// Per process, so that nobody can prepare names of one hash; the worst of such names is the tape's time.
    secret: u64,
    hasher: RandomState,
    /// A name without its escapes.
    plain: String,
}

impl Default for TextScratch {
    fn default() -> Self {
        let hasher = RandomState::new();
        TextScratch { names: Vec::new(), open: Vec::new(), secret: hasher.hash_one(0_u8), hasher, plain: String::new() }
    }
}

impl TextScratch {
    /// Allocates what texts of `bytes` need: a member takes at least five bytes (`"":1,`).
    pub fn reserve(&mut self, bytes: usize, depth_max: usize) {
        crate::tape::reserve_total(&mut self.names, bytes / 5 + 8);
        crate::tape::reserve_total(&mut self.open, depth_max.min(bytes) + 1);
        self.plain.reserve(bytes);
    }
}

#[derive(Clone, Copy, Debug)]
struct Open {
    object: bool,
    names_from: u32,
}

/// A text as an instance.
#[derive(Debug)]
pub struct JsonText<'a, 's> {
    text: &'a str,
    scratch: &'s mut TextScratch,
    /// The value last walked to its end: where it starts and ends.
    walked: (u32, u32),
    /// The scalar last viewed: several instructions look at one value.
    viewed: (u32, View<'a>),
    skip_depth_max: usize,
    /// Bytes that may still be read before the tape takes over: schemas that look at a value again and again are not
    /// to read it again and again.
    bytes_left: usize,
}

/// How often, on average, each byte may be read in place.
const READS_MAX: usize = 16;

/// A position in an object.
#[derive(Clone, Copy, Debug)]
pub struct TextMembers {
    object: u32,
    /// The value answered last, still to be passed over; or 0 before the first member.
    value: u32,
    /// This object's part of the name hashes.
    names_from: u32,
    noted: u32,
}

/// A position in an array.
#[derive(Clone, Copy, Debug)]
pub struct TextElements {
    array: u32,
    value: u32,
    /// Where the names of the objects inside start.
    names_from: u32,
}

impl<'a, 's> JsonText<'a, 's> {
    /// The text `text`, as [`json::utf8`] answers it.
    ///
    /// `skip_depth_max`: how deep an unvisited value may nest before the tape must look at it.
    #[inline]
    pub fn new(text: &'a str, scratch: &'s mut TextScratch, skip_depth_max: u32) -> Self {
        scratch.names.clear();
        scratch.open.clear();
        let bytes_left = text.len().saturating_mul(READS_MAX) + 1_024;
        JsonText {
            text,
            scratch,
            walked: (0, 0),
            viewed: (u32::MAX, View::Null),
            skip_depth_max: skip_depth_max as usize,
            bytes_left,
        }
    }

    /// Reads what the machine left unread, to the end of the text. To be called after acceptance.
    pub fn finish(&mut self) -> Result<(), Halt> {
        let end = self.end_of(self.root())?;
        if json::skip_space(self.bytes(), end as usize) == self.text.len() { Ok(()) } else { Err(Halt::Unreadable) }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Where the value at `node` ends; reads it unless it was the last one walked.
    #[inline]
    fn end_of(&mut self, node: u32) -> Result<u32, Halt> {
        if self.walked.0 == node && self.walked.1 != 0 {
            return Ok(self.walked.1);
        }
        let end = match self.bytes().get(node as usize) {
            Some(b'"') => json::string_end(self.bytes(), node as usize).ok_or(Halt::Unreadable)?.close as u32 + 1,
            _ => self.skip(node as usize)?,
        };
        self.charge((end - node) as usize)?;
        Ok(end)
    }

    #[inline]
    fn charge(&mut self, bytes: usize) -> Result<(), Halt> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(Halt::Unreadable)?;
        Ok(())
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // its answer does not fit registers
    fn string(&self, open: usize) -> Result<(Text<'a>, usize), Halt> {
        let scanned = json::string_end(self.bytes(), open).ok_or(Halt::Unreadable)?;
        let raw = self.text.get(open + 1..scanned.close).ok_or(Halt::Unreadable)?;
        Ok((Text::escaped_text(raw, scanned.escaped), scanned.close + 1))
    }

    fn scalar(&self, node: usize) -> Result<(View<'a>, usize), Halt> {
        let bytes = self.bytes();
        Ok(match bytes.get(node) {
            Some(b'"') => {
                let (text, end) = self.string(node)?;
                (View::String(text), end)
            }
            Some(b't') => (View::Bool(true), word(bytes, node, "true")?),
            Some(b'f') => (View::Bool(false), word(bytes, node, "false")?),
            Some(b'n') => (View::Null, word(bytes, node, "null")?),
            _ => {
                let scanned = self.number(node)?;
                let number = Number::parse(&self.text[node..scanned.end]).map_err(|_| Halt::Unreadable)?;
                (View::Number(number), scanned.end)
            }
        })
    }

    #[inline]
    fn number(&self, node: usize) -> Result<ScannedNumber, Halt> {
        match json::scan_number(self.bytes(), node) {
            Ok(scanned) if scanned.bounded => Ok(scanned),
            _ => Err(Halt::Unreadable),
        }
    }

    /// Passes over the value at `node`, checking it: the loop keeps its own stack of open containers.
    fn skip(&mut self, node: usize) -> Result<u32, Halt> {
        let bytes = self.bytes();
        self.scratch.open.clear();
        let mut at = node;
        loop {
            // A value starts at `at`.
            at = match bytes.get(at) {
                Some(b'{') => {
                    let inside = json::skip_space(bytes, at + 1);
                    self.open(true)?;
                    if bytes.get(inside) == Some(&b'}') {
                        self.close(inside)?
                    } else {
                        at = self.skip_name(inside, at as u32)?;
                        continue;
                    }
                }
                Some(b'[') => {
                    let inside = json::skip_space(bytes, at + 1);
                    self.open(false)?;
                    if bytes.get(inside) == Some(&b']') {
                        self.close(inside)?
                    } else {
                        at = inside;
                        continue;
                    }
                }
                _ => self.skip_scalar(at)?,
            };
            // A value ended at `at`.
            loop {
                let Some(&Open { object, .. }) = self.scratch.open.last() else {
                    return Ok(at as u32);
                };
                let next = json::skip_space(bytes, at);
                match (bytes.get(next), object) {
                    (Some(b','), true) => {
                        at = self.skip_name(json::skip_space(bytes, next + 1), node as u32)?;
                        break;
                    }
                    (Some(b','), false) => {
                        at = json::skip_space(bytes, next + 1);
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => at = self.close(next)?,
                    _ => return Err(Halt::Unreadable),
                }
            }
        }
    }

    fn skip_scalar(&self, at: usize) -> Result<usize, Halt> {
        match self.bytes().get(at) {
            Some(b'"') => Ok(self.string(at)?.1),
            Some(b'-' | b'0'..=b'9') => Ok(self.number(at)?.end),
            _ => Ok(self.scalar(at)?.1),
        }
    }

    fn open(&mut self, object: bool) -> Result<(), Halt> {
        if self.scratch.open.len() >= self.skip_depth_max {
            return Err(Halt::Unreadable);
        }
        let names_from = self.scratch.names.len() as u32;
        self.scratch.open.push(Open { object, names_from });
        Ok(())
    }

    fn close(&mut self, bracket: usize) -> Result<usize, Halt> {
        if let Some(open) = self.scratch.open.pop() {
            self.close_names(open.names_from)?;
        }
        Ok(bracket + 1)
    }

    /// Reads a name and its colon, and notes it; answers where the value starts.
    fn skip_name(&mut self, at: usize, object: u32) -> Result<usize, Halt> {
        let (name, value) = self.name(at)?;
        self.note(object, name);
        Ok(value)
    }

    /// Reads a name and its colon; answers it and where the value starts.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as for `string`
    fn name(&self, at: usize) -> Result<(Text<'a>, usize), Halt> {
        let bytes = self.bytes();
        if bytes.get(at) != Some(&b'"') {
            return Err(Halt::Unreadable);
        }
        let (name, end) = self.string(at)?;
        let colon = json::skip_space(bytes, end);
        if bytes.get(colon) != Some(&b':') {
            return Err(Halt::Unreadable);
        }
        Ok((name, json::skip_space(bytes, colon + 1)))
    }

    fn note(&mut self, object: u32, name: Text<'a>) {
        let TextScratch { names, secret, hasher, plain, .. } = &mut *self.scratch;
        let name = name.plain(plain);
        let key = TextKey::of(name);
        // A key that does not hold the whole name says too little of it.
        let hash = if key.is_whole() { key.mix(*secret) } else { hasher.hash_one(name) };
        names.push((object, hash));
    }

    /// Moves a cursor on: from the value that starts at `value` (0 before the first) to what stands behind it in the
    /// container, or over its bracket `close`, `None`. What is moved over is charged; the value itself is to whoever read it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // two cursors, each the heart of a sweep
    fn next_inside(&mut self, container: u32, value: u32, close: u8) -> Result<Option<usize>, Halt> {
        let bytes = self.bytes();
        let first = value == 0;
        let from = if first { container as usize + 1 } else { self.end_of(value)? as usize };
        let after = json::skip_space(bytes, from);
        let next = match bytes.get(after) {
            Some(byte) if *byte == close => {
                self.charge(after - from)?;
                self.walked = (container, after as u32 + 1);
                return Ok(None);
            }
            Some(b',') if !first => json::skip_space(bytes, after + 1),
            Some(_) if first => after,
            _ => return Err(Halt::Unreadable),
        };
        self.charge(next - from)?;
        Ok(Some(next))
    }

    /// Ends an object: its names are distinct, or the tape must look.
    fn close_names(&mut self, from: u32) -> Result<(), Halt> {
        let names = &mut self.scratch.names[from as usize..];
        let repeated = if names.len() <= SMALL_OBJECT {
            names.iter().enumerate().any(|(at, name)| names[..at].iter().any(|other| other.1 == name.1))
        } else {
            names.sort_unstable_by_key(|name| name.1);
            names.windows(2).any(|pair| pair[0].1 == pair[1].1)
        };
        self.scratch.names.truncate(from as usize);
        if repeated { Err(Halt::Unreadable) } else { Ok(()) }
    }
}

/// Objects up to this size have their hashes compared pair by pair. Unit: members.
const SMALL_OBJECT: usize = 16;

fn word(bytes: &[u8], at: usize, word: &'static str) -> Result<usize, Halt> {
    json::scan_word(bytes, at, word).map_err(|_| Halt::Unreadable)
}

impl<'a> Instance<'a> for JsonText<'a, '_> {
    type Node = u32;
    type Members = TextMembers;
    type Elements = TextElements;

    fn root(&self) -> u32 {
        json::skip_space(self.bytes(), 0) as u32
    }

    fn identity(&self, node: u32) -> Option<u64> {
        Some(node.into())
    }

    #[inline]
    fn view(&mut self, node: u32) -> Result<View<'a>, Halt> {
        match self.bytes().get(node as usize) {
            Some(b'{') => Ok(View::Object),
            Some(b'[') => Ok(View::Array),
            _ if self.viewed.0 == node => Ok(self.viewed.1),
            _ => {
                let (view, end) = self.scalar(node as usize)?;
                self.viewed = (node, view);
                self.charge(end - node as usize)?;
                self.walked = (node, end as u32);
                Ok(view)
            }
        }
    }

    #[inline]
    fn types(&mut self, node: u32) -> Result<Types, Halt> {
        let kind = self.kind(node)?;
        if kind != Types::NUMBER {
            return Ok(kind);
        }
        Ok(match json::short_integer_end(self.bytes(), node as usize) {
            Some(end) => {
                self.walked = (node, end as u32);
                Types::WHOLE
            }
            None => self.view(node)?.types(),
        })
    }

    #[inline]
    fn kind(&mut self, node: u32) -> Result<Types, Halt> {
        // Where it ends, and whether it is well-formed, is for whoever passes over it to find.
        Ok(match self.bytes().get(node as usize) {
            Some(b'"') => Types::STRING,
            Some(b'{') => Types::OBJECT,
            Some(b'[') => Types::ARRAY,
            Some(b't' | b'f') => Types::BOOLEAN,
            Some(b'n') => Types::NULL,
            Some(b'-' | b'0'..=b'9') => Types::NUMBER,
            _ => return Err(Halt::Unreadable),
        })
    }

    #[inline]
    fn members(&mut self, node: u32) -> TextMembers {
        // Walks of this object, or of what is inside it, that were left early have left their names.
        while self.scratch.names.last().is_some_and(|(object, _)| *object >= node) {
            self.scratch.names.pop();
        }
        TextMembers { object: node, value: 0, names_from: self.scratch.names.len() as u32, noted: 0 }
    }

    fn next_member(&mut self, at: &mut TextMembers) -> Result<Option<Member<'a, u32>>, Halt> {
        let member = self.next_unnoted(at)?;
        if let Some(member) = &member {
            self.note_name(at, member.name)?;
        }
        Ok(member)
    }

    fn note_name(&mut self, at: &mut TextMembers, name: Text<'a>) -> Result<(), Halt> {
        self.note(at.object, name);
        at.noted += 1;
        Ok(())
    }

    #[inline]
    fn next_unnoted(&mut self, at: &mut TextMembers) -> Result<Option<Member<'a, u32>>, Halt> {
        // A walk that was left early inside this object leaves its names behind.
        self.scratch.names.truncate((at.names_from + at.noted) as usize);
        let Some(next) = self.next_inside(at.object, at.value, b'}')? else {
            if at.noted > 0 {
                self.close_names(at.names_from)?;
            }
            return Ok(None);
        };
        let (name, value) = self.name(next)?;
        self.charge(value - next)?;
        at.value = value as u32;
        Ok(Some(Member { name, name_node: next as u32, value: at.value }))
    }

    fn elements(&mut self, node: u32) -> TextElements {
        TextElements { array: node, value: 0, names_from: self.scratch.names.len() as u32 }
    }

    fn next_element(&mut self, at: &mut TextElements) -> Result<Option<u32>, Halt> {
        self.scratch.names.truncate(at.names_from as usize);
        let Some(next) = self.next_inside(at.array, at.value, b']')? else {
            return Ok(None);
        };
        at.value = next as u32;
        Ok(Some(at.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Skips the whole text from its root.
    #[track_caller]
    fn check(text: &str, readable: bool) {
        let mut scratch = TextScratch::default();
        let read = JsonText::new(text, &mut scratch, 4).finish();
        assert_eq!(read.is_ok(), readable, "{text}");
    }

    #[test]
    fn the_skip_checks() {
        check(r#" {"a": [1, {"b": null}], "c": "x"} "#, true);
        check(r#"{"a": 1, "a": 2}"#, false);
        check(r#"{"a": {"b": 1, "\u0062": 2}}"#, false);
        check(r#"{"a": {"b": 1}, "b": 2}"#, true);
        check("[1, 2", false);
        check("[1, 2]]", false);
        check("[01]", false);
        check("[[[[]]]]", true);
        check("[[[[[]]]]]", false);
        check("", false);
        check("[,]", false);
        check("{\"a\" 1}", false);
    }
}
