//! The list of runs, as the page is given it.

use std::path::Path;

use plimsoll_history::{Choices, History};
use plimsoll_report::html;
use serde::Serialize;
use serde_json::Value;

use super::question::Search;
use crate::runs::{self, Trend};

/// The largest number of runs on one page. Reason: readers stop there, and a filter finds older runs.
const MOST_LISTED: u32 = 500;

/// What the page shows.
#[derive(Debug, Default, Serialize)]
pub(super) struct Kept<'a> {
    /// Where runs are kept.
    folder: String,
    /// Why there is nothing to show, or not what was asked for.
    problem: Option<String>,
    search: Option<&'a Search>,
    /// How many runs there are, whatever the filter.
    n_runs: u32,
    kinds: Vec<String>,
    verdicts: Vec<String>,
    tags: Vec<String>,
    /// The newest first.
    runs: Vec<Value>,
    /// Whether there are older ones that fit.
    is_cut: bool,
    /// How the runs developed, instead of the list of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    trends: Option<Vec<Trend>>,
}

impl<'a> Kept<'a> {
    /// The runs of a folder that a search leaves.
    pub(super) fn find(folder: &Path, search: &'a Search) -> Self {
        Self::searched(folder, search, Self::with_runs)
    }

    /// How the runs that a search leaves developed.
    pub(super) fn trends(folder: &Path, search: &'a Search) -> Self {
        let kept = Self::searched(folder, search, Self::with_trends);
        Self {
            trends: Some(kept.trends.unwrap_or_default()),
            ..kept
        }
    }

    /// What `fill` makes of a folder and a search.
    fn searched(
        folder: &Path,
        search: &'a Search,
        fill: impl FnOnce(Self, &History, &Search) -> Result<Self, String>,
    ) -> Self {
        let kept = Self {
            search: Some(search),
            ..Self::without(folder, None)
        };
        match kept.filled(folder, search, fill) {
            Ok(kept) => kept,
            Err(problem) => Self::without(folder, Some(problem)),
        }
    }

    /// A page that only says why there is no other.
    pub(super) fn without(folder: &Path, problem: Option<String>) -> Self {
        Self {
            folder: folder.display().to_string(),
            problem,
            ..Self::default()
        }
    }

    fn filled(
        self,
        folder: &Path,
        search: &Search,
        fill: impl FnOnce(Self, &History, &Search) -> Result<Self, String>,
    ) -> Result<Self, String> {
        let Some(history) = History::open_existing(folder).map_err(|error| error.to_string())? else {
            return Ok(self);
        };
        let Choices {
            n_runs,
            kinds,
            verdicts,
            tags,
        } = history.choices().map_err(|error| error.to_string())?;
        let kept = Self {
            n_runs,
            kinds,
            verdicts,
            tags,
            ..self
        };
        fill(kept, &history, search)
    }

    fn with_runs(self, history: &History, search: &Search) -> Result<Self, String> {
        let filter = match search.filter(MOST_LISTED + 1) {
            Ok(filter) => filter,
            Err(problem) => return Ok(self.with_problem(problem)),
        };
        let found = history.list(&filter).map_err(|error| error.to_string())?;
        Ok(Self {
            is_cut: found.len() > MOST_LISTED as usize,
            runs: found
                .iter()
                .take(MOST_LISTED as usize)
                .map(runs::object)
                .collect(),
            ..self
        })
    }

    fn with_trends(self, history: &History, search: &Search) -> Result<Self, String> {
        let filter = match search.filter(runs::MOST_RUNS) {
            Ok(filter) => filter,
            Err(problem) => return Ok(self.with_problem(problem)),
        };
        let (trends, n_unreadable) = runs::trends(history, &filter).map_err(|error| error.to_string())?;
        let problem = (n_unreadable > 0).then(|| {
            format!("{n_unreadable} summaries cannot be read, perhaps because a newer plimsoll wrote them.")
        });
        Ok(Self {
            problem,
            trends: Some(trends),
            ..self
        })
    }

    fn with_problem(self, problem: String) -> Self {
        Self {
            problem: Some(problem),
            ..self
        }
    }

    /// The page.
    pub(super) fn html(&self) -> String {
        let json =
            serde_json::to_string(self).expect("all keys are text, and nothing fails to be serialized");
        let about = format!(
            "<script type=\"application/json\" id=\"kept\">{}</script>",
            html::in_script(&json)
        );
        html::served("Runs", &about)
    }
}
