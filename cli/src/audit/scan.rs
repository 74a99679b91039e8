//! Where values of JSON text end, and what strings say.
//!
//! Bytes are looked at, eight at a time inside strings, and nothing is built. What is taken is JSON (RFC 8259), and nothing that
//! `serde_json` does not take. No error is worded: what is wrong, and what is nested too deep, is answered with `None`.

/// Containers inside each other that a value may have. Unit: bits of [`Open`].
const LEVELS_MAX: u32 = u64::BITS;

/// The offset after the value that starts at `at`.
pub fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut open = Open::default();
    loop {
        // A value starts here.
        at = match bytes.get(at)? {
            b'"' => string_end(bytes, at)?,
            b'{' => {
                let inside = skip_space(bytes, at + 1);
                if bytes.get(inside) != Some(&b'}') {
                    open.push(true)?;
                    at = after_colon(bytes, string_end(bytes, inside)?)?;
                    continue;
                }
                inside + 1
            }
            b'[' => {
                let inside = skip_space(bytes, at + 1);
                if bytes.get(inside) != Some(&b']') {
                    open.push(false)?;
                    at = inside;
                    continue;
                }
                inside + 1
            }
            b't' => word_end(bytes, at, b"true")?,
            b'f' => word_end(bytes, at, b"false")?,
            b'n' => word_end(bytes, at, b"null")?,
            _ => number_end(bytes, at)?,
        };
        at = next_value(bytes, at, &mut open)?;
        if open.levels == 0 {
            return Some(at);
        }
    }
}

/// The name that starts at `at`, if it has no escapes: it is compared as it stands.
#[inline]
pub fn plain_name(text: &str, at: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let close = skip_plain(bytes, at + 1);
    if *bytes.get(close)? == b'"' { text.get(at + 1..close) } else { None }
}

/// Where the value starts whose name ends at `at`.
#[inline]
pub fn after_colon(bytes: &[u8], at: usize) -> Option<usize> {
    let colon = skip_space(bytes, at);
    (*bytes.get(colon)? == b':').then(|| skip_space(bytes, colon + 1))
}

/// The first offset at or after `at` that holds no space.
#[inline]
pub fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Whether a string is what stands between its quotes.
#[inline]
pub fn is_plain(inner: &str) -> bool {
    skip_plain(inner.as_bytes(), 0) == inner.len()
}

/// Appends what stands between the quotes of a string, without its escapes. `None` if one of them is a `\u` escape or none at
/// all; a part may have been appended then.
pub fn unescape(inner: &str, into: &mut String) -> Option<()> {
    let bytes = inner.as_bytes();
    let (mut from, mut at) = (0, 0);
    loop {
        let escape = skip_plain(bytes, at);
        into.push_str(inner.get(from..escape)?);
        if escape == bytes.len() {
            return Some(());
        }
        (from, at) = (escape + 2, escape + 2);
        match bytes.get(escape + 1)? {
            // It stands for itself, and goes with what follows.
            b'"' | b'\\' | b'/' => from = escape + 1,
            b'n' => into.push('\n'),
            b't' => into.push('\t'),
            b'r' => into.push('\r'),
            b'b' => into.push('\u{8}'),
            b'f' => into.push('\u{c}'),
            _ => return None,
        }
    }
}

/// The containers that are open, innermost in the lowest bit: 1 is an object.
#[derive(Default)]
struct Open {
    objects: u64,
    levels: u32,
}

impl Open {
    #[inline]
    fn push(&mut self, is_object: bool) -> Option<()> {
        self.levels += 1;
        self.objects = self.objects << 1 | u64::from(is_object);
        (self.levels <= LEVELS_MAX).then_some(())
    }

    #[inline]
    fn pop(&mut self) {
        self.levels -= 1;
        self.objects >>= 1;
    }
}

/// After a value that ends at `at`: closes what ends there, and answers where the next value starts; or, once nothing is open
/// any more, where the last container ends.
#[inline]
fn next_value(bytes: &[u8], mut at: usize, open: &mut Open) -> Option<usize> {
    while open.levels > 0 {
        let is_object = open.objects & 1 == 1;
        at = skip_space(bytes, at);
        match bytes.get(at)? {
            b',' => {
                let next = skip_space(bytes, at + 1);
                return if is_object { after_colon(bytes, string_end(bytes, next)?) } else { Some(next) };
            }
            b'}' if is_object => open.pop(),
            b']' if !is_object => open.pop(),
            _ => return None,
        }
        at += 1;
    }
    Some(at)
}

/// The offset after the string that starts at `at`.
#[inline]
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let close = skip_plain(bytes, at + 1);
    if bytes.get(close) == Some(&b'"') { Some(close + 1) } else { escaped_end(bytes, close) }
}

/// The offset after the string whose first special byte, at `at`, is not its end.
#[inline(never)]
fn escaped_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at = skip_plain(bytes, escape_end(bytes, at)?),
            _ => return None,
        }
    }
}

/// The offset after the escape at `at`. That halves of surrogate pairs stand alone is found out by those who read the string.
#[inline]
fn escape_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit).then_some(at + 6),
        _ => None,
    }
}

/// The first offset at or after `at` of a quote, a backslash or a control character; or the end.
#[inline]
fn skip_plain(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let special = special_bytes(u64::from_le_bytes(*chunk));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)) {
        at += 1;
    }
    at
}

/// The high bit of each byte that is special in a string. Right up to the first of them: a borrow reaches later bytes only.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let below = |word: u64, bound: u8| word.wrapping_sub(ONES * u64::from(bound)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (equal(b'"') | equal(b'\\') | below(word, 0x20)) & HIGHS
}

/// The offset after the number at `at`.
#[inline]
fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    let whole = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut end = digits_end(bytes, whole)?;
    if bytes.get(whole) == Some(&b'0') && end > whole + 1 {
        return None;
    }
    if bytes.get(end) == Some(&b'.') {
        end = digits_end(bytes, end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits_end(bytes, end + 1 + sign)?;
    }
    Some(end)
}

/// The offset after at least one digit.
#[inline]
fn digits_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    while bytes.get(end).is_some_and(u8::is_ascii_digit) {
        end += 1;
    }
    (end > at).then_some(end)
}

#[inline]
fn word_end(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::*;

    /// Whether the text is one value, with space around it.
    fn is_value(text: &str) -> bool {
        let bytes = text.as_bytes();
        let end = value_end(bytes, skip_space(bytes, 0));
        end.is_some_and(|end| skip_space(bytes, end) == bytes.len())
    }

    #[test]
    fn names() {
        assert_eq!(plain_name(r#"{"aé" :  1}"#, 1), Some("aé"));
        assert_eq!(after_colon(br#"{"a" :  1}"#, 4), Some(8));
        for doubtful in [r#"{"\u0061": 1}"#, r#"{"a"#, "{1: 1}", "{"] {
            assert_eq!(plain_name(doubtful, 1), None, "{doubtful}");
        }
    }

    #[test]
    fn unescaped() {
        let mut text = "a".to_owned();
        assert_eq!(unescape(r#"\"\\\/\n\t\r\b\f é"#, &mut text), Some(()));
        assert_eq!(text, "a\"\\/\n\t\r\u{8}\u{c} é");
        for doubtful in [r"\u0041", r"\x", r"\"] {
            assert_eq!(unescape(doubtful, &mut text), None, "{doubtful}");
        }
    }

    /// As many levels as there are bits; deeper ones are left to others.
    #[test]
    fn levels() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(is_value(&nested(LEVELS_MAX as usize + 1)));
        assert!(!is_value(&nested(LEVELS_MAX as usize + 2)));
    }

    /// One byte is replaced or put in anywhere in texts that have everything, or the rest is cut: what is taken is taken by
    /// `serde_json`, and the other way round.
    #[test]
    fn takes_what_serde_json_takes() {
        let texts = [
            r#"{"\\u0061\\n": [true, false, null, -0.5, 10e2, 1E-7], "b": {"c": "\u00e9\n \\ü"}, "": ""}"#,
            r#"[[], {}, [{}], {"x": "aaaaaaaaaaaaaaaaa\"aaaaaaaaaa\\"}, 0, "\ud800" ] "#,
        ];
        let mut taken = [0, 0];
        for text in texts {
            for at in 0..=text.len() {
                for byte in *b"\"\\{}[]:, 0129.eE+-tfnul/x\t\x01\x7f" {
                    let replaced = [&text.as_bytes()[..at], &[byte], text.as_bytes().get(at + 1..).unwrap_or(&[])];
                    let put_in = [&text.as_bytes()[..at], &[byte], &text.as_bytes()[at..]];
                    for bytes in [replaced.concat(), put_in.concat(), text.as_bytes()[..at].to_vec()] {
                        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
                        let expected = serde_json::from_str::<IgnoredAny>(text).is_ok();
                        let is_taken = is_value(text);
                        taken[usize::from(is_taken)] += 1;
                        assert_eq!(is_taken, expected, "{text}");
                    }
                }
            }
        }
        assert!(taken.iter().all(|count| *count > 1_000), "{taken:?}");
    }
}
