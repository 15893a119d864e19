//! The steps of flows: a map in which one key names the step, and others belong to it.

use super::{
    DURATION, FIXED_DURATION, HEADERS, SUBPROTOCOLS, TUNNEL,
    config::JITTER,
    request::{CAPTURES, MATCHES, REQUEST},
};
use crate::document::{Key, Kind, Rule, Shape};

/// The steps that are requests, by their methods.
pub(in super::super) const METHODS: &[&str] = &["get", "post", "put", "patch", "delete", "head", "options"];

/// The engine is the default one, which a schema cannot know.
pub(super) static STEP: Shape = Shape {
    name: "step",
    about: "One step.",
    keys: &[
        THINK,
        JITTER_OF_THINK,
        repeated(&STEP),
        COUNT,
        OVER,
        WHILE,
        INDEX,
        ELEMENT,
        LOG,
        FUNCTION,
        CONNECT_STEP,
        SEND_STEP,
        WAIT_STEP,
        RECEIVE_STEP,
        CONNECTION,
        GET,
        POST,
        PUT,
        PATCH,
        DELETE,
        HEAD,
        OPTIONS,
        PARALLEL,
        LIMIT,
    ],
    rules: &[
        Rule::ExactlyOne(&[
            "think", "loop", "log", "function", "connect", "send", "wait", "receive", "get", "post", "put",
            "patch", "delete", "head", "options", "parallel",
        ]),
        ENDS[0],
        ENDS[1],
    ],
};
pub(super) static HTTP_STEP: Shape = Shape {
    name: "http_step",
    about: "One step over HTTP.",
    keys: &[
        THINK,
        JITTER_OF_THINK,
        repeated(&HTTP_STEP),
        COUNT,
        OVER,
        WHILE,
        INDEX,
        ELEMENT,
        LOG,
        FUNCTION,
        GET,
        POST,
        PUT,
        PATCH,
        DELETE,
        HEAD,
        OPTIONS,
        PARALLEL,
        LIMIT,
    ],
    rules: &[
        Rule::ExactlyOne(&[
            "think", "loop", "log", "function", "get", "post", "put", "patch", "delete", "head", "options",
            "parallel",
        ]),
        ENDS[0],
        ENDS[1],
    ],
};
pub(super) static WS_STEP: Shape = Shape {
    name: "ws_step",
    about: "One step over a WebSocket.",
    keys: &[
        THINK,
        JITTER_OF_THINK,
        repeated(&WS_STEP),
        COUNT,
        OVER,
        WHILE,
        INDEX,
        ELEMENT,
        LOG,
        FUNCTION,
        CONNECT_STEP,
        SEND_STEP,
        WAIT_STEP,
        RECEIVE_STEP,
        CONNECTION,
    ],
    rules: &[
        Rule::ExactlyOne(&[
            "think", "loop", "log", "function", "connect", "send", "wait", "receive",
        ]),
        ENDS[0],
        ENDS[1],
    ],
};

const THINK: Key = Key::new(
    "think",
    DURATION,
    "Waits for seconds, or for a time such as 500ms.",
);
const JITTER_OF_THINK: Key = JITTER.needs("think");
const LOG: Key = Key::new("log", Kind::Scalar, "Prints a text.");
const FUNCTION: Key = Key::new("function", Kind::Text, "Calls a function of the processor.");
const COUNT: Key = Key::new(
    "count",
    Kind::Either(&[
        Kind::Number(f64::NEG_INFINITY, f64::INFINITY),
        Kind::Pattern("[0-9]|\\{\\{"),
    ]),
    "The number of rounds: a number, or a range such as 1-10.",
)
.differs("a text that is not a number is a mistake, not 0")
.needs("loop");
const OVER: Key = Key::new(
    "over",
    Kind::Either(&[Kind::List(&Kind::Any), Kind::Text]),
    "A list, or the name of a variable with a list; the loop has one round for each element.",
)
.needs("loop");
const WHILE: Key = Key::new(
    "whileTrue",
    Kind::Text,
    "A condition or a function; the loop continues while it is true.",
)
.differs("also an expression over the variables of the user")
.needs("loop");
const INDEX: Key = Key::new(
    "loopValue",
    Kind::Text,
    "The name of the variable that holds the number of the round.",
)
.needs("loop");
const ELEMENT: Key = Key::new(
    "loopElement",
    Kind::Text,
    "The name of the variable that holds the element.",
)
.needs("loop");
const ENDS: [Rule; 2] = [
    Rule::AtMostOne(&["whileTrue", "over"]),
    Rule::AtMostOne(&["whileTrue", "count"]),
];

const fn repeated(step: &'static Shape) -> Key {
    Key::new(
        "loop",
        Kind::Nested(step),
        "Repeats steps forever, or as often as its count, list or condition says.",
    )
}

static CONNECT_KINDS: [Kind; 2] = [Kind::Scalar, Kind::Map(&CONNECT)];
const CONNECT_STEP: Key = Key::new(
    "connect",
    Kind::Either(&CONNECT_KINDS),
    "Opens the default connection, or a further connection with a name.",
)
.differs("elsewhere than as the first step it needs a name");
const SEND_STEP: Key = Key::new(
    "send",
    Kind::Having("payload", &SEND),
    "Sends a message: text, a value as JSON, or a payload with the expected answers.",
);
const WAIT_STEP: Key = Key::new(
    "wait",
    Kind::Map(&WAIT),
    "Waits for messages that arrive after the step began.",
);
static RECEIVE_KINDS: [Kind; 2] = [N_ANSWERS, Kind::Map(&RECEIVE)];
const RECEIVE_STEP: Key = Key::new(
    "receive",
    Kind::Either(&RECEIVE_KINDS),
    "Takes messages that have arrived or will arrive. Not in Artillery.",
)
.beyond();
const CONNECTION: Key = Key::new(
    "connection",
    Kind::Text,
    "The name of the connection. Default: the unnamed one.",
)
.beyond();
const GET: Key = Key::new("get", Kind::Map(&REQUEST), "Makes a GET request.");
const POST: Key = Key::new("post", Kind::Map(&REQUEST), "Makes a POST request.");
const PUT: Key = Key::new("put", Kind::Map(&REQUEST), "Makes a PUT request.");
const PATCH: Key = Key::new("patch", Kind::Map(&REQUEST), "Makes a PATCH request.");
const DELETE: Key = Key::new("delete", Kind::Map(&REQUEST), "Makes a DELETE request.");
const HEAD: Key = Key::new("head", Kind::Map(&REQUEST), "Makes a HEAD request.");
const OPTIONS: Key = Key::new("options", Kind::Map(&REQUEST), "Makes an OPTIONS request.");
const PARALLEL: Key = Key::new(
    "parallel",
    Kind::Maps(&REQUEST_STEP),
    "Makes requests in parallel.",
)
.differs("each request has a connection; other steps than requests are refused");
const LIMIT: Key = Key::new(
    "limit",
    Kind::Whole(1, 1_000),
    "The largest number of requests in progress.",
)
.differs("at most 1,000")
.needs("parallel");

pub(in super::super) static REQUEST_STEP: Shape = Shape {
    name: "request_step",
    about: "One of several requests.",
    keys: &[GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS],
    rules: &[Rule::ExactlyOne(METHODS)],
};

pub(in super::super) static CONNECT: Shape = Shape {
    name: "connect",
    about: "How a connection is opened.",
    keys: &[
        Key::new(
            "name",
            Kind::Text,
            "The name of the connection for later steps. Without a name, it is the default one.",
        )
        .beyond(),
        Key::new("target", Kind::Scalar, "The URL."),
        Key::new(
            "function",
            Kind::Text,
            "A function of the processor that changes the connection's parameters.",
        ),
        HEADERS,
        SUBPROTOCOLS,
        TUNNEL,
    ],
    rules: &[],
};

const ANSWER_TIMEOUT: Key = Key::new("timeout", FIXED_DURATION, "The time limit for the messages.").beyond();
const N_ANSWERS: Kind = Kind::Whole(1, 10_000);
const N_INCOMING: Key = Key::new("count", N_ANSWERS, "How many.").beyond();

pub(in super::super) static SEND: Shape = Shape {
    name: "send",
    about: "A message, and the answers to wait for.",
    keys: &[
        Key::new("payload", Kind::Any, "The message: text, or a value as JSON."),
        CAPTURES,
        MATCHES,
        Key::new("answers", N_ANSWERS, "The number of messages to wait for.").beyond(),
        ANSWER_TIMEOUT,
    ],
    rules: &[],
};
pub(in super::super) static WAIT: Shape = Shape {
    name: "wait",
    about: "Messages to wait for.",
    keys: &[CAPTURES, MATCHES, N_INCOMING, ANSWER_TIMEOUT],
    rules: &[],
};
pub(in super::super) static RECEIVE: Shape = Shape {
    name: "receive",
    about: "Messages to take.",
    keys: &[
        CAPTURES,
        MATCHES,
        N_INCOMING,
        ANSWER_TIMEOUT,
        Key::new(
            "timed",
            Kind::Boolean,
            "Whether the time until the first of them counts as a response time: from the latest message of the user, or \
             else from the beginning of its connection.",
        )
        .beyond(),
    ],
    rules: &[],
};
