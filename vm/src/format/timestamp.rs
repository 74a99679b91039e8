//! Dates, times of day and durations in the syntax of RFC 3339.
//!
//! The grammar is read here, digit by digit, since the readers of calendar crates take more than
//! it; `jiff` knows how long a month is. The second 60 is taken on any date, if it is the last of
//! a day in UTC: which days have a leap second is announced only months ahead. Left out are the
//! space that section 5.6 lets applications put for `T`, and the fractions and signs that later
//! editions of ISO 8601 give durations. Nothing allocates.

use jiff::civil::Date;

/// Minutes in a day.
const DAY: i32 = 24 * 60;

/// Whether `text` is a `date-time` of RFC 3339 section 5.6.
pub(super) fn is_date_time(text: &str) -> bool {
    let mut reader = Reader::new(text);
    full_date(&mut reader)
        .and_then(|()| reader.take(b'T'))
        .and_then(|()| full_time(&mut reader))
        .is_some_and(|()| reader.is_at_end())
}

/// Whether `text` is a `full-date` of RFC 3339 section 5.6.
pub(super) fn is_full_date(text: &str) -> bool {
    let mut reader = Reader::new(text);
    full_date(&mut reader).is_some_and(|()| reader.is_at_end())
}

/// Whether `text` is a `full-time` of RFC 3339 section 5.6.
pub(super) fn is_full_time(text: &str) -> bool {
    let mut reader = Reader::new(text);
    full_time(&mut reader).is_some_and(|()| reader.is_at_end())
}

/// Whether `text` is a `duration` of RFC 3339 appendix A. Its letters may be of either case, as
/// in all ABNF (RFC 5234 section 2.3).
pub(super) fn is_duration(text: &str) -> bool {
    let mut reader = Reader::new(text);
    reader.take(b'P').is_some() && (is_weeks(reader.clone()) || is_date_and_time(reader))
}

/// `dur-week`, to the end.
fn is_weeks(mut reader: Reader) -> bool {
    reader.digits() > 0 && reader.take(b'W').is_some() && reader.is_at_end()
}

/// `dur-date` or `dur-time`, to the end.
fn is_date_and_time(mut reader: Reader) -> bool {
    let Some(date) = dur_elements(&mut reader, b"YMD") else {
        return false;
    };
    if reader.is_at_end() {
        return date > 0;
    }
    reader.take(b'T').is_some() && dur_elements(&mut reader, b"HMS").is_some_and(|time| time > 0) && reader.is_at_end()
}

/// The count of elements `1*DIGIT unit`, up to what is no digit. The first may have any of the
/// units, each after it must have the next unit in line: appendix A leaves no gaps.
fn dur_elements(reader: &mut Reader, units: &[u8]) -> Option<usize> {
    let mut count = 0;
    let mut allowed = units;
    while reader.digits() > 0 {
        let unit = reader.next()?.to_ascii_uppercase();
        let place = allowed.iter().position(|u| *u == unit)?;
        if count > 0 && place > 0 {
            return None;
        }
        allowed = &allowed[place + 1..];
        count += 1;
    }
    Some(count)
}

/// `full-date`, a day of the proleptic Gregorian calendar in the years 0000 to 9999.
fn full_date(reader: &mut Reader) -> Option<()> {
    let year = i16::try_from(reader.number(4)?).ok()?;
    reader.take(b'-')?;
    let month = i8::try_from(reader.number(2)?).ok()?;
    reader.take(b'-')?;
    let day = i8::try_from(reader.number(2)?).ok()?;
    is_day(year, month, day).then_some(())
}

/// Asks for the month's length, not for the day itself, since the crate's error may allocate.
fn is_day(year: i16, month: i8, day: i8) -> bool {
    (1..=12).contains(&month) && Date::new(year, month, 1).is_ok_and(|first| (1..=first.days_in_month()).contains(&day))
}

/// `full-time`. The second 60 must be the last of its day in UTC.
fn full_time(reader: &mut Reader) -> Option<()> {
    let minute = hour_and_minute(reader)?;
    reader.take(b':')?;
    let second = reader.number(2)?;
    if reader.take(b'.').is_some() && reader.digits() == 0 {
        return None;
    }
    let offset = time_offset(reader)?;
    let is_last = (minute - offset).rem_euclid(DAY) == DAY - 1;
    (second < 60 || second == 60 && is_last).then_some(())
}

/// `time-offset`, in minutes ahead of UTC.
fn time_offset(reader: &mut Reader) -> Option<i32> {
    match reader.next()? {
        b'Z' | b'z' => Some(0),
        b'+' => hour_and_minute(reader),
        b'-' => hour_and_minute(reader).map(|minutes| -minutes),
        _ => None,
    }
}

/// `time-hour ":" time-minute`, in minutes.
fn hour_and_minute(reader: &mut Reader) -> Option<i32> {
    let hour = reader.number(2)?;
    reader.take(b':')?;
    let minute = reader.number(2)?;
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

/// What is left to read.
#[derive(Clone)]
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Reader<'a> {
        Reader { rest: text.as_bytes() }
    }

    fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Passes over `byte`, a letter in either case; over nothing if another comes.
    fn take(&mut self, byte: u8) -> Option<()> {
        let (first, rest) = self.rest.split_first()?;
        first.eq_ignore_ascii_case(&byte).then(|| self.rest = rest)
    }

    /// Passes over as many digits as come, and counts them.
    fn digits(&mut self) -> usize {
        let other = self.rest.iter().position(|b| !b.is_ascii_digit());
        let count = other.unwrap_or(self.rest.len());
        self.rest = &self.rest[count..];
        count
    }

    /// The number of exactly `width` digits, at most 4; more digits may follow.
    fn number(&mut self, width: usize) -> Option<i32> {
        let (digits, rest) = self.rest.split_at_checked(width)?;
        self.rest = rest;
        digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i32::from(digit - b'0')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(is_valid: fn(&str) -> bool, text: &str, expected: bool) {
        assert_eq!(is_valid(text), expected, "{text:?}");
    }

    #[test]
    fn dates_follow_the_calendar() {
        check(is_full_date, "2000-02-29", true);
        check(is_full_date, "1900-02-29", false);
        check(is_full_date, "0000-02-29", true);
        check(is_full_date, "9999-12-31", true);
        check(is_full_date, "2023-11-31", false);
        check(is_full_date, "2023-13-01", false);
        check(is_full_date, "2023-00-01", false);
        check(is_full_date, "2023-01-00", false);
    }

    #[test]
    fn dates_have_one_spelling() {
        check(is_full_date, "2023-1-05", false);
        check(is_full_date, "02023-01-05", false);
        check(is_full_date, "-2023-01-05", false);
        check(is_full_date, "2023/01/05", false);
        check(is_full_date, "2023-01-05 ", false);
        check(is_full_date, "2023-01-0\u{665}", false);
        check(is_full_date, "2023-01-", false);
    }

    #[test]
    fn times_have_an_offset() {
        check(is_full_time, "00:00:00Z", true);
        check(is_full_time, "23:59:59.000000000000000000001z", true);
        check(is_full_time, "07:15:00-00:00", true);
        check(is_full_time, "07:15:00+23:59", true);
        check(is_full_time, "07:15:00", false);
        check(is_full_time, "07:15:00.Z", false);
        check(is_full_time, "07:15Z", false);
        check(is_full_time, "24:00:00Z", false);
        check(is_full_time, "07:60:00Z", false);
        check(is_full_time, "07:15:00+2400", false);
        check(is_full_time, "07:15:00+24:00", false);
    }

    #[test]
    fn leap_seconds_end_the_day_in_utc() {
        check(is_full_time, "23:59:60Z", true);
        check(is_full_time, "23:59:60.999Z", true);
        check(is_full_time, "05:44:60+05:45", true);
        check(is_full_time, "20:29:60-03:30", true);
        check(is_full_time, "00:00:60Z", false);
        check(is_full_time, "23:59:60+05:45", false);
        check(is_full_time, "23:59:61Z", false);
        check(is_full_time, "23:59:99Z", false);
    }

    #[test]
    fn date_times_join_both() {
        check(is_date_time, "2024-02-29T12:30:45Z", true);
        check(is_date_time, "2024-02-29t12:30:45.5+01:00", true);
        check(is_date_time, "2017-01-01T08:59:60+09:00", true);
        check(is_date_time, "2024-02-29 12:30:45Z", false);
        check(is_date_time, "2023-02-29T12:30:45Z", false);
        check(is_date_time, "2024-02-29T12:30:45", false);
        check(is_date_time, "2024-02-29", false);
        check(is_date_time, "2024-02-29T12:30:45Z[UTC]", false);
    }

    #[test]
    fn durations_leave_no_gap() {
        check(is_duration, "P3Y6M4DT12H30M5S", true);
        check(is_duration, "P6M4D", true);
        check(is_duration, "P3YT30M", true);
        check(is_duration, "p1dt1h", true);
        check(is_duration, "P3Y4D", false);
        check(is_duration, "PT12H5S", false);
        check(is_duration, "P4D6M", false);
        check(is_duration, "P6M6M", false);
        check(is_duration, "PT5S1S", false);
    }

    #[test]
    fn durations_are_never_empty() {
        check(is_duration, "", false);
        check(is_duration, "P", false);
        check(is_duration, "PT", false);
        check(is_duration, "P1DT", false);
        check(is_duration, "PD", false);
        check(is_duration, "P1", false);
        check(is_duration, "PT1", false);
        check(is_duration, "1D", false);
    }

    #[test]
    fn weeks_stand_alone() {
        check(is_duration, "P52W", true);
        check(is_duration, "PW", false);
        check(is_duration, "P1W1D", false);
        check(is_duration, "P1D1W", false);
        check(is_duration, "PT1W", false);
    }

    #[test]
    fn durations_count_whole_units() {
        check(is_duration, "PT007S", true);
        check(is_duration, "PT1.5S", false);
        check(is_duration, "PT1,5S", false);
        check(is_duration, "P+1D", false);
        check(is_duration, "P1D ", false);
        check(is_duration, "P\u{661}D", false);
    }
}
