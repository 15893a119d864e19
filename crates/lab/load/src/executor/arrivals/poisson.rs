//! Random arrivals (a Poisson process), each computed from its index without the earlier ones.
//!
//! The gaps are exponential in *area*, with the mean of one iteration, so that a ramp is as random as a constant rate
//! (an inhomogeneous process by time change). A gap depends on the seed and its index only.

use std::sync::Arc;

use super::ArrivalsError;

/// The distance of stored sums of gaps, in arrivals. Sums in between are recomputed. Reason: a quarter of a byte and
/// half a microsecond per arrival.
const STRIDE: u64 = 64;

/// The most arrivals of a process on average. Reason: they are counted before the run, 20 ns each, and their sums take
/// 12 MB.
const MOST: i128 = 50_000_000;

/// The increment of SplitMix64 (Steele, Lea and Flood, 2014).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The arrivals by area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Poisson {
    seed: u64,
    /// Area of one iteration.
    mean_gap: i128,
    /// The area of every [`STRIDE`]-th arrival.
    marks: Arc<[i128]>,
    n_total: u64,
}

impl Poisson {
    /// All arrivals before the area `end`, which may be none.
    ///
    /// # Errors
    /// [`ArrivalsError::TooLarge`] if there are too many.
    pub(super) fn new(seed: u64, mean_gap: i128, end: i128) -> Result<Self, ArrivalsError> {
        if end / mean_gap > MOST {
            return Err(ArrivalsError::TooLarge);
        }
        let (mut marks, mut n_total) = (Vec::new(), 0);
        let mut area = gap(seed, 0, mean_gap);
        while area < end {
            if n_total % STRIDE == 0 {
                marks.push(area);
            }
            n_total += 1;
            area += gap(seed, n_total, mean_gap);
        }
        Ok(Self {
            seed,
            mean_gap,
            marks: marks.into(),
            n_total,
        })
    }

    pub(super) fn n_total(&self) -> u64 {
        self.n_total
    }

    /// The area of an arrival, which must be below [`Self::n_total`].
    pub(super) fn area(&self, index: u64) -> i128 {
        let mark = index / STRIDE;
        let area = self.marks[usize::try_from(mark).unwrap_or(usize::MAX)];
        let between = mark * STRIDE + 1..=index;
        area + between.map(|index| self.gap(index)).sum::<i128>()
    }

    /// The number of arrivals before `is_before` becomes false for their area.
    pub(super) fn n_while(&self, is_before: impl Fn(i128) -> bool) -> u64 {
        let n_marks = self.marks.partition_point(|&area| is_before(area)) as u64;
        let Some(mark) = n_marks.checked_sub(1) else {
            return 0;
        };
        let mut area = self.area(mark * STRIDE);
        let candidates = mark * STRIDE + 1..self.n_total;
        let further = candidates.take_while(|&index| {
            area += self.gap(index);
            is_before(area)
        });
        mark * STRIDE + 1 + further.count() as u64
    }

    fn gap(&self, index: u64) -> i128 {
        gap(self.seed, index, self.mean_gap)
    }
}

/// The area between arrival `index` and the previous one.
fn gap(seed: u64, index: u64, mean: i128) -> i128 {
    // 53 bits: all that a float holds; below 1, so that the logarithm is finite.
    let unit = (mix(seed.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN))) >> 11) as f64
        * (1.0 / (1_u64 << 53) as f64);
    (-(1.0 - unit).ln() * mean as f64).round() as i128
}

/// The output function of SplitMix64.
fn mix(state: u64) -> u64 {
    let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}
