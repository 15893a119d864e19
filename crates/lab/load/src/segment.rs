//! A test that is split over several instances, each of which computes its part alone, exactly as in k6
//! (docs/protocols/k6.md, Execution segments): users and iterations are dealt out one by one, so the parts of all
//! instances together are the whole.

use std::{fmt, str::FromStr, sync::Arc};

/// The most indexes after which the dealing repeats. Reason: each takes four bytes, and a split that needs more is a slip
/// of the keyboard.
const MAX_PERIOD: u64 = 1_000_000;

/// The most segments.
const MAX_SEGMENTS: usize = 10_000;

/// The part of an instance, and those of all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The length of each segment in units of which the whole has [`Self::period`].
    lengths: Vec<u64>,
    /// The segment of this instance.
    own: usize,
    /// By index within the period, the segment that owns it.
    owners: Vec<u32>,
    stripe: Arc<Stripe>,
}

/// The indexes that an instance owns, of an endless row that all instances share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripe {
    /// The indexes within a period, in ascending order; at least one.
    own: Vec<u64>,
    period: u64,
}

/// A text that describes no segment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// Not a segment.
    #[error(
        "expected a part of the whole as from:to, in fractions, decimals or percentages, for example 0:1/4, 0.25:0.5 or \
         75%, found `{0}`"
    )]
    Segment(String),
    /// Not a sequence.
    #[error("expected the ends of all segments in ascending order, for example 0,1/4,1/2,1, found `{0}`")]
    Sequence(String),
    /// The segment is not one of the sequence.
    #[error(
        "the segment {segment} is not one of the sequence {sequence}; expected two neighbours of the sequence"
    )]
    NotThere {
        /// The segment.
        segment: String,
        /// The sequence.
        sequence: String,
    },
    /// A sequence without a segment.
    #[error(
        "a sequence of segments needs the segment of this instance (executionSegment, --execution-segment)"
    )]
    NoSegment,
    /// The common denominator is too large.
    #[error("the common denominator of all segments is above {MAX_PERIOD}; use simpler fractions")]
    TooFine,
}

/// A number from 0 to 1, reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Split {
    /// The split of an instance with this `segment` (`from:to`, or the end of one that begins at 0) of a `sequence` (all
    /// ends, `0,1/4,1/2,1`). Missing segments at the ends of a sequence are added. Without a sequence, the rest before
    /// and behind the segment are one segment each.
    ///
    /// # Errors
    /// [`SegmentError`].
    pub fn new(segment: &str, sequence: Option<&str>) -> Result<Self, SegmentError> {
        let own = segment_of(segment)?;
        let mut ends = match sequence {
            Some(text) => sequence_of(text)?,
            None => vec![own.0, own.1],
        };
        if ends.first() != Some(&Fraction::ZERO) {
            ends.insert(0, Fraction::ZERO);
        }
        if ends.last() != Some(&Fraction::ONE) {
            ends.push(Fraction::ONE);
        }
        let position = ends.windows(2).position(|pair| (pair[0], pair[1]) == own);
        let position = position.ok_or_else(|| SegmentError::NotThere {
            segment: segment.to_owned(),
            sequence: sequence.unwrap_or_default().to_owned(),
        })?;
        let lengths: Vec<_> = ends.windows(2).map(|pair| pair[1].minus(pair[0])).collect();
        let period = lengths.iter().try_fold(1, |period, length| {
            least_common_multiple(period, length.denominator).filter(|period| *period <= MAX_PERIOD)
        });
        let period = period.ok_or(SegmentError::TooFine)?;
        let lengths = lengths
            .iter()
            .map(|length| length.numerator * (period / length.denominator));
        Ok(Self::deal(lengths.collect(), position))
    }

    /// The split of the instance number `own` (from 0) of `n` equal ones.
    pub fn equal(n: usize, own: usize) -> Self {
        Self::deal(vec![1; n.max(1)], own.min(n.saturating_sub(1)))
    }

    /// Deals the indexes of a period out. The sum of `lengths` is the period.
    fn deal(lengths: Vec<u64>, own: usize) -> Self {
        let period: u64 = lengths.iter().sum();
        let mut order: Vec<usize> = (0..lengths.len()).filter(|at| lengths[*at] > 0).collect();
        // Stable: equal segments stay in their order.
        order.sort_by_key(|at| std::cmp::Reverse(lengths[*at]));
        let mut n_taken = vec![0_u64; lengths.len()];
        let owners = (0..period).map(|index| {
            // Its turn has come when it has taken fewer than its share of the indexes before.
            let is_due = |at: &&usize| {
                u128::from(n_taken[**at]) * u128::from(period)
                    <= u128::from(index) * u128::from(lengths[**at])
            };
            let owner = order.iter().find(is_due).copied().unwrap_or_default();
            n_taken[owner] += 1;
            owner as u32
        });
        let owners: Vec<u32> = owners.collect();
        let is_own = |(_, owner): &(u64, &u32)| **owner as usize == own;
        let stripe = Stripe {
            own: (0..)
                .zip(&owners)
                .filter(is_own)
                .map(|(index, _)| index)
                .collect(),
            period,
        };
        Self {
            lengths,
            own,
            owners,
            stripe: Arc::new(stripe),
        }
    }

    /// The indexes of this instance.
    pub fn stripe(&self) -> &Arc<Stripe> {
        &self.stripe
    }

    /// The split by the shares that the segments have of `value` users: so instances without a user get no iterations.
    /// `None` when this instance has none of them.
    pub fn of_value(&self, value: u64) -> Option<Self> {
        let period = self.owners.len() as u64;
        if value == 0 {
            return None;
        }
        if value.is_multiple_of(period) {
            return Some(self.clone());
        }
        let rest = &self.owners[..usize::try_from(value % period).ok()?];
        let mut shares: Vec<u64> = self
            .lengths
            .iter()
            .map(|length| value / period * length)
            .collect();
        rest.iter().for_each(|owner| shares[*owner as usize] += 1);
        Self::by_shares(shares, self.own)
    }

    /// The split in which each instance has its part of the sum of all `shares`. `None`: the instance number `own` (from 0)
    /// has none.
    pub fn by_shares(mut shares: Vec<u64>, own: usize) -> Option<Self> {
        if shares.get(own).is_none_or(|share| *share == 0) {
            return None;
        }
        let position = shares[..own].iter().filter(|share| **share > 0).count();
        shares.retain(|share| *share > 0);
        // In units of the common denominator of all shares.
        let unit = shares
            .iter()
            .fold(0, |unit, share| greatest_common_divisor(unit, *share));
        Some(Self::deal(
            shares.iter().map(|share| share / unit).collect(),
            position,
        ))
    }
}

impl Stripe {
    /// The number of own indexes below `value`: the share of this instance.
    pub fn scale(&self, value: u64) -> u64 {
        let n_own = self.own.len() as u64;
        let rest = value % self.period;
        value / self.period * n_own + self.own.partition_point(|index| *index < rest) as u64
    }

    /// The own index number `n` (from 0).
    pub fn index(&self, n: u64) -> u64 {
        let n_own = self.own.len() as u64;
        let within = self.own[usize::try_from(n % n_own).unwrap_or_default()];
        (n / n_own).saturating_mul(self.period).saturating_add(within)
    }

    /// The share of this instance, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.own.len() as f64 / self.period as f64
    }
}

impl Fraction {
    const ZERO: Self = Self {
        numerator: 0,
        denominator: 1,
    };
    const ONE: Self = Self {
        numerator: 1,
        denominator: 1,
    };

    /// A reduced fraction; `None` above 1.
    fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 || numerator > denominator {
            return None;
        }
        let common = greatest_common_divisor(numerator, denominator);
        let reduced = Self {
            numerator: numerator / common,
            denominator: denominator / common,
        };
        (reduced.denominator <= MAX_PERIOD).then_some(reduced)
    }

    fn is_below(self, other: Self) -> bool {
        self.numerator * other.denominator < other.numerator * self.denominator
    }

    /// The difference to a smaller one. Denominators are at most a million, so products fit.
    fn minus(self, other: Self) -> Self {
        let numerator = self.numerator * other.denominator - other.numerator * self.denominator;
        let denominator = self.denominator * other.denominator;
        let common = greatest_common_divisor(numerator, denominator);
        Self {
            numerator: numerator / common,
            denominator: denominator / common,
        }
    }
}

impl FromStr for Fraction {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.trim();
        let whole = |text: &str| {
            let is_short =
                !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
            if is_short {
                text.parse::<u64>().map_err(drop)
            } else {
                Err(())
            }
        };
        if let Some((numerator, denominator)) = text.split_once('/') {
            return Self::new(whole(numerator)?, whole(denominator)?).ok_or(());
        }
        let (text, hundred) = text.strip_suffix('%').map_or((text, 1), |text| (text, 100));
        let (before, behind) = text.split_once('.').unwrap_or((text, ""));
        let scale = 10_u64.pow(u32::try_from(behind.len()).map_err(drop)?.min(9));
        let behind = if behind.is_empty() { 0 } else { whole(behind)? };
        Self::new(whole(before)? * scale + behind, scale * hundred).ok_or(())
    }
}

impl fmt::Display for Stripe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.own.len(), self.period)
    }
}

fn segment_of(text: &str) -> Result<(Fraction, Fraction), SegmentError> {
    let wrong = || SegmentError::Segment(text.to_owned());
    let (from, to) = text.split_once(':').unwrap_or(("0", text));
    let from: Fraction = from.parse().map_err(|()| wrong())?;
    let to: Fraction = to.parse().map_err(|()| wrong())?;
    if from.is_below(to) {
        Ok((from, to))
    } else {
        Err(wrong())
    }
}

fn sequence_of(text: &str) -> Result<Vec<Fraction>, SegmentError> {
    let wrong = || SegmentError::Sequence(text.to_owned());
    let ends = text.split(',').map(str::parse::<Fraction>);
    let ends: Vec<_> = ends.collect::<Result<_, _>>().map_err(|()| wrong())?;
    let is_ascending = ends.windows(2).all(|pair| pair[0].is_below(pair[1]));
    if is_ascending && (2..=MAX_SEGMENTS).contains(&ends.len()) {
        Ok(ends)
    } else {
        Err(wrong())
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a.max(1)
    } else {
        greatest_common_divisor(b, a % b)
    }
}

fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    (a / greatest_common_divisor(a, b)).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first own indexes of each segment of the sequence.
    fn dealt(sequence: &str, n: u64) -> Vec<Vec<u64>> {
        let ends: Vec<_> = sequence.split(',').collect();
        let splits = ends
            .windows(2)
            .map(|pair| Split::new(&format!("{}:{}", pair[0], pair[1]), Some(sequence)).unwrap());
        splits
            .map(|split| {
                let stripe = split.stripe();
                (0..stripe.scale(n)).map(|at| stripe.index(at)).collect()
            })
            .collect()
    }

    #[test]
    fn indexes_are_dealt_out_by_length() {
        assert_eq!(dealt("0,1/2,1", 5), [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!(dealt("0,1/3,1", 6), [vec![1, 4], vec![0, 2, 3, 5]]);
        assert_eq!(
            dealt("0,25%,0.75,1", 8),
            [vec![1, 5], vec![0, 2, 4, 6], vec![3, 7]]
        );
    }

    #[test]
    fn the_text_may_have_many_forms() {
        let shares = |segment: &str, sequence: Option<&str>| {
            let split = Split::new(segment, sequence);
            split
                .map(|split| split.stripe().to_string())
                .map_err(|error| error.to_string())
        };
        let check = |segment: &str, sequence: Option<&str>, expected: &str| {
            assert_eq!(
                shares(segment, sequence).unwrap(),
                expected,
                "{segment} {sequence:?}"
            );
        };
        check("1/4", None, "1 of 4");
        check("25%", None, "1 of 4");
        check("0.25:0.5", None, "1 of 4");
        check("0:1", None, "1 of 1");
        check("1/3:2/3", Some("0,1/3,2/3,1"), "1 of 3");
        check("1/3:2/3", Some("1/3,2/3"), "1 of 3");
        for (segment, sequence, words) in [
            ("2:3", None, "expected a part of the whole"),
            ("1/2:1/4", None, "expected a part of the whole"),
            ("1/0", None, "expected a part of the whole"),
            ("x", None, "expected a part of the whole"),
            (
                "0:1/2",
                Some("0,1/3,1"),
                "the segment 0:1/2 is not one of the sequence 0,1/3,1",
            ),
            ("0:1/2", Some("0,1/2,1/4,1"), "in ascending order"),
            ("0:1/2", Some(""), "in ascending order"),
            ("0:1/999983", Some("0,1/999983,1/999979,1"), "too fine"),
        ] {
            let error = shares(segment, sequence)
                .unwrap_err()
                .replace("is above 1000000", "too fine");
            assert!(error.contains(words), "{segment} {sequence:?}: {error}");
        }
    }

    #[test]
    fn iterations_go_to_those_with_users() {
        let split = |segment| Split::new(segment, Some("0,1/4,1/2,3/4,1")).unwrap();
        // Two users for four instances.
        assert_eq!(split("0:1/4").of_value(2).unwrap().stripe().to_string(), "1 of 2");
        assert_eq!(split("3/4:1").of_value(2), None);
        assert_eq!(split("0:1/4").of_value(8), Some(split("0:1/4")));
        // Five users: 2, 1, 1, 1.
        assert_eq!(split("0:1/4").of_value(5).unwrap().stripe().to_string(), "2 of 5");
    }

    #[test]
    fn shares_without_a_part_get_nothing() {
        let split = |own| Split::by_shares(vec![4, 0, 2], own);
        let first = |own| -> Option<Vec<u64>> {
            let split = split(own)?;
            Some(
                (0..split.stripe().scale(6))
                    .map(|n| split.stripe().index(n))
                    .collect(),
            )
        };
        assert_eq!(first(0), Some(vec![0, 2, 3, 5]));
        assert_eq!((first(1), first(3)), (None, None));
        assert_eq!(first(2), Some(vec![1, 4]));
        assert_eq!(Split::by_shares(vec![], 0), None);
    }

    proptest! {
        #[test]
        fn all_parts_are_the_whole(lengths in prop::collection::vec(1_u64..20, 1..8), value in 0_u64..500) {
            let splits: Vec<_> = (0..lengths.len()).map(|own| Split::deal(lengths.clone(), own)).collect();
            let mut all: Vec<u64> = Vec::new();
            for split in &splits {
                let stripe = split.stripe();
                prop_assert!(stripe.scale(value) <= stripe.scale(value + 1));
                all.extend((0..stripe.scale(value)).map(|n| stripe.index(n)));
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..value).collect::<Vec<_>>());
            let of_value = splits.iter().filter_map(|split| split.of_value(value));
            let sum: u64 = of_value.map(|split| split.stripe().scale(1000)).sum();
            prop_assert_eq!(sum, if value == 0 { 0 } else { 1000 });
        }
    }
}
