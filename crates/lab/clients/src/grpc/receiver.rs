//! Receives the messages of a call, and its status.

use std::rc::Rc;

use bytes::Bytes;
use h2::{RecvStream, client::ResponseFuture};
use http::{HeaderMap, StatusCode, response::Parts};
use plimsoll_grpc::{Code, Messages, decode_text};

use super::{Metadata, Status, endpoint::Connection, metadata};

/// The server's side of a call. Dropping it before the end cancels the call.
pub struct Receiver {
    connection: Rc<Connection>,
    state: State,
    messages: Messages,
    headers: Metadata,
    trailers: Metadata,
    /// The compression of the messages.
    encoding: Option<String>,
}

enum State {
    /// Before the head of the response.
    Waiting(ResponseFuture),
    Reading(RecvStream),
    Ended(Result<(), Status>),
}

impl Receiver {
    pub(super) fn new(connection: Rc<Connection>, response: ResponseFuture, max_bytes: usize) -> Self {
        Self {
            connection,
            state: State::Waiting(response),
            messages: Messages::new(max_bytes),
            headers: Metadata::default(),
            trailers: Metadata::default(),
            encoding: None,
        }
    }

    /// The next message; `None` after the last one of a call that succeeded. Can be dropped and called again at any time.
    ///
    /// # Errors
    /// The status of a call that failed; the same one again from then on.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            match &mut self.state {
                State::Waiting(response) => match self.connection.shared.driving(response).await {
                    Ok(response) => self.open(response.into_parts()),
                    Err(error) => self.end(Err(Status::broken_off(&error))),
                },
                State::Reading(body) => {
                    match self.messages.take() {
                        Ok(Some(message)) => return Ok(Some(message)),
                        Ok(None) => {}
                        Err(error) => {
                            let status = Status::unreadable(error, self.encoding.as_deref());
                            self.end(Err(status));
                            continue;
                        }
                    }
                    match self.connection.shared.driving(piece(body)).await {
                        Ok(Piece::Data(data)) => self.messages.put(&data),
                        Ok(Piece::Trailers(trailers)) => self.close(&trailers),
                        Err(error) => self.end(Err(Status::broken_off(&error))),
                    }
                }
                State::Ended(outcome) => return outcome.clone().map(|()| None),
            }
        }
    }

    /// The server's fields before its first message; empty before they have arrived.
    pub fn take_headers(&mut self) -> Metadata {
        std::mem::take(&mut self.headers)
    }

    /// The server's fields after its last message; empty before they have arrived.
    pub fn take_trailers(&mut self) -> Metadata {
        std::mem::take(&mut self.trailers)
    }

    fn open(&mut self, (head, body): (Parts, RecvStream)) {
        if let Some(failure) = foreign(&head) {
            self.end(Err(failure));
        } else if body.is_end_stream() {
            // Trailers only: the server had no messages.
            self.close(&head.headers);
        } else {
            self.headers = Metadata::read(&head.headers);
            let encoding = head.headers.get("grpc-encoding");
            self.encoding = encoding.and_then(|value| Some(value.to_str().ok()?.to_owned()));
            self.state = State::Reading(body);
        }
    }

    fn close(&mut self, trailers: &HeaderMap) {
        self.trailers = Metadata::read(trailers);
        let outcome = match outcome(trailers) {
            Ok(()) if !self.messages.is_empty() => Err(Status::new(Code::Internal, "unexpected EOF")),
            outcome => outcome,
        };
        self.end(outcome);
    }

    fn end(&mut self, outcome: Result<(), Status>) {
        self.state = State::Ended(outcome);
        // Tells the server of a call that was given up.
        self.connection.shared.flush();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.end(Ok(()));
    }
}

/// The next part of a body.
enum Piece {
    Data(Bytes),
    Trailers(HeaderMap),
}

async fn piece(body: &mut RecvStream) -> Result<Piece, h2::Error> {
    if let Some(data) = body.data().await {
        let data = data?;
        body.flow_control().release_capacity(data.len())?;
        return Ok(Piece::Data(data));
    }
    Ok(Piece::Trailers(body.trailers().await?.unwrap_or_default()))
}

/// The failure of an answer that does not come from a gRPC server.
fn foreign(head: &Parts) -> Option<Status> {
    let mut texts = Vec::new();
    if head.status != StatusCode::OK {
        let (number, reason) = (head.status.as_u16(), head.status.canonical_reason());
        let reason = reason.unwrap_or_default();
        texts.push(format!(
            "unexpected HTTP status code received from server: {number} ({reason})"
        ));
    }
    match head.headers.get("content-type") {
        None => texts.push("malformed header: missing HTTP content-type".to_owned()),
        Some(kind) if !kind.as_bytes().starts_with(b"application/grpc") => {
            let kind = String::from_utf8_lossy(kind.as_bytes());
            texts.push(format!("transport: received unexpected content-type {kind:?}"));
        }
        Some(_) => {}
    }
    let code = Code::of_http_status(head.status.as_u16());
    (!texts.is_empty()).then(|| Status::new(code, texts.join("; ")))
}

/// The status in trailers.
fn outcome(trailers: &HeaderMap) -> Result<(), Status> {
    let Some(code) = trailers.get("grpc-status") else {
        let text = "server closed the stream without sending trailers";
        return Err(Status::new(Code::Internal, text));
    };
    let code = Code::parse(code.as_bytes());
    if code == Code::Ok {
        return Ok(());
    }
    let message = trailers
        .get("grpc-message")
        .map(|text| decode_text(text.as_bytes()));
    let details = trailers.get("grpc-status-details-bin");
    let details = details.and_then(|details| metadata::decode(details.as_bytes()));
    Err(Status {
        code,
        message: message.unwrap_or_default(),
        details: details.unwrap_or_default(),
    })
}
