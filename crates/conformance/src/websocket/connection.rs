//! An open connection to the target: frames out in any cut, and the target's frames.

use std::{
    fmt,
    future::poll_fn,
    io,
    mem::MaybeUninit,
    ops::Range,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{
    WireLog,
    address::Duplex,
    protocol::{
        deflate::Deflate,
        frame::{Frame, Masking},
        messages::{Heard, MessageReader},
        reader::Violation,
    },
};

/// The number of bytes per read.
const READ_BYTES: usize = 64 << 10;

/// The largest number of bytes that may wait for the case. Beyond it the tester stops reading, and the target waits.
/// Reason: a few of the largest messages.
const MOST_UNREAD_BYTES: usize = 80 << 20;

/// The role of the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A server is under test.
    Client,
    /// A client is under test.
    Server,
}

/// How frames are cut into writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// All frames in one write.
    Together,
    /// One write per frame.
    Frames,
    /// Pieces of this many bytes, wherever frames begin.
    Bytes(usize),
}

/// The end of the stream of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The target ended it.
    Finished,
    /// The connection broke.
    Broken(io::ErrorKind),
    /// The target broke the protocol, so that its further bytes have no meaning.
    Violated(Violation),
}

/// An open connection.
pub(super) struct Connection<'w> {
    stream: Box<dyn Duplex>,
    side: Side,
    reader: MessageReader,
    deflate: Option<Deflate>,
    end: Option<End>,
    masks: fastrand::Rng,
    /// The log of the bytes on the wire.
    pub(super) wire: &'w mut WireLog,
}

impl<'w> Connection<'w> {
    /// A connection after its handshake, with the bytes that came behind it.
    pub(super) fn new(
        stream: Box<dyn Duplex>,
        side: Side,
        deflate: Option<Deflate>,
        early: Vec<u8>,
        wire: &'w mut WireLog,
    ) -> Self {
        Self {
            stream,
            side,
            reader: MessageReader::new(side == Side::Server, early),
            deflate,
            end: None,
            // The same keys in each run: a failure can be seen again.
            masks: fastrand::Rng::with_seed(6455),
            wire,
        }
    }

    /// The role of the tester.
    pub(super) fn side(&self) -> Side {
        self.side
    }

    /// The state of compression, if that was agreed on.
    pub(super) fn deflate(&mut self) -> Option<&mut Deflate> {
        self.deflate.as_mut()
    }

    /// Sends frames. When the target closes the connection in the meantime, the rest is not sent; its earlier
    /// messages come with [`next`](Self::next).
    pub(super) async fn send(&mut self, frames: &[Frame], cut: Cut) {
        for frame in frames {
            self.wire.sent(frame);
        }
        self.send_silently(frames, cut).await;
    }

    /// Sends frames without an entry for each in the log.
    pub(super) async fn send_silently(&mut self, frames: &[Frame], cut: Cut) {
        let mut bytes = Vec::new();
        for frame in frames {
            let key = self.key(frame.masking);
            frame.encode(key, &mut bytes);
            if cut == Cut::Frames {
                self.write(&bytes).await;
                bytes.clear();
            }
        }
        match cut {
            Cut::Frames => {}
            Cut::Together => self.write(&bytes).await,
            Cut::Bytes(n_bytes) => {
                for piece in bytes.chunks(n_bytes) {
                    self.write(piece).await;
                }
            }
        }
    }

    /// Sends these bytes of a frame's payload; the first ones come with the head.
    pub(super) async fn send_part(&mut self, frame: &Frame, part: Range<usize>) {
        self.wire
            .sent(format_args!("bytes {} to {} of {frame}", part.start, part.end));
        let mut bytes = Vec::new();
        let key = self.key(frame.masking);
        frame.encode(key, &mut bytes);
        let n_head = bytes.len() - frame.payload.len();
        let start = if part.start == 0 { 0 } else { n_head + part.start };
        self.write(&bytes[start..n_head + part.end]).await;
    }

    /// The next message of the target, or the end of the stream.
    pub(super) async fn next(&mut self) -> Result<Heard, End> {
        loop {
            if let Some(heard) = self.take()? {
                self.wire.received(&heard);
                return Ok(heard);
            }
            if let Some(end) = &self.end {
                self.wire.note(end);
                return Err(end.clone());
            }
            poll_fn(|cx| self.poll_read(cx)).await;
        }
    }

    /// Ends the sending half: a server that has said all.
    pub(super) async fn finish(&mut self) {
        // Whatever comes of it, the connection is over.
        let _ = poll_fn(|cx| Pin::new(&mut self.stream).poll_shutdown(cx)).await;
    }

    fn take(&mut self) -> Result<Option<Heard>, End> {
        let next = self.reader.next(self.deflate.as_mut());
        next.map_err(|violation| self.violated(violation))
    }

    fn violated(&mut self, violation: Violation) -> End {
        let end = End::Violated(violation);
        self.wire.note(&end);
        self.end = Some(end.clone());
        end
    }

    fn key(&mut self, masking: Masking) -> Option<[u8; 4]> {
        let is_masked = match masking {
            Masking::Key(key) if self.side == Side::Client => return Some(key),
            Masking::OfSide | Masking::Key(_) => self.side == Side::Client,
            Masking::Wrong => self.side == Side::Server,
        };
        is_masked.then(|| self.masks.u32(..).to_ne_bytes())
    }

    /// Writes all bytes, and reads arriving ones at the same time, so that neither end waits for the other.
    async fn write(&mut self, bytes: &[u8]) {
        let mut n_written = 0;
        let written = poll_fn(|cx| {
            while self.end.is_none()
                && self.reader.n_unread() < MOST_UNREAD_BYTES
                && self.poll_read(cx).is_ready()
            {}
            while n_written < bytes.len() {
                match Pin::new(&mut self.stream).poll_write(cx, &bytes[n_written..]) {
                    Poll::Ready(Ok(n)) if n > 0 => n_written += n,
                    Poll::Ready(_) => return Poll::Ready(false),
                    Poll::Pending => return Poll::Pending,
                }
            }
            Pin::new(&mut self.stream)
                .poll_flush(cx)
                .map(|flushed| flushed.is_ok())
        });
        if !written.await {
            self.wire.note("the target takes no more");
        }
    }

    /// Reads once.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [MaybeUninit::uninit(); READ_BYTES];
        let mut buffer = ReadBuf::uninit(&mut bytes);
        match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => self.end = Some(End::Finished),
            Poll::Ready(Ok(())) => self.reader.push(buffer.filled()),
            // TLS calls an end without its own farewell an error.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.end = Some(End::Finished);
            }
            Poll::Ready(Err(error)) => self.end = Some(End::Broken(error.kind())),
        }
        Poll::Ready(())
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("the target ended the connection"),
            Self::Broken(kind) => write!(f, "the connection broke: {kind}"),
            Self::Violated(Violation { what, .. }) => write!(f, "the target sent {what}"),
        }
    }
}
