//! Text and numbers where a boolean is wanted.

/// Words that are true; any case, no space.
const TRUE: [&str; 6] = ["true", "t", "yes", "y", "on", "1"];

/// Words that are false.
const FALSE: [&str; 6] = ["false", "f", "no", "n", "off", "0"];

/// The boolean that `text` is.
pub(crate) fn parse(text: &str) -> Option<bool> {
    let is_in = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is_in(&TRUE) { Some(true) } else { is_in(&FALSE).then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        for (text, expected) in
            [("true", true), ("TRUE", true), ("Y", true), ("1", true), ("off", false), ("No", false), ("0", false)]
        {
            assert_eq!(parse(text), Some(expected), "{text:?}");
        }
        for text in ["", " 1 ", "2", "-1", "1.0", "yep", "null", "\u{ff11}"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
