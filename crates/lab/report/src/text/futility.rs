//! The result of a run in which nothing succeeded. All other figures would describe the failures only, so they are left
//! out: a person who has mistyped a URL sees the cause without scrolling.

use super::{causes, title, wrap::wrap};
use crate::{Style, Summary, readable, summary::all_failed};

/// The most causes and the most notices. Reason: the result has to fit on one screen together with the log.
const MOST: usize = 3;

const INDENT: &str = "    ";

/// What failed, the most frequent causes, the first notices, and where all figures are.
pub(crate) fn futility(summary: &Summary, elsewhere: &str, style: Style) -> String {
    let failed = summary.attempts();
    let failed = failed.iter().filter(|attempts| attempts.have_all_failed());
    let failed: Vec<_> = failed.map(all_failed).collect();
    let time = readable::seconds(summary.metadata.duration_seconds);
    let count = format!("{} in {time}:", failed.join(", "));
    let causes = causes::first_sentences(&summary.errors, MOST);
    let notices = summary.notices.iter().take(MOST).cloned();
    let thresholds = thresholds(summary);
    let more = format!("All figures: {elsewhere}");
    let details = causes.into_iter().chain(notices).chain(thresholds);
    let details = details.flat_map(|text| wrap(&text, "      - ", "        ", style.width));
    let lines = wrap(&count, INDENT, INDENT, style.width)
        .into_iter()
        .chain(details);
    let lines = lines.chain(wrap(&more, INDENT, INDENT, style.width));
    let lines: String = lines.map(|line| line + "\n").collect();
    format!("{}\n{lines}", title("NOTHING SUCCEEDED", style))
}

/// How many thresholds failed. `None` if none did.
fn thresholds(summary: &Summary) -> Option<String> {
    let n_failed = summary
        .thresholds
        .iter()
        .filter(|threshold| !threshold.passed)
        .count();
    (n_failed > 0).then(|| format!("{n_failed} of {} thresholds failed", summary.thresholds.len()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::summary::{
        Connections, ErrorGroup,
        tests::{run, summary},
    };

    #[test]
    fn the_causes_stand_between_the_count_and_the_way_to_all_figures() {
        let mut summary = summary(&run());
        summary.connections = Some(Connections {
            attempted: 10,
            failed: 10,
        });
        let group = summary.errors[0].clone();
        let group = |n| ErrorGroup {
            cause: format!("cause {n}"),
            ..group.clone()
        };
        summary.errors = (1..=5).map(group).collect();
        summary.notices = vec!["an optional check failed: x".to_owned()];
        // A line without indentation keeps that of the others in the expectation.
        expect![[r#"
            |
              █ NOTHING SUCCEEDED

                all 10 connections failed in 44.5 s:
                  - 2 × cause 1 (after 1.5 s)
                  - 2 × cause 2 (after 1.5 s)
                  - 2 × cause 3 (after 1.5 s)
                  - 4 × 2 more causes; --report FILE.html and --format json list all
                  - an optional check failed: x
                All figures: --format json
        "#]]
        .assert_eq(&format!(
            "|\n{}",
            futility(&summary, "--format json", Style::PLAIN)
        ));
    }
}
