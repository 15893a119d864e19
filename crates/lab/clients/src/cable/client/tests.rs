//! A consumer with a scripted server on a real socket.

use std::sync::{Arc, Mutex};

use tokio::{join, sync::Notify};

use super::*;
use crate::{
    cause::{Cause, Phase},
    test_peer::{Got, Peer, Session, frame},
};

const ID: &str = r#"{"channel":"ChatChannel"}"#;
const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(3600);

fn message(json: &str) -> String {
    plimsoll_cable::reply::encode_message(ID, json)
}

async fn connected(inbox_capacity: usize) -> (Session, Client) {
    let (peer, websocket) = Peer::bind().await;
    let options = Options {
        websocket,
        inbox_capacity,
    };
    let welcome = frame(plimsoll_websocket::Opcode::Text, br#"{"type":"welcome"}"#);
    let (session, client) = join!(peer.accept_websocket(&welcome), Client::connect(&options));
    (session, client.unwrap().0)
}

/// The answers to the first command, one by one; `{ID}` stands for the identifier.
async fn answer(session: &mut Session, answers: &[&str]) -> Got {
    let got = session.next().await;
    for it in answers {
        session.send(&it.replace("{ID}", &ID.replace('"', "\\\""))).await;
    }
    got
}

#[tokio::test(start_paused = true)]
async fn connecting_needs_a_welcome() {
    let (peer, websocket) = Peer::bind().await;
    let options = Options::new(websocket);
    let (_session, outcome) = join!(peer.accept_websocket(b""), Client::connect(&options));
    assert_eq!(outcome.unwrap_err().cause(), Cause::TimedOut(Phase::Welcome));
}

#[tokio::test]
async fn a_refusal_instead_of_the_welcome_is_told() {
    let (peer, websocket) = Peer::bind().await;
    let options = Options::new(websocket);
    let refusal = br#"{"type":"disconnect","reason":"unauthorized","reconnect":false}"#;
    let refusal = frame(plimsoll_websocket::Opcode::Text, refusal);
    let (_session, outcome) = join!(peer.accept_websocket(&refusal), Client::connect(&options));
    assert_eq!(
        outcome.unwrap_err().cause(),
        Cause::Disconnected("unauthorized".into())
    );
}

#[tokio::test]
async fn subscriptions_are_confirmed_or_rejected() {
    let (mut session, mut client) = connected(9).await;
    let confirm = r#"{"type":"confirm_subscription","identifier":"{ID}"}"#;
    let others = [
        r#"{"type":"ping","message":1}"#,
        r#"{"type":"reject_subscription","identifier":"other"}"#,
        confirm,
    ];
    let (got, outcome) = join!(answer(&mut session, &others), client.subscribe(ID, LONG));
    assert!(outcome.is_ok());
    assert_eq!(got, Got::Text(encode_subscribe(ID)));
    assert_eq!(client.counters().n_pings, 1);

    let reject = [r#"{"type":"reject_subscription","identifier":"{ID}"}"#];
    let (_, outcome) = join!(answer(&mut session, &reject), client.subscribe(ID, LONG));
    assert_eq!(
        outcome,
        Err(SubscribeError::Rejected {
            identifier: ID.into()
        })
    );

    let (_, outcome) = join!(answer(&mut session, &[]), client.subscribe(ID, SHORT));
    assert_eq!(
        outcome,
        Err(SubscribeError::TimedOut {
            identifier: ID.into(),
            after: SHORT
        })
    );
}

#[tokio::test]
async fn receive_finds_what_matches_now_or_later() {
    let (mut session, mut client) = connected(9).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observed = Arc::clone(&seen);
    client.observe(move |it| {
        observed
            .lock()
            .unwrap()
            .push((it.identifier.to_owned(), it.message.to_owned()));
    });
    for json in ["1", "2", "3"] {
        session.send(&message(json)).await;
    }
    let got = client.receive(|it| it == "2", LONG).await.unwrap();
    assert_eq!(got.message, "2");
    assert_eq!(
        client.receive(|it| it == "1", SHORT).await,
        Err(ReceiveError::TimedOut { after: SHORT })
    );
    let later = async {
        client.pause(SHORT).await;
        client.receive(|_| true, LONG).await.unwrap().at
    };
    let large = message(r#"{"n":9007199254740993}"#);
    let (at, ()) = join!(later, session.send(&large));
    assert!(at > got.at);
    let seen: Vec<_> = seen
        .lock()
        .unwrap()
        .iter()
        .map(|(_, message)| message.clone())
        .collect();
    assert_eq!(seen, ["1", "2", "3", r#"{"n":9007199254740993}"#]);
}

#[tokio::test]
async fn a_pause_receives_and_a_full_inbox_drops_the_oldest() {
    let (mut session, mut client) = connected(2).await;
    let all_seen = Arc::new(Notify::new());
    let observed = Arc::clone(&all_seen);
    client.observe(move |it| {
        if it.message == "3" {
            observed.notify_one();
        }
    });
    for json in ["1", "2", "3"] {
        session.send(&message(json)).await;
    }
    client.listen_while(all_seen.notified()).await;
    assert_eq!(client.counters().n_dropped, 1);
    for expected in ["2", "3"] {
        assert_eq!(
            client.receive(|_| true, Duration::ZERO).await.unwrap().message,
            expected
        );
    }
}

#[tokio::test]
async fn perform_sends_what_rails_sends() {
    let (mut session, mut client) = connected(9).await;
    let (sent, got) = join!(
        client.perform(ID, "speak", r#" {"message":"hi"} "#),
        session.next()
    );
    assert!(sent.is_ok());
    let command =
        r#"{"command":"message","identifier":"{ID}","data":"{\"message\":\"hi\",\"action\":\"speak\"}"}"#;
    assert_eq!(got, Got::Text(command.replace("{ID}", &ID.replace('"', "\\\""))));
    for bad in ["", "[]", "1", "{", "{}}", "null"] {
        let error = client.perform(ID, "speak", bad).await.unwrap_err();
        assert!(
            matches!(error, PerformError::NotAnObject { .. }),
            "{bad}: {error}"
        );
    }
    assert_eq!(with_action("a\"b", "{ }").unwrap(), r#"{"action":"a\"b"}"#);
}

#[tokio::test]
async fn a_disconnect_is_remembered() {
    let (mut session, mut client) = connected(9).await;
    session.send(&message("1")).await;
    session
        .send(r#"{"type":"disconnect","reason":"server_restart","reconnect":true}"#)
        .await;
    while client.ending().is_none() {
        client.pause(SHORT).await;
    }
    let ending = Ending::Disconnected {
        reason: "server_restart".into(),
        reconnect: true,
    };
    assert_eq!(client.ending(), Some(&ending));
    assert!(
        client.receive(|_| true, LONG).await.is_ok(),
        "what had arrived is still there"
    );
    assert_eq!(
        client.receive(|_| true, LONG).await,
        Err(ReceiveError::Ended(ending.clone()))
    );
    assert_eq!(
        client.subscribe(ID, LONG).await,
        Err(SubscribeError::Ended(ending.clone()))
    );
    assert_eq!(
        client.perform(ID, "speak", "{}").await,
        Err(PerformError::Ended(ending))
    );
}

#[tokio::test]
async fn nonsense_ends_the_client() {
    let (mut session, mut client) = connected(9).await;
    session.send("hello").await;
    assert_eq!(
        client
            .receive(|_| true, LONG)
            .await
            .unwrap_err()
            .to_string()
            .split(':')
            .next(),
        Some("not an Action Cable message")
    );
}
