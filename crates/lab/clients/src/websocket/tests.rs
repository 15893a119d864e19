//! Connections against a scripted server on a real socket.

use std::{future::poll_fn, ops::ControlFlow, rc::Rc, sync::Arc, time::Duration};

use plimsoll_websocket::{CloseCode, DecodeError, Event, Opcode};
use tokio::join;

use super::*;
use crate::{
    cause::{Cause, Phase},
    target::Target,
    test_peer::{Got, Peer, close, compressed, frame},
    tls::{Believe, Tls, TlsOptions},
};

/// Connects without counting bytes.
async fn connect(options: &Options) -> Result<(Connection, Timings), ConnectError> {
    super::connect(options, &Rc::default()).await
}

/// A server that has sent `first_bytes` with its 101, and a client of it.
async fn connected(first_bytes: &[u8]) -> (crate::test_peer::Session, Connection) {
    let (peer, options) = Peer::bind().await;
    let (session, connection) = join!(peer.accept_websocket(first_bytes), connect(&options));
    (session, connection.unwrap().0)
}

fn text(payload: &str) -> Payload {
    Payload::Text(payload.to_owned())
}

#[tokio::test]
async fn the_request_says_what_the_options_say() {
    let (peer, mut options) = Peer::bind().await;
    options.origin = Some("http://0.0.0.0".into());
    options.protocols = vec!["actioncable-v1-json".into(), "b".into()];
    options.headers = vec![("Cookie".into(), "uid=a/1".into())];
    let server = async {
        let mut session = peer.accept().await;
        let answer = session.answer(Some("b"));
        session.write(&answer).await;
        session
    };
    let (session, connection) = join!(server, connect(&options));
    let (connection, timings) = connection.unwrap();
    assert_eq!(connection.protocol(), Some("b"));
    assert_eq!(timings.total(), timings.tcp_connect + timings.upgrade, "no TLS");
    assert!(timings.tcp_connect > Duration::ZERO && timings.upgrade > Duration::ZERO);
    for line in [
        "GET /cable?a=1 HTTP/1.1\r\n",
        "Origin: http://0.0.0.0\r\n",
        "Sec-WebSocket-Protocol: actioncable-v1-json, b\r\n",
        "Cookie: uid=a/1\r\n",
    ] {
        assert!(
            session.request.contains(line),
            "{line} not in {}",
            session.request
        );
    }
}

#[tokio::test]
async fn each_way_to_fail_has_its_cause() {
    async fn check(answer: &[u8], expected: Cause) {
        let (peer, options) = Peer::bind().await;
        let server = async {
            peer.accept().await.write(answer).await;
        };
        let ((), outcome) = join!(server, connect(&options));
        let error = outcome.unwrap_err();
        assert_eq!(error.cause(), expected, "{error}");
    }
    check(b"HTTP/1.1 403 Forbidden\r\n\r\nno", Cause::Status(403)).await;
    check(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", Cause::Handshake).await;
    check(b"SSH-2.0-OpenSSH_9.9\r\n\r\n", Cause::Handshake).await;
    check(b"HTTP/1.1 101", Cause::Ended).await;
    check(b"", Cause::Ended).await;
}

#[tokio::test]
async fn a_refused_connection_is_told() {
    let (peer, options) = Peer::bind().await;
    drop(peer);
    let error = connect(&options).await.unwrap_err();
    assert_eq!(error.cause(), Cause::Refused);
    assert!(error.to_string().starts_with("connect to 127.0.0.1:"), "{error}");
}

#[tokio::test]
async fn the_second_address_is_tried() {
    let (dead, dead_options) = Peer::bind().await;
    drop(dead);
    let (peer, mut options) = Peer::bind().await;
    options.addresses.insert(0, dead_options.addresses[0]);
    let (_session, connection) = join!(peer.accept_websocket(b""), connect(&options));
    assert!(connection.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_runs_into_the_deadline() {
    let (peer, mut options) = Peer::bind().await;
    options.deadline = Duration::from_secs(7);
    let (_session, outcome) = join!(peer.accept(), connect(&options));
    let error = outcome.unwrap_err();
    assert_eq!(error.cause(), Cause::TimedOut(Phase::Upgrade));
    assert_eq!(error.to_string(), "timed out after 7s in the HTTP upgrade");
}

#[tokio::test]
async fn messages_come_in_order_however_they_were_cut() {
    let mut stream = frame(Opcode::Text, b"one");
    stream.extend(frame(Opcode::Binary, &[0, 255]));
    stream.extend(frame(Opcode::Ping, b"?"));
    stream.extend(frame(Opcode::Text, "größer".as_bytes()));
    let expected = [text("one"), Payload::Binary(vec![0, 255]), text("größer")];
    for n_with_handshake in 0..=stream.len() {
        let (first, rest) = stream.split_at(n_with_handshake);
        let (mut session, mut connection) = connected(first).await;
        session.write(rest).await;
        for payload in &expected {
            assert_eq!(&connection.next_message().await.unwrap().payload, payload);
        }
        assert_eq!(session.next().await, Got::Pong(b"?".to_vec()));
        let counters = connection.counters();
        assert_eq!((counters.n_messages_in, counters.n_pings), (3, 1));
        assert_eq!(counters.bytes_in, stream.len() as u64);
    }
}

#[tokio::test]
async fn a_message_larger_than_any_buffer_arrives_whole() {
    let large = "x".repeat(300_000);
    let (mut session, mut connection) = connected(b"").await;
    let ((), message) = join!(session.send(&large), connection.next_message());
    assert_eq!(message.unwrap().payload, Payload::Text(large.clone()));
    let (sent, got) = join!(connection.send_text(&large), session.next());
    assert!(sent.is_ok() && got == Got::Text(large));
    assert_eq!(connection.counters().n_messages_out, 1);
}

#[tokio::test]
async fn a_small_buffer_hands_out_every_event() {
    let (mut session, mut connection) = connected(&frame(Opcode::Text, b"early")).await;
    let mut bytes = frame(Opcode::Text, b"a");
    bytes.extend(frame(Opcode::Ping, b""));
    bytes.extend(frame(Opcode::Binary, b"b"));
    bytes.extend(close(CloseCode::GOING_AWAY, "bye"));
    session.write(&bytes).await;
    let mut scratch = [0; 7];
    let mut events = Vec::new();
    let ending = loop {
        let mut note = |_, event: Event<'_>| {
            events.push(format!("{event:?}"));
            ControlFlow::Continue(())
        };
        if let Err(ending) = poll_fn(|cx| connection.poll_receive_into(cx, &mut scratch, &mut note)).await {
            connection.answer_ending(&ending);
            break ending;
        }
    };
    assert_eq!(
        events[..4],
        ["Text(\"early\")", "Text(\"a\")", "Ping([])", "Binary([98])"]
    );
    assert_eq!(
        ending,
        ReceiveError::Closed {
            code: Some(1001),
            reason: "bye".into()
        }
    );
    assert_eq!(session.next().await, Got::Pong(vec![]));
    assert_eq!(session.next().await, Got::close(1001));
    assert!(matches!(
        connection.send_text("late").await,
        Err(SendError::Closing)
    ));
}

#[tokio::test]
async fn bad_frames_are_answered_with_the_right_code() {
    async fn check(bytes: &[u8], error: DecodeError, code: u16) {
        let (mut session, mut connection) = connected(bytes).await;
        assert_eq!(
            connection.next_message().await,
            Err(ReceiveError::Protocol(error))
        );
        assert_eq!(session.next().await, Got::close(code));
    }
    check(&frame(Opcode::Text, b"\xff"), DecodeError::InvalidUtf8, 1007).await;
    check(&[0x83, 0], DecodeError::ReservedOpcode(3), 1002).await;
    let too_big = DecodeError::MessageTooBig { max_bytes: 1_000_000 };
    check(&frame(Opcode::Binary, &vec![0; 1_000_001])[..14], too_big, 1009).await;
}

#[tokio::test]
async fn an_ending_without_a_close_frame_is_told() {
    let (session, mut connection) = connected(&frame(Opcode::Text, b"last")).await;
    drop(session);
    assert_eq!(connection.next_message().await.unwrap().payload, text("last"));
    assert_eq!(connection.next_message().await, Err(ReceiveError::Ended));
}

#[tokio::test]
async fn tls_changes_nothing_but_the_time_and_the_bytes() {
    let (peer, options) = Peer::bind_tls().await;
    let traffic = Rc::default();
    let connecting = super::connect(&options, &traffic);
    let early = frame(Opcode::Text, b"early");
    let (mut session, connected) = join!(peer.accept_websocket(&early), connecting);
    let (mut connection, timings) = connected.unwrap();
    assert!(timings.tls_handshake > Duration::ZERO);
    assert!(
        session
            .request
            .contains("GET /cable?a=1 HTTP/1.1\r\nHost: localhost:")
    );
    assert_eq!(connection.next_message().await.unwrap().payload, text("early"));

    let large = "x".repeat(300_000);
    let ((), message) = join!(session.send(&large), connection.next_message());
    assert_eq!(message.unwrap().payload, Payload::Text(large.clone()));
    traffic.take();
    let (sent, got) = join!(connection.send_text(&large), session.next());
    assert!(sent.is_ok() && got == Got::Text(large.clone()));
    let (n_sent, n_received) = traffic.take();
    let n_records = large.len().div_ceil(1 << 14) as u64;
    let n_frame_bytes = connection.counters().bytes_out;
    assert!(
        (n_frame_bytes + 20 * n_records..n_frame_bytes + 40 * n_records).contains(&n_sent),
        "{n_sent} bytes for {n_frame_bytes} in {n_records} records or one more"
    );
    assert_eq!(n_received, 0);

    let bye = async {
        session.write(&close(CloseCode::NORMAL, "")).await;
        assert_eq!(session.next().await, Got::close(1000));
        drop(session);
    };
    let (ending, ()) = join!(connection.next_message(), bye);
    assert_eq!(ending.unwrap_err().cause(), Cause::Closed(Some(1000)));
}

#[tokio::test]
async fn a_tls_server_that_leaves_without_a_word_has_ended() {
    let (peer, options) = Peer::bind_tls().await;
    let (session, connected) = join!(peer.accept_websocket(b""), connect(&options));
    drop(session);
    assert_eq!(
        connected.unwrap().0.next_message().await,
        Err(ReceiveError::Ended)
    );
}

#[tokio::test]
async fn a_server_without_tls_is_told() {
    let (peer, options) = Peer::bind().await;
    let url = options.target.url().replace("ws://", "wss://");
    let target = Target::parse(&url).unwrap();
    let tls = Tls::new(TlsOptions {
        believe: Believe::Anybody,
        ..TlsOptions::default()
    });
    let options = Options {
        target,
        tls: Some(Arc::new(tls.unwrap())),
        ..options
    };
    let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
    let ((), outcome) = join!(peer.answer_anything(answer), connect(&options));
    assert_eq!(outcome.unwrap_err().cause(), Cause::NotTls);
}

#[tokio::test]
async fn messages_are_compressed_when_both_want_it() {
    async fn check(compression: Compression, server_agrees: bool, is_compressed: bool) {
        let (peer, mut options) = Peer::bind().await;
        options.compression = compression;
        let server = async {
            let mut session = peer.accept().await;
            session.accept_deflate(server_agrees).await;
            session
        };
        let (mut session, connected) = join!(server, connect(&options));
        let (mut connection, _) = connected.unwrap();
        assert_eq!(connection.is_deflated(), server_agrees);
        let message = "a".repeat(100);
        for n_sent in 1..=2 {
            connection.send_text(&message).await.unwrap();
            assert_eq!(session.next().await, Got::Text(message.clone()));
            let n_bytes = connection.counters().bytes_out / n_sent;
            assert_eq!(
                n_bytes < 20,
                is_compressed,
                "{compression:?}, {server_agrees}: {n_bytes} bytes"
            );
        }
        if server_agrees {
            session.write(&compressed(&message)).await;
            assert_eq!(connection.next_message().await.unwrap().payload, text(&message));
        }
    }
    check(Compression::Both, true, true).await;
    check(Compression::Both, false, false).await;
    check(Compression::Received, true, false).await;
    check(Compression::Off, false, false).await;
}

#[tokio::test]
async fn pings_and_closes_carry_what_the_caller_says() {
    let (mut session, mut connection) = connected(b"").await;
    connection.queue_ping(b"17").unwrap();
    connection.try_flush();
    assert_eq!(session.next().await, Got::Ping(b"17".to_vec()));
    connection.start_close(CloseCode::new(3001).unwrap(), "enough");
    assert!(!connection.is_open());
    assert_eq!(
        session.next().await,
        Got::Close(Some((3001, "enough".to_owned())))
    );
    connection.start_close(CloseCode::NORMAL, "again");
    assert_eq!(connection.n_unsent_bytes(), 0);
    assert!(matches!(connection.queue_ping(b"18"), Err(SendError::Closing)));
}

#[tokio::test]
async fn an_attempt_tells_what_the_server_answered() {
    async fn check(answer: &str, status: u16, body: &str) {
        let (peer, options) = Peer::bind().await;
        let server = async {
            peer.accept().await.write(answer.as_bytes()).await;
        };
        let traffic = Rc::default();
        let ((), attempt) = join!(server, Attempt::make(&options, &traffic));
        assert!(attempt.outcome.is_err());
        assert_eq!(attempt.remote, Some(options.addresses[0]));
        let response = attempt.response.unwrap();
        assert_eq!(response.head.status, status, "{answer}");
        assert_eq!(response.head.values("a").collect::<Vec<_>>(), ["b"], "{answer}");
        assert_eq!(String::from_utf8(response.body).unwrap(), body, "{answer}");
    }
    check("HTTP/1.1 403 Forbidden\r\nA: b\r\n\r\nno", 403, "no").await;
    check(
        "HTTP/1.1 403 Forbidden\r\nA: b\r\nContent-Length: 1\r\n\r\nno",
        403,
        "n",
    )
    .await;
    let chunked = "HTTP/1.1 404 X\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n";
    check(chunked, 404, "no").await;
    let large = format!("HTTP/1.1 500 X\r\nA: b\r\n\r\n{}", "x".repeat(100_000));
    check(&large, 500, &"x".repeat(64 * 1024)).await;
    check("HTTP/1.1 101 Switching Protocols\r\nA: b\r\n\r\n", 101, "").await;
}

#[tokio::test]
async fn no_body_is_waited_for_where_there_is_none() {
    for status in ["101 Switching Protocols", "204 No Content"] {
        let (peer, options) = Peer::bind().await;
        let server = async {
            let mut session = peer.accept().await;
            session
                .write(format!("HTTP/1.1 {status}\r\nA: b\r\n\r\n").as_bytes())
                .await;
            session
        };
        let traffic = Rc::default();
        let attempt = tokio::time::timeout(Duration::from_secs(5), Attempt::make(&options, &traffic));
        let (_open, attempt) = join!(server, attempt);
        assert_eq!(attempt.expect(status).response.unwrap().body, b"");
    }
}

#[tokio::test]
async fn an_attempt_that_works_has_an_answer_too() {
    let (peer, options) = Peer::bind().await;
    let traffic = Rc::default();
    let early = frame(Opcode::Text, b"early");
    let (_session, attempt) = join!(peer.accept_websocket(&early), Attempt::make(&options, &traffic));
    let head = attempt.response.unwrap().head;
    assert_eq!(head.status, 101);
    assert_eq!(head.values("upgrade").collect::<Vec<_>>(), ["websocket"]);
    let (mut connection, timings) = attempt.outcome.unwrap();
    assert_eq!(timings.started, attempt.started);
    assert!(attempt.took >= timings.total());
    assert_eq!(connection.next_message().await.unwrap().payload, text("early"));
}

#[tokio::test]
async fn an_attempt_without_an_answer_has_none() {
    let (peer, options) = Peer::bind().await;
    drop(peer);
    let attempt = Attempt::make(&options, &Rc::default()).await;
    assert_eq!((attempt.remote, attempt.response), (None, None));
    assert_eq!(attempt.outcome.unwrap_err().cause(), Cause::Refused);
}

#[tokio::test]
async fn the_host_header_can_be_another() {
    let (peer, mut options) = Peer::bind().await;
    options.host = Some("app.example".to_owned());
    let (session, connected) = join!(peer.accept_websocket(b""), connect(&options));
    assert!(connected.is_ok());
    assert!(
        session.request.contains("\r\nHost: app.example\r\n"),
        "{}",
        session.request
    );
}
