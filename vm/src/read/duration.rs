//! Text and numbers where a duration is wanted: ISO 8601 with fractions, `1 day, 02:30`, `02:30:00`, seconds.

use std::fmt::{self, Write};

use super::problem::Problem;
use super::timestamp::{Clock, micros_of, whole_of};

/// A length of time. Written as ISO 8601, with years of 365 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Duration {
    negative: bool,
    /// Less than [`DAYS_MAX`] and one more.
    days: u64,
    /// Less than a day.
    seconds: u64,
    /// Less than a second.
    micros: u64,
}

const DAYS_MAX: u64 = 999_999_999;

/// What an hour count may have at most. Unit: digits.
const HOUR_DIGITS_MAX: usize = 10;

/// Unit: hours.
const HOURS_MAX: u64 = 2_400_000_000;

/// Unit: seconds.
const DAY: u32 = 86_400;

/// Quantities that [`Duration`] is made from, not yet carried over.
#[derive(Default)]
struct Parts {
    days: u64,
    seconds: u64,
    micros: u64,
}

impl Parts {
    fn carried(self, negative: bool) -> Result<Duration, Problem> {
        let seconds = self.seconds.saturating_add(self.micros / 1_000_000);
        let day = u64::from(DAY);
        let days = self.days.saturating_add(seconds / day);
        if days > DAYS_MAX {
            return Err(Problem::DurationDaysTooLarge);
        }
        Ok(Duration { negative, days, seconds: seconds % day, micros: self.micros % 1_000_000 })
    }

    /// Adds `value` and the fraction of units of `unit_seconds`.
    fn add(&mut self, value: u64, fraction: f64, unit_seconds: u32) -> Result<(), Problem> {
        let add = |sum: u64, value: u64, by: u64| {
            value
                .checked_mul(by)
                .and_then(|more| sum.checked_add(more))
                .filter(|sum| *sum <= u64::from(u32::MAX) * by.max(1))
        };
        if unit_seconds >= DAY {
            self.days = add(self.days, value, (unit_seconds / DAY).into()).ok_or(Problem::DurationTooLarge)?;
        } else {
            self.seconds = add(self.seconds, value, unit_seconds.into()).ok_or(Problem::DurationTooLarge)?;
        }
        let extra = fraction * f64::from(unit_seconds);
        self.seconds += whole_of(extra);
        self.micros += whole_of((extra.fract() * 1e6).round());
        Ok(())
    }
}

impl Duration {
    /// Reads a text.
    pub(crate) fn parse(text: &str) -> Result<Duration, Problem> {
        let (negative, rest) = match text.as_bytes() {
            [] => return Err(Problem::TooShort),
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let is_in_days = text.len() < 5 || text.bytes().any(|byte| byte.eq_ignore_ascii_case(&b'd'));
        let parts = match rest {
            [b'P', quantities @ ..] => iso(quantities),
            _ if is_in_days => days_and_clock(rest),
            _ => clock(rest),
        };
        parts?.carried(negative)
    }

    /// So many seconds.
    pub(crate) fn from_seconds(seconds: f64) -> Result<Duration, Problem> {
        if seconds.is_nan() {
            return Err(Problem::NotANumber);
        }
        let length = seconds.abs();
        let parts = Parts { days: 0, seconds: whole_of(length), micros: micros_of(length).into() };
        parts.carried(seconds < 0.0)
    }

    /// Writes the duration as ISO 8601.
    pub(crate) fn write(self, out: &mut impl Write) -> fmt::Result {
        let nothing = self.days == 0 && self.seconds == 0 && self.micros == 0;
        out.write_str(if self.negative && !nothing { "-P" } else { "P" })?;
        if nothing {
            return out.write_str("T0S");
        }
        write_unit(out, self.days / 365, 'Y')?;
        write_unit(out, self.days % 365, 'D')?;
        if self.seconds == 0 && self.micros == 0 {
            return Ok(());
        }
        out.write_char('T')?;
        write_unit(out, self.seconds / 3_600, 'H')?;
        write_unit(out, self.seconds / 60 % 60, 'M')?;
        if self.micros == 0 {
            return write_unit(out, self.seconds % 60, 'S');
        }
        let (mut fraction, mut width) = (self.micros, 6);
        while fraction % 10 == 0 {
            fraction /= 10;
            width -= 1;
        }
        write!(out, "{}.{fraction:0width$}S", self.seconds % 60)
    }
}

fn write_unit(out: &mut impl Write, value: u64, unit: char) -> fmt::Result {
    if value == 0 { Ok(()) } else { write!(out, "{value}{unit}") }
}

/// A number at the start: its value, how much of it is a fraction, and what follows.
fn quantity(bytes: &[u8]) -> Result<(u64, f64, bool, &[u8]), Problem> {
    let (value, rest) = whole(bytes)?;
    let [b'.' | b',', fraction @ ..] = rest else {
        return Ok((value, 0.0, false, rest));
    };
    let (digits, rest) = fraction.split_at(fraction.iter().take_while(|byte| byte.is_ascii_digit()).count());
    if digits.is_empty() {
        return Err(Problem::DurationNumber);
    }
    let (part, _) =
        digits.iter().fold((0.0, 0.1), |(sum, unit), digit| (sum + f64::from(digit - b'0') * unit, unit / 10.0));
    Ok((value, part, true, rest))
}

fn whole(bytes: &[u8]) -> Result<(u64, &[u8]), Problem> {
    let (digits, rest) = bytes.split_at(bytes.iter().take_while(|byte| byte.is_ascii_digit()).count());
    if digits.is_empty() {
        return Err(Problem::DurationNumber);
    }
    let add = |sum: u64, digit: &u8| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    let value = digits.iter().try_fold(0, add).filter(|value| *value <= u32::MAX.into());
    value.map(|value| (value, rest)).ok_or(Problem::DurationTooLarge)
}

/// What follows the `P` of ISO 8601.
fn iso(bytes: &[u8]) -> Result<Parts, Problem> {
    let (mut parts, mut rest) = (Parts::default(), bytes);
    let (mut in_time, mut had_fraction) = (false, false);
    while let Some(first) = rest.first() {
        if *first == b'T' {
            if in_time {
                return Err(Problem::DurationT);
            }
            (in_time, rest) = (true, &rest[1..]);
            continue;
        }
        let (value, fraction, has_fraction, after) = quantity(rest)?;
        if had_fraction {
            return Err(Problem::DurationFraction);
        }
        had_fraction = has_fraction;
        let unit_seconds = match (in_time, after.first()) {
            (true, Some(b'H')) => 3_600,
            (true, Some(b'M')) => 60,
            (true, Some(b'S')) => 1,
            (true, _) => return Err(Problem::DurationTimeUnit),
            (false, Some(b'Y')) => 365 * DAY,
            (false, Some(b'M')) => 30 * DAY,
            (false, Some(b'W')) => 7 * DAY,
            (false, Some(b'D')) => DAY,
            (false, _) => return Err(Problem::DurationDateUnit),
        };
        parts.add(value, fraction, unit_seconds)?;
        rest = &after[1..];
    }
    if bytes.len() < 2 { Err(Problem::TooShort) } else { Ok(parts) }
}

/// `2d`, `2 days`, `2 days, 03:04:05`.
fn days_and_clock(bytes: &[u8]) -> Result<Parts, Problem> {
    let (days, rest) = whole(bytes)?;
    let is = |byte: Option<&u8>, letter: u8| byte.is_some_and(|byte| byte.eq_ignore_ascii_case(&letter));
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    if !is(rest.first(), b'd') {
        return Err(Problem::DurationDays);
    }
    let mut rest = &rest[1..];
    if is(rest.first(), b'a') {
        if !is(rest.get(1), b'y') {
            return Err(Problem::DurationDays);
        }
        rest = &rest[2..];
        if is(rest.first(), b's') {
            rest = &rest[1..];
        }
    }
    let rest = rest.strip_prefix(b",").unwrap_or(rest);
    let parts = match rest {
        [] => Parts::default(),
        [b' ', time @ ..] => clock(time)?,
        _ => return Err(Problem::DurationDays),
    };
    Ok(Parts { days: parts.days.saturating_add(days), ..parts })
}

/// `HOURS:MM`, `HOURS:MM:SS.ffffff`; the hours may be more than a day has.
fn clock(bytes: &[u8]) -> Result<Parts, Problem> {
    if bytes.len() < 5 {
        return Err(Problem::TooShort);
    }
    let at = bytes.iter().position(|byte| *byte == b':').ok_or(Problem::Hour)?;
    let (hours, rest) = bytes.split_at(at);
    if hours.len() > HOUR_DIGITS_MAX {
        return Err(Problem::DurationHoursTooLarge);
    }
    let digit = |sum: u64, byte: &u8| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0'));
    let hours = hours.iter().try_fold(0, digit).ok_or(Problem::Hour)?;
    if hours > HOURS_MAX {
        return Err(Problem::DurationHoursTooLarge);
    }
    let mut hour = [b'0'; CLOCK_BYTES];
    let len = rest.len().min(CLOCK_BYTES - 2);
    hour[2..2 + len].copy_from_slice(&rest[..len]);
    let (clock, end) = Clock::read(&hour[..2 + len])?;
    if end < 2 + len {
        return Err(Problem::ExtraCharacters);
    }
    let seconds = hours * 3_600 + u64::from(clock.minute) * 60 + u64::from(clock.second);
    Ok(Parts { days: 0, seconds, micros: clock.micros.into() })
}

/// `00:00:00.000000`, beyond which a fraction is cut.
const CLOCK_BYTES: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, Problem>) {
        let written = Duration::parse(text).map(|duration| {
            let mut out = String::new();
            assert!(duration.write(&mut out).is_ok());
            out
        });
        assert_eq!(written.as_deref().map_err(|problem| *problem), expected, "{text:?}");
    }

    #[test]
    fn durations_in_many_spellings() {
        let table = [
            ("PT30M", "PT30M"),
            ("P1D", "P1D"),
            ("P1DT2H", "P1DT2H"),
            ("-P1W", "-P7D"),
            ("P400D", "P1Y35D"),
            ("PT1.5S", "PT1.5S"),
            ("PT0S", "PT0S"),
            ("PT90M", "PT1H30M"),
            ("1 day", "P1D"),
            ("2d", "P2D"),
            ("2 days, 03:04:05", "P2DT3H4M5S"),
            ("00:30:00", "PT30M"),
            ("07:08", "PT7H8M"),
            ("36:00:00.25", "P1DT12H0.25S"),
        ];
        for (text, expected) in table {
            check(text, Ok(expected));
        }
    }

    #[test]
    fn what_is_no_duration() {
        let table = [
            ("", Problem::TooShort),
            ("P", Problem::TooShort),
            ("+7", Problem::DurationDays),
            ("1e3", Problem::DurationDays),
            ("LOW", Problem::DurationNumber),
            ("P1", Problem::DurationDateUnit),
            ("PT1D", Problem::DurationTimeUnit),
            ("PTT1S", Problem::DurationT),
            ("PT1.5H1M", Problem::DurationFraction),
            ("/tmp/x", Problem::Hour),
            ("2024-05-06 07:08", Problem::DurationHoursTooLarge),
            ("07:61", Problem::MinuteRange),
            ("P99999999999D", Problem::DurationTooLarge),
        ];
        for (text, expected) in table {
            check(text, Err(expected));
        }
    }

    #[test]
    fn seconds() {
        let written = |seconds| {
            let mut out = String::new();
            let duration = Duration::from_seconds(seconds)?;
            assert!(duration.write(&mut out).is_ok());
            Ok(out)
        };
        assert_eq!(written(0.0).as_deref(), Ok("PT0S"));
        assert_eq!(written(-1.0).as_deref(), Ok("-PT1S"));
        assert_eq!(written(1000.0).as_deref(), Ok("PT16M40S"));
        assert_eq!(written(1e20), Err(Problem::DurationDaysTooLarge));
        assert_eq!(written(f64::NAN), Err(Problem::NotANumber));
    }
}
