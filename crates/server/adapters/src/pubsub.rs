//! Publish/subscribe: every node receives every message, but only while it is connected (AnyCable's adapter `redis`).

use std::{pin::pin, time::Duration};

use plimsoll_telemetry::Dependency;
use redis::cmd;
use tokio::sync::watch;

use crate::{
    connection::{Connection, ConnectionError, PATIENCE},
    resp::Reply,
    server::Server,
    sink::Sink,
    supervisor::{self, Link, Session, Stop, stopped},
};

/// A channel of a Redis server.
#[derive(Debug)]
pub struct Channel {
    /// The server.
    pub server: Server,
    /// The channel's name.
    pub name: String,
    /// Silence after which the adapter pings the server. A channel may be quiet for hours, which looks the same as a
    /// connection whose other end lost its power.
    pub keepalive: Duration,
}

impl Channel {
    /// Subscribes and hands every message to `sink`, until `stop` becomes true. Keeps `status` up to date. Messages
    /// that are published while the connection is down are lost; that is how publish/subscribe works. Every message
    /// that Redis sends before it confirms the end of the subscription is handed over.
    pub async fn run(self, sink: impl Sink, status: Dependency, stop: watch::Receiver<bool>) {
        let session = Subscription { channel: self, sink };
        supervisor::keep(Link::new("Redis publish/subscribe", status), session, stop).await;
    }
}

struct Subscription<S> {
    channel: Channel,
    sink: S,
}

impl<S: Sink> Session for Subscription<S> {
    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let mut connection = tokio::select! {
            subscribed = self.subscribe() => subscribed?,
            () = stopped(stop) => return Ok(()),
        };
        link.is_up();
        self.listen(&mut connection, stop).await
    }
}

impl<S: Sink> Subscription<S> {
    async fn subscribe(&self) -> Result<Connection, ConnectionError> {
        let mut connection = Connection::open(&self.channel.server).await?;
        let subscribe = cmd("SUBSCRIBE").arg(&self.channel.name).to_owned();
        connection.request(&subscribe, PATIENCE).await?;
        Ok(connection)
    }

    /// Hands over messages until the subscription ends.
    async fn listen(&self, connection: &mut Connection, stop: &mut Stop) -> Result<(), ConnectionError> {
        let mut is_leaving = false;
        loop {
            match Push::from(self.next(connection, stop, &mut is_leaving).await?) {
                Push::Message(Reply::Text(payload)) => self.sink.accept(&payload).await,
                Push::Message(Reply::TooLong(n_bytes)) => tracing::warn!(
                    n_bytes,
                    "A broadcast from Redis is dropped: it is longer than {} bytes.",
                    self.channel.server.max_payload_bytes
                ),
                Push::Unsubscribed if is_leaving => return Ok(()),
                _ => {}
            }
        }
    }

    /// The server's next message. After a long silence the server is pinged. When the adapter has to stop, it
    /// unsubscribes and sets `is_leaving`.
    async fn next(
        &self,
        connection: &mut Connection,
        stop: &mut Stop,
        is_leaving: &mut bool,
    ) -> Result<Reply, ConnectionError> {
        let Connection { reader, writer } = connection;
        let mut said = pin!(reader.receive());
        if !*is_leaving {
            let command = tokio::select! {
                said = &mut said => return said,
                () = stopped(stop) => {
                    *is_leaving = true;
                    cmd("UNSUBSCRIBE").arg(&self.channel.name).get_packed_command()
                }
                () = tokio::time::sleep(self.channel.keepalive) => cmd("PING").get_packed_command(),
            };
            writer.send(&command).await?;
        }
        tokio::time::timeout(PATIENCE, said)
            .await
            .unwrap_or(Err(ConnectionError::Silent(PATIENCE)))
    }
}

/// A message that the server sends without a request.
#[derive(Debug, PartialEq, Eq)]
enum Push {
    /// A message that was published on the channel.
    Message(Reply),
    /// The subscription has ended.
    Unsubscribed,
    /// Any other message, such as the answer to a ping.
    Other,
}

impl From<Reply> for Push {
    /// `["message", channel, payload]`, `["unsubscribe", channel, number]`.
    fn from(reply: Reply) -> Self {
        match <[Reply; 3]>::try_from(reply.into_elements()) {
            Ok([Reply::Text(kind), _, payload]) if kind == b"message" => Self::Message(payload),
            Ok([Reply::Text(kind), ..]) if kind == b"unsubscribe" => Self::Unsubscribed,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parts: &[&str], expected: &Push) {
        let parts = parts.iter().map(|part| Reply::Text(part.as_bytes().to_vec()));
        assert_eq!(Push::from(Reply::Array(parts.collect())), *expected);
    }

    #[test]
    fn only_messages_have_a_payload() {
        let message = |payload: &str| Push::Message(Reply::Text(payload.into()));
        check(&["message", "__anycable__", "{}"], &message("{}"));
        check(&["message", "__anycable__", ""], &message(""));
        check(&["unsubscribe", "__anycable__", "0"], &Push::Unsubscribed);
        check(&["pong", ""], &Push::Other);
        check(&["subscribe", "__anycable__", "1"], &Push::Other);
        assert_eq!(Push::from(Reply::Text("PONG".into())), Push::Other);
    }
}
