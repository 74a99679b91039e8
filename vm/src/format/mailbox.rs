//! E-mail addresses: the `Mailbox` of RFC 5321 section 4.1.2, and of RFC 6531 section 3.3 where
//! more than ASCII is allowed.
//!
//! Address literals are IPv4 or have the one registered tag, `IPv6`. An IPv6 address is read by
//! RFC 4291, whose `::` may also stand for a single group. The limits of RFC 5321 section 4.5.3.1
//! hold: 64 octets before the `@`, 254 in all. Left out are the comments, folding and display
//! names of message headers (RFC 5322). Nothing allocates, except for a domain beyond ASCII.

use std::net::Ipv6Addr;

use super::domain;

/// Most octets before the `@` (RFC 5321 section 4.5.3.1.1).
const MAX_LOCAL_PART: usize = 64;

/// Most octets of a path (RFC 5321 section 4.5.3.1.3), less its angle brackets.
const MAX_MAILBOX: usize = 256 - 2;

/// Whether `text` is a `Mailbox` of RFC 5321 section 4.1.2.
pub(super) fn is_mailbox(text: &str) -> bool {
    text.is_ascii() && is_mailbox_with(text, domain::is_domain)
}

/// Whether `text` is a `Mailbox` of RFC 6531 section 3.3.
pub(super) fn is_internationalized_mailbox(text: &str) -> bool {
    is_mailbox_with(text, domain::is_internationalized_domain)
}

fn is_mailbox_with(text: &str, is_domain: fn(&str) -> bool) -> bool {
    if text.len() > MAX_MAILBOX {
        return false;
    }
    // A domain has no "@", a quoted local part may.
    let Some((local_part, domain)) = text.rsplit_once('@') else {
        return false;
    };
    is_local_part(local_part) && (is_address_literal(domain) || is_domain(domain))
}

/// `Local-part`, with what RFC 6531 adds to `atext` and `qtextSMTP`: all beyond ASCII.
fn is_local_part(text: &str) -> bool {
    text.len() <= MAX_LOCAL_PART && (is_dot_string(text) || is_quoted_string(text))
}

fn is_dot_string(text: &str) -> bool {
    text.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atext))
}

/// `atext` of RFC 5322 section 3.2.3, and every octet of a character beyond ASCII.
fn is_atext(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte) || !byte.is_ascii()
}

fn is_quoted_string(text: &str) -> bool {
    let content = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    content.is_some_and(is_quoted_content)
}

/// `*QcontentSMTP`: printable ASCII or beyond ASCII, quotes and backslashes behind a backslash.
/// Only printable ASCII may be behind one.
fn is_quoted_content(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_allowed = match byte {
            b'"' => false,
            b'\\' => bytes.next().is_some_and(|quoted| matches!(quoted, b' '..=b'~')),
            _ => matches!(byte, b' '..=b'~') || !byte.is_ascii(),
        };
        if !is_allowed {
            return false;
        }
    }
    true
}

/// `address-literal` (RFC 5321 section 4.1.3).
fn is_address_literal(text: &str) -> bool {
    let Some(literal) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return false;
    };
    match literal.split_once(':') {
        Some((tag, address)) => tag.eq_ignore_ascii_case("IPv6") && address.parse::<Ipv6Addr>().is_ok(),
        None => literal.split('.').count() == 4 && literal.split('.').all(is_snum),
    }
}

/// `Snum`: one to three digits that make at most 255; unlike elsewhere, zeros may lead.
fn is_snum(text: &str) -> bool {
    text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u8>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_ascii_mailbox: bool, is_wider_mailbox: bool) {
        assert_eq!(is_mailbox(text), is_ascii_mailbox, "{text:?}");
        assert_eq!(is_internationalized_mailbox(text), is_wider_mailbox, "{text:?}");
    }

    #[test]
    fn atoms_are_joined_by_dots() {
        check("o'hara+list@post.example", true, true);
        check("a/b=c.d`{|}^?@localhost", true, true);
        check("a..b@post.example", false, false);
        check(".a@post.example", false, false);
        check("a.@post.example", false, false);
        check("a,b@post.example", false, false);
        check("a@b@post.example", false, false);
        check("@post.example", false, false);
        check("post.example", false, false);
        check("", false, false);
    }

    #[test]
    fn strings_are_quoted() {
        check("\"a @ b\"@post.example", true, true);
        check("\"\"@post.example", true, true);
        check(r#""a\"\\b"@post.example"#, true, true);
        check(r#""a"b"@post.example"#, false, false);
        check(r#""a\"@post.example"#, false, false);
        check("\"@post.example", false, false);
        check("\"a\tb\"@post.example", false, false);
        check("\"a\"b@post.example", false, false);
        check("\"\\\u{e9}\"@post.example", false, false);
    }

    #[test]
    fn domains_are_of_letters_digits_and_hyphens() {
        check("a@1.2-3.example", true, true);
        check("a@", false, false);
        check("a@post.example.", false, false);
        check("a@-post.example", false, false);
        check("a@po_st.example", false, false);
        check("a@post..example", false, false);
        check("Ann <a@post.example>", false, false);
    }

    #[test]
    fn literals_are_addresses() {
        check("a@[192.0.2.1]", true, true);
        check("a@[192.000.002.001]", true, true);
        check("a@[ipv6:2001:db8::1]", true, true);
        check("a@[192.0.2]", false, false);
        check("a@[192.0.2.0001]", false, false);
        check("a@[192.0.2.+1]", false, false);
        check("a@[192.0.2.256]", false, false);
        check("a@[2001:db8::1]", false, false);
        check("a@[IPv6:2001:db8::1%1]", false, false);
        check("a@[tag:content]", false, false);
        check("a@192.0.2.1]", false, false);
    }

    #[test]
    fn beyond_ascii() {
        check("b\u{f6}rje@post.example", false, true);
        check("\"b\u{f6} rje\"@post.example", false, true);
        check("a@b\u{fc}ro.example", false, true);
        check("a@bu\u{308}ro.example", false, true);
        check("a@b\u{fc}_ro.example", false, false);
        check("a@b\u{3002}example", false, false);
        check("a@\u{2603}.example", false, false);
    }

    #[test]
    fn lengths() {
        let local_part = "a".repeat(64);
        check(&format!("{local_part}@b"), true, true);
        check(&format!("{local_part}a@b"), false, false);
        check(&format!("{}@b", "\u{f6}".repeat(32)), false, true);
        check(&format!("{}a@b", "\u{f6}".repeat(32)), false, false);
        check(&format!("a@{}", "b".repeat(64)), false, false);
        let domain = format!("{}{}", "b.".repeat(93), "bbb");
        assert_eq!(local_part.len() + 1 + domain.len(), 254);
        check(&format!("{local_part}@{domain}"), true, true);
        check(&format!("{local_part}@{domain}b"), false, false);
    }
}
