//! Comparisons of whole summaries: the compared figures, the obstacles, and the texts.

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

/// A run whose latencies are `slowdown` times those of another one. Seconds vary by some 3 %.
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
            exact: Vec::new(),
        };
        summary.metrics.insert(name.to_owned(), metric);
    }
    summary
}

pub(crate) fn comparison_of(baseline: &Summary, candidate: &Summary) -> Comparison {
    compared(&[baseline], &[candidate])
}

/// Several runs on each side, with the usual terms.
fn compared(baseline: &[&Summary], candidate: &[&Summary]) -> Comparison {
    let side = |label, summaries| Runs { label, summaries };
    Comparison::new(
        side("before", baseline),
        side("after", candidate),
        Terms::default(),
    )
    .unwrap()
}

/// Checks the verdict and the obstacle.
#[track_caller]
fn check(change: impl FnOnce(&mut Summary), verdict: Verdict, obstacle: &str) {
    let (baseline, mut candidate) = (made_up(1.0, 1), made_up(1.3, 2));
    change(&mut candidate);
    let comparison = comparison_of(&baseline, &candidate);
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
    use Verdict::{Inconclusive, Worse};
    check(|_| {}, Worse, "");
    check(
        |run| run.plan.scenarios[0].description = "3 looping VUs for 10s".to_owned(),
        Inconclusive,
        "run-2 had a different plan from run-1: default: 3 looping VUs for 10s, not default: 2 looping VUs for 10s",
    );
    check(
        |run| run.environment.cores = 64,
        Inconclusive,
        "different machine from run-1: 64 cores, not 2",
    );
    check(|run| run.environment.memory_bytes += 1 << 20, Worse, "");
    check(
        |run| run.end = End::Shutdown,
        Inconclusive,
        "run-2 was interrupted",
    );
    check(
        |run| run.generator.doubtful = true,
        Inconclusive,
        "the load generator was the bottleneck",
    );
}

/// A page, a list and a comparison of a run show the same metric.
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
        let differences = comparison_of(&run, &run).differences;
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

/// On a machine with other programs, only larger differences are reported.
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
        let found = comparison_of(&baseline, &candidate);
        (found.verdict, found.notices)
    };
    let (verdict, named) = notices(0.5);
    assert_eq!(verdict, Verdict::Inconclusive);
    assert_eq!(
        named[0],
        "in run-1 other programs used 0.9 of 2 cores, so only larger differences are reported; run nothing else on \
         the machine"
    );
    assert_eq!(notices(1.3), (Verdict::Worse, Vec::new()));
}

/// Without a watched target, a busy machine makes differences uncertain; one with idle cores does not.
#[test]
fn a_busy_machine_hides_small_differences_and_no_other_machine_does() {
    for (idle, generator, verdict) in [
        (0.01, 0.4, Verdict::Inconclusive),
        (0.30, 0.4, Verdict::Worse),
        (0.01, 1.9, Verdict::Worse),
    ] {
        let run = |slowdown, seed| {
            let mut run = made_up(slowdown, seed);
            run.generator.machine_idle_share = Some(idle);
            run.generator.cores = generator;
            run
        };
        let found = comparison_of(&run(1.0, 1), &run(1.3, 2));
        assert_eq!(found.verdict, verdict, "{idle} idle, generator {generator}");
        assert_eq!(found.notices.is_empty(), verdict == Verdict::Worse);
    }
}

pub(super) fn target(cores: f64) -> Target {
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

/// A server's growth per user depends on its earlier users.
#[test]
fn a_server_that_had_users_before_is_no_better() {
    let (mut baseline, mut candidate) = (made_up(1.0, 1), made_up(1.0, 2));
    let grown_by = |bytes| Target {
        rss_per_user_bytes: Some(bytes),
        ..target(0.5)
    };
    baseline.targets = vec![grown_by(240_000)];
    candidate.targets = vec![grown_by(5_000)];
    let verdict = comparison_of(&baseline, &candidate).verdict;
    assert_eq!(verdict, Verdict::Inconclusive);
}

/// Losses are judged despite all obstacles.
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
        comparison_of(&baseline, &candidate).verdict,
        Verdict::Inconclusive
    );
    candidate.losses = Some(losses(1));
    candidate.generator.doubtful = true;
    let comparison = comparison_of(&baseline, &candidate);
    assert_eq!(comparison.verdict, Verdict::Worse);
    assert_eq!(comparison.headline(), "worse: messages lost +1.0");
}

#[test]
fn a_comparison_can_be_read() {
    let (mut baseline, mut candidate) = (made_up(1.0, 1), made_up(1.3, 2));
    baseline.targets = vec![target(0.5)];
    candidate.targets = vec![target(0.5)];
    candidate.metadata.plimsoll = "0.2.0".to_owned();
    let comparison = comparison_of(&baseline, &candidate);
    expect![[r#"
        $

          baseline   before: chat.js (run-1)
          candidate  after: chat.js (run-2)

          worse: http_req_duration mean +30 %, p50 +30 %, p95 +30 %
          - different versions of Plimsoll: 0.1.0 and 0.2.0

          figure                    before   after  change        true change  verdict
          http_req_duration mean       2ms  2.59ms   +30 %     +4.1 % … +62 %  worse
          http_req_duration p50        2ms  2.59ms   +30 %      +15 % … +47 %  worse
          http_req_duration p95     3.99ms  5.19ms   +30 %     +1.7 % … +66 %  worse
          http_req_duration p99     4.19ms  5.45ms   +30 %     −32 % … +147 %  inconclusive
          iterations rate            200/s   200/s     0 %      −13 % … +16 %  inconclusive
          iterations failed         0.00 %  0.00 %    0 pt  −0.1 pt … +0.1 pt  equal
          server CPU per iteration   2.5ms   2.5ms     0 %      −35 % … +54 %  inconclusive
          server memory              40 MB   40 MB     0 %      −42 % … +72 %  inconclusive

          With 95 % confidence, all true changes lie in these intervals. A change counts from 5 % on; equal
          means less than 10 % in both directions (shares of failures: 1 point). One run per side shows the
          noise within the runs, but not how much equal runs differ: the intervals allow for the drift of
          earlier runs. Several runs in turn measure it.
    "#]]
    .assert_eq(&format!("$\n{}", comparison.text(Style::PLAIN)));
    expect![[r#"
        **worse: http\_req\_duration mean +30 %, p50 +30 %, p95 +30 %**

        - different versions of Plimsoll: 0.1.0 and 0.2.0

        | figure | before | after | change | true change | verdict |
        |:--|--:|--:|--:|:-:|:--|
        | http\_req\_duration mean | 2ms | 2.59ms | +30 % | +4.1 % … +62 % | 🔴 worse |
        | http\_req\_duration p50 | 2ms | 2.59ms | +30 % | +15 % … +47 % | 🔴 worse |
        | http\_req\_duration p95 | 3.99ms | 5.19ms | +30 % | +1.7 % … +66 % | 🔴 worse |
        | http\_req\_duration p99 | 4.19ms | 5.45ms | +30 % | −32 % … +147 % | inconclusive |
        | iterations rate | 200/s | 200/s | 0 % | −13 % … +16 % | inconclusive |
        | iterations failed | 0.00 % | 0.00 % | 0 pt | −0.1 pt … +0.1 pt | equal |
        | server CPU per iteration | 2.5ms | 2.5ms | 0 % | −35 % … +54 % | inconclusive |
        | server memory | 40 MB | 40 MB | 0 % | −42 % … +72 % | inconclusive |

        Baseline: before: chat.js (run-1). Candidate: after: chat.js (run-2). With 95 % confidence, all true changes lie in these intervals. A change counts from 5 % on; equal means less than 10 % in both directions (shares of failures: 1 point). One run per side shows the noise within the runs, but not how much equal runs differ: the intervals allow for the drift of earlier runs. Several runs in turn measure it.
    "#]].assert_eq(&comparison.markdown());
}

#[test]
fn machines_read_it_too() {
    let json = serde_json::to_value(comparison_of(&made_up(1.0, 1), &made_up(1.0, 2))).unwrap();
    let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
    expect!["verdict baseline candidate tolerance margin confidence obstacles notices advice differences"]
        .assert_eq(&keys.join(" "));
    expect![[r#"
        {
          "metric": "http_req_duration",
          "figure": "p50",
          "unit": "microseconds",
          "better": "lower",
          "decisive": true,
          "baseline": 1995.0000000000007,
          "candidate": 1994.0,
          "change": -0.000501253132832485,
          "interval": [
            -0.11375285011154444,
            0.12722251926539183
          ],
          "verdict": "inconclusive",
          "reason": null,
          "suffices": {
            "runs": 3,
            "seconds": 20
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&json["differences"][1]).unwrap());
}

#[test]
fn several_runs_show_how_much_they_differ() {
    let side = |slowdown, seeds: [u64; 4]| seeds.map(|seed| made_up(slowdown, seed));
    let (baseline, candidate) = (side(1.0, [1, 2, 3, 4]), side(1.1, [5, 6, 7, 8]));
    // A tenth is too little for one run per side.
    assert_eq!(
        comparison_of(&baseline[0], &candidate[0]).verdict,
        Verdict::Inconclusive
    );
    let (baseline, candidate) = (baseline.each_ref(), candidate.each_ref());
    let comparison = compared(&baseline, &candidate);
    assert_eq!(comparison.verdict, Verdict::Worse);
    assert_eq!(comparison.baseline.ids.len(), 4);
}

/// A longer run has longer intervals. Only a different plan makes runs incomparable.
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
    assert_eq!(comparison_of(&baseline, &candidate).verdict, Verdict::Worse);
}

#[test]
fn a_side_without_runs_is_refused() {
    let run = made_up(1.0, 1);
    let (some, none) = ([&run], []);
    let side = |summaries| Runs {
        label: "before",
        summaries,
    };
    for (baseline, candidate) in [(side(&none[..]), side(&some[..])), (side(&some), side(&none))] {
        let found = Comparison::new(baseline, candidate, Terms::default());
        assert_eq!(found, Err(NoRuns));
    }
}

#[test]
fn a_side_has_the_name_of_its_first_run_and_the_time_of_its_earliest() {
    let run = |seed, name: &str, started_at: &str| {
        let mut run = made_up(1.0, seed);
        run.metadata.name = name.to_owned();
        run.metadata.started_at = started_at.to_owned();
        run
    };
    let (late, early) = (
        run(1, "late.js", "2026-11-22T10:00:00Z"),
        run(2, "early.js", "2026-11-21T10:00:00Z"),
    );
    let found = compared(&[&late, &early], &[&early]);
    assert_eq!(
        found.baseline.text(),
        "before: 2 runs of late.js since 2026-11-21T10:00:00Z"
    );
    assert_eq!(found.candidate.text(), "after: early.js (run-2)");
}

/// A figure with a verdict. Those without an interval are unknown.
pub(super) fn difference(
    metric: &str,
    figure: &str,
    verdict: Verdict,
    interval: Option<[f64; 2]>,
) -> Difference {
    Difference {
        figure: Figure {
            metric: metric.to_owned(),
            figure: figure.to_owned(),
            unit: Unit::Number,
            better: Better::Lower,
            nature: figure::Nature::Mean,
        },
        decisive: true,
        baseline: 1.0,
        candidate: 1.2,
        change: Some(0.2),
        interval,
        verdict,
        reason: None,
        suffices: None,
    }
}

#[test]
fn worse_counts_before_better_and_equal_needs_all_decisive_figures() {
    use Verdict::{Better, Equal, Inconclusive, Worse};
    let known = Some([0.1, 0.3]);
    for (found, expected, expected_when_obstructed) in [
        (&[][..], Inconclusive, Inconclusive),
        (&[(Worse, known), (Better, known)], Worse, Worse),
        (&[(Worse, None)], Worse, Worse),
        (&[(Better, known), (Inconclusive, known)], Better, Inconclusive),
        (&[(Equal, known), (Equal, None)], Equal, Inconclusive),
        (
            &[(Equal, known), (Inconclusive, None)],
            Inconclusive,
            Inconclusive,
        ),
        // Exact counts alone say nothing about the rest.
        (&[(Equal, None)], Inconclusive, Inconclusive),
        (&[(Inconclusive, known)], Inconclusive, Inconclusive),
    ] {
        let differences: Vec<_> = found
            .iter()
            .map(|(verdict, interval)| difference("m", "f", *verdict, *interval))
            .collect();
        assert_eq!(overall(&differences, false), expected, "{found:?}");
        assert_eq!(overall(&differences, true), expected_when_obstructed, "{found:?}");
    }
    let mut tail = difference("m", "p99", Inconclusive, None);
    tail.decisive = false;
    let body = difference("m", "p50", Equal, known);
    assert_eq!(overall(&[body.clone(), tail.clone()], false), Equal);
    tail.verdict = Worse;
    assert_eq!(overall(&[body.clone(), tail.clone()], false), Worse);
    tail.verdict = Equal;
    tail.interval = known;
    assert_eq!(overall(&[tail], false), Inconclusive, "without a decisive figure");
}

#[test]
fn a_headline_names_the_figures_of_its_verdict() {
    let known = Some([0.1, 0.3]);
    let mut comparison = comparison_of(&made_up(1.0, 1), &made_up(1.0, 2));
    let of = |verdict| {
        let figures = [
            ("a", "p50"),
            ("a", "p95"),
            ("b", "p50"),
            ("a", "p99"),
            ("c", "rate"),
        ];
        figures.map(|(metric, figure)| difference(metric, figure, verdict, known))
    };
    let mut unknown = difference("d", "memory", Verdict::Inconclusive, known);
    unknown.decisive = false;
    for (verdict, expected) in [
        (
            Verdict::Better,
            "better: a p50 +20 %, p95 +20 %, b p50 +20 %, a p99 +20 %, 1 more",
        ),
        (
            Verdict::Worse,
            "worse: a p50 +20 %, p95 +20 %, b p50 +20 %, a p99 +20 %, 1 more",
        ),
        (
            Verdict::Equal,
            "equal within 10 %: a p50, p95, b p50, a p99, 1 more; inconclusive: d memory",
        ),
        (
            Verdict::Inconclusive,
            "inconclusive: a p50, p95, b p50, a p99, 1 more",
        ),
    ] {
        comparison.verdict = verdict;
        comparison.differences = of(verdict).into();
        comparison.differences.insert(1, unknown.clone());
        assert_eq!(comparison.headline(), expected);
    }
    comparison.differences = of(Verdict::Equal).into();
    comparison.verdict = Verdict::Equal;
    comparison.margin = 0.025;
    assert_eq!(
        comparison.headline(),
        "equal within 2.5 %: a p50, p95, b p50, a p99, 1 more"
    );
    comparison.differences.clear();
    comparison.verdict = Verdict::Inconclusive;
    assert_eq!(comparison.headline(), "inconclusive");
}

/// Verdicts of noisy figures are withdrawn, those of counts are not.
#[test]
fn an_obstacle_withdraws_what_is_noisy() {
    let mut found = difference("m", "f", Verdict::Better, Some([0.1, 0.3]));
    found.reason = Some("why".to_owned());
    found.suffices = Some(advice::Series { runs: 3, seconds: 60 });
    found.withdraw();
    assert_eq!(
        (found.verdict, found.interval, found.reason, found.suffices),
        (Verdict::Inconclusive, None, None, None)
    );
    let mut exact = difference("m", "lost", Verdict::Worse, None);
    exact.figure.nature = figure::Nature::Share;
    exact.reason = Some("why".to_owned());
    let before = exact.clone();
    exact.withdraw();
    assert_eq!(exact, before);
}

#[test]
fn losses_are_compared_where_all_runs_count_them() {
    let run = |seed, losses: Option<[u64; 2]>| {
        let mut run = made_up(1.0, seed);
        run.losses = losses.map(|[lost, duplicated]| Losses {
            expected: 1000,
            lost,
            duplicated,
            ..Losses::default()
        });
        run
    };
    let (some, none) = (run(1, Some([2, 3])), run(2, Some([0, 0])));
    let counts = |baseline: &[&Summary], candidate: &[&Summary]| -> Vec<_> {
        let found = compared(baseline, candidate).differences;
        let exact = found
            .into_iter()
            .filter(|found| found.figure.metric == "messages");
        exact
            .map(|found| (found.figure.figure, found.baseline, found.candidate))
            .collect()
    };
    let expected = |one: [f64; 2], other: [f64; 2]| {
        vec![
            ("lost".to_owned(), one[0], other[0]),
            ("duplicated".to_owned(), one[1], other[1]),
        ]
    };
    assert_eq!(
        counts(&[&some, &some], &[&none]),
        expected([4.0, 6.0], [0.0, 0.0])
    );
    assert_eq!(
        counts(&[&none], &[&none, &some]),
        expected([0.0, 0.0], [2.0, 3.0])
    );
    assert_eq!(counts(&[&some], &[&some, &run(3, None)]), []);
    assert_eq!(counts(&[&run(3, None)], &[&some]), []);
}
