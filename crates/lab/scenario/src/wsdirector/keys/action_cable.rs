//! What clients of Action Cable may do: subscriptions besides bare messages.

use super::{
    SECONDS,
    base::{
        DEBUG, EXACT, MULTIPLIER, ONE_PATTERN, ORDERED, PARTIAL, PRINT, SAMPLE, SEND, SLEEP, TIMEOUT, TIMES,
        WAIT_ALL, repeated, step,
    },
};
use crate::document::{Key, Kind, Shape};

const CHANNEL: Key = Key::new("channel", Kind::Text, "The class name of the channel.");
const PARAMS: Key = Key::new(
    "params",
    Kind::Table(&Kind::Any),
    "Further parameters of the subscription.",
);
const OFFSET: Key = Key::new(
    "offset",
    Kind::Any,
    "The expected offset of the message in its stream.",
);
const STREAM_ID: Key = Key::new("stream_id", Kind::Any, "The expected stream of the message.");
const EPOCH: Key = Key::new("epoch", Kind::Any, "The expected epoch of the message.");

const SUBSCRIPTION: &[Key] = &[CHANNEL.required(), PARAMS, MULTIPLIER, SAMPLE];

/// The steps of clients that speak Action Cable.
pub(super) static CABLE_STEPS: Shape = Shape {
    name: "cable_step",
    about: "One step.",
    keys: &[
        step("send", &SEND),
        step("receive", &CABLE_RECEIVE),
        step("receive_all", &CABLE_RECEIVE_ALL),
        step("wait_all", &WAIT_ALL),
        step("sleep", &SLEEP),
        step("debug", &DEBUG),
        step("loop", &CABLE_LOOP),
        step("subscribe", &SUBSCRIBE),
        step("unsubscribe", &UNSUBSCRIBE),
        step("perform", &PERFORM),
    ],
    rules: &[],
};

pub(super) static CABLE_LOOP: Shape = Shape {
    name: "cable_loop",
    about: "Repeats steps.",
    keys: &repeated(&Kind::Step(&CABLE_STEPS)),
    rules: &[],
};

static CABLE_RECEIVE: Shape = Shape {
    name: "cable_receive",
    about: "Takes the first expected message, with or without a subscription.",
    keys: &[
        CHANNEL,
        PARAMS.needs("channel"),
        OFFSET.needs("channel"),
        STREAM_ID.needs("channel"),
        EPOCH.needs("channel"),
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
static CABLE_RECEIVE_ALL: Shape = Shape {
    name: "cable_receive_all",
    about: "Takes exactly these messages, in any order.",
    keys: &[
        Key::new(
            "messages",
            Kind::List(&Kind::Map(&CABLE_MESSAGE)),
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
pub(super) static CABLE_MESSAGE: Shape = Shape {
    name: "cable_message",
    about: "An expected message, with or without a subscription.",
    keys: &[
        CHANNEL,
        PARAMS.needs("channel"),
        OFFSET.needs("channel"),
        STREAM_ID.needs("channel"),
        EPOCH.needs("channel"),
        EXACT,
        PARTIAL,
        TIMES,
    ],
    rules: ONE_PATTERN,
};
static SUBSCRIBE: Shape = Shape {
    name: "subscribe",
    about: "Subscribes to a channel, and waits for the confirmation.",
    keys: SUBSCRIPTION,
    rules: &[],
};
static UNSUBSCRIBE: Shape = Shape {
    name: "unsubscribe",
    about: "Ends a subscription.",
    keys: SUBSCRIPTION,
    rules: &[],
};
static PERFORM: Shape = Shape {
    name: "perform",
    about: "Calls an action of a channel.",
    keys: &[
        CHANNEL.required(),
        PARAMS,
        Key::new("action", Kind::Text, "The name of the action.").required(),
        Key::new("data", Kind::Table(&Kind::Any), "The data of the action."),
        MULTIPLIER,
        SAMPLE,
    ],
    rules: &[],
};
