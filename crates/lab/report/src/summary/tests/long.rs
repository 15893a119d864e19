//! Large runs, at speed: an hour, and more metrics than anyone reads. Their data is bounded, and their reports fit.

use std::sync::Arc;

use plimsoll_load::metrics::{Contains, MetricSet};

use super::*;
use crate::{
    html, json,
    timeline::{MAX_INTERVALS, MAX_NUMBERS},
};

const N_SECONDS: u64 = 3_600;
const N_TRENDS: usize = 12;

/// What a summary and a page may have.
const MAX_BYTES: usize = 3_000_000;

/// Seconds of a run with twelve trends, two counters and a rate.
struct Hour {
    total: MetricSet,
    trends: Vec<metrics::TrendId>,
    counters: [metrics::CounterId; 2],
    failed: metrics::RateId,
    /// A trend's samples in a second: latencies around one that changes with time.
    samples: Vec<Histogram>,
}

impl Hour {
    fn new() -> Self {
        let mut registry = Registry::new();
        let trends = (0..N_TRENDS).map(|n| registry.trend(&format!("latency_{n}")).unwrap());
        let trends = trends.collect();
        let counters = ["ws_msgs_sent", "ws_msgs_received"];
        let counters = counters.map(|name| registry.counter(name, Contains::Default).unwrap());
        let failed = registry.rate("http_req_failed").unwrap();
        let samples = (0..32_u64).map(|level| {
            let mut histogram = Histogram::small();
            for n in 0..40 {
                histogram.record_n(US(50 + 15 * level + n * n), 1 + n % 3);
            }
            histogram
        });
        Self {
            trends,
            counters,
            failed,
            samples: samples.collect(),
            total: MetricSet::new(Arc::new(registry)),
        }
    }

    fn second(&mut self, second: u64) -> Stretch {
        let mut set = self.total.empty();
        for (n, &trend) in (0..).zip(&self.trends) {
            let level = (second / 7 + 5 * n) % 32;
            set.record_all(trend, &self.samples[level as usize]);
        }
        for counter in self.counters {
            set.count(counter, 1_000 + second);
        }
        set.rate(self.failed, second.is_multiple_of(60));
        // The size of a total does not depend on how often equal values were added.
        if second.is_multiple_of(61) {
            self.total.merge(&set);
        }
        Stretch {
            start: Duration::from_secs(second),
            end: Duration::from_secs(second + 1),
            iterations: run::Iterations {
                n_complete: 1_000,
                n_interrupted: 0,
            },
            users: run::Users::steady(500, Duration::from_secs(1)),
            metrics: set,
            ..Stretch::empty(&self.total)
        }
    }
}

#[test]
fn an_hour_takes_no_more_memory_than_ten_minutes_and_its_reports_fit() {
    let mut hour = Hour::new();
    let mut recorder = Recorder::new();
    let mut most = [0; 2];
    for second in 0..N_SECONDS {
        recorder.add(&hour.second(second));
        let n_numbers = recorder.n_numbers();
        assert!(n_numbers <= MAX_NUMBERS, "{n_numbers} after {second} s");
        let since = usize::from(second > 600);
        most[since] = n_numbers.max(most[since]);
    }
    // As many as when the intervals were used up for the first time, except for bins of merged ones.
    assert!(most[1] * 10 <= most[0] * 11, "{most:?}");

    let rest = Stretch {
        start: Duration::from_secs(N_SECONDS),
        end: Duration::from_secs(N_SECONDS),
        ..Stretch::empty(&hour.total)
    };
    let run = RunResult {
        metrics: hour.total,
        rest,
        duration: Duration::from_secs(N_SECONDS),
        ..run()
    };
    let stats = trend_stats();
    let summary = Summary::new(Parts {
        recorder,
        ..parts(&run, &stats)
    });
    let timeline = &summary.timeline;
    assert_eq!(timeline.interval_seconds, 8);
    assert!(
        (256..=MAX_INTERVALS).contains(&timeline.n_intervals),
        "{}",
        timeline.n_intervals
    );
    assert_eq!(timeline.iterations.iter().sum::<u64>(), 1_000 * N_SECONDS);
    let json = json(&summary).unwrap();
    assert_eq!(Summary::read(&json).unwrap(), summary);
    let page = html::page(&[&summary], &[]);
    for (what, length) in [("JSON", json.len()), ("page", page.len())] {
        assert!((300_000..MAX_BYTES).contains(&length), "{what}: {length} bytes");
    }
}

#[test]
fn metrics_by_the_thousand_fit_as_well() {
    let mut registry = Registry::new();
    let counters = (0..20_000).map(|n| registry.counter(&format!("counter_{n:05}"), Contains::Default));
    let counters: Vec<_> = counters.map(Result::unwrap).collect();
    let trends = (0..2_000).map(|n| registry.trend(&format!("latency_{n:05}")).unwrap());
    let trends: Vec<_> = trends.collect();
    let mut set = MetricSet::new(Arc::new(registry));
    let mut histogram = Histogram::small();
    (1..50).for_each(|n| histogram.record(US(n * n * 3)));
    counters
        .into_iter()
        .for_each(|counter| set.count(counter, 12_345));
    trends.iter().for_each(|&trend| set.record_all(trend, &histogram));
    let rest = Stretch {
        end: Duration::from_secs(1),
        metrics: set.clone(),
        ..Stretch::empty(&set)
    };
    let judged = Finding {
        metric: "latency_01999".to_owned(),
        id: set.registry().find("latency_01999").unwrap(),
        expression: "p(95)<500".to_owned(),
        aggregation: "p(95)".to_owned(),
        value: Some(1.0),
        passed: true,
        aborted: false,
    };
    let run = RunResult {
        rest,
        metrics: set,
        thresholds: vec![judged],
        ..run()
    };
    let summary = summary(&run);
    assert!(json(&summary).unwrap().len() < MAX_BYTES);
    assert!(html::page(&[&summary], &[]).len() < MAX_BYTES);
    assert_eq!(summary.metrics.len(), 1_001);
    assert!(
        summary.metrics.contains_key("latency_01999"),
        "it has a threshold"
    );
    let left_out = "left out because the summary would be too large: ";
    let notices: Vec<_> = summary
        .notices
        .iter()
        .filter_map(|it| it.strip_prefix(left_out))
        .collect();
    assert_eq!(
        notices,
        [
            "all samples of trends",
            "other metrics than the first over time",
            "20999 of 22000 metrics"
        ]
    );
}
