//! The list of runs, as the page is given it.

use std::path::Path;

use plimsoll_history::{Choices, History, HistoryError};
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
        let kept = Self {
            search: Some(search),
            ..Self::without(folder, None)
        };
        match kept.filled(folder, search) {
            Ok(kept) => kept,
            Err(problem) => Self::without(folder, Some(problem)),
        }
    }

    /// How the runs that a search leaves developed.
    pub(super) fn trends(folder: &Path, search: &'a Search) -> Self {
        let kept = Self {
            trends: Some(Vec::new()),
            ..Self::find(folder, search)
        };
        if kept.problem.is_some() || kept.n_runs == 0 {
            return kept;
        }
        let found = || -> Result<_, String> {
            let filter = search.filter(runs::MOST_RUNS)?;
            let history = History::open_existing(folder).map_err(|error| error.to_string())?;
            match history {
                Some(history) => runs::trends(&history, &filter).map_err(|error| error.to_string()),
                None => Ok((Vec::new(), 0)),
            }
        };
        match found() {
            Ok((trends, n_unreadable)) => Self {
                problem: (n_unreadable > 0).then(|| {
                    format!("{n_unreadable} summaries cannot be read, perhaps because a newer plimsoll wrote them.")
                }),
                runs: Vec::new(),
                trends: Some(trends),
                ..kept
            },
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

    fn filled(self, folder: &Path, search: &Search) -> Result<Self, String> {
        let said = |error: HistoryError| error.to_string();
        let Some(history) = History::open_existing(folder).map_err(said)? else {
            return Ok(self);
        };
        let Choices {
            n_runs,
            kinds,
            verdicts,
            tags,
        } = history.choices().map_err(said)?;
        let kept = Self {
            n_runs,
            kinds,
            verdicts,
            tags,
            ..self
        };
        let filter = match search.filter(MOST_LISTED + 1) {
            Ok(filter) => filter,
            Err(problem) => {
                return Ok(Self {
                    problem: Some(problem),
                    ..kept
                });
            }
        };
        let found = history.list(&filter).map_err(said)?;
        Ok(Self {
            is_cut: found.len() > MOST_LISTED as usize,
            runs: found
                .iter()
                .take(MOST_LISTED as usize)
                .map(runs::object)
                .collect(),
            ..kept
        })
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
