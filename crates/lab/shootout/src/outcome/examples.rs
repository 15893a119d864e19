//! Example outcomes for tests of the output.

use std::time::UNIX_EPOCH;

use plimsoll_clients::cause::{Cause, Phase};
use plimsoll_load::{generator::Doubt, histogram::Histogram};

use super::*;
use crate::meter::Watched;

const MS: Duration = Duration::from_millis(1);

/// `n` samples: 1 × `unit`, 2 × `unit`, …
fn distribution(n: u32, unit: Duration) -> Distribution {
    let mut histogram = Histogram::new();
    (1..=n).for_each(|i| histogram.record(unit * i));
    Distribution::from(&histogram)
}

fn connecting(n_connected: u32) -> Connecting {
    let watched = Watched {
        cpu: 130 * MS,
        rss_bytes: 34_500_000,
        n_threads: Some(4),
        n_open_files: Some(1012),
    };
    Connecting {
        period: Period::example(400 * MS, 210 * MS, Some(watched)),
        n_connected: n_connected.into(),
        failures: Causes::default(),
        total: distribution(n_connected, MS / 10),
        tcp_connect: distribution(n_connected, MS / 20),
        upgrade: distribution(n_connected, MS / 40),
        welcome: distribution(n_connected, MS / 1000),
        subscribe: distribution(n_connected, MS / 40),
    }
}

/// A step of `broadcast` in which everything went well.
pub(crate) fn broadcast_step() -> Step {
    let watched = Watched {
        cpu: 310 * MS,
        rss_bytes: 35_000_000,
        n_threads: Some(4),
        n_open_files: None,
    };
    Step {
        time: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        n_clients: 1000,
        limit_percentile: 95,
        rtt: Some(Rtt {
            percentile: 76 * MS,
            min: MS / 3,
            median: 30 * MS,
            max: 1381 * MS + MS / 2,
        }),
        delivery: Some(Rtt {
            percentile: 95 * MS,
            min: MS,
            median: 48 * MS,
            max: 101 * MS,
        }),
        connect: connecting(1000),
        sampling: Some(Sampling {
            period: Period::example(500 * MS, 260 * MS, Some(watched)),
            n_sent: 100,
            n_unanswered: 0,
            answer: distribution(100, MS / 2),
            lateness: None,
            deliveries: Some(Deliveries {
                counts: DeliveryCounts {
                    n_expected: 100_000,
                    n_delivered: 100_000,
                    ..DeliveryCounts::default()
                },
                listener: distribution(1000, MS / 15),
                last_delivery: distribution(100, MS),
                waited: None,
                in_flight: InFlight { max: 4, mean: 3.875 },
                by_node: Vec::new(),
                uncertainty: None,
            }),
        }),
        drops: Causes::default(),
        health: Health::default(),
    }
}

/// A step of `broadcast` in which everything went wrong.
pub(crate) fn faulty_step() -> Step {
    let mut step = broadcast_step();
    let sampling = step.sampling.as_mut().expect("it is a broadcast");
    sampling.n_unanswered = 2;
    if let Some(deliveries) = &mut sampling.deliveries {
        deliveries.counts.n_delivered -= 7;
        deliveries.counts.n_late = 1;
        deliveries.counts.n_duplicated = 3;
        deliveries.counts.n_out_of_order = 4;
        deliveries.waited = Some(64 * MS);
        for times in [&mut deliveries.listener, &mut deliveries.last_delivery] {
            *times = times.bounded_from(deliveries.waited);
        }
    }
    let count = |causes: &mut Causes, cause: Cause, n| {
        causes.add_as(&cause.to_string(), &cause.to_string(), n, Duration::ZERO);
    };
    count(&mut step.connect.failures, Cause::Refused, 3);
    count(&mut step.connect.failures, Cause::TimedOut(Phase::Upgrade), 1);
    count(&mut step.drops, Cause::of_disconnect("too_slow"), 1);
    step.health = Health {
        doubtful: true,
        doubt: Some(Doubt::Busy),
        reasons: vec!["its workers were too busy".to_owned()],
        ..Health::default()
    };
    step
}

/// A step of `echo`.
pub(crate) fn echo_step() -> Step {
    let mut step = broadcast_step();
    let sampling = step.sampling.as_mut().expect("it is a broadcast");
    sampling.deliveries = None;
    step.delivery = None;
    step
}

/// A step of `connect`.
pub(crate) fn connect_step() -> Step {
    Step {
        sampling: None,
        delivery: None,
        ..broadcast_step()
    }
}

/// A run of these steps.
pub(crate) fn outcome(workload: Workload, steps: Vec<Step>) -> Outcome {
    Outcome {
        workload,
        setting: Setting {
            target: "ws://127.0.0.1:8080/cable".to_owned(),
            nodes: Vec::new(),
            server_type: ServerType::ActionCable,
            n_workers: 2,
            seed: 7,
            model: (workload != Workload::Connect).then_some(Model::Closed {
                n_samples: 100,
                width: 4,
            }),
        },
        steps,
        plan: Plan::default(),
        chronicle: Chronicle::example(),
        generator: Evidence::nothing(),
        targets: Vec::new(),
        thresholds: Vec::new(),
        messages: Vec::new(),
        elapsed: 12_345 * MS,
        is_interrupted: false,
        n_foreign: 0,
        n_stray_answers: 0,
        n_altered: 0,
        shares: Vec::new(),
        missing: None,
    }
}
