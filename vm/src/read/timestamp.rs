//! Text and numbers where a date, a time of day or both are wanted.
//!
//! More than RFC 3339 ([`crate::format`]): a space or `_` for the `T`, no seconds, no offset, more digits of a second, and
//! Unix time, in seconds or, where it is large, in milliseconds. Nothing allocates.

use std::fmt::{self, Write};

use jiff::civil;

use super::problem::Problem;

/// Unix time beyond this is in milliseconds. Unit: seconds.
const SECONDS_MAX: f64 = 2e10;

/// The first second of the year 0 in Unix time, and the last of 9999.
const UNIX_RANGE: (f64, f64) = (-62_167_219_200.0, 253_402_300_799.0);

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    year: i16,
    month: i8,
    day: i8,
}

/// A time of day without an offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    hour: u8,
    pub(crate) minute: u8,
    pub(crate) second: u8,
    pub(crate) micros: u32,
}

/// A time of day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Time {
    clock: Clock,
    /// Ahead of UTC. Unit: minutes.
    offset: Option<i16>,
}

/// Both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateTime {
    date: Date,
    time: Time,
}

/// Two digits.
fn two(bytes: &[u8], at: usize, problem: Problem) -> Result<u8, Problem> {
    match bytes.get(at..at + 2) {
        Some([a, b]) if a.is_ascii_digit() && b.is_ascii_digit() => Ok((a - b'0') * 10 + (b - b'0')),
        _ => Err(problem),
    }
}

fn expect(bytes: &[u8], at: usize, byte: u8, problem: Problem) -> Result<(), Problem> {
    if bytes.get(at) == Some(&byte) { Ok(()) } else { Err(problem) }
}

/// How many digits are at the start.
fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

impl Date {
    /// What a date takes. Unit: bytes.
    const BYTES: usize = 10;

    /// Reads a date and nothing else.
    pub(crate) fn parse(text: &str) -> Result<Date, Problem> {
        let date = Date::read(text.as_bytes())?;
        if text.len() > Date::BYTES { Err(Problem::ExtraCharacters) } else { Ok(date) }
    }

    /// Reads the date at the start.
    fn read(bytes: &[u8]) -> Result<Date, Problem> {
        if bytes.len() < Date::BYTES {
            return Err(Problem::TooShort);
        }
        let century = two(bytes, 0, Problem::Year)?;
        let year = i16::from(century) * 100 + i16::from(two(bytes, 2, Problem::Year)?);
        expect(bytes, 4, b'-', Problem::DateSeparator)?;
        let month = two(bytes, 5, Problem::Month)?.cast_signed();
        expect(bytes, 7, b'-', Problem::DateSeparator)?;
        let day = two(bytes, 8, Problem::Day)?.cast_signed();
        let first = civil::Date::new(year, month, 1).map_err(|_| Problem::MonthRange)?;
        if !(1..=first.days_in_month()).contains(&day) {
            return Err(Problem::DayRange);
        }
        Ok(Date { year, month, day })
    }

    /// The day of which there were so many since 1970 began; within the range of Unix time.
    fn from_unix_days(days: i64) -> Date {
        // Eras of 400 years, each beginning in March, so that the leap day is a year's last.
        let days = days + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Date { year: year as i16, month: month as i8, day: day as i8 }
    }

    /// Writes `YYYY-MM-DD`.
    pub(crate) fn write(self, out: &mut impl Write) -> fmt::Result {
        write!(out, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Clock {
    /// Reads the time of day at the start; answers where it ends.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Clock, usize), Problem> {
        if bytes.len() < 5 {
            return Err(Problem::TooShort);
        }
        let hour = two(bytes, 0, Problem::Hour)?;
        expect(bytes, 2, b':', Problem::TimeSeparator)?;
        let minute = two(bytes, 3, Problem::Minute)?;
        if hour > 23 {
            return Err(Problem::HourRange);
        }
        if minute > 59 {
            return Err(Problem::MinuteRange);
        }
        let clock = Clock { hour, minute, ..Clock::default() };
        if bytes.get(5) != Some(&b':') {
            return Ok((clock, 5));
        }
        let second = two(bytes, 6, Problem::Second)?;
        if second > 59 {
            return Err(Problem::SecondRange);
        }
        let clock = Clock { second, ..clock };
        let Some([b'.' | b',', fraction @ ..]) = bytes.get(8..) else {
            return Ok((clock, 8));
        };
        let len = digits(fraction);
        if len == 0 {
            return Err(Problem::FractionMissing);
        }
        // What is beyond microseconds is cut.
        let micros =
            (0..6).fold(0, |sum, at| sum * 10 + fraction[..len].get(at).map_or(0, |digit| u32::from(digit - b'0')));
        Ok((Clock { micros, ..clock }, 9 + len))
    }

    fn from_seconds_of_day(seconds: u32, micros: u32) -> Clock {
        Clock { hour: (seconds / 3_600) as u8, minute: (seconds / 60 % 60) as u8, second: (seconds % 60) as u8, micros }
    }
}

impl Time {
    /// Reads a time of day and nothing else.
    pub(crate) fn parse(text: &str) -> Result<Time, Problem> {
        Time::read(text.as_bytes())
    }

    fn read(bytes: &[u8]) -> Result<Time, Problem> {
        let (clock, at) = Clock::read(bytes)?;
        let rest = bytes.get(at..).unwrap_or_default();
        let (offset, rest) = read_offset(rest)?;
        if rest.is_empty() { Ok(Time { clock, offset }) } else { Err(Problem::ExtraCharacters) }
    }

    /// The time so many seconds after midnight, in UTC.
    pub(crate) fn from_seconds(seconds: f64) -> Result<Time, Problem> {
        if seconds.is_nan() {
            return Err(Problem::NotANumber);
        }
        if seconds < 0.0 {
            return Err(Problem::TimeTooSmall);
        }
        if seconds >= 86_400.0 {
            return Err(Problem::TimeTooLarge);
        }
        Ok(Time { clock: Clock::from_seconds_of_day(whole_of(seconds) as u32, micros_of(seconds)), offset: Some(0) })
    }

    /// Writes `HH:MM:SS[.ffffff][offset]`.
    pub(crate) fn write(self, out: &mut impl Write) -> fmt::Result {
        let Clock { hour, minute, second, micros } = self.clock;
        write!(out, "{hour:02}:{minute:02}:{second:02}")?;
        if micros > 0 {
            write!(out, ".{micros:06}")?;
        }
        match self.offset {
            None => Ok(()),
            Some(0) => out.write_char('Z'),
            Some(offset) => {
                let sign = if offset < 0 { '-' } else { '+' };
                let minutes = offset.unsigned_abs();
                write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

/// The offset at the start, and what follows.
fn read_offset(bytes: &[u8]) -> Result<(Option<i16>, &[u8]), Problem> {
    let (sign, rest) = match bytes {
        [] => return Ok((None, bytes)),
        [b'Z' | b'z', rest @ ..] => return Ok((Some(0), rest)),
        [b'+', rest @ ..] => (1, rest),
        // The minus sign of typesetters too, U+2212.
        [b'-', rest @ ..] | [0xe2, 0x88, 0x92, rest @ ..] => (-1, rest),
        _ => return Err(Problem::OffsetSign),
    };
    let hours = i16::from(two(rest, 0, Problem::OffsetHour)?);
    let at = if rest.get(2) == Some(&b':') { 3 } else { 2 };
    let minutes = i16::from(two(rest, at, Problem::OffsetMinute)?);
    if minutes > 59 {
        return Err(Problem::OffsetMinuteRange);
    }
    if hours > 23 {
        return Err(Problem::OffsetRange);
    }
    Ok((Some(sign * (hours * 60 + minutes)), rest.get(at + 2..).unwrap_or_default()))
}

impl DateTime {
    /// Reads a date with a time, or Unix time in digits.
    pub(crate) fn parse(text: &str) -> Result<DateTime, Problem> {
        let problem = match DateTime::read(text.as_bytes()) {
            Err(problem) => problem,
            read => return read,
        };
        unix_time(text).map_or(Err(problem), DateTime::from_seconds)
    }

    fn read(bytes: &[u8]) -> Result<DateTime, Problem> {
        let date = Date::read(bytes)?;
        match bytes.get(Date::BYTES) {
            Some(b'T' | b't' | b'_' | b' ') => {}
            _ => return Err(Problem::DateTimeSeparator),
        }
        let time = Time::read(bytes.get(Date::BYTES + 1..).unwrap_or_default())?;
        Ok(DateTime { date, time })
    }

    /// The start of a day, without an offset.
    pub(crate) fn of_date(date: Date) -> DateTime {
        DateTime { date, time: Time::default() }
    }

    /// Unix time, in UTC.
    pub(crate) fn from_seconds(seconds: f64) -> Result<DateTime, Problem> {
        if seconds.is_nan() {
            return Err(Problem::NotANumber);
        }
        let seconds = if seconds.abs() > SECONDS_MAX { seconds / 1_000.0 } else { seconds };
        let whole = seconds.floor();
        if whole < UNIX_RANGE.0 {
            return Err(Problem::DateTooSmall);
        }
        if whole > UNIX_RANGE.1 {
            return Err(Problem::DateTooLarge);
        }
        let (days, second) = ((whole as i64).div_euclid(86_400), (whole as i64).rem_euclid(86_400));
        let clock = Clock::from_seconds_of_day(second.unsigned_abs() as u32, micros_of(seconds - whole));
        Ok(DateTime { date: Date::from_unix_days(days), time: Time { clock, offset: Some(0) } })
    }

    /// The day, if this is its very start.
    pub(crate) fn exact_date(self) -> Option<Date> {
        (self.time.clock == Clock::default()).then_some(self.date)
    }

    /// Writes `YYYY-MM-DDTHH:MM:SS[.ffffff][offset]`.
    pub(crate) fn write(self, out: &mut impl Write) -> fmt::Result {
        self.date.write(out)?;
        out.write_char('T')?;
        self.time.write(out)
    }
}

/// The fraction of a second. Unit: microseconds, less than a second.
pub(crate) fn micros_of(seconds: f64) -> u32 {
    (whole_of((seconds.fract() * 1e6).round()) as u32).min(999_999)
}

/// The whole part of what is not negative.
#[allow(clippy::cast_sign_loss)] // there is no sign
pub(crate) fn whole_of(value: f64) -> u64 {
    value.trunc() as u64
}

/// The number that a text of digits is, with a sign or a point.
fn unix_time(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    let plain = plain && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, Problem>) {
        let written = DateTime::parse(text).map(|read| {
            let mut out = String::new();
            assert!(read.write(&mut out).is_ok());
            out
        });
        assert_eq!(written.as_deref().map_err(|problem| *problem), expected, "{text:?}");
    }

    #[test]
    fn date_times_in_many_spellings() {
        let table = [
            ("2024-05-06T07:08:09Z", "2024-05-06T07:08:09Z"),
            ("2024-05-06 07:08", "2024-05-06T07:08:00"),
            ("2024-05-06t07:08:09.5+02:00", "2024-05-06T07:08:09.500000+02:00"),
            ("2024-05-06_07:08:09,1234567-0130", "2024-05-06T07:08:09.123456-01:30"),
            ("0", "1970-01-01T00:00:00Z"),
            ("1.5", "1970-01-01T00:00:01.500000Z"),
            ("-1", "1969-12-31T23:59:59Z"),
            ("1700000000000", "2023-11-14T22:13:20Z"),
        ];
        for (text, expected) in table {
            check(text, Ok(expected));
        }
    }

    #[test]
    fn what_is_no_date_time() {
        let table = [
            ("", Problem::TooShort),
            ("2024-05-06", Problem::DateTimeSeparator),
            ("2024-05-06 ", Problem::TooShort),
            ("x024-05-06T07:08", Problem::Year),
            ("2024/05/06T07:08", Problem::DateSeparator),
            ("2024-13-06T07:08", Problem::MonthRange),
            ("2024-02-30T07:08", Problem::DayRange),
            ("2024-05-06T24:08", Problem::HourRange),
            ("2024-05-06T07:08:60", Problem::SecondRange),
            ("2024-05-06T07:08:09 ", Problem::OffsetSign),
            ("2024-05-06T07:08:09Z ", Problem::ExtraCharacters),
            ("2024-05-06T07:08:09+25:00", Problem::OffsetRange),
            ("1e3", Problem::TooShort),
            ("9999999999999999", Problem::DateTooLarge),
        ];
        for (text, expected) in table {
            check(text, Err(expected));
        }
    }

    #[test]
    fn days_of_unix_time_are_those_of_the_calendar() {
        let mut day = civil::date(0, 1, 1);
        for days in (-719_528..2_932_897).step_by(97) {
            let Date { year, month, day: of_month } = Date::from_unix_days(days);
            assert_eq!((year, month, of_month), (day.year(), day.month(), day.day()));
            day = day.saturating_add(jiff::Span::new().days(97));
        }
    }

    #[test]
    fn times_of_day() {
        assert_eq!(Time::from_seconds(86_400.0), Err(Problem::TimeTooLarge));
        assert_eq!(Time::from_seconds(-2.0), Err(Problem::TimeTooSmall));
        assert_eq!(Time::parse("07"), Err(Problem::TooShort));
        let mut out = String::new();
        assert!(Time::from_seconds(7.0).is_ok_and(|time| time.write(&mut out).is_ok()));
        assert_eq!(out, "00:00:07Z");
    }

    #[test]
    fn only_the_start_of_a_day_is_its_date() {
        assert!(DateTime::parse("2024-05-06T00:00:00+02:00").is_ok_and(|read| read.exact_date().is_some()));
        assert!(DateTime::parse("2024-05-06T00:00:01").is_ok_and(|read| read.exact_date().is_none()));
    }
}
