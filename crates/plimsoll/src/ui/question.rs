//! What is asked for.

use std::time::Duration;

use plimsoll_history::Filter;
use plimsoll_load::plan::parse_duration;
use serde::Serialize;

use crate::runs;

/// A page that is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The list of runs.
    List(Search),
    /// How the listed runs developed.
    Trends(Search),
    /// The report of a run, by its whole id.
    Run(String),
    /// Runs beside each other, by their whole ids.
    Compare(Vec<String>),
}

/// Which runs are listed; what is empty does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Search {
    /// A part of the name.
    name: String,
    kind: String,
    tag: String,
    verdict: String,
    /// A duration before now, such as `7d`.
    since: String,
}

impl Question {
    /// `page` is the path below the secret.
    pub(super) fn of(page: &str, query: &str) -> Option<Self> {
        let parts = || form_urlencoded::parse(query.as_bytes());
        let all = |name: &str| -> Vec<String> {
            let found = parts().filter(|(known, _)| known == name);
            found.map(|(_, value)| value.into_owned()).collect()
        };
        let last = |name: &str| all(name).pop().unwrap_or_default().trim().to_owned();
        match page {
            "" => Some(Self::List(Search::of(last))),
            "trends" => Some(Self::Trends(Search::of(last))),
            "run" => Some(Self::Run(all("id").pop().unwrap_or_default())),
            "compare" => Some(Self::Compare(all("run"))),
            _ => None,
        }
    }
}

impl Search {
    fn of(value: impl Fn(&str) -> String) -> Self {
        Self {
            name: value("name"),
            kind: value("kind"),
            tag: value("tag"),
            verdict: value("verdict"),
            since: value("since"),
        }
    }

    /// The same for the history, with as many runs at most.
    ///
    /// # Errors
    /// When the time is none, for people.
    pub(super) fn filter(&self, limit: u32) -> Result<Filter, String> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let since: Option<Duration> = given(&self.since)
            .map(|since| parse_duration(&since).map_err(|error| format!("since={since}: {error}")))
            .transpose()?;
        Ok(Filter {
            tag: given(&self.tag),
            name: given(&self.name),
            kind: given(&self.kind),
            verdict: given(&self.verdict),
            since: since.map(runs::ago),
            before: None,
            limit: Some(limit),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_ask_for_pages() {
        let search = |name: &str, kind: &str| {
            Some(Question::List(Search {
                name: name.to_owned(),
                kind: kind.to_owned(),
                ..Search::default()
            }))
        };
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        for (page, query, expected) in [
            ("", "", search("", "")),
            ("", "name=a%26b+c&kind=k6&tag=", search("a&b c", "k6")),
            ("", "kind=k6&kind=demo&other=1&%ff", search("", "demo")),
            ("trends", "", Some(Question::Trends(Search::default()))),
            ("run", "id=2026%20x", Some(Question::Run("2026 x".to_owned()))),
            ("run", "", Some(Question::Run(String::new()))),
            (
                "compare",
                "run=a&run=b&x=c",
                Some(Question::Compare(texts(&["a", "b"]))),
            ),
            ("../etc/passwd", "", None),
            ("run/1", "", None),
        ] {
            assert_eq!(Question::of(page, query), expected, "{page}?{query}");
        }
    }

    #[test]
    fn what_is_empty_does_not_matter() {
        let none = Search::default().filter(5).unwrap();
        let expected = Filter {
            limit: Some(5),
            ..Filter::default()
        };
        assert_eq!(none, expected);
        let since = |since: &str| Search {
            since: since.to_owned(),
            ..Search::default()
        };
        assert!(since("7d").filter(5).unwrap().since.is_some());
        let wrong = since("last week").filter(5).unwrap_err();
        assert!(wrong.starts_with("since=last week: "), "{wrong}");
    }
}
