//! Endings of sessions.

use plimsoll_websocket::CloseCode;
use tokio::join;

use super::scene::Scene;
use crate::{
    cable::Ending,
    cause::Cause,
    test_peer::{Got, close},
    websocket::Conversation,
};

#[tokio::test]
async fn the_servers_disconnect_and_its_close_code_are_known() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    scene
        .hears(r#"{"type":"disconnect","reason":"remote","reconnect":true}"#)
        .await;
    scene.hears_messages(&["1"]).await;
    scene
        .peer
        .write(&close(CloseCode::NORMAL, "Closed remotely"))
        .await;
    let ended = loop {
        if let Err(ending) = scene.reader.read().await {
            break ending;
        }
    };
    let expected = Ending::Disconnected {
        reason: "remote".into(),
        reconnect: true,
    };
    assert_eq!(ended, expected);
    assert_eq!(scene.session.ended().await, expected);
    assert_eq!(scene.session.close_code(), Some(1000));
    assert_eq!(channel.n_messages(), 0);
    assert_eq!(channel.perform("{}").await, Err(expected));
}

#[tokio::test]
async fn a_disconnect_without_a_close_is_waited_for_a_second() {
    let mut scene = Scene::base().await;
    scene
        .hears(r#"{"type":"disconnect","reason":"remote","reconnect":true}"#)
        .await;
    scene.reader.read().await.unwrap();
    tokio::time::pause();
    let started = tokio::time::Instant::now();
    let outcome = scene.reader.read().await;
    assert_eq!(outcome.unwrap_err().cause(), Cause::Disconnected("remote".into()));
    assert_eq!(started.elapsed().as_secs(), Conversation::CLOSE_TIMEOUT.as_secs());
}

#[tokio::test]
async fn what_is_no_action_cable_ends_the_session() {
    let mut scene = Scene::base().await;
    scene.hears("nonsense").await;
    while scene.reader.read().await.is_ok() {
        scene.peer.write(&close(CloseCode::NORMAL, "")).await;
    }
    assert_eq!(scene.session.ending().unwrap().cause(), Cause::Protocol);
}

#[tokio::test]
async fn leaving_says_close_and_keeps_what_has_arrived() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    scene.hears_messages(&["1"]).await;
    scene.read_until(|_| channel.has_messages()).await;
    let goodbye = async {
        let got = scene.peer.next().await;
        scene.peer.write(&close(CloseCode::NORMAL, "")).await;
        drop(scene.peer);
        got
    };
    let ((), got) = join!(scene.session.disconnect(), goodbye);
    assert_eq!(got, Got::Close(Some((1000, String::new()))));
    assert_eq!(scene.reader.read().await, Err(Ending::Left));
    assert!(channel.has_messages());
    assert_eq!(channel.perform("{}").await, Err(Ending::Left));
    scene.session.disconnect().await;
}

#[tokio::test]
async fn without_a_reader_there_is_no_session() {
    let mut scene = Scene::base().await;
    drop(scene.reader);
    assert_eq!(scene.peer.next().await, Got::End);
    assert_eq!(scene.session.ending(), Some(Ending::Left));
}
