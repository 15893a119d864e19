//! Publish/subscribe: a node hears the channels that it has reasons to hear, while it is connected. One channel is
//! AnyCable's adapter `redis`; a channel for each stream is `--pubsub redis`.

use std::{pin::pin, sync::Arc, time::Duration};

use plimsoll_telemetry::Dependency;
use redis::cmd;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{
    connection::{Connection, ConnectionError, PATIENCE, Reader, Writer},
    interest::{Command, Interest},
    resp::Reply,
    server::Server,
    sink::{Sink, hand_over},
    supervisor::{self, Link, Session, Stop, stopped},
};

/// Channels of a Redis server.
#[derive(Debug)]
pub struct Subscriptions {
    /// The server.
    pub server: Server,
    /// The channels, at least one at any time.
    pub interest: Interest,
    /// The source of the messages, for the log.
    pub source: &'static str,
    /// Silence after which the adapter pings the server. A channel may be quiet for hours, which looks the same as a
    /// connection whose other end lost its power.
    pub keepalive: Duration,
}

impl Subscriptions {
    /// Subscribes to the channels and hands every message to `sink`, until `stop` becomes true. Keeps `status` up to
    /// date. Messages that are published while the connection is down are lost; that is how publish/subscribe works.
    /// Every message that Redis sends before it confirms the end of the subscriptions is handed over.
    pub async fn run(self, sink: impl Sink, status: Dependency, stop: watch::Receiver<bool>) {
        let link = Link::new(self.source, status);
        let subscriber = Subscriber { settings: self, sink };
        supervisor::keep(link, subscriber, stop).await;
    }
}

struct Subscriber<S> {
    settings: Subscriptions,
    sink: S,
}

impl<S: Sink> Session for Subscriber<S> {
    type Error = ConnectionError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let connection = tokio::select! {
            opened = Connection::open(&self.settings.server) => opened?,
            () = stopped(stop) => return Ok(()),
        };
        self.settings.interest.connected();
        let outcome = self.listen(connection, link, stop).await;
        self.settings.interest.disconnected();
        outcome
    }
}

impl<S: Sink> Subscriber<S> {
    /// Hands over messages until the subscriptions end.
    async fn listen(
        &self,
        connection: Connection,
        link: &mut Link,
        stop: &mut Stop,
    ) -> Result<(), ConnectionError> {
        let Connection {
            mut reader,
            mut writer,
        } = connection;
        let mut is_leaving = false;
        loop {
            let said = self.next(&mut reader, &mut writer, link, stop, &mut is_leaving);
            match Push::from(said.await?) {
                Push::Message(Reply::Text(payload)) => {
                    hand_over(&self.sink, &payload, self.settings.source).await;
                }
                Push::Message(Reply::TooLong(n_bytes)) => tracing::warn!(
                    n_bytes,
                    "A broadcast from Redis is dropped: it is longer than {} bytes.",
                    self.settings.server.max_payload_bytes
                ),
                Push::Unsubscribed { n_left: 0, .. } if is_leaving => return Ok(()),
                Push::Subscribed(channel) | Push::Unsubscribed { channel, .. } => {
                    self.settings.interest.confirmed(&channel);
                }
                Push::Message(_) | Push::Other => {}
            }
        }
    }

    /// The server's next message. Meanwhile the subscriptions follow the interest, and after a long silence the server
    /// is pinged. When the adapter has to stop, it unsubscribes and sets `is_leaving`.
    async fn next(
        &self,
        reader: &mut Reader,
        writer: &mut Writer,
        link: &mut Link,
        stop: &mut Stop,
        is_leaving: &mut bool,
    ) -> Result<Reply, ConnectionError> {
        let Subscriptions {
            interest, keepalive, ..
        } = &self.settings;
        let mut said = pin!(reader.receive());
        // A server that owes an answer has less time.
        let mut owes_answer = *is_leaving;
        let patience = |owes_answer| if owes_answer { PATIENCE } else { *keepalive };
        let mut deadline = Instant::now() + patience(owes_answer);
        loop {
            let mut commands = Vec::new();
            while !*is_leaving && let Some(command) = interest.next_command() {
                commands.extend(packed(command));
            }
            if interest.is_restored_now() {
                link.is_up();
            }
            if commands.is_empty() {
                tokio::select! {
                    biased;
                    said = &mut said => return said,
                    () = stopped(stop), if !*is_leaving => {
                        *is_leaving = true;
                        commands = cmd("UNSUBSCRIBE").get_packed_command();
                    }
                    () = interest.changed(), if !*is_leaving => continue,
                    () = sleep_until(deadline) => {
                        if owes_answer {
                            return Err(ConnectionError::Silent(PATIENCE));
                        }
                        commands = cmd("PING").get_packed_command();
                    }
                }
            }
            writer.send(&commands).await?;
            owes_answer = true;
            deadline = Instant::now() + PATIENCE;
        }
    }
}

fn packed(command: Command) -> Vec<u8> {
    let (name, channels) = match command {
        Command::Subscribe(channels) => ("SUBSCRIBE", channels),
        Command::Unsubscribe(channels) => ("UNSUBSCRIBE", channels),
    };
    let mut packed = cmd(name);
    for channel in &channels {
        packed.arg(&**channel);
    }
    packed.get_packed_command()
}

/// A message that the server sends without a request.
#[derive(Debug, PartialEq, Eq)]
enum Push {
    /// A message that was published on a channel.
    Message(Reply),
    /// A subscription has begun.
    Subscribed(Arc<str>),
    /// A subscription has ended; this number of others goes on.
    Unsubscribed { channel: Arc<str>, n_left: i64 },
    /// Any other message, such as the answer to a ping.
    Other,
}

impl From<Reply> for Push {
    /// `["message", channel, payload]`, `["subscribe", channel, number]`, `["unsubscribe", channel, number]`.
    fn from(reply: Reply) -> Self {
        let name = |channel: &[u8]| String::from_utf8_lossy(channel).into();
        match <[Reply; 3]>::try_from(reply.into_elements()) {
            Ok([Reply::Text(kind), _, payload]) if kind == b"message" => Self::Message(payload),
            Ok([Reply::Text(kind), Reply::Text(channel), _]) if kind == b"subscribe" => {
                Self::Subscribed(name(&channel))
            }
            // Without any subscription there is no channel to name.
            Ok([Reply::Text(kind), channel, Reply::Integer(n_left)]) if kind == b"unsubscribe" => {
                let channel = match &channel {
                    Reply::Text(channel) => name(channel),
                    _ => Arc::from(""),
                };
                Self::Unsubscribed { channel, n_left }
            }
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Reply {
        Reply::Text(text.into())
    }

    #[track_caller]
    fn check(parts: &[Reply], expected: &Push) {
        assert_eq!(Push::from(Reply::Array(parts.to_vec())), *expected);
    }

    #[test]
    fn only_messages_have_a_payload() {
        let message = |payload: &str| Push::Message(text(payload));
        let unsubscribed = |channel: &str, n_left| Push::Unsubscribed {
            channel: channel.into(),
            n_left,
        };
        check(&[text("message"), text("a"), text("{}")], &message("{}"));
        check(&[text("message"), text("a"), text("")], &message(""));
        check(
            &[text("subscribe"), text("a"), Reply::Integer(1)],
            &Push::Subscribed("a".into()),
        );
        check(
            &[text("unsubscribe"), text("a"), Reply::Integer(2)],
            &unsubscribed("a", 2),
        );
        check(
            &[text("unsubscribe"), Reply::Nil, Reply::Integer(0)],
            &unsubscribed("", 0),
        );
        check(&[text("pong"), text("")], &Push::Other);
        assert_eq!(Push::from(text("PONG")), Push::Other);
    }
}
