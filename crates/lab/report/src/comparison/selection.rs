//! Selects the figures of a summary to compare: latencies for users and costs, not everything that was counted.
//!
//! Each additional figure makes all intervals wider, because they hold together. So there are few.

use super::{
    conditions,
    exact::Faults,
    figure::{Better, Figure, Nature, Unit},
    judgement::Case,
    measurement::{Measurement, Parts},
};
use crate::{
    Distribution, Summary, highlights,
    summary::{Contains, Metric, Target, Values},
    timeline::{Series, Timeline},
};

/// The most trends. Reason: a page has a headline and one more.
const MAX_TRENDS: usize = 2;

/// The most counters whose rates are compared, in addition to that of iterations.
const MAX_COUNTERS: usize = 1;

/// Trends that are parts of others, or that the test defines itself: pauses, schedules, sessions.
const PARTS_OF_OTHERS: [&str; 20] = [
    "iteration_duration",
    "iteration_duration_scheduled",
    "iteration_lateness",
    "group_duration",
    "http_req_blocked",
    "http_req_looking_up",
    "http_req_connecting",
    "http_req_tls_handshaking",
    "http_req_sending",
    "http_req_waiting",
    "http_req_receiving",
    "http_req_queueing",
    "http_req_processing",
    "ws_tcp_connecting",
    "ws_upgrading",
    "ws_welcome",
    "ws_subscribing",
    "ws_session_duration",
    "vusers.session_length",
    "vusers.lateness",
];

/// The prefix of metrics of Artillery's plugins, which measure requests a second time, for example by endpoint.
const OF_PLUGINS: &str = "plugins.";

/// Counters of work that was done.
const WORK: [&str; 11] = [
    "http_reqs",
    "ws_msgs_received",
    "ws_msgs_sent",
    "grpc_reqs",
    "http.requests",
    "websocket.messages_received",
    "websocket.messages_sent",
    "messages_received",
    "messages_sent",
    "requests",
    "deliveries",
];

/// The figures of one run.
pub(super) struct Subject {
    figures: Vec<(Figure, Measurement)>,
    interval_seconds: u32,
    /// The lateness of a generator that took replies late; `None` if it took them in time.
    late: Option<Late>,
    /// Lost and duplicated messages, if the scenario counts them.
    pub(super) faults: Option<[Faults; 2]>,
}

/// The delay of a generator that took replies late.
struct Late {
    lateness: Distribution,
    /// The mean of the run's main latency in microseconds; not a number without one.
    latency: f64,
}

impl Late {
    fn of(summary: &Summary) -> Option<Self> {
        let latency = highlights::latency(summary)
            .and_then(|name| summary.metrics.get(name))
            .and_then(duration)
            .map_or(f64::NAN, |distribution| distribution.mean);
        conditions::takes_replies_late(summary).then_some(Self {
            lateness: summary.generator.lateness,
            latency,
        })
    }
}

impl Subject {
    pub(super) fn new(summary: &Summary) -> Self {
        let mut figures = Vec::new();
        for name in main_trends(summary) {
            figures.extend(trend(summary, name));
        }
        figures.extend(throughput(summary));
        figures.extend(shares(summary));
        for target in &summary.targets {
            figures.extend(costs(summary, target));
        }
        let faults = summary.losses.map(|losses| {
            [losses.lost, losses.duplicated].map(|n| Faults {
                n,
                of: losses.expected,
            })
        });
        Self {
            figures,
            interval_seconds: summary.timeline.interval_seconds.max(1),
            late: Late::of(summary),
            faults,
        }
    }

    /// A figure with intervals of this length, which is a multiple of its own.
    fn measurement(&self, figure: &Figure, interval_seconds: u32) -> Option<Measurement> {
        let (_, measurement) = self.figures.iter().find(|(known, _)| known == figure)?;
        let n_joined = (interval_seconds / self.interval_seconds).max(1) as usize;
        Some(Measurement {
            value: measurement.value,
            parts: measurement.parts.coarser(n_joined),
        })
    }
}

impl Subject {
    /// The part of a figure that may be the generator's own delay, from 0 to 1. A figure of which that is unknown may be
    /// delay altogether.
    fn late_part(&self, figure: &Figure, value: f64) -> f64 {
        self.late.as_ref().map_or(0.0, |Late { lateness, latency }| {
            let part = figure.nature.late_part(value, *latency, lateness);
            if part.is_nan() { 1.0 } else { part.min(1.0) }
        })
    }
}

/// The largest part of any run of a side.
fn late_part(runs: &[Subject], measurements: &[Measurement], figure: &Figure) -> f64 {
    let parts = runs.iter().zip(measurements);
    let parts = parts.map(|(run, measurement)| run.late_part(figure, measurement.value));
    parts.fold(0.0, f64::max)
}

/// The figures that all runs of both sides have.
pub(super) fn cases(baseline: &[Subject], candidate: &[Subject]) -> Vec<Case> {
    let all = || baseline.iter().chain(candidate);
    let interval_seconds = all().map(|run| run.interval_seconds).max().unwrap_or(1);
    let Some(first) = baseline.first() else {
        return Vec::new();
    };
    let case = |(figure, _): &(Figure, Measurement)| {
        let side = |runs: &[Subject]| {
            runs.iter()
                .map(|run| run.measurement(figure, interval_seconds))
                .collect::<Option<Vec<_>>>()
        };
        let (before, after) = (side(baseline)?, side(candidate)?);
        Some(Case {
            figure: figure.clone(),
            late: [
                late_part(baseline, &before, figure),
                late_part(candidate, &after, figure),
            ],
            baseline: before,
            candidate: after,
        })
    };
    first.figures.iter().filter_map(case).collect()
}

/// The trends that users notice: the first one on a run's page, and then the trends of durations with the most samples.
fn main_trends(summary: &Summary) -> Vec<&str> {
    let first = highlights::latency(summary);
    let durations = summary.metrics.iter().filter_map(|(name, metric)| {
        let distribution = duration(metric)?;
        let is_part = PARTS_OF_OTHERS.contains(&name.as_str()) || name.starts_with(OF_PLUGINS);
        let is_whole = !name.contains('{') && !is_part;
        (is_whole && distribution.count > 0 && first != Some(name))
            .then_some((distribution.count, name.as_str()))
    });
    let mut durations: Vec<_> = durations.collect();
    durations.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    let others = durations.into_iter().map(|(_, name)| name);
    first.into_iter().chain(others).take(MAX_TRENDS).collect()
}

fn duration(metric: &Metric) -> Option<&Distribution> {
    match &metric.values {
        Values::Trend(distribution) if metric.contains == Contains::Time => Some(distribution),
        _ => None,
    }
}

fn trend(summary: &Summary, name: &str) -> Vec<(Figure, Measurement)> {
    let distribution = summary.metrics.get(name).and_then(duration);
    let series = summary.timeline.metrics.get(name);
    let (
        Some(distribution),
        Some(Series::Trend {
            counts, means, heat, ..
        }),
    ) = (distribution, series)
    else {
        return Vec::new();
    };
    let figure = |figure: &str, nature| Figure {
        metric: name.to_owned(),
        figure: figure.to_owned(),
        unit: Unit::Microseconds,
        better: Better::Lower,
        nature,
    };
    let sums = counts.iter().zip(means).map(|(&count, mean)| {
        let count = count as f64;
        (mean.unwrap_or(0.0) * count, count)
    });
    let mean = Measurement {
        value: distribution.mean,
        parts: Parts::Ratio(sums.collect()),
    };
    // A percentile needs ten samples beyond it.
    let percentiles = [
        ("p50", 0.5, distribution.p50, Nature::Median, 20),
        ("p95", 0.95, distribution.p95, Nature::P95, 200),
        ("p99", 0.99, distribution.p99, Nature::P99, 1000),
    ];
    let percentiles = percentiles
        .into_iter()
        .filter(|&(.., least_samples)| distribution.count >= least_samples)
        .map(|(name, quantile, value, nature, _)| {
            let parts = Parts::Quantile {
                quantile,
                per_octave: summary.timeline.heat_bins_per_octave.max(1),
                histograms: heat.iter().map(|bins| pairs(bins)).collect(),
            };
            let value = value as f64;
            (figure(name, nature), Measurement { value, parts })
        });
    [(figure("mean", Nature::Mean), mean)]
        .into_iter()
        .chain(percentiles)
        .collect()
}

/// Bin and count in turn, as pairs.
fn pairs(bins: &[u64]) -> Vec<(u32, u64)> {
    bins.chunks_exact(2)
        .filter_map(|pair| Some((u32::try_from(pair[0]).ok()?, pair[1])))
        .collect()
}

/// Iterations per second, and the work of which there was most.
fn throughput(summary: &Summary) -> Vec<(Figure, Measurement)> {
    let timeline = &summary.timeline;
    let mut work: Vec<_> = WORK
        .iter()
        .filter_map(|&name| Some((name, counter(summary, name)?)))
        // A counter with one count per iteration says nothing more.
        .filter(|(_, (total, _))| *total != summary.iterations.complete as f64)
        .collect();
    work.sort_by(|one, other| other.1.0.total_cmp(&one.1.0));
    work.truncate(MAX_COUNTERS);
    let iterations = numbers(&timeline.iterations);
    let of_iterations = ("iterations", (summary.iterations.complete as f64, iterations));
    [of_iterations]
        .into_iter()
        .chain(work)
        .filter(|(_, (total, _))| *total > 0.0)
        .map(|(name, (total, counts))| {
            let figure = Figure {
                metric: name.to_owned(),
                figure: "rate".to_owned(),
                unit: Unit::PerSecond,
                better: Better::Higher,
                nature: Nature::Throughput,
            };
            let seconds = seconds_of_intervals(summary);
            let measurement = Measurement {
                value: total / summary.metadata.duration_seconds,
                parts: Parts::Ratio(counts.into_iter().zip(seconds).collect()),
            };
            (figure, measurement)
        })
        .collect()
}

/// Its total, and its parts.
fn counter(summary: &Summary, name: &str) -> Option<(f64, Vec<f64>)> {
    let Values::Counter { count, .. } = summary.metrics.get(name)?.values else {
        return None;
    };
    match summary.timeline.metrics.get(name)? {
        Series::Counter { counts } => Some((count, counts.clone())),
        Series::Gauge { .. } | Series::Rate { .. } | Series::Trend { .. } => None,
    }
}

/// The last interval ends with the run.
fn seconds_of_intervals(summary: &Summary) -> impl Iterator<Item = f64> {
    let length = f64::from(summary.timeline.interval_seconds.max(1));
    let duration = summary.metadata.duration_seconds;
    (0..summary.timeline.n_intervals).map(move |index| (duration - index as f64 * length).clamp(0.0, length))
}

/// Shares of failures, where failures are possible.
fn shares(summary: &Summary) -> Vec<(Figure, Measurement)> {
    let timeline = &summary.timeline;
    let iterations = summary.iterations.complete > 0;
    let of_iterations = iterations.then(|| ("iterations", ratio(&timeline.failed, &timeline.iterations)));
    let of_requests =
        rate(timeline, "http_req_failed").map(|(passes, totals)| ("http_req_failed", ratio(passes, totals)));
    let of_checks = rate(timeline, "checks").map(|(passes, totals)| {
        let fails: Vec<_> = totals
            .iter()
            .zip(passes)
            .map(|(total, pass)| total.saturating_sub(*pass))
            .collect();
        ("checks", ratio(&fails, totals))
    });
    [of_iterations, of_requests, of_checks]
        .into_iter()
        .flatten()
        .map(|(name, pairs)| {
            let (failed, total) = pairs
                .iter()
                .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
            let figure = Figure {
                metric: name.to_owned(),
                figure: "failed".to_owned(),
                unit: Unit::Share,
                better: Better::Lower,
                nature: Nature::Share,
            };
            let measurement = Measurement {
                value: if total > 0.0 { failed / total } else { 0.0 },
                parts: Parts::Ratio(pairs),
            };
            (figure, measurement)
        })
        .collect()
}

fn rate<'a>(timeline: &'a Timeline, name: &str) -> Option<(&'a [u64], &'a [u64])> {
    match timeline.metrics.get(name)? {
        Series::Rate { passes, totals } => Some((passes, totals)),
        Series::Counter { .. } | Series::Gauge { .. } | Series::Trend { .. } => None,
    }
}

fn ratio(numerators: &[u64], denominators: &[u64]) -> Vec<(f64, f64)> {
    numbers(numerators)
        .into_iter()
        .zip(numbers(denominators))
        .collect()
}

fn numbers(counts: &[u64]) -> Vec<f64> {
    counts.iter().map(|&count| count as f64).collect()
}

/// A target's resource use for the work, if known.
fn costs(summary: &Summary, target: &Target) -> Vec<(Figure, Measurement)> {
    let figure = |name: String, unit, nature| Figure {
        metric: target.name.clone(),
        figure: name,
        unit,
        better: Better::Lower,
        nature,
    };
    let mut costs = Vec::new();
    let works = throughput(summary);
    let most = works
        .iter()
        .max_by(|one, other| one.1.value.total_cmp(&other.1.value));
    if let (Some((work, measurement)), Some(cores)) = (most, target.series.get("cpu_cores"))
        && let Parts::Ratio(counts) = &measurement.parts
        && let Some(cpu_seconds) = target.cpu_seconds.filter(|seconds| *seconds > 0.0)
    {
        let total = measurement.value * summary.metadata.duration_seconds;
        let pairs = cores.iter().zip(counts);
        let pairs = pairs.map(|(cores, (count, seconds))| (cores.unwrap_or(0.0) * seconds * 1e6, *count));
        costs.push((
            figure(
                format!("CPU per {}", singular(&work.metric)),
                Unit::Microseconds,
                Nature::Cpu,
            ),
            Measurement {
                value: cpu_seconds * 1e6 / total,
                parts: Parts::Ratio(pairs.collect()),
            },
        ));
    }
    // Not its growth per user: a server that had users before grows little, and is no better for it.
    if let Some(bytes) = target.rss_max_bytes.filter(|bytes| *bytes > 0) {
        costs.push((
            figure("memory".to_owned(), Unit::Bytes, Nature::Memory),
            Measurement {
                value: bytes as f64,
                parts: Parts::Whole,
            },
        ));
    }
    costs
}

/// The singular of a counter's unit.
fn singular(counter: &str) -> &str {
    match counter {
        "iterations" => "iteration",
        "http_reqs" | "http.requests" | "requests" | "grpc_reqs" => "request",
        _ => "message",
    }
}

#[cfg(test)]
mod tests;
