//! Decimal text: a number or a string together are what pydantic writes for Python's `Decimal`, whose copy is text.
//!
//! ```text
//! 10.0  7  "9e0"  " 17 "  "1_000"      "10.0"  "7"  "9"  "17"  "1000"
//! ```
//!
//! Source: General Decimal Arithmetic, `to-scientific-string`.

use std::fmt::{self, Write};

/// Digits and exponents beyond this are left as they came.
const DIGITS_MAX: i32 = 1_000;

/// Writes the decimal that `text` is. Answers whether it is one, of a size that is written; nothing is written otherwise.
pub(super) fn write(text: &str, out: &mut String) -> bool {
    let text = text.trim();
    if text.len() > DIGITS_MAX as usize {
        return false;
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        None => (text, Some(0)),
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()),
    };
    let unsigned = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = || whole.bytes().chain(fraction.bytes()).filter(|byte| *byte != b'_');
    let is_number = digits().all(|byte| byte.is_ascii_digit()) && digits().next().is_some();
    let scale = len_of(fraction.bytes().filter(|byte| *byte != b'_'));
    let Some(exponent) = exponent.filter(|exponent| is_number && exponent.abs() < DIGITS_MAX) else {
        return false;
    };
    let zeros = digits().take_while(|byte| *byte == b'0').count().min(digits().count() - 1);
    let significant = digits().skip(zeros).map(char::from);
    if mantissa.starts_with('-') {
        out.push('-');
    }
    write_digits(significant, exponent - scale, out).is_ok()
}

/// How many there are: no more than a text may have.
fn len_of(digits: impl Iterator) -> i32 {
    digits.fold(0, |len, _| len + 1)
}

/// Writes `digits` times ten to the power of `exponent`.
fn write_digits(digits: impl Iterator<Item = char> + Clone, exponent: i32, out: &mut String) -> fmt::Result {
    let len = len_of(digits.clone());
    let adjusted = exponent + len - 1;
    if exponent > 0 || adjusted < -6 {
        for (at, digit) in digits.enumerate() {
            out.write_str(if at == 1 { "." } else { "" })?;
            out.write_char(digit)?;
        }
        return write!(out, "E{adjusted:+}");
    }
    // How many digits stand before the point.
    let whole = len + exponent;
    if whole <= 0 {
        out.write_str("0.")?;
        (whole..0).try_for_each(|_| out.write_char('0'))?;
    }
    for (at, digit) in (0..).zip(digits) {
        out.write_str(if at == whole && at > 0 { "." } else { "" })?;
        out.write_char(digit)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let mut out = String::new();
        let is = write(text, &mut out);
        assert_eq!(is.then_some(out.as_str()), expected, "{text:?}");
    }

    #[test]
    fn decimals_are_written_as_python_does() {
        let table = [
            ("10.0", "10.0"),
            ("7", "7"),
            ("9e0", "9"),
            (" 17 ", "17"),
            ("1_000", "1000"),
            ("-007.50", "-7.50"),
            (".5", "0.5"),
            ("0.001", "0.001"),
            ("0", "0"),
            ("0.00", "0.00"),
            ("1e+20", "1E+20"),
            ("1.5e3", "1.5E+3"),
            ("1e-9", "1E-9"),
            ("12e-1", "1.2"),
        ];
        for (text, expected) in table {
            check(text, Some(expected));
        }
    }

    #[test]
    fn other_text_is_left() {
        for text in ["", "abc", "1,5", ".", "1e", "e5", "nan", "1e99999"] {
            check(text, None);
        }
    }
}
