//! Artillery's reports: figures under its names for each ten seconds and for the whole run, in the layouts of its
//! second and first versions, and as the JSON of its second one (docs/reference/artillery.md, Figures).

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use plimsoll_load::{
    histogram::Histogram,
    metrics::{MetricSet, Value},
};

mod generator;
mod json;
mod periods;
mod version1;
mod version2;

pub use self::{generator::Arrivals, json::json, periods::Periods, version1::Version1, version2::Version2};

/// The names of registered metrics in a report.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// Registered names with Artillery's.
    pub metrics: &'static [(&'static str, &'static str)],
    /// Counters that have a rate besides, with its name.
    pub rates: &'static [(&'static str, &'static str)],
}

/// What was measured in a stretch of time.
#[derive(Clone, Debug)]
pub struct Figures {
    /// When it began.
    pub start: SystemTime,
    /// How long it was.
    pub width: Duration,
    /// Sums.
    pub counters: BTreeMap<String, u64>,
    /// Events per second, over the whole stretch.
    pub rates: BTreeMap<String, f64>,
    /// Distributions.
    pub summaries: BTreeMap<String, Histogram>,
}

/// How the names of figures of single endpoints begin.
const ENDPOINTS: &str = "plugins.metrics-by-endpoint.";

/// The figures of a distribution, in Artillery's order.
const FIGURES: [&str; 11] = [
    "min", "max", "count", "mean", "p50", "median", "p75", "p90", "p95", "p99", "p999",
];

impl Figures {
    /// What `metrics` holds of a stretch of time.
    pub fn new(start: SystemTime, width: Duration, metrics: &MetricSet, names: &Names) -> Self {
        let mut figures = Self {
            start,
            width,
            counters: metrics.tallies().map(|(name, n)| (name.to_owned(), n)).collect(),
            rates: BTreeMap::new(),
            summaries: metrics
                .distributions()
                .map(|(name, distribution)| (name.to_owned(), distribution.clone()))
                .collect(),
        };
        if !width.is_zero() {
            let events = metrics.events();
            let rates = events.map(|(name, n)| (name.to_owned(), n as f64 / width.as_secs_f64()));
            figures.rates.extend(rates);
        }
        for (definition, value) in metrics.iter() {
            let find = |names: &[(&str, &'static str)]| {
                let found = names
                    .iter()
                    .find(|(registered, _)| *registered == definition.name);
                found.map(|&(_, name)| name.to_owned())
            };
            if let (Some(name), Value::Counter(sum)) = (find(names.rates), value)
                && !width.is_zero()
            {
                figures.rates.insert(name, sum / width.as_secs_f64());
            }
            match (find(names.metrics), value) {
                (Some(name), Value::Counter(sum)) => drop(figures.counters.insert(name, sum as u64)),
                (Some(name), Value::Trend(histogram)) => {
                    drop(figures.summaries.insert(name, histogram.clone()));
                }
                _ => {}
            }
        }
        // Artillery states it even if none failed.
        if figures.counters.contains_key("vusers.created") {
            figures.counters.entry("vusers.failed".to_owned()).or_default();
        }
        figures
    }

    /// The figures without those of single endpoints.
    #[must_use]
    pub fn without_endpoints(&self) -> Self {
        let mut rest = self.clone();
        rest.counters.retain(|name, _| !name.starts_with(ENDPOINTS));
        rest.summaries.retain(|name, _| !name.starts_with(ENDPOINTS));
        rest
    }

    /// A counter. Zero if it has no samples.
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or_default()
    }

    /// Any figure by its name: a counter, a rate, or a distribution with one of its figures (`name.p95`).
    pub fn figure(&self, name: &str) -> Option<f64> {
        if let Some(&n) = self.counters.get(name) {
            return Some(n as f64);
        }
        if let Some(&rate) = self.rates.get(name) {
            return Some(rate);
        }
        let (name, figure) = name.rsplit_once('.')?;
        summary_figure(self.summaries.get(name)?, figure)
    }

    /// All rates, rounded as in reports.
    pub fn rounded_rates(&self) -> impl Iterator<Item = (&str, f64)> {
        let rates = self.rates.iter();
        rates.map(|(name, rate)| (name.as_str(), rounded_rate(*rate)))
    }

    /// All figures of all distributions, rounded as in reports: the distribution, the name of the figure, and its value.
    pub fn readings(&self) -> impl Iterator<Item = (&str, &'static str, f64)> {
        self.summaries.iter().flat_map(|(name, histogram)| {
            let figures = FIGURES.iter();
            figures.filter_map(|&figure| Some((name.as_str(), figure, summary_figure(histogram, figure)?)))
        })
    }

    /// The Apdex score with its rank, if answers were counted for one.
    pub fn apdex(&self) -> Option<(f64, &'static str)> {
        let [satisfied, tolerated, frustrated] = ["satisfied", "tolerated", "frustrated"]
            .map(|name| self.counter(&format!("apdex.{name}")) as f64);
        let n_total = satisfied + tolerated + frustrated;
        if n_total == 0.0 {
            return None;
        }
        let score = (satisfied + tolerated / 2.0) / n_total;
        let ranks = [(0.94, "excellent"), (0.85, "good"), (0.7, "fair"), (0.49, "poor")];
        let rank = ranks.iter().find(|(least, _)| score >= *least);
        Some((score, rank.map_or("unacceptable", |&(_, rank)| rank)))
    }

    fn is_empty(&self) -> bool {
        self.counters.is_empty() && self.summaries.is_empty()
    }
}

/// A figure of a distribution in milliseconds, with one decimal as in Artillery; with more below 0.1 ms, where nothing
/// would be left. Percentiles are samples that occurred, within 0.1 %.
fn summary_figure(histogram: &Histogram, figure: &str) -> Option<f64> {
    let ms = |duration: Duration| rounded(duration.as_secs_f64() * 1e3);
    let at = |quantile| ms(histogram.value_at_quantile(quantile));
    Some(match figure {
        "min" => ms(histogram.min()),
        "max" => ms(histogram.max()),
        "count" => histogram.count() as f64,
        "mean" => rounded(histogram.mean_us() / 1e3),
        "p50" | "median" => at(0.5),
        "p75" => at(0.75),
        "p90" => at(0.9),
        "p95" => at(0.95),
        "p99" => at(0.99),
        "p999" => at(0.999),
        _ => return None,
    })
}

fn rounded(ms: f64) -> f64 {
    let digits = if ms < 0.1 { 1e3 } else { 10.0 };
    (ms * digits).round() / digits
}

/// Whole events per second, as in Artillery; with one decimal below ten, where a whole number would say little.
fn rounded_rate(rate: f64) -> f64 {
    if rate < 10.0 {
        (rate * 10.0).round() / 10.0
    } else {
        rate.round()
    }
}

/// The time of day and the date of a moment, in UTC: `14:23:37(+0000)` and `2021-08-07`.
fn clock(time: SystemTime) -> (String, String) {
    let text = crate::rfc3339_secs(time);
    let (date, time) = text.split_once('T').unwrap_or(("", &text));
    (format!("{}(+0000)", time.trim_end_matches('Z')), date.to_owned())
}

#[cfg(test)]
mod tests;
