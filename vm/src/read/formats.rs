//! Strings of a format, and what is taken for one.
//!
//! A format that Python has a type for is read as that type; all others are strings that the format checks.

use std::fmt::{self, Write as _};

use super::Mode;
use super::duration::Duration;
use super::failure::FieldCode;
use super::problem::Problem;
use super::timestamp::{Date, DateTime, Time};
use super::walk::{Exactness, Misfit, Reader, Step, Value};
use super::{email, url};
use crate::format::Format;
use crate::instance::View;
use crate::number::Number;
use crate::tape::Node;

type Taken<'t> = Result<Value<'t>, Misfit>;

impl<'t> Reader<'_, 't> {
    /// The value as text of the format.
    pub(super) fn formatted(&mut self, format: Format, view: View<'t>, node: Node) -> Step<Taken<'t>> {
        self.spend(1 + view.bytes() as u64 / 4)?;
        if self.mode == Mode::Schema {
            return Ok(self.as_schema_says(format, view));
        }
        Ok(match format {
            Format::DateTime => self.date_time(view, node),
            Format::Date => self.date(view, node),
            Format::Time => self.time(view, node),
            Format::Duration => self.duration(view, node),
            Format::Uuid => self.uuid(view, node),
            Format::Uri => self.url(view, node),
            Format::Ipv4 => self.ipv4(view, node),
            Format::Email | Format::IdnEmail => self.email(view),
            _ => self.as_schema_says(format, view),
        })
    }

    /// A string that the format checks. What is wrong with another is told by the parser that would read it.
    fn as_schema_says(&mut self, format: Format, view: View<'t>) -> Taken<'t> {
        let View::String(text) = view else {
            return Err(type_code(format).into());
        };
        let plain = text.plain(self.scratch.patterns.plain());
        if format.check(plain) {
            return Ok(Value::Text(text));
        }
        let misfit = match format {
            Format::DateTime => Misfit {
                code: FieldCode::DateTimeFromDate,
                problem: DateTime::parse(plain).err().or_else(|| Date::parse(plain).err()),
            },
            Format::Date => Misfit { code: FieldCode::DateFromDateTime, problem: Date::parse(plain).err() },
            Format::Time => Misfit { code: FieldCode::TimeParsing, problem: Time::parse(plain).err() },
            Format::Duration => Misfit { code: FieldCode::TimeDeltaParsing, problem: Duration::parse(plain).err() },
            Format::Uri => {
                self.reading.spare.clear();
                Misfit { code: FieldCode::UrlParsing, problem: url::parse(plain, &mut self.reading.spare).err() }
            }
            Format::Email | Format::IdnEmail => Misfit { code: FieldCode::Email, problem: email::check(plain).err() },
            Format::Uuid => FieldCode::UuidParsing.into(),
            Format::Ipv4 => FieldCode::Ipv4.into(),
            Format::Ipv6 => FieldCode::Ipv6.into(),
            _ => FieldCode::Format.into(),
        };
        Err(misfit)
    }

    /// Notes what is read, unless it is written so already.
    fn write_text(&mut self, node: Node, write: impl FnOnce(&mut String) -> fmt::Result) -> Value<'t> {
        self.edit(node, |out| {
            out.push('"');
            write(out)?;
            out.write_char('"')
        });
        Value::Settled
    }

    fn date_time(&mut self, view: View<'t>, node: Node) -> Taken<'t> {
        let read = match view {
            View::String(text) => {
                let text = text.plain(self.scratch.patterns.plain());
                let date = || Date::parse(text).map(DateTime::of_date);
                match DateTime::parse(text) {
                    Err(problem) if self.mode != Mode::Lax => Err(Misfit::of(FieldCode::DateTimeParsing, problem)),
                    Err(_) => date().map_err(|problem| Misfit::of(FieldCode::DateTimeFromDate, problem)),
                    Ok(read) => Ok(read),
                }
            }
            View::Number(number) if self.mode == Mode::Lax => DateTime::from_seconds(number.nearest_double())
                .map_err(|problem| Misfit::of(FieldCode::DateTimeParsing, problem)),
            _ => Err(FieldCode::DateTime.into()),
        }?;
        self.floor(Exactness::Lax);
        Ok(self.write_text(node, |out| read.write(out)))
    }

    fn date(&mut self, view: View<'t>, node: Node) -> Taken<'t> {
        let midnight = |read: Result<DateTime, Problem>| match read.map(DateTime::exact_date) {
            Ok(Some(date)) => Ok(date),
            Ok(None) => Err(FieldCode::DateInexact.into()),
            Err(problem) => Err(Misfit::of(FieldCode::DateFromDateTime, problem)),
        };
        let read = match view {
            View::String(text) => {
                let text = text.plain(self.scratch.patterns.plain());
                match Date::parse(text) {
                    Err(problem) if self.mode != Mode::Lax => Err(Misfit::of(FieldCode::DateFromDateTime, problem)),
                    Err(_) => midnight(DateTime::parse(text)),
                    Ok(date) => Ok(date),
                }
            }
            View::Number(number) if self.mode == Mode::Lax => midnight(DateTime::from_seconds(number.nearest_double())),
            _ => Err(FieldCode::Date.into()),
        }?;
        self.floor(Exactness::Lax);
        Ok(self.write_text(node, |out| read.write(out)))
    }

    fn time(&mut self, view: View<'t>, node: Node) -> Taken<'t> {
        let read = match view {
            View::String(text) => Time::parse(text.plain(self.scratch.patterns.plain())),
            View::Number(number) if self.mode == Mode::Lax => Time::from_seconds(number.nearest_double()),
            _ => return Err(FieldCode::Time.into()),
        };
        let read = read.map_err(|problem| Misfit::of(FieldCode::TimeParsing, problem))?;
        self.floor(Exactness::Lax);
        Ok(self.write_text(node, |out| read.write(out)))
    }

    fn duration(&mut self, view: View<'t>, node: Node) -> Taken<'t> {
        let read = match view {
            View::String(text) => Duration::parse(text.plain(self.scratch.patterns.plain())),
            View::Number(number) if self.mode == Mode::Lax => Duration::from_seconds(number.nearest_double()),
            View::Bool(is) if self.mode == Mode::Lax => Duration::from_seconds(f64::from(u8::from(is))),
            _ => return Err(FieldCode::TimeDelta.into()),
        };
        let read = read.map_err(|problem| Misfit::of(FieldCode::TimeDeltaParsing, problem))?;
        self.floor(Exactness::Lax);
        Ok(self.write_text(node, |out| read.write(out)))
    }

    fn uuid(&mut self, view: View<'t>, node: Node) -> Taken<'t> {
        let View::String(text) = view else {
            return Err(FieldCode::Uuid.into());
        };
        let text = text.plain(self.scratch.patterns.plain());
        let read = uuid::Uuid::try_parse(text).map_err(|_| FieldCode::UuidParsing)?;
        self.floor(Exactness::Lax);
        Ok(self.write_text(node, |out| write!(out, "{}", read.hyphenated())))
    }

    fn url(&mut self, view: View<'t>, node: Node) -> Taken<'t> {
        let View::String(text) = view else {
            return Err(FieldCode::Url.into());
        };
        let text = text.plain(self.scratch.patterns.plain());
        self.reading.spare.clear();
        url::parse(text, &mut self.reading.spare).map_err(|problem| Misfit::of(FieldCode::UrlParsing, problem))?;
        self.floor(Exactness::Lax);
        let url = std::mem::take(&mut self.reading.spare);
        let value = self.write_text(node, |out| url.chars().try_for_each(|c| write_json_char(out, c)));
        self.reading.spare = url;
        Ok(value)
    }

    fn ipv4(&mut self, view: View<'t>, node: Node) -> Taken<'t> {
        let address = match view {
            View::String(text) => {
                let is = Format::Ipv4.check(text.plain(self.scratch.patterns.plain()));
                return if is { Ok(Value::Settled) } else { Err(FieldCode::Ipv4.into()) };
            }
            View::Number(Number::Int(int)) if self.mode == Mode::Lax => {
                u32::try_from(int).map_err(|_| FieldCode::Ipv4)?
            }
            View::Bool(is) if self.mode == Mode::Lax => is.into(),
            _ => return Err(FieldCode::Ipv4.into()),
        };
        self.floor(Exactness::Lax);
        Ok(self.write_text(node, |out| write!(out, "{}", std::net::Ipv4Addr::from(address))))
    }

    fn email(&mut self, view: View<'t>) -> Taken<'t> {
        let View::String(text) = view else {
            return Err(FieldCode::String.into());
        };
        match email::check(text.plain(self.scratch.patterns.plain())) {
            Ok(()) => Ok(Value::Text(text)),
            Err(problem) => Err(Misfit::of(FieldCode::Email, problem)),
        }
    }
}

/// What a value that is no string is said not to be.
fn type_code(format: Format) -> FieldCode {
    match format {
        Format::DateTime => FieldCode::DateTime,
        Format::Date => FieldCode::Date,
        Format::Time => FieldCode::Time,
        Format::Duration => FieldCode::TimeDelta,
        Format::Uuid => FieldCode::Uuid,
        Format::Uri => FieldCode::Url,
        Format::Ipv4 => FieldCode::Ipv4,
        Format::Ipv6 => FieldCode::Ipv6,
        _ => FieldCode::String,
    }
}

/// Writes a character of a JSON string. Source: RFC 8259, section 7.
pub(super) fn write_json_char(out: &mut impl fmt::Write, c: char) -> fmt::Result {
    match c {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        c if c < ' ' => write!(out, "\\u{:04x}", u32::from(c)),
        c => out.write_char(c),
    }
}
