//! The websocket-shootout contract on `/json` and `/binary` (docs/protocols/websocket-bench.md): `echo` returns to the
//! sender; `broadcast` goes to every client of the path, then a result to the sender.

use std::rc::Rc;

use plimsoll_hub::SessionId;
use plimsoll_websocket::Opcode;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{mailbox::Payload, shard::Shard};

/// The two forms of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contract {
    /// `{"type":"echo"|"broadcast","payload":…}`
    Json,
    /// First byte `e` or `b`, the rest opaque.
    Binary,
}

/// A client's request.
#[derive(Debug)]
pub(crate) enum Request {
    /// Send the message back unchanged.
    Echo,
    /// Send a message to every client of the path.
    Broadcast(Broadcast),
}

/// A broadcast and its result, ready to send.
#[derive(Debug)]
pub(crate) struct Broadcast {
    contract: Contract,
    to_all: Payload,
    to_sender: Payload,
}

#[derive(Deserialize)]
struct Message<'a> {
    r#type: &'a str,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl Contract {
    /// The stream that all clients of the path listen to. The control character keeps its name distinct from those of
    /// backends.
    pub(crate) fn stream(self) -> &'static str {
        match self {
            Self::Json => "\u{0}shootout/json",
            Self::Binary => "\u{0}shootout/binary",
        }
    }

    /// Parses a message. `None` if it is not part of the contract.
    pub(crate) fn receive(self, opcode: Opcode, message: &[u8]) -> Option<Request> {
        match (self, opcode) {
            (Self::Json, Opcode::Text) => self.receive_json(message),
            (Self::Binary, Opcode::Binary) => self.receive_binary(message),
            _ => None,
        }
    }

    fn receive_json(self, message: &[u8]) -> Option<Request> {
        let Message { r#type, payload } = serde_json::from_slice(message).ok()?;
        let text = |kind| Payload::Json(format!(r#"{{"type":"{kind}","payload":{payload}}}"#));
        match r#type {
            "echo" => Some(Request::Echo),
            "broadcast" => Some(Request::Broadcast(Broadcast {
                contract: self,
                to_all: text("broadcast"),
                to_sender: text("broadcastResult"),
            })),
            _ => None,
        }
    }

    fn receive_binary(self, message: &[u8]) -> Option<Request> {
        match message.first()? {
            b'e' => Some(Request::Echo),
            b'b' => {
                let mut result = message.to_vec();
                result[0] = b'r';
                Some(Request::Broadcast(Broadcast {
                    contract: self,
                    to_all: Payload::Binary(message.to_vec()),
                    to_sender: Payload::Binary(result),
                }))
            }
            _ => None,
        }
    }
}

impl Broadcast {
    pub(super) fn heap_bytes(&self) -> usize {
        self.to_all.len() + self.to_sender.len()
    }

    /// Publishes. The result goes out once the message was written to every client: it means that the broadcast is
    /// done.
    pub(crate) async fn publish(self, shard: &Rc<Shard>, sender: SessionId) {
        let Self {
            contract,
            to_all,
            to_sender,
        } = self;
        shard
            .publisher
            .deliver_payload(contract.stream().to_owned(), to_all)
            .await;
        shard.publisher.send_direct(shard.number, sender, to_sender).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(contract: Contract, opcode: Opcode, message: &[u8], expected: &str) {
        let got = match contract.receive(opcode, message) {
            None => "unknown".to_owned(),
            Some(Request::Echo) => "echo".to_owned(),
            Some(Request::Broadcast(broadcast)) => {
                let text = |payload| match payload {
                    Payload::Json(text) | Payload::Typed { text, .. } => text,
                    Payload::Binary(bytes) => String::from_utf8(bytes).expect("text in this test"),
                };
                format!("{} then {}", text(broadcast.to_all), text(broadcast.to_sender))
            }
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn knows_its_contract_and_nothing_else() {
        check(
            Contract::Json,
            Opcode::Text,
            br#"{"type":"echo","payload":{"a":1}}"#,
            "echo",
        );
        check(
            Contract::Json,
            Opcode::Text,
            br#"{"payload":{"b": 1.0,"a":2},"type":"broadcast"}"#,
            r#"{"type":"broadcast","payload":{"b": 1.0,"a":2}} then {"type":"broadcastResult","payload":{"b": 1.0,"a":2}}"#,
        );
        check(
            Contract::Json,
            Opcode::Text,
            br#"{"type":"dance","payload":1}"#,
            "unknown",
        );
        check(Contract::Json, Opcode::Text, b"nonsense", "unknown");
        check(
            Contract::Json,
            Opcode::Binary,
            br#"{"type":"echo","payload":1}"#,
            "unknown",
        );
        check(Contract::Binary, Opcode::Binary, b"exyz", "echo");
        check(Contract::Binary, Opcode::Binary, b"bxyz", "bxyz then rxyz");
        check(Contract::Binary, Opcode::Binary, b"", "unknown");
        check(Contract::Binary, Opcode::Text, b"e", "unknown");
    }
}
