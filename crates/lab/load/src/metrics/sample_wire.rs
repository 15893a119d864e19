//! Single samples in the form in which another machine gets them: JSON with the names of their metrics, and each set of
//! tags once for all samples of one handle.

use std::{collections::HashMap, sync::Arc, time::SystemTime};

use serde::{Deserialize, Serialize};

use super::{Batch, MetricId, Registry, Sample, Tags};

/// The most samples that are packed together. Reason: so few are read within a few milliseconds.
pub const MAX_PACKED: usize = 4_096;

/// The bytes of tags after which no more samples are packed together. Reason: a message has a longest form.
const MAX_TAG_BYTES: usize = 1 << 20;

/// Metrics of which each instance of a run knows its own part only: the whole run has samples of their sums.
const OF_ONE_INSTANCE: [&str; 2] = ["vus", "vus_max"];

/// Samples that are being packed, for an instance of a run that several instances make together.
#[derive(Debug, Default)]
pub struct SamplePacker {
    metrics: Vec<String>,
    /// By position in the registry. `None`: its samples are left out.
    known_metrics: HashMap<MetricId, Option<usize>>,
    tags: Vec<Arc<Tags>>,
    /// By their address, which `tags` keeps.
    known_tags: HashMap<usize, usize>,
    n_tag_bytes: usize,
    samples: Vec<Row>,
}

/// Metric, tags, time in nanoseconds, and the bits of the value: it may be infinite, or no number.
type Row = (usize, usize, u64, u64);

#[derive(Serialize)]
struct Written<'a> {
    metrics: &'a [String],
    tags: Vec<&'a Tags>,
    samples: &'a [Row],
}

/// Packed samples as they come in. They may hold anything.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackedSamples {
    metrics: Vec<String>,
    tags: Vec<SharedTags>,
    samples: Vec<Row>,
}

/// Tags that samples share.
#[derive(Debug, Deserialize)]
#[serde(from = "Tags")]
struct SharedTags(Arc<Tags>);

/// Why packed samples are refused. None of them were taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackedSamplesError {
    /// The receiver has no such metric.
    #[error(
        "samples of the unknown metric `{0}`; sender and receiver need the same version and the same test"
    )]
    UnknownMetric(String),
    /// A sample has a metric or tags that are not there.
    #[error("a sample has a metric or tags that were not sent")]
    Place,
}

impl SamplePacker {
    /// Adds a sample, whose time is `ns` on the clock of this machine. Those of gauges that only the whole run has are left
    /// out.
    pub fn push(&mut self, registry: &Registry, sample: &Sample, ns: u64) {
        if let Some(metric) = self.metric(registry, sample.metric) {
            let tags = self.tags(&sample.tags);
            self.samples.push((metric, tags, ns, sample.value.to_bits()));
        }
    }

    /// How many samples are packed.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Whether these samples are to be sent before more are packed.
    pub fn is_full(&self) -> bool {
        self.samples.len() >= MAX_PACKED || self.n_tag_bytes >= MAX_TAG_BYTES
    }

    /// The JSON of the samples, which begins anew.
    ///
    /// # Errors
    /// None that is known: texts and numbers are always JSON.
    pub fn take(&mut self) -> serde_json::Result<String> {
        let Self {
            metrics,
            tags,
            samples,
            ..
        } = std::mem::take(self);
        serde_json::to_string(&Written {
            metrics: &metrics,
            tags: tags.iter().map(|tags| &**tags).collect(),
            samples: &samples,
        })
    }

    fn metric(&mut self, registry: &Registry, id: MetricId) -> Option<usize> {
        if let Some(known) = self.known_metrics.get(&id) {
            return *known;
        }
        let name = &registry.definition(id).name;
        let position = (!OF_ONE_INSTANCE.contains(&name.as_str())).then_some(self.metrics.len());
        if position.is_some() {
            self.metrics.push(name.clone());
        }
        self.known_metrics.insert(id, position);
        position
    }

    fn tags(&mut self, tags: &Arc<Tags>) -> usize {
        let next = self.tags.len();
        let position = *self.known_tags.entry(Arc::as_ptr(tags).addr()).or_insert(next);
        if position == next {
            self.n_tag_bytes += tags
                .iter()
                .map(|(name, value)| name.len() + value.len() + 8)
                .sum::<usize>();
            self.tags.push(Arc::clone(tags));
        }
        position
    }
}

impl PackedSamples {
    /// The samples as a batch of metrics of this registry. `time` is the time of a sender's nanosecond.
    ///
    /// # Errors
    /// They are not of this registry, or damaged.
    pub fn unpack(
        &self,
        registry: &Arc<Registry>,
        time: impl Fn(u64) -> SystemTime,
    ) -> Result<Batch, PackedSamplesError> {
        let find = |name: &String| {
            let unknown = || PackedSamplesError::UnknownMetric(name.clone());
            let found = registry
                .find(name)
                .filter(|id| registry.definition(*id).selection.is_none());
            found.ok_or_else(unknown)
        };
        let metrics = self.metrics.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let sample = |&(metric, tags, ns, value): &Row| {
            Some(Sample {
                metric: *metrics.get(metric)?,
                time: time(ns),
                value: f64::from_bits(value),
                tags: Arc::clone(&self.tags.get(tags)?.0),
            })
        };
        let samples = self.samples.iter().map(sample).collect::<Option<_>>();
        Ok(Batch {
            samples: samples.ok_or(PackedSamplesError::Place)?,
            registry: Arc::clone(registry),
        })
    }
}

impl From<Tags> for SharedTags {
    fn from(tags: Tags) -> Self {
        Self(Arc::new(tags))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::metrics::Contains;

    fn registry() -> Arc<Registry> {
        let mut registry = Registry::new();
        registry.gauge("vus", Contains::Default).unwrap();
        registry.counter("reqs", Contains::Default).unwrap();
        registry.trend("rtt").unwrap();
        Arc::new(registry)
    }

    fn time(ns: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(ns)
    }

    #[test]
    fn samples_are_unpacked_as_they_were_packed_but_for_gauges_of_one_instance() {
        let registry = registry();
        let tags = |value: &str| Arc::new(Tags::from([("kind".to_owned(), value.to_owned())]));
        let (a, b) = (tags("a"), tags("b"));
        let sample = |metric: &str, ns: u64, value: f64, tags: &Arc<Tags>| Sample {
            metric: registry.find(metric).unwrap(),
            time: time(ns),
            value,
            tags: Arc::clone(tags),
        };
        let samples = [
            sample("reqs", 7, 1.0, &a),
            sample("vus", 8, 3.0, &a),
            sample("rtt", 9, 0.1 + 0.2, &b),
            sample("rtt", u64::MAX / 2, f64::INFINITY, &a),
        ];
        let mut packer = SamplePacker::default();
        for sample in &samples {
            let ns = sample.time.duration_since(UNIX_EPOCH).unwrap().as_nanos();
            packer.push(&registry, sample, u64::try_from(ns).unwrap());
        }
        assert_eq!(packer.len(), 3);
        let text = packer.take().unwrap();
        assert!(packer.is_empty());
        let packed: PackedSamples = serde_json::from_str(&text).unwrap();
        let batch = packed.unpack(&registry, time).unwrap();
        let [one, _, two, three] = samples;
        assert_eq!(batch.samples, [one, two, three]);
        assert!(Arc::ptr_eq(&batch.samples[0].tags, &batch.samples[2].tags));
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        for (text, expected) in [
            (
                r#"{"metrics":["x"],"tags":[],"samples":[]}"#,
                "samples of the unknown metric `x`",
            ),
            (
                r#"{"metrics":["reqs"],"tags":[],"samples":[[0,0,0,0]]}"#,
                "a sample has a metric",
            ),
            (
                r#"{"metrics":["reqs"],"tags":[{}],"samples":[[1,0,0,0]]}"#,
                "a sample has a metric",
            ),
        ] {
            let packed: PackedSamples = serde_json::from_str(text).unwrap();
            let error = packed.unpack(&registry(), time).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
