//! Calls against a server that answers as each test says.

use std::{rc::Rc, sync::Arc, time::Duration};

use bytes::Bytes;
use h2::{Reason, server::SendResponse};
use http::{HeaderMap, Request, Response};
use plimsoll_grpc::{Code, prefix};
use tokio::net::TcpListener;

use super::*;

/// Answers the calls of one connection after the other.
async fn serve(listener: &TcpListener, answer: impl Fn(Request<h2::RecvStream>, SendResponse<Bytes>)) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((request, response))) = connection.accept().await {
            let is_last = request.headers().contains_key("x-last");
            answer(request, response);
            if is_last {
                connection.graceful_shutdown();
            }
        }
    }
}

fn head_of(metadata: &[(&str, &str)]) -> Head {
    let mut head = Head {
        path: "/a.B/C".to_owned(),
        ..Head::default()
    };
    for (name, value) in metadata {
        head.metadata.add(name, *value);
    }
    head
}

/// Makes calls against a server with this answer.
async fn against(
    answer: impl Fn(Request<h2::RecvStream>, SendResponse<Bytes>),
    calls: impl AsyncFnOnce(&Channel),
) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut endpoint = Endpoint::new("127.0.0.1", port, Arc::default());
    endpoint.max_received_bytes = 10;
    let channel = Channel::new(endpoint, Rc::default());
    let calling = async {
        channel.connect(Duration::from_secs(10)).await.unwrap();
        calls(&channel).await;
    };
    tokio::select! {
        () = calling => {}
        () = serve(&listener, answer) => {}
    }
}

fn ok() -> Response<()> {
    let response = Response::builder().header("content-type", "application/grpc");
    response.body(()).unwrap()
}

fn send(mut response: SendResponse<Bytes>, messages: &[&[u8]], trailers: &[(&'static str, &str)]) {
    let mut body = response.send_response(ok(), false).unwrap();
    for message in messages {
        let framed = [&prefix(message.len())[..], message].concat();
        body.send_data(framed.into(), false).unwrap();
    }
    let trailers = trailers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    body.send_trailers(trailers.collect::<HeaderMap>()).unwrap();
}

#[tokio::test]
async fn a_unary_call_has_a_message_or_a_status() {
    let answer = |request: Request<h2::RecvStream>, mut response: SendResponse<Bytes>| {
        let what = request
            .headers()
            .get("x-what")
            .map(|what| what.to_str().unwrap().to_owned());
        match what.as_deref().unwrap_or_default() {
            "long" => send(response, &[b"more than ten"], &[("grpc-status", "0")]),
            "failed" => send(
                response,
                &[],
                &[("grpc-status", "5"), ("grpc-message", "no%20way")],
            ),
            "two" => send(response, &[b"1", b"2"], &[("grpc-status", "0")]),
            "none" => send(response, &[], &[("grpc-status", "0")]),
            "unfinished" => send(response, &[b"1"], &[]),
            "reset" => response.send_reset(Reason::CANCEL),
            "foreign" => {
                let foreign = Response::builder().status(503).body(()).unwrap();
                response.send_response(foreign, true).unwrap();
            }
            _ => send(response, &[b"answer"], &[("grpc-status", "0"), ("x-more", "yes")]),
        }
    };
    against(answer, async |channel| {
        let reply = channel.unary(&head_of(&[]), b"request").await;
        assert_eq!((reply.failure, reply.message.as_deref()), (None, Some(&b"answer"[..])));
        assert_eq!(reply.trailers.iter().collect::<Vec<_>>(), [("x-more", &b"yes"[..])]);
        for (what, code, text) in [
            ("long", Code::ResourceExhausted, "grpc: received message larger than max (13 vs. 10)"),
            ("failed", Code::NotFound, "no way"),
            (
                "two",
                Code::Internal,
                "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message",
            ),
            (
                "none",
                Code::Internal,
                "cardinality violation: received no response message from non-server-streaming RPC",
            ),
            ("unfinished", Code::Internal, "server closed the stream without sending trailers"),
            ("reset", Code::Cancelled, "stream terminated by RST_STREAM with error code: CANCEL"),
            (
                "foreign",
                Code::Unavailable,
                "unexpected HTTP status code received from server: 503 (Service Unavailable); malformed header: missing \
                 HTTP content-type",
            ),
        ] {
            let reply = channel.unary(&head_of(&[("x-what", what)]), b"").await;
            assert_eq!(reply.failure, Some(Status::new(code, text)), "{what}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_lost_connection_is_made_again_and_a_closed_channel_ends_its_calls() {
    let answer = |_, response| send(response, &[b"a"], &[("grpc-status", "0")]);
    against(answer, async |channel| {
        for _ in 0..3 {
            let reply = channel.unary(&head_of(&[("x-last", "1")]), b"").await;
            assert_eq!(reply.failure, None);
        }
        channel.close();
        let reply = channel.unary(&head_of(&[]), b"").await;
        assert_eq!(reply.failure.map(|failure| failure.code), Some(Code::Cancelled));
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let channel = Channel::new(Endpoint::new("127.0.0.1", port, Arc::default()), Rc::default());
    let error = channel.connect(Duration::from_secs(10)).await.unwrap_err();
    let expected = format!(
        "connection error: desc = \"transport: error while dialing: dial tcp 127.0.0.1:{port}: connect: connection refused\""
    );
    assert_eq!(error.to_string(), expected);
}
