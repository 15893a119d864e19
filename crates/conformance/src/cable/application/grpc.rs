//! gRPC, as much of it as three unary calls need: a message with five bytes before it, and a status in the trailers.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use h2::{
    RecvStream,
    server::{self, SendResponse},
};
use hyper::{
    HeaderMap, Request, Response,
    header::{CONTENT_TYPE, HeaderValue},
};
use prost::Message;
use tokio::net::TcpStream;

use super::{
    Calls,
    contract::{CommandMessage, ConnectionRequest, DisconnectRequest},
};

/// A byte that says whether the message is compressed, and its length in four more.
const PREFIX_BYTES: usize = 5;

/// The longest accepted request. Reason: a request has at most a client's message and the headers of one request.
const MOST_REQUEST_BYTES: usize = 4 << 20;

/// Status codes of gRPC.
const OK: HeaderValue = HeaderValue::from_static("0");
const INVALID_ARGUMENT: HeaderValue = HeaderValue::from_static("3");
const UNIMPLEMENTED: HeaderValue = HeaderValue::from_static("12");

/// Answers the calls of one connection until it ends. How it ends is the caller's business: it sees its calls fail.
pub(super) async fn serve(socket: TcpStream, calls: Arc<Calls>) {
    let Ok(()) = socket.set_nodelay(true) else { return };
    let Ok(mut connection) = server::handshake(socket).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let calls = Arc::clone(&calls);
        tokio::spawn(async move {
            // A call that its client has given up leaves nothing to do.
            let _given_up = carry_out(request, respond, &calls).await;
        });
    }
}

async fn carry_out(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    calls: &Calls,
) -> Result<(), h2::Error> {
    let (head, body) = request.into_parts();
    let sid = head.headers.get("sid").and_then(|sid| sid.to_str().ok());
    let answer = match read(body).await? {
        Some(message) => answer(calls, head.uri.path(), sid.unwrap_or_default(), message).await,
        None => Err(INVALID_ARGUMENT),
    };
    let mut head = Response::new(());
    head.headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    let mut stream = respond.send_response(head, false)?;
    let mut trailers = HeaderMap::new();
    match answer {
        Ok(message) => {
            stream.send_data(with_prefix(&message), false)?;
            trailers.insert("grpc-status", OK);
        }
        Err(status) => {
            trailers.insert("grpc-status", status);
        }
    }
    stream.send_trailers(trailers)
}

/// The encoded reply, or a status of gRPC.
async fn answer(calls: &Calls, path: &str, sid: &str, message: Bytes) -> Result<Vec<u8>, HeaderValue> {
    fn decoded<M: Message + Default>(message: Bytes) -> Result<M, HeaderValue> {
        M::decode(message).map_err(|_| INVALID_ARGUMENT)
    }
    match path {
        "/anycable.RPC/Connect" => Ok(calls
            .connect(sid, decoded::<ConnectionRequest>(message)?)
            .encode_to_vec()),
        "/anycable.RPC/Command" => {
            let message = decoded::<CommandMessage>(message)?;
            Ok(calls.command(sid, message).await.encode_to_vec())
        }
        "/anycable.RPC/Disconnect" => {
            let request = decoded::<DisconnectRequest>(message)?;
            Ok(calls.disconnect(request).await.encode_to_vec())
        }
        _ => Err(UNIMPLEMENTED),
    }
}

/// The message of a whole body; `None` when the body is too long or too short.
async fn read(mut body: RecvStream) -> Result<Option<Bytes>, h2::Error> {
    let mut whole = BytesMut::new();
    while let Some(part) = body.data().await {
        let part = part?;
        body.flow_control().release_capacity(part.len())?;
        if whole.len() + part.len() > MOST_REQUEST_BYTES {
            return Ok(None);
        }
        whole.extend_from_slice(&part);
    }
    Ok((whole.len() >= PREFIX_BYTES).then(|| whole.split_off(PREFIX_BYTES).freeze()))
}

fn with_prefix(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).expect("a reply is no longer than a few requests"));
    frame.extend_from_slice(message);
    frame.freeze()
}
