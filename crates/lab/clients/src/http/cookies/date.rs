//! Dates of cookies, which servers write in many ways (RFC 6265 §5.1.1).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use time::{Date, Month, Time};

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Parses the expiry date of a cookie. The zone is always GMT. Dates before 1970 become the beginning of 1970; an
/// impossible day is invalid.
pub fn parse_date(text: &str) -> Option<SystemTime> {
    let is_delimiter = |c: char| !(c.is_ascii_alphanumeric() || c == ':');
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = time_of(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(token, 1..=2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(token, 2..=4)
        {
            year = Some(found);
        }
    }
    let year = match year? {
        year @ 70..=99 => year + 1900,
        year @ 0..=69 => year + 2000,
        year => year,
    };
    if year < 1601 {
        return None;
    }
    let (hour, minute, second) = time?;
    let date = Date::from_calendar_date(year.into(), month?, u8::try_from(day?).ok()?).ok()?;
    let time = Time::from_hms(hour, minute, second).ok()?;
    let seconds = date.with_time(time).as_utc().unix_timestamp();
    Some(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

fn time_of(token: &str) -> Option<(u8, u8, u8)> {
    let mut parts = token
        .splitn(3, ':')
        .map(|part| u8::try_from(number(part, 1..=2)?).ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}

fn month_of(token: &str) -> Option<Month> {
    let start = token.get(..3)?.to_ascii_lowercase();
    let position = MONTHS.iter().position(|month| *month == start)?;
    Month::try_from(u8::try_from(position + 1).ok()?).ok()
}

/// The digits at the front, if there are that many.
fn number(token: &str, n_digits: std::ops::RangeInclusive<usize>) -> Option<u16> {
    let end = token.find(|c: char| !c.is_ascii_digit()).unwrap_or(token.len());
    n_digits.contains(&end).then(|| token[..end].parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_are_read_in_all_their_forms() {
        let check = |text: &str, expected: Option<u64>| {
            let expected = expected.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(parse_date(text), expected, "{text}");
        };
        check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
        check("Wed, 09 Jun 2021 10:18:14 GMT", Some(1_623_233_894));
        check("Wednesday, 09-Jun-21 10:18:14 GMT", Some(1_623_233_894));
        check("Wed Jun  9 10:18:14 2021", Some(1_623_233_894));
        check("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199));
        check("Fri, 31-Dec-9999 23:59:59 GMT", Some(253_402_300_799));
        // Servers delete cookies with a day of one digit; others leave out the weekday or the zone, or name it
        // otherwise.
        check("Thu, 1 Jan 1970 00:00:00 GMT", Some(0));
        check("9 Jun 2021 10:18:14", Some(1_623_233_894));
        check("Wed, 09 Jun 2021 10:18:14 UTC", Some(1_623_233_894));
        check("Mon, 01 Jan 1601 00:00:00 GMT", Some(0));
        for bad in [
            "",
            "0",
            "Wed, 09 Jun 2021",
            "09 Jun 2021 24:00:00",
            "32 Jun 2021 10:00:00",
            "09 Foo 2021 10:00:00",
            "29 Feb 2023 10:00:00",
            "31 Apr 2021 10:00:00",
            "00 Jun 2021 10:00:00",
            "09 Jun 1600 10:00:00",
            "09 Jun 2021 10:60:00",
            "09 Jun 2021 10:00:60",
        ] {
            check(bad, None);
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in ".{0,60}") {
            let _ = parse_date(&text);
        }
    }
}
