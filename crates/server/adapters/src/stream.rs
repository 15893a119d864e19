//! A Redis stream with a consumer group: each message goes to one node and is kept until that node has processed it
//! (AnyCable's adapter `redisx`). Needs Redis 6.2, for `XAUTOCLAIM`.

use std::{pin::pin, time::Duration};

use plimsoll_telemetry::Dependency;
use redis::cmd;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval_at},
};

use crate::{
    connection::{Connection, ConnectionError, PATIENCE},
    resp::Reply,
    server::Server,
    sink::{Sink, Taken},
    supervisor::{self, Connector, Link, Reach, Session, Stop, stopped},
};

mod consumers;
mod entries;
mod member;

use entries::{Entry, Payload};
use member::Member;

/// A consumer group of a stream.
#[derive(Debug)]
pub struct Group {
    /// The group's name. All nodes that share the messages of the stream are in one group.
    pub name: String,
    /// This node's name in the group. No other process may use it at any time.
    pub consumer: String,
}

/// A stream of a Redis server.
#[derive(Debug)]
pub struct Stream {
    /// The server.
    pub server: Server,
    /// The stream's key.
    pub key: String,
    /// The consumer group and the name under which the stream is read.
    pub group: Group,
    /// How long a read waits for messages, and how long a message may stay with a silent node before another node takes
    /// it over.
    pub block: Duration,
    /// How long no message is taken after the start. Messages already in the stream would otherwise be published, and
    /// deleted, before the clients of a server that died have reconnected.
    pub hold: Duration,
}

impl Stream {
    /// Reads as a member of the group and hands every payload to `sink`, until `stop` becomes true. Keeps `status` up
    /// to date. A message is acknowledged and deleted when the sink has taken it. If it cannot be taken,
    /// reading ends, and goes on with it a little later.
    ///
    /// A new group begins with the messages that come next, as with AnyCable. From then on every message is taken at
    /// least once, and in order as long as no node fails: the messages of a node that died are taken over.
    pub async fn run(self, sink: impl Sink, status: Dependency, stop: watch::Receiver<bool>) {
        let session = Consumer {
            held_until: Instant::now() + self.hold,
            member: Member::new(self),
            sink,
        };
        supervisor::keep(link(status), session, stop).await;
    }
}

fn link(status: Dependency) -> Link {
    Link::new("the Redis stream", status)
}

impl Connector for Stream {
    type Connection = Connection;
    type Error = ConnectionError;

    async fn connect(&mut self) -> Result<Connection, ConnectionError> {
        self.open_with_id().await.map(|(connection, _)| connection)
    }
}

impl Stream {
    /// Connects as [`run`](Self::run) does, until `stop` becomes true. Joins no group, and takes no message.
    pub async fn reach(self, status: Dependency, stop: watch::Receiver<bool>) {
        supervisor::keep(link(status), Reach(self), stop).await;
    }

    async fn open(&self) -> Result<Connection, ConnectionError> {
        Connection::open_for_key(&self.server, self.key.as_bytes()).await
    }

    /// A connection, and its id.
    async fn open_with_id(&self) -> Result<(Connection, Reply), ConnectionError> {
        let mut connection = self.open().await?;
        let id = connection.request(cmd("CLIENT").arg("ID"), PATIENCE).await?;
        Ok((connection, id))
    }
}

struct Consumer<S> {
    member: Member,
    /// The time from which messages may be taken.
    held_until: Instant,
    sink: S,
}

impl<S: Sink> Session for Consumer<S> {
    type Error = ConnectionError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let (mut connection, client) = tokio::select! {
            opened = self.member.stream.open_with_id() => opened?,
            () = stopped(stop) => return Ok(()),
        };
        self.member.create_group(&mut connection).await?;
        if !self.hold(&mut connection, link, stop).await? {
            return self.member.leave(&mut connection).await;
        }
        self.member.acknowledge(&mut connection).await?;
        self.take_own(&mut connection).await?;
        self.take_over(&mut connection).await?;
        self.member.remove_the_gone(&mut connection).await?;
        // Not earlier: a Redis that is too old, or does not permit one of these commands, cannot be used.
        link.is_up();
        let between_takeovers = self.member.stream.block / 2;
        let mut next_takeover = Instant::now() + between_takeovers;
        while !*stop.borrow() {
            if next_takeover <= Instant::now() {
                self.take_over(&mut connection).await?;
                next_takeover = Instant::now() + between_takeovers;
            }
            let reply = self.read(&mut connection, &client, stop).await?;
            self.process(&mut connection, &entries::of_read(reply)).await?;
        }
        self.member.leave(&mut connection).await
    }
}

impl<S: Sink> Consumer<S> {
    /// Waits until messages may be taken. Returns false if the adapter has to stop. The server counts as ready
    /// meanwhile, because it waits for its clients.
    async fn hold(
        &self,
        connection: &mut Connection,
        link: &mut Link,
        stop: &mut Stop,
    ) -> Result<bool, ConnectionError> {
        let wait = || self.held_until.saturating_duration_since(Instant::now());
        if !wait().is_zero() {
            link.is_holding(wait());
        }
        while !wait().is_zero() {
            tokio::select! {
                () = tokio::time::sleep(wait().min(PATIENCE)) => {}
                () = stopped(stop) => return Ok(false),
            }
            // Detects a Redis that goes away meanwhile.
            connection.request(&cmd("PING"), PATIENCE).await?;
        }
        Ok(true)
    }

    /// Takes the messages that Redis had given to this node when the connection broke.
    async fn take_own(&mut self, connection: &mut Connection) -> Result<(), ConnectionError> {
        loop {
            let entries = self.member.own(connection).await?;
            if entries.is_empty() {
                return Ok(());
            }
            self.process(connection, &entries).await?;
        }
    }

    /// Takes over messages that other nodes have held for too long.
    async fn take_over(&mut self, connection: &mut Connection) -> Result<(), ConnectionError> {
        let mut cursor = b"0-0".to_vec();
        loop {
            let claimed = self.member.claim(connection, &cursor).await?;
            if !claimed.entries.is_empty() {
                tracing::info!(
                    n_messages = claimed.entries.len(),
                    "Taking over the messages of a node that is gone."
                );
            }
            self.process(connection, &claimed.entries).await?;
            match claimed.next {
                Some(next) => cursor = next,
                None => return Ok(()),
            }
        }
    }

    /// Waits for new messages. A stop ends the wait, not the read, because Redis may have given messages to this node
    /// meanwhile, and they still arrive.
    async fn read(
        &self,
        connection: &mut Connection,
        client: &Reply,
        stop: &mut Stop,
    ) -> Result<Reply, ConnectionError> {
        let stream = &self.member.stream;
        let command = self.member.read_command(">");
        let mut reply = pin!(connection.request(&command, stream.block + PATIENCE));
        tokio::select! {
            reply = &mut reply => return reply,
            () = stopped(stop) => {}
        }
        if let (Ok(mut second), Reply::Integer(client)) = (stream.open().await, client) {
            let unblock = cmd("CLIENT").arg("UNBLOCK").arg(*client).to_owned();
            // If it fails, the read still ends at its timeout.
            let _unblocked = second.request(&unblock, PATIENCE).await;
        }
        reply.await
    }

    /// Hands messages to the sink, and acknowledges them. While the sink is busy, claims the messages anew. Otherwise
    /// other nodes would take them over and publish them, too.
    async fn process(
        &mut self,
        connection: &mut Connection,
        entries: &[Entry],
    ) -> Result<(), ConnectionError> {
        let Self { member, sink, .. } = self;
        let max_payload_bytes = member.stream.server.max_payload_bytes;
        let period = member.stream.block / 2;
        let mut renewal = interval_at(Instant::now() + period, period);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for (position, entry) in entries.iter().enumerate() {
            let mut taken = pin!(take(sink, entry, max_payload_bytes));
            let mut renewed = Ok(());
            let taken = loop {
                tokio::select! {
                    biased;
                    taken = &mut taken => break taken,
                    _ = renewal.tick(), if renewed.is_ok() => {
                        // Always waits for the end of a message, so that no message is left half published.
                        renewed = member.renew(connection, &entries[position..]).await;
                    }
                }
            };
            if taken == Taken::Later {
                // It stays with this node, and comes first on the next connection.
                renewed?;
                member.acknowledge(connection).await?;
                return Err(ConnectionError::Postponed);
            }
            member.unacknowledged.push(entry.id.clone());
            renewed?;
        }
        member.acknowledge(connection).await
    }
}

/// Hands one message to the sink, or logs why it cannot.
async fn take(sink: &impl Sink, entry: &Entry, max_payload_bytes: usize) -> Taken {
    let id = String::from_utf8_lossy(&entry.id);
    match &entry.payload {
        Payload::Whole(payload) => return sink.accept(payload, Some(&id)).await,
        Payload::TooLong(n_bytes) => tracing::warn!(
            %id,
            n_bytes,
            "A message of the Redis stream is dropped: its payload is longer than {max_payload_bytes} bytes."
        ),
        Payload::Absent => tracing::warn!(
            %id,
            "A message of the Redis stream has no field \"payload\" and is dropped."
        ),
    }
    Taken::Done
}

#[cfg(test)]
mod tests;
