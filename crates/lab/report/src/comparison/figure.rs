//! The compared figures: their names, which direction is better, and their known noise.

use serde::Serialize;

use super::estimate::Experience;
use crate::Distribution;

/// A figure of a metric.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Figure {
    /// The metric's name, or the watched target's.
    pub metric: String,
    /// The figure of the metric: `mean`, `p95`, `rate`, `share`, `CPU per iteration` and so on.
    pub figure: String,
    /// What its values mean.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// The statistical nature of the figure.
    #[serde(skip)]
    pub(super) nature: Nature,
}

/// What values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Durations in microseconds.
    Microseconds,
    /// Plain numbers per second.
    PerSecond,
    /// Bytes.
    Bytes,
    /// Shares from 0 to 1.
    Share,
    /// Plain numbers.
    Number,
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Latency, failures, cost.
    Lower,
    /// Throughput.
    Higher,
}

/// Who else was on the machine, of any run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Company {
    /// No other programs that matter.
    Alone,
    /// Other programs used many of the cores, or it is unknown which program did.
    Shared,
}

/// The statistical nature of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Nature {
    /// A mean latency.
    Mean,
    /// A median latency.
    Median,
    /// A latency that one sample in twenty exceeds.
    P95,
    /// A latency that one sample in a hundred exceeds.
    P99,
    /// Work per second.
    Throughput,
    /// CPU time for a piece of work.
    Cpu,
    /// The highest memory.
    Memory,
    /// A share of failures, compared by its difference, because a ratio to zero is meaningless. All others are compared
    /// by their ratio.
    Share,
}

impl Nature {
    /// The differences between runs of one test, in addition to the noise within them (decision 7). The cost of waking
    /// up varies between runs and dominates short latencies; long ones vary by a share.
    pub(super) fn experience(self, pooled_value: f64, company: Company) -> Experience {
        let of_company = |alone: f64, shared: f64| match company {
            Company::Alone => alone,
            Company::Shared => shared,
        };
        let latency = |share: f64, alone_us: f64, shared_us: f64| {
            share.hypot(of_company(alone_us, shared_us) / pooled_value)
        };
        let deviation = match self {
            Self::Mean => latency(0.04, 20.0, 400.0),
            Self::Median => latency(0.03, 20.0, 300.0),
            Self::P95 => latency(0.05, 40.0, 1_000.0),
            Self::P99 => latency(0.10, 300.0, 3_000.0),
            Self::Throughput => of_company(0.03, 0.05),
            Self::Cpu => of_company(0.08, 0.12),
            Self::Memory => 0.10,
            // Failures under overload come and go by a fifth of their number.
            Self::Share => 0.2 * pooled_value,
        };
        Experience {
            deviation,
            degrees: EXPERIENCE_DEGREES,
        }
    }

    /// Whether effects are ratios; they are differences otherwise.
    fn is_ratio(self) -> bool {
        self != Self::Share
    }

    /// From here on a difference matters, on the scale of the effect; `tolerance` is that of ratios.
    pub(super) fn threshold(self, tolerance: f64) -> f64 {
        if self.is_ratio() {
            tolerance.ln_1p()
        } else {
            SHARE_TOLERANCE
        }
    }

    /// A figure on the scale of the effect.
    pub(super) fn on_scale(self, value: f64) -> f64 {
        if self.is_ratio() { value.ln() } else { value }
    }

    /// Back from there: a figure.
    pub(super) fn off_scale(self, value: f64) -> f64 {
        if self.is_ratio() { value.exp() } else { value }
    }

    /// An effect as people read it: 0.3 for 30 % more; of shares the difference itself.
    pub(super) fn change(self, effect: f64) -> f64 {
        if self.is_ratio() { effect.exp_m1() } else { effect }
    }

    /// Up to here a difference means equal, on the scale of the effect; `margin` is that of ratios.
    pub(super) fn equal(self, margin: f64) -> f64 {
        if self.is_ratio() {
            margin.ln_1p()
        } else {
            SHARE_MARGIN
        }
    }

    /// Whether an interval of this width on the scale of the effect is too wide to be shown as numbers.
    pub(super) fn is_absurd(self, width: f64) -> bool {
        let most = if self.is_ratio() { ABSURD_RATIO.ln() } else { 1.0 };
        width.is_nan() || width > most
    }

    /// The weight of the figure in the correction for several figures: how much of the risk of a wrong verdict it may
    /// take. Reason: changes of a server show in the median first, and the median is the least noisy figure.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::Median => 6.0,
            Self::P95 | Self::Throughput => 2.0,
            Self::Mean | Self::P99 | Self::Cpu | Self::Memory | Self::Share => 1.0,
        }
    }

    /// Whether two sides are equal only if this figure is. The others have too much noise between equal runs; they can
    /// make a side worse or better all the same.
    pub(super) fn is_decisive(self) -> bool {
        match self {
            Self::Median | Self::P95 | Self::Throughput | Self::Share => true,
            Self::Mean | Self::P99 | Self::Cpu | Self::Memory => false,
        }
    }

    /// The part of a value that may be the generator's own delay, from the lateness of its ticks: 0.1 for 10 %. `latency`
    /// is the mean of the run's main latency, by which late replies hold up the next iteration. Infinite without one.
    pub(super) fn late_part(self, value: f64, latency: f64, lateness: &Distribution) -> f64 {
        let beyond = |us: f64| (us - TIMER_GRAIN_US).max(0.0);
        match self {
            Self::Median => beyond(lateness.p50 as f64) / value,
            Self::Mean => beyond(lateness.mean) / value,
            Self::P95 => beyond(lateness.p95 as f64) / value,
            Self::P99 => beyond(lateness.p99 as f64) / value,
            Self::Throughput => beyond(lateness.mean) / latency,
            Self::Cpu | Self::Memory | Self::Share => 0.0,
        }
    }
}

/// The weight of experience in degrees of freedom. Reason: the variances of some ten pairs of runs; their Student
/// quantiles are a fifth wider than with certainty.
const EXPERIENCE_DEGREES: f64 = 10.0;

/// A tenth of a percentage point: fewer failures are not worth a red build.
const SHARE_TOLERANCE: f64 = 0.001;

/// A percentage point: the greatest difference between shares of failures that still means equal.
pub(super) const SHARE_MARGIN: f64 = 0.01;

/// An interval whose ends differ by a greater factor is not shown as numbers.
const ABSURD_RATIO: f64 = 10.0;

/// The grain of timers in microseconds, by which every tick is late, on an idle machine, too.
const TIMER_GRAIN_US: f64 = 1_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of decision 7, at a figure of 1 ms.
    #[test]
    fn experience_is_that_of_earlier_runs() {
        use Nature::{Cpu, Mean, Median, Memory, P95, P99, Share, Throughput};
        let of_both = |share: f64, alone: f64, shared: f64| [share.hypot(alone), share.hypot(shared)];
        for (nature, expected) in [
            (Mean, of_both(0.04, 0.02, 0.4)),
            (Median, of_both(0.03, 0.02, 0.3)),
            (P95, of_both(0.05, 0.04, 1.0)),
            (P99, of_both(0.10, 0.3, 3.0)),
            (Throughput, [0.03, 0.05]),
            (Cpu, [0.08, 0.12]),
            (Memory, [0.10, 0.10]),
            (Share, [200.0, 200.0]),
        ] {
            for (company, deviation) in [Company::Alone, Company::Shared].into_iter().zip(expected) {
                let found = nature.experience(1_000.0, company);
                assert!(
                    (found.deviation - deviation).abs() < 1e-9 && found.degrees == 10.0,
                    "{nature:?} {company:?}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn shares_are_compared_by_their_difference_and_all_else_by_its_ratio() {
        let (ratio, share) = (Nature::Mean, Nature::Share);
        for (found, expected) in [
            (ratio.threshold(0.05), 1.05_f64.ln()),
            (share.threshold(0.05), 0.001),
            (ratio.on_scale(100.0), 100.0_f64.ln()),
            (share.on_scale(0.25), 0.25),
            (ratio.off_scale(2.0), 2.0_f64.exp()),
            (share.off_scale(0.25), 0.25),
            (ratio.change(1.5_f64.ln()), 0.5),
            (share.change(0.25), 0.25),
            (ratio.equal(0.1), 1.1_f64.ln()),
            (share.equal(0.1), 0.01),
        ] {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn ranges_beyond_a_factor_of_ten_are_absurd() {
        for (nature, width, expected) in [
            (Nature::Mean, 10.0_f64.ln(), false),
            (Nature::Mean, 10.1_f64.ln(), true),
            (Nature::Mean, f64::INFINITY, true),
            (Nature::Mean, f64::NAN, true),
            (Nature::Share, 1.0, false),
            (Nature::Share, 1.1, true),
        ] {
            assert_eq!(nature.is_absurd(width), expected, "{nature:?} {width}");
        }
    }

    /// Of 10 ms, with a mean latency of 5 ms.
    #[test]
    fn late_ticks_may_be_a_part_of_a_figure() {
        let lateness = Distribution {
            mean: 3_000.0,
            p50: 500,
            p95: 6_000,
            p99: 31_000,
            ..Distribution::default()
        };
        for (nature, expected) in [
            (Nature::Median, 0.0),
            (Nature::Mean, 0.2),
            (Nature::P95, 0.5),
            (Nature::P99, 3.0),
            (Nature::Throughput, 0.4),
            (Nature::Share, 0.0),
            (Nature::Cpu, 0.0),
            (Nature::Memory, 0.0),
        ] {
            let found = nature.late_part(10_000.0, 5_000.0, &lateness);
            assert!((found - expected).abs() < 1e-12, "{nature:?}: {found}");
        }
    }
}
