//! A day of the server's figures, for operators who come after the fact.
//!
//! The figures are read from the registry every [`INTERVAL`], by one task, and only on a server with an admin page.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use plimsoll_telemetry::{Metric, Registry, Value};
use serde::{Serialize, Serializer, ser::SerializeMap};
use tokio::time::{Instant, MissedTickBehavior};

use crate::unix_time::now_ms;

/// The time between two points.
pub(crate) const INTERVAL: Duration = Duration::from_secs(15);

/// The points of a day. With [`FIGURES`] they take about 360 KB.
const MAX_POINTS: usize = 24 * 60 * 60 / INTERVAL.as_secs() as usize;

/// How a figure comes from a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// The value of a gauge at the point.
    Gauge,
    /// The growth of a counter per second since the last point.
    PerSecond,
    /// The 99th percentile of what a histogram observed since the last point, in seconds.
    P99,
}

/// The kept figures: the metric, and how it is read. They are those of the page's tiles.
const FIGURES: [(&str, Reading); 13] = [
    ("clients_num", Reading::Gauge),
    ("clients_uniq_num", Reading::Gauge),
    ("broadcast_streams_num", Reading::Gauge),
    ("server_msg_total", Reading::PerSecond),
    ("client_msg_total", Reading::PerSecond),
    ("broadcast_msg_total", Reading::PerSecond),
    ("data_sent_total", Reading::PerSecond),
    ("connections_total", Reading::PerSecond),
    ("broadcast_duration_seconds", Reading::P99),
    ("event_loop_lag_seconds", Reading::P99),
    ("blocked_clients_num", Reading::Gauge),
    ("mem_sys_bytes", Reading::Gauge),
    ("rpc_error_total", Reading::PerSecond),
];

/// The figures at one moment. `NaN`: there was no value, for example no observation.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    at_ms: u64,
    values: [f32; FIGURES.len()],
}

/// The figures of the last day.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<VecDeque<Point>>);

/// What counters, gauges and histograms had at one moment.
struct Totals {
    at: Instant,
    /// `None`: there is no such metric.
    sums: [Option<Value>; FIGURES.len()],
}

/// Adds a point to the history every [`INTERVAL`], for as long as the server lives.
pub(crate) async fn record(history: &History, registry: &Registry) {
    let mut intervals = tokio::time::interval(INTERVAL);
    intervals.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut before = Totals {
        at: intervals.tick().await,
        sums: sums(registry.snapshot().metrics),
    };
    loop {
        intervals.tick().await;
        let now = Totals {
            at: Instant::now(),
            sums: sums(registry.snapshot().metrics),
        };
        history.add(Point {
            at_ms: now_ms(),
            values: now.since(&before),
        });
        before = now;
    }
}

/// All series of each metric together.
fn sums(metrics: Vec<Metric>) -> [Option<Value>; FIGURES.len()] {
    let mut sums = [const { None }; FIGURES.len()];
    for metric in metrics {
        let Some(place) = FIGURES.iter().position(|(name, _)| *name == metric.name) else {
            continue;
        };
        let values = metric.series.into_iter().map(|series| series.value);
        sums[place] = values.reduce(|mut sum, value| {
            sum.add(&value);
            sum
        });
    }
    sums
}

impl Totals {
    /// The figures of the time since `earlier`.
    fn since(&self, earlier: &Self) -> [f32; FIGURES.len()] {
        let seconds = (self.at - earlier.at).as_secs_f64();
        let mut values = [f32::NAN; FIGURES.len()];
        for (place, (_, reading)) in FIGURES.iter().enumerate() {
            let (now, earlier) = (self.sums[place].as_ref(), earlier.sums[place].as_ref());
            if let Some(value) = figure(*reading, now, earlier, seconds) {
                values[place] = value as f32;
            }
        }
        values
    }
}

fn figure(reading: Reading, now: Option<&Value>, earlier: Option<&Value>, seconds: f64) -> Option<f64> {
    match (reading, now?, earlier) {
        (Reading::Gauge, Value::Gauge(now), _) => Some(*now),
        (Reading::PerSecond, Value::Counter(now), Some(Value::Counter(earlier))) => {
            Some(now.wrapping_sub(*earlier) as f64 / seconds)
        }
        (Reading::P99, Value::Histogram(now), Some(Value::Histogram(earlier))) => {
            Some(now.since(earlier).quantile(0.99)?.as_secs_f64())
        }
        _ => None,
    }
}

impl History {
    fn add(&self, point: Point) {
        let mut points = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if points.len() == MAX_POINTS {
            points.pop_front();
        }
        points.push_back(point);
    }

    /// The points after a time in Unix milliseconds.
    pub(crate) fn after(&self, at_ms: u64) -> Excerpt {
        let points = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let points = points.iter().filter(|point| point.at_ms > at_ms);
        Excerpt {
            interval_ms: INTERVAL.as_millis() as u64,
            points: points.copied().collect(),
        }
    }
}

/// A part of the history. As JSON: `interval_ms`, `at_ms` with the times of all points, and `figures` with a list of as
/// many values for each metric, `null` where there is none.
#[derive(Debug)]
pub(crate) struct Excerpt {
    interval_ms: u64,
    points: Vec<Point>,
}

impl Serialize for Excerpt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = serializer.serialize_map(Some(3))?;
        document.serialize_entry("interval_ms", &self.interval_ms)?;
        document.serialize_entry("at_ms", &Column(self, |point: &Point| point.at_ms))?;
        document.serialize_entry("figures", &Figures(self))?;
        document.end()
    }
}

/// One value of every point.
struct Column<'a, F>(&'a Excerpt, F);

impl<T: Serialize, F: Fn(&Point) -> T> Serialize for Column<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.points.iter().map(&self.1))
    }
}

struct Figures<'a>(&'a Excerpt);

impl Serialize for Figures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = FIGURES.iter().enumerate().map(|(place, (name, _))| {
            let value = move |point: &Point| Some(point.values[place]).filter(|value| value.is_finite());
            (*name, Column(self.0, value))
        });
        serializer.collect_map(columns)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn points_hold_what_happened_since_the_one_before() {
        let registry = Registry::default();
        let clients = [
            registry.gauge("clients_num", ""),
            registry.gauge("clients_num", ""),
        ];
        let messages = registry.counter("server_msg_total", "");
        let lag = registry.histogram("event_loop_lag_seconds", "", &[]);
        let history = History::default();
        let driver = async {
            // Between two points.
            tokio::time::sleep(INTERVAL / 2).await;
            clients.iter().for_each(|clients| clients.set(4));
            messages.add(30);
            (0..100).for_each(|_| lag.observe(Duration::from_millis(2)));
            tokio::time::sleep(INTERVAL).await;
            clients[0].set(1);
            tokio::time::sleep(INTERVAL).await;
        };
        tokio::select! {
            () = record(&history, &registry) => {}
            () = driver => {}
        }
        let mut excerpt = history.after(0);
        assert_eq!(
            history
                .after(excerpt.points[0].at_ms.max(excerpt.points[1].at_ms))
                .points,
            []
        );
        for (point, at_ms) in excerpt.points.iter_mut().zip([15_000, 30_000]) {
            point.at_ms = at_ms;
        }
        expect![[r#"{"interval_ms":15000,"at_ms":[15000,30000],"figures":{"clients_num":[8.0,5.0],"clients_uniq_num":[null,null],"broadcast_streams_num":[null,null],"server_msg_total":[2.0,0.0],"client_msg_total":[null,null],"broadcast_msg_total":[null,null],"data_sent_total":[null,null],"connections_total":[null,null],"broadcast_duration_seconds":[null,null],"event_loop_lag_seconds":[0.002485,null],"blocked_clients_num":[null,null],"mem_sys_bytes":[null,null],"rpc_error_total":[null,null]}}"#]]
            .assert_eq(&serde_json::to_string(&excerpt).expect("JSON"));
    }

    #[test]
    fn a_day_is_kept_and_no_more() {
        let history = History::default();
        let n_points = MAX_POINTS as u64 + 10;
        for at_ms in 1..=n_points {
            history.add(Point {
                at_ms,
                values: [0.0; FIGURES.len()],
            });
        }
        let all = history.after(0).points;
        assert_eq!(all.len(), MAX_POINTS);
        assert_eq!(all.first().map(|point| point.at_ms), Some(11));
        assert_eq!(history.after(n_points - 2).points.len(), 2);
    }
}
