//! The `format` keyword's checks: does a string keep to the syntax that a format name stands for?
//!
//! [`Format`] lists the formats of drafts 4 to 2020-12, says which draft defines which, and
//! [checks](Format::check) a string against one. The grammars are those of the RFCs that JSON
//! Schema Validation names (2020-12, section 7.3); each variant's doc says which. Calendars, UUIDs,
//! URIs and internationalized names are judged by the crates made for them; the small grammars
//! are read here.
//!
//! Left out:
//! - Whether a draft's `format` asserts at all, and what to do with unknown names: the compiler's.
//! - Differences between drafts in what one name means. A name means the same everywhere, and
//!   that is what the newest draft says.
//! - Everything beyond syntax: no DNS, no list of URI schemes, leap seconds or top-level domains.
//!
//! No check panics, recurses, or takes more than linear time, whatever the string. No check
//! allocates, except `hostname` for a name with an `xn--` label, `idn-hostname` and `idn-email`
//! for a name that isn't ASCII (a few kilobytes at most: a name too long for the DNS is refused
//! beforehand), and `regex`, which `crate::ecma` judges.

mod domain;
mod idna2008;
mod mailbox;
mod pointer;
mod template;
mod timestamp;

use std::net::{Ipv4Addr, Ipv6Addr};

use fluent_uri::{Iri, IriRef, Uri, UriRef};
use uuid::Uuid;

/// A format that callgate can assert. One byte; [`Format::from_u8`] turns the byte back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Format {
    /// `date-time`: a date and a time of day with its offset, RFC 3339 section 5.6.
    DateTime,
    /// `date`: `full-date`, RFC 3339 section 5.6.
    Date,
    /// `time`: `full-time`, a time of day with its offset, RFC 3339 section 5.6.
    Time,
    /// `duration`: RFC 3339 appendix A.
    Duration,
    /// `email`: `Mailbox`, RFC 5321 section 4.1.2.
    Email,
    /// `idn-email`: `Mailbox` as RFC 6531 section 3.3 widens it beyond ASCII.
    IdnEmail,
    /// `hostname`: RFC 1123 section 2.1, with the A-labels of RFC 5890 section 2.3.2.1.
    Hostname,
    /// `idn-hostname`: a hostname, or an internationalized name of RFC 5890 section 2.3.2.3.
    IdnHostname,
    /// `ipv4`: a dotted quad, RFC 2673 section 3.2.
    Ipv4,
    /// `ipv6`: RFC 4291 section 2.2.
    Ipv6,
    /// `uri`: RFC 3986 section 3, with a scheme.
    Uri,
    /// `uri-reference`: RFC 3986 section 4.1, with a scheme or relative.
    UriReference,
    /// `iri`: RFC 3987 section 2.2, with a scheme.
    Iri,
    /// `iri-reference`: RFC 3987 section 2.2, with a scheme or relative.
    IriReference,
    /// `uri-template`: of any level, RFC 6570 section 2.
    UriTemplate,
    /// `uuid`: RFC 9562 section 4 (and RFC 4122 before it).
    Uuid,
    /// `json-pointer`: in its string form, RFC 6901 sections 3 and 5.
    JsonPointer,
    /// `relative-json-pointer`: draft-bhutton-relative-json-pointer-00 section 3.
    RelativeJsonPointer,
    /// `regex`: a pattern of ECMA-262 section 22.2.1, as the `u` flag reads it.
    Regex,
}

impl Format {
    /// Every format, each at the place that its byte says.
    pub const ALL: [Format; 19] = [
        Format::DateTime,
        Format::Date,
        Format::Time,
        Format::Duration,
        Format::Email,
        Format::IdnEmail,
        Format::Hostname,
        Format::IdnHostname,
        Format::Ipv4,
        Format::Ipv6,
        Format::Uri,
        Format::UriReference,
        Format::Iri,
        Format::IriReference,
        Format::UriTemplate,
        Format::Uuid,
        Format::JsonPointer,
        Format::RelativeJsonPointer,
        Format::Regex,
    ];

    /// The name in a schema, such as `date-time` (JSON Schema Validation 2020-12, section 7.3).
    /// Constant time, no allocation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Format::DateTime => "date-time",
            Format::Date => "date",
            Format::Time => "time",
            Format::Duration => "duration",
            Format::Email => "email",
            Format::IdnEmail => "idn-email",
            Format::Hostname => "hostname",
            Format::IdnHostname => "idn-hostname",
            Format::Ipv4 => "ipv4",
            Format::Ipv6 => "ipv6",
            Format::Uri => "uri",
            Format::UriReference => "uri-reference",
            Format::Iri => "iri",
            Format::IriReference => "iri-reference",
            Format::UriTemplate => "uri-template",
            Format::Uuid => "uuid",
            Format::JsonPointer => "json-pointer",
            Format::RelativeJsonPointer => "relative-json-pointer",
            Format::Regex => "regex",
        }
    }

    /// The format of that name, whichever draft defines it; `None` for a name that none here has.
    /// Names are compared exactly. At most 19 comparisons, no allocation.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format whose byte (`format as u8`) is `n`; `None` from 19 on. Constant time, no
    /// allocation.
    #[must_use]
    pub fn from_u8(n: u8) -> Option<Format> {
        Format::ALL.get(usize::from(n)).copied()
    }

    /// Whether the validation document of `draft` (4, 6, 7, 2019 or 2020) defines this format;
    /// false for every other number. A format that a later draft brought is unknown to an earlier
    /// one. Constant time, no allocation.
    #[must_use]
    pub fn is_defined_in(self, draft: u16) -> bool {
        matches!(draft, 4 | 6 | 7 | 2019 | 2020) && draft >= self.first_draft()
    }

    /// Whether `text` keeps to the format. Each format's doc names its grammar; the module's doc
    /// says which checks may allocate. Time is linear in the text. Never panics.
    #[must_use]
    pub fn check(self, text: &str) -> bool {
        match self {
            Format::DateTime => timestamp::is_date_time(text),
            Format::Date => timestamp::is_full_date(text),
            Format::Time => timestamp::is_full_time(text),
            Format::Duration => timestamp::is_duration(text),
            Format::Email => mailbox::is_mailbox(text),
            Format::IdnEmail => mailbox::is_internationalized_mailbox(text),
            Format::Hostname => domain::is_hostname(text),
            Format::IdnHostname => domain::is_internationalized_hostname(text),
            Format::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Format::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Format::Uri => Uri::parse(text).is_ok(),
            Format::UriReference => UriRef::parse(text).is_ok(),
            Format::Iri => Iri::parse(text).is_ok() && !has_bidi_formatting(text),
            Format::IriReference => IriRef::parse(text).is_ok() && !has_bidi_formatting(text),
            Format::UriTemplate => template::is_uri_template(text),
            Format::Uuid => is_uuid(text),
            Format::JsonPointer => pointer::is_json_pointer(text),
            Format::RelativeJsonPointer => pointer::is_relative_json_pointer(text),
            Format::Regex => crate::ecma::is_valid(text),
        }
    }

    /// The number of the oldest draft that defines the format.
    const fn first_draft(self) -> u16 {
        match self {
            Format::DateTime
            | Format::Email
            | Format::Hostname
            | Format::IdnEmail
            | Format::Ipv4
            | Format::Ipv6
            | Format::Regex
            | Format::Uri => 4,
            Format::JsonPointer | Format::UriReference | Format::UriTemplate => 6,
            Format::Date
            | Format::IdnHostname
            | Format::Iri
            | Format::IriReference
            | Format::RelativeJsonPointer
            | Format::Time => 7,
            Format::Duration | Format::Uuid => 2019,
        }
    }
}

/// RFC 9562 section 4: 36 characters, hyphens at their four places, hexadecimal digits of either
/// case elsewhere. Versions and variants aren't looked at. The crate reads other spellings too, of
/// other lengths.
fn is_uuid(text: &str) -> bool {
    text.len() == 36 && Uuid::try_parse(text).is_ok()
}

/// RFC 3987 section 4.1 forbids an IRI the seven characters that steer the direction of text,
/// though its grammar would let them in.
fn has_bidi_formatting(text: &str) -> bool {
    text.contains(|c| matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: Format, text: &str, expected: bool) {
        assert_eq!(format.check(text), expected, "{} {text:?}", format.name());
    }

    #[track_caller]
    fn check_defined(format: Format, drafts: &[u16]) {
        let defined: Vec<u16> = [3, 4, 5, 6, 7, 8, 2018, 2019, 2020, 2021]
            .into_iter()
            .filter(|draft| format.is_defined_in(*draft))
            .collect();
        assert_eq!(defined, drafts, "{}", format.name());
    }

    #[test]
    fn bytes_and_names_lead_back() {
        for (place, format) in (0..).zip(Format::ALL) {
            assert_eq!(format as u8, place);
            assert_eq!(Format::from_u8(place), Some(format));
            assert_eq!(Format::from_name(format.name()), Some(format));
        }
        assert_eq!(Format::from_u8(19), None);
        assert_eq!(Format::from_u8(255), None);
        assert_eq!(Format::from_name("Date"), None);
        assert_eq!(Format::from_name(""), None);
    }

    #[test]
    fn drafts_add_formats() {
        check_defined(Format::Ipv6, &[4, 6, 7, 2019, 2020]);
        check_defined(Format::UriReference, &[6, 7, 2019, 2020]);
        check_defined(Format::Date, &[7, 2019, 2020]);
        check_defined(Format::Uuid, &[2019, 2020]);
    }

    #[test]
    fn addresses() {
        check(Format::Ipv4, "203.0.113.9", true);
        check(Format::Ipv4, "203.0.113.09", false);
        check(Format::Ipv4, "203.0.113", false);
        check(Format::Ipv6, "2001:DB8::9", true);
        check(Format::Ipv6, "2001:db8:0:0:0:0:203.0.113.9", true);
        check(Format::Ipv6, "2001:db8::9%2", false);
        check(Format::Ipv6, "2001:db8::00009", false);
    }

    #[test]
    fn uuids() {
        check(Format::Uuid, "f81d4fae-7dec-11d0-A765-00A0C91E6BF6", true);
        check(Format::Uuid, "ffffffff-ffff-ffff-ffff-ffffffffffff", true);
        check(Format::Uuid, "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}", false);
        check(Format::Uuid, "f81d4fae7dec11d0a76500a0c91e6bf6", false);
        check(Format::Uuid, "f81d4fae7dec-11d0-a765-00a0c91e-6bf6", false);
        check(Format::Uuid, "\u{e9}81d4fae-7dec-11d0-a765-00a0c91e6bf", false);
    }

    #[test]
    fn uris() {
        check(Format::Uri, "coap+tcp://[2001:db8::1]:5683/sensors?t#now", true);
        check(Format::Uri, "s:", true);
        check(Format::Uri, "file:///srv/a%20b", true);
        check(Format::Uri, "//host/path", false);
        check(Format::Uri, "http://host:8x/", false);
        check(Format::Uri, "http://host/a b", false);
        check(Format::Uri, "http://host/%2", false);
        check(Format::Uri, "http://h\u{f6}st/", false);
        check(Format::Uri, "", false);
        check(Format::UriReference, "../up?q=/:#f", true);
        check(Format::UriReference, "a:b:c", true);
        check(Format::UriReference, "3:b", false);
        check(Format::UriReference, "a#b#c", false);
    }

    #[test]
    fn iris() {
        check(Format::Iri, "http://h\u{f6}st/stra\u{df}e", true);
        check(Format::Iri, "http://host/?\u{e000}", true);
        check(Format::Iri, "http://host/\u{e000}", false);
        check(Format::Iri, "stra\u{df}e", false);
        check(Format::Iri, "http://host/a\u{202e}b", false);
        check(Format::IriReference, "stra\u{df}e", true);
        check(Format::IriReference, "a\u{200f}", false);
        check(Format::IriReference, "a\u{200d}b", true);
    }

    #[test]
    fn long_texts_do_no_harm() {
        for text in ["a", "0", "-", "{", "~", "/", "%", ".", "\u{e9}", "\u{5d0}.", "xn--a."] {
            let long = text.repeat(200_000);
            for format in Format::ALL {
                let _ = format != Format::Regex && format.check(&long);
            }
        }
    }

    #[test]
    fn long_texts_are_read_to_the_end() {
        let zeros = "0".repeat(200_000);
        check(Format::Time, &format!("12:00:00.{zeros}Z"), true);
        check(Format::Duration, &format!("P{zeros}D"), true);
        check(Format::Duration, &format!("P{zeros}"), false);
        check(Format::Uri, &format!("a:{zeros}"), true);
        check(Format::Uri, &format!("a:{zeros} "), false);
        check(Format::UriTemplate, &format!("{{{zeros}}}"), true);
        check(Format::JsonPointer, &format!("/{zeros}~"), false);
        check(Format::Hostname, &zeros, false);
        check(Format::Email, &format!("a@{zeros}"), false);
    }
}
