//! All metrics of a run.

use std::collections::BTreeMap;

use plimsoll_load::metrics::{Definition, MetricSet, Value};

use super::Metric;

/// The most characters of all encoded histograms together. Reason: a third of the limit of a summary; thirty widely
/// spread ones fit. If there are more, the longest ones are omitted.
const MAX_ENCODED: usize = 1 << 20;

/// Metrics with samples, those with thresholds (`judged`), and those that appeared during a run of this many `seconds`.
pub(super) fn all<'a>(
    set: &'a MetricSet,
    seconds: f64,
    judged: impl Iterator<Item = &'a Definition>,
    trend_stats: &[String],
) -> BTreeMap<String, Metric> {
    let unsampled = judged.map(|definition| (definition, Metric::unsampled(definition, trend_stats)));
    let sampled = set.iter().map(|(definition, value)| {
        let metric = Metric::new(definition.contains, value, seconds, trend_stats);
        (definition, metric.with_histogram(value))
    });
    let registered = unsampled
        .chain(sampled)
        .map(|(definition, metric)| (definition.name.clone(), metric));
    // Later metrics replace earlier ones.
    let mut metrics = emerged(set, seconds, trend_stats).chain(registered).collect();
    limit_histograms(&mut metrics);
    metrics
}

/// Metrics that were not registered before the run.
fn emerged(set: &MetricSet, seconds: f64, trend_stats: &[String]) -> impl Iterator<Item = (String, Metric)> {
    let counted = set.tallies().chain(set.events());
    let counted = counted.map(|(name, n)| (name, Value::Counter(n as f64)));
    let distributions = set.distributions();
    let distributions = distributions.map(|(name, histogram)| (name, Value::Trend(histogram)));
    counted.chain(distributions).map(move |(name, value)| {
        let metric = Metric::new(set.distribution_contains(name), value, seconds, trend_stats);
        (name.to_owned(), metric.with_histogram(value))
    })
}

/// Leaves out the longest histograms until the others fit.
fn limit_histograms(metrics: &mut BTreeMap<String, Metric>) {
    let mut metrics: Vec<_> = metrics.values_mut().collect();
    metrics.sort_by_key(|metric| length(metric));
    let mut sum = 0;
    for metric in metrics {
        sum += length(metric);
        if sum > MAX_ENCODED {
            metric.omit_samples();
        }
    }
}

fn length(metric: &Metric) -> usize {
    metric.histogram.as_ref().map_or(0, String::len)
}
