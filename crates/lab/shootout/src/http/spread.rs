//! The distribution of request times: buckets that a worker fills while the coordinator reads them.
//!
//! The report has its own, finer histogram; this one is for the line that people watch.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use plimsoll_load::histogram::Histogram;

use super::board::add;

/// Buckets per doubling, as a power of two. Reason: with 32 the middle of a bucket is within 1.6 % of all that it holds.
const BITS: u32 = 5;

/// Times from 2^40 µs on, which is 12 days, are in the last bucket.
const HIGHEST_US: u64 = (1 << 40) - 1;

/// The number of buckets up to [`HIGHEST_US`]: 9.5 KB.
const N_BUCKETS: usize = (40 - BITS as usize + 1) << BITS;

/// The counts of one worker: written by it alone.
#[derive(Debug)]
pub(super) struct Spread(Box<[AtomicU64]>);

/// The counts of all workers at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts(Vec<u64>);

impl Default for Spread {
    fn default() -> Self {
        Self((0..N_BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Spread {
    pub(super) fn add(&self, us: u64) {
        add(&self.0[bucket(us)], 1);
    }
}

impl Counts {
    /// Adds the counts of one worker.
    pub(super) fn add(&mut self, spread: &Spread) {
        self.0.resize(N_BUCKETS, 0);
        for (sum, count) in self.0.iter_mut().zip(&spread.0) {
            *sum += count.load(Relaxed);
        }
    }

    /// Adds times that another machine has counted.
    pub(super) fn add_all(&mut self, times: &Histogram) {
        self.0.resize(N_BUCKETS, 0);
        for (us, n) in times.recorded() {
            self.0[bucket(us)] += n;
        }
    }

    /// These percentiles (0 to 100, ascending) of the times since `earlier`, an older state, each within 1.6 %;
    /// `None` without times.
    pub(super) fn percentiles_since<const N: usize>(
        &self,
        earlier: &Self,
        percentiles: [f64; N],
    ) -> Option<[Duration; N]> {
        let before = earlier.0.iter().copied().chain(std::iter::repeat(0));
        let grown: Vec<u64> = self
            .0
            .iter()
            .zip(before)
            .map(|(now, before)| now - before)
            .collect();
        let n: u64 = grown.iter().sum();
        (n > 0).then(|| {
            percentiles.map(|percentile| at_rank(&grown, (percentile / 100.0 * n as f64).ceil() as u64))
        })
    }
}

/// The middle of the bucket of the sample with this rank, from 1.
fn at_rank(counts: &[u64], rank: u64) -> Duration {
    let mut n = 0;
    let found = counts.iter().position(|count| {
        n += count;
        n >= rank.max(1)
    });
    Duration::from_nanos(middle_ns(found.unwrap_or(counts.len().saturating_sub(1))))
}

fn bucket(us: u64) -> usize {
    let us = us.min(HIGHEST_US);
    let shift = (us.max(1).ilog2()).saturating_sub(BITS);
    ((shift as usize) << BITS) + (us >> shift) as usize
}

/// The middle of a bucket in nanoseconds. Up to 64 µs a bucket holds a single value.
fn middle_ns(bucket: usize) -> u64 {
    let shift = (bucket >> BITS).saturating_sub(1);
    let low = (bucket - (shift << BITS)) as u64;
    let width = 1_u64 << shift;
    (low * width) * 1_000 + (width - 1) * 500
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_within_two_percent_of_its_bucket() {
        let mut us = 0;
        while us < HIGHEST_US {
            let middle = middle_ns(bucket(us)) as f64 / 1e3;
            let error = (middle - us as f64).abs();
            assert!(error <= us as f64 * 0.0157, "{us} µs is told as {middle}");
            us += 1 + us / 97;
        }
        assert_eq!(bucket(u64::MAX), N_BUCKETS - 1);
    }

    #[test]
    fn times_of_other_machines_are_in_the_same_buckets() {
        let (spread, mut times) = (Spread::default(), Histogram::small());
        for us in [1, 60, 60, 900] {
            spread.add(us);
            times.record(Duration::from_micros(us));
        }
        let (mut own, mut told) = (Counts::default(), Counts::default());
        own.add(&spread);
        told.add_all(&times);
        assert_eq!(own, told);
    }

    #[test]
    fn percentiles_are_of_what_came_since() {
        let spread = Spread::default();
        let read = || {
            let mut counts = Counts::default();
            counts.add(&spread);
            counts
        };
        assert_eq!(read().percentiles_since(&Counts::default(), [50.0]), None);
        (0..1_000).for_each(|_| spread.add(60_000_000));
        let earlier = read();
        assert_eq!(read().percentiles_since(&earlier, [50.0]), None);
        (1..=50).for_each(|us| spread.add(us));
        let us = Duration::from_micros;
        let found = read().percentiles_since(&earlier, [0.0, 50.0, 99.0]);
        assert_eq!(found, Some([us(1), us(25), us(50)]));
    }
}
