//! The words and numbers of a difference, for terminals and for Markdown.

use super::{Comparison, Difference, Unit};
use crate::{quantity, summary::Contains};

/// The heads of the columns: those of values carry the labels of their sides.
pub(super) fn heads(comparison: &Comparison) -> [String; 6] {
    [
        "figure".to_owned(),
        comparison.baseline.heading(),
        comparison.candidate.heading(),
        "change".to_owned(),
        "true change".to_owned(),
        "verdict".to_owned(),
    ]
}

/// One row; the verdict is the last cell.
pub(super) fn cells(difference: &Difference) -> [String; 6] {
    let unit = difference.figure.unit;
    let interval = match difference.interval {
        Some(ends) => ends.map(|end| signed_change(difference, end)).join(" … "),
        None if difference.is_exact() => "–".to_owned(),
        None => "cannot tell".to_owned(),
    };
    let reason = difference.reason.as_ref();
    let verdict = difference.verdict.word();
    [
        format!("{} {}", difference.figure.metric, difference.figure.figure),
        value(difference.baseline, unit),
        value(difference.candidate, unit),
        change(difference),
        interval,
        reason.map_or_else(|| verdict.to_owned(), |reason| format!("{verdict}: {reason}")),
    ]
}

/// The measured change of a figure.
pub(super) fn change(difference: &Difference) -> String {
    let change = difference.change;
    change.map_or_else(|| "–".to_owned(), |change| signed_change(difference, change))
}

fn signed_change(difference: &Difference, change: f64) -> String {
    match (difference.is_absolute(), difference.figure.unit) {
        (true, Unit::Share) => signed(change * 100.0, " pt"),
        (true, _) => signed(change, ""),
        // People read a multiple more easily than thousands of percent.
        (false, _) if change >= MULTIPLE => format!("×{}", quantity::number(three_digits(1.0 + change))),
        (false, _) => signed(change * 100.0, " %"),
    }
}

/// From this change on, a change is written as a multiple.
const MULTIPLE: f64 = 9.0;

/// Formats a value with about three digits, which is more than a comparison can distinguish.
fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Microseconds => quantity::figure(Contains::Time, three_digits(value / 1e3), None),
        Unit::PerSecond => quantity::per_second(three_digits(value)),
        Unit::Bytes => quantity::bytes(value),
        Unit::Share => format!("{:.2} %", value * 100.0),
        Unit::Number => quantity::number(three_digits(value)),
    }
}

/// Rounds to three digits. Numbers with four and more digits before the point keep them.
fn three_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits_before = value.abs().log10().floor() as i32 + 1;
    let scale = 10_f64.powi((3 - digits_before).max(0));
    (value * scale).round() / scale
}

fn signed(value: f64, unit: &str) -> String {
    let decimals = usize::from(value.abs() < 9.95);
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.chars().all(|character| matches!(character, '0' | '.'));
    match (is_zero, value.is_sign_negative()) {
        (true, _) => format!("0{unit}"),
        (false, true) => format!("−{text}{unit}"),
        (false, false) => format!("+{text}{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_digits_that_count() {
        for (number, unit, expected) in [
            (175.3075, Unit::Microseconds, "175µs"),
            (26_123.0, Unit::Microseconds, "26.1ms"),
            (933.6795, Unit::PerSecond, "934/s"),
            (12_345.6, Unit::PerSecond, "12346/s"),
            (0.012_34, Unit::Share, "1.23 %"),
            (1.23456, Unit::Number, "1.23"),
            (0.0, Unit::Number, "0"),
            (3_210_000.0, Unit::Bytes, "3.2 MB"),
        ] {
            assert_eq!(value(number, unit), expected);
        }
    }

    #[test]
    fn three_digits_are_kept_and_all_before_the_point() {
        for (number, expected) in [
            (0.012_345_6, 0.0123),
            (0.123_456, 0.123),
            (1.234_56, 1.23),
            (12.345_6, 12.3),
            (99.95, 100.0),
            (999.4, 999.0),
            (12_345.6, 12_346.0),
            (-1.234_56, -1.23),
            (0.0, 0.0),
            (f64::NAN, 0.0),
            (f64::INFINITY, 0.0),
        ] {
            assert_eq!(three_digits(number), expected, "{number}");
        }
    }

    #[test]
    fn changes_have_a_sign() {
        for (number, expected) in [
            (31.4, "+31 %"),
            (-2.04, "−2.0 %"),
            (0.04, "0 %"),
            (-0.04, "0 %"),
            (9.94, "+9.9 %"),
            (9.95, "+10 %"),
            (9.96, "+10 %"),
            (-9.94, "−9.9 %"),
            (-9.96, "−10 %"),
            (0.0, "0 %"),
        ] {
            assert_eq!(signed(number, " %"), expected);
        }
    }
}
