//! Results for a terminal: numbers by family, then everything that is not as it should be.

use std::collections::BTreeMap;

use plimsoll_report::Style;

use super::{Counts, Results, Target};
use crate::{Entry, Level, Outcome, Side, Verdict, WireLog};

impl Results {
    /// A table of families, failures in full, and one line for everything else that did not pass.
    pub fn text(&self, style: Style) -> String {
        let mut text = self.head(style);
        text.push_str(&self.table(style));
        text.push_str(&self.levels());
        text.push_str(&self.others(style));
        for outcome in &self.outcomes {
            if outcome.worst() == Verdict::Fail {
                text.push_str(&failure(outcome, usize::MAX, style));
            }
        }
        text
    }

    /// The first failure alone, for a target that the suite cannot test: its other results say nothing about it.
    pub fn first_failure(&self, style: Style) -> String {
        let failed = |outcome: &&Outcome| outcome.worst() == Verdict::Fail;
        let first = self.outcomes.iter().find(failed);
        let failure = first.map_or_else(String::new, |outcome| failure(outcome, MOST_ENTRIES, style));
        format!("{}{}", self.head(style), failure.trim_start_matches('\n'))
    }

    fn head(&self, style: Style) -> String {
        let Target { name, url, version } = &self.target;
        let version = version
            .as_ref()
            .map(|version| format!(" {version}"))
            .unwrap_or_default();
        let what = format!("{}: {}{}", self.suite, readable(name), readable(&version));
        // Who has no name is called by the address.
        let place = if url == name { "" } else { url };
        let head = format!("{}  {}", style.strong(&what), readable(place));
        format!("{}\n\n", head.trim_end())
    }

    fn table(&self, style: Style) -> String {
        let all = self.counts();
        let shown: Vec<_> = Verdict::ALL
            .into_iter()
            .filter(|&verdict| verdict == Verdict::Pass || all.n(verdict) > 0)
            .collect();
        let families = self.by_family();
        let mut rows: Vec<_> = families
            .iter()
            .map(|family| {
                let label = format!("{} {}", family.name, family.title);
                (label, Counts::of(family.outcomes.iter().copied()))
            })
            .collect();
        rows.push(("all".to_owned(), all));
        let labels = rows.iter().map(|(label, _)| label.trim_end().chars().count());
        let width = labels.max().unwrap_or(0);
        let mut text = format!("{:width$}  {:>5}", "", "cases");
        for verdict in &shown {
            text.push_str(&format!("  {verdict}"));
        }
        text.push('\n');
        for (label, counts) in &rows {
            text.push_str(&format!(
                "{:width$}  {:>5}",
                readable(label.trim_end()),
                counts.total()
            ));
            for &verdict in &shown {
                text.push_str("  ");
                text.push_str(&cell(counts.n(verdict), verdict, style));
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }

    /// How many of the cases that were judged the target passed, by level: `MUST 471 of 472, SHOULD 60 of 66`.
    fn levels(&self) -> String {
        let told = |level| {
            let (n_passed, n_judged) = self.passed(level);
            (n_judged > 0).then(|| format!("{level} {n_passed} of {n_judged}"))
        };
        let all: Vec<_> = [Level::Must, Level::Should]
            .into_iter()
            .filter_map(told)
            .collect();
        match all.as_slice() {
            [] => String::new(),
            _ => format!("\npassed: {}\n", all.join(", ")),
        }
    }

    /// The outcomes that neither passed nor failed, with each explanation once.
    fn others(&self, style: Style) -> String {
        let mut text = String::new();
        for verdict in [
            Verdict::NonStrict,
            Verdict::Informational,
            Verdict::Unimplemented,
            Verdict::Skipped,
        ] {
            let outcomes = self.outcomes.iter().filter(|outcome| outcome.worst() == verdict);
            let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
            let mut places = BTreeMap::new();
            for outcome in outcomes {
                let reason = outcome.explanation.as_str();
                let at = *places.entry(reason).or_insert_with(|| {
                    reasons.push((reason, Vec::new()));
                    reasons.len() - 1
                });
                reasons[at].1.push(outcome.case.id.as_str());
            }
            if reasons.is_empty() {
                continue;
            }
            text.push_str(&format!("\n{}\n", style.strong(verdict.word())));
            for (reason, ids) in reasons {
                text.push_str(&format!("  {}  {}\n", some(&ids), readable(reason)));
            }
        }
        text
    }
}

/// A number under its verdict's word; zeros are left out.
fn cell(n: usize, verdict: Verdict, style: Style) -> String {
    let width = verdict.word().len();
    match (n, verdict) {
        (0, _) => " ".repeat(width),
        (n, Verdict::Pass) => style.good(&format!("{n:>width$}")),
        (n, Verdict::Fail) => style.bad(&format!("{n:>width$}")),
        (n, _) => format!("{n:>width$}"),
    }
}

/// Ids that are named of many with the same reason.
const MOST_IDS: usize = 8;

fn some(ids: &[&str]) -> String {
    let named: Vec<_> = ids.iter().take(MOST_IDS).map(|id| readable(id)).collect();
    match ids.len().checked_sub(MOST_IDS) {
        Some(n) if n > 0 => format!("{} and {n} more", named.join(", ")),
        _ => named.join(", "),
    }
}

/// The most lines of the wire log of a failure that stands alone.
const MOST_ENTRIES: usize = 8;

/// A failure with the first `most` lines of its wire log.
fn failure(outcome: &Outcome, most: usize, style: Style) -> String {
    let Outcome {
        case,
        verdict,
        closing,
        ..
    } = outcome;
    let closing = closing
        .filter(|closing| closing > verdict)
        .map_or("", |_| " (how the connection ended)");
    let mut text = format!(
        "\n{}  {}{closing}\n  {}\n  {}\n",
        style.bad(&format!("{} {}", Verdict::Fail, readable(case.id.as_str()))),
        readable(&case.title),
        readable(&outcome.clause().to_string()),
        readable(&outcome.explanation),
    );
    let lines = log_lines(&outcome.wire);
    for line in lines.iter().take(most) {
        text.push_str(&format!("    {}\n", readable(line)));
    }
    match lines.len().checked_sub(most) {
        Some(n_more) if n_more > 0 => {
            text + &format!("             … {n_more} more; --format json has all\n")
        }
        _ => text,
    }
}

/// A wire log, line by line.
pub(super) fn log_lines(wire: &WireLog) -> Vec<String> {
    let line = |entry: &Entry| {
        let side = match entry.side {
            Side::Sent => "->",
            Side::Received => "<-",
            Side::Note => "--",
        };
        format!("{:>8.3} {side} {}", entry.at, entry.what)
    };
    let gap = match wire.n_dropped() {
        0 => None,
        n => Some(format!("         … {n} more …")),
    };
    let first = wire.first().iter().map(line);
    first.chain(gap).chain(wire.last().map(line)).collect()
}

/// Text of the target without characters that move the cursor or change colours.
fn readable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => ' ',
            control if control.is_control() => char::REPLACEMENT_CHARACTER,
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::results::tests::sample;

    #[test]
    fn failures_are_told_in_full() {
        expect![[r#"
            websocket server: echo <em> 1.0  ws://127.0.0.1:9001/?a&b

                             cases  pass  non-strict  informational  unimplemented  skipped  fail
            1 Framing            3     1           1                                            1
            2 Pings & pongs      4                                1              1        1     1
            other                1     1
            all                  8     2           1              1              1        1     2

            passed: MUST 2 of 4, SHOULD 0 of 1

            non-strict
              1.10  failed late

            informational
              2.1  closed with 1000

            unimplemented
              2.2  the server does not compress

            skipped
              2.3  there is no TLS here

            fail 1.2  does what 1.2 says
              RFC 6455 §5.2 (MUST)
              expected the same back, got "<script>" & nothing else
                   0.000 -> ping
                   0.012 <- <b>�[31m
                   0.500 -- the time is up

            fail 2.4  does what 2.4 says (how the connection ended)
              RFC 6455 §5.5.1 (MUST)
              the connection was dropped
                   0.000 -> ping
                   0.012 <- <b>�[31m
                   0.500 -- the time is up
        "#]]
        .assert_eq(&sample().text(Style::PLAIN));
    }

    #[test]
    fn one_failure_alone_has_the_beginning_of_its_log() {
        expect![[r#"
            websocket server: echo <em> 1.0  ws://127.0.0.1:9001/?a&b

            fail 1.2  does what 1.2 says
              RFC 6455 §5.2 (MUST)
              expected the same back, got "<script>" & nothing else
                   0.000 -> ping
                   0.012 <- <b>�[31m
                   0.500 -- the time is up
        "#]]
        .assert_eq(&sample().first_failure(Style::PLAIN));
        let results = sample();
        let failed = results
            .outcomes
            .iter()
            .find(|outcome| outcome.worst() == Verdict::Fail);
        let cut = failure(failed.unwrap(), 1, Style::PLAIN);
        assert!(
            cut.ends_with("-> ping\n             … 2 more; --format json has all\n"),
            "{cut}"
        );
    }

    #[test]
    fn colours_are_only_where_they_are_wanted() {
        let coloured = sample().text(Style {
            color: true,
            ..Style::PLAIN
        });
        assert!(coloured.contains("\x1b[31mfail 1.2\x1b[0m"), "{coloured}");
        let plain = sample().text(Style::PLAIN);
        assert!(!plain.contains('\x1b'), "not even those of the target");
    }

    #[test]
    fn many_cases_with_the_same_reason_are_counted() {
        let ids: Vec<_> = (1..=10).map(|n| format!("12.{n}")).collect();
        let ids: Vec<_> = ids.iter().map(String::as_str).collect();
        assert_eq!(some(&ids[..8]), "12.1, 12.2, 12.3, 12.4, 12.5, 12.6, 12.7, 12.8");
        assert!(some(&ids).ends_with("12.8 and 2 more"));
    }
}
