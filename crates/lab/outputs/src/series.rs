//! Figures for a database: one per metric and set of tags, over the whole run.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    mem,
    sync::Arc,
    time::{Duration, SystemTime},
};

use plimsoll_load::metrics::{Batch, Definition, Kind, MetricId, Registry, Sample, Tags};

use crate::{
    distribution::{Distribution, TrendStyle},
    file::metadata_names,
};

/// The most time series of an output. From here on k6 warns; a database suffers from far fewer. Samples of further
/// series are counted and not written.
pub(crate) const MAX_SERIES: usize = 100_000;

/// All samples of a run so far, summed up by metric and tags.
pub(crate) struct SeriesStore {
    style: TrendStyle,
    /// Tags that do not distinguish series.
    metadata: BTreeSet<String>,
    registry: Arc<Registry>,
    series: Vec<Series>,
    /// Positions in `series`, by metric and address of one of `tag_sets`.
    positions: HashMap<(MetricId, usize), usize>,
    tag_sets: HashSet<Arc<Tags>>,
    /// The last tags, and the matching entry of `tag_sets`. Samples of one request share their tags.
    last: Option<(Arc<Tags>, Arc<Tags>)>,
    n_samples: u64,
    n_beyond: u64,
}

/// One metric with one set of tags.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) metric: MetricId,
    pub(crate) tags: Arc<Tags>,
    pub(crate) figure: Figure,
    /// The time of the last sample.
    time: SystemTime,
    /// The time of the figure in its last push.
    pub(crate) stamp: SystemTime,
    /// Whether there are samples that the database does not have.
    is_fresh: bool,
}

/// What the samples of a series add up to.
#[derive(Debug)]
pub(crate) enum Figure {
    Counter(f64),
    Gauge(f64),
    Rate { n_true: u64, n_total: u64 },
    Trend(Distribution),
}

impl SeriesStore {
    pub(crate) fn new(style: TrendStyle, system_tags: &BTreeSet<String>) -> Self {
        Self {
            style,
            metadata: metadata_names(system_tags),
            registry: Arc::default(),
            series: Vec::new(),
            positions: HashMap::new(),
            tag_sets: HashSet::new(),
            last: None,
            n_samples: 0,
            n_beyond: 0,
        }
    }

    pub(crate) fn add(&mut self, batch: &Batch) {
        self.registry = Arc::clone(&batch.registry);
        for sample in &batch.samples {
            match self.series_of(sample) {
                Some(series) => {
                    series.add(sample);
                    self.n_samples += 1;
                }
                None => {
                    if self.n_beyond == 0 {
                        tracing::warn!(
                            limit = MAX_SERIES,
                            "An output has reached its limit of time series and drops samples of new ones. A tag has \
                             too many values; give requests with different URLs a common name."
                        );
                    }
                    self.n_beyond += 1;
                }
            }
        }
    }

    /// Samples that are part of a figure.
    pub(crate) fn n_samples(&self) -> u64 {
        self.n_samples
    }

    /// Samples that belong to no series, because there are too many series.
    pub(crate) fn n_beyond(&self) -> u64 {
        self.n_beyond
    }

    pub(crate) fn definition(&self, metric: MetricId) -> &Definition {
        self.registry.definition(metric)
    }

    pub(crate) fn all(&self) -> &[Series] {
        &self.series
    }

    /// Positions of the series with samples since the last call, with new stamps.
    pub(crate) fn take_fresh(&mut self) -> Vec<usize> {
        let series = self.series.iter_mut().enumerate();
        let fresh = series.filter_map(|(position, series)| {
            let was_fresh = mem::take(&mut series.is_fresh);
            if was_fresh {
                // Databases count in milliseconds and accept one figure for each.
                series.stamp = series.time.max(series.stamp + Duration::from_millis(1));
            }
            was_fresh.then_some(position)
        });
        fresh.collect()
    }

    /// Marks series as fresh again after a failed delivery.
    pub(crate) fn put_back(&mut self, positions: &[usize]) {
        for &position in positions {
            self.series[position].is_fresh = true;
        }
    }

    /// The series of the sample, a new one if necessary. `None` if there are too many.
    fn series_of(&mut self, sample: &Sample) -> Option<&mut Series> {
        let tags = self.kept_tags(&sample.tags);
        let key = (sample.metric, Arc::as_ptr(&tags).addr());
        let position = match self.positions.get(&key) {
            Some(&position) => position,
            None if self.series.len() >= MAX_SERIES => return None,
            None => {
                let definition = self.registry.definition(sample.metric);
                self.series
                    .push(Series::new(sample, &tags, definition, self.style));
                self.tag_sets.insert(tags);
                self.positions.insert(key, self.series.len() - 1);
                self.series.len() - 1
            }
        };
        Some(&mut self.series[position])
    }

    /// The tags without metadata, always as one `Arc` once they have a series.
    fn kept_tags(&mut self, tags: &Arc<Tags>) -> Arc<Tags> {
        if let Some((last, kept)) = &self.last
            && Arc::ptr_eq(last, tags)
        {
            return Arc::clone(kept);
        }
        let has_metadata = self.metadata.iter().any(|name| tags.contains_key(name));
        let stripped = if has_metadata {
            let tags = tags.iter().filter(|(name, _)| !self.metadata.contains(*name));
            Arc::new(tags.map(|(name, value)| (name.clone(), value.clone())).collect())
        } else {
            Arc::clone(tags)
        };
        let kept = self.tag_sets.get(&stripped).cloned().unwrap_or(stripped);
        self.last = Some((Arc::clone(tags), Arc::clone(&kept)));
        kept
    }
}

impl Series {
    fn new(sample: &Sample, tags: &Arc<Tags>, definition: &Definition, style: TrendStyle) -> Self {
        Self {
            metric: sample.metric,
            tags: Arc::clone(tags),
            figure: match definition.kind {
                Kind::Counter => Figure::Counter(0.0),
                Kind::Gauge => Figure::Gauge(0.0),
                Kind::Rate => Figure::Rate {
                    n_true: 0,
                    n_total: 0,
                },
                Kind::Trend => Figure::Trend(Distribution::new(style, definition.contains)),
            },
            time: sample.time,
            stamp: SystemTime::UNIX_EPOCH,
            is_fresh: true,
        }
    }

    fn add(&mut self, sample: &Sample) {
        match &mut self.figure {
            Figure::Counter(sum) => *sum += sample.value,
            // Workers report their samples at different times.
            Figure::Gauge(value) if sample.time >= self.time => *value = sample.value,
            Figure::Gauge(_) => {}
            Figure::Rate { n_true, n_total } => {
                *n_true += u64::from(sample.value != 0.0);
                *n_total += 1;
            }
            Figure::Trend(distribution) => distribution.add(sample.value),
        }
        self.time = self.time.max(sample.time);
        self.is_fresh = true;
    }
}

#[cfg(test)]
mod tests;
