//! Series as OTLP's messages (`opentelemetry/proto/metrics/v1/metrics.proto`), all cumulative.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use opentelemetry_proto::tonic::{
    collector::metrics::v1::ExportMetricsServiceRequest,
    common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value},
    metrics::v1::{
        AggregationTemporality, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Histogram,
        HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
        exponential_histogram_data_point::Buckets, metric::Data, number_data_point::Value,
    },
    resource::v1::Resource,
};
use plimsoll_load::metrics::{Contains, Definition, Kind, Tags};

use crate::{
    distribution::{BOUNDS, Distribution, SCALE, Values},
    series::{Figure, Series},
};

/// Writes requests.
pub(super) struct Scribe {
    resource: Resource,
    prefix: String,
    start: u64,
}

impl Scribe {
    pub(super) fn new(resource: &BTreeMap<String, String>, prefix: String, start: SystemTime) -> Self {
        Self {
            resource: Resource {
                attributes: attributes(resource),
                ..Resource::default()
            },
            prefix,
            start: nanos(start),
        }
    }

    pub(super) fn request(&self, metrics: Vec<Metric>) -> ExportMetricsServiceRequest {
        let scope = InstrumentationScope {
            name: "plimsoll".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        ExportMetricsServiceRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(self.resource.clone()),
                scope_metrics: vec![ScopeMetrics {
                    scope: Some(scope),
                    metrics,
                    schema_url: String::new(),
                }],
                schema_url: String::new(),
            }],
        }
    }

    /// A metric with all its series.
    pub(super) fn metric(&self, definition: &Definition, series: &[&Series]) -> Metric {
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        let sum = |data_points| {
            Data::Sum(Sum {
                data_points,
                aggregation_temporality,
                is_monotonic: true,
            })
        };
        let numbers = || series.iter().flat_map(|series| self.numbers(series)).collect();
        let data = match definition.kind {
            Kind::Counter | Kind::Rate => sum(numbers()),
            Kind::Gauge => Data::Gauge(Gauge {
                data_points: numbers(),
            }),
            Kind::Trend => {
                let explicit: Vec<_> = series.iter().filter_map(|series| self.explicit(series)).collect();
                if explicit.is_empty() {
                    let points = series.iter().filter_map(|series| self.exponential(series));
                    Data::ExponentialHistogram(ExponentialHistogram {
                        data_points: points.collect(),
                        aggregation_temporality,
                    })
                } else {
                    Data::Histogram(Histogram {
                        data_points: explicit,
                        aggregation_temporality,
                    })
                }
            }
        };
        let suffix = match definition.kind {
            Kind::Rate => ".total",
            Kind::Counter | Kind::Gauge | Kind::Trend => "",
        };
        Metric {
            name: format!("{}{}{suffix}", self.prefix, definition.name),
            unit: unit(definition.contains).to_owned(),
            data: Some(data),
            ..Metric::default()
        }
    }

    /// One number, or two of a rate: how often it was false and true.
    fn numbers(&self, series: &Series) -> Vec<NumberDataPoint> {
        let point = |attributes, value| NumberDataPoint {
            attributes,
            start_time_unix_nano: self.start,
            time_unix_nano: nanos(series.stamp),
            value: Some(value),
            ..NumberDataPoint::default()
        };
        match &series.figure {
            Figure::Counter(value) | Figure::Gauge(value) => {
                vec![point(attributes(&series.tags), Value::AsDouble(*value))]
            }
            Figure::Rate { n_true, n_total } => {
                let counts = [("nonzero", *n_true), ("zero", n_total - n_true)];
                let counts = counts.into_iter().filter(|(_, count)| *count > 0);
                let points = counts.map(|(condition, count)| {
                    let mut attributes = attributes(&series.tags);
                    attributes.push(attribute("condition", condition));
                    point(attributes, Value::AsInt(i64::try_from(count).unwrap_or(i64::MAX)))
                });
                points.collect()
            }
            Figure::Trend(_) => Vec::new(),
        }
    }

    fn explicit(&self, series: &Series) -> Option<HistogramDataPoint> {
        let (trend, Values::Explicit(counts)) = trend_of(series)? else {
            return None;
        };
        Some(HistogramDataPoint {
            attributes: attributes(&series.tags),
            start_time_unix_nano: self.start,
            time_unix_nano: nanos(series.stamp),
            count: trend.count,
            sum: sum(trend),
            min: Some(trend.min),
            max: Some(trend.max),
            bucket_counts: counts.to_vec(),
            explicit_bounds: BOUNDS.to_vec(),
            ..HistogramDataPoint::default()
        })
    }

    fn exponential(&self, series: &Series) -> Option<ExponentialHistogramDataPoint> {
        let (trend, Values::Exponential(found)) = trend_of(series)? else {
            return None;
        };
        Some(ExponentialHistogramDataPoint {
            attributes: attributes(&series.tags),
            start_time_unix_nano: self.start,
            time_unix_nano: nanos(series.stamp),
            count: trend.count,
            sum: sum(trend),
            min: Some(trend.min),
            max: Some(trend.max),
            scale: SCALE,
            zero_count: found.n_zero,
            positive: buckets(&found.positive),
            negative: buckets(&found.negative),
            ..ExponentialHistogramDataPoint::default()
        })
    }
}

fn trend_of(series: &Series) -> Option<(&Distribution, &Values)> {
    match &series.figure {
        Figure::Trend(trend) => Some((trend, &trend.values)),
        _ => None,
    }
}

/// The sum. OTLP requires that it is omitted with negative samples, because it would not only grow.
fn sum(trend: &Distribution) -> Option<f64> {
    (trend.min >= 0.0).then_some(trend.sum)
}

/// All buckets from the first to the last that has samples.
fn buckets(found: &BTreeMap<i32, u64>) -> Option<Buckets> {
    let (&first, &last) = (found.keys().next()?, found.keys().next_back()?);
    let counts = (first..=last).map(|index| found.get(&index).copied().unwrap_or_default());
    Some(Buckets {
        offset: first,
        bucket_counts: counts.collect(),
    })
}

/// The unit in the Unified Code for Units of Measure, as in OpenTelemetry.
fn unit(contains: Contains) -> &'static str {
    match contains {
        Contains::Default => "",
        Contains::Time => "ms",
        Contains::Data => "By",
    }
}

/// The attributes as in k6, without tags that have no value, such as the root group.
fn attributes(tags: &Tags) -> Vec<KeyValue> {
    let present = tags.iter().filter(|(_, value)| !value.is_empty());
    present.map(|(name, value)| attribute(name, value)).collect()
}

fn attribute(name: &str, value: &str) -> KeyValue {
    KeyValue {
        key: name.to_owned(),
        value: Some(AnyValue {
            value: Some(any_value::Value::StringValue(value.to_owned())),
        }),
        ..KeyValue::default()
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX)
}
