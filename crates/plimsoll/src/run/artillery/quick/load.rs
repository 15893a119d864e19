//! What the users of a quick look do, and the file that makes them do it.

use plimsoll_cable::subprotocol::BASE_JSON;
use plimsoll_clients::target::Target;
use plimsoll_probe::{Findings, Kind};
use serde_json::{Value, json};

use crate::{exit::Failure, probe};

/// The message that users send over a WebSocket.
const MESSAGE: &str = "hello";

/// How long a welcome or the answer to a subscription may take, in seconds.
const ANSWER_SECONDS: u32 = 10;

/// The name of a user's further connections.
const AGAIN: &str = "again";

/// What users do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Load {
    /// They make GET requests.
    Http,
    /// They send messages, and wait for the return of each.
    Echo,
    /// They send messages.
    Websocket,
    /// They connect, wait for the welcome and perhaps subscribe.
    Cable(Option<Subscription>),
}

/// A channel of Action Cable.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Subscription {
    pub(super) channel: String,
    /// An object.
    pub(super) parameters: Option<Value>,
}

/// How users present themselves.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) url: String,
    /// The `Origin` of a WebSocket. None for that of a page of the server itself.
    pub(super) origin: Option<String>,
    pub(super) headers: Vec<(String, String)>,
}

/// Whether this machine has no connection to the server.
pub(super) fn is_out_of_reach(findings: &Findings) -> bool {
    findings.kind == Kind::Nothing
}

/// What users do with this server.
///
/// # Errors
/// The server lets no client in, or speaks a protocol for which there are no users.
pub(super) fn choose(findings: &Findings, subscription: Option<Subscription>) -> Result<Load, Failure> {
    let title = probe::title(findings);
    if let Some(problem) = findings.problems.first() {
        let (what, next) = probe::problem(problem);
        return Err(Failure::Runtime(format!("{title}. {what}: {next}").into()));
    }
    let load = match findings.kind {
        Kind::ActionCable | Kind::Anycable => return Ok(Load::Cable(subscription)),
        Kind::Echo => Load::Echo,
        Kind::Websocket => Load::Websocket,
        kind => {
            return Err(Failure::Runtime(
                format!(
                    "{title}, and `plimsoll quick` does not; {}",
                    instead(kind, findings)
                )
                .into(),
            ));
        }
    };
    match subscription {
        None => Ok(load),
        Some(_) => Err(Failure::Usage(format!(
            "--channel subscribes to a channel of Action Cable, and {title}"
        ))),
    }
}

/// The command for a server of another kind.
fn instead(kind: Kind, findings: &Findings) -> String {
    match kind {
        Kind::Sse => {
            "scripts have no client for event streams, either; `curl -N` shows the stream".to_owned()
        }
        _ => format!(
            "write a script with `plimsoll probe {} --write chat.js`, then run it with `plimsoll run chat.js`",
            probe::quoted(&findings.url)
        ),
    }
}

impl Load {
    /// Artillery's file for so many users, each of which does its work `n_each` times.
    pub(super) fn file(&self, client: &Client, n_users: u32, n_each: u32) -> Value {
        let url = &client.url;
        let headers = self.headers(client);
        let (engine, flow) = match self {
            Self::Http => {
                let mut get = json!({ "url": url });
                if !client.headers.is_empty() {
                    get["headers"] = headers.clone();
                }
                ("http", json!([repeated(&json!([{ "get": get }]), n_each)]))
            }
            Self::Echo => {
                let send = json!([{ "send": { "payload": MESSAGE, "answers": 1 } }]);
                ("ws", json!([repeated(&send, n_each)]))
            }
            Self::Websocket => ("ws", json!([repeated(&json!([{ "send": MESSAGE }]), n_each)])),
            Self::Cable(subscription) => ("ws", cable_flow(url, subscription.as_ref(), n_each)),
        };
        let mut config = json!({ "target": url, "phases": [{ "duration": 1, "arrivalCount": n_users }] });
        if *self != Self::Http {
            config["ws"] = json!({ "headers": headers });
        }
        if matches!(self, Self::Cable(_)) {
            config["ws"]["subprotocols"] = json!([BASE_JSON]);
        }
        json!({ "config": config, "scenarios": [{ "engine": engine, "flow": flow }] })
    }

    /// The header fields of requests and handshakes.
    fn headers(&self, client: &Client) -> Value {
        let mut headers: serde_json::Map<_, _> = client
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        let own = || {
            let target = Target::parse(&client.url).ok().filter(|_| *self != Self::Http);
            target.map(|target| target.own_origin())
        };
        if let Some(origin) = client.origin.clone().or_else(own) {
            headers.insert("Origin".to_owned(), origin.into());
        }
        headers.into()
    }
}

fn repeated(steps: &Value, n: u32) -> Value {
    json!({ "loop": steps, "count": n })
}

/// The engine opens the first connection of each user, and steps open the others, each in place of the one before.
fn cable_flow(url: &str, subscription: Option<&Subscription>, n_each: u32) -> Value {
    let mut flow = visit(subscription, None);
    if n_each > 1 {
        let mut steps = vec![json!({ "connect": { "name": AGAIN, "target": url } })];
        steps.extend(visit(subscription, Some(AGAIN)));
        flow.push(repeated(&steps.into(), n_each - 1));
    }
    flow.into()
}

/// One visit: the welcome, and the subscription.
fn visit(subscription: Option<&Subscription>, connection: Option<&str>) -> Vec<Value> {
    let welcome = json!({ "receive": {
        "match": { "json": "$.type", "value": "welcome" },
        "timeout": ANSWER_SECONDS,
        "timed": subscription.is_none(),
    } });
    let mut steps = vec![welcome];
    if let Some(subscription) = subscription {
        let command = json!({ "command": "subscribe", "identifier": subscription.identifier() });
        steps.push(json!({ "send": command.to_string() }));
        // Either answer ends the wait, and a rejection has nothing to capture.
        steps.push(json!({ "receive": {
            "match": { "regexp": r#""type"\s*:\s*"(?:confirm|reject)(_subscription)""#, "group": 1, "value": "_subscription" },
            "capture": { "regexp": r#""type"\s*:\s*"(confirm)_subscription""#, "group": 1, "as": "answer" },
            "timeout": ANSWER_SECONDS,
            "timed": true,
        } }));
    }
    for step in &mut steps {
        if let Some(name) = connection {
            step["connection"] = name.into();
        }
    }
    steps
}

impl Subscription {
    /// The identifier, as k6's extension writes it: keys in alphabetical order.
    fn identifier(&self) -> String {
        let mut fields = match &self.parameters {
            Some(Value::Object(fields)) => fields.clone(),
            _ => serde_json::Map::new(),
        };
        fields.insert("channel".to_owned(), self.channel.clone().into());
        let sorted: std::collections::BTreeMap<_, _> = fields.into_iter().collect();
        json!(sorted).to_string()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use plimsoll_probe::Problem;

    use super::*;

    fn subscription() -> Option<Subscription> {
        Some(Subscription {
            channel: "ChatChannel".to_owned(),
            parameters: Some(json!({ "id": "demo", "a": 1 })),
        })
    }

    #[test]
    fn the_kind_chooses_the_load() {
        let check = |kind, subscription: Option<Subscription>, expected: Result<Load, &str>| {
            let findings = Findings {
                kind,
                ..Findings::before("ws://h/".to_owned())
            };
            let found = choose(&findings, subscription).map_err(|failure| failure.message());
            assert_eq!(found, expected.map_err(str::to_owned), "{kind:?}");
        };
        check(Kind::ActionCable, None, Ok(Load::Cable(None)));
        check(Kind::Anycable, subscription(), Ok(Load::Cable(subscription())));
        check(Kind::Echo, None, Ok(Load::Echo));
        check(Kind::Websocket, None, Ok(Load::Websocket));
        check(
            Kind::Websocket,
            subscription(),
            Err(
                "--channel subscribes to a channel of Action Cable, and ws://h/ is a WebSocket with a protocol of its own",
            ),
        );
        check(
            Kind::Phoenix,
            None,
            Err(
                "ws://h/ speaks Phoenix Channels, and `plimsoll quick` does not; write a script with `plimsoll probe ws://h/ \
                 --write chat.js`, then run it with `plimsoll run chat.js`",
            ),
        );
        check(
            Kind::Sse,
            None,
            Err(
                "ws://h/ sends Server-Sent Events, and `plimsoll quick` does not; scripts have no client for event \
                 streams, either; `curl -N` shows the stream",
            ),
        );
    }

    #[test]
    fn a_problem_is_told_before_the_load() {
        let findings = Findings {
            kind: Kind::Http,
            problems: vec![Problem::NoWebSocket { status: 404 }],
            ..Findings::before("ws://h/x".to_owned())
        };
        let message = choose(&findings, None).unwrap_err().message();
        assert!(
            message.starts_with(
                "ws://h/x answers HTTP, and opens no WebSocket for this client. The path answers status 404"
            ),
            "{message}"
        );
    }

    #[test]
    fn users_do_their_work() {
        let check = |load: Load, headers: &[(&str, &str)], n_each, expected: &Expect| {
            let client = Client {
                url: "ws://h:8080/x".to_owned(),
                origin: None,
                headers: headers
                    .iter()
                    .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
            };
            expected.assert_eq(&load.file(&client, 3, n_each).to_string());
        };
        check(
            Load::Http,
            &[("Cookie", "a=b")],
            2,
            &expect![[
                r#"{"config":{"target":"ws://h:8080/x","phases":[{"duration":1,"arrivalCount":3}]},"scenarios":[{"engine":"http","flow":[{"loop":[{"get":{"url":"ws://h:8080/x","headers":{"Cookie":"a=b"}}}],"count":2}]}]}"#
            ]],
        );
        check(
            Load::Echo,
            &[],
            2,
            &expect![[
                r#"{"config":{"target":"ws://h:8080/x","phases":[{"duration":1,"arrivalCount":3}],"ws":{"headers":{"Origin":"http://h:8080"}}},"scenarios":[{"engine":"ws","flow":[{"loop":[{"send":{"payload":"hello","answers":1}}],"count":2}]}]}"#
            ]],
        );
        check(
            Load::Websocket,
            &[],
            2,
            &expect![[
                r#"{"config":{"target":"ws://h:8080/x","phases":[{"duration":1,"arrivalCount":3}],"ws":{"headers":{"Origin":"http://h:8080"}}},"scenarios":[{"engine":"ws","flow":[{"loop":[{"send":"hello"}],"count":2}]}]}"#
            ]],
        );
        check(
            Load::Cable(None),
            &[("Cookie", "a=b")],
            1,
            &expect![[
                r#"{"config":{"target":"ws://h:8080/x","phases":[{"duration":1,"arrivalCount":3}],"ws":{"headers":{"Cookie":"a=b","Origin":"http://h:8080"},"subprotocols":["actioncable-v1-json"]}},"scenarios":[{"engine":"ws","flow":[{"receive":{"match":{"json":"$.type","value":"welcome"},"timeout":10,"timed":true}}]}]}"#
            ]],
        );
        check(
            Load::Cable(subscription()),
            &[],
            5,
            &expect![[
                r#"{"config":{"target":"ws://h:8080/x","phases":[{"duration":1,"arrivalCount":3}],"ws":{"headers":{"Origin":"http://h:8080"},"subprotocols":["actioncable-v1-json"]}},"scenarios":[{"engine":"ws","flow":[{"receive":{"match":{"json":"$.type","value":"welcome"},"timeout":10,"timed":false}},{"send":"{\"command\":\"subscribe\",\"identifier\":\"{\\\"a\\\":1,\\\"channel\\\":\\\"ChatChannel\\\",\\\"id\\\":\\\"demo\\\"}\"}"},{"receive":{"match":{"regexp":"\"type\"\\s*:\\s*\"(?:confirm|reject)(_subscription)\"","group":1,"value":"_subscription"},"capture":{"regexp":"\"type\"\\s*:\\s*\"(confirm)_subscription\"","group":1,"as":"answer"},"timeout":10,"timed":true}},{"loop":[{"connect":{"name":"again","target":"ws://h:8080/x"}},{"receive":{"match":{"json":"$.type","value":"welcome"},"timeout":10,"timed":false},"connection":"again"},{"send":"{\"command\":\"subscribe\",\"identifier\":\"{\\\"a\\\":1,\\\"channel\\\":\\\"ChatChannel\\\",\\\"id\\\":\\\"demo\\\"}\"}","connection":"again"},{"receive":{"match":{"regexp":"\"type\"\\s*:\\s*\"(?:confirm|reject)(_subscription)\"","group":1,"value":"_subscription"},"capture":{"regexp":"\"type\"\\s*:\\s*\"(confirm)_subscription\"","group":1,"as":"answer"},"timeout":10,"timed":true},"connection":"again"}],"count":4}]}]}"#
            ]],
        );
    }
}
