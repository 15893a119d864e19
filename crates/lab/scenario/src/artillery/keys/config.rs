//! The keys of `config`.

use super::{
    DURATION, HEADERS, NUMERIC, SUBPROTOCOLS, TUNNEL,
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
)
.differs("a ramp is random, too; `arrivalCount` stays even in both");
pub(super) const JITTER: Key = Key::new(
    "jitter",
    Kind::Either(&[Kind::Number(0.0, f64::INFINITY), Kind::Text]),
    "The random variation of a pause: milliseconds, or a share such as 20%.",
);
const REJECT_UNAUTHORIZED: Key = Key::new(
    "rejectUnauthorized",
    Kind::Boolean,
    "Whether certificates are verified.",
);

pub(in super::super) static CONFIG: Shape = Shape {
    name: "config",
    about: "The target and the amount of load.",
    keys: &config_keys(
        Key::new(
            "environments",
            Kind::Table(&Kind::Map(&ENVIRONMENT)),
            "Configurations by name; --environment chooses one, which lies over this one.",
        ),
        &PHASE,
        &PAYLOAD,
    ),
    rules: &[],
};
pub(in super::super) static ENVIRONMENT: Shape = Shape {
    name: "environment",
    about: "The settings that differ in one environment.",
    keys: &config_keys(
        Key::refused("environments", "an environment cannot contain environments"),
        &PART_OF_PHASE,
        &PART_OF_PAYLOAD,
    ),
    rules: &[],
};

const fn config_keys(environments: Key, phase: &'static Shape, payload: &'static Shape) -> [Key; 21] {
    [
        environments,
        Key::new("target", Kind::Scalar, "The server's URL; --target overrides it."),
        Key::new(
            "phases",
            Kind::Maps(phase),
            "The phases of the load, one after another.",
        ),
        MODE,
        Key::new(
            "variables",
            Kind::Table(&Kind::Any),
            "Values for templates; each user gets one value of a list.",
        ),
        Key::new(
            "payload",
            Kind::OneOrMore(payload),
            "Tables in CSV files; each user gets one row.",
        ),
        Key::new(
            "processor",
            Kind::Text,
            "The path of a module of functions in JavaScript or TypeScript.",
        ),
        Key::new(
            "engine",
            Kind::Text,
            "The default engine of scenarios: http or ws.",
        ),
        Key::new(
            "timeout",
            DURATION,
            "The time limit of an answer, which overrides those of http and ws.",
        ),
        Key::new("tls", Kind::Map(&TLS), "How servers are verified."),
        Key::new("ws", Kind::Map(&WEBSOCKET), "How WebSockets are opened."),
        Key::new("http", Kind::Map(&HTTP), "How requests are made."),
        Key::new(
            "defaults",
            Kind::Map(&DEFAULTS),
            "Defaults for all requests and pauses.",
        ),
        Key::new("plugins", Kind::Map(&PLUGINS), "Artillery's plugins."),
        Key::new(
            "ensure",
            Kind::Map(&ENSURE),
            "Conditions that must hold, or the run fails.",
        ),
        Key::new("apdex", Kind::Map(&APDEX), "A score of how satisfied users are."),
        Key::refused("engines", "engines of third parties are not supported"),
        Key::refused("socketio", "the engine `socketio` is not supported"),
        Key::idle(
            "statsInterval",
            "has no effect, as in Artillery: each report covers 10 seconds",
        ),
        Key::ignored(
            "includeFiles",
            "has no effect: files are read from their original place",
        ),
        Key::ignored(
            "bundling",
            "has no effect: a processor in TypeScript needs no bundle",
        ),
    ]
}

pub(in super::super) static PHASE: Shape = Shape {
    name: "phase",
    about: "A phase of the load: arriving users, or a constant number of users.",
    keys: &PHASE_KEYS,
    rules: &PHASE_RULES,
};

/// A phase of an environment; the missing keys are those of the phase in the same position of the configuration.
pub(in super::super) static PART_OF_PHASE: Shape = Shape {
    name: "part_of_phase",
    about: "What an environment changes of a phase.",
    keys: &PHASE_KEYS,
    // Without the first, because the load may be in the configuration.
    rules: PHASE_RULES.split_at(1).1,
};

static PHASE_RULES: [Rule; 10] = [
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
];

const PHASE_KEYS: [Key; 9] = [
    Key::new("name", Kind::Scalar, "The name of the phase in reports."),
    Key::new(
        "duration",
        DURATION,
        "The duration of the phase: seconds, or text such as 2m.",
    ),
    Key::new("arrivalRate", RATE, "The number of users who arrive per second.")
        .differs("fractions are rates, too: 0.1 is a user every ten seconds"),
    Key::new(
        "rampTo",
        RATE,
        "The value of arrivalRate, or of users, at the end of the phase.",
    )
    .differs("changes evenly, not in steps of a second"),
    Key::new(
        "arrivalCount",
        WHOLE,
        "The number of users who arrive in this phase, at even intervals.",
    ),
    Key::new(
        "users",
        WHOLE,
        "The constant number of active users. Not in Artillery.",
    )
    .beyond(),
    Key::new(
        "pause",
        DURATION,
        "The duration of a pause, in which no user arrives.",
    ),
    Key::new(
        "maxVusers",
        WHOLE,
        "The largest number of active users; further arrivals are skipped.",
    )
    .differs("counts the users of all phases"),
    MODE,
];

pub(in super::super) static PAYLOAD: Shape = Shape {
    name: "payload",
    about: "A table in a CSV file.",
    keys: &payload_keys(PAYLOAD_PATH, PAYLOAD_FIELDS.required()),
    rules: &[],
};

/// A table of an environment; the missing keys are those of the configuration.
pub(in super::super) static PART_OF_PAYLOAD: Shape = Shape {
    name: "part_of_payload",
    about: "What an environment changes of a table.",
    keys: &payload_keys(PAYLOAD_PATH, PAYLOAD_FIELDS),
    rules: &[],
};

const PAYLOAD_PATH: Key = Key::new(
    "path",
    Kind::Scalar,
    "The path of the file, relative to this file; --payload replaces it.",
);
const PAYLOAD_FIELDS: Key = Key::new(
    "fields",
    Kind::List(&Kind::Text),
    "The names of the columns, which become variables.",
)
.differs("a row with more or fewer values is a mistake");

const CHARACTER: Kind = Kind::Either(&[Kind::Word(&[""]), Kind::Pattern("^[\\s\\S]?$"), Kind::Boolean]);
const POSITION: Kind = Kind::Whole(1, u32::MAX as u64);

pub(in super::super) static CSV: Shape = Shape {
    name: "csv",
    about: "Options of Node's parser csv-parse.",
    keys: &[
        Key::new(
            "delimiter",
            Kind::Text,
            "The text between values. Default: a comma.",
        ),
        Key::new(
            "quote",
            CHARACTER,
            "The character around values with delimiters; false for none. Default: \".",
        ),
        Key::new(
            "escape",
            CHARACTER,
            "The character before a quote inside a value in quotes. Default: \".",
        ),
        Key::new("comment", Kind::Text, "The beginning of comments, for example #."),
        Key::new("trim", Kind::Boolean, "Whether blanks around values are ignored."),
        Key::new(
            "ltrim",
            Kind::Boolean,
            "Whether blanks before values are ignored.",
        ),
        Key::new("rtrim", Kind::Boolean, "Whether blanks after values are ignored."),
        Key::new("from_line", POSITION, "The first line that is read, from 1."),
        Key::new("to_line", POSITION, "The last line that is read."),
        Key::new("from", POSITION, "The first row that is used, from 1."),
        Key::new("to", POSITION, "The last row that is used."),
        Key::new("cast", Kind::Boolean, "Whether numeric values become numbers."),
        Key::new(
            "skip_empty_lines",
            Kind::Boolean,
            "Whether empty lines are skipped.",
        ),
        Key::new(
            "relax_column_count",
            Kind::Boolean,
            "Whether rows may have any number of values; missing ones set no variable.",
        ),
        Key::new(
            "relax",
            Kind::Boolean,
            "Has no effect: quotes inside values are read.",
        )
        .differs("has no effect: quotes inside values are read"),
        Key::new(
            "bom",
            Kind::Boolean,
            "Has no effect: byte-order marks are left out.",
        )
        .differs("has no effect: byte-order marks are left out"),
    ],
    rules: &[],
};

const fn payload_keys(path: Key, fields: Key) -> [Key; 10] {
    [
        path,
        fields,
        Key::new(
            "order",
            Kind::Word(&["random", "sequence"]),
            "Which row a user gets: a random one, or the next one.",
        )
        .differs("all workers take rows from one store, not each from its own"),
        Key::new("skipHeader", Kind::Boolean, "Whether the first line is skipped."),
        Key::new(
            "delimiter",
            Kind::Text,
            "The text between values. Default: a comma.",
        ),
        Key::new("cast", Kind::Boolean, "Whether numeric values become numbers."),
        Key::new(
            "skipEmptyLines",
            Kind::Boolean,
            "Whether empty lines are skipped.",
        ),
        Key::new(
            "loadAll",
            Kind::Boolean,
            "Whether one variable holds all rows, as a list.",
        ),
        Key::new("name", Kind::Text, "The name of that variable."),
        Key::new(
            "options",
            Kind::Map(&CSV),
            "Options of Node's parser csv-parse; they override the keys beside them.",
        ),
    ]
}

pub(in super::super) static TLS: Shape = Shape {
    name: "tls",
    about: "How servers are verified.",
    keys: &[REJECT_UNAUTHORIZED],
    rules: &[],
};

const NODES: &str = "has no effect: this program does not use Node's client";

pub(in super::super) static WEBSOCKET: Shape = Shape {
    name: "ws",
    about: "How WebSockets are opened.",
    keys: &[
        HEADERS,
        SUBPROTOCOLS,
        TUNNEL,
        Key::new(
            "timeout",
            DURATION,
            "The time limit for opening a connection, and for an answer.",
        ),
        REJECT_UNAUTHORIZED,
        Key::ignored("perMessageDeflate", NODES),
        Key::ignored("maxRedirects", NODES),
        Key::ignored("handshakeTimeout", NODES),
        Key::ignored("followRedirects", NODES),
    ],
    rules: &[],
};

const OWN_CONNECTIONS: &str = "has no effect: each user has its own connections and cookies";

pub(in super::super) static HTTP: Shape = Shape {
    name: "http",
    about: "How requests are made.",
    keys: &[
        Key::new(
            "timeout",
            DURATION,
            "The time limit of a response. Default: 10 seconds.",
        )
        .differs("covers the whole exchange, with redirects and the body; also a duration such as 500ms"),
        Key::new(
            "defaults",
            Kind::Map(&DEFAULTS),
            "Defaults for all requests and pauses.",
        ),
        Key::idle(
            "proxy",
            "has no effect, as in Artillery; set HTTP_PROXY and HTTPS_PROXY in the environment",
        ),
        Key::ignored("pool", OWN_CONNECTIONS),
        Key::ignored("maxSockets", OWN_CONNECTIONS),
        Key::ignored("cookieJarOptions", OWN_CONNECTIONS),
        Key::ignored("distributedTracing", OWN_CONNECTIONS),
        Key::new(
            "extendedMetrics",
            Kind::Boolean,
            "Whether looking up names, connecting, TLS and whole requests are timed, too.",
        ),
    ],
    rules: &[],
};

pub(in super::super) static DEFAULTS: Shape = Shape {
    name: "defaults",
    about: "Defaults for all requests and pauses.",
    keys: &[
        HEADERS,
        Key::new("cookie", Kind::Table(&Kind::Scalar), "Cookies, by name."),
        Key::new("think", Kind::Map(&THINK_DEFAULTS), "How pauses vary."),
        Key::new(
            "strictCapture",
            Kind::Boolean,
            "Whether a capture that finds nothing is an error, unless it has `strict` itself.",
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
