//! msgpack's timestamps as text: the form of JavaScript's `Date.toJSON`, with more digits if there are more.

use time::UtcDateTime;

/// The text of a timestamp of 4, 8 or 12 bytes. `None` for other lengths and for times without such a text.
pub(super) fn to_text(data: &[u8]) -> Option<String> {
    let (seconds, nanoseconds) = match data.len() {
        4 => (i64::from(u32::from_be_bytes(data.try_into().ok()?)), 0),
        8 => {
            let both = u64::from_be_bytes(data.try_into().ok()?);
            // The casts to 34 and 30 bits lose nothing.
            ((both & 0x3_ffff_ffff) as i64, (both >> 34) as u32)
        }
        12 => {
            let (nanoseconds, seconds) = data.split_first_chunk::<4>()?;
            let seconds = i64::from_be_bytes(seconds.try_into().ok()?);
            (seconds, u32::from_be_bytes(*nanoseconds))
        }
        _ => return None,
    };
    format(UtcDateTime::from_unix_timestamp(seconds).ok()?, nanoseconds)
}

fn format(time: UtcDateTime, nanoseconds: u32) -> Option<String> {
    // RFC 3339 allows four digits for a year and no sign.
    if time.year() < 0 || nanoseconds >= 1_000_000_000 {
        return None;
    }
    let (hour, minute, second) = time.as_hms();
    let fraction = match nanoseconds {
        _ if nanoseconds.is_multiple_of(1_000_000) => format!("{:03}", nanoseconds / 1_000_000),
        _ if nanoseconds.is_multiple_of(1_000) => format!("{:06}", nanoseconds / 1_000),
        _ => format!("{nanoseconds:09}"),
    };
    let date = time.date();
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}.{fraction}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last second of the year 9999.
    const MAX_SECONDS: i64 = 253_402_300_799;
    /// The first second of the year 0.
    const MIN_SECONDS: i64 = -62_167_219_200;

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
