//! What is answered to which question: pages as text. Nothing is remembered between two of them: a run that ends meanwhile
//! is in the next list.

use std::path::Path;

use hyper::StatusCode;
use plimsoll_history::{History, HistoryError};
use plimsoll_line::report::Kept as Search;
use plimsoll_report::{Summary, comparison::Terms, html};

use super::{kept::Kept, question::Question};
use crate::{comparing, report::MOST_RUNS, runs::Imported};

/// Where the list of runs is, from a report.
const LIST: &str = "./";

/// A page with its status.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) status: StatusCode,
    pub(super) html: String,
    /// A report, which has its own policy.
    pub(super) is_report: bool,
}

/// Why a report cannot be shown.
#[derive(Debug, thiserror::Error)]
enum NoReport {
    #[error("there is no run `{0}` any more; the list shows the existing runs")]
    Gone(String),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error("the summary of run {id} cannot be read: {reason}")]
    Unreadable { id: String, reason: String },
    #[error("run {0} is a search of plimsoll line, which cannot be compared; open it in the list")]
    Search(String),
    #[error(
        "run {0} was imported and has figures without samples, which cannot be compared; the trends show them"
    )]
    Imported(String),
    #[error("a comparison needs 2 to {MOST_RUNS} runs, but {0} were chosen; choose them in the list")]
    Count(usize),
}

impl NoReport {
    fn status(&self) -> StatusCode {
        match self {
            Self::Gone(_) => StatusCode::NOT_FOUND,
            Self::Count(_) | Self::Search(_) | Self::Imported(_) => StatusCode::BAD_REQUEST,
            Self::History(_) | Self::Unreadable { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// The page that a question asks for.
pub(super) fn answer(question: &Question, folder: &Path) -> Page {
    match question {
        Question::List(search) => Page {
            status: StatusCode::OK,
            html: Kept::find(folder, search).html(),
            is_report: false,
        },
        Question::Trends(search) => Page {
            status: StatusCode::OK,
            html: Kept::trends(folder, search).html(),
            is_report: false,
        },
        Question::Run(id) => page_of(folder, run(folder, id)),
        Question::Compare(ids) => page_of(folder, comparison(folder, ids)),
    }
}

fn page_of(folder: &Path, report: Result<String, NoReport>) -> Page {
    match report {
        Ok(html) => Page {
            status: StatusCode::OK,
            html,
            is_report: true,
        },
        Err(reason) => Page {
            status: reason.status(),
            html: Kept::without(folder, Some(reason.to_string())).html(),
            is_report: false,
        },
    }
}

/// The report of a run, or the page of a search.
fn run(folder: &Path, id: &str) -> Result<String, NoReport> {
    let text = document(folder, id)?;
    if let Some(imported) = Imported::read(&text) {
        let title = format!("{}: imported · Plimsoll", imported.file);
        return Ok(html::listed_file(
            LIST,
            "imported",
            &title,
            &imported.sentence(),
            &text,
        ));
    }
    match Search::read(&text) {
        Ok(search) => Ok(search.page(LIST)),
        Err(_) => Ok(html::listed_page(LIST, &[&summary(id, &text)?], &[])),
    }
}

/// Runs beside each other; the oldest is what the others are compared with.
fn comparison(folder: &Path, ids: &[String]) -> Result<String, NoReport> {
    let mut ids = ids.to_vec();
    // Later runs have greater ones.
    ids.sort();
    ids.dedup();
    if !(2..=MOST_RUNS).contains(&ids.len()) {
        return Err(NoReport::Count(ids.len()));
    }
    let summaries: Vec<_> = ids.iter().map(|id| read(folder, id)).collect::<Result<_, _>>()?;
    let summaries: Vec<_> = summaries.iter().collect();
    // There are runs on both sides.
    let names = comparing::names_of_runs(&summaries);
    let comparisons = comparing::with_the_first(&names, &summaries, Terms::default()).unwrap_or_default();
    Ok(html::listed_page(LIST, &summaries, &comparisons))
}

fn read(folder: &Path, id: &str) -> Result<Summary, NoReport> {
    let text = document(folder, id)?;
    if Imported::read(&text).is_some() {
        return Err(NoReport::Imported(id.to_owned()));
    }
    match Search::read(&text) {
        Ok(_) => Err(NoReport::Search(id.to_owned())),
        Err(_) => summary(id, &text),
    }
}

/// The text that is kept of a run.
fn document(folder: &Path, id: &str) -> Result<String, NoReport> {
    let gone = || NoReport::Gone(id.to_owned());
    let history = History::open_existing(folder)?.ok_or_else(gone)?;
    match history.document(id) {
        Err(HistoryError::Unknown { .. }) => Err(gone()),
        found => Ok(found?),
    }
}

fn summary(id: &str, text: &str) -> Result<Summary, NoReport> {
    Summary::read(text).map_err(|error| NoReport::Unreadable {
        id: id.to_owned(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use plimsoll_history::Run;

    use super::*;

    /// A history with one run, whose summary is this text. It goes with the test.
    struct Kept(PathBuf);

    impl Kept {
        fn with(name: &str, document: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("plimsoll-ui-{}-{name}", std::process::id()));
            let run = Run {
                id: "1".to_owned(),
                name: "</script><b>".to_owned(),
                ..Run::default()
            };
            let mut history = History::open(&folder).unwrap();
            history.save(&run, document).unwrap();
            Self(folder)
        }
    }

    impl Drop for Kept {
        fn drop(&mut self) {
            let _gone = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_summary_that_cannot_be_read_is_told() {
        for (name, document, expected) in [
            (
                "newer",
                r#"{"version": 99}"#,
                "the summary of run 1 cannot be read: ",
            ),
            (
                "none",
                "nothing of the kind",
                "the summary of run 1 cannot be read: ",
            ),
        ] {
            let kept = Kept::with(name, document);
            let page = answer(&Question::Run("1".to_owned()), &kept.0);
            assert_eq!(page.status, StatusCode::INTERNAL_SERVER_ERROR, "{name}");
            assert!(page.html.contains(expected), "{name}: {}", page.html);
        }
    }

    #[test]
    fn what_others_named_ends_no_element() {
        let kept = Kept::with("hostile", "{}");
        let page = answer(&Question::of("", "name=%3C/script%3E").unwrap(), &kept.0);
        assert_eq!(page.status, StatusCode::OK);
        // That of the data, and that of the page's own script.
        assert_eq!(page.html.matches("</script>").count(), 2, "{}", page.html);
        assert!(
            page.html.contains(r"\u003c/script\u003e\u003cb\u003e"),
            "{}",
            page.html
        );
    }
}
