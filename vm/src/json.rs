//! Strict reading of JSON text: the pieces both readers share.
//!
//! [`crate::tape`] reads a whole text into entries; [`crate::json_text`] judges a text in place. What counts as
//! a well-formed string, number or literal is decided here, once. Strict means RFC 8259 with the choices that
//! it leaves open closed: no byte order mark, no duplicate names, no lone surrogates, no NaN, nothing after the
//! value.
//!
//! A duplicate name is found by the readers (they know the object); everything else here.

use std::fmt;

use crate::number::{MAX_DIGITS, MAX_EXPONENT};

/// Why a text is not JSON. Its `Display` is the REASON of the pinned line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What is wrong.
    pub reason: Reason,
    /// Where. Unit: bytes from the start of the text.
    pub at: usize,
}

/// The closed list of reasons for a text not to be JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is nothing but white space.
    Empty,
    /// The text ends inside a value.
    CutOff,
    /// A byte order mark stands before the value.
    ByteOrderMark,
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// No value starts with this character.
    ExpectedValue,
    /// `NaN`, `Infinity` or `-Infinity`.
    NotFinite,
    /// A member's name (a string) must stand here.
    ExpectedName,
    /// A colon must stand here.
    ExpectedColon,
    /// A comma or the closing bracket must stand here.
    ExpectedCommaOrEnd,
    /// Something follows the value.
    TrailingText,
    /// A control character inside a string must be escaped.
    ControlCharacter,
    /// No such escape.
    InvalidEscape,
    /// A `\u` escape of half a surrogate pair.
    LoneSurrogate,
    /// Not a number of JSON (a leading zero, no digit after the point).
    InvalidNumber,
    /// The name stands twice in one object.
    DuplicateName,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Empty => "no value",
            Reason::CutOff => "the text ends too early",
            Reason::ByteOrderMark => "byte order mark",
            Reason::InvalidUtf8 => "invalid UTF-8",
            Reason::ExpectedValue => "expected a value",
            Reason::NotFinite => "NaN and Infinity are not JSON",
            Reason::ExpectedName => "expected a member name in double quotes",
            Reason::ExpectedColon => "expected ':'",
            Reason::ExpectedCommaOrEnd => "expected ',' or the closing bracket",
            Reason::TrailingText => "text after the value",
            Reason::ControlCharacter => "control character in a string",
            Reason::InvalidEscape => "invalid escape",
            Reason::LoneSurrogate => "lone surrogate",
            Reason::InvalidNumber => "invalid number",
            Reason::DuplicateName => "duplicate member name",
        })
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.at)
    }
}

/// Checks that `bytes` are UTF-8 without a byte order mark.
pub fn utf8(bytes: &[u8]) -> Result<&str, Malformed> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.starts_with('\u{feff}') => malformed(Reason::ByteOrderMark, 0),
        Ok(text) => Ok(text),
        Err(error) => malformed(Reason::InvalidUtf8, error.valid_up_to()),
    }
}

pub(crate) fn malformed<T>(reason: Reason, at: usize) -> Result<T, Malformed> {
    Err(Malformed { reason, at })
}

/// The first offset at or after `at` that holds no white space.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], at: usize) -> usize {
    // Mostly there is none, or one.
    match bytes.get(at) {
        Some(byte) if *byte > b' ' => at,
        Some(b' ') if bytes.get(at + 1).is_some_and(|byte| *byte > b' ') => at + 1,
        _ => skip_more_space(bytes, at),
    }
}

#[cold]
#[inline(never)]
fn skip_more_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// A string as it was scanned: where the closing quote is, and whether escapes came before it.
pub(crate) struct ScannedString {
    pub(crate) close: usize,
    pub(crate) escaped: bool,
}

/// Scans a string whose opening quote is at `open`.
#[inline]
pub(crate) fn scan_string(bytes: &[u8], open: usize) -> Result<ScannedString, Malformed> {
    let close = skip_plain(bytes, open + 1);
    if bytes.get(close) == Some(&b'"') {
        return Ok(ScannedString { close, escaped: false });
    }
    scan_escaped_string(bytes, close)
}

/// Where a string ends, and whether it has escapes; `None` if it is malformed, which [`scan_string`] tells more of.
#[inline]
pub(crate) fn string_end(bytes: &[u8], open: usize) -> Option<ScannedString> {
    scan_string(bytes, open).ok()
}

/// Where an integer of at most 18 digits ends; `None` if it is anything else, which [`scan_number`] tells more of.
#[inline]
pub(crate) fn short_integer_end(bytes: &[u8], start: usize) -> Option<usize> {
    let whole = start + usize::from(bytes.get(start) == Some(&b'-'));
    let end = skip_digits(bytes, whole);
    let len = end - whole;
    let leading_zero = len > 1 && bytes[whole] == b'0';
    let goes_on = matches!(bytes.get(end), Some(b'.' | b'e' | b'E'));
    ((1..=18).contains(&len) && !leading_zero && !goes_on).then_some(end)
}

/// The rest of a string whose first special byte, at `at`, is not its end.
#[cold]
#[inline(never)]
fn scan_escaped_string(bytes: &[u8], mut at: usize) -> Result<ScannedString, Malformed> {
    let mut escaped = false;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(ScannedString { close: at, escaped }),
            Some(b'\\') => {
                escaped = true;
                at = skip_plain(bytes, scan_escape(bytes, at)?);
            }
            Some(_) => return malformed(Reason::ControlCharacter, at),
            None => return malformed(Reason::CutOff, bytes.len()),
        }
    }
}

/// The first offset at or after `at` of a byte that is not plain text of a string: a quote, a backslash or a control
/// character; or the end. Eight bytes at a time.
#[inline]
fn skip_plain(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let special = special_bytes(u64::from_le_bytes(*chunk));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b'"' | b'\\' | 0..=0x1f) {
            break;
        }
        at += 1;
    }
    at
}

/// The high bit of each byte that is special in a string. Exact up to the first of them, which is all that counts:
/// a borrow can only reach later bytes.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zeros(word ^ (ONES * 0x22));
    let backslashes = zeros(word ^ (ONES * 0x5c));
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | backslashes | controls) & HIGHS
}

/// Scans one escape (or surrogate pair of escapes); answers the offset after it.
fn scan_escape(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            let code = scan_hex4(bytes, at)?;
            if (0xdc00..0xe000).contains(&code) {
                return malformed(Reason::LoneSurrogate, at);
            }
            if !(0xd800..0xdc00).contains(&code) {
                return Ok(at + 6);
            }
            if bytes.get(at + 6..at + 8) != Some(b"\\u") {
                return malformed(Reason::LoneSurrogate, at);
            }
            let low = scan_hex4(bytes, at + 6)?;
            if (0xdc00..0xe000).contains(&low) { Ok(at + 12) } else { malformed(Reason::LoneSurrogate, at) }
        }
        Some(_) => malformed(Reason::InvalidEscape, at),
        None => malformed(Reason::CutOff, bytes.len()),
    }
}

/// The value of the four hex digits of the `\u` escape at `at`.
fn scan_hex4(bytes: &[u8], at: usize) -> Result<u32, Malformed> {
    let mut code = 0;
    for offset in 2..6 {
        let Some(&byte) = bytes.get(at + offset) else {
            return malformed(Reason::CutOff, bytes.len());
        };
        let Some(digit) = (byte as char).to_digit(16) else {
            return malformed(Reason::InvalidEscape, at);
        };
        code = code * 16 + digit;
    }
    Ok(code)
}

/// A number as it was scanned.
pub(crate) struct ScannedNumber {
    pub(crate) end: usize,
    /// Within the bounds on digits and exponent; beyond them the gate declines to decide.
    pub(crate) bounded: bool,
}

/// Scans a number that starts at `start` with `-` or a digit.
#[inline]
pub(crate) fn scan_number(bytes: &[u8], start: usize) -> Result<ScannedNumber, Malformed> {
    let mut at = start;
    if bytes.get(at) == Some(&b'-') {
        at += 1;
        if bytes.get(at) == Some(&b'I') {
            return malformed(Reason::NotFinite, start);
        }
    }
    let whole = at;
    at = skip_digits(bytes, at);
    if at == whole || (bytes[whole] == b'0' && at - whole > 1) {
        return broken_number(bytes, if at == whole { at } else { start });
    }
    let mut point = 0;
    if bytes.get(at) == Some(&b'.') {
        point = 1;
        let from = at + 1;
        at = skip_digits(bytes, from);
        if at == from {
            return broken_number(bytes, at);
        }
    }
    let digits = at - whole - point;
    let mut bounded = digits <= MAX_DIGITS;
    if let Some(b'e' | b'E') = bytes.get(at) {
        let mut from = at + 1;
        if let Some(b'+' | b'-') = bytes.get(from) {
            from += 1;
        }
        at = skip_digits(bytes, from);
        if at == from {
            return broken_number(bytes, at);
        }
        bounded &= at - from <= MAX_DIGITS && exponent_in_bounds(&bytes[from..at]);
    }
    Ok(ScannedNumber { end: at, bounded })
}

fn broken_number<T>(bytes: &[u8], at: usize) -> Result<T, Malformed> {
    malformed(if at >= bytes.len() { Reason::CutOff } else { Reason::InvalidNumber }, at)
}

#[inline]
fn skip_digits(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

fn exponent_in_bounds(digits: &[u8]) -> bool {
    let value =
        digits.iter().fold(0_i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    value <= MAX_EXPONENT
}

/// Scans `true`, `false` or `null` at `at`; answers the offset after it.
pub(crate) fn scan_word(bytes: &[u8], at: usize, word: &'static str) -> Result<usize, Malformed> {
    let end = at + word.len();
    match bytes.get(at..end) {
        Some(found) if found == word.as_bytes() => Ok(end),
        None if word.as_bytes().starts_with(&bytes[at..]) => malformed(Reason::CutOff, bytes.len()),
        _ => malformed(Reason::ExpectedValue, at),
    }
}

/// The error for a byte that starts no value.
pub(crate) fn no_value<T>(bytes: &[u8], at: usize) -> Result<T, Malformed> {
    match bytes.get(at) {
        None => malformed(Reason::CutOff, bytes.len()),
        Some(b'N' | b'I') => malformed(Reason::NotFinite, at),
        Some(_) => malformed(Reason::ExpectedValue, at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_number(text: &str, expected: Result<usize, Reason>) {
        let got = scan_number(text.as_bytes(), 0);
        assert_eq!(got.map(|n| n.end).map_err(|m| m.reason), expected, "{text}");
    }

    #[test]
    fn numbers() {
        check_number("0", Ok(1));
        check_number("-12,", Ok(3));
        check_number("1.50e-3]", Ok(7));
        check_number("01", Err(Reason::InvalidNumber));
        check_number("1.", Err(Reason::CutOff));
        check_number("1.x", Err(Reason::InvalidNumber));
        check_number("-", Err(Reason::CutOff));
        check_number("-Infinity", Err(Reason::NotFinite));
        check_number("1e", Err(Reason::CutOff));
    }

    #[track_caller]
    fn check_string(text: &str, expected: Result<usize, Reason>) {
        let got = scan_string(text.as_bytes(), 0);
        assert_eq!(got.map(|s| s.close).map_err(|m| m.reason), expected, "{text}");
    }

    #[test]
    fn strings() {
        check_string(r#""a\"b""#, Ok(5));
        check_string(r#""\ud83d\udc32""#, Ok(13));
        check_string(r#""\ud83d""#, Err(Reason::LoneSurrogate));
        check_string(r#""\udc32""#, Err(Reason::LoneSurrogate));
        check_string(r#""\x""#, Err(Reason::InvalidEscape));
        check_string("\"\n\"", Err(Reason::ControlCharacter));
        check_string("\"abc", Err(Reason::CutOff));
    }
}
