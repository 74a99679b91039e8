//! One JSON object: `{valid, line, missing_only, missing, signature, failures, unlisted?}`, each failure as
//! `{code, keyword, instance_location, keyword_location, message, description}`.
//!
//! It is written piece by piece, so that nothing is allocated.

use std::fmt::{self, Write};

use super::Rendering;
use crate::rejection::{Failure, Rejection};

pub(super) fn write(rejection: &Rejection<'_>, out: &mut dyn Write, rendering: &Rendering) -> fmt::Result {
    out.write_str("{\"valid\":false,\"line\":")?;
    text(out, |mut out| super::line::write(rejection, &mut out, rendering))?;
    write!(out, ",\"missing_only\":{},\"missing\":[", rejection.missing_only())?;
    for (at, missing) in rejection.missing().enumerate() {
        out.write_str(if at > 0 { "," } else { "" })?;
        text(out, |out| missing.write_pointer_masked(out, rendering.masked))?;
    }
    write!(out, "],\"signature\":\"{:016x}\",\"failures\":[", rejection.signature())?;
    for (at, failure) in rejection.failures().enumerate() {
        out.write_str(if at > 0 { "," } else { "" })?;
        write_failure(&failure, out, rendering)?;
    }
    out.write_char(']')?;
    match rejection.unlisted() {
        0 => {}
        unlisted => write!(out, ",\"unlisted\":{unlisted}")?,
    }
    out.write_char('}')
}

fn write_failure(failure: &Failure<'_, '_>, out: &mut dyn Write, rendering: &Rendering) -> fmt::Result {
    out.write_str("{\"code\":")?;
    text(out, |out| out.write_str(failure.code()))?;
    out.write_str(",\"keyword\":")?;
    opt_text(out, failure.keyword())?;
    out.write_str(",\"instance_location\":")?;
    text(out, |out| failure.write_instance_location(out, rendering.masked))?;
    out.write_str(",\"keyword_location\":")?;
    text(out, |out| out.write_str(failure.keyword_location()))?;
    out.write_str(",\"message\":")?;
    text(out, |out| failure.write_message(out, rendering.masked))?;
    out.write_str(",\"description\":")?;
    opt_text(out, failure.description())?;
    out.write_char('}')
}

fn opt_text(out: &mut dyn Write, value: Option<&str>) -> fmt::Result {
    match value {
        Some(value) => text(out, |out| out.write_str(value)),
        None => out.write_str("null"),
    }
}

/// Writes a JSON string of what `write` writes.
fn text(out: &mut dyn Write, write: impl FnOnce(&mut Escaped<'_>) -> fmt::Result) -> fmt::Result {
    out.write_char('"')?;
    write(&mut Escaped { out })?;
    out.write_char('"')
}

/// Escapes what JSON strings do not hold. Source: RFC 8259, section 7.
struct Escaped<'w> {
    out: &'w mut dyn Write,
}

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| matches!(c, '"' | '\\' | '\0'..='\u{1f}')) {
            let (run, after) = rest.split_at(at);
            self.out.write_str(run)?;
            let mut chars = after.chars();
            match chars.next() {
                Some('\n') => self.out.write_str("\\n")?,
                Some('\r') => self.out.write_str("\\r")?,
                Some('\t') => self.out.write_str("\\t")?,
                Some('\u{8}') => self.out.write_str("\\b")?,
                Some('\u{c}') => self.out.write_str("\\f")?,
                Some(c @ ('"' | '\\')) => write!(self.out, "\\{c}")?,
                Some(c) => write!(self.out, "\\u{:04x}", u32::from(c))?,
                None => {}
            }
            rest = chars.as_str();
        }
        self.out.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_serde_json() {
        for given in ["", "plain é 日", "a\"b\\c/d", "\n\r\t\u{8}\u{c}\u{1f}\u{7f}\0"] {
            let mut written = String::new();
            text(&mut written, |out| out.write_str(given)).expect("is written");
            assert_eq!(written, serde_json::to_string(given).expect("is written"));
        }
    }
}
