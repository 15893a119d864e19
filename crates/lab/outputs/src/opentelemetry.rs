//! OpenTelemetry's metrics over OTLP 1, by gRPC or by HTTP with protobuf (docs/reference/outputs.md, `opentelemetry`).

use std::{collections::BTreeMap, time::SystemTime};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use plimsoll_load::metrics::MetricId;

mod config;
mod message;
mod transport;

pub(crate) use self::config::OpenTelemetry;
use self::{message::Scribe, transport::Transport};
use crate::{
    post::Refusal,
    push::Database,
    series::{Series, SeriesStore},
};

/// Series in one request. With many tags each, this is half of the 4 MiB that a gRPC server accepts by default.
const PORTION: usize = 2_000;

/// A collector, or a database that accepts OTLP.
pub(crate) struct Collector {
    scribe: Scribe,
    transport: Transport,
}

impl Collector {
    /// Must be called on the event loop that sends the requests. `start` is the beginning of the sums.
    pub(crate) fn new(config: OpenTelemetry, start: SystemTime) -> Self {
        Self {
            scribe: Scribe::new(&config.resource, config.prefix, start),
            transport: Transport::new(config.connection),
        }
    }
}

impl Database for Collector {
    type Payload = ExportMetricsServiceRequest;

    fn encode(&self, store: &SeriesStore, positions: &[usize]) -> Vec<ExportMetricsServiceRequest> {
        let portions = positions.chunks(PORTION).map(|positions| {
            let mut by_metric: BTreeMap<MetricId, Vec<&Series>> = BTreeMap::new();
            for &position in positions {
                let series = &store.all()[position];
                by_metric.entry(series.metric).or_default().push(series);
            }
            let metrics = by_metric
                .into_iter()
                .map(|(metric, series)| self.scribe.metric(store.definition(metric), &series));
            self.scribe.request(metrics.collect())
        });
        portions.collect()
    }

    /// OTLP can mark the end of a series only if the next value would be missing.
    fn farewell(&self, _: &SeriesStore) -> Vec<ExportMetricsServiceRequest> {
        Vec::new()
    }

    async fn send(&self, payload: &ExportMetricsServiceRequest) -> Result<(), Refusal> {
        self.transport.send(payload).await
    }
}

#[cfg(test)]
mod tests;
