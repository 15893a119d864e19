//! The verdict over the generator's evidence: pure, with its thresholds stated.

use std::time::Duration;

use serde::Serialize;

use super::Evidence;

/// The share of its wall time from which on a worker's thread counts as busy.
///
/// Reason: the waiting time in front of a single queue grows with 1 / (1 − busy share), so it is ten times the service
/// time here and without bound above.
pub const BUSY_SHARE: f64 = 0.9;

/// The share of the run in busy windows from which on the generator counts as saturated.
///
/// Reason: the p95 of a summary is shaped by one sample in twenty.
pub const BUSY_TIME_SHARE: f64 = 0.05;

/// The least tolerance for a late tick.
///
/// Reason: several turns of the Linux scheduler (3 ms) and the timer's 1 ms grain fit into it on a machine
/// that is fully used yet fair, and no percentile that a person compares hangs on less.
pub const LATENESS: Duration = Duration::from_millis(20);

/// How late a tick may be before it matters: this fraction of the reported latency. Reason: it then explains less than
/// the first digit of the figure.
const LATENESS_OF_LATENCY: u32 = 10;

/// The words by which a reader of findings recognises the second rule: the load was as planned, but replies were taken
/// late.
pub const LATE_TICKS: &str = "of its clock ticks were";

/// Share of late ticks from which on the run is marked. Reason: it reaches the p99 of the report.
pub const LATE_TICK_SHARE: f64 = 0.01;

/// The share of dropped starts from which on the generator counts as saturated. Reason: dropped iterations would have
/// waited longest, so from here on the p99 is no longer that of all arrivals.
pub const DROPPED_SHARE: f64 = 0.01;

/// The idle share below which the machine counts as fully used. Reason: the idle share of `/proc/stat` comes in ticks
/// of 10 ms and rarely reads as 0 even under full load.
pub const NO_IDLE_SHARE: f64 = 0.05;

/// Whether the generator was saturated, and the symptoms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// True when the figures of the run are not the target's alone.
    pub saturated: bool,
    /// One sentence per finding: the observation, its meaning, and what to do. Empty for a healthy run.
    pub reasons: Vec<String>,
}

/// The fate of scheduled iterations. All zero for a run without a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Iterations whose scheduled time came.
    pub n_due: u64,
    /// Those without a free virtual user.
    pub n_dropped: u64,
}

/// Judges a period by the rules of the [module](super).
///
/// `reported_latency` is the caller's main figure (its p95, say). `None` if it reports none.
pub fn judge(evidence: &Evidence, schedule: Schedule, reported_latency: Option<Duration>) -> Health {
    let reasons: Vec<_> = [
        busy(evidence),
        late(evidence, reported_latency),
        dropped(schedule),
    ]
    .into_iter()
    .flatten()
    .collect();
    Health {
        saturated: !reasons.is_empty(),
        reasons,
    }
}

/// The first rule alone: the finding if the workers were overloaded.
pub fn busy(evidence: &Evidence) -> Option<String> {
    let is_busy = evidence.busy_time_share >= BUSY_TIME_SHARE;
    is_busy.then(|| {
        format!(
            "a worker was {} busy or more for {} of the time (up to {}), so it could not offer more load or take \
             replies faster; use more workers, another machine, or less load",
            percent(BUSY_SHARE),
            percent(evidence.busy_time_share),
            percent(evidence.busiest_share),
        )
    })
}

/// The second rule alone: the finding if latencies contain the generator's own delay.
pub fn late(evidence: &Evidence, reported_latency: Option<Duration>) -> Option<String> {
    let tolerance = LATENESS.max(reported_latency.unwrap_or_default() / LATENESS_OF_LATENCY);
    let n_late = evidence.lateness.n_at_or_above(tolerance);
    let share = n_late as f64 / evidence.lateness.count().max(1) as f64;
    (share >= LATE_TICK_SHARE).then(|| {
        format!(
            "{} {LATE_TICKS} {} ms or more late (up to {} ms), {}",
            percent(share),
            tolerance.as_millis(),
            evidence.lateness.max().as_millis(),
            cause_of_lateness(evidence),
        )
    })
}

/// The third rule alone: the finding if fewer iterations started than planned.
pub fn dropped(schedule: Schedule) -> Option<String> {
    let Schedule { n_due, n_dropped } = schedule;
    let share = n_dropped as f64 / n_due.max(1) as f64;
    (share >= DROPPED_SHARE).then(|| {
        format!(
            "it started {} of the {n_due} scheduled iterations and dropped {} because no virtual user was free, so \
             the load was lower than planned and the latencies lack the iterations that would have waited longest; \
             raise maxVUs, or plan a lower rate",
            n_due - n_dropped,
            percent(share),
        )
    })
}

fn cause_of_lateness(evidence: &Evidence) -> &'static str {
    if evidence.busy_time_share >= BUSY_TIME_SHARE {
        "because its workers were too busy"
    } else if evidence
        .machine_idle_share
        .is_some_and(|idle| idle < NO_IDLE_SHARE)
    {
        "because no CPU was idle; run it on another machine than the target"
    } else {
        "although CPU was idle; look for bursts of work, a CPU quota, or a virtual user that blocks its thread"
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::histogram::Histogram;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn evidence(busy_time_share: f64, late: &[(u64, u64)], machine_idle_share: Option<f64>) -> Evidence {
        let mut lateness = Histogram::new();
        for &(ms, n) in late {
            lateness.record_n(MS(ms), n);
        }
        Evidence {
            elapsed: MS(20_000),
            cpu: MS(15_000),
            busy_time_share,
            busiest_share: 0.97,
            lateness,
            machine_idle_share,
        }
    }

    #[test]
    fn thresholds_are_where_the_doc_says() {
        let judge = |busy, late: &[_], latency| {
            judge(&evidence(busy, late, Some(0.5)), Schedule::default(), latency).saturated
        };
        for (busy, late, latency, expected) in [
            (0.0, &[(1, 1000)][..], None, false),
            (0.049, &[(1, 1000)], None, false),
            (0.05, &[(1, 1000)], None, true),
            (0.0, &[(1, 991), (20, 9)], None, false),
            (0.0, &[(1, 990), (20, 10)], None, true),
            (0.0, &[(1, 990), (19, 10)], None, false),
            (0.0, &[(1, 900), (400, 100)], Some(MS(8_000)), false),
            (0.0, &[(1, 900), (800, 100)], Some(MS(8_000)), true),
            (0.0, &[(1, 900), (20, 100)], Some(MS(2)), true),
            (0.0, &[], None, false),
        ] {
            assert_eq!(
                judge(busy, late, latency),
                expected,
                "{busy} {late:?} {latency:?}"
            );
        }
    }

    fn check(evidence: &Evidence, expected: &Expect) {
        expected.assert_eq(&judge(evidence, Schedule::default(), None).reasons.join("\n"));
    }

    #[test]
    fn a_busy_worker_is_named() {
        let busy = evidence(0.4, &[(1, 90), (30, 10)], Some(0.5));
        check(
            &busy,
            &expect![[r#"
                a worker was 90 % busy or more for 40 % of the time (up to 97 %), so it could not offer more load or take replies faster; use more workers, another machine, or less load
                10 % of its clock ticks were 20 ms or more late (up to 30 ms), because its workers were too busy"#]],
        );
    }

    #[test]
    fn a_schedule_that_was_not_kept_is_told() {
        for (n_due, n_dropped, saturated) in [(0, 0, false), (1000, 9, false), (1000, 10, true), (5, 5, true)]
        {
            let schedule = Schedule { n_due, n_dropped };
            let health = judge(&evidence(0.0, &[(1, 1000)], None), schedule, None);
            assert_eq!(health.saturated, saturated, "{schedule:?}");
        }
        let schedule = Schedule {
            n_due: 600_000,
            n_dropped: 450_000,
        };
        let health = judge(&evidence(0.0, &[], None), schedule, None);
        expect!["it started 150000 of the 600000 scheduled iterations and dropped 75 % because no virtual user was \
            free, so the load was lower than planned and the latencies lack the iterations that would have waited \
            longest; raise maxVUs, or plan a lower rate"].assert_eq(&health.reasons.join("\n"));
    }

    #[test]
    fn a_crowded_machine_is_told_from_an_interrupted_generator() {
        check(
            &evidence(0.0, &[(1, 90), (30, 10)], Some(0.01)),
            &expect![
                "10 % of its clock ticks were 20 ms or more late (up to 30 ms), because no CPU was idle; run it on \
                 another machine than the target"
            ],
        );
        check(
            &evidence(0.0, &[(1, 90), (30, 10)], None),
            &expect![
                "10 % of its clock ticks were 20 ms or more late (up to 30 ms), although CPU was idle; look for \
                 bursts of work, a CPU quota, or a virtual user that blocks its thread"
            ],
        );
    }
}
