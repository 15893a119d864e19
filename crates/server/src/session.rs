//! The life of one WebSocket session, from the upgrade to the last byte.

use std::{io, ops::ControlFlow, rc::Rc};

use plimsoll_hub::{Frame, SessionId};
use plimsoll_websocket::{CloseFrame, Decoded, Decoder, Event, Opcode, encode_close};
use smallvec::SmallVec;

use crate::{
    connection::Connection,
    encoding,
    endpoint::{Endpoint, Task},
    outgoing::Ending,
    shard::{OpenSession, Shard},
};

/// Work that one read may lead to. One command a read is the rule, so one lives inline.
type Tasks = SmallVec<[Task; 1]>;

/// Whether the connection is over, and the frame to go out before the server closes it (RFC 6455 §7.1.1). It
/// goes out behind the answers to everything that was read with it.
type Over = ControlFlow<Option<Frame>>;

/// Serves a session until either side ends it. Bytes that came along with the request are `early`.
///
/// Reading goes on only when everything that was read before is done, so a client's commands run one at a
/// time, in order, and a client that floods fills its own socket.
pub(crate) async fn serve(
    session: OpenSession,
    connection: Rc<Connection>,
    mut endpoint: Endpoint,
    mut decoder: Decoder,
    early: Vec<u8>,
) {
    let OpenSession { shard, id } = &session;
    let mut early = Some(early).filter(|bytes| !bytes.is_empty());
    loop {
        let mut tasks = Tasks::new();
        let state = match early.take() {
            Some(mut bytes) => shard.decode(*id, &mut bytes, &mut decoder, &mut endpoint, &mut tasks),
            None => {
                if connection.readable().await.is_err() {
                    return;
                }
                shard.read(*id, &connection, &mut decoder, &mut endpoint, &mut tasks)
            }
        };
        for task in tasks {
            // Commands behind the one that ended the session came too late.
            if shard.is_ending(*id) {
                break;
            }
            // Boxed: it takes a kilobyte while it runs, and most sessions are idle.
            Box::pin(endpoint.perform(shard, *id, task)).await;
            shard.flush(*id);
        }
        if let ControlFlow::Break(last_frame) = state {
            last_frame
                .into_iter()
                .for_each(|frame| shard.send_aside(*id, frame));
            shard.flush(*id);
            if shard.see_off(*id) {
                connection.until_ended(&shard.scratch).await;
            }
            return;
        }
        shard.flush(*id);
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
        tasks: &mut Tasks,
    ) -> Over {
        let mut scratch = self.scratch.borrow_mut();
        match connection.try_read(&mut scratch) {
            Ok(0) => ControlFlow::Break(None),
            Ok(n_read) => self.decode(id, &mut scratch[..n_read], decoder, endpoint, tasks),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ControlFlow::Continue(()),
            Err(error) => {
                if let Some((_, outbox)) = self.hub.borrow_mut().get_mut(id) {
                    self.metrics.count_lost(&error, outbox);
                }
                ControlFlow::Break(None)
            }
        }
    }

    /// Decodes what was read.
    fn decode(
        self: &Rc<Self>,
        id: SessionId,
        mut input: &mut [u8],
        decoder: &mut Decoder,
        endpoint: &mut Endpoint,
        tasks: &mut Tasks,
    ) -> Over {
        self.metrics.received_bytes.add(input.len() as u64);
        if self.is_ending(id) {
            return self.await_close(input, decoder);
        }
        loop {
            let (consumed, event) = match decoder.decode(&self.decoding, input) {
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
                Some(Event::Text(text)) => endpoint.receive(self, id, Opcode::Text, text.as_bytes(), tasks),
                Some(Event::Binary(bytes)) => endpoint.receive(self, id, Opcode::Binary, bytes, tasks),
                Some(Event::Ping(bytes)) => self.send_aside(id, encoding::frame(Opcode::Pong, bytes)),
                Some(Event::Close(frame)) => return ControlFlow::Break(Some(answer_to_close(frame))),
            }
            if self.is_ending(id) {
                return ControlFlow::Continue(());
            }
            input = &mut input[consumed..];
        }
    }

    /// Our Close frame is out: everything but the peer's is ignored. After a protocol error the decoder is
    /// lost, and only the end of the stream (or the deadline) ends the wait.
    fn await_close(&self, mut input: &mut [u8], decoder: &mut Decoder) -> Over {
        loop {
            let consumed = match decoder.decode(&self.decoding, input) {
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

/// Echoes the peer's code (RFC 6455 §5.5.1).
fn answer_to_close(frame: Option<CloseFrame<'_>>) -> Frame {
    let mut answer = Vec::new();
    let echoed = frame.map(|frame| CloseFrame {
        code: frame.code,
        reason: "",
    });
    encode_close(echoed, None, &mut answer);
    answer.into()
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
        assert!(n_bytes <= 640, "each connection has one: {n_bytes} bytes");
    }
}
