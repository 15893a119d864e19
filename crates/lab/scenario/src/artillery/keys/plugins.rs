//! The keys of `config.plugins`, and of plugins that may be in `config` itself: checks and the Apdex score.

use super::{DURATION, NUMERIC};
use crate::document::{Key, Kind, Rule, Shape};

/// Any number, or a template.
const NUMBER: Kind = Kind::Either(&[Kind::Number(f64::NEG_INFINITY, f64::INFINITY), NUMERIC]);

const LOAD_IS_THE_SAME: &str = "has no effect: this plugin is not supported; it does not change the load";

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
        ),
        Key::ignored("publish-metrics", LOAD_IS_THE_SAME),
        Key::ignored("slack", LOAD_IS_THE_SAME),
        Key::ignored("memory-inspector", LOAD_IS_THE_SAME),
        Key::refused(
            "fake-data",
            "the plugin is not supported; take values from a `payload` or from $randomString()",
        ),
    ],
    rules: &[],
};

const EXPECTATIONS_COUNT: &str = "has no effect: expectations are counted, and decide about the exit code";

pub(in super::super) static EXPECT_PLUGIN: Shape = Shape {
    name: "expect_plugin",
    about: "Expectations of responses. They are always checked.",
    keys: &[
        Key::ignored("outputFormat", EXPECTATIONS_COUNT),
        Key::new(
            "reportFailuresAsErrors",
            Kind::Boolean,
            "Whether a user fails with an expectation that is not met.",
        ),
        Key::ignored("expectDefault200", EXPECTATIONS_COUNT),
        Key::ignored("useOnlyRequestNames", EXPECTATIONS_COUNT),
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
);
const DELAY: Key = Key::new(
    "delayAbortEval",
    DURATION,
    "The time after which the check may end the run, as in k6.",
)
.needs("abortOnFail");

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
