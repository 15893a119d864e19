//! The kind of a WebSocket server, from its first messages.

use plimsoll_cable::reply::Reply;
use serde_json::Value;

use crate::{Kind, Ping, PingSource};

/// What a greeting says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Greeting {
    /// The server's kind.
    pub(crate) kind: Kind,
    /// Whether the server refuses the client.
    pub(crate) is_refusal: bool,
    /// The announced interval of pings.
    pub(crate) ping: Option<Ping>,
}

/// The meaning of a server's first message. None if it belongs to no known protocol.
pub(crate) fn understand(message: &str) -> Option<Greeting> {
    let of_kind = |kind, is_refusal, seconds: Option<f64>| Greeting {
        kind,
        is_refusal,
        ping: seconds.map(|seconds| Ping {
            source: PingSource::Message,
            seconds: Some(seconds),
            is_announced: true,
        }),
    };
    match Reply::parse(message) {
        Ok(Reply::Welcome { .. }) => return Some(of_kind(Kind::ActionCable, false, None)),
        Ok(Reply::Disconnect { .. }) => return Some(of_kind(Kind::ActionCable, true, None)),
        _ => {}
    }
    // Engine.IO's `open` (https://socket.io/docs/v4/engine-io-protocol/#handshake).
    if let Some(open) = message.strip_prefix('0') {
        let open: Value = serde_json::from_str(open).ok()?;
        open.get("sid")?.as_str()?;
        let interval = open.get("pingInterval").and_then(Value::as_f64);
        return Some(of_kind(
            Kind::SocketIo,
            false,
            interval.map(|milliseconds| milliseconds / 1000.0),
        ));
    }
    // https://pusher.com/docs/channels/library_auth_reference/pusher-websockets-protocol/
    let event: Value = serde_json::from_str(message).ok()?;
    match event.get("event")?.as_str()? {
        "pusher:connection_established" => Some(of_kind(Kind::Pusher, false, activity_timeout(&event))),
        "pusher:error" => Some(of_kind(Kind::Pusher, true, None)),
        _ => None,
    }
}

/// Pusher's `data` is JSON in a string.
fn activity_timeout(event: &Value) -> Option<f64> {
    let data: Value = serde_json::from_str(event.get("data")?.as_str()?).ok()?;
    data.get("activity_timeout")?.as_f64()
}

/// Phoenix's heartbeat, which its servers answer without a channel
/// (<https://hexdocs.pm/phoenix/writing_a_channels_client.html>). Version 2 of its messages are lists, and the query says so.
pub(crate) fn heartbeat(path_and_query: &str) -> &'static str {
    if path_and_query.contains("vsn=2") {
        r#"[null,"1","phoenix","heartbeat",{}]"#
    } else {
        r#"{"topic":"phoenix","event":"heartbeat","payload":{},"ref":"1"}"#
    }
}

/// The kind of a server that sent nothing by itself, from its answer to [`heartbeat`].
pub(crate) fn of_answer(heartbeat: &str, answer: &str) -> Kind {
    if answer == heartbeat {
        return Kind::Echo;
    }
    let event = match serde_json::from_str(answer) {
        Ok(Value::Array(fields)) => fields.get(3).cloned(),
        Ok(Value::Object(fields)) => fields.get("event").cloned(),
        _ => None,
    };
    if event == Some(Value::from("phx_reply")) {
        Kind::Phoenix
    } else {
        Kind::Websocket
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_shows_the_kind() {
        let check = |message: &str, expected: Option<(Kind, bool, Option<f64>)>| {
            let found = understand(message).map(|greeting| {
                (
                    greeting.kind,
                    greeting.is_refusal,
                    greeting.ping.and_then(|ping| ping.seconds),
                )
            });
            assert_eq!(found, expected, "{message}");
        };
        check(r#"{"type":"welcome"}"#, Some((Kind::ActionCable, false, None)));
        check(
            r#"{"type":"disconnect","reason":"unauthorized","reconnect":false}"#,
            Some((Kind::ActionCable, true, None)),
        );
        check(
            r#"0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":20000}"#,
            Some((Kind::SocketIo, false, Some(25.0))),
        );
        check(
            r#"{"event":"pusher:connection_established","data":"{\"socket_id\":\"1.2\",\"activity_timeout\":120}"}"#,
            Some((Kind::Pusher, false, Some(120.0))),
        );
        check(
            r#"{"event":"pusher:error","data":{"code":4001}}"#,
            Some((Kind::Pusher, true, None)),
        );
        for other in [
            "",
            "0",
            "00",
            "0{}",
            "hello",
            "{}",
            "[]",
            r#"{"event":1}"#,
            r#"{"type":"ping"}"#,
        ] {
            check(other, None);
        }
    }

    #[test]
    fn an_answer_to_a_heartbeat_shows_the_kind() {
        let check = |path: &str, answer: &str, expected: Kind| {
            assert_eq!(of_answer(heartbeat(path), answer), expected, "{answer}");
        };
        let second = "/socket/websocket?vsn=2.0.0";
        check(
            second,
            r#"[null,"1","phoenix","phx_reply",{"status":"ok","response":{}}]"#,
            Kind::Phoenix,
        );
        check(
            "/socket/websocket",
            r#"{"topic":"phoenix","event":"phx_reply","payload":{"status":"ok"},"ref":"1"}"#,
            Kind::Phoenix,
        );
        check(second, heartbeat(second), Kind::Echo);
        check("/", heartbeat("/"), Kind::Echo);
        check("/", "what?", Kind::Websocket);
        check("/", "[]", Kind::Websocket);
    }
}
