//! Text of an instance: a string of a JSON text still in its escaped spelling, or plain.
//!
//! `"caf\u00e9"` is held as the slice between the quotes and a flag that says it holds escapes; it is compared,
//! counted and printed without being copied. Only the pattern engines and the formats need it whole
//! ([`Text::plain`]).

use std::cmp::Ordering;
use std::fmt;

/// A string instance or a member's name.
///
/// Shape: `raw` is the text between the quotes. Invariant: with `escaped`, every escape in it is well formed
/// (the readers check); without, it is the text itself.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// A text without escapes.
    pub fn plain_text(text: &'a str) -> Self {
        Text { raw: text, escaped: false }
    }

    /// The inside of a JSON string whose escapes have been checked.
    pub(crate) fn escaped_text(raw: &'a str, escaped: bool) -> Self {
        Text { raw, escaped }
    }

    /// The characters. Cost: one step each, no allocation.
    pub fn chars(self) -> Chars<'a> {
        Chars { rest: self.raw.chars(), escaped: self.escaped }
    }

    /// The text itself where it holds no escapes.
    pub fn as_plain(self) -> Option<&'a str> {
        (!self.escaped).then_some(self.raw)
    }

    /// Bytes of the spelling: an upper bound of the text's own.
    pub fn raw_bytes(self) -> usize {
        self.raw.len()
    }

    /// Length. Unit: Unicode code points. Source: JSON Schema Validation 2020-12, 6.3.1.
    pub fn char_len(self) -> usize {
        if self.escaped { self.chars().count() } else { self.raw.chars().count() }
    }

    /// No more and no fewer characters than these. Cost: constant.
    pub(crate) fn char_len_bounds(self) -> (usize, usize) {
        // A character takes at most four bytes, or a pair of escapes.
        (self.raw.len().div_ceil(if self.escaped { 12 } else { 4 }), self.raw.len())
    }

    /// Whether the text is `other`, code point by code point.
    #[inline]
    pub fn is(self, other: &str) -> bool {
        if self.escaped { self.chars().eq(other.chars()) } else { self.raw == other }
    }

    /// Writes the characters, each run without escapes in one piece. Errors: only those of `out`.
    pub fn write(self, out: &mut impl fmt::Write) -> fmt::Result {
        let mut rest = self.chars();
        while let Some(at) = rest.rest.as_str().find('\\').filter(|_| self.escaped) {
            let (run, escape) = rest.rest.as_str().split_at(at);
            out.write_str(run)?;
            rest.rest = escape.chars();
            rest.next().map_or(Ok(()), |c| out.write_char(c))?;
        }
        out.write_str(rest.rest.as_str())
    }

    /// The text in one piece, decoded into `buffer` if it holds escapes. Allocates only if `buffer` must grow.
    pub fn plain<'b>(self, buffer: &'b mut String) -> &'b str
    where
        'a: 'b,
    {
        if !self.escaped {
            return self.raw;
        }
        buffer.clear();
        let written = self.write(buffer);
        debug_assert!(written.is_ok());
        buffer
    }

    /// Order by code point.
    pub fn compare(self, other: Text<'_>) -> Ordering {
        match (self.escaped, other.escaped) {
            (false, false) => self.raw.cmp(other.raw),
            _ => self.chars().cmp(other.chars()),
        }
    }

    /// Feeds the characters' UTF-8 bytes to `state`: equal texts hash equally, whatever their spelling.
    pub fn hash_into<H: std::hash::Hasher>(self, state: &mut H) {
        if self.escaped {
            let mut utf8 = [0; 4];
            // In pieces of 16 bytes, as `write` of a whole slice would not equal many small ones otherwise.
            let mut piece = Pieces::default();
            for c in self.chars() {
                for &byte in c.encode_utf8(&mut utf8).as_bytes() {
                    piece.push(byte, state);
                }
            }
            piece.finish(state);
        } else {
            let mut chunks = self.raw.as_bytes().chunks_exact(16);
            for chunk in &mut chunks {
                state.write(chunk);
            }
            state.write(chunks.remainder());
            state.write_u8(0xff);
        }
    }
}

/// Gathers bytes into the pieces that [`Text::hash_into`] writes.
#[derive(Default)]
struct Pieces {
    bytes: [u8; 16],
    len: usize,
}

impl Pieces {
    fn push<H: std::hash::Hasher>(&mut self, byte: u8, state: &mut H) {
        self.bytes[self.len] = byte;
        self.len += 1;
        if self.len == self.bytes.len() {
            state.write(&self.bytes);
            self.len = 0;
        }
    }

    fn finish<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write(&self.bytes[..self.len]);
        state.write_u8(0xff);
    }
}

/// The characters of a [`Text`], escapes resolved.
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    rest: std::str::Chars<'a>,
    escaped: bool,
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c != '\\' || !self.escaped {
            return Some(c);
        }
        Some(match self.rest.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => self.unicode_escape(),
            other => other,
        })
    }
}

impl Chars<'_> {
    fn unicode_escape(&mut self) -> char {
        let high = self.hex4();
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
        // The readers let only whole pairs through: `\u` and a low surrogate follow.
        self.rest.next();
        self.rest.next();
        let low = self.hex4();
        let code = 0x1_0000 + ((high - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&mut self) -> u32 {
        (0..4).fold(0, |value, _| value * 16 + self.rest.next().and_then(|c| c.to_digit(16)).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hasher;

    #[track_caller]
    fn check(raw: &str, expected: &str) {
        let text = Text::escaped_text(raw, raw.contains('\\'));
        assert_eq!(text.chars().collect::<String>(), expected);
        assert_eq!(text.plain(&mut String::from("before")), expected);
        assert!(text.is(expected));
        assert_eq!(text.char_len(), expected.chars().count());
        let hash = |text: Text<'_>| {
            let mut state = std::hash::DefaultHasher::new();
            text.hash_into(&mut state);
            state.finish()
        };
        assert_eq!(hash(text), hash(Text::plain_text(expected)));
    }

    #[test]
    fn escapes_are_resolved() {
        check("abc", "abc");
        check(r"a\n\t\\\/\u0041", "a\n\t\\/A");
        check(r"\ud83d\udc32 dragon, and more than sixteen bytes", "\u{1f432} dragon, and more than sixteen bytes");
    }

    #[test]
    fn order_is_by_code_point() {
        let escaped = Text::escaped_text(r"\ud83d\udc32", true);
        assert_eq!(Text::plain_text("\u{ffff}").compare(escaped), Ordering::Less);
    }
}
