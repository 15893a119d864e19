//! `BenchmarkChannel`: the channel that websocket-bench, and load scripts for AnyCable's benchmark application, expect.

use std::borrow::Cow;

use plimsoll_cable::{broadcast::Publication, reply};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, Reply, StateChanges,
    Status, channel::Channel,
};
use crate::Publisher;

/// Accepts every connection. A subscription listens to the stream `all`, or to `allX` if the identifier has an `id`
/// with the value X, like the streams of AnyCable's benchmark application. Action `echo` sends its data back to the
/// sender. `broadcast` publishes its data on the stream and, once it was written to all listeners, sends it back with
/// the action `broadcastResult`. The result means that the broadcast is done, as in the servers for which the benchmark
/// was made.
#[derive(Debug)]
pub struct Benchmark {
    publisher: Publisher,
}

/// The data of an action. Its other keys belong to the client and come back unchanged.
#[derive(Deserialize)]
struct Performed<'a> {
    #[serde(borrow)]
    action: &'a RawValue,
}

impl Benchmark {
    /// Creates the application, which publishes through `publisher`.
    pub fn new(publisher: Publisher) -> Self {
        Self { publisher }
    }

    /// The answer to the sender, as JSON text. `None` if the channel does not have the action.
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
            expires_at: None,
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

/// The action's name, and the JSON text of the name. `None` if `data` is not an object with an action.
fn action(data: &str) -> Option<(Cow<'_, str>, &str)> {
    #[derive(Deserialize)]
    struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

    // serde would accept a list for a struct, too.
    let is_object = data.trim_start().starts_with('{');
    let Performed { action } = is_object.then(|| serde_json::from_str(data).ok()).flatten()?;
    let Name(name) = serde_json::from_str(action.get()).ok()?;
    Some((name, action.get()))
}

/// Returns `text` with its slice `part` replaced by `replacement`.
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
    use crate::publisher::Kept;

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
        let (publisher, _) = Publisher::new(0, 1 << 20, Kept::default(), None, &Registry::default());
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
