//! Targets from accounts that are made up.

use std::time::Duration;

use plimsoll_load::watch::{Ended, figure::Figure};

use super::*;
use crate::by_load::Usage;

/// An account of these seconds: cores that were busy, and resident bytes at the end. It began with `base` bytes.
pub(crate) fn account(base: f64, seconds: &[(f64, f64)]) -> Account {
    let mut record = Record::default();
    let figures = |cpu: f64, rss: f64| {
        [
            (CPU_CORES.into(), Figure::Total(cpu)),
            (RSS_BYTES.into(), Figure::Level(rss)),
            (THREADS.into(), Figure::Level(3.0)),
        ]
    };
    record.add(None, 0.0, &figures(100.0, base));
    let mut cpu = 100.0;
    for (second, &(cores, rss)) in seconds.iter().enumerate() {
        cpu += cores;
        record.add(Some(second as u64), (second + 1) as f64, &figures(cpu, rss));
    }
    Account {
        name: "web".to_owned(),
        what: "port 8080".to_owned(),
        record,
        ended: None,
        cpu: Duration::from_millis(12),
        n_missed: 0,
        n_left_out: 0,
    }
}

fn load<'a>(vus: &'a [u32], iterations: &'a [u64]) -> Load<'a> {
    Load {
        interval_seconds: 1,
        n_intervals: vus.len(),
        vus,
        iterations,
    }
}

#[test]
fn a_ramp_has_its_cpu_per_user_and_per_iteration() {
    // 2,000 bytes and 1 ms of CPU per second with each user, and memory that stays when they leave.
    let vus = [100, 200, 300, 400, 500, 600, 300, 0];
    let held = [100, 200, 300, 400, 500, 600, 600, 600];
    let seconds: Vec<_> = vus
        .iter()
        .zip(held)
        .map(|(&users, held)| (f64::from(users) * 1e-3, 1e6 + 2_000.0 * f64::from(held)))
        .collect();
    let iterations: Vec<u64> = vus.iter().map(|&users| u64::from(users) * 2).collect();
    let target = Target::new(&account(1e6, &seconds), &load(&vus, &iterations));
    let lines: Vec<_> = target
        .fits
        .iter()
        .map(|fit| format!("{} by {}: {:.6}, {}", fit.of, fit.against, fit.slope, fit.n))
        .collect();
    assert_eq!(
        lines,
        [
            "cpu_cores by vus: 0.001000, 6",
            "cpu_cores by iterations_per_second: 0.000500, 7",
        ]
    );
    assert_eq!(
        target.cpu_seconds.map(|seconds| (seconds * 1e3).round()),
        Some(2_400.0)
    );
    assert_eq!(target.cores.map(|cores| (cores * 1e3).round()), Some(300.0));
    assert_eq!(
        (target.cores_max, target.rss_max_bytes),
        (Some(0.6), Some(2_200_000))
    );
    // Nothing was held.
    assert_eq!((target.rss_per_user_bytes, target.threads_max), (None, Some(3)));
    assert_eq!(target.series[CPU_CORES][..3], [Some(0.1), Some(0.2), Some(0.3)]);
    assert_eq!((target.pss_max_bytes, target.open_files_max), (None, None));
}

#[test]
fn memory_per_user_is_learned_once_from_loads_that_were_held() {
    let level = |users: f64, rss_bytes| Level {
        mean: users,
        targets: vec![Usage {
            name: "server".to_owned(),
            rss_bytes: Some(rss_bytes),
            ..Usage::default()
        }],
        ..Level::default()
    };
    let mut target = Target::new(&account(1e6, &[(0.5, 2e6); 9]), &load(&[1; 9], &[]));
    let name = target.name.clone();
    let mut held = [(100.0, 1e6), (200.0, 1.2e6), (300.0, 1.4e6)].map(|(users, bytes)| level(users, bytes));
    for level in &mut held {
        level.targets[0].name.clone_from(&name);
    }
    target.learn(&held);
    assert_eq!(
        (target.rss_per_user_bytes, target.no_rss_per_user.as_deref()),
        (Some(2_000), None)
    );
    target.learn(&[]);
    assert_eq!(target.rss_per_user_bytes, Some(2_000));
    let mut other = Target::new(&account(1e6, &[(0.5, 2e6); 9]), &load(&[1; 9], &[]));
    other.learn(&held[..2]);
    assert_eq!(other.rss_per_user, None);
    assert!(
        other
            .no_rss_per_user
            .is_some_and(|why| why.ends_with("this run has 2"))
    );
}

#[test]
fn a_steady_load_has_no_line_and_says_why() {
    let target = Target::new(&account(1e6, &[(0.5, 2e6); 20]), &load(&[100; 20], &[50; 20]));
    assert_eq!(target.fits, []);
    let said: Vec<_> = target.no_fits.iter().map(|no_fit| no_fit.of.as_str()).collect();
    assert_eq!(said, [CPU_CORES, CPU_CORES]);
}

#[test]
fn a_short_load_has_no_line_and_one_that_nobody_knows_none_to_miss() {
    let account = account(1e6, &[(0.5, 2e6)]);
    let short = Target::new(&account, &load(&[3], &[1]));
    assert!(
        short.no_fits[0].reason.starts_with("too few intervals"),
        "{:?}",
        short.no_fits
    );
    let nobody_knows = Load {
        interval_seconds: 2,
        n_intervals: 350,
        vus: &[],
        iterations: &[],
    };
    let unknown = Target::new(&account, &nobody_knows);
    assert_eq!((unknown.fits.len(), unknown.no_fits.len()), (0, 0));
    assert_eq!(unknown.series[RSS_BYTES].len(), 350);
}

#[test]
fn the_end_of_a_target_is_told_and_ends_its_series() {
    let account = Account {
        ended: Some(Ended {
            after: Duration::from_millis(2_100),
            reason: "process 7 is gone".to_owned(),
        }),
        ..account(1e6, &[(0.5, 2e6); 2])
    };
    let target = Target::new(&account, &load(&[10; 4], &[1; 4]));
    assert_eq!(target.series[RSS_BYTES], [Some(2e6), Some(2e6), None, None]);
    let ended = target.ended.unwrap();
    assert_eq!((ended.seconds, ended.reason.as_str()), (2.1, "process 7 is gone"));
}

#[test]
fn json_reads_back() {
    let target = Target::new(
        &account(1e6, &[(0.25, 2e6); 9]),
        &load(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[]),
    );
    let text = serde_json::to_string(&Target {
        fits: Vec::new(),
        ..target.clone()
    })
    .unwrap();
    assert_eq!(
        serde_json::from_str::<Target>(&text).unwrap(),
        Target {
            fits: Vec::new(),
            ..target
        }
    );
}

#[test]
fn numbers_have_as_many_digits_as_say_something() {
    for (value, expected) in [
        (0.0, 0.0),
        (12_345_678_901.0, 12_345_678_901.0),
        (1.0 / 3.0, 0.333_333_3),
        (-2e-9 / 3.0, -6.666_667e-10),
        (123_456_789.123, 123_456_800.0),
        (f64::MIN_POSITIVE, f64::MIN_POSITIVE),
    ] {
        assert_eq!(shown(value), expected);
    }
}
