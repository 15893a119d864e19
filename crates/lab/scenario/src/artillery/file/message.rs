//! The steps of the engine `ws`.

use std::{collections::BTreeMap, time::Duration};

use plimsoll_load::nearest::nearest;

use super::{
    config::is_map,
    reader::{Reader, json_of},
};
use crate::{
    artillery::{
        duration,
        flow::{Answers, Connect, Connecting, Flow, Payload, Receive, Sending, Step, Wait, Wanted},
        keys,
        template::{JsonTemplate, Template},
        websocket::FIRST,
    },
    document::{Fields, Part, Value},
};

/// The most messages that one step may wait for. Reason: they are kept until the step has read them.
const MOST_ANSWERS: u64 = 10_000;

impl<'a> Reader<'a> {
    pub(super) fn read_connect(&self, part: &Part<'a>, flow: &mut Flow) {
        let mut connect = Connect::default();
        let mut name = None;
        if is_map(part) {
            let Some(mut fields) = part.fields_of(&keys::CONNECT) else {
                return;
            };
            name = fields.get("name");
            connect.target = fields.get("target").and_then(|part| self.template(&part));
            if let Some(part) = fields.get("function") {
                connect.function = self.function(&part);
                flow.calls_functions = true;
            }
            self.read_connect_fields(&mut fields, &mut connect);
            connect.proxy = fields
                .get("proxy")
                .and_then(|part| self.websocket_proxy(&part, &BTreeMap::new()));
            connect.is_map = true;
            fields.finish();
        } else {
            connect.target = self.template(part);
        }
        match name {
            Some(name) => {
                let Some(name) = name.text() else { return };
                let place = place_of(flow, name).unwrap_or_else(|| {
                    flow.connections.push(name.to_owned());
                    FIRST + flow.connections.len()
                });
                flow.steps
                    .push(Step::Connect(Box::new(Connecting { place, connect })));
            }
            None if flow.steps.is_empty() && flow.connect.is_none() => flow.connect = Some(connect),
            None => part.mistake(
                "`connect` without a name can only be the first step; give further connections a name, for example \
                 connect: { name: second, target: ws://localhost:3334/echo }",
            ),
        }
    }

    /// The connection that a step names, or the usual one.
    pub(super) fn place(&self, fields: &mut Fields<'a>, flow: &Flow) -> usize {
        let Some(part) = fields.get("connection") else {
            return FIRST;
        };
        let Some(name) = part.text() else { return FIRST };
        place_of(flow, name).unwrap_or_else(|| {
            let hint = match nearest(name, flow.connections.iter().map(String::as_str)) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("expected a step before it, for example connect: {{ name: {name}, target: ws://localhost:3334/echo }}"),
            };
            part.mistake(format!("no step opens the connection `{name}`; {hint}"));
            FIRST
        })
    }

    /// What `config.ws` and `connect` have in common.
    pub(super) fn read_connect_fields(&self, fields: &mut Fields<'a>, connect: &mut Connect) {
        if let Some(headers) = fields.get("headers").and_then(|part| part.fields()) {
            let headers = headers
                .all()
                .filter_map(|(name, part)| Some((name.to_owned(), self.template(&part)?)));
            connect.headers = headers.collect();
        }
        if let Some(protocols) = fields.get("subprotocols").and_then(|part| part.list()) {
            connect.subprotocols = protocols.filter_map(|part| self.template(&part)).collect();
        }
    }

    pub(super) fn read_send(&self, part: &Part<'a>, place: usize) -> Option<Step> {
        // Without these, a map with `payload` is itself the message, as in Artillery.
        let waits = ["capture", "match", "answers"]
            .iter()
            .any(|key| part.node().value.get(key).is_some());
        if !waits || part.node().value.get("payload").is_none() {
            let payload = self.payload(part)?;
            return Some(Step::Send(Box::new(Sending {
                place,
                payload,
                answer: None,
            })));
        }
        let mut fields = part.fields_of(&keys::SEND)?;
        let payload = fields.find("payload").and_then(|part| self.payload(&part));
        let answer = self.answers(&mut fields, "answers");
        fields.finish();
        Some(Step::Send(Box::new(Sending {
            place,
            payload: payload?,
            answer: Some(answer),
        })))
    }

    /// The message to send: a text unchanged, everything else as JSON.
    fn payload(&self, part: &Part<'a>) -> Option<Payload> {
        if let Value::Text(_) = &part.node().value {
            let template = self.template(part)?;
            return Some(match template.constant() {
                Some(text) => Payload::Constant(text.into()),
                None => Payload::Text(template),
            });
        }
        let template = self.json(part)?;
        Some(match template.constant() {
            Some(_) => Payload::Constant(json_of(part).to_string().into()),
            None => Payload::Json(template),
        })
    }

    pub(super) fn read_wait(&self, part: &Part<'a>, place: usize) -> Option<Step> {
        let mut fields = part.fields_of(&keys::WAIT)?;
        let answers = self.answers(&mut fields, "count");
        fields.finish();
        Some(Step::Wait(Box::new(Wait { place, answers })))
    }

    /// `receive: 3` are any three messages.
    pub(super) fn read_receive(&self, part: &Part<'a>, place: usize) -> Option<Step> {
        if let Value::Number(_) = &part.node().value {
            let answers = Answers {
                wanted: Wanted::default(),
                n: n_answers(part)?,
                timeout: None,
            };
            let is_timed = false;
            return Some(Step::Receive(Box::new(Receive {
                place,
                answers,
                is_timed,
            })));
        }
        let mut fields = part.fields_of(&keys::RECEIVE)?;
        let answers = self.answers(&mut fields, "count");
        let is_timed = fields.get("timed").and_then(|part| part.boolean());
        fields.finish();
        Some(Step::Receive(Box::new(Receive {
            place,
            answers,
            is_timed: is_timed.unwrap_or(false),
        })))
    }

    fn answers(&self, fields: &mut Fields<'a>, count: &'static str) -> Answers {
        let captures = fields.get("capture").map(|part| self.read_captures(&part));
        let matches = fields.get("match").map(|part| self.read_matches(&part));
        let n = fields.get(count).map_or(Some(1), |part| n_answers(&part));
        let timeout = fields.get("timeout").and_then(|part| timeout(&part));
        Answers {
            wanted: Wanted {
                captures: captures.unwrap_or_default(),
                matches: matches.unwrap_or_default(),
            },
            n: n.unwrap_or(1),
            timeout,
        }
    }

    /// A variable by its name, as a template.
    pub(super) fn variable(&self, part: &Part<'a>, name: &str) -> Option<JsonTemplate> {
        match Template::parse(&format!("{{{{ {name} }}}}")) {
            Ok(template) => {
                let template = JsonTemplate::Text(template);
                self.note(template.names().into_iter(), part);
                Some(template)
            }
            Err(error) => {
                part.mistake(error.to_string());
                None
            }
        }
    }
}

/// The place of a connection that an earlier step opens.
fn place_of(flow: &Flow, name: &str) -> Option<usize> {
    let position = flow.connections.iter().position(|known| known == name)?;
    Some(FIRST + 1 + position)
}

fn n_answers(part: &Part<'_>) -> Option<u32> {
    let n = part.whole()?;
    if !(1..=MOST_ANSWERS).contains(&n) {
        part.unexpected(&format!("a number of messages from 1 to {MOST_ANSWERS}"));
        return None;
    }
    u32::try_from(n).ok()
}

fn timeout(part: &Part<'_>) -> Option<Duration> {
    let timeout = duration::of_value(&json_of(part));
    if timeout.is_none() {
        part.unexpected(duration::EXPECTED);
    }
    timeout
}
