//! What Python's `re` does not read of an ECMA-262 pattern.
//!
//! OpenAI checks `pattern` by compiling it there. This finds the constructs that ECMA-262 has and `re` does not, so that
//! a pattern without them is taken; it is no parser of either language.

/// Letters that may follow a backslash. Source: the Python library reference, `re`, "Regular Expression Syntax".
const ESCAPES: &str = "AbBdDsSwWZafnrtvxuUN";

/// The first construct that `re` refuses, if there is one.
pub(super) fn refused(pattern: &str) -> Option<&str> {
    let mut at = 0;
    while let Some(rest) = pattern.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(construct) = refused_escape(rest).or_else(|| refused_group(rest)) {
            return Some(construct);
        }
        // An escaped character is passed together with its backslash.
        let len = rest.chars().take(if rest.starts_with('\\') { 2 } else { 1 }).map(char::len_utf8).sum::<usize>();
        at += len;
    }
    None
}

fn refused_escape(rest: &str) -> Option<&str> {
    let escaped = rest.strip_prefix('\\')?.chars().next().filter(char::is_ascii_alphabetic)?;
    let is_code_point = escaped == 'u' && rest[2..].starts_with('{');
    (is_code_point || !ESCAPES.contains(escaped)).then(|| &rest[..2])
}

/// A named group is `(?P<name>…)` there.
fn refused_group(rest: &str) -> Option<&str> {
    let inside = rest.strip_prefix("(?<")?;
    (!inside.starts_with(['=', '!'])).then(|| &rest[..3])
}

/// Whether the pattern looks ahead or behind.
pub(super) fn looks_around(pattern: &str) -> bool {
    let mut chars = pattern.char_indices();
    let mut in_class = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let inside = &pattern[at + 1..];
                if ["?=", "?!", "?<=", "?<!"].iter().any(|start| inside.starts_with(start)) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructs_that_python_refuses() {
        let cases = [
            (r"^[\p{Cc}]$", Some(r"\p")),
            (r"\u{1f600}", Some(r"\u")),
            (r"(?<year>\d+)", Some("(?<")),
            (r"\k<year>", Some(r"\k")),
            (r"a\z", Some(r"\z")),
            (r"^(?<=a)(?<!b)(?=c)(?!d)(?:e)$", None),
            (r"\\p{Cc}\.\/é\u00e9\x41", None),
            ("", None),
            ("\\", None),
        ];
        for (pattern, expected) in cases {
            assert_eq!(refused(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn look_around() {
        for (pattern, expected) in [
            ("a(?=b)", true),
            ("(?<!b)a", true),
            ("(?:a)", false),
            ("(?<n>a)", false),
            (r"\(?=b", false),
            ("[(?=]", false),
            (r"[\](?=]", false),
        ] {
            assert_eq!(looks_around(pattern), expected, "{pattern}");
        }
    }
}
