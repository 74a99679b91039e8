//! The value notation of error text: JSON values are shown as Python literals.
//!
//! ```text
//! JSON            notation
//! null            None
//! true            True
//! "abc"           'abc'
//! "it's"          "it's"
//! "say \"hi\""    'say "hi"'
//! "a\tb\u200b"    'a\tb\u200b'
//! ```
//!
//! Here are the scalar words and the strings. Numbers are written by `Number::write`; the brackets,
//! commas and key order of arrays and objects are the renderer's, and so is any cut. No character
//! is ever left out here.
//!
//! Source: the Python language reference, "String and Bytes literals"; `repr` of Python 3.11.

use std::fmt;

use crate::nonprintable::is_printable;

/// JSON's `null`.
pub const NONE: &str = "None";
/// JSON's `true`.
pub const TRUE: &str = "True";
/// JSON's `false`.
pub const FALSE: &str = "False";

/// Writes the characters as a Python string literal, quotes included.
///
/// Single quotes, unless the text has a `'` and no `"`: then double quotes. A backslash and the
/// quote in use are escaped by a backslash; tab, line feed and carriage return are `\t`, `\n`, `\r`;
/// any other character that is not printable is `\xNN` below U+0100, `\uNNNN` below U+10000 and
/// `\UNNNNNNNN` from there, in lower-case hex.
///
/// Shape: `chars` is walked twice, first to choose the quotes. Errors: only those of `out`. Cost:
/// two passes, one call of `out` a character; no allocation. [`write_plain_str`] is faster for text
/// that lies in one piece.
pub fn write_str<I>(out: &mut (impl fmt::Write + ?Sized), chars: I) -> fmt::Result
where
    I: Iterator<Item = char> + Clone,
{
    let quote = quote_for(chars.clone());
    out.write_char(quote)?;
    for c in chars {
        if is_raw(c, quote) {
            out.write_char(c)?;
        } else {
            write_escape(out, c)?;
        }
    }
    out.write_char(quote)
}

/// Writes `text` as [`write_str`] writes its characters, with each run that needs no escape in one
/// piece.
///
/// Errors: only those of `out`. Cost: two passes, one call of `out` a run or escape; no allocation.
pub fn write_plain_str(out: &mut (impl fmt::Write + ?Sized), text: &str) -> fmt::Result {
    let special = |byte| !matches!(byte, b' '..=b'&' | b'('..=b'[' | b']'..=b'~');
    // Without an early end: many bytes at once.
    if text.bytes().fold(0, |found, byte| found | u8::from(special(byte))) == 0 {
        out.write_str("'")?;
        out.write_str(text)?;
        return out.write_str("'");
    }
    let quote = quote_for(text.chars());
    out.write_char(quote)?;
    let mut rest = text;
    while let Some((run, c, tail)) = split_at_escape(rest, quote) {
        out.write_str(run)?;
        write_escape(out, c)?;
        rest = tail;
    }
    out.write_str(rest)?;
    out.write_char(quote)
}

fn quote_for(chars: impl Iterator<Item = char>) -> char {
    let mut quote = '\'';
    for c in chars {
        match c {
            '"' => return '\'',
            '\'' => quote = '"',
            _ => {}
        }
    }
    quote
}

/// The other quote needs no test: within double quotes the text has none, within single quotes it
/// is raw.
fn is_raw(c: char, quote: char) -> bool {
    c != quote && c != '\\' && is_printable(c)
}

/// The run before the first character of `text` that needs an escape, that character, and the rest.
fn split_at_escape(text: &str, quote: char) -> Option<(&str, char, &str)> {
    let (run, tail) = text.split_at(text.find(|c| !is_raw(c, quote))?);
    let mut chars = tail.chars();
    let c = chars.next()?;
    Some((run, c, chars.as_str()))
}

fn write_escape(out: &mut (impl fmt::Write + ?Sized), c: char) -> fmt::Result {
    match c {
        '\t' => out.write_str("\\t"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\\' => out.write_str("\\\\"),
        '\'' => out.write_str("\\'"),
        '\0'..='\u{ff}' => write!(out, "\\x{:02x}", u32::from(c)),
        '\u{100}'..='\u{ffff}' => write!(out, "\\u{:04x}", u32::from(c)),
        _ => write!(out, "\\U{:08x}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::{write_plain_str, write_str};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut by_char = String::new();
        write_str(&mut by_char, text.chars()).unwrap();
        assert_eq!(by_char, expected);
        let mut by_run = String::new();
        write_plain_str(&mut by_run, text).unwrap();
        assert_eq!(by_run, expected);
    }

    #[test]
    fn plain_text_is_quoted() {
        check("", "''");
        check("abc", "'abc'");
        check("é ñ 日本 👍", "'é ñ 日本 👍'");
    }

    #[test]
    fn quotes_are_chosen_to_need_no_escape() {
        check("it's", "\"it's\"");
        check("say \"hi\"", "'say \"hi\"'");
        check("both ' and \"", "'both \\' and \"'");
        check("'", "\"'\"");
        check("\"'", "'\"\\''");
    }

    #[test]
    fn backslash_and_line_controls_are_short() {
        check("back\\slash", "'back\\\\slash'");
        check("a\tb\nc\r", "'a\\tb\\nc\\r'");
        check("'\\", "\"'\\\\\"");
    }

    #[test]
    fn nonprintable_characters_are_hex_of_their_width() {
        check("\0\u{1f}\u{7f}", "'\\x00\\x1f\\x7f'");
        check("\u{80}\u{a0}\u{ad}\u{ff}", "'\\x80\\xa0\\xadÿ'");
        check("\u{378}\u{200b}\u{2028}\u{feff}\u{ffff}", "'\\u0378\\u200b\\u2028\\ufeff\\uffff'");
        check("\u{1fffe}\u{e0001}\u{10ffff}", "'\\U0001fffe\\U000e0001\\U0010ffff'");
    }

    #[test]
    fn runs_around_escapes_are_whole() {
        check("\nab\n\ncd", "'\\nab\\n\\ncd'");
        check("ab\n", "'ab\\n'");
    }

    #[test]
    fn errors_of_the_writer_are_handed_on() {
        struct Full;
        impl fmt::Write for Full {
            fn write_str(&mut self, _: &str) -> fmt::Result {
                Err(fmt::Error)
            }
        }
        assert!(write_str(&mut Full, "a".chars()).is_err());
        assert!(write_plain_str(&mut Full, "a").is_err());
    }

    #[test]
    fn unsized_writers_will_do() {
        let mut text = String::new();
        let out: &mut dyn fmt::Write = &mut text;
        write_plain_str(out, "a\0").unwrap();
        assert_eq!(text, "'a\\x00'");
    }
}
