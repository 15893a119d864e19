//! The keys of `config`.

use super::{
    DURATION, HEADERS, NO_PROXY, NUMERIC, SUBPROTOCOLS,
    plugins::{APDEX, ENSURE, PLUGINS},
};
use crate::document::{Key, Kind, Rule, Shape};

/// How many users.
const WHOLE: Kind = Kind::Either(&[Kind::Whole(0, 999_999_999_999_999), NUMERIC]);
/// Users per second.
const RATE: Kind = Kind::Either(&[Kind::Number(0.0, f64::INFINITY), NUMERIC]);
const MODE: Key = Key::new(
    "mode",
    Kind::Word(&["uniform", "poisson"]),
    "Whether users arrive evenly or at random.",
);
pub(super) const JITTER: Key = Key::new(
    "jitter",
    Kind::Either(&[Kind::Number(0.0, f64::INFINITY), Kind::Text]),
    "By how much a pause is more or less: milliseconds, or a share such as 20%.",
);
const REJECT_UNAUTHORIZED: Key = Key::new(
    "rejectUnauthorized",
    Kind::Boolean,
    "Whether certificates are verified.",
);

pub(in super::super) static CONFIG: Shape = Shape {
    name: "config",
    about: "Where the load goes, and how much of it.",
    keys: &config_keys(Key::new(
        "environments",
        Kind::Table(&Kind::Map(&ENVIRONMENT)),
        "Configurations by name; --environment chooses one, which is put over this one.",
    )),
    rules: &[],
};
pub(in super::super) static ENVIRONMENT: Shape = Shape {
    name: "environment",
    about: "What is different in one environment.",
    keys: &config_keys(Key::refused(
        "environments",
        "an environment has no environments of its own",
    )),
    rules: &[],
};

const fn config_keys(environments: Key) -> [Key; 21] {
    [
        environments,
        Key::new("target", Kind::Scalar, "The server's URL; --target wins over it."),
        Key::new(
            "phases",
            Kind::Maps(&PHASE),
            "How many users arrive, one phase after another.",
        ),
        MODE,
        Key::new(
            "variables",
            Kind::Table(&Kind::Any),
            "Values for templates; of a list each user has one value.",
        ),
        Key::new(
            "payload",
            Kind::OneOrMore(&PAYLOAD),
            "Tables in CSV files, of which each user has one row.",
        ),
        Key::new(
            "processor",
            Kind::Text,
            "The path of a module of functions in JavaScript or TypeScript.",
        ),
        Key::new(
            "engine",
            Kind::Text,
            "The engine of scenarios that name none: http or ws.",
        ),
        Key::new(
            "timeout",
            DURATION,
            "How long an answer may take, whatever http and ws say.",
        ),
        Key::new("tls", Kind::Map(&TLS), "How servers are verified."),
        Key::new("ws", Kind::Map(&WEBSOCKET), "How WebSockets are opened."),
        Key::new("http", Kind::Map(&HTTP), "How requests are made."),
        Key::new(
            "defaults",
            Kind::Map(&DEFAULTS),
            "What all requests and pauses have in common.",
        ),
        Key::new("plugins", Kind::Map(&PLUGINS), "What Artillery has as plugins."),
        Key::new("ensure", Kind::Map(&ENSURE), "What must hold, or the run fails."),
        Key::new("apdex", Kind::Map(&APDEX), "A score of how satisfied users are."),
        Key::refused("engines", "engines of third parties are not supported"),
        Key::refused("socketio", "the engine `socketio` is not supported"),
        Key::ignored(
            "statsInterval",
            "has no effect, as in Artillery: a report is about 10 seconds",
        ),
        Key::ignored(
            "includeFiles",
            "has no effect: files are read from where they are",
        ),
        Key::ignored(
            "bundling",
            "has no effect: a processor in TypeScript needs no bundle",
        ),
    ]
}

pub(in super::super) static PHASE: Shape = Shape {
    name: "phase",
    about: "How many users arrive for how long; or how many there are.",
    keys: &[
        Key::new("name", Kind::Scalar, "What it is called in reports."),
        Key::new(
            "duration",
            DURATION,
            "How long it takes: seconds, or a text such as 2m.",
        ),
        Key::new("arrivalRate", RATE, "How many users arrive in a second."),
        Key::new(
            "rampTo",
            RATE,
            "The rate at the end, which arrivals rise or fall to; also of users.",
        ),
        Key::new("arrivalCount", WHOLE, "How many users arrive in all, evenly."),
        Key::new(
            "users",
            WHOLE,
            "How many users there are all the time; not in Artillery.",
        ),
        Key::new("pause", DURATION, "How long nobody arrives."),
        Key::new(
            "maxVusers",
            WHOLE,
            "How many users may be active; who arrives beyond them is skipped.",
        ),
        MODE,
    ],
    rules: &[
        Rule::AtLeastOne(&["arrivalRate", "rampTo", "arrivalCount", "users", "pause"]),
        Rule::AtMostOne(&["arrivalCount", "arrivalRate"]),
        Rule::AtMostOne(&["arrivalCount", "rampTo"]),
        Rule::AtMostOne(&["users", "arrivalRate"]),
        Rule::AtMostOne(&["users", "arrivalCount"]),
        Rule::AtMostOne(&["users", "maxVusers"]),
        Rule::AtMostOne(&["pause", "arrivalRate"]),
        Rule::AtMostOne(&["pause", "arrivalCount"]),
        Rule::AtMostOne(&["pause", "rampTo"]),
        Rule::AtMostOne(&["pause", "users"]),
    ],
};

pub(in super::super) static PAYLOAD: Shape = Shape {
    name: "payload",
    about: "A table in a CSV file.",
    keys: &[
        Key::new("path", Kind::Scalar, "The file, seen from this one.").required(),
        Key::new(
            "fields",
            Kind::List(&Kind::Text),
            "The names of its columns, which become variables.",
        )
        .required(),
        Key::new(
            "order",
            Kind::Word(&["random", "sequence"]),
            "Which row a user has: any, or the next one.",
        ),
        Key::new("skipHeader", Kind::Boolean, "Whether the first line is left out."),
        Key::new(
            "delimiter",
            Kind::Text,
            "The character between values; a comma when left out.",
        ),
        Key::new(
            "cast",
            Kind::Boolean,
            "Whether values that are numbers become numbers.",
        ),
        Key::new(
            "skipEmptyLines",
            Kind::Boolean,
            "Whether empty lines are left out.",
        ),
        Key::new(
            "loadAll",
            Kind::Boolean,
            "Whether all rows are one variable, a list.",
        ),
        Key::new("name", Kind::Text, "What that variable is called."),
        Key::ignored(
            "options",
            "has no effect: options of Node's parser are not those of this one",
        ),
    ],
    rules: &[],
};

pub(in super::super) static TLS: Shape = Shape {
    name: "tls",
    about: "How servers are verified.",
    keys: &[REJECT_UNAUTHORIZED],
    rules: &[],
};

const NODES: &str = "has no effect: options of Node's client are not those of this one";

pub(in super::super) static WEBSOCKET: Shape = Shape {
    name: "ws",
    about: "How WebSockets are opened.",
    keys: &[
        HEADERS,
        SUBPROTOCOLS,
        NO_PROXY,
        Key::new(
            "timeout",
            DURATION,
            "How long opening one, and an answer, may take.",
        ),
        REJECT_UNAUTHORIZED,
        Key::ignored("perMessageDeflate", NODES),
        Key::ignored("maxRedirects", NODES),
        Key::ignored("handshakeTimeout", NODES),
        Key::ignored("followRedirects", NODES),
    ],
    rules: &[],
};

const OWN_CONNECTIONS: &str = "has no effect: each user has connections and cookies of its own";

pub(in super::super) static HTTP: Shape = Shape {
    name: "http",
    about: "How requests are made.",
    keys: &[
        Key::new(
            "timeout",
            DURATION,
            "How long a response may take; 10 seconds when left out.",
        ),
        Key::new(
            "defaults",
            Kind::Map(&DEFAULTS),
            "What all requests and pauses have in common.",
        ),
        NO_PROXY,
        Key::ignored("pool", OWN_CONNECTIONS),
        Key::ignored("maxSockets", OWN_CONNECTIONS),
        Key::ignored("cookieJarOptions", OWN_CONNECTIONS),
        Key::ignored("distributedTracing", OWN_CONNECTIONS),
        Key::ignored("extendedMetrics", OWN_CONNECTIONS),
    ],
    rules: &[],
};

pub(in super::super) static DEFAULTS: Shape = Shape {
    name: "defaults",
    about: "What all requests and pauses have in common.",
    keys: &[
        HEADERS,
        Key::new("cookie", Kind::Table(&Kind::Scalar), "Cookies, by name."),
        Key::new("think", Kind::Map(&THINK_DEFAULTS), "How pauses vary."),
        Key::new(
            "strictCapture",
            Kind::Boolean,
            "Whether a capture that finds nothing is an error: true.",
        ),
    ],
    rules: &[],
};
pub(in super::super) static THINK_DEFAULTS: Shape = Shape {
    name: "think_defaults",
    about: "How pauses vary.",
    keys: &[JITTER],
    rules: &[],
};
