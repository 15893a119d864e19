//! Numbers with their units, as people read them in k6's summary: `267.49µs`, `1.3 GB`, `19.02/s`, `99.00%`.
//!
//! Digits that are not shown are cut off and not rounded, as in k6, so that `99.999 %` never reads as `100.00%`;
//! only data sizes are rounded.

use std::{fmt, str::FromStr, time::Duration};

use crate::summary::Contains;

const NS_PER_US: u128 = 1_000;
const NS_PER_MS: u128 = 1_000_000;
const NS_PER_S: u128 = 1_000_000_000;

/// The unit of all durations of a summary (k6's `summaryTimeUnit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`
    Microseconds,
}

/// A text that is not a unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a unit of durations; expected s, ms or us")]
pub struct TimeUnitError {
    /// What was written.
    pub found: String,
}

impl FromStr for TimeUnit {
    type Err = TimeUnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "s" => Ok(Self::Seconds),
            "ms" => Ok(Self::Milliseconds),
            "us" => Ok(Self::Microseconds),
            _ => Err(TimeUnitError {
                found: text.to_owned(),
            }),
        }
    }
}

/// Writes the form of `summaryTimeUnit`.
impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
        })
    }
}

/// Formats a number by its meaning: a duration in milliseconds, bytes, or a plain number. With a unit, durations have
/// it and two decimals.
pub fn figure(contains: Contains, value: f64, unit: Option<TimeUnit>) -> String {
    match contains {
        Contains::Default => number(value),
        Contains::Data => bytes(value),
        Contains::Time => match unit {
            None => milliseconds(value),
            Some(TimeUnit::Seconds) => format!("{:.2}s", value / 1e3),
            Some(TimeUnit::Milliseconds) => format!("{value:.2}ms"),
            Some(TimeUnit::Microseconds) => format!("{:.2}µs", value * 1e3),
        },
    }
}

fn milliseconds(ms: f64) -> String {
    // To the nearest nanosecond, which corrects 1.1 ms, 1_100_000.0000000002 ns in binary. The conversion saturates, so
    // any number fits.
    let magnitude = duration(Duration::from_nanos((ms.abs() * 1e6).round() as u64));
    if ms < 0.0 {
        format!("-{magnitude}")
    } else {
        magnitude
    }
}

/// A duration in a suitable unit, with at most two decimals: `0s`, `185µs`, `23.54ms`, `1.8s`, `1m2s`, `1h0m3s`.
pub fn duration(duration: Duration) -> String {
    match duration.as_nanos() {
        0 => "0s".to_owned(),
        ns if ns < NS_PER_US => format!("{ns}ns"),
        ns if ns < NS_PER_MS => format!("{}µs", hundredths(ns / (NS_PER_US / 100))),
        ns if ns < NS_PER_S => format!("{}ms", hundredths(ns / (NS_PER_MS / 100))),
        ns if ns < 60 * NS_PER_S => format!("{}s", hundredths(ns / (NS_PER_S / 100))),
        ns => minutes(ns / NS_PER_S),
    }
}

fn minutes(secs: u128) -> String {
    let (hours, minutes, secs) = (secs / 3600, secs / 60 % 60, secs % 60);
    if hours > 0 {
        format!("{hours}h{minutes}m{secs}s")
    } else {
        format!("{minutes}m{secs}s")
    }
}

/// `n` hundredths without trailing zeros.
fn hundredths(n: u128) -> String {
    trim_decimals(format!("{}.{:02}", n / 100, n % 100))
}

fn trim_decimals(number: String) -> String {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The largest range in which each integer has its own `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The integer that `number` equals, if any; for formats that write `8` and not `8.0`.
pub fn integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// A plain number with at most six decimals.
pub fn number(number: f64) -> String {
    trim_decimals(format!("{number:.6}"))
}

/// A plain number per second.
pub fn per_second(per_second: f64) -> String {
    format!("{}/s", number(per_second))
}

/// Bytes in powers of 1,000, with one decimal below ten units: `301 B`, `5.0 kB`, `826 kB`, `1.3 GB`. Negative
/// and non-finite sizes count as zero.
pub fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = if bytes.is_finite() { bytes.max(0.0) } else { 0.0 };
    let mut unit = 0;
    // 999.5 of a unit would be printed as 1000.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && value < 9.95);
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// A share (0 to 1) in percent with two decimals.
pub fn percent(share: f64) -> String {
    // The small amount heals shares such as 0.29, which is 28.999999999999996 hundredths in binary.
    let hundredths = (share * 10_000.0 + 1e-6).floor();
    format!("{:.2}%", hundredths / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_in_k6() {
        for (ns, expected) in [
            (0, "0s"),
            (1, "1ns"),
            (999, "999ns"),
            (1_000, "1µs"),
            (185_000, "185µs"),
            (267_499, "267.49µs"),
            (263_500, "263.5µs"),
            (999_999, "999.99µs"),
            (1_800_000, "1.8ms"),
            (23_540_000, "23.54ms"),
            (999_999_999, "999.99ms"),
            (1_000_000_000, "1s"),
            (23_549_999_999, "23.54s"),
            (32_000_000_000, "32s"),
            (59_999_000_000, "59.99s"),
            (62_900_000_000, "1m2s"),
            (90_000_000_000, "1m30s"),
            (3_603_000_000_000, "1h0m3s"),
            (3_723_000_000_000, "1h2m3s"),
        ] {
            assert_eq!(duration(Duration::from_nanos(ns)), expected, "{ns} ns");
        }
    }

    #[test]
    fn data_reads_as_in_k6() {
        for (size, expected) in [
            (0.0, "0 B"),
            (9.4, "9 B"),
            (301.0, "301 B"),
            (999.0, "999 B"),
            (999.7, "1.0 kB"),
            (5_000.0, "5.0 kB"),
            (9_949.0, "9.9 kB"),
            (9_951.0, "10 kB"),
            (826_400.0, "826 kB"),
            (999_499.0, "999 kB"),
            (999_500.0, "1.0 MB"),
            (3_200_000.0, "3.2 MB"),
            (1_300_000_000.0, "1.3 GB"),
            (1e30, "1000000000000 EB"),
            (-1.0, "0 B"),
            (f64::NAN, "0 B"),
        ] {
            assert_eq!(bytes(size), expected, "{size}");
        }
    }

    #[test]
    fn plain_numbers_have_up_to_six_decimals() {
        for (value, expected) in [
            (10.0, "10"),
            (0.0, "0"),
            (100.0, "100"),
            (0.224_709_4, "0.224709"),
            (21_840.703_47, "21840.70347"),
            (19.019_325, "19.019325"),
        ] {
            assert_eq!(number(value), expected);
            assert_eq!(per_second(value), format!("{expected}/s"));
        }
    }

    #[test]
    fn percents_are_cut_off() {
        for (share, expected) in [
            (1.0, "100.00%"),
            (0.0, "0.00%"),
            (0.999_999, "99.99%"),
            (0.29, "29.00%"),
            (2.0 / 3.0, "66.66%"),
        ] {
            assert_eq!(percent(share), expected, "{share}");
        }
    }
}
