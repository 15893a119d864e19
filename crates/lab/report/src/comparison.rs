//! Is it better than last week? Two sides, each of one run or several, compared figure by figure.
//!
//! The method and what it was validated with are in decision 7 (`docs/decisions/0007-comparing-runs.md`).

use serde::Serialize;

use crate::Summary;

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
mod running_sums;
mod selection;
mod student;
mod text;

use self::{exact::Faults, judgement::judge, selection::Subject};
pub use self::{
    figure::{Better, Figure, Unit},
    judgement::{CONFIDENCE, Difference, Verdict},
};

/// The default for the least change that matters: 5 %. Reason: users do not act on less, and with many runs per side
/// smaller changes would be found.
pub const TOLERANCE: f64 = 0.05;

/// A candidate compared with a baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What all figures together mean.
    pub verdict: Verdict,
    /// What is compared with.
    pub baseline: Side,
    /// What is judged.
    pub candidate: Side,
    /// The least change that matters: 0.05 for 5 %.
    pub tolerance: f64,
    /// The confidence of all intervals together.
    pub confidence: f64,
    /// Why noisy figures cannot be compared. Empty if they can.
    pub obstacles: Vec<String>,
    /// Further messages for people.
    pub notices: Vec<String>,
    /// Figure by figure.
    pub differences: Vec<Difference>,
}

/// The runs of a side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// What was run.
    pub name: String,
    /// The start of the first run: RFC 3339.
    pub started_at: String,
    /// Their ids.
    pub ids: Vec<String>,
}

/// A comparison without runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a comparison needs at least one run on each side")]
pub struct NoRuns;

impl Comparison {
    /// Compares the runs of two sides. `tolerance` is the least change that matters, usually [`TOLERANCE`].
    ///
    /// # Errors
    /// A side has no runs.
    pub fn new(baseline: &[&Summary], candidate: &[&Summary], tolerance: f64) -> Result<Self, NoRuns> {
        let side = |runs: &[&Summary]| Side::new(runs).ok_or(NoRuns);
        let (of_baseline, of_candidate) = (side(baseline)?, side(candidate)?);
        let obstacles = conditions::obstacles(baseline, candidate);
        let subjects = |runs: &[&Summary]| runs.iter().map(|run| Subject::new(run)).collect::<Vec<_>>();
        let (before, after) = (subjects(baseline), subjects(candidate));
        let mut differences = exact(&before, &after);
        let cases = selection::cases(&before, &after);
        differences.extend(judge(cases, tolerance, conditions::company(baseline, candidate)));
        if !obstacles.is_empty() {
            differences.iter_mut().for_each(Difference::withdraw);
        }
        Ok(Self {
            verdict: overall(&differences, !obstacles.is_empty()),
            baseline: of_baseline,
            candidate: of_candidate,
            tolerance,
            confidence: CONFIDENCE,
            obstacles,
            notices: conditions::notices(baseline, candidate),
            differences,
        })
    }

    /// The verdict in one line, with its main evidence.
    pub fn headline(&self) -> String {
        let words = self.verdict.words();
        let mut named = Vec::new();
        let mut metric = "";
        let those = self
            .differences
            .iter()
            .filter(|difference| difference.verdict == self.verdict);
        for difference in those.take(SHOWN) {
            let [figure, _, _, change, ..] = cells::cells(difference);
            // The metric's name is written before its first figure only.
            named.push(if difference.figure.metric == metric {
                format!("{} {change}", difference.figure.figure)
            } else {
                format!("{figure} {change}")
            });
            metric = &difference.figure.metric;
        }
        let named = named.join(", ");
        match self.verdict {
            Verdict::Regressed | Verdict::Improved => format!("{words}: {named}"),
            Verdict::NoSignificantDifference | Verdict::CannotTell => words.to_owned(),
        }
    }

    fn legend(&self) -> String {
        format!(
            "With {:.0} % confidence, all true changes lie in these intervals. Changes of less than {:.0} % do not \
             count.",
            self.confidence * 100.0,
            self.tolerance * 100.0
        )
    }
}

/// The most figures in a headline. Reason: it is one line.
const SHOWN: usize = 4;

impl Side {
    fn new(runs: &[&Summary]) -> Option<Self> {
        let first = runs.first()?;
        let earliest = runs.iter().map(|run| &run.metadata.started_at).min()?;
        Some(Self {
            name: first.metadata.name.clone(),
            started_at: earliest.clone(),
            ids: runs.iter().map(|run| run.metadata.id.clone()).collect(),
        })
    }

    fn text(&self) -> String {
        match self.ids.as_slice() {
            [id] => format!("{} ({id})", self.name),
            ids => format!("{} runs of {} since {}", ids.len(), self.name, self.started_at),
        }
    }
}

impl Difference {
    /// Whether changes are differences rather than ratios.
    fn is_absolute(&self) -> bool {
        self.figure.nature == figure::Nature::Share
    }

    /// Something other than the target may be the reason.
    fn withdraw(&mut self) {
        if self.interval.take().is_some() {
            self.verdict = Verdict::CannotTell;
            self.reason = None;
        }
    }
}

/// The overall verdict. Worse outweighs better; with obstacles there is none.
fn overall(differences: &[Difference], is_obstructed: bool) -> Verdict {
    let has = |verdict| differences.iter().any(|difference| difference.verdict == verdict);
    let is_known = differences.iter().any(|difference| difference.interval.is_some());
    if has(Verdict::Regressed) {
        Verdict::Regressed
    } else if is_obstructed {
        Verdict::CannotTell
    } else if has(Verdict::Improved) {
        Verdict::Improved
    } else if is_known && has(Verdict::NoSignificantDifference) {
        Verdict::NoSignificantDifference
    } else {
        Verdict::CannotTell
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
