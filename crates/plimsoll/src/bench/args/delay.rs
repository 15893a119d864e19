//! Durations as websocket-bench's flags write them.

use std::time::Duration;

/// The units of Go's `time.ParseDuration`, longest names first so that `ms` is not read as minutes.
const UNITS: [(&str, f64); 7] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

/// Reads a Go duration: `500ms`, `1.5s`, `1m30s`.
pub(super) fn parse_go_duration(text: &str) -> Result<Duration, String> {
    let error =
        || format!("{text:?} is not a duration; expected a number and a unit such as 500ms, 1.5s or 1m30s");
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() || text.is_empty() {
        let n_digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(error)?;
        let (number, after) = rest.split_at(n_digits);
        let (unit, factor) = UNITS
            .iter()
            .find(|(unit, _)| is_unit(after, unit))
            .ok_or_else(error)?;
        seconds += number.parse::<f64>().map_err(|_| error())? * factor;
        rest = &after[unit.len()..];
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| error())
}

/// Whether `text` begins with exactly this unit: letters up to the next digit.
fn is_unit(text: &str, unit: &str) -> bool {
    text.strip_prefix(unit)
        .is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// Reads seconds, with a fraction: `0.5`.
pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse::<f64>()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| format!("{text:?} is not a number of seconds; expected something like 2 or 0.5"))
}

/// The longest time. Reason: longer times serve no measurement, and the clock's arithmetic stays far from its limits.
const MAX_SPAN: Duration = Duration::from_secs(365 * 24 * 3600);

/// Reads a Go duration of at most a year.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    match parse_go_duration(text)? {
        span if span <= MAX_SPAN => Ok(span),
        _ => Err("it is longer than a year (8760h)".to_owned()),
    }
}

/// Reads seconds, at most a year of them.
pub(super) fn wait_seconds(text: &str) -> Result<Duration, String> {
    match parse_seconds(text)? {
        span if span <= MAX_SPAN => Ok(span),
        _ => Err("it is longer than a year (31536000)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_durations() {
        let check = |text, ms| {
            assert_eq!(
                parse_go_duration(text).ok(),
                Some(Duration::from_millis(ms)),
                "{text}"
            );
        };
        check("500ms", 500);
        check("1.5s", 1500);
        check("1m30s", 90_000);
        check("2000us", 2);
        check("1h", 3_600_000);
        for bad in ["", "500", "ms", "1x", "-1s", "1s2", "1.2.3s", "NaNs", "1e9s"] {
            assert!(parse_go_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn seconds() {
        assert_eq!(parse_seconds("0.25"), Ok(Duration::from_millis(250)));
        for bad in ["", "-1", "x", "inf", "NaN"] {
            assert!(parse_seconds(bad).is_err(), "{bad}");
        }
    }
}
