//! The compared figures of a run, and their parts.

use super::*;
use crate::{
    comparison::tests::{made_up, target},
    summary::Losses,
};

/// Seconds of [`run`].
const SECONDS: usize = 4;

/// A run of four seconds with two iterations in each, and no metrics.
fn run() -> Summary {
    let mut run = made_up(1.0, 1);
    run.metadata.duration_seconds = SECONDS as f64;
    run.iterations.complete = 8;
    run.metrics.clear();
    let timeline = &mut run.timeline;
    timeline.n_intervals = SECONDS;
    timeline.iterations = vec![2; SECONDS];
    timeline.failed = vec![0; SECONDS];
    timeline.metrics.clear();
    run
}

fn add_trend(run: &mut Summary, name: &str, contains: Contains, count: u64) {
    let distribution = Distribution {
        count,
        mean: 20.0,
        p50: 50,
        p95: 95,
        p99: 99,
        ..Distribution::default()
    };
    let metric = Metric {
        contains,
        values: Values::Trend(distribution),
        figures: Vec::new(),
        histogram: None,
        exact: Vec::new(),
    };
    run.metrics.insert(name.to_owned(), metric);
    let series = Series::Trend {
        counts: vec![3, 0],
        means: vec![Some(20.0), None],
        p50: Vec::new(),
        p90: Vec::new(),
        p95: Vec::new(),
        p99: Vec::new(),
        max: Vec::new(),
        heat: vec![vec![34, 2, 35, 1], Vec::new()],
    };
    run.timeline.metrics.insert(name.to_owned(), series);
}

fn add_counter(run: &mut Summary, name: &str, counts: [f64; SECONDS]) {
    let count = counts.iter().sum();
    let metric = Metric {
        contains: Contains::Default,
        values: Values::Counter {
            count,
            rate: count / SECONDS as f64,
        },
        figures: Vec::new(),
        histogram: None,
        exact: Vec::new(),
    };
    run.metrics.insert(name.to_owned(), metric);
    let counts = counts.into();
    run.timeline
        .metrics
        .insert(name.to_owned(), Series::Counter { counts });
}

fn add_rate(run: &mut Summary, name: &str, passes: [u64; SECONDS], totals: [u64; SECONDS]) {
    let (passes, totals) = (passes.into(), totals.into());
    run.timeline
        .metrics
        .insert(name.to_owned(), Series::Rate { passes, totals });
}

/// Metric, figure and value of all that is compared of a run.
fn figures(run: &Summary) -> Vec<(String, String, f64)> {
    let figures = Subject::new(run).figures.into_iter();
    figures
        .map(|(figure, measurement)| (figure.metric, figure.figure, measurement.value))
        .collect()
}

#[track_caller]
fn check(run: &Summary, expected: &[(&str, &str, f64)]) {
    let found = figures(run);
    let found: Vec<_> = found
        .iter()
        .map(|(metric, figure, value)| (metric.as_str(), figure.as_str(), *value))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_trends_with_the_most_samples_are_compared() {
    let time = Contains::Time;
    for (trends, expected) in [
        (&[][..], &[][..]),
        (&[("a", time, 5), ("b", time, 9), ("c", time, 7)], &["b", "c"]),
        (&[("c", time, 5), ("b", time, 5), ("a", time, 9)], &["a", "b"]),
        (&[("a", time, 5), ("b", time, 0)], &["a"]),
        (&[("a", time, 5), ("b", Contains::Data, 9)], &["a"]),
        (&[("a", time, 5), ("b{room:1}", time, 9)], &["a"]),
        (&[("a", time, 5), ("plugins.b", time, 9)], &["a"]),
        (&[("a", time, 5), ("http_req_waiting", time, 9)], &["a"]),
        (&[("http_req_waiting", time, 9)], &[]),
        // The page of a run shows the first one, although it has fewer samples.
        (&[("rtt", time, 1), ("a", time, 9), ("b", time, 5)], &["rtt", "a"]),
    ] {
        let mut run = run();
        for (name, contains, count) in trends {
            add_trend(&mut run, name, *contains, *count);
        }
        assert_eq!(main_trends(&run), expected, "{trends:?}");
    }
}

#[test]
fn a_percentile_takes_ten_samples_beyond_it() {
    for (count, expected) in [
        (1, &["mean"][..]),
        (19, &["mean"]),
        (20, &["mean", "p50"]),
        (199, &["mean", "p50"]),
        (200, &["mean", "p50", "p95"]),
        (999, &["mean", "p50", "p95"]),
        (1000, &["mean", "p50", "p95", "p99"]),
    ] {
        let mut run = run();
        add_trend(&mut run, "rtt", Contains::Time, count);
        let found: Vec<_> = trend(&run, "rtt")
            .into_iter()
            .map(|(figure, _)| figure.figure)
            .collect();
        assert_eq!(found, expected, "{count} samples");
    }
}

#[test]
fn a_trend_is_made_of_sums_and_histograms() {
    let mut run = run();
    add_trend(&mut run, "rtt", Contains::Time, 200);
    let [mean, p50, p95] = trend(&run, "rtt").try_into().unwrap();
    assert_eq!(mean.1.parts, Parts::Ratio(vec![(60.0, 3.0), (0.0, 0.0)]));
    for ((figure, measurement), wanted, value, nature) in
        [(p50, 0.5, 50.0, Nature::Median), (p95, 0.95, 95.0, Nature::P95)]
    {
        assert_eq!((figure.nature, measurement.value), (nature, value));
        let histograms = vec![vec![(34, 2), (35, 1)], Vec::new()];
        let parts = Parts::Quantile {
            quantile: wanted,
            per_octave: 8,
            histograms,
        };
        assert_eq!(measurement.parts, parts);
    }
    assert!(trend(&run, "unknown").is_empty());
}

#[test]
fn throughput_is_of_iterations_and_of_the_most_work() {
    let iterations = [("iterations", "rate", 2.0), ("iterations", "failed", 0.0)];
    check(&run(), &iterations);
    // As many requests as iterations say nothing more.
    let mut same = run();
    add_counter(&mut same, "http_reqs", [2.0; SECONDS]);
    check(&same, &iterations);
    let mut more = run();
    add_counter(&mut more, "ws_msgs_sent", [1.0, 2.0, 3.0, 4.0]);
    add_counter(&mut more, "http_reqs", [3.0; SECONDS]);
    add_counter(&mut more, "anything", [99.0; SECONDS]);
    check(
        &more,
        &[
            ("iterations", "rate", 2.0),
            ("http_reqs", "rate", 3.0),
            ("iterations", "failed", 0.0),
        ],
    );
    let (_, of_requests) = &throughput(&more)[1];
    assert_eq!(of_requests.parts, Parts::Ratio(vec![(3.0, 1.0); SECONDS]));
    let mut nothing = run();
    nothing.iterations.complete = 0;
    add_counter(&mut nothing, "http_reqs", [0.0; SECONDS]);
    check(&nothing, &[]);
}

#[test]
fn the_last_interval_ends_with_the_run() {
    for (duration, interval, n_intervals, expected) in [
        (4.0, 1, 4, &[1.0, 1.0, 1.0, 1.0][..]),
        (4.5, 2, 3, &[2.0, 2.0, 0.5]),
        (4.5, 2, 4, &[2.0, 2.0, 0.5, 0.0]),
        (1.5, 0, 2, &[1.0, 0.5]),
    ] {
        let mut run = run();
        run.metadata.duration_seconds = duration;
        run.timeline.interval_seconds = interval;
        run.timeline.n_intervals = n_intervals;
        assert_eq!(seconds_of_intervals(&run).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn failures_are_shares() {
    let mut run = run();
    run.timeline.failed = vec![0, 1, 0, 1];
    add_rate(&mut run, "http_req_failed", [1, 0, 0, 0], [4, 4, 4, 4]);
    // For checks, passes are counted; a damaged file may have more passes than checks.
    add_rate(&mut run, "checks", [1, 2, 3, 9], [4, 4, 4, 4]);
    let found: Vec<_> = shares(&run)
        .into_iter()
        .map(|(figure, measurement)| (figure.metric, measurement.value, measurement.parts))
        .collect();
    let parts = |failed: [f64; SECONDS], total| {
        Parts::Ratio(failed.into_iter().map(|failed| (failed, total)).collect())
    };
    assert_eq!(
        found,
        [
            ("iterations".to_owned(), 0.25, parts([0.0, 1.0, 0.0, 1.0], 2.0)),
            (
                "http_req_failed".to_owned(),
                1.0 / 16.0,
                parts([1.0, 0.0, 0.0, 0.0], 4.0)
            ),
            ("checks".to_owned(), 6.0 / 16.0, parts([3.0, 2.0, 1.0, 0.0], 4.0)),
        ]
    );
    add_rate(&mut run, "checks", [0; SECONDS], [0; SECONDS]);
    assert_eq!(shares(&run)[2].1.value, 0.0);
}

#[test]
fn costs_are_per_piece_of_the_most_work() {
    let with_target = |change: fn(&mut Target)| {
        let mut run = run();
        add_counter(&mut run, "ws_msgs_received", [4.0; SECONDS]);
        let mut target = target(0.5);
        target.cpu_seconds = Some(2.0);
        target.rss_max_bytes = Some(1000);
        change(&mut target);
        run.targets = vec![target];
        run
    };
    let costs = |run: &Summary| costs(run, &run.targets[0]);
    let names = |run: &Summary| -> Vec<_> {
        let costs = costs(run).into_iter();
        costs
            .map(|(figure, measurement)| (figure.figure, measurement.value))
            .collect()
    };
    let (cpu, memory) = (
        // 2 s for 16 messages.
        ("CPU per message".to_owned(), 125_000.0),
        ("memory".to_owned(), 1000.0),
    );
    let whole = with_target(|_| {});
    assert_eq!(names(&whole), [cpu.clone(), memory.clone()]);
    let of_cpu = &costs(&whole)[0].1;
    let expected = [500_000.0, 500_000.0, 500_000.0, 500_000.0].map(|us| (us, 4.0));
    assert_eq!(of_cpu.parts, Parts::Ratio(expected.into()));
    let mut coarse = with_target(|_| {});
    coarse.timeline.interval_seconds = 2;
    coarse.metadata.duration_seconds = 2.0 * SECONDS as f64;
    let expected = [(1_000_000.0, 4.0); SECONDS];
    assert_eq!(costs(&coarse)[0].1.parts, Parts::Ratio(expected.into()));
    for change in [
        |target: &mut Target| target.cpu_seconds = Some(0.0),
        |target: &mut Target| target.cpu_seconds = None,
        |target: &mut Target| target.series.clear(),
    ] {
        assert_eq!(names(&with_target(change)), std::slice::from_ref(&memory));
    }
    for change in [
        |target: &mut Target| target.rss_max_bytes = Some(0),
        |target: &mut Target| target.rss_max_bytes = None,
    ] {
        assert_eq!(names(&with_target(change)), std::slice::from_ref(&cpu));
    }
}

#[test]
fn work_has_a_singular() {
    for (counter, expected) in [
        ("iterations", "iteration"),
        ("http_reqs", "request"),
        ("http.requests", "request"),
        ("requests", "request"),
        ("grpc_reqs", "request"),
        ("ws_msgs_sent", "message"),
        ("deliveries", "message"),
    ] {
        assert_eq!(singular(counter), expected);
    }
}

#[test]
fn only_figures_of_all_runs_are_compared() {
    let with = |name: &str| {
        let mut run = run();
        add_trend(&mut run, name, Contains::Time, 5);
        Subject::new(&run)
    };
    let metrics = |baseline: &[Subject], candidate: &[Subject]| -> Vec<_> {
        let cases = cases(baseline, candidate).into_iter();
        cases
            .map(|case| {
                let n_runs = (case.baseline.len(), case.candidate.len());
                (case.figure.metric, case.figure.figure, n_runs)
            })
            .collect()
    };
    let iterations =
        |n_runs| ["rate", "failed"].map(|figure| ("iterations".to_owned(), figure.to_owned(), n_runs));
    assert_eq!(metrics(&[with("a")], &[with("b")]), iterations((1, 1)));
    assert_eq!(metrics(&[with("a"), with("b")], &[with("a")]), iterations((2, 1)));
    let mut all = vec![("a".to_owned(), "mean".to_owned(), (1, 2))];
    all.extend(iterations((1, 2)));
    assert_eq!(metrics(&[with("a")], &[with("a"), with("a")]), all);
    assert_eq!(metrics(&[], &[with("a")]), []);
}

#[test]
fn intervals_are_joined_to_the_longest_ones() {
    let subject = |interval_seconds, n_intervals| {
        let mut run = run();
        run.timeline.interval_seconds = interval_seconds;
        run.timeline.n_intervals = n_intervals;
        run.timeline.iterations = vec![2; n_intervals];
        run.timeline.failed = vec![0; n_intervals];
        run.metadata.duration_seconds = n_intervals as f64 * f64::from(interval_seconds);
        Subject::new(&run)
    };
    let [rate, _] = cases(&[subject(1, 8)], &[subject(4, 3)]).try_into().ok().unwrap();
    let parts = |side: &[Measurement]| side[0].parts.clone();
    assert_eq!(parts(&rate.baseline), Parts::Ratio(vec![(8.0, 4.0); 2]));
    assert_eq!(parts(&rate.candidate), Parts::Ratio(vec![(2.0, 4.0); 3]));
}

#[test]
fn faults_are_known_where_the_scenario_counts_them() {
    let mut run = run();
    assert_eq!(Subject::new(&run).faults, None);
    run.losses = Some(Losses {
        expected: 10,
        lost: 3,
        duplicated: 4,
        ..Losses::default()
    });
    let faults = |n| Faults { n, of: 10 };
    assert_eq!(Subject::new(&run).faults, Some([faults(3), faults(4)]));
}
