//! Outcomes with round figures, for tests of the reports.

use std::time::{Duration, UNIX_EPOCH};

use plimsoll_clients::{http::TlsFacts, tls::TlsVersion};
use plimsoll_load::generator::Doubt;

use super::*;
use crate::http::{failures::Kind, phase::Phase};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn phase(ms: &[u64]) -> Phase {
    let mut phase = Phase::default();
    ms.iter().for_each(|ms| phase.record(MS(*ms)));
    phase
}

/// Ten requests, of which two have bodies of another length and one a bad status, over TLS.
pub(crate) fn outcome() -> HttpOutcome {
    let mut tally = Tally {
        n_started: 10,
        n_complete: 10,
        n_non_2xx: 1,
        n_kept_alive: 10,
        n_body_bytes: 53,
        n_bytes_sent: 800,
        n_bytes_received: 2048,
        connect: phase(&[3, 4, 0, 0, 0, 0, 0, 0, 0, 0]),
        processing: phase(&[10, 11, 12, 13, 14, 15, 16, 17, 18, 90]),
        waiting: phase(&[9, 10, 11, 12, 13, 14, 15, 16, 17, 80]),
        total: phase(&[13, 15, 12, 13, 14, 15, 16, 17, 18, 90]),
        ..Tally::default()
    };
    let cause = "another length than the first response";
    (0..2).for_each(|_| tally.failures.count(Kind::Length, cause.into()));
    HttpOutcome {
        plan: Plan::default(),
        chronicle: Chronicle::example(),
        targets: Vec::new(),
        setting: Setting {
            url: "https://localhost:3000/a?b".parse().unwrap(),
            method: "GET".to_owned(),
            version: Version::Http11,
            keeps_alive: true,
            compares_lengths: true,
            has_body: false,
            concurrency: 2,
            n_streams: 1,
            n_workers: 2,
            rate: None,
            warm_up: Duration::ZERO,
            goes_on: false,
            proxy: None,
            judges_failures: false,
        },
        began: UNIX_EPOCH + Duration::from_secs(1_795_323_935),
        elapsed: MS(2000),
        document: Some(Document {
            n_bytes: 5,
            server_software: "nginx".to_owned(),
            tls: Some(TlsFacts {
                version: TlsVersion::Tls13,
                cipher_suite: "TLS_AES_256_GCM_SHA384".to_owned(),
            }),
        }),
        tally,
        period: Period::example(MS(2000), MS(20), None),
        health: Health::default(),
        n_unsent: 0,
        n_abandoned: 0,
        is_interrupted: false,
        trouble: None,
        findings: Vec::new(),
        shares: Vec::new(),
        missing: None,
    }
}

/// An outcome in the open model, with a body, a rate that was not reached, and a failed threshold.
pub(crate) fn open_model() -> HttpOutcome {
    let mut outcome = outcome();
    outcome.setting.rate = Some("500".parse().unwrap());
    outcome.setting.has_body = true;
    outcome.tally.queueing = phase(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 60]);
    outcome.n_unsent = 990;
    outcome.health = Health {
        doubtful: true,
        doubt: Some(Doubt::Busy),
        reasons: vec!["a worker was busy".to_owned()],
        ..Health::default()
    };
    outcome.findings = vec![Finding {
        threshold: "latency:p(99)<50".to_owned(),
        aggregation: "p(99)".to_owned(),
        metric: "latency",
        value: 83.52,
        passed: false,
    }];
    outcome
}
