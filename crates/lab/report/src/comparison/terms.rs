//! The terms of a comparison: the least change that counts, and the greatest change that still means equal.

/// The terms of a comparison, as relative changes: 0.05 for 5 %. Shares of failures have fixed terms of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    tolerance: f64,
    margin: f64,
}

/// The default for the least change that counts: 5 %. Reason: users do not act on less, and with many runs per side
/// smaller changes would be found.
pub const TOLERANCE: f64 = 0.05;

/// The default for the greatest change that still means equal: 10 %. Reason: five runs per side can show it for the
/// median on a quiet machine; twice as many would be needed for 5 %.
pub const MARGIN: f64 = 0.10;

/// Terms that leave a gap: changes that are neither small enough to be equal nor large enough to count.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the margin of {:.1} % is below the tolerance of {:.1} %, so changes in between would be neither equal nor different; \
     expected a margin of at least the tolerance",
    margin * 100.0,
    tolerance * 100.0
)]
pub struct NarrowMargin {
    tolerance: f64,
    margin: f64,
}

impl Terms {
    /// Terms of a comparison: `tolerance` is the least change that counts, `margin` the greatest that still means equal.
    ///
    /// # Errors
    /// The margin is below the tolerance.
    pub fn new(tolerance: f64, margin: f64) -> Result<Self, NarrowMargin> {
        if margin < tolerance {
            return Err(NarrowMargin { tolerance, margin });
        }
        Ok(Self { tolerance, margin })
    }

    /// The least change that counts.
    pub fn tolerance(self) -> f64 {
        self.tolerance
    }

    /// The greatest change that still means equal.
    pub fn margin(self) -> f64 {
        self.margin
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            tolerance: TOLERANCE,
            margin: MARGIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_change_falls_between_the_terms() {
        for (tolerance, margin, expected) in [
            (0.05, 0.10, Ok([0.05, 0.10])),
            (0.10, 0.10, Ok([0.10, 0.10])),
            (0.0, 0.0, Ok([0.0, 0.0])),
            (
                0.15,
                0.10,
                Err(
                    "the margin of 10.0 % is below the tolerance of 15.0 %, so changes in between would be neither equal \
                     nor different; expected a margin of at least the tolerance"
                        .to_owned(),
                ),
            ),
        ] {
            let found = Terms::new(tolerance, margin);
            let found = found
                .map(|terms| [terms.tolerance(), terms.margin()])
                .map_err(|error| error.to_string());
            assert_eq!(found, expected);
        }
        assert_eq!(Terms::new(TOLERANCE, MARGIN), Ok(Terms::default()));
    }
}
