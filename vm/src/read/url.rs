//! Text where a URL is wanted, by the URL standard of browsers: what it takes is more than RFC 3986 has ([`crate::format`]).
//!
//! ```text
//! "HTTP://Example.org:80"      http://example.org/
//! "mailto:a@b.co"              mailto:a@b.co
//! "example.org/x"              relative URL without a base
//! ```
//!
//! Source: WHATWG URL, sections 4.4 and 4.5; without a base, and without the drive letters of `file`.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};

use super::problem::Problem;

/// Schemes whose URLs have a host and a path, and the port that need not be written.
const SPECIAL: [(&str, Option<u16>); 6] =
    [("http", Some(80)), ("https", Some(443)), ("ws", Some(80)), ("wss", Some(443)), ("ftp", Some(21)), ("file", None)];

/// Appends the URL as it is usually written. What has been appended by then stays there where the text is none.
pub(crate) fn parse(text: &str, out: &mut String) -> Result<(), Problem> {
    if text.is_empty() {
        return Err(Problem::UrlEmpty);
    }
    let text = text.trim_matches(|c: char| c <= ' ');
    let (scheme, rest) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)).ok_or(Problem::UrlRelative)?;
    let from = out.len();
    out.push_str(scheme);
    out[from..].make_ascii_lowercase();
    let special = SPECIAL.iter().find(|(name, _)| *name == &out[from..]);
    out.push(':');
    let (rest, fragment) = split(rest, '#');
    let (rest, query) = split(rest, '?');
    match special {
        Some((name, port)) => special_rest(rest, *port, *name == "file", out)?,
        None => other_rest(rest, out)?,
    }
    let quote = if special.is_some() { " \"#<>'" } else { " \"#<>" };
    for (mark, part, encoded) in [('?', query, quote), ('#', fragment, " \"<>`")] {
        if let Some(part) = part {
            out.push(mark);
            part.chars().for_each(|c| push_encoded(c, encoded, out));
        }
    }
    Ok(())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// What follows the scheme of a special URL, up to its query.
fn special_rest(rest: &str, default_port: Option<u16>, is_file: bool, out: &mut String) -> Result<(), Problem> {
    let slashes = |c: char| c == '/' || c == '\\';
    let after = if is_file {
        rest.strip_prefix(slashes).and_then(|rest| rest.strip_prefix(slashes)).unwrap_or("")
    } else {
        rest.trim_start_matches(slashes)
    };
    let (authority, path) = after.split_at(after.find(slashes).unwrap_or(after.len()));
    let path = if is_file && after.is_empty() { rest } else { path };
    out.push_str("//");
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if let Some(user) = user.filter(|user| !user.is_empty()) {
        user.chars().for_each(|c| push_encoded(c, " \"#<>?`{}/;=@[\\]^|", out));
        out.push('@');
    }
    let (host, port) = split_port(host)?;
    if host.is_empty() && !is_file {
        return Err(Problem::UrlHost);
    }
    push_host(host, out)?;
    if let Some(port) = port.filter(|port| Some(*port) != default_port) {
        out.push(':');
        out.push_str(itoa::Buffer::new().format(port));
    }
    push_path(path, out);
    Ok(())
}

/// What follows another scheme: an authority and a path, or a path of any form.
fn other_rest(rest: &str, out: &mut String) -> Result<(), Problem> {
    let Some(after) = rest.strip_prefix("//") else {
        rest.chars().for_each(|c| push_encoded(c, "", out));
        return Ok(());
    };
    let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
    if authority.contains([' ', '<', '>', '^', '|']) {
        return Err(Problem::UrlHostCharacter);
    }
    split_port(authority.rsplit_once('@').map_or(authority, |(_, host)| host))?;
    out.push_str("//");
    authority.chars().for_each(|c| push_encoded(c, "", out));
    if !path.is_empty() {
        push_path(path, out);
    }
    Ok(())
}

/// The host, and the port behind it.
fn split_port(text: &str) -> Result<(&str, Option<u16>), Problem> {
    let end = text.rfind(']').map_or(0, |at| at + 1);
    let Some(colon) = text[end..].find(':').map(|at| at + end) else {
        return Ok((text, None));
    };
    let (host, port) = (&text[..colon], &text[colon + 1..]);
    if port.is_empty() {
        return Ok((host, None));
    }
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|_| digits).ok_or(Problem::UrlPort)?;
    Ok((host, Some(port)))
}

fn push_host(host: &str, out: &mut String) -> Result<(), Problem> {
    if let Some(inside) = host.strip_prefix('[') {
        let address = inside.strip_suffix(']').and_then(|inside| inside.parse::<Ipv6Addr>().ok());
        let address = address.ok_or(Problem::UrlIpv6)?;
        return write!(out, "[{address}]").map_err(|_| Problem::UrlIpv6);
    }
    let ascii = Uts46::new()
        .to_ascii(host.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, DnsLength::Ignore)
        .map_err(|_| Problem::UrlHostCharacter)?;
    let last = ascii.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && ascii.parse::<Ipv4Addr>().is_err() {
        return Err(Problem::UrlIpv4);
    }
    out.push_str(&ascii);
    Ok(())
}

/// Appends a path without its dot segments; an empty one is the root.
fn push_path(path: &str, out: &mut String) {
    let start = out.len();
    let segments = path.strip_prefix(['/', '\\']).unwrap_or(path).split(['/', '\\']);
    let mut ends_in_dots = false;
    for segment in segments {
        let is = |dots: [&str; 2]| dots.iter().any(|dots| dots.eq_ignore_ascii_case(segment));
        ends_in_dots = true;
        if is(["..", "%2e%2e"]) {
            let parent = out[start..].rfind('/').unwrap_or(0);
            out.truncate(start + parent);
        } else if !is([".", "%2e"]) {
            ends_in_dots = false;
            out.push('/');
            segment.chars().for_each(|c| push_encoded(c, " \"#<>?^`{}", out));
        }
    }
    if ends_in_dots {
        out.push('/');
    }
}

/// Appends a character: escaped if it is one of `encoded`, a control or not of ASCII; without the line ends and tabs that
/// URLs are read without.
fn push_encoded(c: char, encoded: &str, out: &mut String) {
    if matches!(c, '\t' | '\n' | '\r') {
        return;
    }
    if !(c.is_ascii_control() || !c.is_ascii() || encoded.contains(c)) {
        return out.push(c);
    }
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
        out.extend(['%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, Problem>) {
        let mut out = String::new();
        assert_eq!(parse(text, &mut out).map(|()| out.as_str()), expected, "{text:?}");
    }

    #[test]
    fn urls_are_written_as_usual() {
        let table = [
            ("https://example.org/", "https://example.org/"),
            ("HTTP://Example.ORG:80", "http://example.org/"),
            ("https://example.org:8443/a b?q=x y#z", "https://example.org:8443/a%20b?q=x%20y#z"),
            ("https:example.org", "https://example.org/"),
            ("http://h/a/./b/../c", "http://h/a/c"),
            ("http://user:pw@h/", "http://user:pw@h/"),
            ("http://b\u{fc}cher.example/\u{e9}", "http://xn--bcher-kva.example/%C3%A9"),
            ("http://[::1]:80/", "http://[::1]/"),
            ("http://192.0.2.1", "http://192.0.2.1/"),
            ("file:///srv/a", "file:///srv/a"),
            ("mailto:a@b.co", "mailto:a@b.co"),
            ("urn:x:y", "urn:x:y"),
            ("redis://cache:6379/0", "redis://cache:6379/0"),
            (" https://example.org ", "https://example.org/"),
        ];
        for (text, expected) in table {
            check(text, Ok(expected));
        }
    }

    #[test]
    fn what_is_no_url() {
        let table = [
            ("", Problem::UrlEmpty),
            ("example.org", Problem::UrlRelative),
            ("/tmp/x", Problem::UrlRelative),
            ("07:08", Problem::UrlRelative),
            ("http://", Problem::UrlHost),
            ("http://h:99999/", Problem::UrlPort),
            ("http://a b/", Problem::UrlHostCharacter),
            ("http://[::g]/", Problem::UrlIpv6),
            ("http://1.2.3.400/", Problem::UrlIpv4),
        ];
        for (text, expected) in table {
            check(text, Err(expected));
        }
    }
}
