//! Times for machines, always UTC: RFC 3339 with as many digits as the reader needs, and C's `asctime`.
//!
//! Times before 1970 count as 1970, those after 9999 as the last moment of 9999, the last that RFC 3339 can express.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use time::{OffsetDateTime, UtcDateTime, format_description::well_known::Rfc3339};

/// With milliseconds, for example `2026-11-21T19:49:03.120Z`.
pub fn rfc3339(time: SystemTime) -> String {
    let time = utc(time);
    format!("{}.{:03}Z", seconds(time), time.millisecond())
}

/// In whole seconds, for example `2026-11-21T19:49:03Z`.
pub fn rfc3339_secs(time: SystemTime) -> String {
    format!("{}Z", seconds(utc(time)))
}

/// With nanoseconds, always nine digits, for example `2026-11-21T19:49:03.120000000Z`.
pub fn rfc3339_nanos(time: SystemTime) -> String {
    let time = utc(time);
    format!("{}.{:09}Z", seconds(time), time.nanosecond())
}

/// The form of C's `asctime`, with two digits for the day: `Sun Nov 22 05:05:35 2026`.
pub fn asctime(time: SystemTime) -> String {
    let time = utc(time);
    let (weekday, month) = (time.weekday().to_string(), time.month().to_string());
    let (hour, minute, second) = time.as_hms();
    format!(
        "{weekday:.3} {month:.3} {:02} {hour:02}:{minute:02}:{second:02} {}",
        time.day(),
        time.year()
    )
}

/// The time that a text of RFC 3339 tells, in any offset from UTC. `None` for other texts, and before 1970.
pub fn parse_rfc3339(text: &str) -> Option<SystemTime> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    let since_epoch = u64::try_from(time.unix_timestamp()).ok()?;
    Some(UNIX_EPOCH + Duration::new(since_epoch, time.nanosecond()))
}

fn seconds(time: UtcDateTime) -> String {
    let (hour, minute, second) = time.as_hms();
    format!("{}T{hour:02}:{minute:02}:{second:02}", time.date())
}

fn utc(time: SystemTime) -> UtcDateTime {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i128::try_from(since_epoch.as_nanos())
        .ok()
        .and_then(|nanos| UtcDateTime::from_unix_timestamp_nanos(nanos).ok())
        .unwrap_or(UtcDateTime::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // Seconds as `date -u -d … +%s` prints them.
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59.000Z"),
            (1_795_290_543_120, "2026-11-21T19:49:03.120Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(ms)), expected, "{ms}");
        }
    }

    #[test]
    fn fractions_have_the_digits_that_were_asked_for() {
        let time = UNIX_EPOCH + Duration::new(1_795_290_543, 7_008_009);
        assert_eq!(rfc3339_secs(time), "2026-11-21T19:49:03Z");
        assert_eq!(rfc3339(time), "2026-11-21T19:49:03.007Z");
        assert_eq!(rfc3339_nanos(time), "2026-11-21T19:49:03.007008009Z");
    }

    #[test]
    fn texts_are_read_in_any_offset() {
        for (text, expected_ms) in [
            ("2026-11-21T19:49:03.120Z", Some(1_795_290_543_120)),
            ("2026-11-21T21:49:03.12+02:00", Some(1_795_290_543_120)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1969-12-31T23:59:59Z", None),
            ("2026-11-21", None),
            ("", None),
        ] {
            let found = parse_rfc3339(text).map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_millis());
            assert_eq!(found, expected_ms, "{text}");
        }
    }

    #[test]
    fn times_before_the_epoch_do_not_panic() {
        assert_eq!(
            rfc3339(UNIX_EPOCH - Duration::from_secs(1)),
            "1970-01-01T00:00:00.000Z"
        );
    }

    #[test]
    fn times_after_the_year_9999_are_its_end() {
        let last = UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        let latest = UNIX_EPOCH + Duration::new(i64::MAX.unsigned_abs(), 999_999_999);
        assert_eq!(rfc3339_secs(last), "9999-12-31T23:59:59Z");
        for time in [last + Duration::from_secs(1), latest] {
            assert_eq!(rfc3339_nanos(time), "9999-12-31T23:59:59.999999999Z");
            assert_eq!(asctime(time), "Fri Dec 31 23:59:59 9999");
        }
    }

    #[test]
    fn times_are_those_of_c() {
        let check = |seconds, expected| {
            assert_eq!(asctime(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        };
        check(0, "Thu Jan 01 00:00:00 1970");
        check(1_795_323_935, "Sun Nov 22 05:05:35 2026");
    }
}
