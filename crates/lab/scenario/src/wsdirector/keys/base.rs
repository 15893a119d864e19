//! The steps of all clients, and those of clients without a protocol.

use super::{EXPRESSION, SECONDS};
use crate::document::{Key, Kind, Rule, Shape};

pub(super) const MULTIPLIER: Key = Key::new("multiplier", EXPRESSION, "How often the step runs.");
pub(super) const SAMPLE: Key = Key::new(
    "sample",
    EXPRESSION,
    "The number of clients that run the step: the first ones to reach it.",
);
pub(super) const TIMES: Key = Key::new("multiplier", EXPRESSION, "How often this message is expected.");
pub(super) const EXACT: Key = Key::new("data", Kind::Any, "The whole message, as text or JSON.");
pub(super) const PARTIAL: Key = Key::new(
    "data>",
    Kind::Any,
    "The expected part of the message; its maps may have more keys.",
);
pub(super) const ORDERED: Key = Key::new(
    "ordered",
    Kind::Boolean,
    "Whether this must be the first unread message.",
);
pub(super) const PRINT: Key = Key::new("print", Kind::Boolean, "Whether the message is printed.");
pub(super) const TIMEOUT: Key = Key::new(
    "timeout",
    SECONDS,
    "The time limit of the step in seconds. Default: 5.",
);
pub(super) const ONE_PATTERN: &[Rule] = &[Rule::AtMostOne(&["data", "data>"])];

/// A step, by the name that is its key.
pub(super) const fn step(name: &'static str, shape: &'static Shape) -> Key {
    Key::new(name, Kind::Map(shape), shape.about)
}

pub(super) const fn repeated(step: &'static Kind) -> [Key; 2] {
    [
        Key::new("multiplier", EXPRESSION, "How often the steps run.").required(),
        Key::new("actions", Kind::List(step), "The steps to repeat.").required(),
    ]
}

/// The steps of clients that speak bare messages.
pub(super) static STEPS: Shape = Shape {
    name: "step",
    about: "One step.",
    keys: &[
        step("send", &SEND),
        step("receive", &RECEIVE),
        step("receive_all", &RECEIVE_ALL),
        step("wait_all", &WAIT_ALL),
        step("sleep", &SLEEP),
        step("debug", &DEBUG),
        step("loop", &LOOP),
    ],
    rules: &[],
};

pub(super) static LOOP: Shape = Shape {
    name: "loop",
    about: "Repeats steps.",
    keys: &repeated(&Kind::Step(&STEPS)),
    rules: &[],
};

pub(super) static SEND: Shape = Shape {
    name: "send",
    about: "Sends a message.",
    keys: &[
        Key::new(
            "data",
            Kind::Any,
            "The message: text as it is, any other value as JSON.",
        )
        .required(),
        MULTIPLIER,
        SAMPLE,
    ],
    rules: &[],
};
static RECEIVE: Shape = Shape {
    name: "receive",
    about: "Takes the first expected message; other messages stay for later steps.",
    keys: &[EXACT, PARTIAL, ORDERED, PRINT, TIMEOUT, MULTIPLIER, SAMPLE],
    rules: ONE_PATTERN,
};
static RECEIVE_ALL: Shape = Shape {
    name: "receive_all",
    about: "Takes exactly these messages, in any order.",
    keys: &[
        Key::new("messages", Kind::List(&Kind::Map(&MESSAGE)), "The messages.").required(),
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
pub(super) static MESSAGE: Shape = Shape {
    name: "message",
    about: "An expected message.",
    keys: &[EXACT, PARTIAL, TIMES],
    rules: ONE_PATTERN,
};
pub(super) static WAIT_ALL: Shape = Shape {
    name: "wait_all",
    about: "Waits for all clients of all groups.",
    keys: &[
        MULTIPLIER,
        Key::refused(
            "sample",
            "wait_all waits for all clients, so it cannot have a sample",
        ),
    ],
    rules: &[],
};
pub(super) static SLEEP: Shape = Shape {
    name: "sleep",
    about: "Waits, and goes on listening.",
    keys: &[
        Key::new("time", SECONDS, "Seconds.").required(),
        Key::new("shift", SECONDS, "The random variation in seconds, up or down."),
        MULTIPLIER,
        SAMPLE,
    ],
    rules: &[],
};
pub(super) static DEBUG: Shape = Shape {
    name: "debug",
    about: "Prints a text.",
    keys: &[
        Key::new("message", Kind::Text, "The text.").required(),
        MULTIPLIER,
        SAMPLE,
    ],
    rules: &[],
};
