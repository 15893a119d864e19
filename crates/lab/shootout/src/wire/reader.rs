//! Recognises the messages of the server.

use std::{borrow::Cow, sync::Arc};

use plimsoll_cable::{encoding::Content, reply::Reply, subprotocol::Dialect};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Kind, Wire, binary, shape::Shape};
use crate::server_type::ServerType;

/// Echo, broadcast and result need three shapes; the rest is room for servers that vary the order of fields.
/// When it is full nothing more is learned and unknown messages are parsed in full.
const MAX_SHAPES: usize = 8;

/// Reads the messages of all listeners of one worker.
#[derive(Debug)]
pub(crate) struct Reader {
    wire: Arc<Wire>,
    /// The dialect of Action Cable messages.
    dialect: Dialect,
    shapes: Vec<Shape>,
}

/// One decoded message of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inbound {
    /// An answer to, or a broadcast of, the message with this number in this run.
    Ours(Kind, u64),
    /// Heartbeats and confirmations.
    Chatter,
    /// The server ends the connection, for this reason.
    Goodbye(String),
    /// Anything else.
    Foreign,
}

/// The websocket-shootout's `{"type":…,"payload":…}`, or Action Cable's message with `action` for `type`.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type", alias = "action", borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

#[derive(Deserialize)]
struct Identified<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

impl Reader {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self {
            dialect: wire.dialect(),
            wire,
            shapes: Vec::new(),
        }
    }

    /// Understands a text message.
    pub(crate) fn text(&mut self, frame: &str) -> Inbound {
        if self.dialect.encoding.is_binary() {
            Inbound::Foreign
        } else {
            self.json(frame)
        }
    }

    /// Understands a text message, or the JSON that a binary one stands for.
    fn json(&mut self, frame: &str) -> Inbound {
        match self.shapes.iter().find_map(|shape| shape.read(frame)) {
            Some((kind, id)) => Inbound::Ours(kind, id),
            None => self.parse(frame),
        }
    }

    /// Understands a binary message.
    pub(crate) fn binary(&mut self, message: &[u8]) -> Inbound {
        if self.wire.server_type == ServerType::Binary {
            return into_inbound(binary::decode(message, self.wire.run));
        }
        let Dialect {
            encoding,
            is_extended,
        } = self.dialect;
        match encoding.reply_json(Content::Binary(message), is_extended) {
            Ok(json) => self.json(&json),
            Err(_) => Inbound::Foreign,
        }
    }

    fn parse(&mut self, frame: &str) -> Inbound {
        match self.wire.server_type {
            ServerType::Binary => Inbound::Foreign,
            ServerType::Json => into_inbound(self.parse_envelope(frame, frame)),
            ServerType::Echo => into_inbound(self.parse_raw_echo(frame)),
            ServerType::ActionCable | ServerType::ActionCableConnect => self.parse_reply(frame),
        }
    }

    fn parse_reply(&mut self, frame: &str) -> Inbound {
        match Reply::parse(frame) {
            Ok(Reply::Message {
                identifier, message, ..
            }) if identifier == self.wire.channel => into_inbound(self.parse_envelope(frame, message)),
            Ok(Reply::Disconnect { reason, .. }) => Inbound::Goodbye(reason.into_owned()),
            Ok(Reply::Message { .. }) | Err(_) => Inbound::Foreign,
            Ok(_) => Inbound::Chatter,
        }
    }

    /// `json` is the part of `frame` that holds the envelope.
    fn parse_envelope(&mut self, frame: &str, json: &str) -> Option<(Kind, u64)> {
        let Envelope { name, payload } = serde_json::from_str(json).ok()?;
        let kind = Kind::from_name(&name)?;
        let Identified { id } = serde_json::from_str(payload.get()).ok()?;
        let number = self.wire.run.number(&id)?;
        self.learn(Shape::learn(frame, kind, &name, payload.get(), &id));
        Some((kind, number))
    }

    fn parse_raw_echo(&mut self, frame: &str) -> Option<(Kind, u64)> {
        let Identified { id } = serde_json::from_str(frame).ok()?;
        let number = self.wire.run.number(&id)?;
        // The frame is the payload and nothing but its kind: an empty name before everything stands for it.
        self.learn(Shape::learn(frame, Kind::Echo, &frame[..0], frame, &id));
        Some((Kind::Echo, number))
    }

    fn learn(&mut self, shape: Option<Shape>) {
        if self.shapes.len() < MAX_SHAPES {
            self.shapes.extend(shape);
        }
    }
}

fn into_inbound(ours: Option<(Kind, u64)>) -> Inbound {
    ours.map_or(Inbound::Foreign, |(kind, id)| Inbound::Ours(kind, id))
}

#[cfg(test)]
mod tests;
