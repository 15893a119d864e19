//! Writes bytes from the hub's outboxes to the sockets, and ends sessions.

use std::{io, rc::Rc};

use plimsoll_hub::{Flush, Frame, PushError, SessionId};
use plimsoll_websocket::Opcode;
use tokio::time::Instant;

use crate::{
    connection::Connection,
    encoding,
    ending::Ending,
    ring::{MAX_SENDS, Ring, Send, Sent},
    shard::{Sessions, Shard},
};

/// The least number of sessions for which a ring pays.
const MIN_SENDS: usize = 4;

impl Shard {
    /// Queues a text message for one session; the caller flushes.
    pub(crate) fn send_text(&self, id: SessionId, text: &str) {
        let format = self.hub.borrow().format(id);
        if let Some(format) = format {
            self.send(id, encoding::text(text, format));
        }
    }

    /// Queues one message for one session; the caller flushes. A session that reads too slowly is ended.
    pub(crate) fn send(&self, id: SessionId, bytes: Vec<u8>) {
        let frame = self.hub.borrow().frame(bytes);
        if self.queue(id, frame) {
            self.metrics.server_messages.increment();
        }
    }

    /// Queues a message for the session that sent it, compressed if the client agreed to compression; the caller
    /// flushes.
    pub(crate) fn echo(&self, id: SessionId, opcode: Opcode, message: &[u8]) {
        let format = self.hub.borrow().format(id);
        if let Some(format) = format {
            let deflater = &mut self.codec.deflater.borrow_mut();
            self.send(id, encoding::message(opcode, message, format, deflater));
        }
    }

    /// Like [`Shard::send`], for bytes that do not count as a message: pongs, the answer to the upgrade.
    pub(crate) fn send_aside(&self, id: SessionId, bytes: Vec<u8>) {
        let frame = self.hub.borrow().frame(bytes);
        self.send_shared(id, frame);
    }

    /// Like [`Shard::send_aside`], for the answer to the peer's Close. It is queued even if the outbox is full.
    pub(crate) fn answer_close(&self, id: SessionId, bytes: Vec<u8>) {
        let mut hub = self.hub.borrow_mut();
        let frame = hub.frame(bytes);
        if let Some((_, outbox)) = hub.get_mut(id) {
            // A sealed outbox holds our own Close already.
            let _pushed = outbox.push(frame, usize::MAX);
        }
    }

    /// Like [`Shard::send_aside`], for a frame that sessions share: pings.
    pub(crate) fn send_shared(&self, id: SessionId, frame: Frame) {
        let _is_not_counted = self.queue(id, frame);
    }

    /// Queues a frame. Returns `false` if the session is ending.
    fn queue(&self, id: SessionId, frame: Frame) -> bool {
        let pushed = self.hub.borrow_mut().push(id, frame);
        if pushed == Err(PushError::Full) {
            self.end(id, Ending::TooSlow);
        }
        self.make_room();
        pushed.is_ok()
    }

    /// Queues the last words of a session; the caller flushes. From then on the session's task only waits for the
    /// peer's Close frame or the end of its stream. It is cut off if neither comes in time.
    pub(crate) fn end(&self, id: SessionId, ending: Ending) {
        let mut hub = self.hub.borrow_mut();
        let (Some(format), Some((connection, outbox))) = (hub.format(id), hub.get_mut(id)) else {
            return;
        };
        if outbox.is_sealed() {
            return;
        }
        let last_words = ending.last_words(connection.speaks_cable, format);
        connection.ending.set(Some(ending));
        connection.hangs_up.set(matches!(ending, Ending::Violation(_)));
        // A client that reads too slowly loses its unsent messages. Other clients get theirs before the last words.
        if matches!(ending, Ending::TooSlow) {
            let n_frames = outbox.n_frames();
            outbox.drop_unsent();
            let n_dropped = n_frames - outbox.n_frames();
            self.metrics.failed_server_messages.add(n_dropped as u64);
        }
        outbox.seal_with(last_words);
        self.metrics.count_ending(ending);
        self.closing.borrow_mut().add(id, Instant::now());
    }

    /// The peer's Close was answered. All queued frames still go out, then TCP ends. Returns whether frames are queued;
    /// the session's task then stays until the peer hangs up, or is cut off if that does not come in time.
    pub(crate) fn see_off(&self, id: SessionId) -> bool {
        let mut hub = self.hub.borrow_mut();
        let Some((connection, outbox)) = hub.get_mut(id) else {
            return false;
        };
        if outbox.is_empty() {
            return false;
        }
        connection.hangs_up.set(true);
        if !outbox.is_sealed() {
            outbox.seal();
            self.closing.borrow_mut().add(id, Instant::now());
        }
        true
    }

    /// Whether a session's last words are queued.
    pub(crate) fn is_ending(&self, id: SessionId) -> bool {
        self.hub
            .borrow_mut()
            .get_mut(id)
            .is_none_or(|(_, outbox)| outbox.is_sealed())
    }

    /// Writes a session's queued frames, as far as its socket takes them. A full socket gets a task of its own, which
    /// continues when there is room again.
    pub(crate) fn flush(self: &Rc<Self>, id: SessionId) {
        let n_written = self.write(id);
        if n_written > 0 {
            self.metrics.sent_bytes.add(n_written as u64);
        }
    }

    /// Like [`Shard::flush`], for many sessions. Returns the number of bytes, which the caller counts.
    pub(crate) fn write_all(self: &Rc<Self>, ids: &[SessionId]) -> usize {
        let Some(ring) = self.ring.as_ref().filter(|_| ids.len() >= MIN_SENDS) else {
            return ids.iter().map(|id| self.write(*id)).sum();
        };
        let ring = &mut ring.borrow_mut();
        ids.chunks(MAX_SENDS)
            .map(|ids| self.write_through(ring, ids))
            .sum()
    }

    /// Writes to up to [`MAX_SENDS`] sessions through the ring, and to those that it cannot serve as [`Shard::write`] does.
    fn write_through(self: &Rc<Self>, ring: &mut Ring, ids: &[SessionId]) -> usize {
        let hub = self.hub.borrow();
        let (mut chosen, mut sends) = (Vec::with_capacity(ids.len()), Vec::with_capacity(ids.len()));
        for id in ids {
            // A session that is due for two publications is in the list twice.
            if !chosen.contains(id)
                && let Some(send) = sendable(&hub, *id)
            {
                chosen.push(*id);
                sends.push(send);
            }
        }
        let results = ring.send(&sends);
        drop(sends);
        drop(hub);
        let of_ring = chosen.iter().zip(results);
        let n_sent: usize = of_ring.map(|(id, sent)| self.write_after(*id, sent)).sum();
        let others = ids.iter().filter(|id| !chosen.contains(id));
        n_sent + others.map(|id| self.write(*id)).sum::<usize>()
    }

    /// Like [`Shard::flush`]. Returns the number of bytes, which the caller counts.
    fn write(self: &Rc<Self>, id: SessionId) -> usize {
        self.write_after(id, None)
    }

    /// Writes what a send of the ring with this result has left; everything if there was none.
    fn write_after(self: &Rc<Self>, id: SessionId, mut sent: Sent) -> usize {
        let mut hub = self.hub.borrow_mut();
        let Some((connection, outbox)) = hub.get_mut(id) else {
            return 0;
        };
        if outbox.is_blocked() {
            return 0;
        }
        let n_pending = outbox.pending_bytes();
        let flushed = outbox.flush(|slices| match sent.take() {
            // Only a write of its own tells the connection that its socket is full.
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => connection.try_write(slices),
            Some(sent) => sent,
            None => connection.try_write(slices),
        });
        let n_written = n_pending - outbox.pending_bytes();
        match flushed {
            Ok(Flush::Complete) if outbox.is_sealed() => {
                let connection = Rc::clone(connection);
                said_all(&hub, id, &connection);
            }
            Ok(Flush::Complete) => {}
            Ok(Flush::Blocked) => {
                let connection = Rc::clone(connection);
                tokio::task::spawn_local(Rc::clone(self).write_when_there_is_room(id, connection));
            }
            Err(error) => {
                self.metrics.count_lost(&error, outbox);
                connection.cut();
            }
        }
        n_written
    }

    /// The task of a full socket, at most one per session. It ends when the socket is no longer full.
    async fn write_when_there_is_room(self: Rc<Self>, id: SessionId, connection: Rc<Connection>) {
        let _counted = Blocked::enter(&self, id);
        while connection.writable().await.is_ok() {
            let mut hub = self.hub.borrow_mut();
            let Some((_, outbox)) = hub.get_mut(id) else {
                return;
            };
            let n_pending = outbox.pending_bytes();
            let flushed = outbox.flush(|slices| connection.try_write(slices));
            self.metrics
                .sent_bytes
                .add((n_pending - outbox.pending_bytes()) as u64);
            match flushed {
                Ok(Flush::Blocked) => {}
                Ok(Flush::Complete) if outbox.is_sealed() => return said_all(&hub, id, &connection),
                Ok(Flush::Complete) => return,
                Err(error) => {
                    self.metrics.count_lost(&error, outbox);
                    break;
                }
            }
        }
        connection.cut();
    }
}

/// The pending bytes of a session whose socket takes them as they are, unless it is known to be full.
fn sendable(hub: &Sessions, id: SessionId) -> Option<Send<'_>> {
    let (connection, outbox) = hub.parts(id)?;
    let is_due = !outbox.is_blocked() && !outbox.is_empty();
    let socket = connection.plain_socket().filter(|_| is_due)?;
    Some(Send {
        socket,
        slices: outbox.unsent().collect(),
    })
}

/// A session's last words are written. That ends an event stream, and a WebSocket after the peer's Close or a protocol
/// violation (RFC 6455 §7.1.7). Any other WebSocket waits for the peer's Close frame.
fn said_all(hub: &Sessions, id: SessionId, connection: &Connection) {
    if connection.hangs_up.get() || hub.format(id).and_then(encoding::event_stream).is_some() {
        connection.finish();
    }
}

/// A session with a full socket, for as long as it is full.
struct Blocked<'a> {
    shard: &'a Shard,
    id: SessionId,
}

impl<'a> Blocked<'a> {
    fn enter(shard: &'a Shard, id: SessionId) -> Self {
        if let Some((connection, outbox)) = shard.hub.borrow_mut().get_mut(id) {
            outbox.reserve(connection.unsent_bytes());
        }
        shard.blocked.borrow_mut().insert(id, Instant::now());
        shard.metrics.blocked_clients.add(1);
        shard.metrics.blocked_tasks.add(1);
        Self { shard, id }
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        if let Some((connection, outbox)) = self.shard.hub.borrow_mut().get_mut(self.id) {
            outbox.unreserve(connection.unsent_bytes());
        }
        self.shard.blocked.borrow_mut().remove(&self.id);
        self.shard.metrics.blocked_clients.sub(1);
        self.shard.metrics.blocked_tasks.sub(1);
    }
}
