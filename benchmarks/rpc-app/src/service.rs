//! What the application answers: everybody may connect and subscribe, and an `echo` comes back to its sender.

use std::time::Instant;

use bytes::Bytes;
use prost::Message;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    contract::{CommandMessage, CommandResponse, ConnectionResponse, DisconnectResponse, FAILURE, SUCCESS},
    grpc::Call,
};

/// The stream that a subscription hears whose identifier names none.
const STREAM: &str = "all";

/// The part of an identifier that says which stream the client wants.
#[derive(Deserialize)]
struct Wanted {
    stream: Option<String>,
}

/// What an action sends.
#[derive(Deserialize)]
struct Action<'a> {
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// The encoded response; `None` for a method that the contract does not have, or a message that is not valid.
pub(crate) fn answer(call: &Call<'_>) -> Option<Bytes> {
    let response = match call.method {
        "/anycable.RPC/Connect" => connect(call.sid).encode_to_vec(),
        "/anycable.RPC/Command" => {
            command(&CommandMessage::decode(call.message).ok()?, call.received).encode_to_vec()
        }
        "/anycable.RPC/Disconnect" => DisconnectResponse { status: SUCCESS }.encode_to_vec(),
        _ => return None,
    };
    Some(response.into())
}

fn connect(sid: &str) -> ConnectionResponse {
    ConnectionResponse {
        status: SUCCESS,
        identifiers: r#"{"user":"benchmark"}"#.to_owned(),
        transmissions: vec![format!(r#"{{"type":"welcome","sid":"{sid}"}}"#)],
    }
}

fn command(message: &CommandMessage, received: Instant) -> CommandResponse {
    match message.command.as_str() {
        "subscribe" => CommandResponse {
            status: SUCCESS,
            streams: vec![stream(&message.identifier)],
            transmissions: vec![format!(
                r#"{{"identifier":{},"type":"confirm_subscription"}}"#,
                quoted(&message.identifier)
            )],
            ..CommandResponse::default()
        },
        "unsubscribe" => CommandResponse {
            status: SUCCESS,
            stop_streams: true,
            ..CommandResponse::default()
        },
        _ => perform(message, received),
    }
}

/// The stream of a subscription.
fn stream(identifier: &str) -> String {
    let wanted: Option<Wanted> = serde_json::from_str(identifier).ok();
    let stream = wanted.and_then(|wanted| wanted.stream);
    stream.unwrap_or_else(|| STREAM.to_owned())
}

/// The payload, and how long this application had it: the benchmark takes that off the round trip.
fn perform(message: &CommandMessage, received: Instant) -> CommandResponse {
    let Ok(Action { payload }) = serde_json::from_str(&message.data) else {
        return CommandResponse {
            status: FAILURE,
            ..CommandResponse::default()
        };
    };
    let identifier = quoted(&message.identifier);
    let app_ns = received.elapsed().as_nanos();
    CommandResponse {
        status: SUCCESS,
        transmissions: vec![format!(
            r#"{{"identifier":{identifier},"message":{{"action":"echo","payload":{payload},"app_ns":{app_ns}}}}}"#
        )],
        ..CommandResponse::default()
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string always serialises")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, message: &CommandMessage) -> Option<Bytes> {
        answer(&Call {
            method,
            sid: "s1",
            message: &message.encode_to_vec(),
            received: Instant::now(),
        })
    }

    #[test]
    fn an_echo_carries_its_payload_byte_for_byte() {
        let message = CommandMessage {
            command: "message".to_owned(),
            identifier: r#"{"channel":"BenchmarkChannel"}"#.to_owned(),
            data: r#"{"action":"echo","payload":{"b":1.0,"a":2}}"#.to_owned(),
        };
        let response = call("/anycable.RPC/Command", &message).expect("the method is known");
        let response = CommandResponse::decode(response).expect("it was encoded above");
        let expected = r#"{"identifier":"{\"channel\":\"BenchmarkChannel\"}","message":{"action":"echo","payload":{"b":1.0,"a":2},"app_ns":"#;
        assert_eq!(response.status, SUCCESS);
        assert!(response.transmissions[0].starts_with(expected), "{response:?}");
    }

    #[test]
    fn an_identifier_may_name_its_stream() {
        assert_eq!(stream(r#"{"channel":"BenchmarkChannel"}"#), "all");
        assert_eq!(stream(r#"{"channel":"BenchmarkChannel","stream":"a-1"}"#), "a-1");
        assert_eq!(stream("x"), "all");
    }

    #[test]
    fn unknown_methods_have_no_answer() {
        assert_eq!(call("/anycable.RPC/Other", &CommandMessage::default()), None);
    }
}
