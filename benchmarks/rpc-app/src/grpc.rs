//! Unary gRPC calls on an HTTP/2 connection: as much of gRPC as AnyCable's contract needs.

use std::time::Instant;

use bytes::{BufMut, Bytes, BytesMut};
use h2::{
    RecvStream,
    server::{self, SendResponse},
};
use http::{HeaderMap, HeaderValue, Request, Response, header::CONTENT_TYPE};
use tokio::net::TcpStream;

/// A message is preceded by a byte that says whether it is compressed, and its length in four more.
const PREFIX_BYTES: usize = 5;

/// `UNIMPLEMENTED` of gRPC's status codes.
const UNIMPLEMENTED: HeaderValue = HeaderValue::from_static("12");
const OK: HeaderValue = HeaderValue::from_static("0");

/// As many calls as a server may have under way; more than any benchmark asks for.
const MAX_CALLS: u32 = 10_000;

/// Bytes that a server may send before it is told that they were read: no call has to wait for that.
const WINDOW_BYTES: u32 = 16 * 1024 * 1024;

/// One call that has arrived.
pub(crate) struct Call<'a> {
    /// `/anycable.RPC/Connect`
    pub(crate) method: &'a str,
    /// The session that it is made for; empty when the metadata has none.
    pub(crate) sid: &'a str,
    /// The encoded request.
    pub(crate) message: &'a [u8],
    /// When its head was read.
    pub(crate) received: Instant,
}

/// Answers the calls of one connection until it ends; `answer` returns an encoded response.
pub(crate) async fn serve(
    socket: TcpStream,
    answer: fn(&Call<'_>) -> Option<Bytes>,
) -> Result<(), h2::Error> {
    let mut connection = server::Builder::new()
        .max_concurrent_streams(MAX_CALLS)
        .initial_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .handshake(socket)
        .await?;
    while let Some(arrival) = connection.accept().await {
        let (request, respond) = arrival?;
        let received = Instant::now();
        tokio::spawn(async move {
            // A call that its client has given up leaves nothing to do.
            let _given_up = carry_out(request, respond, received, answer).await;
        });
    }
    Ok(())
}

async fn carry_out(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    received: Instant,
    answer: fn(&Call<'_>) -> Option<Bytes>,
) -> Result<(), h2::Error> {
    let (head, body) = request.into_parts();
    let body = read(body).await?;
    let sid = head.headers.get("sid").and_then(|sid| sid.to_str().ok());
    let response = body.get(PREFIX_BYTES..).and_then(|message| {
        answer(&Call {
            method: head.uri.path(),
            sid: sid.unwrap_or_default(),
            message,
            received,
        })
    });
    let mut head = Response::new(());
    head.headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    let mut stream = respond.send_response(head, false)?;
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", if response.is_some() { OK } else { UNIMPLEMENTED });
    if let Some(message) = response {
        stream.send_data(with_prefix(&message), false)?;
    }
    stream.send_trailers(trailers)
}

/// The whole body. Requests of the benchmark are small and its clients known, so nothing limits them here.
async fn read(mut body: RecvStream) -> Result<Bytes, h2::Error> {
    let mut whole = BytesMut::new();
    while let Some(part) = body.data().await {
        let part = part?;
        body.flow_control().release_capacity(part.len())?;
        whole.extend_from_slice(&part);
    }
    Ok(whole.freeze())
}

fn with_prefix(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).expect("a response is short"));
    frame.extend_from_slice(message);
    frame.freeze()
}
