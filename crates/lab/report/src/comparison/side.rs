//! The sides of a comparison, under the names that people gave their runs.

use serde::Serialize;

use crate::{Summary, readable};

/// The longest label in characters. Reason: two of them, and the figures, fit beside each other into a terminal.
const LONGEST_LABEL: usize = 24;

/// The runs of one side, under a name for people.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'a> {
    /// The name of the side: a file, a tag, a run, or a URL.
    pub label: &'a str,
    /// The runs, in any order.
    pub summaries: &'a [&'a Summary],
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// The name of the side: a file, a tag, a run, or a URL.
    pub label: String,
    /// The name of the test.
    pub name: String,
    /// The start of the first run: RFC 3339.
    pub started_at: String,
    /// The ids of the runs.
    pub ids: Vec<String>,
}

impl Side {
    /// The description of the runs; `None` without runs.
    pub(super) fn new(runs: Runs<'_>) -> Option<Self> {
        let first = runs.summaries.first()?;
        let earliest = runs.summaries.iter().map(|run| &run.metadata.started_at).min()?;
        Some(Self {
            label: runs.label.to_owned(),
            name: first.metadata.name.clone(),
            started_at: earliest.clone(),
            ids: runs.summaries.iter().map(|run| run.metadata.id.clone()).collect(),
        })
    }

    /// The side in one line.
    pub(super) fn text(&self) -> String {
        let runs = match self.ids.as_slice() {
            [id] => format!("{} ({id})", self.name),
            ids => format!("{} runs of {} since {}", ids.len(), self.name, self.started_at),
        };
        format!("{}: {runs}", self.label)
    }

    /// The label for the head of a column: a long one keeps its beginning and its end, where names of files and URLs
    /// differ.
    pub(super) fn heading(&self) -> String {
        readable::shortened(&self.label, LONGEST_LABEL)
    }
}

/// Labels that differ, for names that may not: a name that occurs several times gets a number.
pub fn distinct(names: &[String]) -> Vec<String> {
    let is_repeated = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let numbered = |(at, name): (usize, &String)| {
        let n_before = names[..at].iter().filter(|other| *other == name).count();
        if is_repeated(name) {
            format!("{name} ({})", n_before + 1)
        } else {
            name.clone()
        }
    };
    names.iter().enumerate().map(numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(label: &str, ids: &[&str]) -> Side {
        Side {
            label: label.to_owned(),
            name: "chat.js".to_owned(),
            started_at: "2026-11-22T10:00:00Z".to_owned(),
            ids: ids.iter().map(|&id| id.to_owned()).collect(),
        }
    }

    #[test]
    fn a_side_is_described_by_its_label_and_its_runs() {
        for (ids, expected) in [
            (&["run-1"][..], "before: chat.js (run-1)"),
            (
                &["run-1", "run-2"],
                "before: 2 runs of chat.js since 2026-11-22T10:00:00Z",
            ),
        ] {
            assert_eq!(side("before", ids).text(), expected);
        }
    }

    #[test]
    fn long_labels_keep_both_ends() {
        for (label, expected) in [
            ("before.json", "before.json"),
            ("123456789012345678901234", "123456789012345678901234"),
            ("1234567890123456789012345", "12345678901…456789012345"),
            ("http://localhost:3000/cable/äöü", "http://loca…00/cable/äöü"),
        ] {
            let heading = side(label, &[]).heading();
            assert!(heading.chars().count() <= LONGEST_LABEL);
            assert_eq!(heading, expected);
        }
    }

    #[test]
    fn equal_names_get_numbers() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(distinct(&names(&["a", "b"])), names(&["a", "b"]));
        assert_eq!(
            distinct(&names(&["a", "b", "a"])),
            names(&["a (1)", "b", "a (2)"])
        );
    }
}
