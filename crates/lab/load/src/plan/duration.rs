//! Durations as k6 reads them: `1h30m`, `10s`, `1.5s`, `500ms`, `2d`; a bare number is milliseconds.

use std::time::Duration;

/// A text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a duration; expected something like `1m30s`, `10s`, `500ms`, or a number of milliseconds"
)]
pub struct DurationError {
    text: String,
}

/// Parses a duration.
///
/// # Errors
/// The text is not a duration, or exceeds the range of a clock (292 years).
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let ns = text
        .parse()
        .map_or_else(|_| sum_of_parts(text), |ms: f64| Some(ms * 1e6));
    ns.filter(|ns| (0.0..=i64::MAX as f64).contains(ns))
        .map(|ns| Duration::from_nanos(ns.round() as u64))
        .ok_or_else(|| DurationError {
            text: text.to_owned(),
        })
}

/// Nanoseconds of parts such as `1h`, one after another. `None` if the text is invalid.
fn sum_of_parts(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = (!rest.is_empty()).then_some(0.0)?;
    while !rest.is_empty() {
        let n_digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, from_unit) = rest.split_at(n_digits);
        let n_unit = from_unit
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(from_unit.len());
        let (unit, after) = from_unit.split_at(n_unit);
        sum += number.parse::<f64>().ok()? * nanos_of(unit)?;
        rest = after;
    }
    Some(sum)
}

fn nanos_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3_600e9,
        "d" => 86_400e9,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_k6_reads() {
        for (text, ms) in [
            ("10s", 10_000.0),
            ("1m30s", 90_000.0),
            ("1h30m", 5_400_000.0),
            ("2d", 172_800_000.0),
            ("1d2h", 93_600_000.0),
            ("500ms", 500.0),
            ("1.5s", 1_500.0),
            ("20µs", 0.02),
            ("250", 250.0),
            ("0", 0.0),
            ("0s", 0.0),
        ] {
            let duration = parse_duration(text).unwrap();
            assert!(
                (duration.as_secs_f64() * 1e3 - ms).abs() < 1e-9,
                "{text}: {duration:?}"
            );
        }
    }

    #[test]
    fn refuses_what_is_no_duration() {
        for text in [
            "",
            " ",
            "s",
            "10x",
            "-10s",
            "-5",
            "10s5",
            "1.2.3s",
            "ten",
            "NaN",
            "inf",
            "999999999d",
            "1e40",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
