//! The value notation read back: the texts of notes are in it ([`crate::notation`]), and other texts show them as JSON.
//!
//! ```text
//! ['a', "it's", None, {'x': 1}]      elements: 'a'   "it's"   None   {'x': 1}
//! {'on': True}                       as JSON:  {"on": true}
//! ```
//!
//! Only what [`crate::notation`] and the renderer write is read; anything else is passed on as it is.

use std::fmt::{self, Write};
use std::str::Chars;

use crate::notation::{FALSE, NONE, TRUE};
use crate::shown::write_json_char;

/// The elements of a list in value notation, in order; none for any other text.
pub(crate) fn elements(list: &str) -> impl Iterator<Item = &str> {
    elements_inside(inside(list).unwrap_or_default())
}

/// What stands between the brackets of a list; none for any other text.
pub(crate) fn inside(list: &str) -> Option<&str> {
    list.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
}

/// The elements of a list without its brackets, in order.
pub(crate) fn elements_inside(inside: &str) -> impl Iterator<Item = &str> {
    let mut rest = inside;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([',', ' ']);
        let (element, after) = rest.split_at(element_bytes(rest));
        rest = after;
        (!element.is_empty()).then_some(element)
    })
}

/// Where the first element ends: at a comma outside strings and brackets.
fn element_bytes(text: &str) -> usize {
    let (mut depth, mut quote, mut escaped) = (0_u32, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if byte == open => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'[' | b'{') => depth += 1,
            (None, b']' | b'}') => depth = depth.saturating_sub(1),
            (None, b',') if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// The characters of a string literal; none for anything else.
pub(crate) fn string_chars(literal: &str) -> Option<impl Iterator<Item = char> + Clone> {
    let quote = literal.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inside = literal.get(1..literal.len().checked_sub(1)?)?;
    literal.ends_with(quote).then(|| Unescaped { rest: inside.chars() })
}

/// Writes a literal as JSON.
pub(crate) fn write_as_json(out: &mut dyn Write, literal: &str) -> fmt::Result {
    let mut rest = literal;
    while let Some(first) = rest.chars().next() {
        if matches!(first, '\'' | '"') {
            let end = element_bytes(rest).min(string_bytes(rest));
            let (string, after) = rest.split_at(end);
            out.write_char('"')?;
            string_chars(string).into_iter().flatten().try_for_each(|c| write_json_char(out, c))?;
            out.write_char('"')?;
            rest = after;
            continue;
        }
        let word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count().max(first.len_utf8());
        let (text, after) = rest.split_at(word);
        out.write_str(match text {
            NONE => "null",
            TRUE => "true",
            FALSE => "false",
            other => other,
        })?;
        rest = after;
    }
    Ok(())
}

/// Where a string literal ends, the closing quote included.
fn string_bytes(text: &str) -> usize {
    let mut escaped = false;
    let quote = text.bytes().next();
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if Some(byte) == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The characters between the quotes.
#[derive(Clone)]
struct Unescaped<'t> {
    rest: Chars<'t>,
}

impl Iterator for Unescaped<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let first = self.rest.next()?;
        if first != '\\' {
            return Some(first);
        }
        let digits = match self.rest.next()? {
            'n' => return Some('\n'),
            'r' => return Some('\r'),
            't' => return Some('\t'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            other => return Some(other),
        };
        let text = self.rest.as_str();
        let (hex, after) = text.split_at_checked(digits)?;
        self.rest = after.chars();
        u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_elements(list: &str, expected: &[&str]) {
        assert_eq!(elements(list).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lists_are_taken_apart() {
        check_elements("[]", &[]);
        check_elements("['a']", &["'a'"]);
        check_elements(
            r#"['a, b', "it's", None, {'x': [1, 2]}, -1.5]"#,
            &["'a, b'", r#""it's""#, "None", "{'x': [1, 2]}", "-1.5"],
        );
        check_elements(r"['\'', '\\', 'é']", &[r"'\''", r"'\\'", "'é'"]);
        check_elements("7", &[]);
    }

    #[track_caller]
    fn check_json(json: &str) {
        let mut buf = crate::tape::TapeBuf::new();
        let options = crate::tape::ReadOptions { depth_max: 9, bytes_max: 1000, strict: true };
        let tape = buf.read(json.as_bytes(), options).expect("reads");
        let mut literal = String::new();
        crate::render::write_value(&mut literal, tape, 0).expect("is written");
        let mut back = String::new();
        write_as_json(&mut back, &literal).expect("is written");
        assert_eq!(back, json, "{literal}");
    }

    #[test]
    fn json_comes_back() {
        check_json(r#"{"on": true, "off": false, "none": null}"#);
        check_json(r#"["it's", "say \"hi\"", "both ' and \"", "a\\b", "\u200b\n", "None", "日"]"#);
        check_json(r#"[1, -2.5, {}, [], ""]"#);
    }

    #[test]
    fn strings_have_characters() {
        let text = |literal| string_chars(literal).map(Iterator::collect::<String>);
        assert_eq!(text(r"'a\'\x07\u200b\U000e0001'"), Some("a'\u{7}\u{200b}\u{e0001}".to_owned()));
        assert_eq!(text("7"), None);
        assert_eq!(text("'"), None);
    }
}
