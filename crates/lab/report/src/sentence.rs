//! A run in one sentence, for readers who read nothing else.

use plimsoll_load::generator::Doubt;
use serde::Serialize;

use crate::{
    Highlights, Style, Summary, headline, readable,
    summary::{self, CheckResult, Contains, End, Threshold, Values},
    text::wrap,
    verdict::Verdict,
};

/// A run in one sentence, with its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// The verdict.
    pub verdict: Verdict,
    /// The reasons of the verdict; the highest load that was held, for how long, and its figures.
    pub sentence: String,
}

impl Headline {
    /// The headline of a run.
    pub fn of(summary: &Summary) -> Self {
        let verdict = summary.verdict();
        let highlights = Highlights::of(summary);
        let reasons = [
            early(summary).or_else(|| lost_agents(summary)),
            failed(summary),
            doubt(summary, &highlights).map(str::to_owned),
        ];
        // A load of failures alone was not held.
        let has_course = !matches!(summary.end, End::SetupFailed { .. }) && !highlights.nothing_succeeded;
        let course = has_course.then(|| headline::course(summary, &highlights));
        let parts: Vec<_> = reasons.into_iter().flatten().chain(course).collect();
        Self {
            verdict,
            sentence: headline::capitalized(&parts.join("; ")),
        }
    }

    /// The headline as the last lines of a result in a terminal: `pass: Held 200 users for 6 s: …`.
    pub fn text(&self, style: Style) -> String {
        let name = self.verdict.name();
        let lines = wrap(&format!("{name}: {}", self.sentence), "", "", style.width);
        let text = lines.join("\n");
        let rest = text.strip_prefix(name).unwrap_or(&text);
        let painted = match self.verdict {
            Verdict::Pass => style.good(name),
            Verdict::Fail | Verdict::Doubtful | Verdict::Incomplete => style.bad(name),
        };
        format!("{painted}{rest}\n")
    }
}

/// Why a run did not get to its planned end. `None` if it did.
fn early(summary: &Summary) -> Option<String> {
    let after = readable::seconds(summary.metadata.duration_seconds);
    match &summary.end {
        End::SetupFailed { reason } => Some(format!("did not start: {reason}")),
        End::Aborted { reason } => Some(format!("ended after {after}: {reason}")),
        End::Shutdown => Some(format!("ended early, after {after}")),
        End::Complete | End::ThresholdsCrossed => None,
    }
}

/// How a fleet that got to the planned end lost agents, as the command said it. `None` if it lost none.
fn lost_agents(summary: &Summary) -> Option<String> {
    let n_lost = Some(summary.n_lost_agents()).filter(|&n| n > 0)?;
    let conclusion = summary.conclusion.as_ref();
    let told = conclusion.filter(|conclusion| conclusion.verdict == Verdict::Incomplete);
    let counted = || match summary.agents.len() {
        1 => "lost its only agent".to_owned(),
        n => format!("lost {n_lost} of {n} agents"),
    };
    Some(
        told.and_then(|conclusion| conclusion.reason.clone())
            .unwrap_or_else(counted),
    )
}

/// Why the figures are doubtful. `None` if they are not, or if the sentence has no latency and only those are doubtful.
fn doubt<'a>(summary: &'a Summary, highlights: &Highlights) -> Option<&'a str> {
    let generator = &summary.generator;
    let is_late = generator
        .doubt
        .as_ref()
        .is_some_and(|doubt| doubt.kind == Doubt::Late.name());
    generator
        .doubt()
        .filter(|_| !(is_late && highlights.nothing_succeeded))
}

/// What failed. `None` if nothing did.
fn failed(summary: &Summary) -> Option<String> {
    let missed = missed(summary);
    let all = || all_failed(summary);
    let lost = || {
        summary
            .losses
            .is_some_and(|losses| losses.lost > 0)
            .then(|| "lost messages".to_owned())
    };
    let told = || {
        let reason = summary.conclusion.as_ref()?.reason.clone();
        // A run that ended early or lost agents has told its reason.
        reason.filter(|reason| early(summary).is_none() && lost_agents(summary).as_ref() != Some(reason))
    };
    missed
        .or_else(all)
        .or_else(lost)
        .or_else(|| flaws(summary))
        .or_else(told)
}

/// Attempts of a kind that all failed: `all 160 iterations failed`.
fn all_failed(summary: &Summary) -> Option<String> {
    let attempts = summary.attempts();
    let found = attempts.iter().find(|attempts| attempts.have_all_failed())?;
    Some(summary::all_failed(found))
}

/// The failed threshold with its figure, or how many failed. `None` without a failed threshold.
fn missed(summary: &Summary) -> Option<String> {
    let failed = summary.thresholds.iter().filter(|threshold| !threshold.passed);
    match failed.collect::<Vec<_>>().as_slice() {
        [] => None,
        [one] => {
            let was = one
                .value
                .map_or_else(|| "no data".to_owned(), |value| compared(one, value, summary));
            Some(format!(
                "failed the threshold {} {} ({was})",
                one.metric, one.expression
            ))
        }
        several => Some(format!(
            "failed {} of {} thresholds",
            several.len(),
            summary.thresholds.len()
        )),
    }
}

/// The value that a threshold compared, which is always that of the whole run: `18.7 ms in the whole run`.
fn compared(threshold: &Threshold, value: f64, summary: &Summary) -> String {
    let metric = summary.metrics.get(&threshold.key);
    let is_time = metric
        .is_some_and(|metric| metric.contains == Contains::Time && matches!(metric.values, Values::Trend(_)));
    let bound = metric.map_or("", |metric| match &metric.values {
        Values::Trend(distribution) if is_time => distribution.mark((value * 1e3) as u64),
        _ => "",
    });
    let value = if is_time && threshold.aggregation != "count" {
        format!("{bound}{}", readable::duration(value * 1e3))
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
        agents::tests::three,
        by_load::Usage,
        summary::{
            Conclusion, Doubted, Losses,
            tests::{run, summary},
        },
    };

    /// The verdict of a run that passed, after a change.
    fn check(change: impl FnOnce(&mut Summary), verdict: Verdict, sentence: &str) {
        let mut summary = summary(&run());
        summary.iterations.failed = 0;
        summary.checks.clear();
        change(&mut summary);
        let headline = Headline::of(&summary);
        assert_eq!(
            (headline.verdict, headline.sentence.as_str()),
            (verdict, sentence)
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

    fn doubted(doubt: Doubt, summary: &mut Summary) {
        summary.generator.doubtful = true;
        summary.generator.doubt = Some(Doubted {
            kind: doubt.name().to_owned(),
            text: doubt.clause(Some(39.0)),
        });
    }

    #[test]
    fn one_sentence_says_users_latency_losses_and_cost() {
        check(
            |_| (),
            Verdict::Pass,
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
            Verdict::Pass,
            "Held 100 users for 45 s: p95 of rtt 362 µs (5 samples), server 0.8 cores and 31 MB; in the whole run 0 lost of 394,029",
        );
    }

    #[test]
    fn failed_requests_are_told_unless_a_threshold_judges_them() {
        let failed_of = |passes: u64, summary: &mut Summary| {
            let metric = summary.metrics.get_mut("http_req_failed").unwrap();
            metric.values = Values::Rate {
                rate: passes as f64 / 195.0,
                passes,
                fails: 195 - passes,
            };
        };
        let failed = |summary: &mut Summary| failed_of(12, summary);
        check(
            failed,
            Verdict::Pass,
            "12 failed requests; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
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
            Verdict::Pass,
            "Held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| failed_of(195, summary),
            Verdict::Fail,
            "All 195 requests failed",
        );
        // Latencies that the sentence does not have may be too high.
        check(
            |summary| {
                failed_of(195, summary);
                doubted(Doubt::Late, summary);
            },
            Verdict::Fail,
            "All 195 requests failed",
        );
        check(
            |summary| {
                failed_of(195, summary);
                doubted(Doubt::Busy, summary);
            },
            Verdict::Fail,
            "All 195 requests failed; the load generator was the bottleneck",
        );
    }

    #[test]
    fn a_run_whose_thresholds_have_no_data_has_not_passed() {
        check(
            |summary| summary.thresholds = vec![threshold(true, None)],
            Verdict::Pass,
            "Held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| summary.thresholds = vec![threshold(false, None)],
            Verdict::Fail,
            "Failed the threshold rtt p(95)<0.3 (no data); held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
    }

    #[test]
    fn the_worst_that_happened_comes_first() {
        check(
            |summary| {
                summary.thresholds = vec![threshold(false, Some(0.365)), threshold(true, Some(0.1))];
                summary.generator.doubtful = true;
            },
            Verdict::Fail,
            "Failed the threshold rtt p(95)<0.3 (365 µs in the whole run); the load generator was the bottleneck; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| summary.thresholds = vec![threshold(false, None); 2],
            Verdict::Fail,
            "Failed 2 of 2 thresholds; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| {
                summary.generator.doubtful = true;
                summary.losses = losses(1);
            },
            Verdict::Fail,
            "Lost messages; the load generator was the bottleneck; held 100 users for 45 s: p95 of rtt 362 µs (5 samples); in the whole run 1 lost of 394,029",
        );
        check(
            |summary| summary.losses = losses(41),
            Verdict::Fail,
            "Lost messages; held 100 users for 45 s: p95 of rtt 362 µs (5 samples); in the whole run 41 lost of 394,029",
        );
        check(
            |summary| summary.end = End::Shutdown,
            Verdict::Incomplete,
            "Ended early, after 44.5 s; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| summary.iterations.failed = 1,
            Verdict::Pass,
            "1 failed iteration; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        let reason = || "no such host".to_owned();
        check(
            |summary| summary.end = End::SetupFailed { reason: reason() },
            Verdict::Incomplete,
            "Did not start: no such host",
        );
        check(
            |summary| summary.end = End::Aborted { reason: reason() },
            Verdict::Incomplete,
            "Ended after 44.5 s: no such host; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
    }

    #[test]
    fn the_command_has_the_last_word_about_the_verdict() {
        let concluded = |verdict, reason: &str| Conclusion {
            verdict,
            exit_code: 110,
            reason: Some(reason.to_owned()),
        };
        check(
            |summary| {
                summary.conclusion = Some(concluded(
                    Verdict::Fail,
                    "the test was marked as failed: too slow",
                ));
            },
            Verdict::Fail,
            "The test was marked as failed: too slow; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
        check(
            |summary| {
                summary.end = End::Shutdown;
                summary.conclusion = Some(concluded(
                    Verdict::Incomplete,
                    "the run was interrupted by a signal",
                ));
            },
            Verdict::Incomplete,
            "Ended early, after 44.5 s; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)",
        );
    }

    #[test]
    fn a_lost_agent_is_told_as_the_command_said_it() {
        const COURSE: &str = "held 100 users from 3 agents for 45 s: p95 of rtt 362 µs (5 samples)";
        let sentence = |start: &str| format!("{start}; {COURSE}");
        let concluded = |verdict, reason: &str| Conclusion {
            verdict,
            exit_code: 1,
            reason: Some(reason.to_owned()),
        };
        let fleet = |summary: &mut Summary| {
            summary.agents = three();
            summary.iterations.failed = 2;
        };
        check(
            fleet,
            Verdict::Incomplete,
            &sentence("Lost 1 of 3 agents; 2 failed iterations"),
        );
        check(
            |summary| {
                fleet(summary);
                let reason = "agent a2 was lost after 12 s";
                summary.conclusion = Some(concluded(Verdict::Incomplete, reason));
            },
            Verdict::Incomplete,
            &sentence("Agent a2 was lost after 12 s; 2 failed iterations"),
        );
        check(
            |summary| {
                summary.agents = three();
                let reason = "agent a2 was lost after 12 s";
                summary.conclusion = Some(concluded(Verdict::Incomplete, reason));
            },
            Verdict::Incomplete,
            &sentence("Agent a2 was lost after 12 s"),
        );
        check(
            |summary| {
                summary.agents = three();
                summary.conclusion = Some(concluded(Verdict::Fail, "the test was marked as failed"));
            },
            Verdict::Fail,
            &sentence("Lost 1 of 3 agents; the test was marked as failed"),
        );
        check(
            |summary| {
                fleet(summary);
                summary.end = End::Shutdown;
            },
            Verdict::Incomplete,
            &sentence("Ended early, after 44.5 s; 2 failed iterations"),
        );
    }

    #[test]
    fn a_terminal_gets_the_verdict_before_the_sentence() {
        let headline = Headline {
            verdict: Verdict::Pass,
            sentence: "Held 100 users for 45 s: p95 of rtt 362 µs (5 samples)".to_owned(),
        };
        assert_eq!(
            headline.text(Style {
                color: true,
                width: 40
            }),
            "\u{1b}[32mpass\u{1b}[0m: Held 100 users for 45 s: p95 of\nrtt 362 µs (5 samples)\n",
        );
    }
}
