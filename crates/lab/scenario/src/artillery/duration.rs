//! Durations as Artillery's files write them: seconds, or a text such as `500ms` or `2m`.

use std::time::Duration;

use serde_json::Value;

/// The longest duration. Reason: longer than any run, and every clock can add it.
const LONGEST_SECS: f64 = 365.0 * 24.0 * 3600.0;

/// What to write, for error texts.
pub(crate) const EXPECTED: &str = "seconds, for example 0.5, or a duration such as 500ms, 30s, 2m or 1h";

/// Units, with their length in seconds.
const UNITS: [(&[&str], f64); 5] = [
    (&["ms", "msec", "msecs", "millisecond", "milliseconds"], 0.001),
    (&["", "s", "sec", "secs", "second", "seconds"], 1.0),
    (&["m", "min", "mins", "minute", "minutes"], 60.0),
    (&["h", "hr", "hrs", "hour", "hours"], 3600.0),
    (&["d", "day", "days"], 86_400.0),
];

/// A number is seconds, with fractions; a text may have a unit.
pub(crate) fn of_value(value: &Value) -> Option<Duration> {
    match value {
        Value::Number(number) => of_secs(number.as_f64()?),
        Value::String(text) => of_text(text),
        _ => None,
    }
}

/// A number with a unit, or without one for seconds.
pub(crate) fn of_text(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let (_, secs) = UNITS.iter().find(|(names, _)| names.contains(&unit.as_str()))?;
    of_secs(number.parse::<f64>().ok()? * secs)
}

fn of_secs(secs: f64) -> Option<Duration> {
    (0.0..=LONGEST_SECS)
        .contains(&secs)
        // Whole microseconds, so that 0.01 is 10 ms and not a little more.
        .then(|| Duration::from_micros((secs * 1e6).round() as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn durations_are_seconds_or_have_a_unit() {
        let check = |value: Value, expected: Option<u64>| {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(of_value(&value), expected, "{value}");
        };
        check(json!(5), Some(5_000));
        check(json!(0.01), Some(10));
        check(json!("5"), Some(5_000));
        check(json!("0.01"), Some(10));
        check(json!("500ms"), Some(500));
        check(json!("1.5 s"), Some(1_500));
        check(json!("2m"), Some(120_000));
        check(json!("1 hour"), Some(3_600_000));
        check(json!(0), Some(0));
        check(json!(-1), None);
        check(json!("-1s"), None);
        check(json!("soon"), None);
        check(json!("1.2.3s"), None);
        check(json!(1e300), None);
        check(json!(true), None);
    }
}
