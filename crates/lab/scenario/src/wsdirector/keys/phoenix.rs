//! What clients of Phoenix Channels may do: topics besides bare messages.

use super::{
    SECONDS,
    base::{
        DEBUG, EXACT, MULTIPLIER, ONE_PATTERN, ORDERED, PARTIAL, PRINT, SAMPLE, SLEEP, TIMEOUT, TIMES,
        WAIT_ALL, repeated, step,
    },
};
use crate::document::{Key, Kind, Rule, Shape};

const TOPIC: Key = Key::new(
    "topic",
    Kind::Text,
    "The topic of the channel, for example room:lobby.",
);
const EVENT: Key = Key::new("event", Kind::Text, "The name of the event.");

/// The steps of clients that speak Phoenix Channels.
pub(super) static PHOENIX_STEPS: Shape = Shape {
    name: "phoenix_step",
    about: "One step.",
    keys: &[
        step("send", &PHOENIX_SEND),
        step("receive", &PHOENIX_RECEIVE),
        step("receive_all", &PHOENIX_RECEIVE_ALL),
        step("wait_all", &WAIT_ALL),
        step("sleep", &SLEEP),
        step("debug", &DEBUG),
        step("loop", &PHOENIX_LOOP),
        step("join", &JOIN),
        step("leave", &LEAVE),
    ],
    rules: &[],
};

pub(super) static PHOENIX_LOOP: Shape = Shape {
    name: "phoenix_loop",
    about: "Repeats steps.",
    keys: &repeated(&Kind::Step(&PHOENIX_STEPS)),
    rules: &[],
};

static PHOENIX_SEND: Shape = Shape {
    name: "phoenix_send",
    about: "Sends an event to a topic, or a bare message.",
    keys: &[
        TOPIC.needs("event"),
        EVENT.needs("topic"),
        Key::new(
            "data",
            Kind::Any,
            "The payload of the event, or the bare message.",
        ),
        MULTIPLIER,
        SAMPLE,
    ],
    rules: &[Rule::AtLeastOne(&["data", "topic"])],
};
static PHOENIX_RECEIVE: Shape = Shape {
    name: "phoenix_receive",
    about: "Takes the first expected message, with or without a topic.",
    keys: &[
        TOPIC.needs("event"),
        EVENT.needs("topic"),
        EXACT,
        PARTIAL,
        ORDERED,
        PRINT,
        TIMEOUT,
        MULTIPLIER,
        SAMPLE,
    ],
    rules: ONE_PATTERN,
};
static PHOENIX_RECEIVE_ALL: Shape = Shape {
    name: "phoenix_receive_all",
    about: "Takes exactly these messages, in any order.",
    keys: &[
        Key::new(
            "messages",
            Kind::List(&Kind::Map(&PHOENIX_MESSAGE)),
            "The messages.",
        )
        .required(),
        Key::new(
            "timeout",
            SECONDS,
            "Seconds from one message to the next. Default: 5.",
        ),
        MULTIPLIER,
        SAMPLE,
    ],
    rules: &[],
};

pub(super) static PHOENIX_MESSAGE: Shape = Shape {
    name: "phoenix_message",
    about: "An expected message, with or without a topic.",
    keys: &[TOPIC.needs("event"), EVENT.needs("topic"), EXACT, PARTIAL, TIMES],
    rules: ONE_PATTERN,
};

static JOIN: Shape = Shape {
    name: "join",
    about: "Joins a topic, and waits for the reply.",
    keys: &[
        TOPIC.required(),
        Key::new(
            "params",
            Kind::Table(&Kind::Any),
            "The payload of the request to join.",
        ),
        MULTIPLIER,
        SAMPLE,
    ],
    rules: &[],
};
static LEAVE: Shape = Shape {
    name: "leave",
    about: "Leaves a topic, and waits for the reply.",
    keys: &[TOPIC.required(), MULTIPLIER, SAMPLE],
    rules: &[],
};
