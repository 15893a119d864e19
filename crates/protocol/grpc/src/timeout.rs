//! The field `grpc-timeout`: how long the caller waits.

use std::time::Duration;

/// The largest number of the field: eight digits.
const MAX_NUMBER: u128 = 99_999_999;

/// Units by their length in nanoseconds, the finest first.
const UNITS: [(u128, char); 6] = [
    (1, 'n'),
    (1_000, 'u'),
    (1_000_000, 'm'),
    (1_000_000_000, 'S'),
    (60_000_000_000, 'M'),
    (3_600_000_000_000, 'H'),
];

/// A time in the finest unit in which it has eight digits, rounded up.
pub fn timeout_field(time: Duration) -> String {
    let ns = time.as_nanos();
    let fitting = UNITS.map(|(length, unit)| (ns.div_ceil(length), unit));
    let (number, unit) = fitting
        .into_iter()
        .find(|(number, _)| *number <= MAX_NUMBER)
        .unwrap_or((MAX_NUMBER, 'H'));
    format!("{number}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_at_most_eight_digits() {
        for (time, expected) in [
            (Duration::ZERO, "0n"),
            (Duration::from_nanos(99_999_999), "99999999n"),
            (Duration::from_nanos(100_000_001), "100001u"),
            (Duration::from_secs(120), "120000m"),
            (Duration::from_secs(100_000), "100000S"),
            (Duration::MAX, "99999999H"),
        ] {
            assert_eq!(timeout_field(time), expected);
        }
    }
}
