//! Samples for tests.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_load::metrics::{Batch, Contains, Registry, Sample, Tags};

/// The time of a batch's first sample: 2026-11-21T19:49:03Z.
pub(crate) fn start() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_290_543)
}

/// A sample: metric, value, tags.
pub(crate) type Measured<'a> = (&'a str, f64, &'a [(&'a str, &'a str)]);

/// One metric of each kind and unit.
pub(crate) fn registry() -> Arc<Registry> {
    let mut registry = Registry::new();
    registry.trend("wait").unwrap();
    registry.trend_of("size", Contains::Data).unwrap();
    registry.counter("reqs", Contains::Default).unwrap();
    registry.counter("data_sent", Contains::Data).unwrap();
    registry.gauge("vus", Contains::Default).unwrap();
    registry.gauge("age", Contains::Time).unwrap();
    registry.rate("failed").unwrap();
    Arc::new(registry)
}

/// Samples, a second apart.
pub(crate) fn batch(samples: &[Measured<'_>]) -> Batch {
    let registry = registry();
    let samples = samples
        .iter()
        .zip(0..)
        .map(|((metric, value, tags), second)| Sample {
            metric: registry.find(metric).unwrap(),
            time: start() + Duration::from_secs(second),
            value: *value,
            tags: self::tags(tags),
        });
    Batch {
        samples: samples.collect(),
        registry,
    }
}

pub(crate) fn tags(pairs: &[(&str, &str)]) -> Arc<Tags> {
    let pairs = pairs
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()));
    Arc::new(pairs.collect())
}
