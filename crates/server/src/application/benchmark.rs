//! `BenchmarkChannel`: what websocket-bench expects of a server (spec load-tools §1.4).

use plimsoll_cable::{broadcast::Publication, reply};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, Reply, StateChanges,
    Status, channel::Channel,
};
use crate::Publisher;

/// Everybody may connect. A subscription hears a stream of its own and the stream `all`, or `all_X` when the
/// identifier has a parameter `stream` or `id` of value X. Action `echo` publishes to the own stream;
/// `broadcast` publishes to the shared one and, when everybody there was written to, `broadcastResult` to the
/// own: the result means that the broadcast is done, as in the servers that the benchmark was made for.
#[derive(Debug)]
pub struct Benchmark {
    publisher: Publisher,
}

#[derive(Deserialize)]
struct Performed<'a> {
    action: &'a str,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl Benchmark {
    /// The application, publishing through `publisher`.
    pub fn new(publisher: Publisher) -> Self {
        Self { publisher }
    }

    async fn perform(&self, request: &CommandRequest<'_>, data: &str) {
        let Ok(Performed { action, payload }) = serde_json::from_str(data) else {
            tracing::debug!(data, "BenchmarkChannel needs {{\"action\":…,\"payload\":…}}.");
            return;
        };
        let own = own_stream(request);
        match action {
            "echo" => self.publisher.publish(message(own, action, payload)).await,
            "broadcast" => {
                let shared = shared_stream(request.identifier);
                self.publisher.deliver(message(shared, action, payload)).await;
                self.publisher
                    .publish(message(own, "broadcastResult", payload))
                    .await;
            }
            _ => tracing::debug!(action, "BenchmarkChannel knows the actions echo and broadcast."),
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
                    self.perform(request, data).await;
                    CommandReply::default()
                }
            }
        })
    }
}

fn message(stream: String, action: &str, payload: &RawValue) -> Publication {
    Publication::from_json(stream, format!(r#"{{"action":"{action}","payload":{payload}}}"#))
}

fn subscribe(request: &CommandRequest<'_>) -> CommandReply {
    match Channel::parse(request.identifier) {
        Some(channel) if channel.name == "BenchmarkChannel" => CommandReply {
            status: Status::Accepted,
            streams: vec![own_stream(request), shared_stream(request.identifier)],
            transmissions: vec![reply::encode_confirm(request.identifier)],
            ..CommandReply::default()
        },
        _ => CommandReply {
            transmissions: vec![reply::encode_reject(request.identifier)],
            ..CommandReply::default()
        },
    }
}

/// One per subscription: two subscriptions of one client must not hear each other's echoes.
fn own_stream(request: &CommandRequest<'_>) -> String {
    format!("{}:{}", request.sid, request.identifier)
}

fn shared_stream(identifier: &str) -> String {
    let channel = Channel::parse(identifier);
    match channel.and_then(|channel| channel.parameter("stream").or_else(|| channel.parameter("id"))) {
        Some(name) => format!("all_{name}"),
        None => "all".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_choose_the_stream() {
        for (identifier, stream) in [
            (r#"{"channel":"BenchmarkChannel"}"#, "all"),
            (r#"{"channel":"BenchmarkChannel","id":7}"#, "all_7"),
            (r#"{"channel":"BenchmarkChannel","id":7,"stream":"x"}"#, "all_x"),
        ] {
            assert_eq!(shared_stream(identifier), stream, "{identifier}");
        }
    }
}
