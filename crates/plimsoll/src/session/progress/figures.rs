//! Figures of metrics during the run, for people (not in k6).

use std::{collections::HashMap, time::Duration};

use plimsoll_live::Watched;
use plimsoll_load::{
    metrics::{Contains, Definition, Value},
    run::Progress,
};
use plimsoll_report::{percentile, quantity};

/// The figures of a run until now, and at the last call.
#[derive(Debug)]
pub(super) struct Figures {
    watched: Watched,
    counters: HashMap<String, f64>,
    at: Duration,
}

/// The figures of one metric for people.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Figure {
    pub(super) name: String,
    /// Columns; the first is the one to know.
    pub(super) cells: Vec<String>,
}

impl Figures {
    pub(super) fn new() -> Self {
        Self {
            watched: Watched::default(),
            counters: HashMap::new(),
            at: Duration::ZERO,
        }
    }

    /// The figures of all metrics with samples: checks first, then the script's own metrics, then those of protocols.
    /// Counters have the rate since the last call.
    pub(super) fn read(&mut self, progress: &Progress<'_>) -> Vec<Figure> {
        let interval = progress.elapsed.saturating_sub(self.at);
        self.at = progress.elapsed;
        let mut ranked: Vec<_> = progress
            .metrics
            .iter()
            .filter_map(|(definition, value)| Some((self.watched.rank(definition)?, definition, value)))
            .collect();
        ranked.sort_by_key(|(rank, definition, _)| (*rank, definition.name.as_str()));
        let figures = ranked.into_iter().map(|(_, definition, value)| Figure {
            cells: match value {
                Value::Counter(sum) => self.counter(definition, sum, interval),
                value => cells(definition.contains, &value),
            },
            name: definition.name.clone(),
        });
        figures.collect()
    }

    fn counter(&mut self, definition: &Definition, sum: f64, interval: Duration) -> Vec<String> {
        let before = self
            .counters
            .insert(definition.name.clone(), sum)
            .unwrap_or_default();
        let per_second = match interval.as_secs_f64() {
            0.0 => 0.0,
            secs => (sum - before) / secs,
        };
        match definition.contains {
            Contains::Data => vec![format!("{}/s", quantity::bytes(per_second)), quantity::bytes(sum)],
            Contains::Default | Contains::Time => vec![format!("{per_second:.0}/s"), quantity::number(sum)],
        }
    }
}

/// The figures of a metric that is not a counter.
fn cells(contains: Contains, value: &Value<'_>) -> Vec<String> {
    match value {
        Value::Trend(histogram) => {
            let figure = |label, duration: Duration| {
                let text = match contains {
                    Contains::Time => quantity::duration(duration),
                    // Plain numbers and bytes are held in thousandths, as milliseconds are in microseconds.
                    Contains::Default => quantity::number(duration.as_secs_f64() * 1e3),
                    Contains::Data => quantity::bytes(duration.as_secs_f64() * 1e3),
                };
                format!("{label}={text}")
            };
            vec![
                figure("p(95)", percentile(histogram, 95.0)),
                figure("med", percentile(histogram, 50.0)),
                figure("max", histogram.max()),
            ]
        }
        Value::Rate(rate) => vec![
            quantity::percent(rate.share()),
            format!("✓ {}", rate.n_true),
            format!("✗ {}", rate.n_total - rate.n_true),
        ],
        Value::Gauge(gauge) => vec![quantity::number(gauge.value)],
        Value::Counter(sum) => vec![quantity::number(*sum)],
    }
}

/// A table of the first `n_rows`, no wider than `width`.
pub(super) fn table(figures: &[Figure], n_rows: usize, width: usize) -> String {
    let shown = &figures[..figures.len().min(n_rows)];
    let name_width = shown
        .iter()
        .map(|figure| figure.name.chars().count())
        .max()
        .unwrap_or(0);
    let column_width = |column: usize| {
        let cells = shown.iter().filter_map(|figure| figure.cells.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..3).map(column_width).collect();
    let rows = shown.iter().map(|figure| {
        let cells = figure
            .cells
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("  {cell:<width$}"));
        let row = format!("  {:<name_width$}{}", figure.name, cells.collect::<String>());
        row.trim_end()
            .chars()
            .take(width)
            .chain(['\n'])
            .collect::<String>()
    });
    rows.collect()
}

/// The first figures on one line.
pub(super) fn brief(figures: &[Figure], n: usize) -> String {
    let first = figures.iter().take(n);
    let texts = first.map(|figure| {
        format!(
            "; {} {}",
            figure.name,
            figure.cells.first().map_or("", String::as_str)
        )
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;
    use plimsoll_load::{
        attempts::Attempts,
        generator::Schedule,
        metrics::{
            MetricSet, Registry,
            built_in::{Execution, Http, WebSocket},
        },
        run::{Failures, Stretch},
    };

    use super::*;

    #[test]
    fn what_people_watch() {
        let mut registry = Registry::new();
        let execution = Execution::register(&mut registry).unwrap();
        let http = Http::register(&mut registry).unwrap();
        let websocket = WebSocket::register(&mut registry).unwrap();
        let rtt = registry.trend("rtt").unwrap();
        let sizes = registry.trend_of("page_size", Contains::Data).unwrap();
        let seen = registry.counter("news_seen", Contains::Default).unwrap();
        let check = registry.check("is there");
        let mut metrics = MetricSet::new(Arc::new(registry));
        for ms in 1..=100 {
            metrics.record(rtt, Duration::from_millis(ms));
            metrics.record(http.blocked, Duration::from_millis(ms));
            metrics.check(check, ms != 7);
        }
        metrics.record(sizes, Duration::from_millis(3_400));
        metrics.count(seen, 30);
        metrics.count(websocket.msgs_received, 4_000);
        metrics.count(execution.iterations, 100);
        let failures = Failures::default();
        let mut figures = Figures::new();
        let recent = Stretch::empty(&metrics);
        figures.read(&progress(1_000, &metrics, &recent, &failures));
        metrics.count(seen, 300);
        metrics.count(websocket.msgs_received, 9_000);
        let read = figures.read(&progress(3_000, &metrics, &recent, &failures));
        expect![[r#"
            |  checks            99.00%         ✓ 99        ✗ 1
            |  news_seen         150/s          330
            |  page_size         p(95)=3.4 kB   med=3.4 kB  max=3.4 kB
            |  rtt               p(95)=95.05ms  med=50.5ms  max=100ms
            |  ws_msgs_received  4500/s         13000
        "#]]
        .assert_eq(&barred(&table(&read, 10, 100)));
        expect![[r#"
            |  checks     99.00%  ✓ 99  ✗ 1
            |  news_seen  150/s   330
        "#]]
        .assert_eq(&barred(&table(&read, 2, 30)));
        expect!["; checks 99.00%; news_seen 150/s"].assert_eq(&brief(&read, 2));
        assert_eq!(table(&[], 10, 100), "");
    }

    /// Puts a bar before each line, because a snapshot does not keep the common indentation.
    fn barred(text: &str) -> String {
        text.lines().map(|line| format!("|{line}\n")).collect()
    }

    fn progress<'a>(
        ms: u64,
        metrics: &'a MetricSet,
        recent: &'a Stretch,
        failures: &'a Failures,
    ) -> Progress<'a> {
        Progress {
            elapsed: Duration::from_millis(ms),
            active_vus: 0,
            max_vus: 0,
            n_iterations_complete: 0,
            n_interrupted: 0,
            scenarios: Vec::new(),
            thresholds: Vec::new(),
            metrics,
            recent,
            notices: &[],
            failures,
            attempts: Attempts::of_run(metrics, 0, 0),
            schedule: Schedule::default(),
            agents: Vec::new(),
        }
    }
}
