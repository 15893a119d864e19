//! The channels of the suite. `conformance/rails` has the same ones, with the same parameters, for Action Cable itself.
//!
//! | channel | parameters | what it does |
//! |---|---|---|
//! | StreamsChannel | `streams` | hears streams; actions `follow`, `stop`, `stop_all`, `tick`, `say`, `broadcast`, `end` |
//! | SlowChannel | `streams`, `ms` | the same, after a while |
//! | GreetingChannel | | transmits `hello` and `world` before it is confirmed |
//! | RequestChannel | | transmits the URL of the connection |
//! | TokenChannel | | refuses connections without `?token=secret` |
//! | CounterChannel | `name`, `stream` | counts in its state with `tick`; says on its stream who left |
//! | FarewellChannel | `name`, `stream` | says on its stream who left |
//! | WhisperChannel | `stream` | lets its clients whisper |
//! | PresenceChannel | `stream`, `user`, `joins` | who is there; actions `join`, `leave` |
//!
//! Any other name is refused, `RefusedChannel` too.

use std::{borrow::Cow, collections::HashMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    super::{
        broadcast::{to_others, to_stream},
        message::quoted,
    },
    contract::{
        CommandMessage, CommandResponse, DisconnectRequest, Env, EnvResponse, FAILURE, PresenceResponse,
        SUCCESS,
    },
    request,
};

/// The longest wait of a channel. Reason: servers give up a call after three seconds.
const MOST_MS: u64 = 1000;

/// The key of a subscription's state for the stream that clients may whisper to (docs/protocols/extended.md, Whispers).
const WHISPER_STATE: &str = "$w";
/// The key for the stream on which they are present (docs/protocols/extended.md, Presence).
const PRESENCE_STATE: &str = "$p";

/// The key of the counter in the channel's state.
const COUNTER_STATE: &str = "counter";

/// The result of a call.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Effects {
    pub(super) response: CommandResponse,
    /// Bodies to publish before the call is answered.
    pub(super) broadcasts: Vec<String>,
}

/// The content of an identifier.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Params {
    channel: String,
    streams: Vec<String>,
    stream: String,
    name: String,
    user: String,
    ms: u64,
    joins: bool,
}

/// The content of an action.
#[derive(Deserialize)]
struct Action<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stream: Cow<'a, str>,
    #[serde(borrow, default)]
    user: Cow<'a, str>,
    #[serde(default)]
    to_others: bool,
    #[serde(default)]
    reconnect: bool,
}

/// The state of the counter.
#[derive(Serialize, Deserialize, Default)]
struct Counter {
    count: u64,
    name: String,
}

pub(super) async fn carry_out(sid: &str, message: &CommandMessage) -> Effects {
    let params: Params = serde_json::from_str(&message.identifier).unwrap_or_default();
    let env = message.env.clone().unwrap_or_default();
    match message.command.as_str() {
        "subscribe" => {
            tokio::time::sleep(Duration::from_millis(params.ms.min(MOST_MS))).await;
            Effects {
                response: subscribed(&params, &message.identifier, &env),
                broadcasts: Vec::new(),
            }
        }
        "unsubscribe" => Effects {
            response: CommandResponse {
                status: SUCCESS,
                stop_streams: true,
                ..CommandResponse::default()
            },
            broadcasts: farewell(&params).into_iter().collect(),
        },
        _ => match serde_json::from_str::<Action<'_>>(&message.data) {
            Ok(action) => performed(sid, message, &env, &params, &action),
            Err(error) => Effects {
                response: CommandResponse {
                    error_msg: format!("the data of a message is an object with an action: {error}"),
                    ..CommandResponse::default()
                },
                broadcasts: Vec::new(),
            },
        },
    }
}

fn subscribed(params: &Params, identifier: &str, env: &Env) -> CommandResponse {
    let mut response = CommandResponse {
        status: SUCCESS,
        ..CommandResponse::default()
    };
    match params.channel.as_str() {
        "StreamsChannel" | "SlowChannel" => response.streams.clone_from(&params.streams),
        "GreetingChannel" => {
            let greetings = ["hello", "world"].map(|word| transmission(identifier, &quoted(word)));
            response.transmissions.extend(greetings);
        }
        "RequestChannel" => {
            let url = env.cstate.get("url").map_or("", String::as_str);
            let report = format!(r#"{{"url":{}}}"#, quoted(url));
            response.transmissions.push(transmission(identifier, &report));
        }
        "TokenChannel" if request::query(env, "token").as_deref() == Some("secret") => {}
        "CounterChannel" => {
            let counter = Counter {
                count: 0,
                name: params.name.clone(),
            };
            response.env = Some(remembering(COUNTER_STATE, &encoded(&counter)));
        }
        "FarewellChannel" => {}
        "WhisperChannel" => {
            response.streams.push(params.stream.clone());
            response.env = Some(remembering(WHISPER_STATE, &params.stream));
        }
        "PresenceChannel" => {
            response.streams.push(params.stream.clone());
            response.env = Some(remembering(PRESENCE_STATE, &params.stream));
            response.presence = params.joins.then(|| presence("join", &params.user));
        }
        _ => return refusal(identifier),
    }
    let confirmation = format!(
        r#"{{"type":"confirm_subscription","identifier":{}}}"#,
        quoted(identifier)
    );
    response.transmissions.push(confirmation);
    response
}

fn refusal(identifier: &str) -> CommandResponse {
    CommandResponse {
        status: FAILURE,
        transmissions: vec![format!(
            r#"{{"type":"reject_subscription","identifier":{}}}"#,
            quoted(identifier)
        )],
        ..CommandResponse::default()
    }
}

fn performed(
    sid: &str,
    message: &CommandMessage,
    env: &Env,
    params: &Params,
    action: &Action<'_>,
) -> Effects {
    let mut response = CommandResponse {
        status: SUCCESS,
        ..CommandResponse::default()
    };
    let mut broadcasts = Vec::new();
    let payload = action.message.map_or("null", RawValue::get);
    let transmit = |payload: &str| transmission(&message.identifier, payload);
    match (params.channel.as_str(), &*action.action) {
        ("CounterChannel", "tick") => {
            let mut counter = counter(&env.istate);
            counter.count += 1;
            response.env = Some(remembering(COUNTER_STATE, &encoded(&counter)));
            response.transmissions.push(transmit(&encoded(&counter)));
        }
        ("PresenceChannel", what @ ("join" | "leave")) => {
            response.presence = Some(presence(what, &action.user));
        }
        (_, "tick") => response.transmissions.push(transmit(r#""tock""#)),
        (_, "say") => response.transmissions.push(transmit(payload)),
        (_, "follow") => response.streams.push(action.stream.clone().into_owned()),
        (_, "stop") => response.stopped_streams.push(action.stream.clone().into_owned()),
        (_, "stop_all") => response.stop_streams = true,
        (_, "broadcast") if action.to_others => broadcasts.push(to_others(&action.stream, payload, sid)),
        (_, "broadcast") => broadcasts.push(to_stream(&action.stream, payload)),
        (_, "end") => {
            let reconnect = action.reconnect;
            response.disconnect = true;
            response.transmissions.push(format!(
                r#"{{"type":"disconnect","reason":"remote","reconnect":{reconnect}}}"#
            ));
        }
        (channel, action) => {
            response.status = 0;
            response.error_msg = format!("{channel} has no action {action}");
        }
    }
    Effects { response, broadcasts }
}

/// The last messages of the channels of an ended connection.
pub(super) fn farewells(request: &DisconnectRequest) -> Vec<String> {
    let istate = request.env.as_ref().map(|env| &env.istate);
    let of_subscription = |identifier: &String| {
        let mut params: Params = serde_json::from_str(identifier).ok()?;
        if params.channel == "CounterChannel" {
            // The name as the state has it: whether that comes along is what is tested.
            let state = istate.and_then(|states| states.get(identifier));
            let state = state.and_then(|state| serde_json::from_str(state).ok());
            params.name = counter(&state.unwrap_or_default()).name;
        }
        farewell(&params)
    };
    request.subscriptions.iter().filter_map(of_subscription).collect()
}

fn farewell(params: &Params) -> Option<String> {
    let says_farewell = matches!(params.channel.as_str(), "CounterChannel" | "FarewellChannel");
    let message = format!(r#"{{"left":{}}}"#, quoted(&params.name));
    says_farewell.then(|| to_stream(&params.stream, &message))
}

fn counter(istate: &HashMap<String, String>) -> Counter {
    let state = istate.get(COUNTER_STATE);
    state
        .and_then(|state| serde_json::from_str(state).ok())
        .unwrap_or_default()
}

fn remembering(key: &str, value: &str) -> EnvResponse {
    EnvResponse {
        istate: [(key.to_owned(), value.to_owned())].into(),
        ..EnvResponse::default()
    }
}

fn presence(what: &str, id: &str) -> PresenceResponse {
    PresenceResponse {
        r#type: what.to_owned(),
        id: id.to_owned(),
        info: format!(r#"{{"name":{}}}"#, quoted(id)),
    }
}

fn transmission(identifier: &str, payload: &str) -> String {
    format!(r#"{{"identifier":{},"message":{payload}}}"#, quoted(identifier))
}

fn encoded(counter: &Counter) -> String {
    serde_json::to_string(counter).expect("a number and a string always serialise")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(command: &str, identifier: &str, data: &str) -> CommandMessage {
        CommandMessage {
            command: command.to_owned(),
            identifier: identifier.to_owned(),
            data: data.to_owned(),
            ..CommandMessage::default()
        }
    }

    #[tokio::test]
    async fn payloads_pass_byte_for_byte() {
        let identifier = r#"{"channel":"StreamsChannel"}"#;
        let data = r#"{"action":"say","message":{"b": 1.0,"a":12345678901234567890}}"#;
        let effects = carry_out("s1", &message("message", identifier, data)).await;
        assert_eq!(
            effects.response.transmissions,
            [
                r#"{"identifier":"{\"channel\":\"StreamsChannel\"}","message":{"b": 1.0,"a":12345678901234567890}}"#
            ]
        );
    }

    #[tokio::test]
    async fn unknown_channels_and_identifiers_that_are_no_json_are_refused() {
        for identifier in [
            "",
            "not JSON",
            "1",
            "[]",
            "{}",
            r#"{"channel":"None"}"#,
            r#"{"channel":1}"#,
        ] {
            let effects = carry_out("s1", &message("subscribe", identifier, "")).await;
            assert_eq!(effects.response.status, FAILURE, "{identifier}");
        }
    }

    #[test]
    fn farewells_know_the_name_from_the_state() {
        let counter = r#"{"channel":"CounterChannel","name":"from the identifier","stream":"s"}"#;
        let request = DisconnectRequest {
            subscriptions: vec![counter.to_owned(), r#"{"channel":"StreamsChannel"}"#.to_owned()],
            env: Some(Env {
                istate: [(
                    counter.to_owned(),
                    r#"{"counter":"{\"count\":0,\"name\":\"kay\"}"}"#.to_owned(),
                )]
                .into(),
                ..Env::default()
            }),
            ..DisconnectRequest::default()
        };
        assert_eq!(
            farewells(&request),
            [r#"{"stream":"s","data":"{\"left\":\"kay\"}"}"#]
        );
    }
}
