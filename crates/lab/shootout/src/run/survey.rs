//! Asking all workers how many deliveries have arrived. Pure.

use std::time::Instant;

use crate::ledger::Standing;

/// The answers of the workers to one question.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The question under way: when it was asked, and the number of workers that have not answered.
    open: Option<(Instant, usize)>,
    sum: Standing,
}

/// The answers of all workers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Surveyed {
    /// Each worker counted at this time or later.
    pub(crate) asked_at: Instant,
    pub(crate) standing: Standing,
}

impl Survey {
    pub(super) fn is_under_way(&self) -> bool {
        self.open.is_some()
    }

    /// `n_workers` workers were asked.
    pub(super) fn begin(&mut self, asked_at: Instant, n_workers: usize) {
        self.open = Some((asked_at, n_workers));
        self.sum = Standing::default();
    }

    /// A worker has answered. Returns the sum when it was the last one.
    pub(super) fn add(&mut self, standing: &Standing) -> Option<Surveyed> {
        let (asked_at, n_left) = self.open.take()?;
        self.sum.merge(standing);
        if n_left > 1 {
            self.open = Some((asked_at, n_left - 1));
            return None;
        }
        Some(Surveyed {
            asked_at,
            standing: self.sum,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_last_answer_gives_the_sum() {
        let asked_at = Instant::now();
        let standing = |n_expected, n_settled, ms: Option<u64>| Standing {
            n_expected,
            n_settled,
            last_at: ms.map(|ms| asked_at + Duration::from_millis(ms)),
        };
        let mut survey = Survey::default();
        assert_eq!(survey.add(&standing(1, 1, None)), None, "no worker was asked");
        survey.begin(asked_at, 3);
        assert_eq!(survey.add(&standing(5, 2, Some(7))), None);
        assert_eq!(survey.add(&standing(0, 0, None)), None);
        assert!(survey.is_under_way());
        let surveyed = survey.add(&standing(5, 4, Some(3))).unwrap();
        assert_eq!(surveyed.standing, standing(10, 6, Some(7)));
        assert_eq!(surveyed.standing.n_missing(), 4);
        assert!(!survey.is_under_way());
    }
}
