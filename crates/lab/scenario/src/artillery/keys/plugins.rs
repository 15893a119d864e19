//! The keys of `config.plugins`, and of plugins that may be in `config` itself: checks and the Apdex score.

use super::DURATION;
use crate::document::{Key, Kind, Rule, Shape};

/// Any number.
const NUMBER: Kind = Kind::Number(f64::NEG_INFINITY, f64::INFINITY);

const LOAD_IS_THE_SAME: &str = "has no effect: this plugin is not supported; the load is the same without it";

pub(in super::super) static PLUGINS: Shape = Shape {
    name: "plugins",
    about: "What Artillery has as plugins.",
    keys: &[
        Key::new("ensure", Kind::Map(&ENSURE), "What must hold, or the run fails."),
        Key::new("apdex", Kind::Map(&APDEX), "A score of how satisfied users are."),
        Key::new(
            "expect",
            Kind::Map(&EXPECT_PLUGIN),
            "Expectations of responses, which are always judged.",
        ),
        Key::new(
            "metrics-by-endpoint",
            Kind::Map(&ENDPOINTS),
            "Figures for each URL.",
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
    about: "Expectations of responses, which are always judged.",
    keys: &[
        Key::ignored("outputFormat", EXPECTATIONS_COUNT),
        Key::ignored("reportFailuresAsErrors", EXPECTATIONS_COUNT),
        Key::ignored("expectDefault200", EXPECTATIONS_COUNT),
        Key::ignored("useOnlyRequestNames", EXPECTATIONS_COUNT),
    ],
    rules: &[],
};

const IN_ALL_REPORTS: &str =
    "is not supported: the figures are in all reports, under plugins.metrics-by-endpoint";

pub(in super::super) static ENDPOINTS: Shape = Shape {
    name: "endpoints",
    about: "How requests are told apart.",
    keys: &[
        Key::new(
            "useOnlyRequestNames",
            Kind::Boolean,
            "Whether only the names of requests tell them apart.",
        ),
        Key::new("stripQueryString", Kind::Boolean, "Whether queries are left out."),
        Key::new(
            "ignoreUnnamedRequests",
            Kind::Boolean,
            "Whether requests without a name are left out.",
        ),
        Key::new(
            "groupDynamicURLs",
            Kind::Boolean,
            "Whether URLs of one template are one endpoint.",
        ),
        Key::refused("metricsNamespace", IN_ALL_REPORTS),
        Key::refused("suppressOutput", IN_ALL_REPORTS),
    ],
    rules: &[],
};

pub(in super::super) static APDEX: Shape = Shape {
    name: "apdex",
    about: "A score of how satisfied users are.",
    keys: &[Key::new(
        "threshold",
        Kind::Whole(0, u64::MAX),
        "Within how many milliseconds users are satisfied; 500 when left out.",
    )],
    rules: &[],
};

const ABORT: Key = Key::new(
    "abortOnFail",
    Kind::Boolean,
    "Whether the run ends when it does not hold; k6's.",
);
const DELAY: Key = Key::new(
    "delayAbortEval",
    DURATION,
    "From when on it may end the run; k6's.",
)
.needs("abortOnFail");

pub(in super::super) static ENSURE: Shape = Shape {
    name: "ensure",
    about: "What must hold, or the run fails.",
    keys: &[
        Key::new(
            "thresholds",
            Kind::Maps(&THRESHOLD),
            "Metrics with what they have to be below.",
        ),
        Key::new("conditions", Kind::Maps(&CONDITION), "Expressions over metrics."),
        Key::new(
            "maxErrorRate",
            NUMBER,
            "The most users of which the run may fail, in percent.",
        ),
        Key::new("min", NUMBER, "What the least response time has to be below."),
        Key::new("max", NUMBER, "What the greatest response time has to be below."),
        Key::new("median", NUMBER, "What the median response time has to be below."),
        Key::new("p95", NUMBER, "What the 95th percentile has to be below."),
        Key::new("p99", NUMBER, "What the 99th percentile has to be below."),
    ],
    rules: &[],
};
pub(in super::super) static THRESHOLD: Shape = Shape {
    name: "threshold",
    about: "Metrics by name, with what they have to be below.",
    keys: &[ABORT, DELAY],
    rules: &[Rule::FreeKeys(&NUMBER)],
};
pub(in super::super) static CONDITION: Shape = Shape {
    name: "condition",
    about: "What must hold.",
    keys: &[
        Key::new(
            "expression",
            Kind::Text,
            "A condition over metrics, for example vusers.failed < 1.",
        )
        .required(),
        Key::new("strict", Kind::Boolean, "Whether the run fails with it: true."),
        ABORT,
        DELAY,
    ],
    rules: &[],
};
