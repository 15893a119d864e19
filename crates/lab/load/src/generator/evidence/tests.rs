//! Evidence of two machines.

use super::*;
use crate::generator::{Glance, Program, Schedule};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn evidence(elapsed_ms: u64, share: f64, late_ms: &[u64], program: &str) -> Evidence {
    let mut lateness = Histogram::new();
    late_ms.iter().for_each(|&ms| lateness.record(MS(ms)));
    Evidence {
        elapsed: MS(elapsed_ms),
        cpu: MS(500),
        busy_time_share: share,
        busiest_share: share,
        lateness,
        waiting_share: Some(share),
        machine_idle_share: Some(share),
        pressure: PressureShares {
            machine: Some(share),
            group: None,
        },
        others: OtherPrograms {
            cores: share,
            named: vec![Program {
                name: program.to_owned(),
                cores: share,
            }],
        },
    }
}

#[test]
fn the_worse_machine_counts() {
    let (one, other) = (
        evidence(1_000, 0.25, &[1, 9], "cron"),
        evidence(2_000, 0.5, &[4], "cc"),
    );
    for (mut both, second) in [(one.clone(), &other), (other.clone(), &one)] {
        both.beside(second);
        assert_eq!((both.elapsed, both.cpu), (MS(2_000), MS(1_000)));
        assert_eq!((both.busy_time_share, both.busiest_share), (0.5, 0.5));
        assert_eq!(
            (both.waiting_share, both.machine_idle_share),
            (Some(0.5), Some(0.25))
        );
        assert_eq!((both.pressure.machine, both.pressure.group), (Some(0.5), None));
        assert_eq!(both.others, other.others);
        assert_eq!(both.lateness.exact(), Some(vec![1_000, 4_000, 9_000]));
    }
    let mut unknown = Evidence::nothing();
    unknown.beside(&one);
    assert_eq!(
        (unknown.waiting_share, unknown.machine_idle_share),
        (Some(0.25), Some(0.25))
    );
}

#[test]
fn evidence_is_sent_whole() {
    let sent = evidence(1_500, 0.75, &[3, 70], "größer");
    let json = serde_json::to_string(&sent).unwrap();
    let received: Evidence = serde_json::from_str(&json).unwrap();
    assert_eq!(format!("{:?}", received.others), format!("{:?}", sent.others));
    assert_eq!(serde_json::to_string(&received).unwrap(), json);
    // A histogram of numbers could not be merged with those of durations.
    let numbers = json.replace(r#""lateness":{"#, r#""lateness":{"numbers":true,"#);
    assert!(serde_json::from_str::<Evidence>(&numbers).is_err());
}

#[test]
fn other_programs_from_outside_are_few() {
    let mut json = serde_json::to_value(evidence(1, 0.5, &[], "cc")).unwrap();
    json["others"]["named"] = vec![json["others"]["named"][0].clone(); 9].into();
    let received: Evidence = serde_json::from_value(json).unwrap();
    assert_eq!(received.others.named.len(), 3);
}

#[test]
fn glances_beside_each_other_add_up() {
    let glance = |elapsed_ms, late_ms: Option<u64>, rss_bytes| Glance {
        elapsed: MS(elapsed_ms),
        cpu: MS(800),
        lateness_max: late_ms.map(MS),
        rss_bytes,
    };
    let both = glance(1_000, Some(3), Some(10)).beside(glance(900, None, Some(20)));
    assert_eq!(
        both,
        Glance {
            cpu: MS(1_600),
            ..glance(1_000, Some(3), Some(30))
        }
    );
    assert_eq!(
        glance(1, None, None).beside(glance(1, Some(2), None)),
        Glance {
            cpu: MS(1_600),
            ..glance(1, Some(2), None)
        }
    );
    let json = serde_json::to_string(&both).unwrap();
    assert_eq!(serde_json::from_str::<Glance>(&json).unwrap(), both);
}

#[test]
fn schedules_add_up() {
    let schedule = |n_due, n_dropped| Schedule { n_due, n_dropped };
    assert_eq!(schedule(5, 1).and(schedule(7, 2)), schedule(12, 3));
    let json = serde_json::to_string(&schedule(5, 1)).unwrap();
    assert_eq!(json, r#"{"n_due":5,"n_dropped":1}"#);
}
