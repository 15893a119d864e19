//! The results of a run of a suite, written as JSON, a table for terminals, JUnit's XML, or a page.

use std::{collections::BTreeMap, time::SystemTime};

use plimsoll_report::rfc3339_secs;
use serde::{Deserialize, Serialize};

use crate::{Level, Outcome, Verdict};

mod counts;
mod html;
mod json;
mod junit;
mod text;

pub use self::{
    counts::Counts,
    html::matrix,
    json::{ReadError, VERSION},
};

/// The results of a run of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The suite: `websocket server`, `websocket client`, `cable`.
    pub suite: String,
    /// The target.
    pub target: Target,
    /// The testing program with its version.
    pub tester: String,
    /// The start of the run in RFC 3339, in UTC.
    pub started: String,
    /// The duration of the run in seconds.
    pub seconds: f64,
    /// Titles of families, by their names.
    pub families: BTreeMap<String, String>,
    /// The outcomes, in the suite's order.
    pub outcomes: Vec<Outcome>,
}

/// The target of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The name that people know it by.
    pub name: String,
    /// The URL of the target.
    pub url: String,
    /// The version of the target; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// The outcomes of one family of cases.
#[derive(Clone, Debug)]
pub struct Family<'a> {
    /// The name in ids.
    pub name: &'a str,
    /// The title for people; empty without a title.
    pub title: &'a str,
    /// The outcomes, in the suite's order.
    pub outcomes: Vec<&'a Outcome>,
}

impl Results {
    /// Results of a run that began at `started` and took `seconds`; `families` are titles by names.
    pub fn new(
        suite_name: impl Into<String>,
        families: &[(&str, &str)],
        target: Target,
        started: SystemTime,
        seconds: f64,
        outcomes: Vec<Outcome>,
    ) -> Self {
        Self {
            suite: suite_name.into(),
            target,
            tester: concat!("plimsoll ", env!("CARGO_PKG_VERSION")).to_owned(),
            started: rfc3339_secs(started),
            seconds,
            families: families
                .iter()
                .map(|&(name, title)| (name.to_owned(), title.to_owned()))
                .collect(),
            outcomes,
        }
    }

    /// Outcomes by family, in the order in which families first appear.
    pub fn by_family(&self) -> Vec<Family<'_>> {
        let mut families: Vec<Family<'_>> = Vec::new();
        let mut places = BTreeMap::new();
        for outcome in &self.outcomes {
            let name = outcome.case.id.family();
            let at = *places.entry(name).or_insert_with(|| {
                let title = self.families.get(name).map_or("", String::as_str);
                families.push(Family {
                    name,
                    title,
                    outcomes: Vec::new(),
                });
                families.len() - 1
            });
            families[at].outcomes.push(outcome);
        }
        families
    }

    /// The number of outcomes with each verdict.
    pub fn counts(&self) -> Counts {
        Counts::of(&self.outcomes)
    }

    /// The number of cases of a level that passed, and of those that were judged: neither skipped nor unimplemented, and
    /// not merely informational.
    pub fn passed(&self, level: Level) -> (usize, usize) {
        let of_level = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.case.clause.level == level);
        let counts = Counts::of(of_level);
        let n_passed = counts.n(Verdict::Pass);
        (
            n_passed,
            n_passed + counts.n(Verdict::NonStrict) + counts.n(Verdict::Fail),
        )
    }

    /// Whether a case has failed, or its connection ended against the specification.
    pub fn has_failures(&self) -> bool {
        self.outcomes
            .iter()
            .any(|outcome| outcome.worst() == Verdict::Fail)
    }
}

#[cfg(test)]
pub(crate) mod tests;
