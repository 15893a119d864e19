//! Connections against a scripted server on a real socket.

use std::{future::poll_fn, time::Duration};

use plimsoll_websocket::{CloseCode, DecodeError, Event, Opcode};
use tokio::join;

use super::*;
use crate::{
    cause::{Cause, Phase},
    test_peer::{Got, Peer, close, frame},
};

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
    assert_eq!(timings.total(), timings.tcp_connect + timings.upgrade);
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
async fn reading_into_the_callers_buffer_hands_out_every_event() {
    let (mut session, mut connection) = connected(&frame(Opcode::Text, b"early")).await;
    let mut bytes = frame(Opcode::Text, b"a");
    bytes.extend(frame(Opcode::Ping, b""));
    bytes.extend(frame(Opcode::Binary, b"b"));
    bytes.extend(close(CloseCode::GOING_AWAY, "bye"));
    session.write(&bytes).await;
    let mut scratch = [0; 7];
    let mut events = Vec::new();
    let ending = loop {
        let mut note = |_, event: Event<'_>| events.push(format!("{event:?}"));
        if let Err(ending) = poll_fn(|cx| connection.poll_receive(cx, &mut scratch, &mut note)).await {
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
    assert_eq!(session.next().await, Got::Close(Some(1001)));
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
        assert_eq!(session.next().await, Got::Close(Some(code)));
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
async fn closing_waits_for_the_server() {
    let (mut session, mut connection) = connected(b"").await;
    let server = async {
        assert_eq!(session.next().await, Got::Close(Some(1000)));
        session.write(&close(CloseCode::NORMAL, "")).await;
        drop(session);
    };
    join!(server, connection.close(Duration::from_secs(3600)));
}

#[tokio::test(start_paused = true)]
async fn closing_gives_up_on_a_deaf_server() {
    let (_session, mut connection) = connected(b"").await;
    let started = tokio::time::Instant::now();
    connection.close(Duration::from_secs(1)).await;
    assert_eq!(started.elapsed().as_secs(), 1);
}
