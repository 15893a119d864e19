//! msgpack's timestamps as text: what `toJSON` of a date is in JavaScript, with more digits where there are more.

/// The last second of the year 9999, the last one that RFC 3339 can write.
const MAX_SECONDS: i64 = 253_402_300_799;
/// The first second of the year 0.
const MIN_SECONDS: i64 = -62_167_219_200;

const SECONDS_PER_DAY: i64 = 86_400;

/// The text of a timestamp's 4, 8 or 12 bytes; `None` for other lengths and for times that have no such text.
pub(super) fn to_text(data: &[u8]) -> Option<String> {
    let (seconds, nanoseconds) = match data.len() {
        4 => (i64::from(u32::from_be_bytes(data.try_into().ok()?)), 0),
        8 => {
            let both = u64::from_be_bytes(data.try_into().ok()?);
            // 30 bits and 34 bits: neither cuts anything.
            ((both & 0x3_ffff_ffff) as i64, (both >> 34) as u32)
        }
        12 => {
            let (nanoseconds, seconds) = data.split_first_chunk::<4>()?;
            let seconds = i64::from_be_bytes(seconds.try_into().ok()?);
            (seconds, u32::from_be_bytes(*nanoseconds))
        }
        _ => return None,
    };
    let is_possible = (MIN_SECONDS..=MAX_SECONDS).contains(&seconds) && nanoseconds < 1_000_000_000;
    is_possible.then(|| format(seconds, nanoseconds))
}

fn format(seconds: i64, nanoseconds: u32) -> String {
    let (year, month, day) = date(seconds.div_euclid(SECONDS_PER_DAY));
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = match nanoseconds {
        _ if nanoseconds.is_multiple_of(1_000_000) => format!("{:03}", nanoseconds / 1_000_000),
        _ if nanoseconds.is_multiple_of(1_000) => format!("{:06}", nanoseconds / 1_000),
        _ => format!("{nanoseconds:09}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction}Z")
}

/// Year, month and day of a day that is counted from 1970-01-01, in the calendar of Gregory at all times.
///
/// The years are those that begin in March, so that the leap day is the last of its year, and 400 of them have always
/// the same number of days.
fn date(day: i64) -> (i64, i64, i64) {
    const DAYS_PER_400_YEARS: i64 = 146_097;
    /// From 0000-03-01 to 1970-01-01.
    const EPOCH: i64 = 719_468;

    let day = day + EPOCH;
    let (era, day) = (
        day.div_euclid(DAYS_PER_400_YEARS),
        day.rem_euclid(DAYS_PER_400_YEARS),
    );
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Of five months from March on, every time, the days are 31, 30, 31, 30, 31.
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (400 * era + year + next_year, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: i64, nanoseconds: u32, expected: Option<&str>) {
        let mut data = nanoseconds.to_be_bytes().to_vec();
        data.extend(seconds.to_be_bytes());
        assert_eq!(
            to_text(&data).as_deref(),
            expected,
            "{seconds} s, {nanoseconds} ns"
        );
    }

    #[test]
    fn times_are_written_as_javascript_writes_them() {
        check(0, 0, Some("1970-01-01T00:00:00.000Z"));
        check(-1, 999_000_000, Some("1969-12-31T23:59:59.999Z"));
        check(951_782_400, 0, Some("2000-02-29T00:00:00.000Z"));
        check(951_868_800, 0, Some("2000-03-01T00:00:00.000Z"));
        check(4_107_542_400, 1_000, Some("2100-03-01T00:00:00.000001Z"));
        check(1_767_323_045, 678_000_001, Some("2026-01-02T03:04:05.678000001Z"));
        check(MIN_SECONDS, 0, Some("0000-01-01T00:00:00.000Z"));
        check(MAX_SECONDS, 0, Some("9999-12-31T23:59:59.000Z"));
    }

    #[test]
    fn times_that_have_no_text_are_none() {
        check(MAX_SECONDS + 1, 0, None);
        check(MIN_SECONDS - 1, 0, None);
        check(i64::MIN, 0, None);
        check(i64::MAX, 0, None);
        check(0, 1_000_000_000, None);
        assert_eq!(to_text(&[0; 5]), None);
    }

    #[test]
    fn the_shorter_forms_are_the_same() {
        assert_eq!(to_text(&1_u32.to_be_bytes()).unwrap(), "1970-01-01T00:00:01.000Z");
        let both = 500_000_000_u64 << 34 | 0x3_ffff_ffff;
        assert_eq!(to_text(&both.to_be_bytes()).unwrap(), "2514-05-30T01:53:03.500Z");
    }
}
