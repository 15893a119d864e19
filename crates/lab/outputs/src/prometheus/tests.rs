//! What Prometheus gets to see.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use prost::Message as _;

use super::*;
use crate::{OutputError, samples::batch, settings::Settings};

fn config(env: &[(&str, &str)]) -> Result<PrometheusRw, OutputError> {
    let read = |name: &str| {
        let found = env
            .iter()
            .find(|(known, _)| format!("K6_PROMETHEUS_RW_{known}") == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    PrometheusRw::read(None, Settings(&read))
}

/// Requests as text, one series a line.
fn text(requests: &[Bytes]) -> String {
    let mut text = String::new();
    for request in requests {
        let message = snap::raw::Decoder::new().decompress_vec(request).unwrap();
        for series in WriteRequest::decode(&*message).unwrap().timeseries {
            let labels: Vec<_> = series
                .labels
                .iter()
                .map(|label| format!("{}={}", label.name, label.value))
                .collect();
            write!(text, "{}:", labels.join(" ")).unwrap();
            for number in &series.samples {
                // The end of a series is a NaN of its own.
                let is_stale = number.value.to_bits() == 0x7ff0_0000_0000_0002;
                let value = if is_stale {
                    "stale".to_owned()
                } else {
                    number.value.to_string()
                };
                write!(text, " {value} at {}", number.timestamp).unwrap();
            }
            for histogram in &series.histograms {
                write!(text, " {histogram:?}").unwrap();
            }
            text.push('\n');
        }
    }
    text
}

fn check(env: &[(&str, &str)], samples: &[crate::samples::Measured<'_>], expected: &Expect) {
    let config = config(env).unwrap();
    let mut store = SeriesStore::new(config.trend_style(), &[].into());
    let prometheus = Prometheus::new(config);
    store.add(&batch(samples));
    let positions = store.take_fresh();
    let sent = text(&prometheus.encode(&store, &positions)) + &text(&prometheus.farewell(&store));
    expected.assert_eq(&sent);
}

#[tokio::test]
async fn names_suffixes_and_units_are_those_of_k6() {
    let get: &[_] = &[("method", "GET")];
    let samples = [
        ("reqs", 1.0, get),
        ("reqs", 2.0, get),
        ("data_sent", 1e6, &[]),
        ("vus", 7.0, &[]),
        ("age", 1_500.0, &[]),
        ("failed", 1.0, &[]),
        ("failed", 0.0, &[]),
        ("wait", 250.0, &[]),
        ("size", 64.0, &[]),
    ];
    check(
        &[],
        &samples,
        &expect![[r#"
            __name__=k6_reqs_total method=GET: 3 at 1795290544000
            __name__=k6_data_sent_total: 1000000 at 1795290545000
            __name__=k6_vus: 7 at 1795290546000
            __name__=k6_age: 1500 at 1795290547000
            __name__=k6_failed_rate: 0.5 at 1795290549000
            __name__=k6_wait_p99: 0.25 at 1795290550000
            __name__=k6_size_p99: 64 at 1795290551000
        "#]],
    );
}

#[tokio::test]
async fn trends_become_the_figures_that_are_asked_for() {
    let samples: Vec<_> = (1..=100)
        .map(|n| ("wait", f64::from(n) * 1_000.0, &[] as &[_]))
        .collect();
    let stats = "count,sum,min,max,avg,med, p(90),p(99.9)";
    check(
        &[("TREND_STATS", stats)],
        &samples,
        &expect![[r#"
            __name__=k6_wait_count: 100 at 1795290642000
            __name__=k6_wait_sum: 5050 at 1795290642000
            __name__=k6_wait_min: 1 at 1795290642000
            __name__=k6_wait_max: 100 at 1795290642000
            __name__=k6_wait_avg: 50.5 at 1795290642000
            __name__=k6_wait_med: 50.5 at 1795290642000
            __name__=k6_wait_p90: 90.10000000000002 at 1795290642000
            __name__=k6_wait_p999: 99.90100000000001 at 1795290642000
        "#]],
    );
}

#[tokio::test]
async fn labels_are_what_prometheus_takes() {
    let tags: &[_] = &[
        ("Zone", "z"),
        ("test-id", "1"),
        ("2nd", "x"),
        ("größe", "y"),
        ("group", ""),
        ("__name__", "up"),
        ("url", "http://a/?b=\"c\""),
    ];
    let labels = "zone=none,server=s1,url=none,__name__=up,empty=";
    check(
        &[("LABELS", labels)],
        &[("reqs", 1.0, tags)],
        &expect![[r#"
        Zone=z _2nd=x __name__=k6_reqs_total gr__e=y server=s1 test_id=1 url=http://a/?b="c" zone=none: 1 at 1795290543000
    "#]],
    );
}

#[tokio::test]
async fn native_histograms_are_in_seconds_and_runs_of_buckets() {
    let samples: Vec<_> = [0.0, 1_000.0, 1_000.0, 1_050.0, 4_000.0, -2_000.0]
        .map(|ms| ("wait", ms, &[] as &[_]))
        .into();
    check(
        &[("TREND_AS_NATIVE_HISTOGRAM", "true"), ("STALE_MARKERS", "1")],
        &samples,
        &expect![[r#"
            __name__=k6_wait_seconds: Histogram { count: Some(6), sum: 5.05, schema: 3, zero_count: Some(1), negative_spans: [Span { offset: 8, length: 1 }], negative_deltas: [1], positive_spans: [Span { offset: 0, length: 2 }, Span { offset: 14, length: 1 }], positive_deltas: [2, -1, 0], timestamp: 1795290548000 }
            __name__=k6_wait_seconds: Histogram { count: None, sum: NaN, schema: 0, zero_count: None, negative_spans: [], negative_deltas: [], positive_spans: [], positive_deltas: [], timestamp: 1795290548001 }
        "#]],
    );
}

#[tokio::test]
async fn a_series_ends_when_that_is_wanted() {
    let samples = [("reqs", 1.0, &[] as &[_]), ("wait", 1.0, &[])];
    check(
        &[("STALE_MARKERS", "true")],
        &samples,
        &expect![[r#"
        __name__=k6_reqs_total: 1 at 1795290543000
        __name__=k6_wait_p99: 0.001 at 1795290544000
        __name__=k6_reqs_total: stale at 1795290543001
        __name__=k6_wait_p99: stale at 1795290544001
    "#]],
    );
}

#[tokio::test]
async fn many_series_are_sent_in_portions() {
    let config = config(&[]).unwrap();
    let mut store = SeriesStore::new(config.trend_style(), &[].into());
    let prometheus = Prometheus::new(config);
    for number in 0..=PORTION {
        store.add(&batch(&[("reqs", 1.0, &[("n", &number.to_string())])]));
    }
    let positions = store.take_fresh();
    let requests = prometheus.encode(&store, &positions);
    let sizes: Vec<_> = requests
        .iter()
        .map(|request| text(std::slice::from_ref(request)).lines().count())
        .collect();
    assert_eq!(sizes, [PORTION, 1]);
}

#[test]
fn who_we_are_is_in_the_headers() {
    for (env, expected) in [
        (
            &[("USERNAME", "me"), ("PASSWORD", "pass")] as &[_],
            "Basic bWU6cGFzcw==",
        ),
        (&[("BEARER_TOKEN", "t")], "Bearer t"),
        (&[("BEARER_TOKEN", "t"), ("USERNAME", "me")], "Bearer t"),
        (&[("HTTP_HEADERS", "Authorization:x:y,X-Scope-OrgID: a")], "x:y"),
    ] {
        let config = config(env).unwrap();
        assert_eq!(config.headers["authorization"], expected);
        assert_eq!(config.headers["content-encoding"], "snappy");
    }
}

#[test]
fn what_makes_no_sense_is_said_before_the_run() {
    let check = |env: &[(&str, &str)], expected: Expect| {
        expected.assert_eq(&config(env).unwrap_err().to_string());
    };
    check(
        &[("SERVER_URL", "localhost:9090")],
        expect![
            "K6_PROMETHEUS_RW_SERVER_URL=`localhost:9090`: expected a URL without user and password, for example `http://localhost:9090/api/v1/write`"
        ],
    );
    check(
        &[("SERVER_URL", "http://me:secret@localhost:9090/")],
        expect![
            "K6_PROMETHEUS_RW_SERVER_URL=`http://***@localhost:9090/`: expected a URL without user and password, for example `http://localhost:9090/api/v1/write`"
        ],
    );
    check(
        &[("PUSH_INTERVAL", "often")],
        expect!["K6_PROMETHEUS_RW_PUSH_INTERVAL=`often`: expected a duration such as `5s` or `500ms`"],
    );
    check(
        &[("TREND_STATS", "p(99),p(101)")],
        expect![
            "K6_PROMETHEUS_RW_TREND_STATS=`p(99),p(101)`: expected a list of `count`, `sum`, `min`, `max`, `avg`, `med` and percentiles such as `p(99)`"
        ],
    );
    check(
        &[("STALE_MARKERS", "maybe")],
        expect!["K6_PROMETHEUS_RW_STALE_MARKERS=`maybe`: expected `true` or `false`"],
    );
    check(
        &[("HTTP_HEADERS", "a b:c")],
        expect![
            "K6_PROMETHEUS_RW_HTTP_HEADERS=`a b:***`: expected names and values of HTTP headers, such as \
             `X-Scope-OrgID:a`"
        ],
    );
    check(
        &[("SIGV4_REGION", "eu")],
        expect![
            "K6_PROMETHEUS_RW_SIGV4_REGION is set, but AWS signing is not supported; send to a signing proxy such as \
             aws-sigv4-proxy"
        ],
    );
    check(
        &[("CLIENT_CERTIFICATE", "c.pem")],
        expect![
            "K6_PROMETHEUS_RW_CLIENT_CERTIFICATE=`c.pem`: set K6_PROMETHEUS_RW_CLIENT_CERTIFICATE_KEY as well: a \
             certificate needs its key; expected a PEM file that begins with -----BEGIN"
        ],
    );
    check(
        &[
            ("SERVER_URL", "https://a/"),
            ("CLIENT_CERTIFICATE", "/nowhere"),
            ("CLIENT_CERTIFICATE_KEY", "k"),
        ],
        expect![
            "K6_PROMETHEUS_RW_CLIENT_CERTIFICATE=`/nowhere`: No such file or directory (os error 2); expected a PEM \
             file that begins with -----BEGIN"
        ],
    );
}
