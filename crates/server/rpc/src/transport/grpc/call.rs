//! One unary call on an HTTP/2 connection, as in gRPC's PROTOCOL-HTTP2: it sends a head and one message, and receives a
//! head, one message and trailers with the status.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::RecvStream;
use http::{
    HeaderMap, HeaderValue, Method, Request, Uri, Version,
    header::{CONTENT_TYPE, TE, USER_AGENT},
};
use plimsoll_grpc::{PREFIX_BYTES, prefix};

use super::{channel::Sender, trailers};
use crate::{
    request,
    status::{Code, Status},
    transport::options::{PROTOCOL_VERSION, too_long},
};

/// The first byte of the prefix of a message that is not compressed.
const UNCOMPRESSED: u8 = 0;

/// The number of fields in a request's head.
const N_FIELDS: usize = 6;
/// The largest value of a timeout: eight digits.
const MAX_TIMEOUT_MS: u128 = 99_999_999;

/// The message of a request, with its prefix.
pub(crate) fn encode(request: &impl request::Request) -> Bytes {
    let n_bytes = request.len();
    let mut framed = Vec::with_capacity(PREFIX_BYTES + n_bytes);
    framed.extend_from_slice(&prefix(n_bytes));
    request.write(&mut framed);
    framed.into()
}

/// The length of the message without its prefix.
pub(super) fn message_len(framed: &Bytes) -> usize {
    framed.len() - PREFIX_BYTES
}

/// The head of a request.
pub(super) fn head(uri: Uri, sid: &str, time_left: Duration) -> Request<()> {
    let mut headers = HeaderMap::with_capacity(N_FIELDS);
    headers.insert(TE, HeaderValue::from_static("trailers"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(
        USER_AGENT,
        HeaderValue::from_static(concat!("plimsoll/", env!("CARGO_PKG_VERSION"))),
    );
    headers.insert("protov", HeaderValue::from_static(PROTOCOL_VERSION));
    headers.insert("grpc-timeout", timeout_field(time_left));
    let mut sid: HeaderValue = sid.parse().expect("session ids are plain ASCII");
    // It would displace other fields from the connection's table of recurring fields.
    sid.set_sensitive(true);
    headers.insert("sid", sid);
    let mut request = Request::new(());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    *request.version_mut() = Version::HTTP_2;
    *request.headers_mut() = headers;
    request
}

/// A timeout in whole milliseconds, rounded up. A recurring value takes one byte.
fn timeout_field(time: Duration) -> HeaderValue {
    let time_ms = time.as_micros().div_ceil(1000).min(MAX_TIMEOUT_MS);
    HeaderValue::try_from(format!("{time_ms}m")).expect("digits and a letter")
}

/// Sends a request and returns the message of the reply. Dropping the future cancels the call.
pub(super) async fn exchange(
    mut sender: Sender,
    head: Request<()>,
    framed: Bytes,
    max_reply_bytes: usize,
) -> Result<Bytes, Status> {
    let n_writes = sender.writes.n_done();
    let (response, mut body) = sender.requests.send_request(head, false).map_err(broken_off)?;
    body.send_data(framed, true).map_err(broken_off)?;
    let response = response.await.map_err(|error| {
        let failure = broken_off(error);
        if sender.writes.n_done() == n_writes {
            failure.untouched()
        } else {
            failure
        }
    });
    let (head, body) = response?.into_parts();
    if let Some(outcome) = trailers::outcome(&head.headers) {
        return Err(outcome.err().unwrap_or_else(without_message));
    }
    let (body, trailers) = read(body, max_reply_bytes).await?;
    match trailers::outcome(&trailers) {
        Some(Ok(())) => message(body),
        Some(Err(failure)) => Err(failure),
        None => Err(trailers::missing(head.status)),
    }
}

/// Reads the body and the trailers.
async fn read(mut stream: RecvStream, max_message_bytes: usize) -> Result<(Bytes, HeaderMap), Status> {
    let max_bytes = max_message_bytes.saturating_add(PREFIX_BYTES);
    let mut body = Bytes::new();
    while let Some(part) = stream.data().await {
        let part = part.map_err(broken_off)?;
        if body.len() + part.len() > max_bytes {
            return Err(too_long(max_message_bytes));
        }
        let released = stream.flow_control().release_capacity(part.len());
        released.map_err(broken_off)?;
        body = if body.is_empty() {
            part
        } else {
            let mut joined = BytesMut::from(body);
            joined.extend_from_slice(&part);
            joined.freeze()
        };
    }
    let trailers = stream.trailers().await.map_err(broken_off)?;
    Ok((body, trailers.unwrap_or_default()))
}

/// The only message of a body.
pub(crate) fn message(mut body: Bytes) -> Result<Bytes, Status> {
    let Some(prefix) = body.first_chunk::<PREFIX_BYTES>() else {
        return Err(without_message());
    };
    let [compressed, length @ ..] = *prefix;
    let n_bytes = body.len() - PREFIX_BYTES;
    if compressed != UNCOMPRESSED || u32::from_be_bytes(length) as usize != n_bytes {
        return Err(Status::internal("the reply is not a single uncompressed message"));
    }
    Ok(body.split_off(PREFIX_BYTES))
}

fn without_message() -> Status {
    Status::internal("the application answered OK without a message")
}

/// The status for an HTTP/2 error, as in gRPC's PROTOCOL-HTTP2, "Errors". Some errors say that the application has not
/// begun to work on the request (RFC 9113 §6.8, §8.7).
fn broken_off(error: h2::Error) -> Status {
    let code = error
        .reason()
        .map_or(Code::Unknown, |reason| Code::of_reset(reason.into()));
    let is_untouched =
        error.is_remote() && (error.is_go_away() || error.reason() == Some(h2::Reason::REFUSED_STREAM));
    let status = Status::new(code, "the call was broken off").with_source(error);
    if is_untouched { status.untouched() } else { status }
}

#[cfg(test)]
mod tests {
    use tokio::io::{DuplexStream, duplex};

    use super::*;
    use crate::transport::grpc::write_counter::Writes;

    /// The failure of a call to an application that ends the connection.
    async fn failure(application: impl AsyncFnOnce(DuplexStream)) -> Status {
        let (near, far) = duplex(1 << 16);
        let writes = Writes::default();
        let handshake = h2::client::handshake(writes.of(near)).await;
        let (requests, connection) = handshake.expect("there is room for it");
        let head = head("http://app/call".parse().expect("valid"), "sid", Duration::ZERO);
        let call = exchange(
            Sender { requests, writes },
            head,
            Bytes::from_static(b"\0\0\0\0\0"),
            0,
        );
        // In this order, so that the connection has ended before it is driven.
        let ((), result, _) = tokio::join!(application(far), call, connection);
        result.expect_err("nothing was answered")
    }

    #[tokio::test]
    async fn a_request_that_never_left_is_untouched_and_one_that_did_is_not() {
        let unread = failure(async |connection| drop(connection)).await;
        assert!(unread.is_untouched(), "{unread:?}");
        let read = failure(async |connection| {
            let mut connection = h2::server::handshake(connection).await.expect("a client");
            let request = connection.accept().await.expect("a request");
            drop((connection, request));
        });
        let read = read.await;
        assert!(!read.is_untouched(), "{read:?}");
    }

    #[track_caller]
    fn check_timeout(time: Duration, expected: &str) {
        assert_eq!(timeout_field(time), expected);
    }

    #[test]
    fn timeouts_are_whole_milliseconds_of_eight_digits_at_the_most() {
        check_timeout(Duration::ZERO, "0m");
        check_timeout(Duration::from_nanos(2_999_991_000), "3000m");
        check_timeout(Duration::from_millis(3000), "3000m");
        check_timeout(Duration::MAX, "99999999m");
    }

    #[track_caller]
    fn check_message(body: &'static [u8], expected: Result<&[u8], &str>) {
        let message = message(Bytes::from_static(body));
        let message = message.as_deref().map_err(Status::message);
        assert_eq!(message, expected);
    }

    #[test]
    fn a_body_is_one_message() {
        check_message(b"\0\0\0\0\x02ab", Ok(b"ab"));
        check_message(b"\0\0\0\0\0", Ok(b""));
        check_message(b"", Err("the application answered OK without a message"));
        check_message(b"\0\0\0\0", Err("the application answered OK without a message"));
        for strange in [
            b"\x01\0\0\0\x02ab".as_slice(),
            b"\0\0\0\0\x02abc",
            b"\0\0\0\0\x02a",
            b"\0\xff\xff\xff\xffa",
        ] {
            check_message(strange, Err("the reply is not a single uncompressed message"));
        }
    }
}
