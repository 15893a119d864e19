//! A run in one sentence, for readers who read nothing else.

use serde::Serialize;

use crate::{
    Highlights, Summary, readable,
    summary::{CheckResult, End, Target, Threshold},
};

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The kind of end.
    pub outcome: Outcome,
    /// The verdict in a word or two.
    pub word: &'static str,
    /// The results: users, latency, losses, and the target's resource use.
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
        let carried = format!(
            "{} for {}{}",
            users(highlights.users),
            readable::seconds(rounded(summary.metadata.duration_seconds)),
            figures(summary, &highlights)
        );
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
            return verdict(Outcome::Failed, "Failed", format!("{missed} with {carried}"));
        }
        if summary.generator.saturated {
            let sentence = format!("The load generator was the bottleneck with {carried}");
            return verdict(Outcome::Doubtful, "In doubt", sentence);
        }
        if n_lost > 0 {
            return verdict(
                Outcome::Failed,
                "Messages lost",
                format!("Lost messages with {carried}"),
            );
        }
        if summary.end == End::Shutdown {
            return verdict(
                Outcome::Interrupted,
                "Interrupted",
                format!("Interrupted with {carried}"),
            );
        }
        match flaws(summary) {
            Some(flaws) => verdict(Outcome::Flawed, "Errors", format!("{flaws} with {carried}")),
            None => verdict(Outcome::Passed, word(summary), format!("Carried {carried}")),
        }
    }
}

/// The word for a run. Without thresholds a run has not passed.
fn word(summary: &Summary) -> &'static str {
    if summary.thresholds.is_empty() && summary.losses.is_none() {
        "Complete"
    } else {
        "Passed"
    }
}

/// Whole seconds for runs that are long enough: 20.4 s were planned as 20 s.
fn rounded(seconds: f64) -> f64 {
    if seconds < 10.0 { seconds } else { seconds.round() }
}

fn users(n: u64) -> String {
    match n {
        1 => "1 user".to_owned(),
        n => format!("{} users", readable::count(n)),
    }
}

/// One threshold with its figure, or how many.
fn missed(failed: &[&Threshold], summary: &Summary) -> String {
    match failed {
        [one] => {
            let was = one
                .value
                .map(|value| format!(" (was {})", readable::digits(value)));
            format!(
                "Failed the threshold {} {}{}",
                one.metric,
                one.expression,
                was.unwrap_or_default()
            )
        }
        several => format!(
            "Failed {} of {} thresholds",
            several.len(),
            summary.thresholds.len()
        ),
    }
}

/// Errors that no threshold covers.
fn flaws(summary: &Summary) -> Option<String> {
    let (_, n_checks) = CheckResult::answers(&summary.checks);
    let n_iterations = summary.iterations.failed;
    let plural = |n: u64, noun: &str| match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", readable::count(n)),
    };
    match (n_iterations, n_checks) {
        (0, 0) => None,
        (0, n) => Some(plural(n, "failed check")),
        (n, _) => Some(plural(n, "failed iteration")),
    }
}

/// Latency, losses and the target's resource use, if known: `: p95 of rtt 1.26 ms, 0 lost of 394,029, …`.
fn figures(summary: &Summary, highlights: &Highlights) -> String {
    let latency = highlights
        .latency_of(summary)
        .map(|(name, figures)| format!("p95 of {name} {}", readable::duration(figures.p95 as f64)));
    let losses = summary.losses.map(|losses| {
        format!(
            "{} lost of {}",
            readable::count(losses.lost),
            readable::count(losses.expected)
        )
    });
    let targets = summary.targets.iter();
    let used = targets
        .filter_map(|target| Some(format!("{} {}", target.name, usage(target)?)))
        .next();
    let known: Vec<_> = [latency, losses, used].into_iter().flatten().collect();
    if known.is_empty() {
        String::new()
    } else {
        format!(": {}", known.join(", "))
    }
}

/// CPU and memory of a target, if known.
pub(crate) fn usage(target: &Target) -> Option<String> {
    let cores = target.cores.map(readable::cores);
    let memory = target.rss_max_bytes.map(|bytes| readable::bytes(bytes as f64));
    let known: Vec<_> = [cores, memory].into_iter().flatten().collect();
    Some(known.join(" and ")).filter(|usage| !usage.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{
        Losses,
        tests::{run, summary},
    };

    /// The verdict of a run that passed, after a change.
    fn check(change: impl FnOnce(&mut Summary), outcome: Outcome, word: &str, sentence: &str) {
        let mut summary = summary(&run());
        summary.iterations.failed = 0;
        summary.checks.clear();
        summary.timeline.vus = vec![3, 1_200, 7];
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
            "Carried 1,200 users for 45 s: p95 of rtt 365 µs",
        );
        let target = Target {
            name: "server".to_owned(),
            cores: Some(0.8),
            rss_max_bytes: Some(31_000_000),
            ..Target::default()
        };
        check(
            |summary| {
                summary.losses = losses(0);
                summary.targets = vec![Target::default(), target];
            },
            Outcome::Passed,
            "Passed",
            "Carried 1,200 users for 45 s: p95 of rtt 365 µs, 0 lost of 394,029, server 0.8 cores and 31 MB",
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
            "Failed the threshold rtt p(95)<0.3 (was 0.365) with 1,200 users for 45 s: p95 of rtt 365 µs",
        );
        check(
            |summary| summary.thresholds = vec![threshold(false, None); 2],
            Outcome::Failed,
            "Failed",
            "Failed 2 of 2 thresholds with 1,200 users for 45 s: p95 of rtt 365 µs",
        );
        check(
            |summary| {
                summary.generator.saturated = true;
                summary.losses = losses(1);
            },
            Outcome::Doubtful,
            "In doubt",
            "The load generator was the bottleneck with 1,200 users for 45 s: p95 of rtt 365 µs, 1 lost of 394,029",
        );
        check(
            |summary| summary.losses = losses(41),
            Outcome::Failed,
            "Messages lost",
            "Lost messages with 1,200 users for 45 s: p95 of rtt 365 µs, 41 lost of 394,029",
        );
        check(
            |summary| summary.end = End::Shutdown,
            Outcome::Interrupted,
            "Interrupted",
            "Interrupted with 1,200 users for 45 s: p95 of rtt 365 µs",
        );
        check(
            |summary| summary.iterations.failed = 1,
            Outcome::Flawed,
            "Errors",
            "1 failed iteration with 1,200 users for 45 s: p95 of rtt 365 µs",
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
