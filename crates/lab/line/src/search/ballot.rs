//! The votes of one load, and the confidence in them.

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// All objectives held.
    Held,
    /// One did not, and it was not the generator's doing.
    Broke,
    /// The generator was saturated, so the step says nothing about the target.
    Generator,
}

/// The votes of all steps at one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ballot {
    /// Steps that held.
    pub held: u32,
    /// Steps that broke.
    pub broke: u32,
    /// Steps in which the generator was the bottleneck.
    pub generator: u32,
}

impl Ballot {
    pub(super) fn add(&mut self, vote: Vote) {
        *match vote {
            Vote::Held => &mut self.held,
            Vote::Broke => &mut self.broke,
            Vote::Generator => &mut self.generator,
        } += 1;
    }

    /// All steps.
    pub fn n_steps(&self) -> u32 {
        self.held + self.broke + self.generator
    }

    /// Steps that say something about the target.
    pub fn n_counted(&self) -> u32 {
        self.held + self.broke
    }

    /// The kind of vote that has the majority of `repeat` steps, as soon as there is one.
    pub(super) fn decision(&self, repeat: u32) -> Option<Vote> {
        let majority = repeat / 2 + 1;
        let votes = [
            (self.held, Vote::Held),
            (self.broke, Vote::Broke),
            (self.generator, Vote::Generator),
        ];
        votes
            .into_iter()
            .find(|(n, _)| *n >= majority)
            .map(|(_, vote)| vote)
    }

    /// The confidence (0 to 1) that a step at this load holds more often than it fails: how improbable at least as many
    /// held steps would be if both were equally likely (the sign test). 3 of 3 give 0.875, 5 of 5 give 0.97.
    pub fn confidence_that_it_holds(&self) -> f64 {
        1.0 - tail(self.held, self.n_counted())
    }

    /// The confidence that a step at this load fails more often than it holds.
    pub fn confidence_that_it_breaks(&self) -> f64 {
        1.0 - tail(self.broke, self.n_counted())
    }
}

/// The probability that a fair coin shows heads at least `k` times in `n` throws.
fn tail(k: u32, n: u32) -> f64 {
    // Each term from the previous one, beginning with the last: C(n, i - 1) = C(n, i) · i / (n - i + 1).
    let (mut term, mut sum) = (0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX)), 0.0);
    for i in (k..=n).rev() {
        sum += term;
        term *= f64::from(i) / f64::from(n - i + 1);
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_that_of_the_sign_test() {
        for (held, broke, expected) in [
            (0, 0, 0.0),
            (1, 0, 0.5),
            (2, 0, 0.75),
            (3, 0, 0.875),
            (2, 1, 0.5),
            (5, 0, 0.96875),
            (4, 1, 0.8125),
            (8, 2, 1.0 - 56.0 / 1024.0),
        ] {
            let ballot = Ballot {
                held,
                broke,
                generator: 7,
            };
            let found = ballot.confidence_that_it_holds();
            assert!((found - expected).abs() < 1e-12, "{ballot:?}: {found}");
            let mirrored = Ballot {
                held: broke,
                broke: held,
                generator: 0,
            };
            assert!((mirrored.confidence_that_it_breaks() - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn steps_are_counted_by_their_votes() {
        let mut ballot = Ballot::default();
        for (vote, n_steps, n_counted) in [
            (Vote::Held, 1, 1),
            (Vote::Broke, 2, 2),
            (Vote::Generator, 3, 2),
            (Vote::Held, 4, 3),
        ] {
            ballot.add(vote);
            assert_eq!((ballot.n_steps(), ballot.n_counted()), (n_steps, n_counted));
        }
        assert_eq!((ballot.held, ballot.broke, ballot.generator), (2, 1, 1));
    }

    #[test]
    fn a_majority_decides_as_soon_as_it_is_there() {
        let ballot = |held, broke, generator| Ballot {
            held,
            broke,
            generator,
        };
        for (ballot, repeat, expected) in [
            (ballot(1, 0, 0), 3, None),
            (ballot(1, 1, 1), 3, None),
            (ballot(2, 0, 0), 3, Some(Vote::Held)),
            (ballot(1, 2, 0), 3, Some(Vote::Broke)),
            (ballot(1, 1, 2), 3, Some(Vote::Generator)),
            (ballot(0, 1, 0), 1, Some(Vote::Broke)),
            (ballot(2, 2, 0), 5, None),
        ] {
            assert_eq!(ballot.decision(repeat), expected, "{ballot:?} of {repeat}");
        }
    }
}
