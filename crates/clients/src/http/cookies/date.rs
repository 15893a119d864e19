//! Dates of cookies, which servers write in many ways (RFC 6265 §5.1.1).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Reads the date at which a cookie ends; the zone is always that of Greenwich. Dates before 1970 are the beginning of 1970.
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
    let (day, (hour, minute, second)) = (day?, time?);
    if !(1..=31).contains(&day) || year < 1601 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days_since_1970(year, month?, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

fn time_of(token: &str) -> Option<(i64, i64, i64)> {
    let mut parts = token.splitn(3, ':').map(|part| number(part, 1..=2));
    Some((parts.next()??, parts.next()??, parts.next()??))
}

fn month_of(token: &str) -> Option<i64> {
    let start = token.get(..3)?.to_ascii_lowercase();
    let position = MONTHS.iter().position(|month| *month == start)?;
    i64::try_from(position + 1).ok()
}

/// The digits at the front, if there are that many.
fn number(token: &str, n_digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let end = token.find(|c: char| !c.is_ascii_digit()).unwrap_or(token.len());
    n_digits.contains(&end).then(|| token[..end].parse().ok())?
}

/// Of the Gregorian calendar; the year begins in March, so that a leap day is its last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
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
        check("Mon, 01 Jan 1601 00:00:00 GMT", Some(0));
        for bad in [
            "",
            "0",
            "Wed, 09 Jun 2021",
            "09 Jun 2021 24:00:00",
            "32 Jun 2021 10:00:00",
            "09 Foo 2021 10:00:00",
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
