//! Histograms for another machine, without loss: all samples if they are few, and else the buckets with the exact
//! figures beside them.
//!
//! [`Histogram`] is serialised in this form. What comes in is checked before it becomes a histogram: its figures must
//! agree with its buckets, so that no later merge or percentile can fail.

use std::{ops::Not, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{DecodeError, HIGHEST_NUMBER, Histogram, MOST_EXACT};

/// The most samples of a metric that one message from another machine may have. Reason: `f64` holds every count up to
/// it, and the sum of two thousand messages fits into 64 bits.
pub(crate) const MAX_COUNT: u64 = 1 << 53;

/// A histogram in the form that is sent. An empty one of durations is `{}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packed {
    /// Whether it holds plain numbers, each as that many milliseconds, instead of durations.
    #[serde(default, skip_serializing_if = "Not::not")]
    numbers: bool,
    /// All samples in microseconds, if the sender knows each. Empty if it does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    us: Vec<u64>,
    /// All samples otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    buckets: Option<Buckets>,
}

/// Counts per bucket, and the figures that buckets have within 0.1 % only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Buckets {
    /// The text of [`Histogram::encode`].
    hdr: String,
    sum_us: u64,
    min_us: u64,
    max_us: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    n_saturated: u64,
}

/// Why a histogram from another machine is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    /// It lists more samples than a histogram keeps.
    #[error("{n} samples one by one; at most {MOST_EXACT} are sent so, and more as buckets")]
    TooManySamples {
        /// Their number.
        n: usize,
    },
    /// It has samples and buckets.
    #[error("samples both one by one and as buckets")]
    TwoForms,
    /// The text of its buckets is invalid.
    #[error(transparent)]
    Text(#[from] DecodeError),
    /// A figure does not belong to its buckets.
    #[error("its {figure} contradicts its buckets")]
    Contradiction {
        /// The figure.
        figure: &'static str,
    },
    /// It holds plain numbers instead of durations, or durations instead of numbers.
    #[error("expected a histogram of {expected}")]
    OtherKind {
        /// What it should hold.
        expected: &'static str,
    },
}

impl Packed {
    /// The form of this histogram. Two histograms of the same samples may have them in another order.
    pub fn of(histogram: &Histogram) -> Self {
        let has_all = histogram.first_us.len() as u64 == histogram.count();
        let buckets = || Buckets {
            hdr: histogram.encode(),
            sum_us: histogram.sum_us,
            min_us: histogram.min_us,
            max_us: histogram.max_us,
            n_saturated: histogram.n_saturated,
        };
        Self {
            numbers: histogram.highest_us == HIGHEST_NUMBER,
            us: if has_all {
                histogram.first_us.clone()
            } else {
                Vec::new()
            },
            buckets: (!has_all).then(buckets),
        }
    }

    /// The histogram, of either kind.
    ///
    /// # Errors
    /// It is invalid. Unpacking takes at most a megabyte, whatever came in.
    pub fn unpack(&self) -> Result<Histogram, UnpackError> {
        let empty = if self.numbers {
            Histogram::of_numbers()
        } else {
            Histogram::small()
        };
        match &self.buckets {
            Some(_) if !self.us.is_empty() => Err(UnpackError::TwoForms),
            Some(buckets) => buckets.unpack(empty.highest_us),
            None => recorded_to(empty, &self.us),
        }
    }

    /// The histogram, which must hold durations.
    ///
    /// # Errors
    /// It holds numbers, or is invalid.
    pub fn durations(&self) -> Result<Histogram, UnpackError> {
        self.unpack_kind(false, "durations")
    }

    /// The histogram, which must hold plain numbers.
    ///
    /// # Errors
    /// It holds durations, or is invalid.
    pub fn numbers(&self) -> Result<Histogram, UnpackError> {
        self.unpack_kind(true, "numbers")
    }

    fn unpack_kind(&self, numbers: bool, expected: &'static str) -> Result<Histogram, UnpackError> {
        if self.numbers == numbers {
            self.unpack()
        } else {
            Err(UnpackError::OtherKind { expected })
        }
    }
}

fn recorded_to(mut histogram: Histogram, samples_us: &[u64]) -> Result<Histogram, UnpackError> {
    let n = samples_us.len();
    if n > MOST_EXACT {
        return Err(UnpackError::TooManySamples { n });
    }
    for &us in samples_us {
        histogram.record(Duration::from_micros(us));
    }
    Ok(histogram)
}

impl Buckets {
    fn unpack(&self, highest_us: u64) -> Result<Histogram, UnpackError> {
        let read = Histogram::decode(&self.hdr)?;
        if let Some(figure) = self.contradiction(&read, highest_us) {
            return Err(UnpackError::Contradiction { figure });
        }
        Ok(Histogram {
            highest_us,
            n_saturated: self.n_saturated,
            sum_us: self.sum_us,
            min_us: self.min_us,
            max_us: self.max_us,
            ..read
        })
    }

    /// The name of a figure that these buckets cannot have.
    fn contradiction(&self, read: &Histogram, highest_us: u64) -> Option<&'static str> {
        let top = Histogram::lowest_of_bucket(highest_us);
        let (Some((first, _)), Some((last, n_last))) = (read.filled().next(), read.filled().last()) else {
            return Some("count");
        };
        let lowest = |us: u64| Histogram::lowest_of_bucket(us.min(highest_us));
        let sum_of = |us: u64| us.saturating_mul(read.count());
        let is_saturated = last == top && self.max_us > highest_us && self.n_saturated <= n_last;
        // The end of the top bucket is above the bound, so an approximated maximum may be, too.
        let fits_max = last <= top && lowest(self.max_us) == last && self.min_us <= self.max_us;
        let holds = [
            ("count", read.count() <= MAX_COUNT),
            ("minimum", lowest(self.min_us) == first),
            ("maximum", fits_max),
            (
                "number of too long samples",
                self.n_saturated == 0 || is_saturated,
            ),
            (
                "sum",
                (sum_of(self.min_us)..=sum_of(self.max_us)).contains(&self.sum_us),
            ),
        ];
        holds
            .into_iter()
            .find_map(|(figure, holds)| (!holds).then_some(figure))
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Packed::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let packed = Packed::deserialize(deserializer)?;
        packed.unpack().map_err(D::Error::custom)
    }
}

/// Reads a field that is a histogram of durations.
///
/// # Errors
/// It is invalid, or holds numbers.
pub fn durations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
    let packed = Packed::deserialize(deserializer)?;
    packed.durations().map_err(D::Error::custom)
}

// The signature is serde's.
fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests;
