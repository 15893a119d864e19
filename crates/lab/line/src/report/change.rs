//! Two searches compared: did the line rise or fall? Two lines differ if their intervals do not overlap.

use serde::{Serialize, Serializer};

use super::{
    Unit, grouped,
    kept::{Document, Kept},
};

/// How the line of a search differs from that of an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Whether the line rose or fell.
    pub verdict: ChangeVerdict,
    /// The earlier search.
    pub baseline: Side,
    /// The later search.
    pub candidate: Side,
    /// The unit of the loads.
    pub unit: Unit,
    /// The relative difference of the lines: −0.1 is a tenth less. `None` if one is unknown or only bounded.
    pub change: Option<f64>,
    /// Why the searches cannot be compared.
    pub obstacles: Vec<String>,
}

/// One of two compared searches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// What was run.
    pub name: String,
    /// The start of the search, as RFC 3339.
    pub started_at: String,
    /// The line: the median of the fit, or the lower end if there is no upper one. `None` if unknown.
    pub line: Option<u64>,
    /// The lower end of the interval. `None` if unknown.
    pub low: Option<u64>,
    /// The upper end of the interval. `None` if unknown or unbounded.
    pub high: Option<u64>,
}

/// Whether the line rose or fell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeVerdict {
    /// It rose: the whole interval is above the earlier one.
    Better,
    /// It fell: the whole interval is below the earlier one.
    Worse,
    /// The intervals overlap, and both searches found their line.
    NoDifference,
    /// The intervals overlap because a search did not find its line, or the searches measure different things.
    Inconclusive,
}

impl Change {
    /// Compares a search with an earlier one.
    pub fn new(baseline: &Kept, candidate: &Kept) -> Self {
        let (before, after) = (baseline.document(), candidate.document());
        let obstacles = obstacles(before, after);
        let (baseline, candidate) = (Side::of(before), Side::of(after));
        let are_found = [before, after]
            .iter()
            .all(|document| document.result.end == "found");
        let verdict = if obstacles.is_empty() {
            verdict(&baseline, &candidate, are_found)
        } else {
            ChangeVerdict::Inconclusive
        };
        Self {
            verdict,
            change: change(&baseline, &candidate).filter(|_| obstacles.is_empty()),
            unit: after.unit,
            baseline,
            candidate,
            obstacles,
        }
    }

    /// The change in a sentence: `the line fell from 2,300 (2,200 to 2,400) to 1,900 (1,850 to 1,950) users`.
    pub fn sentence(&self) -> String {
        let change = self.change.map(|change| {
            let sign = if change < 0.0 { '−' } else { '+' };
            format!(", {sign}{:.0} %", change.abs() * 100.0)
        });
        let change = change.unwrap_or_default();
        let (before, after) = (self.baseline.shown(), self.candidate.shown());
        let unit = self.unit.title();
        match self.verdict {
            ChangeVerdict::Better => {
                format!("better: the line rose from {before} to {after} {unit}{change}")
            }
            ChangeVerdict::Worse => {
                format!("worse: the line fell from {before} to {after} {unit}{change}")
            }
            ChangeVerdict::NoDifference => {
                format!(
                    "no significant difference: the line was {before} and is {after} {unit}; the intervals overlap"
                )
            }
            ChangeVerdict::Inconclusive if self.obstacles.is_empty() => format!(
                "inconclusive: the line was {before} and is {after} {unit}; the intervals overlap because a search did \
                 not find its line"
            ),
            ChangeVerdict::Inconclusive => format!("inconclusive: {}", self.obstacles.join("; ")),
        }
    }

    /// Everything for people.
    pub fn text(&self) -> String {
        let side = |label, side: &Side| format!("  {label:<9}  {} ({})\n", side.name, side.started_at);
        format!(
            "\n{}{}\n  {}\n",
            side("baseline", &self.baseline),
            side("candidate", &self.candidate),
            self.sentence()
        )
    }

    /// A table in Markdown.
    pub fn markdown(&self) -> String {
        format!(
            "{}\n\n| figure | baseline | candidate | verdict |\n|---|---|---|---|\n| load line ({}) | {} | {} | {} |\n",
            self.sentence(),
            self.unit.title(),
            self.baseline.shown(),
            self.candidate.shown(),
            self.verdict.words(),
        )
    }
}

impl Side {
    fn of(document: &Document) -> Self {
        let interval = document.result.interval;
        let median = document.result.fit.map(|fit| fit.line);
        let low = interval.map(|interval| interval.low);
        let high = interval.and_then(|interval| interval.high);
        Self {
            name: document.name.clone(),
            started_at: document.started_at.clone(),
            line: if high.is_some() { median } else { low },
            low,
            high,
        }
    }

    /// The line with its interval.
    fn shown(&self) -> String {
        match (self.line, self.low, self.high) {
            (Some(line), Some(low), Some(high)) if low == high => grouped(line),
            (Some(line), Some(low), Some(high)) => {
                format!("{} ({} to {})", grouped(line), grouped(low), grouped(high))
            }
            (_, Some(low), _) => format!("{} or more", grouped(low)),
            _ => "unknown".to_owned(),
        }
    }
}

impl ChangeVerdict {
    fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoDifference => "no significant difference",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl Serialize for ChangeVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.words().replace(' ', "_"))
    }
}

fn obstacles(before: &Document, after: &Document) -> Vec<String> {
    let mut obstacles = Vec::new();
    if before.unit != after.unit {
        let (before, after) = (before.unit.title(), after.unit.title());
        obstacles.push(format!("the loads have different units, {before} and {after}"));
    }
    if before.objectives != after.objectives {
        let (before, after) = (before.objectives.join(", "), after.objectives.join(", "));
        obstacles.push(format!("the objectives differ: {before} before, {after} after"));
    }
    for document in [before, after] {
        if document.result.interval.is_none() {
            obstacles.push(format!(
                "the search of {} has no interval ({}); search again",
                document.started_at, document.result.headline
            ));
        }
    }
    obstacles
}

fn verdict(baseline: &Side, candidate: &Side, are_found: bool) -> ChangeVerdict {
    let is_below = |one: &Side, other: &Side| one.high.zip(other.low).is_some_and(|(high, low)| high < low);
    if is_below(baseline, candidate) {
        ChangeVerdict::Better
    } else if is_below(candidate, baseline) {
        ChangeVerdict::Worse
    } else if are_found {
        ChangeVerdict::NoDifference
    } else {
        ChangeVerdict::Inconclusive
    }
}

/// The relative difference of two lines that both have ends.
fn change(baseline: &Side, candidate: &Side) -> Option<f64> {
    let known = |side: &Side| side.line.filter(|_| side.high.is_some());
    let (before, after) = (known(baseline)? as f64, known(candidate)? as f64);
    (before > 0.0).then(|| after / before - 1.0)
}

#[cfg(test)]
mod tests;
