//! What the server tells about itself: counters, gauges, histograms, the state of what it depends on, and the
//! formats in which others read them.
//!
//! Names are AnyCable's where AnyCable has the metric (without the prefix, which belongs to the format), so that
//! its dashboards go on working; histograms and dependencies are ours. Why this is no library:
//! [decision 4](../../../../docs/decisions/0004-metrics.md).
//!
//! The crate must not know sockets, a runtime, or what is counted.

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

pub use counter::Counter;
pub use dependency::{Dependency, DependencyStatus};
pub use distinct::Distinct;
pub use gauge::Gauge;
pub use histogram::{BUCKET_BOUNDS, Histogram};
pub use prometheus::CONTENT_TYPE;
pub use registry::Registry;
pub use report::{Amount, Reading, log_line};
pub use snapshot::{HistogramValue, Kind, Metric, Series, Snapshot, Value};
pub use statsd::{StatsdFormat, TagsFormat, UnknownTagsFormat};
pub use tags::{TagError, Tags};
