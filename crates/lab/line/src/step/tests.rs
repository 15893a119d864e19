//! Steps with known samples: whether the target or the generator is to blame.

use std::sync::Arc;

use plimsoll_load::{
    generator::{OtherPrograms, Program},
    histogram::Histogram,
    metrics::{Contains, MetricSet, Registry},
};

use super::*;

/// What a step is like.
#[derive(Clone, Copy)]
struct Case {
    rtt_ms: u64,
    n_errors: u64,
    /// Time of the busiest worker in busy windows, as share.
    busy: f64,
    /// Ticks, of 100, that were `late_ms` late.
    late: u64,
    late_ms: u64,
    n_due: u64,
    n_dropped: u64,
    target_cores: f64,
    idle: f64,
    /// CPU of other programs.
    others: f64,
}

const CALM: Case = Case {
    rtt_ms: 10,
    n_errors: 0,
    busy: 0.0,
    late: 0,
    late_ms: 50,
    n_due: 0,
    n_dropped: 0,
    target_cores: 0.5,
    idle: 0.6,
    others: 0.0,
};

fn step(case: Case) -> Step {
    let mut registry = Registry::new();
    let rtt = registry.trend("rtt").unwrap();
    let errors = registry.counter("errors", Contains::Default).unwrap();
    let objectives = ["rtt p(95)<500", "errors==0"].map(|text| Objective::parse(text, &registry).unwrap());
    let mut metrics = MetricSet::new(Arc::new(registry));
    metrics.record(rtt, Duration::from_millis(case.rtt_ms));
    metrics.count(errors, case.n_errors);
    let mut lateness = Histogram::new();
    lateness.record_n(Duration::from_millis(1), 100 - case.late);
    lateness.record_n(Duration::from_millis(case.late_ms), case.late);
    let failures = [Failure {
        reason: "connection refused".to_owned(),
        count: case.n_errors,
    }];
    Step::judge(
        64,
        &objectives,
        &Measured {
            samples: Samples {
                all: &metrics,
                within: &metrics,
                elapsed: Duration::from_secs(10),
            },
            generator: &Evidence {
                elapsed: Duration::from_secs(10),
                cpu: Duration::from_secs(4),
                busy_time_share: case.busy,
                busiest_share: case.busy,
                lateness,
                machine_idle_share: Some(case.idle),
                others: OtherPrograms {
                    cores: case.others,
                    named: vec![Program {
                        name: "cc1".to_owned(),
                        cores: case.others,
                    }],
                },
                ..Evidence::nothing()
            },
            agents: &[],
            schedule: Schedule {
                n_due: case.n_due,
                n_dropped: case.n_dropped,
            },
            failures: &failures,
            targets: &[TargetUse {
                name: ":8080".to_owned(),
                cpu_cores: case.target_cores,
                rss_bytes: 10 << 20,
                cores: 2,
                memory_bytes: Some(1 << 30),
            }],
        },
    )
}

#[test]
fn the_generator_is_never_taken_for_the_target() {
    use Vote::{Broke, Generator, Held};
    let slow = Case { rtt_ms: 600, ..CALM };
    let open = Case { n_due: 100, ..CALM };
    for (case, verdict, why) in [
        (CALM, Held, ""),
        (slow, Broke, "rtt p(95) 600ms of 500ms allowed"),
        (
            Case { n_errors: 7, ..CALM },
            Broke,
            "errors 7, none allowed (7 × connection refused)",
        ),
        // Overloaded workers spoil everything.
        (Case { busy: 0.5, ..CALM }, Generator, "a worker was 90 % busy"),
        (Case { busy: 0.5, ..slow }, Generator, "a worker was 90 % busy"),
        // Late measurements: it held in spite of them.
        (Case { late: 9, ..CALM }, Held, ""),
        // They are too short to matter, or long enough.
        (Case { late: 9, ..slow }, Broke, "rtt"),
        (
            Case {
                late: 9,
                late_ms: 80,
                ..slow
            },
            Generator,
            "of its clock ticks",
        ),
        // They cause no errors.
        (
            Case {
                late: 9,
                late_ms: 80,
                n_errors: 1,
                ..slow
            },
            Broke,
            "rtt",
        ),
        // Errors of an open model may be those of bunches, which the plan does not have.
        (
            Case {
                late: 9,
                n_errors: 1,
                ..open
            },
            Generator,
            "9 % of its starts were 10 ms or more late (p99 50 ms), so they came in bunches",
        ),
        (
            Case {
                late: 9,
                late_ms: 9,
                n_errors: 1,
                ..open
            },
            Broke,
            "errors 1",
        ),
        (Case { late: 9, ..open }, Held, ""),
        // Users that were not free waited for the target, or were too few.
        (
            Case {
                n_dropped: 5,
                rtt_ms: 600,
                ..open
            },
            Broke,
            "rtt",
        ),
        (Case { n_dropped: 5, ..open }, Generator, "dropped 5 %"),
    ] {
        let step = step(case);
        let reasons = step.reasons.join("; ");
        assert_eq!(step.verdict, verdict, "{reasons}");
        assert!(reasons.contains(why), "{reasons}");
        assert_eq!(step.broke.is_empty(), verdict != Broke);
    }
}

#[test]
fn a_step_tells_what_was_measured() {
    let step = step(Case { n_errors: 7, ..CALM });
    assert_eq!(
        (step.load, step.seconds, step.generator_cpu_cores),
        (64, 10.0, 0.4)
    );
    assert_eq!(step.broke, [Concern::Errors]);
    let judged: Vec<_> = step
        .objectives
        .iter()
        .map(|judged| (judged.objective.as_str(), judged.shown.as_str(), judged.held))
        .collect();
    assert_eq!(
        judged,
        [("rtt p(95)<500", "10ms", true), ("errors==0", "7", false)]
    );
    assert_eq!((step.failures[0].count, step.targets[0].cores), (7, 2));
    let json = serde_json::to_value(&step).unwrap();
    assert_eq!(
        (&json["verdict"], &json["broke"][0]),
        (&"broke".into(), &"errors".into())
    );
}

#[test]
fn a_step_may_fail_as_a_whole() {
    for (step, verdict, broke, name) in [
        (
            Step::impossible(7, "why".to_owned()),
            Vote::Generator,
            vec![],
            "generator",
        ),
        (
            Step::failed(7, "why".to_owned()),
            Vote::Broke,
            vec![Concern::Errors],
            "broke",
        ),
    ] {
        assert_eq!(
            (step.load, step.verdict, &step.reasons[..]),
            (7, verdict, &["why".to_owned()][..])
        );
        assert_eq!(step.broke, broke);
        assert_eq!(serde_json::to_value(&step).unwrap()["verdict"], name);
    }
}

/// A target's resource use, and its machine's resources.
#[test]
fn a_resource_is_exhausted_from_a_share_on() {
    let registry = Registry::new();
    let metrics = MetricSet::new(Arc::new(registry));
    let cause_of = |cpu_cores: f64, rss_bytes, memory_bytes, idle| {
        let generator = Evidence {
            machine_idle_share: idle,
            ..Evidence::nothing()
        };
        let targets = [TargetUse {
            name: "app".to_owned(),
            cpu_cores,
            rss_bytes,
            cores: 2,
            memory_bytes,
        }];
        let samples = Samples {
            all: &metrics,
            within: &metrics,
            elapsed: Duration::ZERO,
        };
        let measured = Measured {
            samples,
            generator: &generator,
            schedule: Schedule::default(),
            agents: &[],
            failures: &[],
            targets: &targets,
        };
        cause(&measured, None).map(|cause| cause.to_string())
    };
    let memory = "memory of app 900 B of the machine's 1.0 kB";
    let thread =
        |cores: &str| format!("CPU of app {cores} cores, all that a single thread can have; 2 are there");
    for (cpu_cores, rss_bytes, memory_bytes, idle, expected) in [
        (1.9, 0, None, None, Some("CPU of app 95 % of 2 cores".to_owned())),
        (1.89, 0, None, None, None),
        (0.95, 0, None, None, Some(thread("0.95"))),
        (0.94, 0, None, None, None),
        (1.1, 0, None, None, Some(thread("1.10"))),
        (1.11, 0, None, None, None),
        (0.1, 900, Some(1_000), None, Some(memory.to_owned())),
        (0.1, 899, Some(1_000), None, None),
        (0.1, 900, None, None, None),
        // Memory comes before the CPU of one thread, and both before no cause.
        (1.0, 900, Some(1_000), None, Some(memory.to_owned())),
        // A machine without idle CPU is no cause. It leaves open whether the target wanted more than one core.
        (0.1, 0, None, Some(0.0), None),
        (1.0, 0, None, Some(0.04), None),
        (1.0, 0, None, Some(0.05), Some(thread("1.00"))),
    ] {
        let found = cause_of(cpu_cores, rss_bytes, memory_bytes, idle);
        assert_eq!(found, expected, "{cpu_cores} cores, {rss_bytes} bytes, {idle:?}");
    }
}

#[test]
fn the_cause_is_the_target_unless_the_generator_was_late() {
    let slow = Case { rtt_ms: 600, ..CALM };
    let remains = Some(
        "the target or the network, because the generator read 99 % of the replies less than 1.0 ms late",
    );
    for (case, expected) in [
        (slow, remains),
        (
            Case {
                target_cores: 1.94,
                ..slow
            },
            Some("CPU of :8080 97 % of 2 cores"),
        ),
        (
            Case {
                target_cores: 1.02,
                ..slow
            },
            Some("CPU of :8080 1.02 cores, all that a single thread can have; 2 are there"),
        ),
        // The machine is never the cause, whatever other programs took.
        (
            Case {
                idle: 0.0,
                others: 1.4,
                ..slow
            },
            remains,
        ),
        // The target may have wanted more CPU.
        (
            Case {
                idle: 0.01,
                target_cores: 1.02,
                ..slow
            },
            remains,
        ),
        // Not late enough to explain 600 ms; with errors, any lateness leaves the cause open.
        (
            Case { late: 9, ..slow },
            Some(
                "the target or the network, because the generator read 99 % of the replies less than 50 ms late",
            ),
        ),
        (
            Case {
                late: 9,
                n_errors: 1,
                ..CALM
            },
            None,
        ),
        (
            Case {
                target_cores: 1.94,
                ..CALM
            },
            None,
        ),
    ] {
        let cause = step(case).likely_cause.map(|cause| cause.to_string());
        assert_eq!(cause.as_deref(), expected);
    }
}

#[test]
fn other_programs_are_named_whatever_the_verdict() {
    let note = "other programs on this machine took 1.40 cores (cc1 1.40)";
    let busy = Case { others: 1.4, ..CALM };
    for (case, expected) in [
        (CALM, None),
        (busy, Some(note)),
        (Case { rtt_ms: 600, ..busy }, Some(note)),
    ] {
        assert_eq!(step(case).other_programs.as_deref(), expected);
    }
}

#[test]
fn a_step_in_which_every_request_failed_has_not_held() {
    let check = |objective: &str, n_requests: u64, n_failed: u64, expected: (Vote, &[&str])| {
        let mut registry = Registry::new();
        let failed = registry.rate("http_req_failed").unwrap();
        registry.counter("errors", Contains::Default).unwrap();
        let objectives = [Objective::parse(objective, &registry).unwrap()];
        let mut metrics = MetricSet::new(Arc::new(registry));
        (0..n_requests).for_each(|n| metrics.rate(failed, n < n_failed));
        let samples = Samples {
            all: &metrics,
            within: &metrics,
            elapsed: Duration::from_secs(10),
        };
        let measured = Measured {
            samples,
            generator: &Evidence::nothing(),
            schedule: Schedule::default(),
            agents: &[],
            failures: &[],
            targets: &[],
        };
        let step = Step::judge(64, &objectives, &measured);
        let reasons: Vec<_> = step.reasons.iter().map(String::as_str).collect();
        assert_eq!(
            (step.verdict, &reasons[..]),
            expected,
            "{objective} {n_failed} of {n_requests}"
        );
    };
    check("errors==0", 9, 9, (Vote::Broke, &["all 9 requests failed"]));
    check("errors==0", 9, 8, (Vote::Held, &[]));
    check("errors==0", 0, 0, (Vote::Held, &[]));
    check("http_req_failed rate<=1", 9, 9, (Vote::Held, &[]));
}

#[test]
fn a_busy_generator_is_no_reason_for_failures_alone() {
    let check = |objective: &str, n_failed: u64, late_ms: u64, expected: (Vote, &str)| {
        let mut registry = Registry::new();
        let failed = registry.rate("http_req_failed").unwrap();
        registry.counter("errors", Contains::Default).unwrap();
        let objectives = [Objective::parse(objective, &registry).unwrap()];
        let mut metrics = MetricSet::new(Arc::new(registry));
        (0..9).for_each(|n| metrics.rate(failed, n < n_failed));
        let mut lateness = Histogram::new();
        lateness.record_n(Duration::from_millis(1), 98);
        lateness.record_n(Duration::from_millis(late_ms), 2);
        let measured = Measured {
            samples: Samples {
                all: &metrics,
                within: &metrics,
                elapsed: Duration::from_secs(10),
            },
            generator: &Evidence {
                elapsed: Duration::from_secs(10),
                busy_time_share: 1.0,
                busiest_share: 1.0,
                lateness,
                ..Evidence::nothing()
            },
            schedule: Schedule::default(),
            agents: &[],
            failures: &[],
            targets: &[],
        };
        let step = Step::judge(1, &objectives, &measured);
        let (verdict, begin) = expected;
        assert_eq!(step.verdict, verdict, "{objective} {n_failed} {late_ms}");
        assert!(step.reasons[0].starts_with(begin), "{:?}", step.reasons);
    };
    let busy = (Vote::Generator, "a worker was 90 % busy");
    check("errors==0", 9, 1, (Vote::Broke, "all 9 requests failed"));
    check(
        "http_req_failed rate<0.01",
        9,
        1,
        (Vote::Broke, "http_req_failed 100.00% of 1.00% allowed"),
    );
    // One of them did not fail.
    check("http_req_failed rate<0.01", 8, 1, busy);
    // The generator may have let them time out.
    check("errors==0", 9, 150, busy);
    // The objective allows it.
    check("http_req_failed rate<=1", 9, 1, busy);
}

#[test]
fn a_busy_agent_spoils_a_step_and_is_named() {
    let registry = Registry::new();
    let metrics = MetricSet::new(Arc::new(registry));
    let agent = |name: &str, busy: f64| AgentMeasure {
        name: name.to_owned(),
        evidence: Evidence {
            elapsed: Duration::from_secs(10),
            busy_time_share: busy,
            busiest_share: busy,
            ..Evidence::nothing()
        },
        schedule: Schedule::default(),
    };
    let check = |busy: [f64; 2], expected: Option<&str>| {
        let agents = [agent("a1", busy[0]), agent("a2", busy[1])];
        let measured = Measured {
            samples: Samples {
                all: &metrics,
                within: &metrics,
                elapsed: Duration::from_secs(10),
            },
            generator: &Evidence::nothing(),
            schedule: Schedule::default(),
            agents: &agents,
            failures: &[],
            targets: &[],
        };
        let step = Step::judge(64, &[], &measured);
        match expected {
            None => assert_eq!(step.verdict, Vote::Held),
            Some(begin) => {
                assert_eq!(step.verdict, Vote::Generator);
                assert!(step.reasons[0].starts_with(begin), "{:?}", step.reasons);
            }
        }
    };
    check([0.0, 0.0], None);
    check([0.0, 0.9], Some("agent a2: a worker was"));
    check([0.9, 0.0], Some("agent a1: a worker was"));
}
