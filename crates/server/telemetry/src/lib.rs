//! The server's telemetry: counters, gauges, histograms, the state of dependencies, and the export formats.
//!
//! Names are AnyCable's where AnyCable has the metric (without the prefix, which belongs to the format), so that its
//! dashboards still work. Histograms and dependencies are ours. Why this is not a library from elsewhere: [decision
//! 4](../../../../docs/decisions/0004-metrics.md).
//!
//! The crate must not know sockets, a runtime, or the meaning of a metric.

mod buckets;
mod counter;
mod dependency;
mod distinct;
mod gauge;
mod histogram;
mod prometheus;
mod registry;
mod report;
mod snapshot;
mod statsd;
mod tags;

pub use buckets::BUCKET_BOUNDS;
pub use counter::Counter;
pub use dependency::{Dependency, DependencyStatus};
pub use distinct::Distinct;
pub use gauge::Gauge;
pub use histogram::Histogram;
pub use prometheus::CONTENT_TYPE;
pub use registry::Registry;
pub use report::{Amount, Reading, log_line};
pub use snapshot::{HistogramValue, Kind, Metric, Series, Snapshot, Value};
pub use statsd::{StatsdFormat, TagsFormat, UnknownTagsFormat};
pub use tags::{TagError, Tags};
