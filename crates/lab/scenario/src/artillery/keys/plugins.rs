//! The keys of `config.plugins`, and of plugins that may be in `config` itself: checks and the Apdex score.

use super::{DURATION, NUMERIC};
use crate::document::{Key, Kind, Rule, Shape};

/// Any number, or a template.
const NUMBER: Kind = Kind::Either(&[Kind::Number(f64::NEG_INFINITY, f64::INFINITY), NUMERIC]);

pub(in super::super) static PLUGINS: Shape = Shape {
    name: "plugins",
    about: "Artillery's plugins.",
    keys: &[
        Key::new(
            "ensure",
            Kind::Map(&ENSURE),
            "Conditions that must hold, or the run fails.",
        ),
        Key::new("apdex", Kind::Map(&APDEX), "A score of how satisfied users are."),
        Key::new(
            "expect",
            Kind::Map(&EXPECT_PLUGIN),
            "Expectations of responses. They are always checked.",
        ),
        Key::new(
            "metrics-by-endpoint",
            Kind::Map(&ENDPOINTS),
            "Metrics for each URL.",
        )
        .differs("off unless the file names it; 100 endpoints have distributions, further ones are counted"),
        Key::new(
            "publish-metrics",
            Kind::List(&Kind::Map(&REPORTER)),
            "Collectors that receive the figures during the run.",
        ),
        Key::new(
            "fake-data",
            Kind::Map(&FAKE_DATA),
            "Functions for templates that invent values, such as $internetEmail().",
        )
        .differs("the words are our own; functions and options that do not exist are mistakes"),
        Key::new(
            "slack",
            Kind::Map(&SLACK),
            "A message to Slack at the end of the run.",
        ),
        Key::refused(
            "memory-inspector",
            "the plugin is not supported; --watch PID measures the memory and CPU of a process",
        ),
    ],
    rules: &[],
};

pub(in super::super) static SLACK: Shape = Shape {
    name: "slack",
    about: "A message to Slack at the end of the run.",
    keys: &[
        Key::new(
            "webhookUrl",
            Kind::Scalar,
            "The URL of an incoming webhook. It is a secret: write {{ $env.NAME }}.",
        )
        .required(),
        Key::new(
            "notifyOnFailureOnly",
            Kind::Boolean,
            "Whether only a run with an exit code other than 0 is told. Default: false.",
        ),
    ],
    rules: &[],
};

pub(in super::super) static FAKE_DATA: Shape = Shape {
    name: "fake_data",
    about: "Options of functions, by their names.",
    keys: &[],
    rules: &[Rule::FreeKeys(&Kind::Table(&Kind::Number(
        f64::NEG_INFINITY,
        f64::INFINITY,
    )))],
};

pub(in super::super) static REPORTER: Shape = Shape {
    name: "reporter",
    about: "A collector that receives the figures.",
    keys: &[
        Key::new(
            "type",
            Kind::Word(&[
                "open-telemetry",
                "prometheus",
                "statsd",
                "datadog",
                "influxdb-statsd",
            ]),
            "The kind of collector.",
        )
        .required(),
        Key::new(
            "serviceName",
            Kind::Scalar,
            "The name of the test. Default: Artillery-test.",
        ),
        Key::new(
            "resourceAttributes",
            Kind::Table(&Kind::Scalar),
            "Attributes of the test, by name.",
        ),
        Key::new(
            "metrics",
            Kind::Map(&REPORTED_METRICS),
            "Where the figures of open-telemetry go.",
        ),
        Key::new(
            "host",
            Kind::Scalar,
            "The host of a StatsD server. Default: 127.0.0.1.",
        ),
        Key::new(
            "port",
            Kind::Scalar,
            "The port of a StatsD server. Default: 8125.",
        ),
        Key::new(
            "prefix",
            Kind::Scalar,
            "The beginning of names over StatsD (default: artillery.) and in a Pushgateway (default: artillery).",
        ),
        Key::new(
            "tags",
            Kind::List(&Kind::Scalar),
            "Tags of all figures over StatsD and in a Pushgateway, as name:value.",
        ),
        Key::new(
            "pushgateway",
            Kind::Scalar,
            "The URL of a Pushgateway of Prometheus, for example http://localhost:9091.",
        ),
        Key::new(
            "ca",
            Kind::Scalar,
            "A PEM file of the authorities that may vouch for the Pushgateway.",
        ),
        Key::ignored("event", "has no effect: events are not sent"),
        Key::refused("apiKey", AGENT),
        Key::refused("appKey", AGENT),
        Key::refused("apiHost", AGENT),
        Key::refused("includeOnly", "all figures are sent; filter them in the agent"),
        Key::refused("excluded", "all figures are sent; filter them in the agent"),
        Key::refused("traces", "traces are not supported; remove this"),
    ],
    rules: &[],
};

const AGENT: &str =
    "Datadog's interface over HTTPS is not supported; give host and port of an agent, which takes StatsD";

pub(in super::super) static REPORTED_METRICS: Shape = Shape {
    name: "reported_metrics",
    about: "Where the figures go.",
    keys: &[
        Key::new(
            "exporter",
            Kind::Word(&["otlp-http", "otlp-proto", "otlp-grpc"]),
            "The protocol. Default: otlp-http, which sends protobuf here.",
        ),
        Key::new(
            "endpoint",
            Kind::Scalar,
            "The URL. Default: the collector on this machine.",
        ),
        Key::new(
            "headers",
            Kind::Table(&Kind::Scalar),
            "Header fields of the exporter.",
        ),
        Key::new(
            "attributes",
            Kind::Table(&Kind::Scalar),
            "Attributes of all figures, by name.",
        ),
        Key::ignored(
            "meterName",
            "has no effect: figures have the names of `--out opentelemetry`",
        ),
        Key::refused(
            "includeOnly",
            "all figures are sent; filter them in the collector",
        ),
        Key::refused("exclude", "all figures are sent; filter them in the collector"),
    ],
    rules: &[],
};

const EXPECTATIONS_COUNT: &str = "has no effect: expectations are counted, and decide about the exit code";

pub(in super::super) static EXPECT_PLUGIN: Shape = Shape {
    name: "expect_plugin",
    about: "Expectations of responses. They are always checked.",
    keys: &[
        Key::ignored("outputFormat", EXPECTATIONS_COUNT),
        Key::ignored("formatter", EXPECTATIONS_COUNT),
        Key::new(
            "reportFailuresAsErrors",
            Kind::Boolean,
            "Whether a user fails with an expectation that is not met.",
        ),
        Key::new(
            "expectDefault200",
            Kind::Boolean,
            "Whether requests without expectations expect the status 200.",
        ),
        Key::new(
            "useOnlyRequestNames",
            Kind::Boolean,
            "Whether errors of `reportFailuresAsErrors` name requests by their names.",
        ),
    ],
    rules: &[],
};

const IN_ALL_REPORTS: &str =
    "is not supported: the figures are in all reports, under plugins.metrics-by-endpoint";

pub(in super::super) static ENDPOINTS: Shape = Shape {
    name: "endpoints",
    about: "How requests are grouped.",
    keys: &[
        Key::new(
            "useOnlyRequestNames",
            Kind::Boolean,
            "Whether requests are grouped by name only.",
        ),
        Key::new(
            "stripQueryString",
            Kind::Boolean,
            "Whether queries are removed from URLs.",
        ),
        Key::new(
            "ignoreUnnamedRequests",
            Kind::Boolean,
            "Whether requests without a name are ignored.",
        ),
        Key::new(
            "groupDynamicURLs",
            Kind::Boolean,
            "Whether all URLs of one template count as one endpoint.",
        ),
        Key::new(
            "suppressOutput",
            Kind::Boolean,
            "Whether the figures are in the JSON report only.",
        ),
        Key::refused("metricsNamespace", IN_ALL_REPORTS),
    ],
    rules: &[],
};

pub(in super::super) static APDEX: Shape = Shape {
    name: "apdex",
    about: "A score of how satisfied users are.",
    keys: &[Key::new(
        "threshold",
        Kind::Either(&[Kind::Number(0.0, f64::INFINITY), NUMERIC]),
        "The response time within which users are satisfied, in milliseconds. Default: 500.",
    )],
    rules: &[],
};

const ABORT: Key = Key::new(
    "abortOnFail",
    Kind::Boolean,
    "Whether the run ends when the check fails, as in k6.",
)
.beyond();
const DELAY: Key = Key::new(
    "delayAbortEval",
    DURATION,
    "The time after which the check may end the run, as in k6.",
)
.needs("abortOnFail")
.beyond();

pub(in super::super) static ENSURE: Shape = Shape {
    name: "ensure",
    about: "Conditions that must hold, or the run fails.",
    keys: &[
        Key::new(
            "thresholds",
            Kind::Maps(&THRESHOLD),
            "Metrics with their upper limits.",
        ),
        Key::new("conditions", Kind::Maps(&CONDITION), "Expressions over metrics."),
        Key::new(
            "maxErrorRate",
            NUMBER,
            "The largest share of failed users, in percent.",
        ),
        Key::new("min", NUMBER, "The upper limit of the minimum response time."),
        Key::new("max", NUMBER, "The upper limit of the maximum response time."),
        Key::new("median", NUMBER, "The upper limit of the median response time."),
        Key::new("p95", NUMBER, "The upper limit of the 95th percentile."),
        Key::new("p99", NUMBER, "The upper limit of the 99th percentile."),
    ],
    rules: &[],
};
pub(in super::super) static THRESHOLD: Shape = Shape {
    name: "threshold",
    about: "Metrics by name, with their upper limits.",
    keys: &[ABORT, DELAY],
    rules: &[Rule::FreeKeys(&NUMBER)],
};
pub(in super::super) static CONDITION: Shape = Shape {
    name: "condition",
    about: "The condition.",
    keys: &[
        Key::new(
            "expression",
            Kind::Text,
            "A condition over metrics, for example vusers.failed < 1.",
        )
        .required(),
        Key::new(
            "strict",
            Kind::Boolean,
            "Whether the run fails when the condition does not hold. Default: true.",
        ),
        ABORT,
        DELAY,
    ],
    rules: &[],
};
