//! Timelines: no sample is lost, percentiles are an interval's own, and size does not depend on length.

use std::{sync::Arc, time::Duration};

use plimsoll_load::{
    generator::Glance,
    metrics::{Contains, CounterId, GaugeId, MetricSet, RateId, Registry, TrendId, Value},
    run::{Iterations, Stretch, Users},
};
use proptest::prelude::*;

use super::*;

/// A run whose stretches are made by hand.
struct Run {
    total: MetricSet,
    recorder: Recorder,
    reqs: CounterId,
    level: GaugeId,
    failed: RateId,
    rtt: TrendId,
    size: TrendId,
}

/// The samples of one second.
#[derive(Clone, Debug)]
struct Second {
    second: u64,
    samples_us: Vec<u64>,
    vus: u32,
}

impl Run {
    fn new() -> Self {
        let mut registry = Registry::new();
        Self {
            reqs: registry.counter("reqs", Contains::Default).unwrap(),
            level: registry.gauge("level", Contains::Default).unwrap(),
            failed: registry.rate("failed").unwrap(),
            rtt: registry.trend("rtt").unwrap(),
            size: registry.trend_of("size", Contains::Data).unwrap(),
            total: MetricSet::new(Arc::new(registry)),
            recorder: Recorder::new(),
        }
    }

    fn stretch(&mut self, happened: &Second) -> Stretch {
        let mut set = self.total.empty();
        for &us in &happened.samples_us {
            let duration = Duration::from_micros(us);
            set.count(self.reqs, us % 3);
            set.set(self.level, us as f64);
            set.rate(self.failed, us % 2 == 0);
            set.record(self.rtt, duration);
            set.record(self.size, duration);
            set.tally("http.codes.200", 1);
            set.event("http.requests", 2);
            set.observe("response_time", us as f64);
        }
        self.total.merge(&set);
        let n = happened.samples_us.len() as u64;
        Stretch {
            start: Duration::from_secs(happened.second),
            end: Duration::from_secs(happened.second + 1),
            iterations: Iterations {
                n_complete: n,
                n_interrupted: 0,
            },
            n_failed: n / 2,
            users: Users::steady(happened.vus, Duration::from_secs(1)),
            generator: Glance {
                elapsed: Duration::from_secs(1),
                cpu: Duration::from_millis(500),
                lateness_max: Some(Duration::from_micros(70)),
                rss_bytes: Some(1_000),
            },
            metrics: set,
        }
    }

    fn observe(&mut self, happened: &Second) {
        let stretch = self.stretch(happened);
        self.recorder.add(&stretch);
    }

    fn finish(mut self, happened: &Second) -> (Recorded, MetricSet) {
        let rest = self.stretch(happened);
        (self.recorder.finish(&rest), self.total)
    }
}

fn second(second: u64, samples_us: &[u64], vus: u32) -> Second {
    Second {
        second,
        samples_us: samples_us.to_vec(),
        vus,
    }
}

/// The sums of a series: samples that were true or samples at all, and all in the heatmap.
fn sums(series: &Series) -> (f64, u64, u64) {
    let sum = |counts: &[u64]| counts.iter().sum();
    match series {
        Series::Counter { counts } => (counts.iter().sum(), 0, 0),
        Series::Gauge { .. } => (0.0, 0, 0),
        Series::Rate { passes, totals } => (0.0, sum(passes), sum(totals)),
        Series::Trend { counts, heat, .. } => {
            let hot = heat.iter().flat_map(|heat| heat.chunks(2)).map(|pair| pair[1]);
            (0.0, sum(counts), hot.sum())
        }
    }
}

/// The sums of a total.
fn expected_sums(value: Value<'_>) -> (f64, u64, u64) {
    match value {
        Value::Counter(count) => (count, 0, 0),
        Value::Gauge(_) => (0.0, 0, 0),
        Value::Rate(rate) => (0.0, rate.n_true, rate.n_total),
        Value::Trend(histogram) => (0.0, histogram.count(), histogram.count()),
    }
}

fn assert_complete(timeline: &Timeline, total: &MetricSet) {
    let registered = total
        .iter()
        .map(|(definition, value)| (definition.name.as_str(), value));
    let counted = total.tallies().chain(total.events());
    let counted = counted.map(|(name, n)| (name, Value::Counter(n as f64)));
    let distributions = total
        .distributions()
        .map(|(name, samples)| (name, Value::Trend(samples)));
    let mut n_metrics = 0;
    for (name, value) in registered.chain(counted).chain(distributions) {
        assert_eq!(sums(&timeline.metrics[name]), expected_sums(value), "{name}");
        n_metrics += 1;
    }
    assert_eq!(timeline.metrics.len(), n_metrics);
}

fn assert_aligned(timeline: &Timeline) {
    let n = timeline.n_intervals;
    assert!(n <= MAX_INTERVALS);
    for length in [
        timeline.vus.len(),
        timeline.iterations.len(),
        timeline.failed.len(),
    ] {
        assert_eq!(length, n);
    }
    for (name, series) in &timeline.metrics {
        let lengths = match series {
            Series::Counter { counts } => vec![counts.len()],
            Series::Gauge { values } => vec![values.len()],
            Series::Rate { passes, totals } => vec![passes.len(), totals.len()],
            Series::Trend {
                counts,
                means,
                p50,
                p90,
                p95,
                p99,
                max,
                heat,
            } => {
                let figures = [p50, p90, p95, p99, max].map(Vec::len);
                [vec![counts.len(), means.len(), heat.len()], figures.into()].concat()
            }
        };
        assert!(lengths.iter().all(|&length| length == n), "{name}: {lengths:?}");
    }
}

prop_compose! {
    fn seconds()(
        gaps in prop::collection::vec((1_u64..40, prop::collection::vec(0_u64..30_000, 0..8), 0_u32..9), 1..60),
    ) -> Vec<Second> {
        let mut at = 0;
        let mut seconds = Vec::new();
        for (gap, samples_us, vus) in gaps {
            seconds.push(Second { second: at, samples_us, vus });
            at += gap;
        }
        seconds
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_is_lost_and_nothing_is_counted_twice(seconds in seconds()) {
        let mut run = Run::new();
        let (last, before) = seconds.split_last().unwrap();
        before.iter().for_each(|second| run.observe(second));
        let (recorded, total) = run.finish(last);
        let timeline = recorded.timeline;
        assert_complete(&timeline, &total);
        assert_aligned(&timeline);
        let n: u64 = seconds.iter().map(|second| second.samples_us.len() as u64).sum();
        prop_assert_eq!(timeline.iterations.iter().sum::<u64>(), n);
        let n_failed: u64 = seconds.iter().map(|second| second.samples_us.len() as u64 / 2).sum();
        prop_assert_eq!(timeline.failed.iter().sum::<u64>(), n_failed);
        prop_assert_eq!(timeline.vus.iter().max(), seconds.iter().map(|second| &second.vus).max());
        let interval = u64::from(timeline.interval_seconds);
        prop_assert_eq!(timeline.n_intervals as u64, last.second / interval + 1);
    }

    #[test]
    fn a_timeline_is_read_as_it_was_written(seconds in seconds()) {
        let mut run = Run::new();
        let (last, before) = seconds.split_last().unwrap();
        before.iter().for_each(|second| run.observe(second));
        let (Recorded { timeline, .. }, _) = run.finish(last);
        let text = serde_json::to_string(&timeline).unwrap();
        prop_assert_eq!(serde_json::from_str::<Timeline>(&text).unwrap(), timeline);
    }
}

#[test]
fn figures_are_those_of_each_interval() {
    let mut run = Run::new();
    run.observe(&second(0, &[10, 20, 1_000], 1));
    run.observe(&second(1, &[], 5));
    let (
        Recorded {
            timeline, generator, ..
        },
        _,
    ) = run.finish(&second(2, &[0, 7], 2));
    assert_eq!(timeline.vus, [1, 5, 2]);
    assert_eq!(timeline.iterations, [3, 0, 2]);
    let rtt = Series::Trend {
        counts: vec![3, 0, 2],
        means: vec![Some(343.333), None, Some(3.5)],
        p50: vec![Some(20), None, Some(4)],
        p90: vec![Some(804), None, Some(6)],
        p95: vec![Some(902), None, Some(7)],
        p99: vec![Some(980), None, Some(7)],
        max: vec![Some(1_000), None, Some(7)],
        heat: vec![vec![26, 1, 34, 1, 79, 1], vec![], vec![0, 1, 22, 1]],
    };
    assert_eq!(timeline.metrics["rtt"], rtt);
    let level = Series::Gauge {
        values: vec![Some(1_000.0), None, Some(7.0)],
    };
    assert_eq!(timeline.metrics["level"], level);
    let reqs = Series::Counter {
        counts: vec![4.0, 0.0, 1.0],
    };
    assert_eq!(timeline.metrics["reqs"], reqs);
    assert_eq!(generator.cpu_cores, [Some(0.5); 3]);
    assert_eq!(generator.lateness_max_us, [Some(70.0); 3]);
}

#[test]
fn a_second_that_nobody_observed_has_the_users_of_its_stretch() {
    let mut run = Run::new();
    run.observe(&second(0, &[5], 3));
    let mut late = run.stretch(&second(1, &[5], 4));
    late.end = Duration::from_secs(4);
    run.recorder.add(&late);
    let (Recorded { timeline, .. }, _) = run.finish(&second(4, &[], 2));
    assert_eq!(timeline.vus, [3, 4, 4, 4, 2]);
    assert_eq!(timeline.iterations, [1, 1, 0, 0, 0]);
}

#[test]
fn the_last_moments_belong_to_the_second_before_when_it_was_not_observed() {
    let mut run = Run::new();
    run.observe(&second(0, &[5], 3));
    let mut rest = run.stretch(&second(1, &[5], 4));
    rest.end = Duration::from_millis(2_050);
    let timeline = run.recorder.finish(&rest).timeline;
    assert_eq!(timeline.iterations, [1, 1]);
}

#[test]
fn neighbours_are_merged_when_there_is_no_more_room() {
    let mut run = Run::new();
    for n in 0..MAX_INTERVALS as u64 {
        run.observe(&second(n, &[n + 1], 1));
    }
    let (Recorded { timeline, .. }, total) = run.finish(&second(512, &[9_999], 7));
    assert_eq!((timeline.interval_seconds, timeline.n_intervals), (2, 257));
    assert_eq!((timeline.vus[255], timeline.vus[256]), (1, 7));
    assert_complete(&timeline, &total);
    let Series::Trend { counts, p50, max, .. } = &timeline.metrics["rtt"] else {
        panic!("a trend")
    };
    assert_eq!((counts[0], p50[0], max[0]), (2, Some(2), Some(2)));
    let Series::Gauge { values } = &timeline.metrics["level"] else {
        panic!("a gauge")
    };
    assert_eq!(values[255], Some(512.0));
}

/// Many metrics, each with samples all over its range, for longer than there are intervals.
#[test]
fn a_long_run_with_everything_is_bounded() {
    let empty = MetricSet::new(Arc::new(Registry::new()));
    let mut recorder = Recorder::new();
    let mut random = numbers();
    for at in 0..520 {
        let mut set = empty.empty();
        for n in 0..20 {
            for _ in 0..15 {
                let bits = random() % 12;
                set.observe(&format!("trend {n}"), (random() >> (63 - bits)) as f64 / 1e3);
            }
        }
        for n in 0..300 {
            set.tally(&format!("tally {n}"), random() % 100_000);
        }
        recorder.add(&Stretch {
            start: Duration::from_secs(at),
            end: Duration::from_secs(at + 1),
            metrics: set,
            ..Stretch::empty(&empty)
        });
        assert!(recorder.n_numbers() <= MAX_NUMBERS);
    }
    let rest = Stretch {
        start: Duration::from_secs(520),
        ..Stretch::empty(&empty)
    };
    let timeline = recorder.finish(&rest).timeline;
    let length = serde_json::to_string(&timeline).unwrap().len();
    assert!((700_000..1_500_000).contains(&length), "{length}");
}

/// A reproducible sequence of numbers (xorshift64).
fn numbers() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}
