//! The steps in their order, and what the order tells: whether a target recovered, and whether the evidence for an end of
//! the interval comes from separate moments.

use std::collections::BTreeMap;

use super::{
    ballot::{Ballot, Vote},
    fit::Tally,
};

/// The steps of a search in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    steps: Vec<(u64, Vote)>,
}

impl Record {
    pub(super) fn add(&mut self, load: u64, vote: Vote) {
        self.steps.push((load, vote));
    }

    /// The number of all steps.
    pub(super) fn n_steps(&self) -> usize {
        self.steps.len()
    }

    /// The votes of each load.
    pub(super) fn ballots(&self) -> BTreeMap<u64, Ballot> {
        let mut ballots: BTreeMap<u64, Ballot> = BTreeMap::new();
        for &(load, vote) in &self.steps {
            ballots.entry(load).or_default().add(vote);
        }
        ballots
    }

    /// The steps of each load for the fit, either about the target alone, or about target and generator together, which
    /// counts a step with a saturated generator as failed.
    pub(super) fn tallies(&self, with_generator: bool) -> BTreeMap<u64, Tally> {
        let ballots = self.ballots().into_iter();
        let tallies = ballots.map(|(load, ballot)| {
            let failed = if with_generator {
                ballot.broke + ballot.generator
            } else {
                ballot.broke
            };
            (
                load,
                Tally {
                    held: ballot.held,
                    failed,
                },
            )
        });
        tallies
            .filter(|(_, tally)| tally.held + tally.failed > 0)
            .collect()
    }

    /// The greatest load that ever held.
    pub(super) fn greatest_held(&self) -> Option<u64> {
        self.held().max()
    }

    /// The greatest load up to `most` that ever held.
    pub(super) fn greatest_held_up_to(&self, most: u64) -> Option<u64> {
        self.held().filter(|load| *load <= most).max()
    }

    /// The least load that ever held.
    pub(super) fn least_held(&self) -> Option<u64> {
        self.held().min()
    }

    /// The lowest load above `load` that was tried.
    pub(super) fn lowest_above(&self, load: u64) -> Option<u64> {
        self.steps
            .iter()
            .map(|(load, _)| *load)
            .filter(|tried| *tried > load)
            .min()
    }

    /// Whether a step did not hold.
    pub(super) fn has_failed(&self) -> bool {
        self.steps.iter().any(|(_, vote)| *vote != Vote::Held)
    }

    /// Whether the generator was the bottleneck of a step.
    pub(super) fn has_saturated(&self) -> bool {
        self.steps.iter().any(|(_, vote)| *vote == Vote::Generator)
    }

    /// Whether the latest step held.
    pub(super) fn has_just_held(&self) -> bool {
        self.steps.last().is_some_and(|(_, vote)| *vote == Vote::Held)
    }

    /// The loads of the steps since the latest one that held, if a failed one is among them; without those of the
    /// generator.
    pub(super) fn failed_since_held(&self) -> Vec<u64> {
        let since = self
            .steps
            .iter()
            .rev()
            .take_while(|(_, vote)| *vote != Vote::Held);
        since
            .filter(|(_, vote)| *vote == Vote::Broke)
            .map(|(load, _)| *load)
            .collect()
    }

    /// In how many separate moments a load of at least `low` held. Steps that held one after the other are one moment.
    pub(super) fn n_moments_held(&self, low: u64) -> u32 {
        self.n_moments(|vote| vote == Vote::Held, |load| load >= low)
    }

    /// In how many separate moments a load of at most `high` did not hold.
    pub(super) fn n_moments_failed(&self, high: u64) -> u32 {
        self.n_moments(|vote| vote != Vote::Held, |load| load <= high)
    }

    /// Whether more of the steps above this load broke than had a saturated generator.
    pub(super) fn has_mostly_broken_above(&self, low: u64) -> bool {
        let n_of = |kind| {
            self.steps
                .iter()
                .filter(|(load, vote)| *load > low && *vote == kind)
                .count()
        };
        n_of(Vote::Broke) > n_of(Vote::Generator)
    }

    fn n_moments(&self, is_kind: impl Fn(Vote) -> bool, is_relevant: impl Fn(u64) -> bool) -> u32 {
        let (mut n, mut is_counted) = (0, false);
        for &(load, vote) in &self.steps {
            if !is_kind(vote) {
                is_counted = false;
            } else if !is_counted && is_relevant(load) {
                is_counted = true;
                n += 1;
            }
        }
        n
    }

    fn held(&self) -> impl Iterator<Item = u64> {
        self.steps
            .iter()
            .filter(|(_, vote)| *vote == Vote::Held)
            .map(|(load, _)| *load)
    }
}
