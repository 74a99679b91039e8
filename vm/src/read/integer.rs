//! Text where an integer is wanted.
//!
//! ```text
//! "7"  "+7"  " 7 "  "007"  "1.0"  "1_000"      7  7  7  7  1  1000
//! "0-7"                                        -7: zeros in front are dropped before the sign is looked for
//! "1.5"  "1e3"  "0x10"  "１"  ""               no integer
//! ```

use crate::number::MAX_DIGITS;

/// Why a text is no integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntProblem {
    /// It is not one.
    Unreadable,
    /// It is too long to be read. Bound: [`MAX_DIGITS`] bytes.
    TooLong,
}

/// Appends the decimal literal of the integer that `text` is, as JSON writes it. Nothing is appended otherwise.
pub(crate) fn parse(text: &str, literal: &mut String) -> Result<(), IntProblem> {
    let text = text.trim();
    if text.len() > MAX_DIGITS {
        return Err(IntProblem::TooLong);
    }
    let unsigned = text.strip_prefix('+').filter(|rest| !rest.starts_with('-')).unwrap_or(text);
    let (sign, digits) = match unsigned.trim_start_matches('0').strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unsigned),
    };
    let digits = without_zero_fraction(digits);
    if !has_lone_underscores(digits) || !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
        return Err(IntProblem::Unreadable);
    }
    let significant = digits.trim_start_matches(['0', '_']);
    if significant.is_empty() {
        literal.push('0');
        return Ok(());
    }
    literal.push_str(sign);
    literal.extend(significant.chars().filter(|c| *c != '_'));
    Ok(())
}

/// The text before a point that only zeros follow.
fn without_zero_fraction(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') => whole,
        _ => text,
    }
}

/// Whether there is a text, and its underscores stand alone and between others.
pub(crate) fn has_lone_underscores(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('_') && !text.ends_with('_') && !text.contains("__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, IntProblem>) {
        let mut literal = String::new();
        assert_eq!(parse(text, &mut literal).map(|()| literal.as_str()), expected, "{text:?}");
    }

    #[test]
    fn integers_in_many_spellings() {
        for text in ["7", "+7", " 7 ", "007", "7.0", "7.000", "\t7\n"] {
            check(text, Ok("7"));
        }
        check("1_000", Ok("1000"));
        check("-0", Ok("0"));
        check("-012", Ok("-12"));
        check("100000000000000000000", Ok("100000000000000000000"));
    }

    #[test]
    fn zeros_may_stand_before_a_sign() {
        check("0-2", Ok("-2"));
        check("00-467", Ok("-467"));
    }

    #[test]
    fn what_is_no_integer() {
        for text in
            ["", " ", "1.5", "1e3", "0x10", "\u{ff11}", "+", "-", "+-7", "_1", "1_", "1__0", ".0", "a", "7 7", "1.0.0"]
        {
            check(text, Err(IntProblem::Unreadable));
        }
        check(&"9".repeat(4_300), Ok(&"9".repeat(4_300)));
        check(&"9".repeat(4_301), Err(IntProblem::TooLong));
    }
}
