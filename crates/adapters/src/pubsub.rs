//! Publish/subscribe: every node hears every message, but only while it is connected (AnyCable's adapter `redis`).

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
    /// Silence after which the server is asked whether it still lives. A channel may be quiet for hours, and a
    /// connection whose other end lost its power looks just the same.
    pub keepalive: Duration,
}

impl Channel {
    /// Subscribes and hands every message to `sink`, until `stop` becomes true; `status` is kept up to date.
    /// Messages that are published while the connection is down are lost; that is how publish/subscribe works.
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
        tokio::select! {
            ended = self.listen(link) => ended,
            () = stopped(stop) => Ok(()),
        }
    }
}

impl<S: Sink> Subscription<S> {
    async fn listen(&self, link: &mut Link) -> Result<(), ConnectionError> {
        let mut connection = Connection::open(&self.channel.server).await?;
        let subscribe = cmd("SUBSCRIBE").arg(&self.channel.name).to_owned();
        connection.request(&subscribe, PATIENCE).await?;
        link.is_up();
        loop {
            match message(next(&mut connection, self.channel.keepalive).await?) {
                Some(Reply::Text(payload)) => self.sink.accept(&payload).await,
                Some(Reply::TooLong(n_bytes)) => tracing::warn!(
                    n_bytes,
                    "A broadcast from Redis is dropped: it is longer than {} bytes.",
                    self.channel.server.max_payload_bytes
                ),
                _ => {}
            }
        }
    }
}

/// The next thing that the server says. After a long silence it is asked to say something.
async fn next(connection: &mut Connection, keepalive: Duration) -> Result<Reply, ConnectionError> {
    let Connection { reader, writer } = connection;
    let mut said = pin!(reader.receive());
    tokio::select! {
        said = &mut said => return said,
        () = tokio::time::sleep(keepalive) => {}
    }
    writer.send(&cmd("PING").get_packed_command()).await?;
    tokio::time::timeout(PATIENCE, said)
        .await
        .unwrap_or(Err(ConnectionError::Silent(PATIENCE)))
}

/// The last part of `["message", channel, payload]`; other pushes (the answer to a ping) are no messages.
fn message(push: Reply) -> Option<Reply> {
    match <[Reply; 3]>::try_from(push.into_elements()) {
        Ok([Reply::Text(kind), _, payload]) if kind == b"message" => Some(payload),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parts: &[&str], expected: Option<&str>) {
        let parts = parts.iter().map(|part| Reply::Text(part.as_bytes().to_vec()));
        let expected = expected.map(|payload| Reply::Text(payload.into()));
        assert_eq!(message(Reply::Array(parts.collect())), expected);
    }

    #[test]
    fn only_messages_have_a_payload() {
        check(&["message", "__anycable__", "{}"], Some("{}"));
        check(&["message", "__anycable__", ""], Some(""));
        check(&["pong", ""], None);
        check(&["subscribe", "__anycable__", "1"], None);
        assert_eq!(message(Reply::Text("PONG".into())), None);
    }
}
