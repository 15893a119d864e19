//! Valid and invalid settings in the environment.

use std::time::Duration;

use expect_test::{Expect, expect};

use super::{LOCAL, config};

#[test]
fn variables_of_k6_go_before_those_of_opentelemetry() {
    let http = ("K6_OTEL_EXPORTER_TYPE", "http");
    for (env, expected) in [
        (&[LOCAL] as &[_], "grpc, http://localhost:4317/"),
        (
            &[("OTEL_EXPORTER_OTLP_INSECURE", "true")],
            "grpc, http://localhost:4317/",
        ),
        (
            &[("K6_OTEL_GRPC_EXPORTER_ENDPOINT", "a:1"), LOCAL],
            "grpc, http://a:1/",
        ),
        (
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://b:2")],
            "grpc, http://b:2/",
        ),
        (
            &[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://b:2"),
                ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", "a:1"),
                LOCAL,
            ],
            "grpc, http://a:1/",
        ),
        (
            &[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://b:2/x/"),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ],
            "http, http://b:2/x/v1/metrics",
        ),
        (
            &[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://b:2/x/"), http],
            "http, http://b:2/x/",
        ),
        (
            &[
                http,
                ("K6_OTEL_HTTP_EXPORTER_INSECURE", "1"),
                ("K6_OTEL_HTTP_EXPORTER_URL_PATH", "/y"),
            ],
            "http, http://localhost:4318/y",
        ),
        (
            &[
                http,
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
                ("K6_OTEL_HTTP_EXPORTER_INSECURE", "1"),
            ],
            "http, http://localhost:4318/v1/metrics",
        ),
    ] {
        assert_eq!(config(env).unwrap().place(), expected, "{env:?}");
    }
}

#[test]
fn without_settings_a_collector_is_expected_here_with_tls() {
    let (place, tls) = (
        config(&[]),
        config(&[("K6_OTEL_TLS_INSECURE_SKIP_VERIFY", "true")]),
    );
    // A system without certificate authorities works only without verification.
    if let Ok(config) = place {
        assert_eq!(config.place(), "grpc, https://localhost:4317/");
    }
    assert_eq!(tls.unwrap().place(), "grpc, https://localhost:4317/");
}

#[test]
fn who_measures_and_how_often_can_be_set() {
    let settings = config(&[
        LOCAL,
        ("OTEL_RESOURCE_ATTRIBUTES", "zone=a%20b,service.name=other"),
        ("OTEL_SERVICE_NAME", "mine"),
        ("K6_OTEL_EXPORT_INTERVAL", "2s"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%3Db,x-team=1"),
    ])
    .unwrap();
    let resource: Vec<_> = settings
        .resource
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(resource[0], "service.name=mine");
    assert_eq!(resource[2], "zone=a b");
    assert_eq!(settings.period, Duration::from_secs(2));
    assert_eq!(settings.connection.limit, Duration::from_millis(1_500));
    assert_eq!(settings.connection.headers["api-key"], "a=b");
}

#[test]
fn a_user_and_a_password_are_for_http_alone() {
    let user = ("K6_OTEL_HTTP_EXPORTER_USERNAME", "kay");
    let password = ("K6_OTEL_HTTP_EXPORTER_PASSWORD", "a:b");
    let http = ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf");
    for (env, expected) in [
        (&[LOCAL, http, user, password] as &[_], Some("Basic a2F5OmE6Yg==")),
        (&[LOCAL, http, user], Some("Basic a2F5Og==")),
        (&[LOCAL, http, password], None),
        (&[LOCAL, user, password], None),
    ] {
        let headers = config(env).unwrap().connection.headers;
        let found = headers.get("authorization").map(|value| value.to_str().unwrap());
        assert_eq!(found, expected, "{env:?}");
    }
}

#[test]
fn what_cannot_be_done_is_said_before_the_run() {
    let check = |name: &str, value: &str, expected: Expect| {
        expected.assert_eq(&config(&[LOCAL, (name, value)]).unwrap_err().to_string());
    };
    check(
        "K6_OTEL_EXPORTER_TYPE",
        "http/json",
        expect!["K6_OTEL_EXPORTER_TYPE=`http/json`: expected `grpc` or `http/protobuf`"],
    );
    check(
        "K6_OTEL_GRPC_EXPORTER_ENDPOINT",
        "http://a:4317",
        expect![
            "K6_OTEL_GRPC_EXPORTER_ENDPOINT=`http://a:4317`: expected host and port, for example `localhost:4317`"
        ],
    );
    check(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "a:4317",
        expect![
            "OTEL_EXPORTER_OTLP_ENDPOINT=`a:4317`: expected a URL without user and password, for example `http://localhost:4317`"
        ],
    );
    check(
        "K6_OTEL_SINGLE_COUNTER_FOR_RATE",
        "false",
        expect![
            "K6_OTEL_SINGLE_COUNTER_FOR_RATE=false is set, but a rate is always one counter with the attribute `condition`"
        ],
    );
    check(
        "OTEL_EXPORTER_OTLP_COMPRESSION",
        "gzip",
        expect!["OTEL_EXPORTER_OTLP_COMPRESSION=gzip is set, but compression is not supported; remove it"],
    );
    check(
        "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
        "delta",
        expect![
            "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta is set, but only `cumulative` is supported; a \
             collector can convert it to deltas (cumulativetodelta)"
        ],
    );
    check(
        "OTEL_EXPORTER_OTLP_HEADERS",
        "a",
        expect!["OTEL_EXPORTER_OTLP_HEADERS=`***`: expected a list such as `one=1,two=2`"],
    );
}
