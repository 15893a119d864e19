//! Is it better than last week? Two sides, each of one run or several, compared figure by figure.
//!
//! The method and what it was validated with are in decision 7 (`docs/decisions/0007-comparing-runs.md`).

use serde::Serialize;

use crate::Summary;

mod advice;
mod bootstrap;
mod cells;
mod conditions;
mod estimate;
mod exact;
mod figure;
mod in_flight;
mod judgement;
mod markdown;
mod measurement;
mod overall;
mod running_sums;
mod selection;
mod side;
pub(crate) mod student;
mod terms;
mod text;
mod verdict;

pub use self::{
    advice::Series,
    figure::{Better, Figure, Unit},
    judgement::{CONFIDENCE, Difference},
    side::{Runs, Side, distinct},
    terms::{MARGIN, NarrowMargin, TOLERANCE, Terms},
    verdict::Verdict,
};
use self::{exact::Faults, judgement::judge, overall::overall, selection::Subject};

/// A candidate compared with a baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The meaning of all figures together.
    pub verdict: Verdict,
    /// The side that is compared with.
    pub baseline: Side,
    /// The side that is judged.
    pub candidate: Side,
    /// The least change that counts: 0.05 for 5 %.
    pub tolerance: f64,
    /// The greatest change that still means equal: 0.1 for 10 %.
    pub margin: f64,
    /// The confidence of all intervals together.
    pub confidence: f64,
    /// Why noisy figures cannot be compared. Empty if they can.
    pub obstacles: Vec<String>,
    /// Further messages for people.
    pub notices: Vec<String>,
    /// What to do about an inconclusive comparison. Empty for any other.
    pub advice: Vec<String>,
    /// Figure by figure.
    pub differences: Vec<Difference>,
}

/// A comparison without runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a comparison needs at least one run on each side")]
pub struct NoRuns;

impl Comparison {
    /// Compares the runs of two sides.
    ///
    /// # Errors
    /// A side has no runs.
    pub fn new(baseline: Runs<'_>, candidate: Runs<'_>, terms: Terms) -> Result<Self, NoRuns> {
        let side = |runs| Side::new(runs).ok_or(NoRuns);
        let (of_baseline, of_candidate) = (side(baseline)?, side(candidate)?);
        let (baseline, candidate) = (in_time(baseline), in_time(candidate));
        let obstacles = conditions::obstacles(&baseline, &candidate);
        let subjects = |runs: &[&Summary]| runs.iter().map(|run| Subject::new(run)).collect::<Vec<_>>();
        let (before, after) = (subjects(&baseline), subjects(&candidate));
        let mut differences = exact(&before, &after);
        let cases = selection::cases(&before, &after);
        let circumstances = conditions::circumstances(&baseline, &candidate);
        differences.extend(judge(cases, terms, circumstances));
        if !obstacles.is_empty() {
            differences.iter_mut().for_each(Difference::withdraw);
        }
        let verdict = overall(&differences, !obstacles.is_empty());
        let advice = match verdict {
            Verdict::Inconclusive => overall::advice(&differences, !obstacles.is_empty()),
            Verdict::Worse | Verdict::Better | Verdict::Equal => Vec::new(),
        };
        Ok(Self {
            verdict,
            baseline: of_baseline,
            candidate: of_candidate,
            tolerance: terms.tolerance(),
            margin: terms.margin(),
            confidence: CONFIDENCE,
            obstacles,
            notices: conditions::notices(&baseline, &candidate),
            advice,
            differences,
        })
    }

    /// The verdict in words, with the margin of equality.
    pub fn verdict_text(&self) -> String {
        match self.verdict {
            Verdict::Equal => format!("equal within {}", percent(self.margin)),
            verdict => verdict.word().to_owned(),
        }
    }

    /// The verdict in one line, with the figures that it is about.
    pub fn headline(&self) -> String {
        let words = self.verdict_text();
        let named = overall::named(self.verdict, &self.differences);
        match named.as_str() {
            "" => words,
            named => format!("{words}: {named}"),
        }
    }

    /// How to read the intervals and the verdicts, in sentences for people.
    pub fn legend(&self) -> String {
        let is_single = self.baseline.ids.len() == 1 && self.candidate.ids.len() == 1;
        let single = " One run per side shows the noise within the runs, but not how much equal runs differ: the \
                      intervals allow for the drift of earlier runs. Several runs in turn measure it.";
        format!(
            "With {} confidence, all true changes lie in these intervals. A change counts from {} on; equal means less \
             than {} in both directions (shares of failures: {} point).{}",
            percent(self.confidence),
            percent(self.tolerance),
            percent(self.margin),
            figure::SHARE_MARGIN * 100.0,
            if is_single { single } else { "" }
        )
    }

    /// All remarks for people, the most important first.
    fn remarks(&self) -> impl Iterator<Item = &String> {
        self.obstacles.iter().chain(&self.advice).chain(&self.notices)
    }
}

/// A share as a percentage without needless digits: `10 %`, `2.5 %`.
fn percent(share: f64) -> String {
    let tenths = (share * 1_000.0).round() / 10.0;
    format!("{tenths} %")
}

/// The runs of a side in the order of time, so that neighbours of two sides stand at the same place.
fn in_time<'a>(runs: Runs<'a>) -> Vec<&'a Summary> {
    let mut runs = runs.summaries.to_vec();
    runs.sort_by(|one, other| one.metadata.started_at.cmp(&other.metadata.started_at));
    runs
}

impl Difference {
    /// Whether changes are differences rather than ratios.
    fn is_absolute(&self) -> bool {
        self.figure.nature == figure::Nature::Share
    }

    /// Something other than the target may be the reason.
    fn withdraw(&mut self) {
        if !self.is_exact() {
            self.interval = None;
            self.verdict = Verdict::Inconclusive;
            self.reason = None;
            self.suffices = None;
        }
    }

    /// Whether the figure is a count without noise.
    fn is_exact(&self) -> bool {
        self.figure.unit == Unit::Number && self.is_absolute()
    }
}

/// Lost and duplicated messages, if all runs count them.
fn exact(before: &[Subject], after: &[Subject]) -> Vec<Difference> {
    let sum = |subjects: &[Subject]| {
        let none = [Faults::default(); 2];
        subjects.iter().try_fold(none, |[lost, twice], subject| {
            let [more_lost, more_twice] = subject.faults?;
            Some([lost.plus(more_lost), twice.plus(more_twice)])
        })
    };
    let (Some(before), Some(after)) = (sum(before), sum(after)) else {
        return Vec::new();
    };
    ["lost", "duplicated"]
        .into_iter()
        .zip(before.into_iter().zip(after))
        .map(|(name, (before, after))| exact::judge("messages", name, before, after))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
