//! `BenchmarkChannel`: what websocket-bench, and load scripts for AnyCable's benchmark application, expect of a server.

use std::borrow::Cow;

use plimsoll_cable::{broadcast::Publication, reply};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, Reply, StateChanges,
    Status, channel::Channel,
};
use crate::Publisher;

/// Everybody may connect. A subscription hears the stream `all`, or `allX` when the identifier has an `id` of value X:
/// the names that AnyCable's benchmark application gives its streams. Action `echo` sends its data back to the sender;
/// `broadcast` publishes its data on the stream and, when everybody there was written to, sends it back with the action
/// `broadcastResult`: the result means that the broadcast is done, as in the servers that the benchmark was made for.
#[derive(Debug)]
pub struct Benchmark {
    publisher: Publisher,
}

/// What a client performs. All other keys are its own, and come back as they are.
#[derive(Deserialize)]
struct Performed<'a> {
    #[serde(borrow)]
    action: &'a RawValue,
}

impl Benchmark {
    /// The application, publishing through `publisher`.
    pub fn new(publisher: Publisher) -> Self {
        Self { publisher }
    }

    /// What the sender gets back, as JSON text; `None` for an action that the channel does not have.
    async fn perform(&self, identifier: &str, data: &str) -> Option<String> {
        let Some((action, raw)) = action(data) else {
            tracing::debug!(
                "BenchmarkChannel needs an object with an action, such as {{\"action\":\"echo\"}}."
            );
            return None;
        };
        match &*action {
            "echo" => Some(data.to_owned()),
            "broadcast" => {
                let publication = Publication::from_json(stream(identifier), data.to_owned());
                self.publisher.deliver(publication).await;
                Some(replaced(data, raw, "\"broadcastResult\""))
            }
            _ => {
                tracing::debug!(%action, "BenchmarkChannel knows the actions echo and broadcast.");
                None
            }
        }
    }
}

impl Application for Benchmark {
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        Box::pin(std::future::ready(ConnectReply::Accepted {
            identifiers: String::new(),
            transmissions: vec![reply::encode_welcome(&request.sid)],
            cstate: StateChanges::new(),
            hears_of_end: false,
        }))
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        Box::pin(async move {
            match request.action {
                Action::Subscribe => subscribe(request),
                Action::Unsubscribe => CommandReply::default(),
                Action::Perform(data) => {
                    let answer = self.perform(request.identifier, data).await;
                    let message = |json: String| reply::encode_message(request.identifier, &json);
                    CommandReply {
                        transmissions: answer.map(message).into_iter().collect(),
                        ..CommandReply::default()
                    }
                }
            }
        })
    }
}

fn subscribe(request: &CommandRequest<'_>) -> CommandReply {
    match Channel::parse(request.identifier) {
        Some(channel) if channel.name == "BenchmarkChannel" => CommandReply {
            status: Status::Accepted,
            streams: vec![stream(request.identifier)],
            transmissions: vec![reply::encode_confirm(request.identifier)],
            ..CommandReply::default()
        },
        _ => CommandReply {
            transmissions: vec![reply::encode_reject(request.identifier)],
            ..CommandReply::default()
        },
    }
}

/// The action's name, and the JSON that it is written as; `None` when `data` is not an object with an action.
fn action(data: &str) -> Option<(Cow<'_, str>, &str)> {
    #[derive(Deserialize)]
    struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

    // A list would do for a struct, too.
    let is_object = data.trim_start().starts_with('{');
    let Performed { action } = is_object.then(|| serde_json::from_str(data).ok()).flatten()?;
    let Name(name) = serde_json::from_str(action.get()).ok()?;
    Some((name, action.get()))
}

/// `text` with `replacement` in the place of its part `part`.
fn replaced(text: &str, part: &str, replacement: &str) -> String {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    format!("{}{replacement}{}", &text[..start], &text[start + part.len()..])
}

fn stream(identifier: &str) -> String {
    let id = Channel::parse(identifier).and_then(|channel| channel.parameter("id"));
    format!("all{}", id.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use plimsoll_telemetry::Registry;

    use super::*;

    #[test]
    fn the_id_chooses_the_stream() {
        for (identifier, expected) in [
            (r#"{"channel":"BenchmarkChannel"}"#, "all"),
            (r#"{"channel":"BenchmarkChannel","id":7}"#, "all7"),
            (r#"{"channel":"BenchmarkChannel","id":"_x"}"#, "all_x"),
            (r#"{"channel":"BenchmarkChannel","id":"","stream":"x"}"#, "all"),
        ] {
            assert_eq!(stream(identifier), expected, "{identifier}");
        }
    }

    #[tokio::test]
    async fn data_comes_back_with_all_its_keys() {
        // Without shards a broadcast is delivered at once.
        let (publisher, _) = Publisher::new(0, 1 << 20, &Registry::default());
        let benchmark = Benchmark::new(publisher);
        for (data, expected) in [
            (
                r#"{"ts":1.0,"action":"echo"}"#,
                Some(r#"{"ts":1.0,"action":"echo"}"#),
            ),
            (r#"{"action":"echo"}"#, Some(r#"{"action":"echo"}"#)),
            (
                r#"{ "foo":{"action":"x"}, "action" : "broadcast" ,"n":12345678901234567890}"#,
                Some(r#"{ "foo":{"action":"x"}, "action" : "broadcastResult" ,"n":12345678901234567890}"#),
            ),
            (
                r#"{"action":"\u0062roadcast"}"#,
                Some(r#"{"action":"broadcastResult"}"#),
            ),
            (r#"{"action":"dance"}"#, None),
            (r#"{"action":1}"#, None),
            (r#"["echo"]"#, None),
            ("{}", None),
            ("echo", None),
        ] {
            let answer = benchmark.perform("{}", data).await;
            assert_eq!(answer.as_deref(), expected, "{data}");
        }
    }
}
