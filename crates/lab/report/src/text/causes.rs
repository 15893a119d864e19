//! Failures by cause for people: how often, from when to when, and an example.

use crate::{Style, readable, summary::ErrorGroup};

/// The most causes that are listed. Reason: people read the first few; reports and the JSON have all.
const MOST_CAUSES: usize = 10;

/// The most characters of a cause or an example: three lines of a terminal.
const MOST_CHARS: usize = 240;

/// A sentence for each cause, the most frequent first, and one for the rest.
pub(super) fn sentences(errors: &[ErrorGroup]) -> Vec<String> {
    first_sentences(errors, MOST_CAUSES)
}

/// A sentence for each of the `most` most frequent causes, and one for the rest.
pub(super) fn first_sentences(errors: &[ErrorGroup], most: usize) -> Vec<String> {
    let mut sentences: Vec<_> = errors.iter().take(most).map(sentence).collect();
    let rest = errors.get(most..).unwrap_or_default();
    if !rest.is_empty() {
        let n: u64 = rest.iter().map(|group| group.count).sum();
        sentences.push(format!(
            "{} × {} more causes; --report FILE.html and --format json list all",
            readable::count(n),
            rest.len()
        ));
    }
    sentences
}

/// The sentences as a block of lines, each wrapped. Empty without failures.
pub(crate) fn block(errors: &[ErrorGroup], style: Style) -> String {
    if errors.is_empty() {
        return String::new();
    }
    let lines = sentences(errors)
        .into_iter()
        .flat_map(|sentence| super::wrap(&sentence, "  - ", "    ", style.width));
    let lines: String = lines.map(|line| line + "\n").collect();
    format!("{}\n{lines}", style.bad("failures by cause:"))
}

/// How often what failed, and the time.
fn sentence(group: &ErrorGroup) -> String {
    let ErrorGroup {
        cause,
        example,
        count,
        first_seconds,
        last_seconds,
    } = group;
    // Tenths of seconds, because people compare the times with the log, which has seconds.
    let [first, last] =
        [first_seconds, last_seconds].map(|time| readable::seconds((time * 10.0).round() / 10.0));
    let time = if first == last {
        format!("after {first}")
    } else {
        format!("from {first} to {last}")
    };
    let example = example.as_ref().map_or_else(String::new, |example| {
        format!("; for example: {}", brief(example))
    });
    format!("{} × {} ({time}){example}", readable::count(*count), brief(cause))
}

/// The first line of a text, without its end if it is long.
fn brief(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn group(cause: &str, example: Option<&str>, count: u64, first: f64, last: f64) -> ErrorGroup {
        ErrorGroup {
            cause: cause.to_owned(),
            example: example.map(str::to_owned),
            count,
            first_seconds: first,
            last_seconds: last,
        }
    }

    #[test]
    fn a_cause_has_its_count_its_time_and_an_example() {
        let groups = [
            group("connection refused", None, 17_512, 0.01, 4.0),
            group(
                "item … is gone",
                Some("item 12345 is gone\n    at f"),
                1,
                2.5,
                2.5,
            ),
        ];
        expect![[r#"
            failures by cause:
              - 17,512 × connection refused (from 0 s to 4 s)
              - 1 × item … is gone (after 2.5 s); for example: item 12345 is gone
        "#]]
        .assert_eq(&block(&groups, Style::PLAIN));
        assert_eq!(block(&[], Style::PLAIN), "");
    }

    #[test]
    fn many_causes_and_long_texts_are_cut() {
        let groups: Vec<_> = (0..30)
            .map(|n| group(&format!("{n}{}", "x".repeat(1_000)), None, 2, 0.0, 1.0))
            .collect();
        let sentences = sentences(&groups);
        assert_eq!(sentences.len(), MOST_CAUSES + 1);
        assert!(sentences[0].chars().count() < MOST_CHARS + 40, "{}", sentences[0]);
        assert_eq!(
            sentences[MOST_CAUSES],
            "40 × 20 more causes; --report FILE.html and --format json list all"
        );
    }
}
