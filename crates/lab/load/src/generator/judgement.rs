//! The verdict over the generator's evidence: pure, with its thresholds stated.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{evidence::Evidence, programs::OtherPrograms};

/// The share of its wall time from which on a worker's thread counts as busy.
///
/// Reason: the waiting time in front of a single queue grows with 1 / (1 − busy share), so it is ten times the service
/// time here and without bound above.
pub const BUSY_SHARE: f64 = 0.9;

/// The share of the run in busy windows from which on the figures are doubtful.
///
/// Reason: the p95 of a summary is shaped by one sample in twenty.
pub const BUSY_TIME_SHARE: f64 = 0.05;

/// The least tolerance for a late tick, and for the reported latency: what takes less cannot be too high by more.
///
/// Reason: replies of 0.2 ms come thousands of times per second, so few of them meet a stall that many ticks meet. Their
/// own percentile then says that the generator was on time for them. No objective of a network service hangs on less.
pub const LATENESS: Duration = Duration::from_millis(2);

/// How late a tick may be before it matters: this fraction of the reported latency. Reason: it then explains less than
/// the first digit of the figure.
const LATENESS_OF_LATENCY: u32 = 10;

/// The words by which a reader of findings recognises the second rule: the load was as planned, but replies were taken
/// late.
pub const LATE_TICKS: &str = "of its clock ticks were";

/// The share of dropped starts from which on the figures are doubtful. Reason: dropped iterations would have
/// waited longest, so from here on the p99 is no longer that of all arrivals.
pub const DROPPED_SHARE: f64 = 0.01;

/// The idle share below which the machine counts as fully used. Reason: the idle share of `/proc/stat` comes in ticks
/// of 10 ms and rarely reads as 0 even under full load.
pub const NO_IDLE_SHARE: f64 = 0.05;

/// The CPU of other programs, in cores, from which on they are named. Reason: system services take less together.
const WORTH_NAMING: f64 = 0.1;

/// The CPU of a single program, in cores, from which on it is named. Reason: two decimals show less as nothing.
const NOTABLE: f64 = 0.01;

/// The part of the late time that a worker waited for a CPU, from which on the wait is the cause.
const CAUSED_BY_WAITING: f64 = 0.5;

/// Whether the figures of a run are the target's alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Health {
    /// True when the figures are doubtful.
    pub doubtful: bool,
    /// Why they are, the worst first. `None` if they are not.
    pub doubt: Option<Doubt>,
    /// One sentence per finding: the observation, its meaning, and what to do. Empty without doubt.
    pub reasons: Vec<String>,
    /// By how much the reported latency may be too high, in ms: at most [`Evidence::lateness_bound`], and not more than
    /// itself. `None` without ticks.
    pub lateness_bound_ms: Option<f64>,
    /// The other programs on the machine that took CPU, in one sentence. `None` if they took little.
    pub other_programs: Option<String>,
}

/// Why the figures of a run are doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The generator had no room for more load.
    Busy,
    /// It read replies late.
    Late,
    /// It started less than planned, because all virtual users waited.
    Dropped,
}

impl Doubt {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Late => "late",
            Self::Dropped => "dropped",
        }
    }

    /// The doubt in a clause that begins with a small letter. `bound_ms` is by how much latencies may be too high.
    pub fn clause(self, bound_ms: Option<f64>) -> String {
        match self {
            Self::Busy => "the load generator was the bottleneck".to_owned(),
            Self::Late => too_high(bound_ms.unwrap_or(0.0)),
            Self::Dropped => "the load was lower than planned".to_owned(),
        }
    }
}

/// By how much the reported 95th percentile may be too high, in words.
pub fn too_high(bound_ms: f64) -> String {
    format!("p95 latencies may be up to {} too high", Ms(bound_ms))
}

/// Milliseconds with two digits, and three above a hundred.
#[derive(Clone, Copy, Debug)]
pub struct Ms(pub f64);

impl fmt::Display for Ms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_decimals = match self.0 {
            ..1.0 => 2,
            ..10.0 => 1,
            _ => 0,
        };
        write!(f, "{:.n_decimals$} ms", self.0)
    }
}

/// The fate of scheduled iterations. All zero for a run without a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Iterations whose scheduled time came.
    pub n_due: u64,
    /// Those without a free virtual user.
    pub n_dropped: u64,
}

impl Schedule {
    /// The iterations of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            n_due: self.n_due.saturating_add(other.n_due),
            n_dropped: self.n_dropped.saturating_add(other.n_dropped),
        }
    }
}

/// Judges a period by the rules of the [module](super).
///
/// `reported_latency` is the caller's main figure (its p95, say). `None` if it reports none.
pub fn judge(evidence: &Evidence, schedule: Schedule, reported_latency: Option<Duration>) -> Health {
    // Durations from the schedule contain late starts, which the reported latency does not.
    let cap = reported_latency.filter(|_| schedule.n_due == 0);
    let findings = [
        (Doubt::Busy, busy(evidence)),
        (Doubt::Late, late_beyond(evidence, reported_latency, cap)),
        (Doubt::Dropped, dropped(schedule)),
    ];
    let mut findings = findings
        .into_iter()
        .filter_map(|(doubt, reason)| Some((doubt, reason?)));
    let (doubts, reasons): (Vec<_>, Vec<_>) = findings.by_ref().unzip();
    Health {
        doubtful: !doubts.is_empty(),
        doubt: doubts.into_iter().min(),
        reasons,
        ..Health::calm(evidence, cap)
    }
}

impl Health {
    /// The health of a generator that nothing is wrong with: the bound, and the other programs.
    ///
    /// `cap` is a figure from whose own size the bound follows, too: it cannot be too high by more than itself. `None` if
    /// the run has figures that contain more.
    pub fn calm(evidence: &Evidence, cap: Option<Duration>) -> Self {
        Self {
            lateness_bound_ms: bound(evidence, cap).map(|bound| (bound.as_secs_f64() * 1e6).round() / 1e3),
            other_programs: other_programs(&evidence.others),
            ..Self::default()
        }
    }

    /// The doubt in a clause that begins with a small letter. `None` without doubt.
    pub fn clause(&self) -> Option<String> {
        self.doubt.map(|doubt| doubt.clause(self.lateness_bound_ms))
    }

    /// Everything for people: the doubt with its reasons, or else the bound; and the other programs.
    pub fn sentences(&self) -> Vec<String> {
        let bound = || {
            let bound = self.lateness_bound_ms?;
            let clause = Doubt::Late.clause(Some(bound));
            Some(format!("{clause}, because the generator read replies that late"))
        };
        let first = match self.clause() {
            Some(clause) => Some(format!(
                "DOUBTFUL: {clause}, so these figures do not describe the target alone"
            )),
            None => bound(),
        };
        let reasons = self.reasons.iter().cloned();
        first
            .into_iter()
            .chain(reasons)
            .chain(self.other_programs.clone())
            .collect()
    }
}

/// By how much the reported latency may be too high. `None` without ticks.
fn bound(evidence: &Evidence, cap: Option<Duration>) -> Option<Duration> {
    let bound = evidence.lateness_bound()?;
    Some(cap.map_or(bound, |cap| bound.min(cap)))
}

/// The other programs in one sentence; `None` if they took little.
pub fn other_programs(others: &OtherPrograms) -> Option<String> {
    (others.cores >= WORTH_NAMING).then(|| {
        let named = others.named.iter().filter(|program| program.cores >= NOTABLE);
        let named: Vec<_> = named
            .map(|program| format!("{} {:.2}", program.name, program.cores))
            .collect();
        let names = if named.is_empty() {
            String::new()
        } else {
            format!(" ({})", named.join(", "))
        };
        format!(
            "other programs on this machine took {:.2} cores{names}",
            others.cores
        )
    })
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
    late_beyond(evidence, reported_latency, reported_latency)
}

fn late_beyond(
    evidence: &Evidence,
    reported_latency: Option<Duration>,
    cap: Option<Duration>,
) -> Option<String> {
    // What is not reported cannot be too high.
    let tolerance = LATENESS.max(reported_latency? / LATENESS_OF_LATENCY);
    if bound(evidence, cap)? < tolerance {
        return None;
    }
    let n_late = evidence.lateness.n_at_or_above(tolerance);
    let share = n_late as f64 / evidence.lateness.count().max(1) as f64;
    Some(format!(
        "{} {LATE_TICKS} {} ms or more late (up to {} ms), {}",
        percent(share),
        tolerance.as_millis(),
        evidence.lateness.max().as_millis(),
        cause_of_lateness(evidence, share),
    ))
}

/// The lateness from which on the starts of an open model come in bunches that the plan does not have. Reason: the
/// generator's own clock ticks that often, so it knows of no shorter ones.
const BUNCH: Duration = Duration::from_millis(10);

/// The finding if an open model had bunches: late starts are made up for at once, and a target may refuse a bunch that it
/// would have served in its turn. `None` without a schedule.
pub fn bunched(evidence: &Evidence, schedule: Schedule) -> Option<String> {
    let bound = evidence
        .lateness_bound()
        .filter(|&bound| schedule.n_due > 0 && bound >= BUNCH)?;
    let share = evidence.lateness.n_at_or_above(BUNCH) as f64 / evidence.lateness.count().max(1) as f64;
    Some(format!(
        "{} of its starts were {} ms or more late (p99 {}), so they came in bunches that the plan does not have, {}",
        percent(share),
        BUNCH.as_millis(),
        Ms(bound.as_secs_f64() * 1e3),
        cause_of_lateness(evidence, share),
    ))
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
            n_due.saturating_sub(n_dropped),
            percent(share),
        )
    })
}

fn cause_of_lateness(evidence: &Evidence, late_share: f64) -> String {
    let others = || {
        other_programs(&evidence.others)
            .map(|others| format!("; {others}"))
            .unwrap_or_default()
    };
    if evidence.busy_time_share >= BUSY_TIME_SHARE {
        return "because its workers were too busy".to_owned();
    }
    let waited = match evidence.waiting_share {
        Some(waiting) => waiting >= CAUSED_BY_WAITING * late_share,
        // Kernels that do not count it: then the machine's idle CPU must do.
        None => evidence
            .machine_idle_share
            .is_some_and(|idle| idle < NO_IDLE_SHARE),
    };
    if waited {
        let share = evidence
            .waiting_share
            .map(|share| format!(" for {} of the time", percent(share)));
        return format!(
            "because it waited for a CPU{}{}; run it on a machine of its own",
            share.unwrap_or_default(),
            others()
        );
    }
    "although it seldom waited for a CPU; look for bursts of work, a CPU quota, or a virtual user that blocks its thread"
        .to_owned()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::{generator::Program, histogram::Histogram};

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
            ..Evidence::nothing()
        }
    }

    #[test]
    fn thresholds_are_where_the_doc_says() {
        let judge = |busy, late: &[_], latency| {
            judge(&evidence(busy, late, Some(0.5)), Schedule::default(), latency).doubtful
        };
        for (busy, late, latency, expected) in [
            (0.0, &[(1, 1000)][..], None, false),
            (0.049, &[(1, 1000)], None, false),
            (0.05, &[(1, 1000)], None, true),
            (0.0, &[(1, 991), (2, 9)], Some(MS(20)), false),
            (0.0, &[(1, 989), (2, 11)], Some(MS(20)), true),
            (0.0, &[(0, 900), (1, 100)], Some(MS(20)), false),
            // A run without latencies has none that are too high.
            (0.0, &[(1, 900), (400, 100)], None, false),
            (0.0, &[(1, 900), (400, 100)], Some(MS(8_000)), false),
            (0.0, &[(1, 900), (800, 100)], Some(MS(8_000)), true),
            (0.0, &[(1, 900), (20, 100)], Some(MS(2)), true),
            // What takes less cannot be too high by more.
            (0.0, &[(1, 900), (20, 100)], Some(MS(1)), false),
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
        expected.assert_eq(
            &judge(evidence, Schedule::default(), Some(MS(20)))
                .reasons
                .join("\n"),
        );
    }

    #[test]
    fn a_busy_worker_is_named() {
        let busy = evidence(0.4, &[(1, 90), (30, 10)], Some(0.5));
        check(
            &busy,
            &expect![[r#"
                a worker was 90 % busy or more for 40 % of the time (up to 97 %), so it could not offer more load or take replies faster; use more workers, another machine, or less load
                10 % of its clock ticks were 2 ms or more late (up to 30 ms), because its workers were too busy"#]],
        );
    }

    #[test]
    fn a_schedule_that_was_not_kept_is_told() {
        for (n_due, n_dropped, doubtful) in [(0, 0, false), (1000, 9, false), (1000, 10, true), (5, 5, true)]
        {
            let schedule = Schedule { n_due, n_dropped };
            let health = judge(&evidence(0.0, &[(1, 1000)], None), schedule, None);
            assert_eq!(health.doubtful, doubtful, "{schedule:?}");
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
    fn the_worst_doubt_comes_first_and_only_a_busy_worker_is_a_bottleneck() {
        let dropped = Schedule {
            n_due: 10,
            n_dropped: 5,
        };
        for (busy, late, schedule, expected) in [
            (0.0, 0, Schedule::default(), None),
            (0.4, 10, dropped, Some("the load generator was the bottleneck")),
            (
                0.0,
                10,
                dropped,
                Some("p95 latencies may be up to 30 ms too high"),
            ),
            (0.0, 0, dropped, Some("the load was lower than planned")),
        ] {
            let evidence = evidence(busy, &[(1, 90), (30, late)], Some(0.0));
            let health = judge(&evidence, schedule, Some(MS(300)));
            assert_eq!(health.clause().as_deref(), expected);
        }
    }

    /// Late ticks, the share of waiting, and what others took.
    fn cause(waiting_share: Option<f64>, idle: Option<f64>, others: &[(&str, f64)], expected: &Expect) {
        let named = others.iter().map(|&(name, cores)| Program {
            name: name.to_owned(),
            cores,
        });
        let others = OtherPrograms {
            cores: others.iter().map(|(_, cores)| cores).sum(),
            named: named.collect(),
        };
        let evidence = Evidence {
            waiting_share,
            others,
            ..evidence(0.0, &[(1, 90), (30, 10)], idle)
        };
        check(&evidence, expected);
    }

    #[test]
    fn a_generator_that_waited_is_told_from_one_that_was_interrupted() {
        let waited = [("node", 0.99), ("cc1", 0.2), ("sshd", 0.001)];
        cause(
            Some(0.12),
            Some(0.01),
            &waited,
            &expect![
                "10 % of its clock ticks were 2 ms or more late (up to 30 ms), because it waited for a CPU for 12 % of \
                 the time; other programs on this machine took 1.19 cores (node 0.99, cc1 0.20); run it on a machine of \
                 its own"
            ],
        );
        // No idle CPU is no cause when the kernel says that it did not wait.
        cause(
            Some(0.01),
            Some(0.0),
            &waited,
            &expect![
                "10 % of its clock ticks were 2 ms or more late (up to 30 ms), although it seldom waited for a CPU; \
                 look for bursts of work, a CPU quota, or a virtual user that blocks its thread"
            ],
        );
        cause(
            None,
            Some(0.01),
            &[],
            &expect![
                "10 % of its clock ticks were 2 ms or more late (up to 30 ms), because it waited for a CPU; run it on \
                 a machine of its own"
            ],
        );
        cause(
            None,
            Some(0.5),
            &[("sshd", 0.05)],
            &expect![
                "10 % of its clock ticks were 2 ms or more late (up to 30 ms), although it seldom waited for a CPU; \
                 look for bursts of work, a CPU quota, or a virtual user that blocks its thread"
            ],
        );
    }

    /// The definition of the bound, on samples whose true latency and lateness are known: what is reported is their sum.
    #[test]
    fn the_reported_p95_less_the_bound_is_at_most_the_true_p96() {
        let mut random = 42_u64;
        let mut next = move |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        for stall_share in [0, 5, 9, 20, 60, 300] {
            let [mut truth, mut reported, mut lateness] = [(); 3].map(|()| Histogram::new());
            for _ in 0..20_000 {
                let late = if next(1_000) < stall_share {
                    MS(next(200))
                } else {
                    Duration::from_micros(next(80))
                };
                let latency = MS(1 + next(10)) + if next(100) < 4 { MS(100) } else { Duration::ZERO };
                truth.record(latency);
                reported.record(latency + late);
                lateness.record(late);
            }
            let evidence = Evidence {
                lateness,
                ..Evidence::nothing()
            };
            let bound = evidence.lateness_bound().unwrap();
            // Histograms round by less than a percent.
            let [reported, truth] = [reported.value_at_quantile(0.95), truth.value_at_quantile(0.96)];
            assert!(
                reported <= (truth + bound).mul_f64(1.01),
                "{stall_share}: reported {reported:?}, true {truth:?}, bound {bound:?}"
            );
        }
    }

    #[test]
    fn the_bound_of_a_figure_is_not_above_it() {
        let evidence = evidence(0.0, &[(1, 90), (30, 10)], None);
        for (reported, expected) in [(None, 30.0), (Some(MS(400)), 30.0), (Some(MS(7)), 7.0)] {
            let found = Health::calm(&evidence, reported).lateness_bound_ms.unwrap();
            assert!(
                (found - expected).abs() < 0.01 * expected,
                "{found} for {reported:?}"
            );
        }
    }

    #[test]
    fn a_quick_reply_does_not_bound_durations_from_the_schedule() {
        let evidence = evidence(0.0, &[(1, 90), (140, 10)], None);
        for (n_due, expected) in [(0, 1.0), (100, 140.0)] {
            let schedule = Schedule { n_due, n_dropped: 0 };
            let health = judge(&evidence, schedule, Some(MS(1)));
            let bound = health.lateness_bound_ms.unwrap();
            assert!((bound - expected).abs() < 0.01 * expected, "{bound}");
            assert_eq!(health.doubtful, n_due > 0);
        }
    }

    #[test]
    fn milliseconds_have_two_digits() {
        for (ms, expected) in [
            (0.004, "0.00 ms"),
            (0.123, "0.12 ms"),
            (1.25, "1.2 ms"),
            (34.6, "35 ms"),
            (1234.5, "1234 ms"),
        ] {
            assert_eq!(Ms(ms).to_string(), expected);
        }
    }
}
