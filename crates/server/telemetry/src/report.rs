//! Changes between two snapshots, for receivers that are sent values instead of polling them: StatsD and the log.

use std::{fmt::Write, time::Duration};

use crate::{Series, Snapshot, Value};

/// One number of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The metric's name without a prefix.
    pub name: String,
    /// Labels of the series.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub amount: Amount,
}

/// The meaning of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// A counter's growth since the last report.
    Increase(u64),
    /// A gauge's current value.
    Level(f64),
}

impl Snapshot {
    /// Readings of all counters that changed, and of all gauges. A histogram gives the number of its observations
    /// (`…_count`) and, if there were any, their average (`…_avg`, in seconds).
    pub fn since(&self, earlier: &Self) -> Vec<Reading> {
        let mut readings = Vec::new();
        for metric in &self.metrics {
            let before = earlier.metric(metric.name);
            for series in &metric.series {
                let before =
                    before.and_then(|metric| metric.series.iter().find(|old| old.labels == series.labels));
                readings.extend(read(metric.name, series, before.map(|series| &series.value)));
            }
        }
        readings
    }
}

fn read(name: &str, series: &Series, before: Option<&Value>) -> Vec<Reading> {
    let reading = |suffix: &str, amount| Reading {
        name: format!("{name}{suffix}"),
        labels: series.labels.clone(),
        amount,
    };
    match (&series.value, before) {
        (Value::Counter(now), Some(Value::Counter(before))) => {
            vec![reading("", Amount::Increase(now.wrapping_sub(*before)))]
        }
        (Value::Counter(now), _) => vec![reading("", Amount::Increase(*now))],
        (Value::Gauge(now), _) => vec![reading("", Amount::Level(*now))],
        (Value::Histogram(now), before) => {
            let (n_before, sum_before) = match before {
                Some(Value::Histogram(before)) => (before.count(), before.sum),
                _ => (0, Duration::ZERO),
            };
            let n = now.count().saturating_sub(n_before);
            let mut readings = vec![reading("_count", Amount::Increase(n))];
            if n > 0 {
                let average = now.sum.saturating_sub(sum_before).as_secs_f64() / n as f64;
                readings.push(reading("_avg", Amount::Level(average)));
            }
            readings
        }
    }
}

/// Writes readings as `key=value` on one line. With a `filter`, only the metrics that it names.
pub fn log_line(readings: &[Reading], filter: &[String]) -> String {
    let mut line = String::new();
    for Reading { name, labels, amount } in readings {
        if !filter.is_empty() && !filter.contains(name) {
            continue;
        }
        let gap = if line.is_empty() { "" } else { " " };
        let labels: String = labels.iter().map(|(_, value)| format!(".{value}")).collect();
        let written = match amount {
            Amount::Increase(n) => write!(line, "{gap}{name}{labels}={n}"),
            Amount::Level(n) => write!(line, "{gap}{name}{labels}={n}"),
        };
        written.expect("a String takes everything");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;

    fn line(registry: &Registry, earlier: &Snapshot, filter: &[&str]) -> String {
        let filter: Vec<_> = filter.iter().map(ToString::to_string).collect();
        log_line(&registry.snapshot().since(earlier), &filter)
    }

    #[test]
    fn counters_are_told_as_increases_and_gauges_as_they_are() {
        let registry = Registry::default();
        let counter = registry.counter("a_total", "A");
        let gauge = registry.gauge("b_num", "B");
        let histogram = registry.histogram("c_seconds", "C", &[("method", "connect")]);
        counter.add(5);
        gauge.set(3);
        histogram.observe(Duration::from_millis(10));
        let first = registry.snapshot();
        let all = "a_total=5 b_num=3 c_seconds_count.connect=1 c_seconds_avg.connect=0.01";
        assert_eq!(line(&registry, &Snapshot::default(), &[]), all);
        assert_eq!(
            line(&registry, &first, &[]),
            "a_total=0 b_num=3 c_seconds_count.connect=0"
        );

        counter.add(2);
        gauge.set(1);
        histogram.observe(Duration::from_millis(20));
        histogram.observe(Duration::from_millis(40));
        assert_eq!(
            line(&registry, &first, &[]),
            "a_total=2 b_num=1 c_seconds_count.connect=2 c_seconds_avg.connect=0.03"
        );
        assert_eq!(line(&registry, &first, &["b_num", "nothing"]), "b_num=1");
    }
}
