//! The body of an answer that goes on.

use std::{convert::Infallible, pin::Pin, task};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::mpsc;

/// Parts that another task makes. It is told when the client is gone, because its sender closes.
#[derive(Debug)]
pub(super) struct Flow(mpsc::Receiver<Bytes>);

impl Flow {
    pub(super) fn new(parts: mpsc::Receiver<Bytes>) -> Self {
        Self(parts)
    }
}

impl Body for Flow {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let received = self.0.poll_recv(context);
        received.map(|part| part.map(|bytes| Ok(Frame::data(bytes))))
    }
}
