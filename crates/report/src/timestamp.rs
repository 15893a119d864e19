//! Points in time for machines: RFC 3339, always UTC, with as many digits as its reader wants.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// With milliseconds, for example `2026-11-21T19:49:03.120Z`. Times before 1970 count as 1970.
pub fn rfc3339(time: SystemTime) -> String {
    with_fraction(time, |nanos| format!(".{:03}", nanos / 1_000_000))
}

/// In whole seconds, for example `2026-11-21T19:49:03Z`.
pub fn rfc3339_secs(time: SystemTime) -> String {
    with_fraction(time, |_| String::new())
}

/// With nanoseconds, always nine digits, for example `2026-11-21T19:49:03.120000000Z`.
pub fn rfc3339_nanos(time: SystemTime) -> String {
    with_fraction(time, |nanos| format!(".{nanos:09}"))
}

fn with_fraction(time: SystemTime, fraction: impl Fn(u32) -> String) -> String {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let secs = since_epoch.as_secs();
    let (year, month, day) = date(secs / 86_400);
    let (hour, minute, second) = (secs / 3600 % 24, secs / 60 % 60, secs % 60);
    let fraction = fraction(since_epoch.subsec_nanos());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// Year, month and day of the Gregorian calendar, `days` after 1970-01-01.
///
/// Counts in years that begin on 1 March, so that the leap day is the last of a year, and in eras of 400 years,
/// which all have 146,097 days.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // since 0000-03-01
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
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
    fn times_before_the_epoch_do_not_panic() {
        assert_eq!(
            rfc3339(UNIX_EPOCH - Duration::from_secs(1)),
            "1970-01-01T00:00:00.000Z"
        );
    }
}
