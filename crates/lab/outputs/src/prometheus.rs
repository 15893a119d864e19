//! Prometheus's remote write 1.0: figures of the run so far over HTTP, every few seconds (docs/reference/outputs.md,
//! `prometheus-rw`).

use bytes::Bytes;

mod config;
mod message;
mod names;
mod native;

pub(crate) use self::config::PrometheusRw;
use self::{
    message::{TimeSeries, WriteRequest},
    names::Names,
};
use crate::{
    distribution::{Distribution, TrendStyle},
    post::{Post, Refusal},
    push::Database,
    series::{Figure, Series, SeriesStore},
};
use plimsoll_load::metrics::Contains;
use plimsoll_report::trend_figure;

/// Time series in one request. Prometheus's own senders have this limit, so every receiver accepts it.
const PORTION: usize = 2_000;

/// A millisecond in Prometheus's unit of time.
const SECONDS: f64 = 1e-3;

/// A server that accepts remote writes.
pub(crate) struct Prometheus {
    post: Post,
    names: Names,
    trend_stats: Vec<String>,
    stale_markers: bool,
}

impl Prometheus {
    pub(crate) fn new(config: PrometheusRw) -> Self {
        Self {
            post: Post::new(config.url, config.headers, config.tls, config::REQUEST_LIMIT),
            names: Names::new(config.labels),
            trend_stats: config.trend_stats,
            stale_markers: config.stale_markers,
        }
    }

    /// What the series is to Prometheus: several series for most trends.
    fn time_series(&self, store: &SeriesStore, series: &Series) -> Vec<TimeSeries> {
        let definition = store.definition(series.metric);
        let labels = |suffix: &str| self.names.labels(&definition.name, suffix, &series.tags);
        let time = message::millis(series.stamp);
        let number = |suffix: &str, value: f64| TimeSeries::of_number(labels(suffix), value, time);
        match &series.figure {
            Figure::Counter(sum) => vec![number("_total", *sum)],
            Figure::Gauge(value) => vec![number("", *value)],
            Figure::Rate { n_true, n_total } => vec![number("_rate", *n_true as f64 / *n_total as f64)],
            Figure::Trend(trend) => {
                let (unit, scale) = match definition.contains {
                    Contains::Time => ("_seconds", SECONDS),
                    Contains::Data => ("_bytes", 1.0),
                    Contains::Default => ("", 1.0),
                };
                if let Some(histogram) = native::histogram(trend, time) {
                    return vec![TimeSeries::of_histogram(labels(unit), histogram)];
                }
                let figures = self.figures(trend, scale).into_iter();
                let figures = figures.map(|(stat, value)| number(&names::stat_suffix(stat), value));
                figures.collect()
            }
        }
    }

    /// The requested figures of a trend.
    fn figures(&self, trend: &Distribution, scale: f64) -> Vec<(&str, f64)> {
        let figures = trend.with_histogram(|histogram| {
            let stats = self.trend_stats.iter().map(String::as_str);
            let figures = stats.map(|stat| {
                let value = match stat {
                    "count" => return (stat, trend.count as f64),
                    "sum" => trend.sum,
                    "min" => trend.min,
                    "max" => trend.max,
                    "avg" => trend.sum / trend.count as f64,
                    // What the settings let through is a figure that there is.
                    _ => trend_figure(histogram, stat).unwrap_or(f64::NAN),
                };
                (stat, value * scale)
            });
            figures.collect()
        });
        figures.unwrap_or_default()
    }
}

/// Requests of a size that every server accepts.
fn requests(time_series: impl Iterator<Item = TimeSeries>) -> Vec<Bytes> {
    let time_series: Vec<_> = time_series.collect();
    time_series
        .chunks(PORTION)
        .map(WriteRequest::compressed)
        .collect()
}

impl Database for Prometheus {
    type Payload = Bytes;

    fn encode(&self, store: &SeriesStore, positions: &[usize]) -> Vec<Bytes> {
        let series = positions.iter().map(|&position| &store.all()[position]);
        requests(series.flat_map(|series| self.time_series(store, series)))
    }

    /// Marks all series as ended, if the user asked for that.
    fn farewell(&self, store: &SeriesStore) -> Vec<Bytes> {
        let series = store.all().iter().filter(|_| self.stale_markers);
        let all = series.flat_map(|series| self.time_series(store, series));
        requests(all.map(TimeSeries::into_stale))
    }

    async fn send(&self, payload: &Bytes) -> Result<(), Refusal> {
        self.post.send(payload.clone()).await.map(drop)
    }
}

impl PrometheusRw {
    /// The form of trends.
    pub(crate) fn trend_style(&self) -> TrendStyle {
        if self.native_histograms {
            TrendStyle::Exponential { millisecond: SECONDS }
        } else {
            TrendStyle::Figures
        }
    }
}

#[cfg(test)]
mod tests;
