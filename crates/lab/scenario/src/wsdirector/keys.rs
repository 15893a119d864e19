//! Every key of a scenario, and its allowed values: for the readers, for error texts and for the schema.

use super::{expression::MOST, scenario::Protocol};
use crate::document::{Key, Kind, Rule, Shape};

mod action_cable;
mod base;
mod phoenix;

use self::{
    action_cable::{CABLE_LOOP, CABLE_MESSAGE, CABLE_STEPS},
    base::{LOOP, MESSAGE, STEPS},
    phoenix::{PHOENIX_LOOP, PHOENIX_MESSAGE, PHOENIX_STEPS},
};

/// A day, in seconds: longer than any test that a person waits for.
pub(super) const LONGEST_SECS: f64 = 86_400.0;

const SECONDS: Kind = Kind::Number(0.0, LONGEST_SECS);

/// A count: see [`super::expression`].
const EXPRESSION: Kind = Kind::Either(&[
    Kind::Whole(0, MOST as u64),
    Kind::Pattern("^([0-9 +*/-]|:scale(?![0-9A-Za-z_]))+$"),
]);

/// The names of protocols. The first is the default.
const NAMES: [&str; 3] = ["base", "action_cable", "phoenix"];

/// The name of a protocol in files, and the steps of its clients.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) name: &'static str,
    pub(super) protocol: Protocol,
    pub(super) client: &'static Shape,
    /// Its steps, as the keys that name them.
    pub(super) steps: &'static Shape,
    /// What `loop` has.
    pub(super) repeated: &'static Shape,
    /// A message of `receive_all`.
    pub(super) message: &'static Shape,
}

/// All protocols.
pub(super) static VOCABULARIES: [Vocabulary; 3] = [
    Vocabulary {
        name: NAMES[0],
        protocol: Protocol::Base,
        client: &CLIENT,
        steps: &STEPS,
        repeated: &LOOP,
        message: &MESSAGE,
    },
    Vocabulary {
        name: NAMES[1],
        protocol: Protocol::ActionCable,
        client: &CABLE_CLIENT,
        steps: &CABLE_STEPS,
        repeated: &CABLE_LOOP,
        message: &CABLE_MESSAGE,
    },
    Vocabulary {
        name: NAMES[2],
        protocol: Protocol::Phoenix,
        client: &PHOENIX_CLIENT,
        steps: &PHOENIX_STEPS,
        repeated: &PHOENIX_LOOP,
        message: &PHOENIX_MESSAGE,
    },
];

impl Vocabulary {
    /// The vocabulary of a protocol.
    pub(super) fn of(protocol: Protocol) -> &'static Self {
        match protocol {
            Protocol::Base => &VOCABULARIES[0],
            Protocol::ActionCable => &VOCABULARIES[1],
            Protocol::Phoenix => &VOCABULARIES[2],
        }
    }
}

/// A whole file: clients, or the steps of one client.
pub(crate) static FILE: Kind =
    Kind::Either(&[Kind::List(&Kind::Map(&GROUP)), Kind::List(&Kind::Step(&STEPS))]);

/// An item of a list of clients.
pub(super) static GROUP: Shape = Shape {
    name: "group",
    about: "A group of clients with the same steps.",
    keys: &[Key::new(
        "client",
        Kind::Switch(
            "protocol",
            &[
                (NAMES[0], &CLIENT),
                (NAMES[1], &CABLE_CLIENT),
                (NAMES[2], &PHOENIX_CLIENT),
            ],
        ),
        "The number of clients, how they connect, and their steps.",
    )
    .required()],
    rules: &[],
};

const CLIENT_RULES: &[Rule] = &[Rule::AtMostOne(&["actions", "loop"])];

static CLIENT: Shape = Shape {
    name: "client",
    about: "Clients that send and receive bare messages.",
    keys: &client_keys(&Kind::Step(&STEPS), &LOOP),
    rules: CLIENT_RULES,
};
static CABLE_CLIENT: Shape = Shape {
    name: "cable_client",
    about: "Clients that speak Action Cable.",
    keys: &client_keys(&Kind::Step(&CABLE_STEPS), &CABLE_LOOP),
    rules: CLIENT_RULES,
};
static PHOENIX_CLIENT: Shape = Shape {
    name: "phoenix_client",
    about: "Clients that speak Phoenix Channels.",
    keys: &client_keys(&Kind::Step(&PHOENIX_STEPS), &PHOENIX_LOOP),
    rules: CLIENT_RULES,
};

/// The keys of a client, whose steps depend on its protocol.
const fn client_keys(step: &'static Kind, repeated: &'static Shape) -> [Key; 7] {
    [
        Key::new(
            "name",
            Kind::Scalar,
            "The name of the group in results. Default: its number.",
        ),
        Key::new("multiplier", EXPRESSION, "The number of clients."),
        Key::new(
            "protocol",
            Kind::Word(&NAMES),
            "The protocol over the WebSocket, which decides the available steps.",
        ),
        Key::new(
            "ignore",
            Kind::Either(&[Kind::Text, Kind::List(&Kind::Text)]),
            "Regular expressions; a message that matches one of them is ignored.",
        ),
        Key::new(
            "connection_options",
            Kind::Map(&CONNECTION_OPTIONS),
            "How clients connect.",
        ),
        Key::new(
            "actions",
            Kind::List(step),
            "The steps of each client. Without steps, a client connects and leaves.",
        ),
        Key::new(
            "loop",
            Kind::Map(repeated),
            "Steps to repeat, in place of actions; the older form.",
        ),
    ]
}

pub(super) static CONNECTION_OPTIONS: Shape = Shape {
    name: "connection_options",
    about: "How clients connect.",
    keys: &[
        Key::new(
            "headers",
            Kind::Table(&Kind::Scalar),
            "Header fields of the request.",
        ),
        Key::new(
            "cookies",
            Kind::Table(&Kind::Scalar),
            "Cookies; their values are escaped.",
        ),
        Key::new(
            "query",
            Kind::Table(&Kind::Scalar),
            "Parameters for the query of the URL; they are escaped.",
        ),
        Key::new(
            "subprotocol",
            Kind::Text,
            "The sub-protocol to ask the server for.",
        ),
    ],
    rules: &[],
};
