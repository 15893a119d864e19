//! The steps of each protocol: their names, settings, and meanings.

use std::time::Duration;

use plimsoll_cable::command::{encode_message, encode_unsubscribe};
use plimsoll_load::nearest::nearest;

use super::{
    expression::evaluate,
    keys::{LONGEST_SECS, VOCABULARIES, Vocabulary},
    pattern::Pattern,
    reading::json_text,
    scenario::{Action, Envelope, Expectation, Outgoing, Protocol, Receive, ReceiveAll},
};
use crate::document::{Entry, Fields, Key, Kind, Node, Part, Shape, Value};

/// wsdirector's default time limit without a message.
const RECEIVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads the steps of one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    protocol: Protocol,
    pub(super) scale: u32,
}

impl Steps {
    pub(super) fn new(protocol: Protocol, scale: u32) -> Self {
        Self { protocol, scale }
    }

    /// What `loop` has.
    pub(super) fn repeated(self) -> &'static Shape {
        Vocabulary::of(self.protocol).repeated
    }

    /// The name of a step and its settings. `None` if there is no such step, which is recorded at `step`.
    pub(super) fn find(self, name: &str, step: &Part<'_>) -> Option<(&'static str, &'static Shape)> {
        let known = Vocabulary::of(self.protocol).steps.key(name);
        match known {
            Some(Key {
                name,
                kind: Kind::Map(shape),
                ..
            }) => Some((name, shape)),
            _ => {
                step.mistake(self.unknown(name));
                None
            }
        }
    }

    /// The meaning of the step `name` with the settings in `fields`.
    pub(super) fn read(self, name: &'static str, mut fields: Fields<'_>) -> Option<Action> {
        let action = match name {
            "send" => self.send(&mut fields),
            "receive" => self.receive(&mut fields),
            "receive_all" => self.receive_all(&mut fields),
            "wait_all" => Some(Action::WaitAll),
            "sleep" => sleep(&mut fields),
            "debug" => debug(&mut fields),
            "subscribe" => identifier(&mut fields).map(|identifier| Action::Subscribe { identifier }),
            "unsubscribe" => identifier(&mut fields)
                .map(|identifier| Action::Send(Outgoing::Text(encode_unsubscribe(&identifier)))),
            "perform" => perform(&mut fields),
            "join" => join(&mut fields),
            _ => topic(&mut fields).map(|topic| Action::Leave { topic }),
        };
        fields.finish();
        action
    }

    fn unknown(self, name: &str) -> String {
        let names = Vocabulary::of(self.protocol).steps.names();
        if let Some(nearest) = nearest(name, names.clone()) {
            return format!("`{name}` is not a step; did you mean `{nearest}`?");
        }
        match VOCABULARIES.iter().find(|other| other.steps.key(name).is_some()) {
            Some(Vocabulary { name: protocol, .. }) => {
                format!("`{name}` is a step of another protocol; write protocol: {protocol} for this client")
            }
            None => {
                let names: Vec<_> = names.collect();
                format!("`{name}` is not a step; expected one of {}", names.join(", "))
            }
        }
    }

    fn send(self, fields: &mut Fields<'_>) -> Option<Action> {
        let outgoing = match self.protocol {
            Protocol::Phoenix if fields.part().node().value.get("topic").is_some() => {
                let (topic, event) = (topic(fields), event(fields));
                let payload = fields.find("data").map(|part| json_text(part.node()));
                Outgoing::Phoenix {
                    topic: topic?,
                    event: event?,
                    payload: payload.unwrap_or_else(|| "{}".to_owned()),
                }
            }
            _ => {
                let data = fields.require("data", "what to send, for example data: hi")?;
                Outgoing::Text(match &data.node().value {
                    Value::Text(text) => text.clone(),
                    _ => json_text(data.node()),
                })
            }
        };
        Some(Action::Send(outgoing))
    }

    fn receive(self, fields: &mut Fields<'_>) -> Option<Action> {
        let expected = self.expectation(fields);
        let flag = |part: Option<Part<'_>>| part.map_or(Some(false), |part| part.boolean());
        let (is_ordered, prints) = (flag(fields.get("ordered")), flag(fields.get("print")));
        let timeout = timeout(fields);
        Some(Action::Receive(Receive {
            expected: expected?,
            is_ordered: is_ordered?,
            prints: prints?,
            timeout: timeout?,
        }))
    }

    fn receive_all(self, fields: &mut Fields<'_>) -> Option<Action> {
        let example = "a list, for example messages: [{data: hi, multiplier: 2}]";
        let messages = fields.require("messages", example);
        let timeout = timeout(fields);
        let shape = Vocabulary::of(self.protocol).message;
        let messages = messages?.list()?.map(|message| {
            let mut fields = message.fields_of(shape)?;
            let expected = self.expectation(&mut fields);
            let times = fields.get("multiplier");
            let times = times.map_or(Some(1), |part| evaluate(&part, self.scale));
            fields.finish();
            Some((expected?, times?))
        });
        // All of them are read, even if the first is invalid.
        let messages: Vec<_> = messages.collect();
        Some(Action::ReceiveAll(ReceiveAll {
            expected: messages.into_iter().collect::<Option<_>>()?,
            timeout: timeout?,
        }))
    }

    /// An awaited message.
    fn expectation(self, fields: &mut Fields<'_>) -> Option<Expectation> {
        let envelope = self.envelope(fields);
        let (exact, partial) = (fields.find("data"), fields.find("data>"));
        let (data, is_partial) = match (exact, partial) {
            (Some(_), Some(partial)) => {
                partial.mistake("expected either data, the whole message, or data>, a part of it");
                return None;
            }
            (Some(data), None) => (Some(data), false),
            (None, data) => (data, true),
        };
        let pattern = match data.as_ref().map(Part::node) {
            None => Pattern::Any,
            Some(Node {
                value: Value::Text(text),
                ..
            }) => Pattern::Text(text.clone()),
            Some(node) => Pattern::Json {
                value: node.json(),
                is_partial,
            },
        };
        let envelope = envelope?;
        let shown = shown(&envelope, data.as_ref().map(Part::node), is_partial);
        Some(Expectation {
            envelope,
            pattern,
            shown,
        })
    }

    fn envelope(self, fields: &mut Fields<'_>) -> Option<Envelope> {
        let has = |fields: &Fields<'_>, key| fields.part().node().value.get(key).is_some();
        match self.protocol {
            Protocol::ActionCable if has(fields, "channel") => {
                let identifier = identifier(fields);
                let positions = ["offset", "stream_id", "epoch"].map(|key| {
                    let part = fields.get(key)?;
                    Some((key, part.node().json()))
                });
                Some(Envelope::ActionCable {
                    identifier: identifier?,
                    fields: positions.into_iter().flatten().collect(),
                })
            }
            Protocol::Phoenix if has(fields, "topic") => {
                let (topic, event) = (topic(fields), event(fields));
                Some(Envelope::Phoenix {
                    topic: topic?,
                    event: event?,
                })
            }
            _ => Some(Envelope::Bare),
        }
    }
}

/// An expectation as people read it.
fn shown(envelope: &Envelope, data: Option<&Node>, is_partial: bool) -> String {
    let data = match data {
        None => "any message".to_owned(),
        Some(node) if is_partial => format!("at least {}", json_text(node)),
        Some(Node {
            value: Value::Text(text),
            ..
        }) => format!("{text:?}"),
        Some(node) => json_text(node),
    };
    match envelope {
        Envelope::Bare => data,
        Envelope::ActionCable { identifier, fields } => {
            let fields = fields.iter().map(|(key, value)| format!(", {key} {value}"));
            format!("{data} from {identifier}{}", fields.collect::<String>())
        }
        Envelope::Phoenix { topic, event } => format!("{event} with {data} from {topic}"),
    }
}

fn sleep(fields: &mut Fields<'_>) -> Option<Action> {
    let time = fields.require("time", "seconds, for example time: 0.5");
    let (time, shift) = (time.map(|part| seconds(&part)), fields.get("shift"));
    let shift = shift.map_or(Some(Duration::ZERO), |part| seconds(&part));
    Some(Action::Sleep {
        time: time??,
        shift: shift?,
    })
}

fn debug(fields: &mut Fields<'_>) -> Option<Action> {
    let message = fields.require("message", "a text, for example message: subscribed")?;
    message.text().map(|text| Action::Debug(text.to_owned()))
}

fn timeout(fields: &mut Fields<'_>) -> Option<Duration> {
    fields
        .get("timeout")
        .map_or(Some(RECEIVE_TIMEOUT), |part| seconds(&part))
}

fn seconds(part: &Part<'_>) -> Option<Duration> {
    part.read("seconds from 0 to 86400, for example 0.5", |value| match value {
        Value::Number(number) => {
            let seconds = number.as_f64().filter(|seconds| *seconds <= LONGEST_SECS)?;
            Duration::try_from_secs_f64(seconds).ok()
        }
        _ => None,
    })
}

/// The identifier of a subscription: the parameters, and then the channel, as wsdirector writes it.
fn identifier(fields: &mut Fields<'_>) -> Option<String> {
    let channel = fields.require("channel", "a channel, for example channel: ChatChannel");
    let params = fields.get("params");
    let params = params.map_or(Some(Vec::new()), |part| entries(&part));
    let channel = channel?;
    channel.text()?;
    let mut entries: Vec<_> = params?
        .into_iter()
        .filter(|entry| entry.key != "channel")
        .collect();
    entries.push(Entry {
        key: "channel".to_owned(),
        place: channel.node().place,
        node: channel.node().clone(),
    });
    Some(map_text(channel.node(), entries))
}

fn perform(fields: &mut Fields<'_>) -> Option<Action> {
    let identifier = identifier(fields);
    let action = fields.require("action", "what to perform, for example action: speak");
    let data = fields.get("data");
    let data = data.map_or(Some(Vec::new()), |part| entries(&part));
    let action = action?;
    action.text()?;
    let mut entries: Vec<_> = data?.into_iter().filter(|entry| entry.key != "action").collect();
    entries.push(Entry {
        key: "action".to_owned(),
        place: action.node().place,
        node: action.node().clone(),
    });
    let data = map_text(action.node(), entries);
    Some(Action::Send(Outgoing::Text(encode_message(&identifier?, &data))))
}

/// The entries of a map as JSON text; `near` is its node.
fn map_text(near: &Node, entries: Vec<Entry>) -> String {
    json_text(&Node {
        place: near.place,
        value: Value::Map(entries),
    })
}

fn entries(part: &Part<'_>) -> Option<Vec<Entry>> {
    part.read("a map, for example {id: 2}", |value| match value {
        Value::Map(entries) => Some(entries.clone()),
        _ => None,
    })
}

fn join(fields: &mut Fields<'_>) -> Option<Action> {
    let topic = topic(fields);
    let payload = fields.get("params");
    let payload = payload.map_or(Some(Vec::new()), |part| entries(&part));
    let payload = map_text(fields.part().node(), payload?);
    Some(Action::Join {
        topic: topic?,
        payload,
    })
}

fn topic(fields: &mut Fields<'_>) -> Option<String> {
    let topic = fields.require("topic", "a topic, for example topic: room:lobby")?;
    topic.text().map(str::to_owned)
}

fn event(fields: &mut Fields<'_>) -> Option<String> {
    let event = fields.require("event", "an event, for example event: new_msg")?;
    event.text().map(str::to_owned)
}
