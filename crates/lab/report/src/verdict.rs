//! A run in one sentence, for readers who read nothing else.

use serde::Serialize;

use crate::{
    Highlights, Summary, headline, readable,
    summary::{CheckResult, Contains, End, Threshold, Values},
};

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The kind of end.
    pub outcome: Outcome,
    /// The verdict in a word or two.
    pub word: &'static str,
    /// The highest load that was held, for how long, and its figures.
    pub sentence: String,
}

/// Kinds of ends, the worst that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Something that had to hold did not, a message was lost, or it could not be carried out.
    Failed,
    /// Its figures are not the target's alone.
    Doubtful,
    /// A person ended it.
    Interrupted,
    /// There were no thresholds, and an error occurred.
    Flawed,
    /// All thresholds hold and there were no errors.
    Passed,
}

impl Verdict {
    /// That of a run.
    pub fn of(summary: &Summary) -> Self {
        let highlights = Highlights::of(summary);
        let failed: Vec<_> = summary
            .thresholds
            .iter()
            .filter(|threshold| !threshold.passed)
            .collect();
        let n_lost = summary.losses.map_or(0, |losses| losses.lost);
        let course = headline::course(summary, &highlights);
        let verdict = |outcome, word, sentence| Self {
            outcome,
            word,
            sentence,
        };
        match &summary.end {
            End::SetupFailed { reason } => {
                return verdict(Outcome::Failed, "Not started", format!("Did not start: {reason}"));
            }
            End::Aborted { reason } => {
                let after = readable::seconds(summary.metadata.duration_seconds);
                return verdict(
                    Outcome::Failed,
                    "Aborted",
                    format!("Aborted after {after}: {reason}"),
                );
            }
            End::Complete | End::Shutdown | End::ThresholdsCrossed => {}
        }
        if !failed.is_empty() {
            let missed = missed(&failed, summary);
            return verdict(Outcome::Failed, "Failed", format!("{missed}; {course}"));
        }
        if summary.generator.saturated {
            let sentence = format!("The load generator was the bottleneck; {course}");
            return verdict(Outcome::Doubtful, "In doubt", sentence);
        }
        if n_lost > 0 {
            return verdict(
                Outcome::Failed,
                "Messages lost",
                format!("Lost messages; {course}"),
            );
        }
        if summary.end == End::Shutdown {
            return verdict(
                Outcome::Interrupted,
                "Interrupted",
                format!("Interrupted; {course}"),
            );
        }
        match flaws(summary) {
            Some(flaws) => verdict(Outcome::Flawed, "Errors", format!("{flaws}; {course}")),
            None => verdict(Outcome::Passed, word(summary), headline::capitalized(&course)),
        }
    }
}

/// The word for a run. Without a threshold that had data a run has not passed.
fn word(summary: &Summary) -> &'static str {
    let has_judged = summary
        .thresholds
        .iter()
        .any(|threshold| threshold.value.is_some());
    if !has_judged && summary.losses.is_none() {
        "Complete"
    } else {
        "Passed"
    }
}

/// One threshold with its figure, or how many.
fn missed(failed: &[&Threshold], summary: &Summary) -> String {
    match failed {
        [one] => {
            let was = one
                .value
                .map_or_else(|| "no data".to_owned(), |value| compared(one, value, summary));
            format!("Failed the threshold {} {} ({was})", one.metric, one.expression)
        }
        several => format!(
            "Failed {} of {} thresholds",
            several.len(),
            summary.thresholds.len()
        ),
    }
}

/// The value that a threshold compared, which is always that of the whole run: `18.7 ms in the whole run`.
fn compared(threshold: &Threshold, value: f64, summary: &Summary) -> String {
    let metric = summary.metrics.get(&threshold.key);
    let is_time = metric
        .is_some_and(|metric| metric.contains == Contains::Time && matches!(metric.values, Values::Trend(_)));
    let value = if is_time && threshold.aggregation != "count" {
        readable::duration(value * 1e3)
    } else {
        readable::digits(value)
    };
    format!("{value} in the whole run")
}

/// Errors that no threshold covers.
fn flaws(summary: &Summary) -> Option<String> {
    let (_, n_checks) = CheckResult::answers(&summary.checks);
    let n_iterations = summary.iterations.failed;
    let plural = |n: u64, noun: &str| match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", readable::count(n)),
    };
    match (n_iterations, n_checks, failed_requests(summary)) {
        (0, 0, 0) => None,
        (0, 0, n) => Some(plural(n, "failed request")),
        (0, n, _) => Some(plural(n, "failed check")),
        (n, _, _) => Some(plural(n, "failed iteration")),
    }
}

/// HTTP requests that failed, unless a threshold judges them.
fn failed_requests(summary: &Summary) -> u64 {
    const FAILED: &str = "http_req_failed";
    let is_judged = summary.thresholds.iter().any(|threshold| threshold.key == FAILED);
    match summary.metrics.get(FAILED).map(|metric| &metric.values) {
        Some(Values::Rate { passes, .. }) if !is_judged => *passes,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        by_load::Usage,
        summary::{
            Losses,
            tests::{run, summary},
        },
    };

    /// The verdict of a run that passed, after a change.
    fn check(change: impl FnOnce(&mut Summary), outcome: Outcome, word: &str, sentence: &str) {
        let mut summary = summary(&run());
        summary.iterations.failed = 0;
        summary.checks.clear();
        change(&mut summary);
        let verdict = Verdict::of(&summary);
        assert_eq!(
            (verdict.outcome, verdict.word, verdict.sentence.as_str()),
            (outcome, word, sentence)
        );
    }

    fn threshold(passed: bool, value: Option<f64>) -> Threshold {
        Threshold {
            metric: "rtt".to_owned(),
            key: "rtt".to_owned(),
            expression: "p(95)<0.3".to_owned(),
            aggregation: "p(95)".to_owned(),
            value,
            passed,
            aborted: false,
        }
    }

    fn losses(lost: u64) -> Option<Losses> {
        Some(Losses {
            expected: 394_029,
            received: 394_029 - lost,
            lost,
            ..Losses::default()
        })
    }

    #[test]
    fn one_sentence_says_users_latency_losses_and_cost() {
        check(
            |_| (),
            Outcome::Passed,
            "Complete",
            "Held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        let server = Usage {
            name: "server".to_owned(),
            cores: Some(0.8),
            rss_bytes: Some(31e6),
        };
        check(
            |summary| {
                summary.losses = losses(0);
                let by_load = summary.by_load.as_mut().unwrap();
                by_load.plateaus[0].targets = vec![Usage::default(), server];
            },
            Outcome::Passed,
            "Passed",
            "Held 100 users for 45 s: p95 of rtt 362 µs (5 samples), server 0.8 cores and 31 MB; in the whole run 0 lost of 394,029",
        );
    }

    #[test]
    fn failed_requests_are_told_unless_a_threshold_judges_them() {
        let failed = |summary: &mut Summary| {
            let metric = summary.metrics.get_mut("http_req_failed").unwrap();
            metric.values = Values::Rate {
                rate: 1.0,
                passes: 195,
                fails: 0,
            };
        };
        check(
            failed,
            Outcome::Flawed,
            "Errors",
            "195 failed requests; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| {
                failed(summary);
                let judged = threshold(true, Some(1.0));
                summary.thresholds = vec![Threshold {
                    key: "http_req_failed".to_owned(),
                    ..judged
                }];
            },
            Outcome::Passed,
            "Passed",
            "Held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
    }

    #[test]
    fn a_run_whose_thresholds_have_no_data_has_not_passed() {
        check(
            |summary| summary.thresholds = vec![threshold(true, None)],
            Outcome::Passed,
            "Complete",
            "Held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| summary.thresholds = vec![threshold(false, None)],
            Outcome::Failed,
            "Failed",
            "Failed the threshold rtt p(95)<0.3 (no data); held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
    }

    #[test]
    fn the_worst_that_happened_comes_first() {
        check(
            |summary| {
                summary.thresholds = vec![threshold(false, Some(0.365)), threshold(true, Some(0.1))];
                summary.generator.saturated = true;
            },
            Outcome::Failed,
            "Failed",
            "Failed the threshold rtt p(95)<0.3 (365 µs in the whole run); held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| summary.thresholds = vec![threshold(false, None); 2],
            Outcome::Failed,
            "Failed",
            "Failed 2 of 2 thresholds; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| {
                summary.generator.saturated = true;
                summary.losses = losses(1);
            },
            Outcome::Doubtful,
            "In doubt",
            "The load generator was the bottleneck; held 100 users for 45 s: p95 of rtt 362 µs (5 samples); in the whole run 1 lost of 394,029",
        );
        check(
            |summary| summary.losses = losses(41),
            Outcome::Failed,
            "Messages lost",
            "Lost messages; held 100 users for 45 s: p95 of rtt 362 µs (5 samples); in the whole run 41 lost of 394,029",
        );
        check(
            |summary| summary.end = End::Shutdown,
            Outcome::Interrupted,
            "Interrupted",
            "Interrupted; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| summary.iterations.failed = 1,
            Outcome::Flawed,
            "Errors",
            "1 failed iteration; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        let reason = || "no such host".to_owned();
        check(
            |summary| summary.end = End::SetupFailed { reason: reason() },
            Outcome::Failed,
            "Not started",
            "Did not start: no such host",
        );
        check(
            |summary| summary.end = End::Aborted { reason: reason() },
            Outcome::Failed,
            "Aborted",
            "Aborted after 44.5 s: no such host",
        );
    }
}
