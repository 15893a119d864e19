//! Every key of an Artillery file, and its allowed values: for the readers, for error texts and for the schema.

use super::program::Engine;
use crate::document::{Key, Kind, Rule, Shape};

mod config;
mod plugins;
mod request;
mod steps;

pub(super) use self::{
    config::{
        CONFIG, CSV, DEFAULTS, ENVIRONMENT, HTTP, PART_OF_PAYLOAD, PART_OF_PHASE, PAYLOAD, PHASE,
        THINK_DEFAULTS, TLS, WEBSOCKET,
    },
    plugins::{
        APDEX, CONDITION, ENDPOINTS, ENSURE, EXPECT_PLUGIN, FAKE_DATA, PLUGINS, REPORTED_METRICS, REPORTER,
        SLACK, THRESHOLD,
    },
    request::{CAPTURE, CREDENTIALS, EXPECTATION, FIELD, MATCH, REQUEST},
    steps::{CONNECT, METHODS, RECEIVE, REQUEST_STEP, SEND, WAIT},
};

/// A year, in seconds: the longest duration.
const LONGEST_SECS: f64 = 365.0 * 24.0 * 3600.0;

/// Seconds, or a text with a unit.
const FIXED_DURATION: Kind = Kind::Either(&[
    Kind::Number(0.0, LONGEST_SECS),
    Kind::Pattern("^\\s*[0-9][0-9.]*\\s*[A-Za-z]*\\s*$"),
]);

/// A duration, or a template.
const DURATION: Kind = Kind::Either(&[
    Kind::Number(0.0, LONGEST_SECS),
    Kind::Pattern("^\\s*[0-9][0-9.]*\\s*[A-Za-z]*\\s*$|\\{\\{"),
]);

/// A text that is a number, or a template.
const NUMERIC: Kind = Kind::Pattern("^\\s*[-+0-9.eE]+\\s*$|\\{\\{");

/// Names of functions in the processor.
const FUNCTIONS: Kind = Kind::Either(&[Kind::Text, Kind::List(&Kind::Text)]);

const HEADERS: Key = Key::new("headers", Kind::Table(&Kind::Scalar), "Header fields.");
const SUBPROTOCOLS: Key = Key::new(
    "subprotocols",
    Kind::List(&Kind::Scalar),
    "The sub-protocols to ask the server for.",
);
const TUNNEL: Key = Key::new(
    "proxy",
    Kind::Map(&PROXY),
    "The proxy that makes a tunnel to the server.",
);

pub(super) static PROXY: Shape = Shape {
    name: "proxy",
    about: "A proxy.",
    keys: &[
        Key::new(
            "url",
            Kind::Scalar,
            "Its URL, for example http://gateway.example:3128.",
        )
        .required()
        .differs("proxies are http:// URLs"),
        Key::new("auth", Kind::Scalar, "User and password, as user:password."),
        Key::refused(
            "headers",
            "header fields for a proxy are not supported; credentials go into `url` or `auth`",
        ),
    ],
    rules: &[],
};

/// A whole file.
pub(crate) static FILE: Kind = Kind::Map(&ROOT);

pub(super) static ROOT: Shape = Shape {
    name: "file",
    about: "A load test.",
    keys: &[
        Key::new("config", Kind::Map(&CONFIG), "The target and the amount of load.").required(),
        Key::new(
            "scenarios",
            Kind::List(&ANY_SCENARIO),
            "The scenarios; each user runs one of them.",
        )
        .required(),
        Key::new(
            "before",
            ANY_STAGE,
            "The flow that runs once before the first user arrives.",
        ),
        Key::new("after", ANY_STAGE, "The flow that runs once at the end."),
        Key::new("$schema", Kind::Any, "The schema of this file, for editors."),
        Key::new("version", Kind::Any, "Has no effect."),
    ],
    rules: &[],
};

const ANY_SCENARIO: Kind = Kind::Switch(
    "engine",
    &[("", &SCENARIO), ("http", &HTTP_SCENARIO), ("ws", &WS_SCENARIO)],
);
const ANY_STAGE: Kind = Kind::Switch(
    "engine",
    &[("", &STAGE), ("http", &HTTP_STAGE), ("ws", &WS_STAGE)],
);

pub(super) static SCENARIO: Shape = Shape {
    name: "scenario",
    about: "What a user does, in the default engine.",
    keys: &scenario_keys(&steps::STEP),
    rules: &[],
};
static HTTP_SCENARIO: Shape = Shape {
    name: "http_scenario",
    about: "What a user does over HTTP.",
    keys: &scenario_keys(&steps::HTTP_STEP),
    rules: &[],
};
static WS_SCENARIO: Shape = Shape {
    name: "ws_scenario",
    about: "What a user does over a WebSocket.",
    keys: &scenario_keys(&steps::WS_STEP),
    rules: &[],
};
pub(super) static STAGE: Shape = Shape {
    name: "stage",
    about: "A flow that runs once.",
    keys: &stage_keys(&steps::STEP),
    rules: &[],
};
static HTTP_STAGE: Shape = Shape {
    name: "http_stage",
    about: "A flow over HTTP that runs once.",
    keys: &stage_keys(&steps::HTTP_STEP),
    rules: &[],
};
static WS_STAGE: Shape = Shape {
    name: "ws_stage",
    about: "A flow over a WebSocket that runs once.",
    keys: &stage_keys(&steps::WS_STEP),
    rules: &[],
};

/// The steps of an engine: their shape, and the keys that are the steps' names.
pub(super) fn steps(engine: Engine) -> (&'static Shape, &'static [&'static str]) {
    let shape = match engine {
        Engine::WebSocket => &steps::WS_STEP,
        Engine::Http => &steps::HTTP_STEP,
    };
    let names = shape.rules.iter().find_map(|rule| match rule {
        Rule::ExactlyOne(names) => Some(*names),
        _ => None,
    });
    (shape, names.unwrap_or_default())
}

const ENGINE: Key = Key::new(
    "engine",
    Kind::Word(&["http", "ws"]),
    "The engine, which is the protocol.",
);
const BEFORE_SCENARIO: Key = Key::new(
    "beforeScenario",
    FUNCTIONS,
    "Functions to call before the first step.",
);
const AFTER_SCENARIO: Key = Key::new(
    "afterScenario",
    FUNCTIONS,
    "Functions to call after the last step.",
);
const BEFORE_REQUEST: Key = Key::new(
    "beforeRequest",
    FUNCTIONS,
    "Functions to call before each request.",
);
const AFTER_RESPONSE: Key = Key::new(
    "afterResponse",
    FUNCTIONS,
    "Functions to call after each response.",
);
const ON_ERROR: Key = Key::new("onError", FUNCTIONS, "Functions to call when a step fails.");

const fn flow(step: &'static Shape) -> Key {
    Key::new("flow", Kind::Nested(step), "The steps, one after another.").required()
}

const fn scenario_keys(step: &'static Shape) -> [Key; 9] {
    [
        Key::new(
            "name",
            Kind::Scalar,
            "The name of the scenario in reports and for --scenario-name.",
        ),
        Key::new(
            "weight",
            Kind::Either(&[Kind::Number(0.0, 1e6), NUMERIC]),
            "How often users choose this scenario, relative to the others. Default: 1.",
        ),
        ENGINE,
        flow(step),
        BEFORE_SCENARIO,
        AFTER_SCENARIO,
        BEFORE_REQUEST,
        AFTER_RESPONSE,
        ON_ERROR,
    ]
}

const fn stage_keys(step: &'static Shape) -> [Key; 7] {
    [
        ENGINE,
        flow(step),
        BEFORE_SCENARIO,
        AFTER_SCENARIO,
        BEFORE_REQUEST,
        AFTER_RESPONSE,
        ON_ERROR,
    ]
}
