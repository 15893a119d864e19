//! Sessions in msgpack and protocol buffers: only binary messages are sent and received.

use plimsoll_cable::{
    encoding::{Content, Encoding},
    subprotocol::{BASE_MSGPACK, BASE_PROTOBUF, EXTENDED_MSGPACK},
};
use plimsoll_websocket::Opcode;
use serde_json::value::RawValue;

use super::scene::{ID, LONG, Scene, escaped, idle, message};
use crate::{
    cable::{ConnectError, Ending, check_agreed},
    test_peer::{Got, Peer, frame},
    websocket,
};

/// A session in msgpack after its welcome. The server uses a codec.
async fn msgpack(protocol: &str) -> Scene {
    Scene::open(protocol, r#"{"type":"welcome","sid":"s1"}"#, None).await
}

/// Checks the client's next message, as JSON.
async fn says(scene: &mut Scene, expected: &str) {
    let Got::Binary(got) = scene.peer.next().await else {
        panic!("expected {expected}");
    };
    let json = Encoding::Msgpack
        .reply_json(Content::Binary(&got), false)
        .unwrap();
    assert_eq!(json.replace(&escaped(), "{ID}"), expected);
}

async fn hears(scene: &mut Scene, json: &str) {
    scene.peer.write(&message(BASE_MSGPACK, json)).await;
}

#[tokio::test]
async fn commands_and_messages_are_binary() {
    let mut scene = msgpack(BASE_MSGPACK).await;
    let channel = scene.session.subscribe(ID).await.unwrap();
    says(&mut scene, r#"{"command":"subscribe","identifier":"{ID}"}"#).await;
    hears(
        &mut scene,
        r#"{"type":"confirm_subscription","identifier":"{ID}"}"#,
    )
    .await;
    let confirmed = channel.confirmed(LONG);
    scene.reading(confirmed).await.unwrap();
    channel.perform(r#"{"action":"a"}"#).await.unwrap();
    says(
        &mut scene,
        r#"{"command":"message","identifier":"{ID}","data":"{\"action\":\"a\"}"}"#,
    )
    .await;
    hears(
        &mut scene,
        r#"{"identifier":"{ID}","message":{"n":1.0,"id":18446744073709551615}}"#,
    )
    .await;
    assert_eq!(
        scene.search(&channel, 1, r#"{"n":1}"#, idle(3600)).await,
        [r#"{"n":1.0,"id":18446744073709551615}"#]
    );
    assert_eq!(scene.session.totals().n_messages_in, 2);
}

#[tokio::test]
async fn the_extended_protocol_in_msgpack_answers_pings() {
    let mut scene = msgpack(EXTENDED_MSGPACK).await;
    hears(&mut scene, r#"{"type":"ping","message":1}"#).await;
    scene.read_until(|session| session.totals().n_pings == 1).await;
    says(&mut scene, r#"{"command":"pong"}"#).await;
    assert_eq!(scene.session.sid(), Some("s1"));
}

#[tokio::test]
async fn text_ends_a_session_in_msgpack() {
    let mut scene = msgpack(BASE_MSGPACK).await;
    scene.hears(r#"{"type":"ping"}"#).await;
    let ending = loop {
        if let Err(ending) = scene.reader.read().await {
            break ending;
        }
    };
    let expected = "expected a binary message in msgpack, got a text message";
    assert_eq!(ending, Ending::Protocol(expected.into()));
}

#[tokio::test]
async fn commands_in_protobuf_are_those_of_its_schema() {
    let (listener, mut options) = Peer::bind().await;
    options.protocols = vec![BASE_PROTOBUF.to_owned()];
    let client = async {
        let (connection, _) = websocket::connect(&options, &super::Rc::default()).await.unwrap();
        super::Session::open(connection, LONG, None).await.unwrap()
    };
    let server = async {
        let mut peer = listener.accept().await;
        let mut answer = peer.answer(Some(BASE_PROTOBUF));
        // The type welcome.
        answer.extend(frame(Opcode::Binary, b"\x08\x01"));
        peer.write(&answer).await;
        peer
    };
    let (mut peer, (session, _reader)) = tokio::join!(server, client);
    let channel = session.subscribe("i").await.unwrap();
    assert_eq!(peer.next().await, Got::Binary(b"\x10\x01\x1a\x01i".to_vec()));
    channel.whisper(RawValue::TRUE).await.unwrap();
    assert_eq!(
        peer.next().await,
        Got::Binary(b"\x10\x06\x1a\x01i\x22\x04true".to_vec())
    );
    assert_eq!(session.ending(), None);
    channel.perform("{}").await.unwrap();
    assert_eq!(
        peer.next().await,
        Got::Binary(b"\x10\x03\x1a\x01i\x22\x02{}".to_vec())
    );
}

#[tokio::test]
async fn a_server_that_agrees_to_nothing_speaks_json() {
    let (listener, mut options) = Peer::bind().await;
    options.protocols = vec![BASE_MSGPACK.to_owned()];
    let traffic = super::Rc::default();
    let (_peer, connected) = tokio::join!(
        listener.accept_websocket(b""),
        websocket::connect(&options, &traffic)
    );
    let (connection, _) = connected.unwrap();
    let offered = |name| plimsoll_cable::subprotocol::Dialect::named(name).unwrap();
    let error = check_agreed(&connection, offered(BASE_MSGPACK)).unwrap_err();
    assert!(
        matches!(&error, ConnectError::NotAgreed { chosen, .. } if chosen == "none"),
        "{error}"
    );
    assert!(check_agreed(&connection, offered("actioncable-v1-json")).is_ok());
}
