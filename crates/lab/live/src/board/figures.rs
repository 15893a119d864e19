//! Metrics as people watch them: of the last second, of the whole run, and over the last two minutes.

use std::collections::{BTreeMap, HashMap};

use plimsoll_load::{
    metrics::{Contains, Definition, MetricSet, Rate, Value as Sample},
    run::Progress,
};

use super::{Quantiles, Watched, Window};

/// One metric.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) contains: Contains,
    pub(crate) value: Value,
    rank: usize,
}

/// Its figures, of the last second and of the whole run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// A distribution.
    Distribution {
        recent: Option<Quantiles>,
        total: Quantiles,
    },
    /// A sum.
    Flow { per_second: f64, total: f64 },
    /// The share of true values.
    Share { recent: Option<f64>, total: Rate },
    /// The latest value.
    Level(f64),
}

/// Those of one run.
#[derive(Debug)]
pub(crate) struct Figures {
    watched: Watched,
    /// Names of metrics that come before all others.
    pub(super) leading: Vec<&'static str>,
    all: Vec<Figure>,
    /// Curves by name; one number for each second, for a small curve.
    curves: HashMap<String, Window<f64>>,
    /// By name, of distributions.
    quantiles: HashMap<String, Window<Quantiles>>,
}

/// Behind all others.
const OF_THE_RUN: usize = usize::MAX;

/// Figures that have curves. Reason: more do not fit on a screen, and an Artillery file may come to two thousand names.
const MAX_CURVES: usize = 40;

impl Figures {
    pub(super) fn new() -> Self {
        Self {
            watched: Watched::default(),
            leading: Vec::new(),
            all: Vec::new(),
            curves: HashMap::new(),
            quantiles: HashMap::new(),
        }
    }

    /// All figures with samples, in the order of their importance.
    pub(crate) fn all(&self) -> &[Figure] {
        &self.all
    }

    /// The main latency: the first distribution of durations.
    pub(crate) fn main_latency(&self) -> Option<&Figure> {
        let is_latency = |figure: &&Figure| {
            figure.contains == Contains::Time && matches!(figure.value, Value::Distribution { .. })
        };
        self.all.iter().find(is_latency)
    }

    /// A counter's growth in the last second. `None` before its first sample.
    pub(crate) fn per_second(&self, name: &str) -> Option<f64> {
        self.all.iter().find_map(|figure| match figure.value {
            Value::Flow { per_second, .. } if figure.name == name => Some(per_second),
            _ => None,
        })
    }

    /// Seconds of a distribution that had samples.
    pub(crate) fn quantiles(&self, name: &str) -> Option<&Window<Quantiles>> {
        self.quantiles.get(name)
    }

    /// What a small curve of a figure shows: the rate, the share, or the p(95) in microseconds of each second.
    pub(crate) fn curve(&self, name: &str) -> Option<&Window<f64>> {
        self.curves.get(name)
    }

    pub(super) fn observe(&mut self, progress: &Progress<'_>) {
        let recent = progress.recent;
        let seconds = recent.end.saturating_sub(recent.start).as_secs_f64();
        self.all = self.registered(progress.metrics, &recent.metrics, seconds);
        self.all
            .extend(emerged(progress.metrics, &recent.metrics, seconds));
        self.all
            .sort_by(|one, other| (one.rank, &one.name).cmp(&(other.rank, &other.name)));
        for figure in self.all.iter().take(MAX_CURVES) {
            let curve = self.curves.entry(figure.name.clone()).or_default();
            curve.push(progress.elapsed, figure.value.of_second());
            if let Value::Distribution {
                recent: Some(recent), ..
            } = figure.value
            {
                let seconds = self.quantiles.entry(figure.name.clone()).or_default();
                seconds.push(progress.elapsed, recent);
            }
        }
    }

    /// `None` when it is not watched.
    fn rank(&self, definition: &Definition) -> Option<usize> {
        let name = definition.name.as_str();
        if let Some(position) = self.leading.iter().position(|leading| *leading == name) {
            return Some(position);
        }
        match name {
            "iterations" => Some(OF_THE_RUN),
            _ => Some(self.leading.len() + self.watched.rank(definition)?),
        }
    }

    fn registered(&self, total: &MetricSet, recent: &MetricSet, seconds: f64) -> Vec<Figure> {
        let recent: BTreeMap<&str, Sample<'_>> = recent
            .iter()
            .map(|(definition, sample)| (definition.name.as_str(), sample))
            .collect();
        let figures = total.iter().filter_map(|(definition, sample)| {
            let rank = self.rank(definition)?;
            Some(Figure {
                value: Value::new(sample, recent.get(definition.name.as_str()).copied(), seconds)?,
                name: definition.name.clone(),
                contains: definition.contains,
                rank,
            })
        });
        figures.collect()
    }
}

/// What appeared during the run, as most figures of Artillery's files do: milliseconds, and events.
fn emerged(total: &MetricSet, recent: &MetricSet, seconds: f64) -> Vec<Figure> {
    let recent_distributions: BTreeMap<_, _> = recent.distributions().collect();
    let distributions = total.distributions().filter_map(|(name, histogram)| {
        let recent = recent_distributions.get(name).copied();
        Some(Figure {
            name: name.to_owned(),
            // Numbers are stored like milliseconds, and these are milliseconds.
            contains: Contains::Time,
            value: Value::new(Sample::Trend(histogram), recent.map(Sample::Trend), seconds)?,
            rank: if is_latency(name) { 1 } else { 2 },
        })
    });
    let recent_counts: BTreeMap<_, _> = recent.tallies().chain(recent.events()).collect();
    let counts = total.tallies().chain(total.events()).map(|(name, n)| Figure {
        name: name.to_owned(),
        contains: Contains::Default,
        value: Value::flow(
            n as f64,
            recent_counts.get(name).map_or(0.0, |n| *n as f64),
            seconds,
        ),
        rank: 3,
    });
    distributions.chain(counts).collect()
}

/// Whether a distribution of an Artillery file is how long the server took to answer.
fn is_latency(name: &str) -> bool {
    name.ends_with("response_time")
}

impl Value {
    /// `None` for a distribution without samples.
    fn new(total: Sample<'_>, recent: Option<Sample<'_>>, seconds: f64) -> Option<Self> {
        Some(match (total, recent) {
            (Sample::Trend(total), recent) => Self::Distribution {
                recent: match recent {
                    Some(Sample::Trend(recent)) => Quantiles::of(recent),
                    _ => None,
                },
                total: Quantiles::of(total)?,
            },
            (Sample::Counter(total), Some(Sample::Counter(recent))) => Self::flow(total, recent, seconds),
            (Sample::Counter(total), _) => Self::flow(total, 0.0, seconds),
            (Sample::Rate(total), recent) => Self::Share {
                recent: match recent {
                    Some(Sample::Rate(recent)) => Some(recent.share()),
                    _ => None,
                },
                total,
            },
            (Sample::Gauge(gauge), _) => Self::Level(gauge.value),
        })
    }

    fn flow(total: f64, recent: f64, seconds: f64) -> Self {
        Self::Flow {
            per_second: if seconds > 0.0 { recent / seconds } else { 0.0 },
            total,
        }
    }

    fn of_second(self) -> f64 {
        match self {
            Self::Distribution { recent, .. } => recent.map_or(0.0, |recent| recent.p95.as_secs_f64() * 1e6),
            Self::Flow { per_second, .. } => per_second,
            Self::Share { recent, .. } => recent.unwrap_or_default(),
            Self::Level(value) => value,
        }
    }
}
