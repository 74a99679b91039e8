//! Names of hosts: RFC 1123 for ASCII, IDNA 2008 (RFC 5890 to 5893) beyond it.
//!
//! What isn't ASCII, and what an `xn--` label stands for, is judged twice. `idna` checks Punycode,
//! hyphens, joiners, text direction and lengths; it goes by UTS #46, which agrees with IDNA 2008
//! on these. [`idna2008`] checks the code points, on which the two differ. UTS #46 also maps
//! characters to others before it checks: a label that this would change is refused.
//!
//! Left out: the dot after the last label, which the official test suite refuses, and names that
//! mix labels of IDNA with others that have hyphens in third and fourth place, which RFC 5890
//! section 2.3.2.3 doesn't allow.
//!
//! Names in ASCII without an `xn--` label cost no allocation. All others cost a few, each bounded
//! by the length of a name.

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};

use super::idna2008;

/// Most characters of a name. RFC 1035 section 2.3.4 allows it 255 octets, two of which, the
/// length octets of the first label and of the root, don't show in text.
const MAX_NAME: usize = 253;

/// Most characters of a label (RFC 1035 section 2.3.4).
const MAX_LABEL: usize = 63;

/// What separates the labels of an internationalized name (RFC 3490 section 3.1).
const FULL_STOPS: &[char] = &['.', '\u{3002}', '\u{FF0E}', '\u{FF61}'];

/// What a label that isn't ASCII must be as written.
#[derive(Clone, Copy, PartialEq)]
enum Writing {
    /// A U-label, thus in Normalization Form C (RFC 5890 section 2.3.2.1).
    Normalized,
    /// A string of permitted code points that Normalization Form C makes a U-label. Lookup begins
    /// with that step (RFC 5891 section 5.2).
    Composable,
}

/// Whether `text` is a `Domain` of RFC 5321 section 4.1.2: LDH labels joined by dots. What an
/// `xn--` label stands for isn't looked at.
pub(super) fn is_domain(text: &str) -> bool {
    text.len() <= MAX_NAME && text.split('.').all(is_ldh_label)
}

/// Whether `text` is a `Domain` of RFC 6531 section 3.3, which has U-labels too. The official test
/// suite lets them be in any normalization form.
pub(super) fn is_internationalized_domain(text: &str) -> bool {
    if text.is_ascii() {
        return is_domain(text);
    }
    is_idn(text, &['.'], Writing::Composable)
}

/// Whether `text` is the name of a host: RFC 1123 section 2.1, each `xn--` label being an A-label
/// (RFC 5890 section 2.3.2.1).
pub(super) fn is_hostname(text: &str) -> bool {
    is_domain(text) && (!has_a_label(text) || is_idn(text, &['.'], Writing::Normalized))
}

/// Whether `text` is the name of a host or an internationalized name (RFC 5890 section 2.3.2.3).
pub(super) fn is_internationalized_hostname(text: &str) -> bool {
    if text.is_ascii() {
        return is_hostname(text);
    }
    is_idn(text, FULL_STOPS, Writing::Normalized)
}

/// An LDH label of RFC 5890 section 2.3.1: letters, digits, and hyphens but at the ends.
fn is_ldh_label(label: &str) -> bool {
    (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn has_a_label(text: &str) -> bool {
    text.split('.').any(|label| {
        let prefix = label.as_bytes().get(..4);
        prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(b"xn--"))
    })
}

/// Whether each of the name's labels is an A-label, a U-label, or an LDH label without hyphens in
/// third and fourth place, and the whole keeps the Bidi rule (RFC 5893 section 2).
fn is_idn(text: &str, full_stops: &[char], writing: Writing) -> bool {
    // A character of at most four octets makes at least one of the ASCII form.
    if text.len() > 4 * MAX_NAME {
        return false;
    }
    let uts46 = Uts46::new();
    let deny = AsciiDenyList::STD3;
    let Ok(ascii) = uts46.to_ascii(text.as_bytes(), deny, Hyphens::Check, DnsLength::Verify) else {
        return false;
    };
    let (unicode, Ok(())) = uts46.to_unicode(ascii.as_bytes(), deny, Hyphens::Check) else {
        return false;
    };
    text.split(full_stops).count() == unicode.split('.').count()
        && text
            .split(full_stops)
            .zip(unicode.split('.'))
            .all(|(written, u_label)| is_idn_label(written, u_label, writing))
}

/// Whether a label that `idna` lets pass is one of IDNA 2008, given as written and as a U-label.
fn is_idn_label(written: &str, u_label: &str, writing: Writing) -> bool {
    if written.is_ascii() {
        return u_label.is_ascii() || idna2008::is_permitted(u_label);
    }
    let is_unmapped = match writing {
        Writing::Normalized => written == u_label,
        Writing::Composable => idna2008::is_permitted(written),
    };
    is_unmapped && idna2008::is_permitted(u_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_host: bool, is_wider_host: bool) {
        assert_eq!(is_hostname(text), is_host, "{text:?}");
        assert_eq!(is_internationalized_hostname(text), is_wider_host, "{text:?}");
    }

    #[test]
    fn ascii_names() {
        check("a", true, true);
        check("7seas.Example-1.org", true, true);
        check("r4---sn-x.example", true, true);
        check("192.0.2.1", true, true);
        check("", false, false);
        check("a..b", false, false);
        check("a.", false, false);
        check("-a.b", false, false);
        check("a-.b", false, false);
        check("a_b", false, false);
        check("a b", false, false);
        check("a:80", false, false);
    }

    #[test]
    fn a_labels_stand_for_u_labels() {
        check("xn--bcher-kva.example", true, true);
        check("XN--BCHER-KVA.example", true, true);
        check("xn--4ca", true, true);
        check("xn--", false, false);
        check("xn--a", false, false);
        check("xn--bcher-", false, false);
        check("xn--n3h.example", false, false);
    }

    #[test]
    fn u_labels() {
        check("b\u{fc}cher.example", false, true);
        check("b\u{fc}cher\u{3002}EXAMPLE", false, true);
        check("stra\u{df}e", false, true);
        check("bu\u{308}cher", false, false);
        check("B\u{fc}cher", false, false);
        check("\u{dc}ber", false, false);
        check("b\u{fc}_cher", false, false);
        check("b\u{fc}-", false, false);
        check("b\u{fc}--cher", false, false);
        check("\u{308}b", false, false);
        check("\u{ff41}", false, false);
        check("a\u{2024}\u{fc}", false, false);
        check("b\u{fc}cher\u{3002}", false, false);
        check("\u{2603}.example", false, false);
        check("ab--c.b\u{fc}cher", false, false);
    }

    #[test]
    fn direction_is_a_matter_of_the_whole_name() {
        check("\u{5d0}\u{5d1}.example", false, true);
        check("4u.example", true, true);
        check("4u.\u{5d0}\u{5d1}", false, false);
        check("\u{5d0}b", false, false);
        check("4u.xn--4dbc", false, false);
    }

    #[test]
    fn lengths() {
        let label = "a".repeat(63);
        check(&label, true, true);
        check(&format!("{label}a"), false, false);
        let name = format!("{label}.{label}.{label}.{}", &label[..61]);
        check(&name, true, true);
        check(&format!("{name}a"), false, false);
        // 64 times "ü" takes more than 63 characters as an A-label, 20 times "ü" less.
        check(&"\u{fc}".repeat(20), false, true);
        check(&"\u{fc}".repeat(64), false, false);
        check(&"\u{fc}.".repeat(10_000), false, false);
    }
}
