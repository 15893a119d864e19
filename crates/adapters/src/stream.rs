//! A Redis stream with a consumer group: each message goes to one node and is kept until that node has taken it
//! (AnyCable's adapter `redisx`). Needs Redis 6.2, for `XAUTOCLAIM`.

use std::{pin::pin, time::Duration};

use redis::{Cmd, Pipeline, Value, cmd};
use tokio::{sync::watch, time::Instant};

use crate::{
    connection::{Connection, ConnectionError, PATIENCE},
    sink::Sink,
    supervisor::{self, Link, Session, Stop, stopped},
    target::Target,
};

mod entries;

use entries::Entry;

/// How long a read waits for something to come, and how long a message may be in the hands of a node that says
/// nothing before another node takes it over. Both are AnyCable's.
const BLOCK: Duration = Duration::from_secs(2);

/// Messages per read. More would only save round trips; and all that were read have to be done within [`BLOCK`],
/// or another node takes them over and they are published twice.
const MAX_ENTRIES: usize = 100;

/// A consumer group of a stream.
#[derive(Debug)]
pub struct Group {
    /// The group's name; all nodes that share the messages of the stream are in one group.
    pub name: String,
    /// This node's name in the group, which no other process may use at any time.
    pub consumer: String,
}

/// A stream of a Redis server.
#[derive(Debug)]
pub struct Stream {
    /// The server.
    pub target: Target,
    /// The stream's key.
    pub key: String,
    /// In whose name it is read.
    pub group: Group,
}

impl Stream {
    /// Reads as a member of the group and hands every payload to `sink`, until `stop` becomes true. A message is
    /// acknowledged and deleted when the sink has taken it.
    ///
    /// Where there is no group yet it begins with what comes next, as with AnyCable. From then on every message
    /// is taken at least once, in order as long as no node fails: what a node had when it died is taken over.
    pub async fn run(self, sink: impl Sink, stop: watch::Receiver<bool>) {
        let session = Consumer {
            stream: self,
            sink,
            has_met_group: false,
            unacknowledged: Vec::new(),
        };
        supervisor::keep(Link::new("the Redis stream"), session, stop).await;
    }
}

struct Consumer<S> {
    stream: Stream,
    sink: S,
    /// From then on a missing group means that Redis lost its data, and everything in the stream is new.
    has_met_group: bool,
    /// What the sink has taken and Redis does not know yet: at most one read's messages. They outlive a lost
    /// connection, so that they are not published again.
    unacknowledged: Vec<Vec<u8>>,
}

impl<S: Sink> Session for Consumer<S> {
    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let mut connection = tokio::select! {
            opened = Connection::open(&self.stream.target) => opened?,
            () = stopped(stop) => return Ok(()),
        };
        let client = connection.request(cmd("CLIENT").arg("ID"), PATIENCE).await?;
        self.create_group(&mut connection).await?;
        self.acknowledge(&mut connection).await?;
        self.take_own(&mut connection).await?;
        self.take_over(&mut connection).await?;
        // Not before: a Redis that is too old, or does not permit one of these, is of no use.
        link.is_up();
        let mut next_takeover = Instant::now() + BLOCK / 2;
        while !*stop.borrow() {
            if next_takeover <= Instant::now() {
                self.take_over(&mut connection).await?;
                next_takeover = Instant::now() + BLOCK / 2;
            }
            let reply = self.read(&mut connection, &client, stop).await?;
            self.process(&mut connection, entries::of_read(reply)).await?;
        }
        self.leave(&mut connection).await
    }
}

impl<S: Sink> Consumer<S> {
    async fn create_group(&mut self, connection: &mut Connection) -> Result<(), ConnectionError> {
        let start = if self.has_met_group { "0" } else { "$" };
        let mut create = cmd("XGROUP");
        create
            .arg("CREATE")
            .arg(&self.stream.key)
            .arg(&self.stream.group.name);
        create.arg(start).arg("MKSTREAM");
        match connection.request(&create, PATIENCE).await {
            Ok(_) => {}
            // Another node, or an earlier life of this one, made it.
            Err(ConnectionError::Redis(error)) if error.code() == Some("BUSYGROUP") => {}
            Err(error) => return Err(error),
        }
        self.has_met_group = true;
        Ok(())
    }

    /// Takes what Redis gave to this node when the connection broke. It is older than everything that is read
    /// from now on.
    async fn take_own(&mut self, connection: &mut Connection) -> Result<(), ConnectionError> {
        loop {
            let reply = connection.request(&self.read_command("0"), PATIENCE).await?;
            let entries = entries::of_read(reply);
            if entries.is_empty() {
                return Ok(());
            }
            self.process(connection, entries).await?;
        }
    }

    /// Takes what other nodes have had for too long.
    async fn take_over(&mut self, connection: &mut Connection) -> Result<(), ConnectionError> {
        let mut cursor = b"0-0".to_vec();
        loop {
            let mut claim = self.group_command("XAUTOCLAIM");
            claim
                .arg(&self.stream.group.consumer)
                .arg(BLOCK.as_millis() as u64);
            claim.arg(&cursor).arg("COUNT").arg(MAX_ENTRIES);
            let reply = connection.request(&claim, PATIENCE).await?;
            let claimed = entries::of_claim(reply);
            if !claimed.entries.is_empty() {
                tracing::info!(
                    n_messages = claimed.entries.len(),
                    "Messages of a node that is gone are taken over."
                );
            }
            self.process(connection, claimed.entries).await?;
            match claimed.next {
                Some(next) => cursor = next,
                None => return Ok(()),
            }
        }
    }

    /// Waits for new messages. A stop ends the wait, not the read: what Redis may have given to this node
    /// meanwhile still arrives.
    async fn read(
        &self,
        connection: &mut Connection,
        client: &Value,
        stop: &mut Stop,
    ) -> Result<Value, ConnectionError> {
        let command = self.read_command(">");
        let mut reply = pin!(connection.request(&command, BLOCK + PATIENCE));
        tokio::select! {
            reply = &mut reply => return reply,
            () = stopped(stop) => {}
        }
        if let (Ok(mut second), Value::Int(client)) = (Connection::open(&self.stream.target).await, client) {
            let unblock = cmd("CLIENT").arg("UNBLOCK").arg(*client).to_owned();
            // Should it fail, the read still ends when its time is up.
            let _unblocked = second.request(&unblock, PATIENCE).await;
        }
        reply.await
    }

    async fn process(
        &mut self,
        connection: &mut Connection,
        entries: Vec<Entry>,
    ) -> Result<(), ConnectionError> {
        for Entry { id, payload } in entries {
            match payload {
                Some(payload) => self.sink.accept(&payload).await,
                None => tracing::warn!(
                    id = %String::from_utf8_lossy(&id),
                    "A message of the Redis stream has no field \"payload\" and is dropped."
                ),
            }
            self.unacknowledged.push(id);
        }
        self.acknowledge(connection).await
    }

    /// Tells Redis what is done; nobody else reads the stream, so it is deleted, too.
    async fn acknowledge(&mut self, connection: &mut Connection) -> Result<(), ConnectionError> {
        if self.unacknowledged.is_empty() {
            return Ok(());
        }
        let mut acknowledge = self.group_command("XACK");
        acknowledge.arg(&self.unacknowledged);
        let mut delete = cmd("XDEL");
        delete.arg(&self.stream.key).arg(&self.unacknowledged);
        let mut both = Pipeline::new();
        both.atomic().add_command(acknowledge).add_command(delete);
        connection.transaction(&both).await?;
        self.unacknowledged.clear();
        Ok(())
    }

    /// Leaves the group, unless this node still has messages: with its name they would be deleted.
    async fn leave(&self, connection: &mut Connection) -> Result<(), ConnectionError> {
        let consumer = &self.stream.group.consumer;
        let pending = self
            .group_command("XPENDING")
            .arg(&["-", "+", "1", consumer])
            .to_owned();
        if connection.request(&pending, PATIENCE).await? == Value::Array(Vec::new()) {
            let mut remove = cmd("XGROUP");
            remove
                .arg("DELCONSUMER")
                .arg(&self.stream.key)
                .arg(&self.stream.group.name);
            connection.request(remove.arg(consumer), PATIENCE).await?;
        }
        Ok(())
    }

    /// Reads what comes after `id`: `>` is what nobody has got yet, `0` what this node got and did not acknowledge.
    fn read_command(&self, id: &str) -> Cmd {
        let mut read = cmd("XREADGROUP");
        read.arg("GROUP")
            .arg(&self.stream.group.name)
            .arg(&self.stream.group.consumer);
        read.arg("COUNT")
            .arg(MAX_ENTRIES)
            .arg("BLOCK")
            .arg(BLOCK.as_millis() as u64);
        read.arg("STREAMS").arg(&self.stream.key).arg(id);
        read
    }

    fn group_command(&self, name: &str) -> Cmd {
        let mut command = cmd(name);
        command.arg(&self.stream.key).arg(&self.stream.group.name);
        command
    }
}
