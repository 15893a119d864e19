//! The life of one WebSocket session, from the upgrade to the last byte.

use std::{io, ops::ControlFlow, rc::Rc};

use plimsoll_hub::SessionId;
use plimsoll_websocket::{CloseFrame, Decoded, Decoder, Event, Opcode, encode_close};
use smallvec::SmallVec;

use crate::{
    connection::Connection,
    encoding,
    ending::Ending,
    endpoint::{Endpoint, Task},
    shard::{OpenSession, Shard},
};

/// The memory for commands that wait for their turn, in bytes. Bytes read after them stay undecoded until they are
/// done: compressed, a read of 64 KiB may hold a thousand times as much.
const MAX_TASK_BYTES: usize = 64 * 1024;

/// The memory for answers before they are written, in bytes. Beyond it the socket takes them, or turns out to be full;
/// then the session's cap applies.
const MAX_STAGED_BYTES: usize = 64 * 1024;

/// Tasks from one read. A read usually holds one command, so the first task is stored inline.
#[derive(Default)]
struct Inbox {
    tasks: SmallVec<[Task; 1]>,
    /// The number of tasks that `n_bytes` includes.
    n_counted: usize,
    n_bytes: usize,
    /// Bytes that were read but not decoded, because enough tasks wait already.
    rest: Box<[u8]>,
}

/// Breaks when the connection is over, with the frame to send before the server closes it (RFC 6455 §7.1.1). The frame
/// goes out behind the answers to everything that was read with it.
type Over = ControlFlow<Option<Vec<u8>>>;

/// Serves a session until either side ends it. `early` are bytes that arrived with the request.
///
/// The next read waits until everything read before is done. So a client's commands run one at a time, in order, and a
/// client that floods fills its own socket.
pub(crate) async fn serve(
    session: OpenSession,
    connection: Rc<Connection>,
    mut endpoint: Endpoint,
    mut decoder: Decoder,
    early: Box<[u8]>,
) {
    let OpenSession { shard, id } = &session;
    let mut unread = early;
    let mut n_reserved = 0;
    loop {
        if unread.is_empty() {
            if endpoint.has_pending() {
                // Boxed for the reason given below.
                Box::pin(settle_until_readable(shard, *id, &connection, &mut endpoint)).await;
            }
            if connection.readable().await.is_err() {
                return;
            }
        }
        let (state, tasks) = {
            let mut inbox = Inbox::default();
            let state = if unread.is_empty() {
                shard.read(*id, &connection, &mut decoder, &mut endpoint, &mut inbox)
            } else {
                let mut bytes = std::mem::take(&mut unread);
                shard.decode(*id, &mut bytes, &mut decoder, &mut endpoint, &mut inbox)
            };
            unread = inbox.rest;
            let n_held = decoder.held_bytes() + unread.len() + inbox.n_bytes;
            shard.reserve(*id, &mut n_reserved, n_held);
            (
                state,
                Some(inbox.tasks).filter(|tasks| !tasks.is_empty()).map(Box::new),
            )
        };
        if let Some(tasks) = tasks {
            connection.liveness.set_busy(true);
            // Boxed: the future takes a kilobyte while it runs, and most sessions are idle.
            Box::pin(perform(shard, *id, &mut endpoint, tasks)).await;
            connection.liveness.set_busy(false);
            shard.reserve(*id, &mut n_reserved, decoder.held_bytes() + unread.len());
        }
        if let ControlFlow::Break(last_frame) = state {
            last_frame
                .into_iter()
                .for_each(|frame| shard.answer_close(*id, frame));
            shard.flush(*id);
            if shard.see_off(*id) {
                connection.until_ended(&shard.codec.scratch).await;
            }
            return;
        }
        shard.flush(*id);
    }
}

/// Handles what is due besides reading, until the socket is readable or has failed.
async fn settle_until_readable(
    shard: &Rc<Shard>,
    id: SessionId,
    connection: &Connection,
    endpoint: &mut Endpoint,
) {
    loop {
        let due = tokio::select! {
            biased;
            _readable_or_failed = connection.readable() => return,
            due = endpoint.next_due() => due,
        };
        if !shard.is_ending(id) {
            endpoint.settle(shard, id, due).await;
            shard.flush(id);
        }
    }
}

async fn perform(shard: &Rc<Shard>, id: SessionId, endpoint: &mut Endpoint, tasks: Box<SmallVec<[Task; 1]>>) {
    for task in *tasks {
        // Commands after the one that ended the session are ignored.
        if shard.is_ending(id) {
            break;
        }
        endpoint.perform(shard, id, task).await;
        shard.flush(id);
    }
}

impl Shard {
    /// Reads once into the shared buffer and decodes.
    fn read(
        self: &Rc<Self>,
        id: SessionId,
        connection: &Connection,
        decoder: &mut Decoder,
        endpoint: &mut Endpoint,
        inbox: &mut Inbox,
    ) -> Over {
        let mut scratch = self.codec.scratch.borrow_mut();
        match connection.try_read(&mut scratch) {
            Ok(0) => ControlFlow::Break(None),
            Ok(n_read) => {
                connection.liveness.heard();
                self.decode(id, &mut scratch[..n_read], decoder, endpoint, inbox)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ControlFlow::Continue(()),
            Err(error) => {
                if let Some((_, outbox)) = self.hub.borrow_mut().get_mut(id) {
                    self.metrics.count_lost(&error, outbox);
                }
                ControlFlow::Break(None)
            }
        }
    }

    /// Decodes bytes until too many tasks wait for their turn.
    fn decode(
        self: &Rc<Self>,
        id: SessionId,
        mut input: &mut [u8],
        decoder: &mut Decoder,
        endpoint: &mut Endpoint,
        inbox: &mut Inbox,
    ) -> Over {
        self.metrics.received_bytes.add(input.len() as u64);
        if self.is_ending(id) {
            return self.await_close(input, decoder);
        }
        loop {
            let (consumed, event) = match decoder.decode(&self.codec.decoding, input) {
                Ok(decoded) => (decoded.consumed, decoded.event),
                Err(error) => {
                    tracing::debug!(%error, "A client broke the WebSocket protocol.");
                    self.end(id, Ending::Violation(error));
                    return ControlFlow::Continue(());
                }
            };
            match event {
                None => return ControlFlow::Continue(()),
                Some(Event::Pong(_)) => {}
                Some(Event::Text(text)) => {
                    endpoint.receive(self, id, Opcode::Text, text.as_bytes(), &mut inbox.tasks);
                }
                Some(Event::Binary(bytes)) => {
                    endpoint.receive(self, id, Opcode::Binary, bytes, &mut inbox.tasks);
                }
                Some(Event::Ping(bytes)) => self.send_aside(id, encoding::frame(Opcode::Pong, bytes)),
                Some(Event::Close(frame)) => return ControlFlow::Break(Some(answer_to_close(frame))),
            }
            if self.settle(id) {
                return ControlFlow::Continue(());
            }
            input = &mut input[consumed..];
            if inbox.is_full() {
                inbox.rest = (*input).into();
                return ControlFlow::Continue(());
            }
        }
    }

    /// Writes the answers to a read once there are many. Returns whether the session is ending.
    fn settle(self: &Rc<Self>, id: SessionId) -> bool {
        let is_much = match self.hub.borrow_mut().get_mut(id) {
            Some((_, outbox)) if !outbox.is_sealed() => outbox.held_bytes() > MAX_STAGED_BYTES,
            _ => return true,
        };
        if is_much {
            self.flush(id);
        }
        false
    }

    /// Waits for the peer's Close frame after ours is out, and ignores everything else. After a protocol error the
    /// decoder is unusable, so only the end of the stream (or the deadline) ends the wait.
    fn await_close(&self, mut input: &mut [u8], decoder: &mut Decoder) -> Over {
        loop {
            let consumed = match decoder.decode(&self.codec.decoding, input) {
                Ok(Decoded {
                    event: Some(Event::Close(_)),
                    ..
                }) => return ControlFlow::Break(None),
                Ok(Decoded {
                    event: Some(_),
                    consumed,
                }) => consumed,
                Ok(Decoded { event: None, .. }) | Err(_) => return ControlFlow::Continue(()),
            };
            input = &mut input[consumed..];
        }
    }
}

impl Inbox {
    /// Whether decoding must pause. Called after each message; a message makes at most one task.
    fn is_full(&mut self) -> bool {
        if self.n_counted < self.tasks.len() {
            self.n_counted = self.tasks.len();
            self.n_bytes += self.tasks.last().map_or(0, Task::held_bytes);
        }
        self.n_bytes > MAX_TASK_BYTES
    }
}

/// Encodes the answer to the peer's Close frame, with the peer's code (RFC 6455 §5.5.1).
fn answer_to_close(frame: Option<CloseFrame<'_>>) -> Vec<u8> {
    let mut answer = Vec::new();
    let echoed = frame.map(|frame| CloseFrame {
        code: frame.code,
        reason: "",
    });
    encode_close(echoed, None, &mut answer);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_result<A, B, C, D, E, R>(_: impl FnOnce(A, B, C, D, E) -> R) -> usize {
        size_of::<R>()
    }

    #[test]
    fn an_idle_session_keeps_no_room_for_what_commands_need() {
        let n_bytes = size_of_result(serve);
        assert!(n_bytes <= 560, "each connection has one: {n_bytes} bytes");
    }
}
