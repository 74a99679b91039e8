//! Text where a number is wanted.
//!
//! ```text
//! "1.5"  " 7 "  "1e3"  "1_000"  "nan"  "inf"      1.5  7.0  1000.0  1000.0  NaN  infinity
//! "1,5"  "0x10"  "１"  ""                         no number
//! ```

use super::integer::has_lone_underscores;

/// The double that `text` is. `spare` is memory for texts with underscores.
pub(crate) fn parse(text: &str, spare: &mut String) -> Option<f64> {
    let text = text.trim();
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    if !text.contains('_') || !has_lone_underscores(text) {
        return None;
    }
    spare.clear();
    spare.extend(text.chars().filter(|c| *c != '_'));
    spare.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_many_spellings() {
        let table = [
            ("1.5", 1.5),
            (" 7 ", 7.0),
            ("1e3", 1e3),
            ("1_000", 1e3),
            ("+1", 1.0),
            (".5", 0.5),
            ("-inf", f64::NEG_INFINITY),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text, &mut String::new()), Some(expected), "{text:?}");
        }
        assert!(parse("NaN", &mut String::new()).is_some_and(f64::is_nan));
    }

    #[test]
    fn what_is_no_number() {
        for text in ["", " ", "1,5", "0x10", "\u{ff11}", "_1", "1_", "1__0", "one", "1 2", "true"] {
            assert_eq!(parse(text, &mut String::new()), None, "{text:?}");
        }
    }
}
