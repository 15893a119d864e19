//! What went wrong, grouped by cause.

use std::{cmp::Reverse, time::Duration};

use plimsoll_load::causes::{Cause, Causes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Failures with one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorGroup {
    /// The cause; `…` replaces ids and other words with at least four digits.
    pub cause: String,
    /// One of the failures in full, if the cause omits something.
    pub example: Option<String>,
    /// The number of failures.
    pub count: u64,
    /// The time of the first failure, since the start of the run.
    pub first_seconds: f64,
    /// The time of the last failure.
    pub last_seconds: f64,
}

/// Stands for all causes beyond the engine's limit.
pub const FURTHER: &str = "(further causes)";

/// The most characters of a text. Reason: an exception may show a whole document; a hundred of these are 300 KB.
const MAX_CHARS: usize = 1_000;

impl ErrorGroup {
    fn new(cause: &str, example: &str, span: Span) -> Self {
        let seconds = |duration: Duration| duration.as_secs_f64();
        let cause = brief(cause);
        Self {
            example: Some(brief(example)).filter(|example| *example != cause),
            cause,
            count: span.n,
            first_seconds: seconds(span.first),
            last_seconds: seconds(span.last),
        }
    }
}

/// Failed iterations and other failures, the most frequent first.
pub(super) fn groups(all: [&Causes; 2]) -> Vec<ErrorGroup> {
    let group = |(cause, known): (&str, &Cause)| ErrorGroup::new(cause, &known.example, known.span);
    let causes = all.into_iter().flat_map(|causes| {
        let other = causes.other().map(|other| (FURTHER, other));
        causes.iter().chain(other)
    });
    let mut groups: Vec<_> = causes.map(group).collect();
    groups.sort_by_key(|group| Reverse(group.count));
    groups
}

/// The beginning of a text.
fn brief(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_cause_comes_first_with_an_example() {
        let (mut failures, mut faults) = (Causes::default(), Causes::default());
        let at = Duration::from_millis;
        failures.add("refused", "refused", 2, at(500));
        faults.add("item 12345 is gone", "item 12345 is gone", 1, at(1_000));
        faults.add("item 12346 is gone", "item 12346 is gone", 2, at(250));
        let group = |cause: &str, example: Option<&str>, count, first_seconds, last_seconds| ErrorGroup {
            cause: cause.to_owned(),
            example: example.map(str::to_owned),
            count,
            first_seconds,
            last_seconds,
        };
        assert_eq!(
            groups([&failures, &faults]),
            [
                group("item … is gone", Some("item 12345 is gone"), 3, 0.25, 1.0),
                group("refused", None, 2, 0.5, 0.5),
            ]
        );
    }

    #[test]
    fn causes_without_end_are_one_group_and_long_texts_are_cut() {
        let mut failures = Causes::default();
        for n in 0..200 {
            let text = format!("{n:03}{}", "ö".repeat(3_000));
            failures.add(&text, &text, 1, Duration::ZERO);
        }
        let groups = groups([&failures, &Causes::default()]);
        assert_eq!(
            (groups.len(), groups[0].cause.as_str(), groups[0].count),
            (101, FURTHER, 100)
        );
        assert_eq!(groups[1].cause.chars().count(), MAX_CHARS + 1);
    }
}
