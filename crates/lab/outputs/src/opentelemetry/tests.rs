//! What a collector gets to see.

use std::{
    fmt::Write as _,
    time::{Duration, UNIX_EPOCH},
};

use expect_test::expect;
use opentelemetry_proto::tonic::{
    common::v1::{KeyValue, any_value},
    metrics::v1::{Metric, NumberDataPoint, metric::Data, number_data_point::Value},
};

use super::*;
use crate::{
    OutputError,
    samples::{Measured, batch, start},
    settings::Settings,
};

mod collectors;
mod settings;

fn config(env: &[(&str, &str)]) -> Result<OpenTelemetry, OutputError> {
    let read = |name: &str| {
        let found = env.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    OpenTelemetry::read(Settings(&read))
}

const LOCAL: (&str, &str) = ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true");

fn pairs(attributes: &[KeyValue]) -> String {
    let pairs = attributes.iter().map(|pair| {
        let value = pair.value.as_ref().and_then(|value| value.value.as_ref());
        let Some(any_value::Value::StringValue(value)) = value else {
            panic!("{pair:?}")
        };
        format!("{}={value}", pair.key)
    });
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
}

/// Milliseconds since the start of the samples.
fn ms(time: u64) -> i128 {
    (i128::from(time) - start().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i128) / 1_000_000
}

/// A metric as text: its definition, then a line per point.
fn lines(metric: &Metric, text: &mut String) {
    let (kind, points): (String, Vec<String>) = match metric.data.as_ref().unwrap() {
        Data::Sum(sum) => (
            format!(
                "sum, monotonic {}, temporality {}",
                sum.is_monotonic, sum.aggregation_temporality
            ),
            sum.data_points.iter().map(number).collect(),
        ),
        Data::Gauge(gauge) => ("gauge".to_owned(), gauge.data_points.iter().map(number).collect()),
        Data::Histogram(histogram) => (
            format!("histogram, temporality {}", histogram.aggregation_temporality),
            histogram
                .data_points
                .iter()
                .map(|point| {
                    format!(
                        "{}: {} samples of {:?}, {:?} to {:?}, {:?} in {:?}",
                        pairs(&point.attributes),
                        point.count,
                        point.sum,
                        point.min,
                        point.max,
                        point.bucket_counts,
                        point.explicit_bounds
                    )
                })
                .collect(),
        ),
        Data::ExponentialHistogram(histogram) => (
            format!(
                "exponential histogram, temporality {}",
                histogram.aggregation_temporality
            ),
            histogram
                .data_points
                .iter()
                .map(|point| format!("{point:?}"))
                .collect(),
        ),
        Data::Summary(_) => panic!(),
    };
    writeln!(text, "{} [{}]: {kind}", metric.name, metric.unit).unwrap();
    points
        .iter()
        .for_each(|point| writeln!(text, "  {point}").unwrap());
}

fn number(point: &NumberDataPoint) -> String {
    let value = match point.value.unwrap() {
        Value::AsDouble(value) => format!("{value:?}"),
        Value::AsInt(value) => value.to_string(),
    };
    let (from, to) = (ms(point.start_time_unix_nano), ms(point.time_unix_nano));
    format!("{}: {value} from {from} to {to} ms", pairs(&point.attributes))
}

fn text(request: &ExportMetricsServiceRequest) -> String {
    let mut text = String::new();
    for resource in &request.resource_metrics {
        writeln!(
            text,
            "resource {}",
            pairs(&resource.resource.as_ref().unwrap().attributes)
        )
        .unwrap();
        for scope in &resource.scope_metrics {
            writeln!(text, "scope {}", scope.scope.as_ref().unwrap().name).unwrap();
            scope.metrics.iter().for_each(|metric| lines(metric, &mut text));
        }
    }
    text
}

/// The requests for these samples, and the collector that would send them.
fn encoded(env: &[(&str, &str)], samples: &[Measured<'_>]) -> (Collector, Vec<ExportMetricsServiceRequest>) {
    let config = config(env).unwrap();
    let mut store = SeriesStore::new(config.trend_style, &[].into());
    let collector = Collector::new(config, start() - Duration::from_millis(500));
    store.add(&batch(samples));
    let positions = store.take_fresh();
    let requests = collector.encode(&store, &positions);
    (collector, requests)
}

const NAMED: (&str, &str) = ("K6_OTEL_SERVICE_VERSION", "1");

#[tokio::test]
async fn metrics_have_the_form_that_k6_gives_them() {
    let get: &[_] = &[("group", ""), ("method", "GET")];
    let samples = [
        ("reqs", 1.0, get),
        ("reqs", 2.0, get),
        ("reqs", 5.0, &[]),
        ("data_sent", 1e6, &[]),
        ("vus", 7.0, &[]),
        ("failed", 1.0, get),
        ("failed", 0.0, get),
        ("failed", 0.0, get),
        ("wait", 250.0, &[]),
        ("wait", 0.5, &[]),
        ("size", 20_000.0, &[]),
    ];
    let (_, requests) = encoded(&[LOCAL, NAMED, ("K6_OTEL_METRIC_PREFIX", "k6_")], &samples);
    assert_eq!(requests.len(), 1);
    expect![[r#"
        resource {service.name=plimsoll, service.version=1}
        scope plimsoll
        k6_wait [ms]: histogram, temporality 2
          {}: 2 samples of Some(250.5), Some(0.5) to Some(250.0), [0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0] in [0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0, 10000.0]
        k6_size [By]: histogram, temporality 2
          {}: 1 samples of Some(20000.0), Some(20000.0) to Some(20000.0), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] in [0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0, 10000.0]
        k6_reqs []: sum, monotonic true, temporality 2
          {method=GET}: 3.0 from -500 to 1000 ms
          {}: 5.0 from -500 to 2000 ms
        k6_data_sent [By]: sum, monotonic true, temporality 2
          {}: 1000000.0 from -500 to 3000 ms
        k6_vus []: gauge
          {}: 7.0 from -500 to 4000 ms
        k6_failed.total []: sum, monotonic true, temporality 2
          {method=GET, condition=nonzero}: 1 from -500 to 7000 ms
          {method=GET, condition=zero}: 2 from -500 to 7000 ms
    "#]].assert_eq(&text(&requests[0]));
}

#[tokio::test]
async fn trends_become_exponential_histograms_when_that_is_wanted() {
    let aggregation = (
        "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
        "base2_exponential_bucket_histogram",
    );
    let samples = [0.0, 1.0, 1.0, 1.05, 2.0, -4.0].map(|ms| ("wait", ms, &[] as &[_]));
    let (_, requests) = encoded(&[LOCAL, NAMED, aggregation], &samples);
    expect![[r#"
        resource {service.name=plimsoll, service.version=1}
        scope plimsoll
        wait [ms]: exponential histogram, temporality 2
          ExponentialHistogramDataPoint { attributes: [], start_time_unix_nano: 1795290542500000000, time_unix_nano: 1795290548000000000, count: 6, sum: None, scale: 3, zero_count: 1, positive: Some(Buckets { offset: -1, bucket_counts: [2, 1, 0, 0, 0, 0, 0, 0, 1] }), negative: Some(Buckets { offset: 15, bucket_counts: [1] }), flags: 0, exemplars: [], min: Some(-4.0), max: Some(2.0), zero_threshold: 0.0 }
    "#]].assert_eq(&text(&requests[0]));
}

#[tokio::test]
async fn many_series_are_sent_in_portions() {
    let config = config(&[LOCAL]).unwrap();
    let mut store = SeriesStore::new(config.trend_style, &[].into());
    let collector = Collector::new(config, start());
    for number in 0..=PORTION {
        store.add(&batch(&[("vus", 1.0, &[("n", &number.to_string())])]));
    }
    let positions = store.take_fresh();
    let requests = collector.encode(&store, &positions);
    let sizes: Vec<_> = requests
        .iter()
        .map(|request| text(request).lines().count() - 3)
        .collect();
    assert_eq!(sizes, [PORTION, 1]);
}
