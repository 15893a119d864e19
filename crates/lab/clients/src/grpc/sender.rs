//! Sends the messages of a call.

use std::{future::poll_fn, rc::Rc};

use bytes::{BufMut as _, Bytes, BytesMut};
use h2::SendStream;
use plimsoll_grpc::{Code, PREFIX_BYTES, prefix};

use super::{Status, endpoint::Connection};

/// The caller's side of a call.
pub struct Sender {
    connection: Rc<Connection>,
    stream: SendStream<Bytes>,
    max_bytes: usize,
}

impl Sender {
    pub(super) fn new(connection: Rc<Connection>, stream: SendStream<Bytes>, max_bytes: usize) -> Self {
        Self {
            connection,
            stream,
            max_bytes,
        }
    }

    /// Sends a message, as the server gives room for it. False if the call has ended meanwhile, for a reason that
    /// the [`Receiver`] gives.
    ///
    /// [`Receiver`]: super::Receiver
    ///
    /// # Errors
    /// The message is too long.
    pub async fn send(&mut self, message: &[u8]) -> Result<bool, Status> {
        self.transmit(message, false).await
    }

    /// As [`send`](Self::send), and says that this was the last message.
    ///
    /// # Errors
    /// As for [`send`](Self::send).
    pub async fn send_last(&mut self, message: &[u8]) -> Result<bool, Status> {
        self.transmit(message, true).await
    }

    /// Says that there are no more messages.
    pub fn finish(&mut self) {
        // A call that has ended needs no end.
        let _ = self.stream.send_data(Bytes::new(), true);
        self.connection.shared.flush();
    }

    async fn transmit(&mut self, message: &[u8], is_last: bool) -> Result<bool, Status> {
        let (n_bytes, max_bytes) = (message.len(), self.max_bytes);
        if n_bytes > max_bytes {
            let text = format!("trying to send message larger than max ({n_bytes} vs. {max_bytes})");
            return Err(Status::new(Code::ResourceExhausted, text));
        }
        let mut framed = BytesMut::with_capacity(PREFIX_BYTES + n_bytes);
        framed.put_slice(&prefix(n_bytes));
        framed.put_slice(message);
        let sending = send(&mut self.stream, framed.freeze(), is_last);
        let is_sent = self.connection.shared.driving(sending).await;
        self.connection.shared.flush();
        Ok(is_sent)
    }
}

/// Sends a piece of the body as the server gives room for it; false if the call has ended.
async fn send(stream: &mut SendStream<Bytes>, mut body: Bytes, is_last: bool) -> bool {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let Some(Ok(room)) = poll_fn(|cx| stream.poll_capacity(cx)).await else {
            return false;
        };
        let piece = body.split_to(room.min(body.len()));
        if stream.send_data(piece, is_last && body.is_empty()).is_err() {
            return false;
        }
    }
    true
}
