//! URI templates of all four levels: RFC 6570 section 2.
//!
//! The apostrophe is a literal, by the RFC's erratum 6937. The operators reserved for extensions
//! (`op-reserve`) are in the grammar, so they pass. Nothing allocates.

/// Whether `text` is a `URI-Template` of RFC 6570 section 2.
pub(super) fn is_uri_template(text: &str) -> bool {
    let mut parts = text.split('{');
    parts.next().is_none_or(is_literals)
        && parts.all(|part| {
            let halves = part.split_once('}');
            halves.is_some_and(|(content, after)| is_expression(content) && is_literals(after))
        })
}

/// `*literals`, section 2.1.
fn is_literals(text: &str) -> bool {
    text.chars().all(is_literal) && is_percent_encoding(text)
}

/// Whether a character may stand for itself, or is the sign of a triplet.
fn is_literal(c: char) -> bool {
    match c {
        '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => false,
        '!'..='~' => true,
        _ => is_ucschar_or_iprivate(c),
    }
}

/// `ucschar` or `iprivate` (RFC 3987 section 2.2), which between them have all beyond the C1
/// controls, except noncharacters, the specials at the end of the first plane, and tags.
fn is_ucschar_or_iprivate(c: char) -> bool {
    let is_noncharacter = matches!(u32::from(c) & 0xFFFF, 0xFFFE | 0xFFFF);
    c >= '\u{A0}'
        && !is_noncharacter
        && !matches!(c, '\u{FDD0}'..='\u{FDEF}' | '\u{FFF0}'..='\u{FFFF}')
        && !matches!(c, '\u{E0000}'..='\u{E0FFF}')
}

/// Whether two hexadecimal digits follow each percent sign (RFC 3986 section 2.1).
fn is_percent_encoding(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// What is between the braces of an `expression`, section 2.2.
fn is_expression(text: &str) -> bool {
    const OPERATORS: [char; 12] = ['+', '#', '.', '/', ';', '?', '&', '=', ',', '!', '@', '|'];
    let variable_list = text.strip_prefix(OPERATORS).unwrap_or(text);
    variable_list.split(',').all(is_varspec)
}

/// `varspec`, sections 2.3 and 2.4.
fn is_varspec(text: &str) -> bool {
    if let Some(varname) = text.strip_suffix('*') {
        return is_varname(varname);
    }
    match text.split_once(':') {
        Some((varname, max_length)) => is_varname(varname) && is_max_length(max_length),
        None => is_varname(text),
    }
}

/// `varname`, section 2.3: nonempty runs of `varchar`, single dots between them.
fn is_varname(text: &str) -> bool {
    text.split('.').all(|run| !run.is_empty() && run.bytes().all(is_varchar)) && is_percent_encoding(text)
}

/// Whether a byte is a `varchar`, or the sign of a triplet, which is one.
fn is_varchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'%'
}

/// `max-length`, section 2.4.1: from 1 to 9999, no zeros leading.
fn is_max_length(text: &str) -> bool {
    (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(is_uri_template(text), expected, "{text:?}");
    }

    #[test]
    fn literals() {
        check("", true);
        check("https://api.example/~ann/[x]?q='a'#%C3%a9", true);
        check("caf\u{e9}/\u{e000}\u{10ffff}", false);
        check("caf\u{e9}/\u{e000}\u{10fffd}", true);
        check("\u{85}", false);
        check("\u{fffd}", false);
        check("\u{e0041}", false);
        check("a b", false);
        check("a\"b", false);
        check("a^b", false);
        check("a%4", false);
        check("a%4{x}", false);
        check("a%zz", false);
    }

    #[test]
    fn expressions() {
        check("{a}{b}", true);
        check("/{+path,here}/x{?q,lang*,n:12}{&more}{#frag}", true);
        check("{a_1.b%20c}", true);
        check("{=a}{|b}{,c}", true);
        check("{", false);
        check("}", false);
        check("{a", false);
        check("{{a}}", false);
        check("{a}}", false);
        check("{}", false);
        check("{?}", false);
        check("{a b}", false);
        check("{a-b}", false);
        check("{caf\u{e9}}", false);
        check("{a%2}", false);
        check("{.a.}", false);
        check("{++a}", false);
    }

    #[test]
    fn modifiers() {
        check("{a:9999}", true);
        check("{a*,b:1}", true);
        check("{a:}", false);
        check("{a:0}", false);
        check("{a:10000}", false);
        check("{a:+1}", false);
        check("{a:1*}", false);
        check("{a*:1}", false);
        check("{*}", false);
    }
}
