//! The number of requests or messages that start per second, as an exact fraction.
//!
//! `bench broadcast` schedules its messages with the load engine's [`Arrivals`]. `bench http` computes its starts here:
//! arrivals end, because their integers cover a limited time (119 days at 99,999 per second, nine hours at
//! 9,999,999.999), but a run may last a year, and with a number of requests it lasts as long as that takes. Arrivals also
//! find a start by bisection, because a rate may change; here one division does, which every request pays.

use std::{fmt, str::FromStr, time::Duration};

use plimsoll_load::executor::{Arrivals, ArrivalsError};
use serde::{Deserialize, Serialize};

/// Starts per time. All arithmetic is on integers, so that start number `n` is exact to the nanosecond however large `n`
/// is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(u64, Duration)", into = "(u64, Duration)")]
pub struct Rate {
    /// Thousandths of a start …
    n_thousandths: u64,
    /// … in this time.
    unit: Duration,
}

/// The highest rate. Reason: a hundred times what a core can send.
const MAX_PER_SECOND: u64 = 10_000_000;

impl Rate {
    /// The start of request number `n` (from 0), relative to the start of the first request.
    pub(crate) fn offset(self, n: u64) -> Duration {
        let ns = u128::from(n) * self.unit.as_nanos() * 1000 / u128::from(self.n_thousandths);
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// The number of requests that start before `time`.
    pub(crate) fn n_before(self, time: Duration) -> u64 {
        // The smallest n whose offset, rounded down, is not before it.
        let numerator = time.as_nanos() * u128::from(self.n_thousandths);
        let n = numerator.div_ceil(self.unit.as_nanos() * 1000);
        u64::try_from(n).unwrap_or(u64::MAX)
    }

    /// The starts during `duration` as arrivals of the engine: the first one at once.
    ///
    /// # Errors
    /// Nothing would start, or the numbers are far too large.
    pub(crate) fn arrivals(self, duration: Duration) -> Result<Arrivals, ArrivalsError> {
        // In the smallest numbers, because the arithmetic of arrivals has a bound.
        match self.n_thousandths % 1000 {
            0 => Arrivals::constant(self.n_thousandths / 1000, self.unit, duration),
            _ => Arrivals::constant(self.n_thousandths, self.unit * 1000, duration),
        }
    }

    fn is_usable(self) -> bool {
        self.n_thousandths > 0 && !self.unit.is_zero() && self.per_second() <= MAX_PER_SECOND as f64
    }

    /// Starts per second.
    pub(crate) fn per_second(self) -> f64 {
        self.n_thousandths as f64 / 1000.0 / self.unit.as_secs_f64()
    }
}

impl From<Rate> for (u64, Duration) {
    fn from(rate: Rate) -> Self {
        (rate.n_thousandths, rate.unit)
    }
}

impl TryFrom<(u64, Duration)> for Rate {
    type Error = &'static str;

    fn try_from((n_thousandths, unit): (u64, Duration)) -> Result<Self, Self::Error> {
        let rate = Self { n_thousandths, unit };
        if rate.is_usable() {
            Ok(rate)
        } else {
            Err("a rate without starts, or above all that can be sent")
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", (self.per_second() * 1000.0).round() / 1000.0)
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || {
            format!(
                "{text:?} is not a rate; expected a number per second such as 500 or 0.5, or with a unit such as \
                 30/m, up to {MAX_PER_SECOND} per second"
            )
        };
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let unit = match unit {
            "s" => Duration::from_secs(1),
            "m" => Duration::from_secs(60),
            "h" => Duration::from_secs(3600),
            _ => return Err(error()),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) || fraction.len() > 3 {
            return Err(error());
        }
        let n_thousandths: u64 = format!("{whole}{fraction:0<3}").parse().map_err(|_| error())?;
        let rate = Self { n_thousandths, unit };
        rate.is_usable().then_some(rate).ok_or_else(error)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_are_read_with_their_unit() {
        let check = |text: &str, n: u64, expected_ms: u64| {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(rate.offset(n), Duration::from_millis(expected_ms), "{text}");
        };
        check("500", 1, 2);
        check("500/s", 500, 1000);
        check("0.5", 1, 2000);
        check("30/m", 1, 2000);
        check("1.25", 5, 4000);
        check("3600/h", 7, 7000);
        for bad in [
            "", "0", "-1", "x", "1/", "1/d", "1.", ".5", "1.0001", "1e3", "10000001",
        ] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn arrivals_are_those_of_the_rate() {
        for text in ["5/s", "0.5", "30/m", "1.25", "7/h"] {
            let rate: Rate = text.parse().unwrap();
            let arrivals = rate.arrivals(Duration::from_secs(3600)).unwrap();
            assert_eq!(
                arrivals.n_total(),
                rate.n_before(Duration::from_secs(3600)),
                "{text}"
            );
            for n in [0, 1, 3, 6] {
                let start = arrivals.start(n).unwrap();
                // Rounded up to the nanosecond, and down.
                assert!(start - rate.offset(n) <= Duration::from_nanos(1), "{text} {n}");
            }
        }
        let rate: Rate = "1000000/s".parse().unwrap();
        assert!(rate.arrivals(Duration::from_secs(360_000)).is_ok());
        assert!(rate.arrivals(Duration::ZERO).is_err());
    }

    proptest! {
        #[test]
        fn starts_are_counted_as_they_are_scheduled(
            n_thousandths in 1_u64..1_000_000_000,
            ms in 0_u64..10_000_000,
        ) {
            let rate = Rate { n_thousandths, unit: Duration::from_secs(1) };
            let time = Duration::from_millis(ms);
            let n = rate.n_before(time);
            prop_assert!(rate.offset(n) >= time);
            prop_assert!(n == 0 || rate.offset(n - 1) < time);
        }
    }
}
