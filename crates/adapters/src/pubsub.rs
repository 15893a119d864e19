//! Publish/subscribe: every node hears every message, but only while it is connected (AnyCable's adapter `redis`).

use std::{pin::pin, time::Duration};

use redis::{Value, cmd};
use tokio::sync::watch;

use crate::{
    connection::{Connection, ConnectionError, PATIENCE},
    sink::Sink,
    supervisor::{self, Link, Session, Stop, stopped},
    target::Target,
};

/// Silence after which the server is asked whether it still lives. A channel may be quiet for hours, and a
/// connection whose other end lost its power looks just the same.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// A channel of a Redis server.
#[derive(Debug)]
pub struct Channel {
    /// The server.
    pub target: Target,
    /// The channel's name.
    pub name: String,
}

impl Channel {
    /// Subscribes and hands every message to `sink`, until `stop` becomes true. Messages that are published while
    /// the connection is down are lost; that is how publish/subscribe works.
    pub async fn run(self, sink: impl Sink, stop: watch::Receiver<bool>) {
        let session = Subscription { channel: self, sink };
        supervisor::keep(Link::new("Redis publish/subscribe"), session, stop).await;
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
        let mut connection = Connection::open(&self.channel.target).await?;
        let subscribe = cmd("SUBSCRIBE").arg(&self.channel.name).to_owned();
        connection.request(&subscribe, PATIENCE).await?;
        link.is_up();
        loop {
            if let Some(payload) = payload(next(&mut connection).await?) {
                self.sink.accept(&payload).await;
            }
        }
    }
}

/// The next thing that the server says. After a long silence it is asked to say something.
async fn next(connection: &mut Connection) -> Result<Value, ConnectionError> {
    let Connection { reader, writer } = connection;
    let mut said = pin!(reader.receive());
    tokio::select! {
        said = &mut said => return said,
        () = tokio::time::sleep(KEEPALIVE) => {}
    }
    writer.send(&cmd("PING").get_packed_command()).await?;
    tokio::time::timeout(PATIENCE, said)
        .await
        .unwrap_or(Err(ConnectionError::Silent(PATIENCE)))
}

/// The payload of `["message", channel, payload]`; other pushes (the answer to a ping) have none.
fn payload(push: Value) -> Option<Vec<u8>> {
    let Value::Array(parts) = push else { return None };
    match <[Value; 3]>::try_from(parts) {
        Ok([Value::BulkString(kind), _, Value::BulkString(payload)]) if kind == b"message" => Some(payload),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parts: &[&str], expected: Option<&str>) {
        let parts = parts
            .iter()
            .map(|part| Value::BulkString(part.as_bytes().to_vec()));
        let got = payload(Value::Array(parts.collect()));
        assert_eq!(got.as_deref(), expected.map(str::as_bytes));
    }

    #[test]
    fn only_messages_have_a_payload() {
        check(&["message", "__anycable__", "{}"], Some("{}"));
        check(&["message", "__anycable__", ""], Some(""));
        check(&["pong", ""], None);
        check(&["subscribe", "__anycable__", "1"], None);
        assert_eq!(payload(Value::SimpleString("PONG".to_owned())), None);
    }
}
