//! Latency samples in fixed memory: an HDR histogram with exact count, sum, minimum and maximum beside it, and with all
//! samples as long as they are few.
//!
//! A vector of samples grows for as long as a run lasts; this does not, and two histograms of two workers
//! merge without loss. Every number that a report prints about durations comes out of this type.

use std::time::Duration;

mod encoding;
mod packed;

pub(crate) use self::packed::MAX_COUNT;
pub use self::{
    encoding::DecodeError,
    packed::{Packed, UnpackError, durations},
};

/// The longest exact duration: one hour. A longer one is counted in the top bucket.
///
/// Reason: the longest wait a load test can mean. Each doubling of the range costs 8 KB per histogram.
pub const HIGHEST: Duration = Duration::from_secs(3600);

/// Significant decimal digits of a bucket: a value differs from the recorded one by at most 0.1 %.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The most samples of which each value is kept, so that percentiles of few samples are exact. Reason: a histogram takes
/// 2 KiB more, and 256 cover the default sizes of benches and short runs.
pub const MOST_EXACT: usize = 256;

/// Durations from 1 µs to [`HIGHEST`] with a relative error of at most 0.1 %; exact for up to [`MOST_EXACT`] samples.
///
/// The size is constant: about 186 KiB (23 groups of 1,024 counters, 8 bytes each, and the first samples). Counts, the
/// sum, the minimum and the maximum are exact at a resolution of 1 µs, also for durations above [`HIGHEST`].
///
/// A histogram from [`Self::small`] has 16 KiB before the first sample and grows with the longest one, up to the full
/// size. One from [`Self::of_numbers`] holds plain numbers, each as that many milliseconds, without an upper bound. It
/// grows with the largest number, to 440 KiB at most.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: hdrhistogram::Histogram<u64>,
    /// The first samples, in the order of recording, at most [`MOST_EXACT`]. As long as these are all, percentiles come
    /// from them.
    first_us: Vec<u64>,
    /// What is above it is counted in the top bucket.
    highest_us: u64,
    n_saturated: u64,
    sum_us: u64,
    min_us: u64,
    max_us: u64,
}

/// The largest plain number, in thousandths. Reason: a quarter of what the buckets can hold, far beyond any count.
const HIGHEST_NUMBER: u64 = 1 << 62;

impl Histogram {
    /// An empty histogram of plain numbers instead of durations.
    pub fn of_numbers() -> Self {
        Self {
            highest_us: HIGHEST_NUMBER,
            ..Self::small()
        }
    }

    /// An empty histogram that allocates memory when needed, for callers with many histograms.
    pub fn small() -> Self {
        let mut histogram = Self::with_bound(2);
        histogram.buckets.auto(true);
        histogram
    }

    /// An empty histogram; allocates all the memory that it will ever use.
    pub fn new() -> Self {
        Self::with_bound(micros(HIGHEST))
    }

    /// Has memory for values up to `bound_us`, at least 2.
    fn with_bound(bound_us: u64) -> Self {
        Self {
            buckets: hdrhistogram::Histogram::new_with_bounds(1, bound_us, SIGNIFICANT_DIGITS)
                .expect("1 µs ≤ low, high ≥ 2 × low and 3 digits are within the documented bounds"),
            first_us: Vec::new(),
            highest_us: micros(HIGHEST),
            n_saturated: 0,
            sum_us: 0,
            min_us: u64::MAX,
            max_us: 0,
        }
    }

    /// Counts one duration, rounded to the nearest microsecond.
    pub fn record(&mut self, duration: Duration) {
        self.record_n(duration, 1);
    }

    /// Counts `n` equal durations.
    pub fn record_n(&mut self, duration: Duration, n: u64) {
        if n == 0 {
            return;
        }
        let us = micros(duration);
        if us > self.highest_us {
            self.n_saturated = self.n_saturated.saturating_add(n);
        }
        self.buckets
            .record_n(us.min(self.highest_us), n)
            .expect("the value is within the bounds, or the histogram grows");
        if self.first_us.len() < MOST_EXACT {
            self.keep((0..n).map(|_| us));
        }
        self.sum_us = self.sum_us.saturating_add(us.saturating_mul(n));
        self.min_us = self.min_us.min(us);
        self.max_us = self.max_us.max(us);
    }

    /// Keeps as many of these samples as there is room for.
    fn keep(&mut self, samples_us: impl Iterator<Item = u64>) {
        let room = MOST_EXACT - self.first_us.len();
        self.first_us.extend(samples_us.take(room));
    }

    /// All samples in ascending order, in microseconds. `None` if there are more than [`MOST_EXACT`], or if this
    /// histogram was decoded from a text.
    pub fn exact(&self) -> Option<Vec<u64>> {
        (self.first_us.len() as u64 == self.count()).then(|| {
            let mut samples = self.first_us.clone();
            samples.sort_unstable();
            samples
        })
    }

    /// Adds all samples of `other`, as if they had been recorded here.
    pub fn merge(&mut self, other: &Self) {
        self.buckets
            .add(&other.buckets)
            .expect("both histograms have the same digits, and the same bounds or the freedom to grow");
        self.keep(other.first_us.iter().copied());
        self.n_saturated = self.n_saturated.saturating_add(other.n_saturated);
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
        self.min_us = self.min_us.min(other.min_us);
        self.max_us = self.max_us.max(other.max_us);
    }

    /// The samples after `earlier`, an older state of this histogram. Their number, sum and percentiles have full
    /// precision. Minimum and maximum are exact if this histogram has all its samples, and else known within 0.1 %.
    ///
    /// # Panics
    /// `earlier` is not such a state.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut later = self.clone();
        later
            .buckets
            .subtract(&earlier.buckets)
            .expect("an older state has fewer samples in each bucket");
        later.n_saturated -= earlier.n_saturated;
        later.sum_us = later.sum_us.saturating_sub(earlier.sum_us);
        // Samples are appended, so the older state is a prefix.
        later.first_us.drain(..earlier.first_us.len());
        if let Some(samples) = later.exact() {
            later.min_us = samples.first().copied().unwrap_or(u64::MAX);
            later.max_us = samples.last().copied().unwrap_or(0);
        } else {
            later.min_us = later.buckets.min().max(self.min_us);
            // A bucket's upper end may be above the recorded values.
            later.max_us = match later.n_saturated {
                0 => later.buckets.max().min(self.max_us),
                _ => self.max_us,
            };
        }
        later
    }

    /// Values in microseconds, in ascending order, each with its number of samples: all samples one by one if
    /// [`Self::exact`] has them, else the buckets, whose value stands for all that are at most 0.1 % above it.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let exact = self.exact();
        let buckets = exact.is_none().then(|| self.filled());
        let singles = exact.into_iter().flatten().map(|us| (us, 1));
        singles.chain(buckets.into_iter().flatten())
    }

    /// The lowest value of each bucket with samples, in ascending order, with their number.
    fn filled(&self) -> impl Iterator<Item = (u64, u64)> {
        let recorded = self.buckets.iter_recorded();
        recorded.map(|bucket| {
            let lowest = self.buckets.lowest_equivalent(bucket.value_iterated_to());
            (lowest, bucket.count_at_value())
        })
    }

    /// The lowest value of the bucket that counts this one, in microseconds.
    pub fn lowest_of_bucket(us: u64) -> u64 {
        // With 3 digits, values from 2^(10+k) on have one counter per 2^k.
        let shift = us.max(1).ilog2().saturating_sub(10);
        us >> shift << shift
    }

    /// Sets the exact sum, minimum and maximum. An encoded histogram has them within 0.1 % only.
    #[must_use]
    pub fn with_exact(mut self, sum: Duration, min: Duration, max: Duration) -> Self {
        if !self.is_empty() {
            (self.sum_us, self.min_us, self.max_us) = (micros(sum), micros(min), micros(max.max(min)));
        }
        self
    }

    /// Removes all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.buckets.reset();
        self.first_us.clear();
        self.n_saturated = 0;
        self.sum_us = 0;
        self.min_us = u64::MAX;
        self.max_us = 0;
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Number of samples above [`HIGHEST`]; their sum and maximum are exact, and their quantiles read as `HIGHEST` if
    /// there are more than [`MOST_EXACT`] samples.
    pub fn n_saturated(&self) -> u64 {
        self.n_saturated
    }

    /// The exact sum of all samples.
    pub fn sum(&self) -> Duration {
        Duration::from_micros(self.sum_us)
    }

    /// The exact shortest sample; zero when empty.
    pub fn min(&self) -> Duration {
        if self.is_empty() {
            Duration::ZERO
        } else {
            Duration::from_micros(self.min_us)
        }
    }

    /// The exact longest sample; zero when empty.
    pub fn max(&self) -> Duration {
        Duration::from_micros(self.max_us)
    }

    /// The exact arithmetic mean in microseconds; zero when empty.
    pub fn mean_us(&self) -> f64 {
        if self.is_empty() {
            0.0
        } else {
            self.sum_us as f64 / self.count() as f64
        }
    }

    /// The smallest recorded duration that is not shorter than a share of `quantile` (0 to 1) of the samples.
    ///
    /// No interpolation: the answer is a sample if [`Self::exact`] has all, else the upper edge of a bucket, held within
    /// [`Self::min`] and [`Self::max`]. Zero when empty.
    pub fn value_at_quantile(&self, quantile: f64) -> Duration {
        if self.is_empty() {
            return Duration::ZERO;
        }
        if let Some(samples) = self.exact() {
            let n_below = (quantile.clamp(0.0, 1.0) * samples.len() as f64).ceil() as usize;
            return Duration::from_micros(samples[n_below.clamp(1, samples.len()) - 1]);
        }
        self.bucket_at_quantile(quantile)
    }

    fn bucket_at_quantile(&self, quantile: f64) -> Duration {
        let us = self.buckets.value_at_quantile(quantile.clamp(0.0, 1.0));
        Duration::from_micros(us.clamp(self.min_us, self.max_us))
    }

    /// The percentile (0 to 100) in microseconds as k6 defines it, interpolated between the two nearest samples
    /// (docs/protocols/k6.md, Percentiles). It is exact if [`Self::exact`] has all samples. Else each sample is known
    /// within 0.1 %, and so is the answer. Zero when empty.
    pub fn interpolated_us(&self, percent: f64) -> f64 {
        let Some(last) = self.count().checked_sub(1) else {
            return 0.0;
        };
        let position = (percent / 100.0).clamp(0.0, 1.0) * last as f64;
        let exact = self.exact();
        let sample_us = |position: f64| match &exact {
            Some(samples) => samples[position as usize] as f64,
            None => self.sample_us(position),
        };
        let (lower, upper) = (sample_us(position.floor()), sample_us(position.ceil()));
        lower + (upper - lower) * position.fract()
    }

    /// The sample at `position` of all samples in ascending order, from 0.
    fn sample_us(&self, position: f64) -> f64 {
        // Half a sample off the limits of its share, so that the division cannot hit a neighbour.
        let share = (position + 0.5) / self.count() as f64;
        self.bucket_at_quantile(share).as_micros() as f64
    }

    /// The number of samples of at least `threshold`: exact if [`Self::exact`] has all, else to the width of one bucket
    /// (0.1 %).
    pub fn n_at_or_above(&self, threshold: Duration) -> u64 {
        if let Some(samples) = self.exact() {
            let n_below = samples.partition_point(|&us| us < micros(threshold));
            return (samples.len() - n_below) as u64;
        }
        let us = micros(threshold.min(HIGHEST));
        self.buckets.count_between(us, self.buckets.high())
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Rounds to the nearest microsecond. The range of `u64` is 584,000 years.
fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.saturating_add(Duration::from_nanos(500)).as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
