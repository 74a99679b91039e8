//! JSON pointers of RFC 6901, and relative ones.
//!
//! Only the string form is read, not the URI fragment form (RFC 6901 section 6). Relative
//! pointers are those of draft-bhutton-relative-json-pointer-00, which adds the shift by an index
//! (`0+1`) to the older drafts. Nothing allocates.

/// Whether `text` is a `json-pointer` of RFC 6901 section 3.
pub(super) fn is_json_pointer(text: &str) -> bool {
    (text.is_empty() || text.starts_with('/')) && text.split('~').skip(1).all(|escaped| escaped.starts_with(['0', '1']))
}

/// Whether `text` is a `relative-json-pointer` of draft-bhutton-relative-json-pointer-00
/// section 3: levels up, perhaps a shift by an index, then a pointer or `#`. The `#` may follow a
/// shift, as the examples of section 5.1 have it, though the grammar forgot that.
pub(super) fn is_relative_json_pointer(text: &str) -> bool {
    let Some(rest) = after_integer(text) else {
        return false;
    };
    let rest = match rest.strip_prefix(['+', '-']) {
        Some(shift) => after_integer(shift),
        None => Some(rest),
    };
    rest.is_some_and(|rest| rest == "#" || is_json_pointer(rest))
}

/// What follows a `non-negative-integer`: digits, the first of several not zero.
fn after_integer(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let integer = &text[..text.len() - rest.len()];
    (integer == "0" || !integer.is_empty() && !integer.starts_with('0')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(is_valid: fn(&str) -> bool, text: &str, expected: bool) {
        assert_eq!(is_valid(text), expected, "{text:?}");
    }

    #[test]
    fn pointers() {
        check(is_json_pointer, "", true);
        check(is_json_pointer, "/a~1b/~0//\u{e9} \"", true);
        check(is_json_pointer, "a", false);
        check(is_json_pointer, "#/a", false);
        check(is_json_pointer, "/a~", false);
        check(is_json_pointer, "/a~b", false);
        check(is_json_pointer, "/~~0", false);
    }

    #[test]
    fn relative_pointers() {
        check(is_relative_json_pointer, "0", true);
        check(is_relative_json_pointer, "17/a~1b", true);
        check(is_relative_json_pointer, "3#", true);
        check(is_relative_json_pointer, "", false);
        check(is_relative_json_pointer, "#", false);
        check(is_relative_json_pointer, "00", false);
        check(is_relative_json_pointer, "3#/a", false);
        check(is_relative_json_pointer, "3a", false);
        check(is_relative_json_pointer, "3/~", false);
        check(is_relative_json_pointer, "\u{663}/a", false);
    }

    #[test]
    fn shifts() {
        check(is_relative_json_pointer, "0+1", true);
        check(is_relative_json_pointer, "1-10/a", true);
        check(is_relative_json_pointer, "0-1#", true);
        check(is_relative_json_pointer, "+1", false);
        check(is_relative_json_pointer, "0+", false);
        check(is_relative_json_pointer, "0+01", false);
        check(is_relative_json_pointer, "0+1-1", false);
    }
}
