//! What only servers with AnyCable's extended protocol can do.

use std::time::Duration;

use serde_json::value::RawValue;
use tokio::join;

use super::scene::{ID, LONG, Scene, with_id};
use crate::{
    cable::{InquiryError, session::Resumption},
    test_peer::Got,
};

#[tokio::test]
async fn pings_are_answered_in_the_extended_protocol_only() {
    for (scene, expected) in [
        (Scene::extended().await, r#"{"command":"pong"}"#),
        (
            Scene::base().await,
            r#"{"command":"subscribe","identifier":"{ID}"}"#,
        ),
    ] {
        let mut scene = scene;
        scene.hears(r#"{"type":"ping","message":1}"#).await;
        scene.read_until(|session| session.totals().n_pings == 1).await;
        let n_commands = scene.session.totals().n_commands;
        scene.session.subscribe(ID).await.unwrap();
        scene.says(expected).await;
        assert_eq!(n_commands, 0);
    }
}

#[tokio::test]
async fn history_begins_at_a_time_or_at_the_last_positions() {
    let (mut scene, channel) = Scene::extended().await.subscribed().await;
    assert_eq!(channel.history(None, LONG).await, Err(InquiryError::NoPosition));
    scene
        .hears(r#"{"identifier":"{ID}","message":1,"stream_id":"s","epoch":"e","offset":7}"#)
        .await;
    scene
        .hears(r#"{"type":"confirm_history","identifier":"{ID}"}"#)
        .await;
    scene
        .read_until(|session| session.totals().n_messages_in == 3)
        .await;
    let positions = r#""streams":{"s":{"offset":7,"epoch":"e"}}"#;
    for (since, asked, answer, expected) in [
        (None, format!("{{{positions}}}"), "confirm_history", true),
        (
            Some(5),
            format!(r#"{{"since":5,{positions}}}"#),
            "reject_history",
            false,
        ),
    ] {
        let answer = with_id(&format!(r#"{{"type":"{answer}","identifier":"{{ID}}"}}"#));
        let Scene {
            peer,
            session,
            reader,
        } = &mut scene;
        let read = async { while reader.read().await.is_ok() {} };
        let talk = async {
            let got = peer.next().await;
            peer.send(&answer).await;
            got
        };
        let (outcome, got) = tokio::select! {
            both = async { join!(channel.history(since, LONG), talk) } => both,
            () = read => panic!("the session ended"),
        };
        let command = format!(r#"{{"command":"history","identifier":"{{ID}}","history":{asked}}}"#);
        assert_eq!(got, Got::Text(with_id(&command)));
        assert_eq!(outcome.unwrap().0, expected);
        assert_eq!(session.sid(), Some("s1"));
    }
    tokio::time::pause();
    let silence = channel.history(None, Duration::from_secs(3));
    let outcome = scene.reading(silence).await;
    assert_eq!(
        outcome,
        Err(InquiryError::TimedOut {
            after: Duration::from_secs(3)
        })
    );
}

#[tokio::test]
async fn presence_and_whispers() {
    let (mut scene, channel) = Scene::extended().await.subscribed().await;
    let info = RawValue::from_string(r#"{"name":"Kay"}"#.to_owned()).unwrap();
    channel.join("7", &info).await.unwrap();
    channel.whisper(&info).await.unwrap();
    channel.leave().await.unwrap();
    for expected in [
        r#"{"command":"join","identifier":"{ID}","presence":{"id":"7","info":{"name":"Kay"}}}"#,
        r#"{"command":"whisper","identifier":"{ID}","data":{"name":"Kay"}}"#,
        r#"{"command":"leave","identifier":"{ID}"}"#,
    ] {
        scene.says(expected).await;
    }
    // Joins and leaves do not go into the inbox, and no observer gets them.
    scene
        .hears(r#"{"type":"presence","identifier":"{ID}","message":{"type":"leave","id":"7"}}"#)
        .await;
    let info = r#"{"type":"info","total":0,"records":[]}"#;
    let Scene {
        peer,
        session,
        reader,
    } = &mut scene;
    let read = async { while reader.read().await.is_ok() {} };
    let talk = async {
        assert_eq!(
            peer.next().await,
            Got::Text(with_id(r#"{"command":"presence","identifier":"{ID}"}"#))
        );
        let answer = format!(r#"{{"type":"presence","identifier":"{{ID}}","message":{info}}}"#);
        peer.send(&with_id(&answer)).await;
    };
    let (answer, ()) = tokio::select! {
        both = async { join!(channel.presence(LONG), talk) } => both,
        () = read => panic!("the session ended"),
    };
    assert_eq!(&*answer.unwrap(), info);
    assert!(!channel.has_messages() && !session.has_events());
}

/// A session that has received message 7 of stream `s`, and its data for the next one.
async fn resumption() -> Resumption {
    let (mut scene, _channel) = Scene::extended().await.subscribed().await;
    scene
        .hears(r#"{"identifier":"{ID}","message":1,"stream_id":"s","epoch":"e","offset":7}"#)
        .await;
    scene
        .read_until(|session| session.totals().n_messages_in == 2)
        .await;
    scene.session.resumption().unwrap()
}

const RESTORED: &str = r#"{"type":"welcome","sid":"s2","restored":true,"restored_ids":["{ID}"]}"#;
const FORGOTTEN: &str = r#"{"type":"welcome","sid":"s2"}"#;
const AFTER_7: &str = r#""history":{"streams":{"s":{"offset":7,"epoch":"e"}}}}"#;

#[tokio::test]
async fn a_resumed_session_goes_on_where_the_last_one_ended() {
    let resumption = resumption().await;
    assert_eq!(resumption.sid(), "s1");
    let mut scene = Scene::open("actioncable-v1-ext-json", RESTORED, Some(resumption)).await;
    assert!(scene.session.is_restored());
    let channel = scene.session.subscribe(ID).await.unwrap();
    channel.confirmed(Duration::ZERO).await.unwrap();
    assert_eq!(scene.session.totals().n_commands, 0);
    let _ = tokio::time::timeout(Duration::ZERO, channel.history(None, LONG)).await;
    scene
        .says(&format!(
            r#"{{"command":"history","identifier":"{{ID}}",{AFTER_7}"#
        ))
        .await;
}

#[tokio::test]
async fn a_restored_subscription_asks_for_what_it_missed_at_once() {
    let mut scene = Scene::open("actioncable-v1-ext-json", RESTORED, Some(resumption().await)).await;
    let channel = scene.session.subscribe_with_history(ID, None).await.unwrap();
    assert!(channel.is_confirmed());
    scene
        .says(&format!(
            r#"{{"command":"history","identifier":"{{ID}}",{AFTER_7}"#
        ))
        .await;
    scene
        .hears(r#"{"type":"confirm_history","identifier":"{ID}"}"#)
        .await;
    let replayed = channel.replayed(LONG);
    assert!(scene.reading(replayed).await.unwrap().0);
}

/// A live message between the welcome and the request must not make the messages before it unknown.
#[tokio::test]
async fn history_asks_from_before_the_gap() {
    let mut scene = Scene::open("actioncable-v1-ext-json", RESTORED, Some(resumption().await)).await;
    let channel = scene.session.subscribe(ID).await.unwrap();
    scene
        .hears(r#"{"identifier":"{ID}","message":1,"stream_id":"s","epoch":"e","offset":10}"#)
        .await;
    scene
        .read_until(|session| session.totals().n_messages_in == 1)
        .await;
    let _ = tokio::time::timeout(Duration::ZERO, channel.history(None, LONG)).await;
    scene
        .says(&format!(
            r#"{{"command":"history","identifier":"{{ID}}",{AFTER_7}"#
        ))
        .await;
    // A session that ends here leaves the position before the gap to the next one.
    assert_eq!(scene.session.resumption().unwrap().sid(), "s2");
    assert_eq!(channel.positions()["s"].offset, 7);
    scene
        .hears(r#"{"identifier":"{ID}","message":1,"stream_id":"s","epoch":"e","offset":8}"#)
        .await;
    scene
        .hears(r#"{"type":"confirm_history","identifier":"{ID}"}"#)
        .await;
    scene
        .read_until(|session| session.totals().n_messages_in == 3)
        .await;
    assert_eq!(channel.positions()["s"].offset, 10);
}

#[tokio::test]
async fn a_session_that_was_not_restored_begins_anew() {
    let mut scene = Scene::open("actioncable-v1-ext-json", FORGOTTEN, Some(Resumption::default())).await;
    assert!(!scene.session.is_restored());
    let channel = scene.session.subscribe_with_history(ID, None).await.unwrap();
    scene.says(r#"{"command":"subscribe","identifier":"{ID}"}"#).await;
    assert_eq!(channel.replayed(LONG).await, Err(InquiryError::NoPosition));
}

#[tokio::test]
async fn a_session_that_was_not_restored_asks_for_what_it_missed() {
    let check = async |since, expected: &str| {
        let mut scene = Scene::open("actioncable-v1-ext-json", FORGOTTEN, Some(resumption().await)).await;
        // The positions of a subscription that is not taken over stay for the session after this one.
        assert_eq!(
            scene
                .session
                .resumption()
                .unwrap()
                .positions_of(ID)
                .streams()
                .len(),
            1
        );
        let channel = scene.session.subscribe_with_history(ID, since).await.unwrap();
        scene
            .says(&format!(
                r#"{{"command":"subscribe","identifier":"{{ID}}",{expected}"#
            ))
            .await;
        for answer in [
            r#"{"type":"confirm_subscription","identifier":"{ID}"}"#,
            r#"{"type":"reject_history","identifier":"{ID}"}"#,
        ] {
            scene.hears(answer).await;
        }
        let replayed = channel.replayed(LONG);
        assert!(!scene.reading(replayed).await.unwrap().0);
        assert!(channel.is_confirmed());
    };
    check(None, AFTER_7).await;
    check(
        Some(5),
        r#""history":{"since":5,"streams":{"s":{"offset":7,"epoch":"e"}}}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_listener_gets_messages_with_their_positions() {
    let (mut scene, channel) = Scene::extended().await.subscribed().await;
    let heard = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let ear = std::rc::Rc::clone(&heard);
    channel.listen(Box::new(move |arrival| {
        let offset = arrival.position.map(|position| position.offset);
        ear.borrow_mut().push((arrival.json.to_owned(), offset));
    }));
    scene
        .hears(r#"{"identifier":"{ID}","message":1,"stream_id":"s","epoch":"e","offset":7}"#)
        .await;
    scene.hears_messages(&["2"]).await;
    scene
        .read_until(|session| session.totals().n_messages_in == 3)
        .await;
    assert_eq!(
        *heard.borrow(),
        [("1".to_owned(), Some(7)), ("2".to_owned(), None)]
    );
    assert!(!channel.has_messages());
}
