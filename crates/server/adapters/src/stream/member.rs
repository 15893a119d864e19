//! This node as a member of a consumer group: the commands that it sends.

use std::time::Duration;

use redis::{Cmd, Pipeline, cmd};

use super::{
    Stream, consumers,
    entries::{self, Claimed, Entry},
};
use crate::{
    connection::{Connection, ConnectionError, PATIENCE},
    resp::Reply,
};

/// Messages per read. More would only save round trips, and messages are held in memory until they are done.
const MAX_ENTRIES: usize = 100;

/// Silence after which a node that holds no messages counts as gone for good, and its name is removed from the group.
/// Nodes read every few seconds; but before Redis 7.2 a node that receives no messages counts as silent, too.
const GONE: Duration = Duration::from_hours(1);

/// Removes a node's name unless it holds messages, which would be lost with it. The script is atomic, so that a node
/// that is still there cannot get a message in between.
const REMOVE_UNLESS_PENDING: &str = "\
    if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) == 0 then \
    return redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2]) end";

pub(super) struct Member {
    pub(super) stream: Stream,
    /// Whether the group was seen. After that a missing group means that Redis lost its data, and everything in the
    /// stream is new.
    has_met_group: bool,
    /// Messages that the sink has taken and that are not acknowledged yet: at most those of one read. They outlive a
    /// lost connection, so that they are not published again.
    pub(super) unacknowledged: Vec<Vec<u8>>,
}

impl Member {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            has_met_group: false,
            unacknowledged: Vec::new(),
        }
    }

    pub(super) async fn create_group(&mut self, connection: &mut Connection) -> Result<(), ConnectionError> {
        let start = if self.has_met_group { "0" } else { "$" };
        let mut create = cmd("XGROUP");
        create
            .arg("CREATE")
            .arg(&self.stream.key)
            .arg(&self.stream.group.name);
        create.arg(start).arg("MKSTREAM");
        match connection.request(&create, PATIENCE).await {
            Ok(_) => {}
            // Another node, or an earlier process of this one, created it.
            Err(ConnectionError::Refused(error)) if error.starts_with("BUSYGROUP") => {}
            Err(error) => return Err(error),
        }
        self.has_met_group = true;
        Ok(())
    }

    /// The messages that Redis had given to this node when the connection broke. They are older than all that are read
    /// from now on.
    pub(super) async fn own(&self, connection: &mut Connection) -> Result<Vec<Entry>, ConnectionError> {
        let reply = connection.request(&self.read_command("0"), PATIENCE).await?;
        Ok(entries::of_read(reply))
    }

    /// Takes over messages that other nodes have held for too long, from `cursor` on.
    pub(super) async fn claim(
        &self,
        connection: &mut Connection,
        cursor: &[u8],
    ) -> Result<Claimed, ConnectionError> {
        let mut claim = self.group_command("XAUTOCLAIM");
        claim.arg(&self.stream.group.consumer).arg(self.block_ms());
        claim.arg(cursor).arg("COUNT").arg(MAX_ENTRIES);
        let reply = connection.request(&claim, PATIENCE).await?;
        Ok(entries::of_claim(reply))
    }

    /// Tells the other nodes that this one still works on `entries`. Acknowledges the messages that are done.
    pub(super) async fn renew(
        &mut self,
        connection: &mut Connection,
        entries: &[Entry],
    ) -> Result<(), ConnectionError> {
        self.acknowledge(connection).await?;
        let mut claim = self.group_command("XCLAIM");
        claim.arg(&self.stream.group.consumer).arg(0);
        for entry in entries {
            claim.arg(&entry.id);
        }
        connection.request(claim.arg("JUSTID"), PATIENCE).await?;
        Ok(())
    }

    /// Acknowledges the messages that are done. Also deletes them, because no other program reads the stream.
    pub(super) async fn acknowledge(&mut self, connection: &mut Connection) -> Result<(), ConnectionError> {
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

    /// Leaves the group, unless this node still holds messages: they would be deleted with its name.
    pub(super) async fn leave(&self, connection: &mut Connection) -> Result<(), ConnectionError> {
        let consumer = &self.stream.group.consumer;
        let mut pending = self.group_command("XPENDING");
        pending.arg(&["-", "+", "1", consumer]);
        if connection.request(&pending, PATIENCE).await? == Reply::Array(Vec::new()) {
            let mut remove = cmd("XGROUP");
            remove
                .arg("DELCONSUMER")
                .arg(&self.stream.key)
                .arg(&self.stream.group.name);
            connection.request(remove.arg(consumer), PATIENCE).await?;
        }
        Ok(())
    }

    /// Removes the names of nodes that died long ago. Every restart gives a node a new name. This is housekeeping: with
    /// a Redis that does not permit it everything else works.
    pub(super) async fn remove_the_gone(&self, connection: &mut Connection) -> Result<(), ConnectionError> {
        let list = cmd("XINFO")
            .arg("CONSUMERS")
            .arg(&self.stream.key)
            .arg(&self.stream.group.name)
            .to_owned();
        let own = self.stream.group.consumer.as_bytes();
        for name in consumers::idle_for(connection.request(&list, PATIENCE).await?, GONE) {
            if name == own {
                continue;
            }
            let mut remove = cmd("EVAL");
            remove.arg(REMOVE_UNLESS_PENDING).arg(1).arg(&self.stream.key);
            remove.arg(&self.stream.group.name).arg(&name);
            match connection.request(&remove, PATIENCE).await {
                Ok(_) => {}
                Err(ConnectionError::Refused(error)) => {
                    tracing::debug!(error, "The name of a node that is gone stays in the group.");
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what comes after `id`: `>` for messages that no node has received yet, `0` for messages that this node
    /// received and did not acknowledge.
    pub(super) fn read_command(&self, id: &str) -> Cmd {
        let mut read = cmd("XREADGROUP");
        read.arg("GROUP")
            .arg(&self.stream.group.name)
            .arg(&self.stream.group.consumer);
        read.arg("COUNT")
            .arg(MAX_ENTRIES)
            .arg("BLOCK")
            .arg(self.block_ms());
        read.arg("STREAMS").arg(&self.stream.key).arg(id);
        read
    }

    fn group_command(&self, name: &str) -> Cmd {
        let mut command = cmd(name);
        command.arg(&self.stream.key).arg(&self.stream.group.name);
        command
    }

    fn block_ms(&self) -> u64 {
        u64::try_from(self.stream.block.as_millis()).unwrap_or(u64::MAX)
    }
}
