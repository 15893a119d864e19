//! A search that was kept as JSON, for those who look at it later.

use plimsoll_report::{Style, html};
use serde::Deserialize;

use super::{Unit, grouped, painted, sentence::after_verdict};
use crate::verdict::Verdict;

/// Columns of a step's number, of its load, and of an objective's value.
const NUMBER: usize = 4;
const LOAD: usize = 12;
const VALUE: usize = 9;

/// The version of the JSON. Version 1 had no interval.
pub(super) const VERSION: u64 = 2;

/// A search, read from the JSON that [`Report::json`](super::Report::json) made.
#[derive(Clone, Debug)]
pub struct Kept {
    json: String,
    document: Document,
}

/// A text that is not a search.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// The text is not the JSON of a search.
    #[error("is not a search result of plimsoll line: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// A newer program wrote it.
    #[error(
        "is a search result of version {0}, but this program reads version {VERSION}; use a newer plimsoll"
    )]
    Newer(u64),
}

/// The version alone, because a newer document may lack fields of this one.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Document {
    pub(super) name: String,
    pub(super) unit: Unit,
    pub(super) started_at: String,
    pub(super) objectives: Vec<String>,
    limits: Vec<Limit>,
    pub(super) result: Found,
    steps: Vec<Step>,
    notices: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Limit {
    title: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Found {
    /// `None` in searches of earlier versions.
    verdict: Option<Verdict>,
    pub(super) end: String,
    pub(super) headline: String,
    sentence: String,
    /// Where the line is. `None` in version 1, and where nothing is known.
    pub(super) interval: Option<Ends>,
    /// The fit. `None` in version 1, and where there is no interval.
    pub(super) fit: Option<Median>,
}

/// The ends of an interval.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Ends {
    pub(super) low: u64,
    pub(super) high: Option<u64>,
}

/// The part of a fit that comparisons show.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Median {
    pub(super) line: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct Step {
    load: u64,
    verdict: String,
    objectives: Vec<Judged>,
    reasons: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Judged {
    shown: String,
}

impl Kept {
    /// Reads the JSON of a search.
    ///
    /// # Errors
    /// The text is something else. The error's text begins with a verb, so that a name can stand before it.
    pub fn read(json: &str) -> Result<Self, KeptError> {
        let Versioned { version } = serde_json::from_str(json)?;
        if version > VERSION {
            return Err(KeptError::Newer(version));
        }
        Ok(Self {
            json: json.to_owned(),
            document: serde_json::from_str(json)?,
        })
    }

    /// The unit of its loads.
    pub fn unit(&self) -> Unit {
        self.document.unit
    }

    /// The load line. `None` where none was found.
    pub fn line(&self) -> Option<u64> {
        self.document.result.fit.map(|fit| fit.line)
    }

    /// The interval in which the line is; without an upper end the highest load held. `None` where nothing is known.
    pub fn interval(&self) -> Option<(u64, Option<u64>)> {
        self.document.result.interval.map(|ends| (ends.low, ends.high))
    }

    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// The steps and the line, for people.
    pub fn text(&self, style: Style) -> String {
        let Document {
            unit,
            limits,
            result,
            steps,
            notices,
            ..
        } = &self.document;
        let titles = limits.iter().map(|limit| format!("  {:>VALUE$}", limit.title));
        let mut lines = vec![format!(
            "{:>NUMBER$}{:>LOAD$}{}",
            "step",
            unit.title(),
            titles.collect::<String>()
        )];
        lines.extend(steps.iter().enumerate().map(|(at, step)| self.row(at + 1, step)));
        let rest = result.sentence.strip_prefix(&result.headline).unwrap_or_default();
        lines.push(String::new());
        let sentence = format!("{}{rest}", style.strong(&result.headline));
        lines.push(match result.verdict {
            Some(verdict) => format!("{}: {}", painted(verdict, style), after_verdict(&sentence)),
            None => sentence,
        });
        lines.extend(notices.iter().cloned());
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn row(&self, number: usize, step: &Step) -> String {
        let values = self.document.limits.iter().enumerate().map(|(at, limit)| {
            let shown = step
                .objectives
                .get(at)
                .map_or("–", |judged| judged.shown.as_str());
            let width = limit.title.chars().count().max(VALUE);
            format!("  {shown:>width$}")
        });
        let values: String = values.collect();
        let reasons = match step.reasons.as_slice() {
            [] => String::new(),
            reasons => format!(": {}", reasons.join("; ")),
        };
        format!(
            "{number:>NUMBER$}{:>LOAD$}{values}  {}{reasons}",
            grouped(step.load),
            step.verdict
        )
    }

    /// The page of the search, which leads back to the list of runs at the URL `list`.
    pub fn page(&self, list: &str) -> String {
        let Document { name, result, .. } = &self.document;
        let title = format!("{name}: {} · Plimsoll", result.headline);
        html::listed_file(list, "line", &title, &result.sentence, &self.json)
    }
}
