//! Requests over an HTTP/2 connection (RFC 9113), which concurrent requests share.

use std::{
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::pin,
    time::Instant,
};

use bytes::Bytes;
use h2::{
    RecvStream, SendStream,
    client::{Builder, ResponseFuture},
};

use super::{
    Headers, HttpError, Protocol, Response, TlsFacts,
    connection::Connection,
    exchange::{Marks, reason},
    response_reader::{MAX_HEAD_BYTES, Sink},
};
use crate::http2::Shared;

/// How much a server may send ahead, per stream and in total: the stream limit of Go's client, so that a large body
/// need not wait for window updates. Bounded, because data is taken at once when it is read.
const WINDOW_BYTES: u32 = 4 << 20;

/// Name and value of a usual field.
const USUAL_FIELD_BYTES: usize = 48;

/// An open connection.
pub(super) struct Http2 {
    shared: Shared,
    pub(super) remote: SocketAddr,
    pub(super) tls: Option<TlsFacts>,
}

impl Http2 {
    /// Begins with the preface; the server's answer to it is not waited for.
    pub(super) async fn open(connection: Connection) -> Result<Self, HttpError> {
        let (remote, tls) = (connection.remote, connection.tls.clone());
        let handshake = Builder::new()
            .enable_push(false)
            .initial_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_header_list_size(MAX_HEAD_BYTES as u32)
            .handshake(connection.into_stream())
            .await?;
        Ok(Self {
            shared: Shared::new(handshake),
            remote,
            tls,
        })
    }

    /// Whether another request can begin, after the data that has arrived was read.
    pub(super) async fn is_open(&self) -> bool {
        self.shared.is_open().await
    }

    /// Sends a request and reads the response.
    pub(super) async fn exchange(
        &self,
        request: http::Request<()>,
        body: Bytes,
        sink: Sink,
        marks: &mut Marks,
    ) -> Result<Response, HttpError> {
        let (head, sink) = self.transfer(request, body, sink, marks).await?;
        let status = head.status.as_u16();
        let (body, share) = sink.into_parts();
        Ok(Response {
            protocol: Protocol::Http2,
            status,
            reason: reason(status, None),
            headers: fields(&head),
            body,
            share,
        })
    }

    /// Sends a request whose head is already in the library's form.
    pub(super) async fn transfer(
        &self,
        request: http::Request<()>,
        body: Bytes,
        sink: Sink,
        marks: &mut Marks,
    ) -> Result<(http::response::Parts, Sink), HttpError> {
        let transferred = self.try_transfer(request, body, sink, marks).await;
        transferred.map_err(|error| self.explained(error))
    }

    async fn try_transfer(
        &self,
        request: http::Request<()>,
        body: Bytes,
        mut sink: Sink,
        marks: &mut Marks,
    ) -> Result<(http::response::Parts, Sink), HttpError> {
        let mut requests = self.shared.ready().await?;
        let (response, stream) = requests.send_request(request, body.is_empty())?;
        let (head, body) = self.answer(response, send(stream, body), marks).await?;
        marks.first_byte = Some(Instant::now());
        self.shared.driving(receive(body, &mut sink)).await?;
        Ok((head, sink))
    }

    /// Sends the rest of a request and waits for the head of its response, both at once: a server may answer early.
    async fn answer(
        &self,
        response: ResponseFuture,
        sending: impl Future<Output = Result<(), h2::Error>>,
        marks: &mut Marks,
    ) -> Result<(http::response::Parts, RecvStream), HttpError> {
        let (mut response, mut sending) = (pin!(response), pin!(sending));
        let answered = poll_fn(|cx| {
            self.shared.drive(cx);
            if marks.sent.is_none() && sending.as_mut().poll(cx)?.is_ready() {
                // What is queued is written by the next turn of the connection.
                self.shared.drive(cx);
                marks.sent = Some(Instant::now());
            }
            let answered = response.as_mut().poll(cx);
            if answered.is_pending() {
                self.shared.drive(cx);
            }
            answered
        });
        Ok(answered.await?.into_parts())
    }

    /// Why the connection ended, for a stream that knows only that it did.
    fn explained(&self, error: HttpError) -> HttpError {
        match &error {
            HttpError::Http2(ended) if ended.is_io() => {
                self.shared.last_words().map_or(error, HttpError::GoAway)
            }
            _ => error,
        }
    }
}

/// The fields of a head.
pub(super) fn fields(head: &http::response::Parts) -> Headers {
    let fields = head.headers.iter();
    let n_bytes = head.headers.len() * USUAL_FIELD_BYTES;
    Headers::new(
        n_bytes,
        fields.map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes())),
    )
}

/// Sends a body as the server gives room for it.
async fn send(mut stream: SendStream<Bytes>, mut body: Bytes) -> Result<(), h2::Error> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let Some(room) = poll_fn(|cx| stream.poll_capacity(cx)).await else {
            // The server has reset the stream. Its response, or the missing response, gives the reason.
            return Ok(());
        };
        let piece = body.split_to(room?.min(body.len()));
        stream.send_data(piece, body.is_empty())?;
    }
    Ok(())
}

async fn receive(mut body: RecvStream, sink: &mut Sink) -> Result<(), HttpError> {
    while let Some(piece) = body.data().await {
        let piece = piece?;
        sink.take(&piece)?;
        body.flow_control().release_capacity(piece.len())?;
    }
    Ok(())
}

impl std::fmt::Debug for Http2 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http2")
            .field("remote", &self.remote)
            .finish_non_exhaustive()
    }
}
