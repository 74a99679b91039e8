//! Values and names as texts for models show them: as JSON, cut, or masked.
//!
//! ```text
//! plain    string "x"                  'querry'           at most a stated number of bytes, then …
//! masked   string of 1 character       (6 characters)     nothing of the instance's own text
//! ```
//!
//! The pinned line has a notation of its own ([`crate::notation`]); what masking leaves of a value there is here too, so
//! that what may be shown is decided in one place.

use std::fmt::{self, Write};

use crate::instance::View;
use crate::nonprintable::is_printable;
use crate::tape::{Node, Tape};
use crate::text::Text;

/// A writer that stops once it has passed on so many bytes.
pub(crate) struct Clip<'w> {
    out: &'w mut dyn Write,
    left: usize,
    is_full: bool,
}

/// Digits that are taken for a number, which is not cut.
const DIGITS_MAX: usize = 20;

/// Has `write` write at most `bytes_max` bytes, cut on a character boundary; then `…` if there was more. Writing ends with
/// an error inside once it is cut, so that nothing is written in vain.
pub(crate) fn clipped(
    out: &mut dyn Write,
    bytes_max: usize,
    write: impl FnOnce(&mut Clip<'_>) -> fmt::Result,
) -> Result<bool, fmt::Error> {
    let mut clip = Clip { out, left: bytes_max, is_full: false };
    let written = write(&mut clip);
    if clip.is_full {
        clip.out.write_char('…')?;
        return Ok(true);
    }
    written.map(|()| false)
}

impl Write for Clip<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Some(left) = self.left.checked_sub(text.len()).filter(|_| !self.is_full) {
            self.left = left;
            return self.out.write_str(text);
        }
        if !self.is_full {
            self.is_full = true;
            let end = (0..=self.left).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            // Half a number is another one.
            let digits = text.as_bytes()[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let is_inside = digits <= DIGITS_MAX && text.as_bytes().get(end).is_some_and(u8::is_ascii_digit);
            let end = if is_inside { end - digits } else { end };
            self.out.write_str(text.get(..end).unwrap_or_default())?;
        }
        Err(fmt::Error)
    }
}

/// The type of a value, in a word. A number that is not written as an integer is called a number.
pub(crate) fn type_word(view: View<'_>) -> &'static str {
    match view {
        View::Null => "null",
        View::Bool(_) => "boolean",
        View::Number(number) if number.is_integer_literal() => "integer",
        View::Number(_) => "number",
        View::String(_) => "string",
        View::Array => "array",
        View::Object => "object",
        View::NotJson(_) => "something that JSON does not have",
    }
}

/// Writes a value as JSON. Recursion is bounded by the depth a tape can have.
pub(crate) fn write_json(out: &mut dyn Write, tape: Tape<'_>, node: Node) -> fmt::Result {
    match tape.view_node(node) {
        View::Null => out.write_str("null"),
        View::Bool(yes) => out.write_str(if yes { "true" } else { "false" }),
        View::Number(_) => out.write_str(tape.slice(node)),
        View::String(text) => write_json_text(out, text.chars()),
        View::NotJson(name) => write!(out, "<{name}>"),
        View::Array => {
            out.write_char('[')?;
            for (at, element) in tape.element_nodes(node).enumerate() {
                out.write_str(if at > 0 { ", " } else { "" })?;
                write_json(out, tape, element)?;
            }
            out.write_char(']')
        }
        View::Object => {
            out.write_char('{')?;
            for (at, (name, value)) in tape.member_nodes(node).enumerate() {
                out.write_str(if at > 0 { ", " } else { "" })?;
                write_json_text(out, tape.text(name).chars())?;
                out.write_str(": ")?;
                write_json(out, tape, value)?;
            }
            out.write_char('}')
        }
    }
}

/// Writes a JSON string literal. What does not print is escaped.
pub(crate) fn write_json_text(out: &mut dyn Write, chars: impl Iterator<Item = char>) -> fmt::Result {
    out.write_char('"')?;
    for c in chars {
        write_json_char(out, c)?;
    }
    out.write_char('"')
}

pub(crate) fn write_json_char(out: &mut dyn Write, c: char) -> fmt::Result {
    match c {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        c if is_printable(c) => out.write_char(c),
        c => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}")),
    }
}

/// Writes text on one line: runs of white space and what does not print become one space each. Ends without a space.
pub(crate) fn write_one_line(out: &mut dyn Write, text: &str) -> fmt::Result {
    let mut words = text.split(|c: char| c.is_whitespace() || !is_printable(c)).filter(|word| !word.is_empty());
    words.next().map_or(Ok(()), |word| out.write_str(word))?;
    words.try_for_each(|word| {
        out.write_char(' ')?;
        out.write_str(word)
    })
}

/// Writes characters that are part of a name: what does not print is escaped as in JSON.
pub(crate) fn write_name_chars(out: &mut dyn Write, mut chars: impl Iterator<Item = char>) -> fmt::Result {
    chars.try_for_each(|c| if c == '"' || c == '\\' { out.write_char(c) } else { write_json_char(out, c) })
}

/// Writes `1 item`, `2 items`.
pub(crate) fn write_count(out: &mut dyn Write, count: u64, one: &str) -> fmt::Result {
    write!(out, "{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Writes what stands for a masked value: its type, and how much there is of it.
pub(crate) fn write_masked(out: &mut dyn Write, tape: Tape<'_>, node: Node) -> fmt::Result {
    let view = tape.view_node(node);
    let word = type_word(view);
    let len = u64::from(tape.entry(node).len);
    match view {
        View::String(text) => write_masked_text(out, word, text),
        View::Array => {
            write!(out, "{word} of ")?;
            write_count(out, len, "item")
        }
        View::Object => {
            write!(out, "{word} of ")?;
            write_count(out, len, "member")
        }
        _ => out.write_str(word),
    }
}

/// Writes what stands for a masked text.
pub(crate) fn write_masked_text(out: &mut dyn Write, word: &str, text: Text<'_>) -> fmt::Result {
    write!(out, "{word} of ")?;
    write_count(out, text.char_len() as u64, "character")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, plain: &str, masked: &str) {
        let mut buf = crate::tape::TapeBuf::new();
        let options = crate::tape::ReadOptions { depth_max: 9, bytes_max: 1000, strict: true };
        let tape = buf.read(json.as_bytes(), options).expect("reads");
        let (mut as_plain, mut as_masked) = (String::new(), String::new());
        clipped(&mut as_plain, 20, |out| write_json(out, tape, 0)).expect("is written");
        write_masked(&mut as_masked, tape, 0).expect("is written");
        assert_eq!((as_plain.as_str(), as_masked.as_str()), (plain, masked));
    }

    #[test]
    fn values() {
        check("null", "null", "null");
        check("true", "true", "boolean");
        check("1.50", "1.50", "number");
        check("7", "7", "integer");
        check(r#""a\"\n\u0007é""#, r#""a\"\n\u0007é""#, "string of 5 characters");
        check(r#"[1, "x"]"#, r#"[1, "x"]"#, "array of 2 items");
        check(r#"{"a": {}}"#, r#"{"a": {}}"#, "object of 1 member");
        check(r#""0123456789012345678é""#, r#""0123456789012345678…"#, "string of 20 characters");
        check(r#""012345678901234567é""#, r#""012345678901234567…"#, "string of 19 characters");
    }

    #[test]
    fn one_line() {
        let mut text = String::new();
        write_one_line(&mut text, " a\n\n b\u{0}c ").expect("is written");
        assert_eq!(text, "a b c");
    }
}
