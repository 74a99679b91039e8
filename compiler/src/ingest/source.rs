//! The text of a catalog as one JSON text: as it is, or its rows put into a list.
//!
//! ```text
//! {"name": "a"}\n{"name": "b"}\n   ->   [{"name": "a"},{"name": "b"} ]
//! ```
//!
//! Rows are put into a list byte by byte, so that a place in the one is a place in the other, one byte on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use callgate_vm::json::{self, Malformed, Reason};
use callgate_vm::tape::{ReadError, TapeBuf};

use crate::document::SCHEMA_READ;
use crate::finding::{Finding, FindingKind};

/// Rows of a broken text that are looked at to find out whether it has rows at all.
const ROWS_TRIED: usize = 16;

/// A catalog's text, made one JSON text.
pub(crate) struct Source<'t> {
    pub(crate) text: Cow<'t, str>,
    /// How much further everything lies than in the text as it was given. Unit: bytes.
    pub(crate) shift: usize,
    /// What is wrong with rows that are not JSON, by where they start in `text`; a number stands there instead.
    pub(crate) broken: BTreeMap<usize, String>,
}

impl<'t> Source<'t> {
    /// Reads the text into `buf`, by rows if it has some. Errors: it is not JSON, and has no rows that are.
    pub(crate) fn read(bytes: &'t [u8], buf: &mut TapeBuf) -> Result<Source<'t>, Finding> {
        if bytes.trim_ascii().is_empty() {
            return Err(unreadable("not JSON: the text is empty", 0));
        }
        if is_utf16(bytes) {
            return Err(unreadable("not JSON: the text is UTF-16, and must be UTF-8", 0));
        }
        let text = json::utf8(bytes).map_err(refusal)?;
        let whole = buf.read_text(text, SCHEMA_READ).err();
        match whole {
            None => Ok(Source { text: text.into(), shift: 0, broken: BTreeMap::new() }),
            Some(ReadError::Malformed(malformed)) if malformed.reason != Reason::Empty && has_rows(text, buf) => {
                let rows = Self::of_rows(text, buf);
                buf.read_text(&rows.text, SCHEMA_READ).map_err(refusal)?;
                Ok(rows)
            }
            Some(error) => Err(refusal(error)),
        }
    }

    fn of_rows(text: &str, buf: &mut TapeBuf) -> Source<'static> {
        let mut list = String::with_capacity(text.len() + 2);
        let mut broken = BTreeMap::new();
        list.push('[');
        let mut is_first = true;
        for (at, row) in text.split('\n').enumerate() {
            let is_blank = row.trim_ascii().is_empty();
            if at > 0 {
                list.push(if is_first || is_blank { ' ' } else { ',' });
            }
            is_first &= is_blank;
            match buf.read_text(row, SCHEMA_READ) {
                Err(error) if !is_blank => {
                    broken.insert(list.len(), format!("line {}: {error}", at + 1));
                    list.push('0');
                    list.extend(std::iter::repeat_n(' ', row.len() - 1));
                }
                _ => list.push_str(row),
            }
        }
        list.push(']');
        Source { text: list.into(), shift: 1, broken }
    }
}

/// Whether there are several rows, at least half of the first ones objects by themselves.
fn has_rows(text: &str, buf: &mut TapeBuf) -> bool {
    let rows = text.split('\n').map(str::trim_ascii).filter(|row| !row.is_empty()).take(ROWS_TRIED);
    let rows: Vec<bool> = rows.map(|row| row.starts_with('{') && buf.read_text(row, SCHEMA_READ).is_ok()).collect();
    // A list that is broken somewhere has its brackets on rows of their own.
    rows.len() > 1
        && !text.trim_ascii_start().starts_with('[')
        && rows.iter().filter(|is_object| **is_object).count() * 2 >= rows.len()
}

/// A byte order mark of UTF-16, or every other one of the first bytes a zero.
fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [first, second, third, fourth, ..] => (*first == 0 && *third == 0) != (*second == 0 && *fourth == 0),
        _ => false,
    }
}

fn unreadable(detail: &str, at: usize) -> Finding {
    Finding { span: Some(at..at), ..Finding::new(FindingKind::Unreadable, "", detail) }
}

fn refusal(error: impl Into<ReadError>) -> Finding {
    match error.into() {
        error @ ReadError::Malformed(Malformed { at, .. }) => unreadable(&error.to_string(), at),
        ReadError::Fault(code) => unreadable(&format!("beyond what is read: {}", code.as_str()), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut buf = TapeBuf::new();
        let read = match Source::read(text.as_bytes(), &mut buf) {
            Ok(source) => format!("{} {:?}", source.text, source.broken),
            Err(finding) => finding.detail,
        };
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn rows_become_a_list() {
        check("{\"a\":1}\n{\"b\":2}\n", "[{\"a\":1},{\"b\":2} ] {}");
        check("\n{\"a\":1}\r\n\r\n[2]", "[ {\"a\":1}\r \r,[2]] {}");
        check(
            "{\"a\":1}\nnope\n{\"b\":3}",
            "[{\"a\":1},0   ,{\"b\":3}] {9: \"line 2: not JSON: expected a value at byte 0\"}",
        );
    }

    #[test]
    fn other_texts_have_no_rows() {
        check("{\"a\":1}", "{\"a\":1} {}");
        check("{\"a\":1", "not JSON: the text ends too early at byte 6");
        check("[\n{\"a\":1}\n{\"b\":2}\n]", "not JSON: expected ',' or the closing bracket at byte 10");
        check("[\n{}\n,]", "not JSON: expected a value at byte 6");
        check(" \n ", "not JSON: the text is empty");
        check("[\0{\0", "not JSON: the text is UTF-16, and must be UTF-8");
    }
}
