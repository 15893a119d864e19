//! Comparisons of whole summaries: what is compared, what stands in the way, and how it reads.

use expect_test::expect;
use fastrand::Rng;

use super::*;
use crate::{
    Distribution, Highlights, Style,
    summary::{
        Contains, End, Losses, Metric, Target, Values,
        tests::{run, summary},
    },
    timeline::Series,
};

/// Seconds of a run.
const SECONDS: usize = 20;

/// Requests of a second.
const REQUESTS: u64 = 200;

/// A run whose latencies are `slowdown` times those of another one. Seconds differ by some 3 %.
pub(crate) fn made_up(slowdown: f64, seed: u64) -> Summary {
    let mut summary = summary(&run());
    let mut rng = Rng::with_seed(seed);
    let typical: Vec<f64> = (0..SECONDS)
        .map(|_| 2_000.0 * slowdown * (1.0 + 0.06 * (rng.f64() - 0.5)))
        .collect();
    summary.metadata.id = format!("run-{seed}");
    summary.metadata.duration_seconds = SECONDS as f64;
    summary.iterations.complete = REQUESTS * SECONDS as u64;
    summary.iterations.failed = 0;
    let timeline = &mut summary.timeline;
    timeline.interval_seconds = 1;
    timeline.n_intervals = SECONDS;
    timeline.iterations = vec![REQUESTS; SECONDS];
    timeline.failed = vec![0; SECONDS];
    timeline.heat_bins_per_octave = 8;
    let bin = |us: f64| (us.log2() * 8.0) as u64;
    let whole = |us: f64| Some(us as u64);
    timeline.metrics.clear();
    timeline.metrics.insert(
        "http_req_duration".to_owned(),
        Series::Trend {
            counts: vec![REQUESTS; SECONDS],
            means: typical.iter().map(|us| Some(*us)).collect(),
            p50: typical.iter().map(|us| whole(*us)).collect(),
            p90: vec![None; SECONDS],
            p95: vec![None; SECONDS],
            p99: vec![None; SECONDS],
            max: vec![None; SECONDS],
            // A tenth takes twice as long.
            heat: typical
                .iter()
                .map(|us| vec![bin(*us), REQUESTS * 9 / 10, bin(*us * 2.0), REQUESTS / 10])
                .collect(),
        },
    );
    let mean = typical.iter().sum::<f64>() / SECONDS as f64;
    let distribution = Distribution {
        count: REQUESTS * SECONDS as u64,
        mean,
        p50: mean as u64,
        p95: (mean * 2.0) as u64,
        p99: (mean * 2.1) as u64,
        ..Distribution::default()
    };
    summary.metrics.clear();
    for (name, distribution) in [
        ("http_req_duration", distribution),
        ("http_req_waiting", distribution),
        ("iteration_duration", distribution),
    ] {
        let metric = Metric {
            contains: Contains::Time,
            values: Values::Trend(distribution),
            figures: Vec::new(),
            histogram: None,
        };
        summary.metrics.insert(name.to_owned(), metric);
    }
    summary
}

fn compare(baseline: &Summary, candidate: &Summary) -> Comparison {
    Comparison::new(&[baseline], &[candidate], TOLERANCE).unwrap()
}

/// The verdict, and what stands in the way.
#[track_caller]
fn check(change: impl FnOnce(&mut Summary), verdict: Verdict, obstacle: &str) {
    let (baseline, mut candidate) = (made_up(1.0, 1), made_up(1.3, 2));
    change(&mut candidate);
    let comparison = compare(&baseline, &candidate);
    assert_eq!(comparison.verdict, verdict, "{comparison:?}");
    match obstacle {
        "" => assert_eq!(comparison.obstacles, [""; 0]),
        _ => assert!(
            comparison.obstacles.join("\n").contains(obstacle),
            "{:?}",
            comparison.obstacles
        ),
    }
}

#[test]
fn nothing_but_the_target_may_differ() {
    use Verdict::{CannotTell, Regressed};
    check(|_| {}, Regressed, "");
    check(
        |run| run.plan.scenarios[0].description = "3 looping VUs for 10s".to_owned(),
        CannotTell,
        "run-2 had another plan than run-1: default: 3 looping VUs for 10s, not default: 2 looping VUs for 10s",
    );
    check(
        |run| run.environment.cores = 64,
        CannotTell,
        "another machine than run-1: 64 cores, not 2",
    );
    check(|run| run.environment.memory_bytes += 1 << 20, Regressed, "");
    check(|run| run.end = End::Shutdown, CannotTell, "run-2 was interrupted");
    check(
        |run| run.generator.saturated = true,
        CannotTell,
        "the generator was the bottleneck",
    );
}

/// A page, a list and a comparison of the same run are about the same metric.
#[test]
fn the_first_figure_is_the_one_of_the_page() {
    let with_rtt = |mut run: Summary| {
        let mut rtt = run.metrics["http_req_duration"].clone();
        if let Values::Trend(distribution) = &mut rtt.values {
            distribution.count /= 2;
        }
        let series = run.timeline.metrics["http_req_duration"].clone();
        run.metrics.insert("rtt".to_owned(), rtt);
        run.timeline.metrics.insert("rtt".to_owned(), series);
        run
    };
    for (run, expected) in [
        (made_up(1.0, 1), ["http_req_duration"].as_slice()),
        (with_rtt(made_up(1.0, 1)), &["rtt", "http_req_duration"]),
    ] {
        let differences = compare(&run, &run).differences;
        let mut metrics: Vec<_> = differences
            .iter()
            .filter(|difference| difference.figure.figure == "mean")
            .map(|difference| difference.figure.metric.as_str())
            .collect();
        metrics.dedup();
        assert_eq!(metrics, expected);
        assert_eq!(Highlights::of(&run).latency.as_deref(), Some(expected[0]));
    }
}

/// Of a machine that others use, less is told.
#[test]
fn neighbours_are_named() {
    let busy = |mut run: Summary, of_target: f64| {
        run.generator.machine_idle_share = Some(0.1);
        run.generator.cores = 0.4;
        run.targets = vec![target(of_target)];
        run
    };
    let notices = |of_target| {
        let (baseline, candidate) = (busy(made_up(1.0, 1), of_target), busy(made_up(1.3, 2), of_target));
        let found = compare(&baseline, &candidate);
        (found.verdict, found.notices)
    };
    let (verdict, named) = notices(0.5);
    assert_eq!(verdict, Verdict::NoSignificantDifference);
    assert_eq!(
        named[0],
        "in run-1 other programs used 0.9 of 2 cores, so only larger differences are told: let nothing else run"
    );
    assert_eq!(notices(1.3), (Verdict::Regressed, Vec::new()));
}

fn target(cores: f64) -> Target {
    Target {
        name: "server".to_owned(),
        what: "process 1".to_owned(),
        cpu_seconds: Some(cores * SECONDS as f64),
        cores: Some(cores),
        rss_max_bytes: Some(40_000_000),
        series: [("cpu_cores".to_owned(), vec![Some(cores); SECONDS])].into(),
        ..Target::default()
    }
}

/// What a server grows by per user depends on who came before.
#[test]
fn a_server_that_had_users_before_is_no_better() {
    let (mut baseline, mut candidate) = (made_up(1.0, 1), made_up(1.0, 2));
    let grown_by = |bytes| Target {
        rss_per_user_bytes: Some(bytes),
        ..target(0.5)
    };
    baseline.targets = vec![grown_by(240_000)];
    candidate.targets = vec![grown_by(5_000)];
    let verdict = compare(&baseline, &candidate).verdict;
    assert_eq!(verdict, Verdict::NoSignificantDifference);
}

/// Losses are judged whatever else is in the way.
#[test]
fn one_lost_message_is_a_regression() {
    let (mut baseline, mut candidate) = (made_up(1.0, 1), made_up(1.0, 2));
    let losses = |lost| Losses {
        expected: 1_000_000,
        received: 1_000_000 - lost,
        lost,
        ..Losses::default()
    };
    (baseline.losses, candidate.losses) = (Some(losses(0)), Some(losses(0)));
    assert_eq!(
        compare(&baseline, &candidate).verdict,
        Verdict::NoSignificantDifference
    );
    candidate.losses = Some(losses(1));
    candidate.generator.saturated = true;
    let comparison = compare(&baseline, &candidate);
    assert_eq!(comparison.verdict, Verdict::Regressed);
    assert_eq!(comparison.headline(), "regressed: messages lost +1.0");
}

#[test]
fn a_comparison_can_be_read() {
    let (mut baseline, mut candidate) = (made_up(1.0, 1), made_up(1.3, 2));
    baseline.targets = vec![target(0.5)];
    candidate.targets = vec![target(0.5)];
    candidate.metadata.plimsoll = "0.2.0".to_owned();
    let comparison = compare(&baseline, &candidate);
    expect![[r#"
        $

          baseline   chat.js (run-1)
          candidate  chat.js (run-2)

          regressed: http_req_duration mean +30 %, p50 +30 %, p95 +30 %
          - different versions of Plimsoll: 0.1.0 and 0.2.0

          figure                    baseline  candidate  change        true change  verdict
          http_req_duration mean         2ms     2.59ms   +30 %     +6.4 % … +59 %  regressed
          http_req_duration p50          2ms     2.59ms   +30 %      +12 % … +51 %  regressed
          http_req_duration p95       3.99ms     5.19ms   +30 %     +1.4 % … +66 %  regressed
          http_req_duration p99       4.19ms     5.45ms   +30 %     −27 % … +132 %  no significant difference
          iterations rate              200/s      200/s     0 %      −14 % … +16 %  no significant difference
          iterations failed           0.00 %     0.00 %    0 pt  −0.1 pt … +0.1 pt  no significant difference
          server CPU per iteration     2.5ms      2.5ms     0 %      −32 % … +48 %  no significant difference
          server memory                40 MB      40 MB     0 %      −39 % … +63 %  no significant difference

          The true changes lie in these intervals, all together with 95 % confidence; changes of less than 5
          % do not count.
    "#]]
    .assert_eq(&format!("$\n{}", comparison.text(Style::PLAIN)));
    expect![[r#"
        **regressed: http\_req\_duration mean +30 %, p50 +30 %, p95 +30 %**

        - different versions of Plimsoll: 0.1.0 and 0.2.0

        | figure | baseline | candidate | change | true change | verdict |
        |:--|--:|--:|--:|:-:|:--|
        | http\_req\_duration mean | 2ms | 2.59ms | +30 % | +6.4 % … +59 % | 🔴 regressed |
        | http\_req\_duration p50 | 2ms | 2.59ms | +30 % | +12 % … +51 % | 🔴 regressed |
        | http\_req\_duration p95 | 3.99ms | 5.19ms | +30 % | +1.4 % … +66 % | 🔴 regressed |
        | http\_req\_duration p99 | 4.19ms | 5.45ms | +30 % | −27 % … +132 % | no significant difference |
        | iterations rate | 200/s | 200/s | 0 % | −14 % … +16 % | no significant difference |
        | iterations failed | 0.00 % | 0.00 % | 0 pt | −0.1 pt … +0.1 pt | no significant difference |
        | server CPU per iteration | 2.5ms | 2.5ms | 0 % | −32 % … +48 % | no significant difference |
        | server memory | 40 MB | 40 MB | 0 % | −39 % … +63 % | no significant difference |

        Baseline: chat.js (run-1). Candidate: chat.js (run-2). The true changes lie in these intervals, all together with 95 % confidence; changes of less than 5 % do not count.
    "#]].assert_eq(&comparison.markdown());
}

#[test]
fn machines_read_it_too() {
    let json = serde_json::to_value(compare(&made_up(1.0, 1), &made_up(1.0, 2))).unwrap();
    let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
    expect!["baseline candidate confidence differences notices obstacles tolerance verdict"]
        .assert_eq(&keys.join(" "));
    expect![[r#"
        {
          "baseline": 1995.0000000000007,
          "better": "lower",
          "candidate": 1994.0,
          "change": -0.000501253132832485,
          "figure": "p50",
          "interval": [
            -0.13715416130411248,
            0.15779401161502016
          ],
          "metric": "http_req_duration",
          "reason": null,
          "unit": "microseconds",
          "verdict": "no_significant_difference"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&json["differences"][1]).unwrap());
}

#[test]
fn several_runs_show_how_much_they_differ() {
    let side = |slowdown, seeds: [u64; 4]| seeds.map(|seed| made_up(slowdown, seed));
    let (baseline, candidate) = (side(1.0, [1, 2, 3, 4]), side(1.1, [5, 6, 7, 8]));
    // A tenth is too little for one run each.
    assert_eq!(
        compare(&baseline[0], &candidate[0]).verdict,
        Verdict::NoSignificantDifference
    );
    let (baseline, candidate) = (baseline.each_ref(), candidate.each_ref());
    let comparison = Comparison::new(&baseline, &candidate, TOLERANCE).unwrap();
    assert_eq!(comparison.verdict, Verdict::Regressed);
    assert_eq!(comparison.baseline.ids.len(), 4);
}

/// A longer run has longer intervals; only its plan makes it another one.
#[test]
fn intervals_of_different_lengths_are_joined() {
    let (baseline, mut candidate) = (made_up(1.0, 1), made_up(1.3, 2));
    let timeline = &mut candidate.timeline;
    timeline.interval_seconds = 2;
    timeline.n_intervals /= 2;
    timeline.iterations = vec![2 * REQUESTS; SECONDS / 2];
    timeline.failed.truncate(SECONDS / 2);
    for series in timeline.metrics.values_mut() {
        if let Series::Trend {
            counts, means, heat, ..
        } = series
        {
            *counts = vec![2 * REQUESTS; SECONDS / 2];
            means.truncate(SECONDS / 2);
            heat.truncate(SECONDS / 2);
        }
    }
    assert_eq!(compare(&baseline, &candidate).verdict, Verdict::Regressed);
}

#[test]
fn a_side_without_runs_is_refused() {
    assert_eq!(Comparison::new(&[], &[&made_up(1.0, 1)], TOLERANCE), Err(NoRuns));
}
