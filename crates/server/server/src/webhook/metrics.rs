//! The counters of the webhook (docs/reference/metrics.md).

use plimsoll_telemetry::{Counter, Registry};

/// What happens to joins and leaves on their way.
#[derive(Debug)]
pub(super) struct Metrics {
    pub(super) delivered: Counter,
    pub(super) dropped: Counter,
    pub(super) failures: Counter,
}

impl Metrics {
    pub(super) fn new(registry: &Registry) -> Self {
        Self {
            delivered: registry.counter(
                "presence_webhook_events_total",
                "Joins and leaves that the webhook has taken",
            ),
            dropped: registry.counter(
                "presence_webhook_dropped_total",
                "Joins and leaves that the webhook was not told about",
            ),
            failures: registry.counter(
                "presence_webhook_failures_total",
                "Requests to the webhook that failed",
            ),
        }
    }
}
