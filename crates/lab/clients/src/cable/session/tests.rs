//! A session with a scripted server on a real socket. The virtual clock is only for waits in vain: it does not wait for
//! bytes between two sockets.

mod encodings;
mod endings;
mod extended;
mod scene;

use std::{cell::RefCell, time::SystemTime};

use plimsoll_websocket::Opcode;
use tokio::join;

use self::scene::{ID, LONG, Scene, idle, with_id};
use super::*;
use crate::{
    cable::{Matcher, SubscribeError},
    cause::{Cause, Phase},
    test_peer::{Peer, frame},
    websocket,
};

#[tokio::test]
async fn a_server_that_never_welcomes_is_given_up() {
    let (listener, options) = Peer::bind().await;
    let client = async {
        let (connection, _) = websocket::connect(&options, &Rc::default()).await.unwrap();
        tokio::time::pause();
        Session::open(connection, Duration::from_secs(60), None).await
    };
    let (_peer, outcome) = join!(listener.accept_websocket(b""), client);
    assert_eq!(outcome.unwrap_err().cause(), Cause::TimedOut(Phase::Welcome));
}

#[tokio::test]
async fn messages_go_to_their_channels_while_nobody_waits() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    scene.hears_messages(&[r#"{"a":1}"#, r#"{"a":2}"#]).await;
    scene.hears(r#"{"identifier":"unknown","message":1}"#).await;
    scene.hears(r#"{"type":"ping","message":1}"#).await;
    scene.hears_messages(&[r#""three""#]).await;
    scene
        .read_until(|session| session.totals().n_messages_in == 5)
        .await;
    assert_eq!(channel.n_messages(), 3);
    assert_eq!(
        scene.search(&channel, 1, r#"{"a":2}"#, idle(1)).await,
        [r#"{"a":2}"#]
    );
    assert_eq!(scene.search(&channel, 1, "null", idle(1)).await, [r#""three""#]);
    assert!(!channel.has_messages());
    let totals = scene.session.totals();
    assert_eq!(
        (totals.n_messages_in, totals.n_pings, totals.n_commands),
        (5, 1, 1)
    );
}

#[tokio::test]
async fn a_message_knows_when_it_came() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    let before = SystemTime::now();
    scene.hears_messages(&["1"]).await;
    scene.read_until(|_| channel.has_messages()).await;
    let unix_ms = channel.take().unwrap().unix_ms;
    let earliest = before.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let latest = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    assert!((earliest..=latest).contains(&u128::from(unix_ms)), "{unix_ms}");
    assert_eq!(channel.last_message_at_ms(), Some(unix_ms));
}

#[tokio::test]
async fn every_message_taken_renews_an_idle_patience_but_not_a_window() {
    let (scene, channel) = Scene::base().await.subscribed().await;
    tokio::time::pause();
    for (patience, expected_s) in [(idle(10), 24), (Patience::Window(Duration::from_secs(12)), 12)] {
        let started = tokio::time::Instant::now();
        // Past the socket, for the sake of the clock.
        let talk = async {
            for _ in 0..2 {
                tokio::time::sleep(Duration::from_secs(7)).await;
                let text = with_id(r#"{"identifier":"{ID}","message":{"other":1}}"#);
                scene.session.shared.route(Instant::now(), &text).unwrap();
                scene.session.shared.waiters.wake_all();
            }
        };
        let matcher = Matcher::from_json(r#"{"wanted":1}"#).unwrap();
        let mut search = Search::new(&channel, 1, &matcher, patience);
        let step = async {
            let found = search.run().await;
            (found, started.elapsed().as_secs())
        };
        let (outcome, ()) = join!(step, talk);
        assert_eq!(outcome, (false, expected_s), "{patience:?}");
        while channel.take().is_some() {}
    }
}

#[tokio::test]
async fn a_search_finds_what_came_before_and_what_comes() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    scene.hears_messages(&[r#"{"a":1}"#, r#"{"b":1}"#]).await;
    scene.read_until(|_| channel.n_messages() == 2).await;
    scene.hears_messages(&[r#"{"a":2}"#, r#"{"a":3}"#]).await;
    assert_eq!(
        scene.search(&channel, 2, "{}", idle(1)).await,
        [r#"{"a":1}"#, r#"{"b":1}"#]
    );
    assert_eq!(
        scene.search(&channel, 2, "{}", idle(1)).await,
        [r#"{"a":2}"#, r#"{"a":3}"#]
    );
}

#[tokio::test]
async fn a_search_may_be_for_ever() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    for patience in [Patience::Idle(Duration::MAX), Patience::Window(Duration::MAX)] {
        scene.hears_messages(&["1"]).await;
        assert_eq!(scene.search(&channel, 1, "null", patience).await, ["1"]);
    }
}

#[tokio::test]
async fn an_answer_is_not_older_than_its_question() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    scene.hears_messages(&["1"]).await;
    scene.read_until(|_| channel.has_messages()).await;
    let asked_at = channel.perform(r#"{"action":"echo"}"#).await.unwrap();
    scene
        .says(r#"{"command":"message","identifier":"{ID}","data":"{\"action\":\"echo\"}"}"#)
        .await;
    scene.hears_messages(&["2"]).await;
    let mut search = Search::new(&channel, 1, &Matcher::Any, idle(1)).not_before(asked_at);
    assert!(scene.reading(search.run()).await);
    assert_eq!(&*search.into_found()[0].json, "2");
}

#[tokio::test]
async fn a_rejection_is_forgotten_and_a_late_answer_asked_for_again() {
    let mut scene = Scene::base().await;
    let subscribe = r#"{"command":"subscribe","identifier":"{ID}"}"#;
    let rejected = scene.session.subscribe(ID).await.unwrap();
    scene.says(subscribe).await;
    scene
        .hears(r#"{"type":"reject_subscription","identifier":"{ID}"}"#)
        .await;
    let outcome = scene.reading(rejected.confirmed(LONG)).await;
    assert!(
        matches!(outcome, Err(SubscribeError::Rejected { .. })),
        "{outcome:?}"
    );
    assert!(scene.session.channel(ID).is_none() && rejected.ack_duration().is_some());

    let slow = scene.session.subscribe(ID).await.unwrap();
    scene.says(subscribe).await;
    tokio::time::pause();
    let outcome = scene.reading(slow.confirmed(Duration::from_secs(5))).await;
    tokio::time::resume();
    assert!(
        matches!(outcome, Err(SubscribeError::TimedOut { .. })),
        "{outcome:?}"
    );

    let again = scene.session.subscribe(ID).await.unwrap();
    scene.says(subscribe).await;
    scene
        .hears(r#"{"type":"confirm_subscription","identifier":"{ID}"}"#)
        .await;
    scene.reading(again.confirmed(LONG)).await.unwrap();
    assert!(again.is(&slow));

    let live = scene.session.subscribe(ID).await.unwrap();
    assert!(live.is(&slow));
    assert_eq!(scene.session.totals().n_commands, 3);
}

#[tokio::test]
async fn unsubscribing_ends_a_channel_at_once() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    scene.hears_messages(&["1"]).await;
    scene.read_until(|_| channel.has_messages()).await;
    channel.unsubscribe().await.unwrap();
    scene
        .says(r#"{"command":"unsubscribe","identifier":"{ID}"}"#)
        .await;
    scene.hears_messages(&["2"]).await;
    scene
        .read_until(|session| session.totals().n_messages_in == 3)
        .await;
    assert!(!channel.has_messages());
    assert!(scene.session.channel(ID).is_none());
}

#[tokio::test]
async fn a_full_inbox_stops_the_reading_and_loses_nothing() {
    const N: usize = 5000;
    let (scene, channel) = Scene::base().await.subscribed().await;
    let mut bytes = Vec::new();
    // More than one read takes beyond the capacity.
    let padding = "x".repeat(300);
    for n in 0..N {
        let text = format!(r#"{{"identifier":"{{ID}}","message":{{"n":{n},"p":"{padding}"}}}}"#);
        bytes.extend(frame(Opcode::Text, with_id(&text).as_bytes()));
    }
    let Scene {
        mut peer,
        session,
        mut reader,
    } = scene;
    let numbers = async {
        while session.totals().n_stalls == 0 {
            tokio::task::yield_now().await;
        }
        let n_held = channel.n_messages();
        assert!((2048..2300).contains(&n_held), "{n_held}");
        assert_eq!(session.totals().n_stalls, 1);
        let mut search = Search::new(&channel, N, &Matcher::Any, idle(10));
        assert!(search.run().await);
        search.into_found()
    };
    let read = async { while reader.read().await.is_ok() {} };
    let (found, ()) = tokio::select! {
        both = async { join!(numbers, peer.write(&bytes)) } => both,
        () = read => panic!("the session ended"),
    };
    for (n, message) in found.iter().enumerate() {
        assert!(
            message.json.starts_with(&format!(r#"{{"n":{n},"#)),
            "{}",
            message.json
        );
    }
}

#[tokio::test]
async fn ignored_and_counted_messages_are_not_kept() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    scene.hears_messages(&["1"]).await;
    scene.read_until(|_| channel.has_messages()).await;
    channel.ignore_reads();
    scene.hears_messages(&["2"]).await;
    scene.read_until(|_| channel.n_messages() == 2).await;
    assert!(!channel.has_messages());

    let latencies: Rc<RefCell<Vec<f64>>> = Rc::default();
    let seen = Rc::clone(&latencies);
    channel.observe();
    channel.count_only(Some("ts"), Box::new(move |ms| seen.borrow_mut().push(ms)));
    let now_ms = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    let stamped = format!(r#"{{"ts":{}}}"#, now_ms - 500);
    scene.hears_messages(&[&stamped, r#"{"no":"ts"}"#]).await;
    scene.read_until(|_| channel.n_messages() == 4).await;
    assert!(!channel.has_messages() && !scene.session.has_events());
    let latencies = latencies.borrow();
    assert_eq!(latencies.len(), 1);
    assert!((500.0..60_000.0).contains(&latencies[0]), "{latencies:?}");
}

#[tokio::test]
async fn observers_come_before_the_inbox_and_in_order() {
    let (mut scene, channel) = Scene::base().await.subscribed().await;
    channel.observe();
    channel.observe_presence();
    scene.hears_messages(&["1"]).await;
    scene
        .hears(r#"{"type":"presence","identifier":"{ID}","message":{"type":"join","id":"7"}}"#)
        .await;
    scene.hears_messages(&["2"]).await;
    scene
        .read_until(|session| session.totals().n_messages_in == 4)
        .await;
    assert!(scene.session.has_events() && !channel.has_messages());
    let mut seen = Vec::new();
    while let Some(event) = scene.session.next_event() {
        match event {
            Event::Message(channel, message) => {
                seen.push(message.json.to_string());
                channel.keep(message);
            }
            Event::Presence(_, message) => seen.push(message.json.to_string()),
        }
    }
    assert_eq!(seen, ["1", r#"{"type":"join","id":"7"}"#, "2"]);
    assert_eq!(scene.search(&channel, 2, "null", idle(1)).await, ["1", "2"]);
}
