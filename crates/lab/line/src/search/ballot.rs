//! The votes of one load.

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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
