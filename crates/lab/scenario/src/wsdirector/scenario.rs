//! The meaning of a wsdirector file at one scale: groups of clients, their steps, and the order of these.

use std::{sync::Arc, time::Duration};

use regex::Regex;

use super::pattern::Pattern;
use crate::document::Place;

/// A scenario at one scale.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file, as people named it.
    pub(super) file: String,
    /// At least one, with distinct keys.
    pub(super) groups: Vec<Arc<Group>>,
}

impl Scenario {
    /// Its groups.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().map(AsRef::as_ref)
    }

    /// The clients of all groups.
    pub fn n_clients(&self) -> u64 {
        self.groups().map(|group| u64::from(group.n_clients)).sum()
    }
}

/// Clients with the same steps.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name. Groups may share one.
    pub name: String,
    /// Its name in metrics and plans, which no other group has.
    pub(super) key: String,
    /// How many clients.
    pub n_clients: u32,
    pub(super) protocol: Protocol,
    /// Patterns of ignored messages.
    pub(super) ignore: Vec<Regex>,
    pub(super) connecting: Connecting,
    /// The steps as written, with expanded loops.
    pub(super) steps: Vec<Step>,
    /// The steps in their order, with repetitions.
    pub(super) course: Vec<Turn>,
    /// How many of its turns have a sample of their own.
    pub(super) n_samples: usize,
}

impl Group {
    /// Whether its clients wait for all others.
    pub(super) fn meets(&self) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step.action, Action::WaitAll))
    }
}

/// The first messages of a group's clients to the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Connecting {
    pub(super) headers: Vec<(String, String)>,
    /// What is appended to the URL's query: `a=1&b=2`.
    pub(super) query: String,
    pub(super) subprotocol: Option<String>,
}

impl Connecting {
    /// Adds to the query.
    pub(super) fn add_query(&mut self, query: &str) {
        if !self.query.is_empty() {
            self.query.push('&');
        }
        self.query.push_str(query);
    }
}

/// What is spoken over the WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Bare messages.
    Base,
    /// Action Cable's base protocol (`actioncable-v1-json`).
    ActionCable,
    /// Phoenix Channels, version 2 of their serializer.
    Phoenix,
}

impl Protocol {
    /// The sub-protocols to ask the server for; `wanted` is the user's choice.
    pub(super) fn subprotocols(self, wanted: Option<&String>) -> Vec<String> {
        match (wanted, self) {
            (Some(wanted), _) => vec![wanted.clone()],
            (None, Self::ActionCable) => vec!["actioncable-v1-json".to_owned()],
            (None, Self::Base | Self::Phoenix) => Vec::new(),
        }
    }
}

/// A step as it was written.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// `receive`, for people.
    pub(super) name: &'static str,
    /// Where it stands.
    pub(super) place: Place,
    /// The keys that lead there.
    pub(super) path: String,
    pub(super) action: Action,
}

/// One execution of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Position in [`Group::steps`].
    pub(super) step: u32,
    pub(super) sample: Option<Sample>,
}

/// Only the first clients that reach a turn run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// How many.
    pub(super) limit: u32,
    /// The group's counter for these clients.
    pub(super) counter: u32,
}

/// What is done in a step.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Send(Outgoing),
    Receive(Receive),
    ReceiveAll(ReceiveAll),
    WaitAll,
    Sleep { time: Duration, shift: Duration },
    Debug(String),
    Subscribe { identifier: String },
    Join { topic: String, payload: String },
    Leave { topic: String },
}

/// What is sent.
#[derive(Clone, Debug)]
pub(super) enum Outgoing {
    /// This text.
    Text(String),
    /// A message of a Phoenix channel; the payload is JSON.
    Phoenix {
        topic: String,
        event: String,
        payload: String,
    },
}

/// One message is awaited.
#[derive(Clone, Debug)]
pub(super) struct Receive {
    pub(super) expected: Expectation,
    /// Whether it must be the first message that was not taken.
    pub(super) is_ordered: bool,
    pub(super) prints: bool,
    /// The time limit without a message.
    pub(super) timeout: Duration,
}

/// Several messages are awaited, in any order, and no other.
#[derive(Clone, Debug)]
pub(super) struct ReceiveAll {
    /// Each with how often it has to come.
    pub(super) expected: Vec<(Expectation, u32)>,
    /// The time limit without a message.
    pub(super) timeout: Duration,
}

/// An awaited message.
#[derive(Clone, Debug)]
pub(super) struct Expectation {
    pub(super) envelope: Envelope,
    pub(super) pattern: Pattern,
    /// The expectation as JSON or text, for people.
    pub(super) shown: String,
}

/// The protocol's frame around the expected data.
#[derive(Clone, Debug)]
pub(super) enum Envelope {
    /// Nothing: the message is all.
    Bare,
    /// Action Cable's: the pattern is about `message`. Further fields have these values.
    ActionCable {
        identifier: String,
        fields: Vec<(&'static str, serde_json::Value)>,
    },
    /// Phoenix's: the pattern is about the payload.
    Phoenix { topic: String, event: String },
}
