//! A level that is sampled now and then, such as the memory of a process, over the time of a run.

use std::time::Duration;

use super::{Axis, MAX_INTERVALS, axis::halve};

/// The value for several samples of one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The last one.
    Last,
    /// Their arithmetic mean; right for shares of equal stretches of time.
    Mean,
    /// The highest one.
    Max,
}

/// Samples of up to 1,024 intervals, merged like those of a timeline, and read on its axis at the end. Takes at most 32
/// KiB.
#[derive(Clone, Debug)]
pub struct Sampled {
    fold: Fold,
    interval_seconds: u32,
    samples: Vec<Sum>,
}

/// Twice those of a timeline, so that its intervals are never shorter than these.
const MOST: usize = 2 * MAX_INTERVALS;

/// The samples of an interval, folded.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    n: u32,
    /// Their sum, the last one or the highest one.
    value: f64,
}

impl Sampled {
    /// Without samples.
    pub fn new(fold: Fold) -> Self {
        Self {
            fold,
            interval_seconds: 1,
            samples: Vec::new(),
        }
    }

    /// Records a sample for the time up to `at`, since the start of the run: one at a full second belongs to the
    /// interval before.
    pub fn record(&mut self, at: Duration, value: f64) {
        if !value.is_finite() {
            return;
        }
        let second = at.saturating_sub(Duration::from_nanos(1)).as_secs();
        let mut interval = usize::try_from(second / u64::from(self.interval_seconds)).unwrap_or(usize::MAX);
        while interval >= MOST {
            let fold = self.fold;
            halve(&mut self.samples, |one, other| one.merged(*other, fold));
            self.interval_seconds = self.interval_seconds.saturating_mul(2);
            interval /= 2;
        }
        if self.samples.len() <= interval {
            self.samples.resize(interval + 1, Sum::default());
        }
        let sample = Sum { n: 1, value };
        self.samples[interval] = self.samples[interval].merged(sample, self.fold);
    }

    /// A value per interval of `axis`. `None` where there was no sample. Samples after its end belong to its last
    /// interval.
    pub fn on(&self, axis: Axis) -> Vec<Option<f64>> {
        let mut sums = vec![Sum::default(); axis.n_intervals];
        for (position, &sample) in self.samples.iter().enumerate() {
            let second = position as u64 * u64::from(self.interval_seconds);
            let interval = axis.interval_of(second).min(axis.n_intervals.saturating_sub(1));
            if let Some(sum) = sums.get_mut(interval) {
                *sum = sum.merged(sample, self.fold);
            }
        }
        sums.into_iter().map(|sum| sum.value(self.fold)).collect()
    }
}

impl Sum {
    fn merged(self, later: Self, fold: Fold) -> Self {
        match (self.n, later.n) {
            (_, 0) => self,
            (0, _) => later,
            _ => Self {
                n: self.n.saturating_add(later.n),
                value: match fold {
                    Fold::Last => later.value,
                    Fold::Mean => self.value + later.value,
                    Fold::Max => self.value.max(later.value),
                },
            },
        }
    }

    fn value(self, fold: Fold) -> Option<f64> {
        (self.n > 0).then(|| match fold {
            Fold::Mean => self.value / f64::from(self.n),
            Fold::Last | Fold::Max => self.value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fold: Fold, samples: &[(u64, f64)], axis: (u32, usize), expected: &[Option<f64>]) {
        let mut sampled = Sampled::new(fold);
        for &(ms, value) in samples {
            sampled.record(Duration::from_millis(ms), value);
        }
        let axis = Axis {
            interval_seconds: axis.0,
            n_intervals: axis.1,
        };
        assert_eq!(sampled.on(axis), expected, "{fold:?} {samples:?}");
    }

    #[test]
    fn samples_are_folded_into_the_intervals_of_an_axis() {
        let samples = &[(1_000, 4.0), (2_000, 2.0), (2_500, 9.0), (4_000, 1.0)];
        check(
            Fold::Last,
            samples,
            (1, 4),
            &[Some(4.0), Some(2.0), Some(9.0), Some(1.0)],
        );
        check(Fold::Last, samples, (2, 2), &[Some(2.0), Some(1.0)]);
        check(Fold::Mean, samples, (2, 2), &[Some(3.0), Some(5.0)]);
        check(Fold::Max, samples, (4, 2), &[Some(9.0), None]);
    }

    #[test]
    fn what_comes_after_the_end_belongs_to_the_last_interval() {
        check(
            Fold::Last,
            &[(0, 1.0), (9_000, 5.0)],
            (1, 2),
            &[Some(1.0), Some(5.0)],
        );
        check(Fold::Last, &[(500, 1.0)], (1, 0), &[]);
        check(Fold::Last, &[(500, f64::NAN)], (1, 1), &[None]);
    }

    #[test]
    fn many_samples_do_not_grow() {
        let mut sampled = Sampled::new(Fold::Mean);
        for second in 1..=10_000 {
            sampled.record(Duration::from_secs(second), 3.0);
        }
        assert!(sampled.samples.len() <= MOST);
        let axis = Axis {
            interval_seconds: 32,
            n_intervals: 313,
        };
        assert_eq!(sampled.on(axis), vec![Some(3.0); 313]);
    }
}
