//! Records in JetStream with a real NATS server.

use std::cmp::Ordering;

use plimsoll_nats::{Header, header};

use super::{
    super::{read::Chained, records::Entry},
    *,
};
use crate::records::{Attempt, Record as Session, RecordStore, scenarios};

/// Two servers that share sessions, and what they share them in.
fn two_servers() -> (Nats, Node, Node) {
    let nats = Nats::start();
    let (a, b) = (Node::start(nats.settings()), Node::start(nats.settings()));
    (nats, a, b)
}

#[tokio::test]
async fn a_record_that_was_left_is_taken_once() {
    let (_nats, a, b) = two_servers();
    scenarios::a_record_that_was_left_is_taken_once(&a.broker, &b.broker).await;
}

#[tokio::test]
async fn a_record_that_many_ask_for_is_taken_once() {
    let (_nats, a, b) = two_servers();
    scenarios::a_record_that_many_ask_for_is_taken_once(&a.broker, &b.broker).await;
}

#[tokio::test]
async fn a_record_lives_as_its_server_says() {
    let (_nats, a, b) = two_servers();
    scenarios::a_record_lives_as_its_server_says(&a.broker, &b.broker).await;
}

#[tokio::test]
async fn a_server_is_asked_to_leave_a_record_that_it_holds() {
    let (_nats, mut a, b) = two_servers();
    scenarios::a_server_is_asked_to_leave_a_record_that_it_holds(&a.broker, &mut a.news, &b.broker).await;
}

#[tokio::test]
async fn a_record_of_a_server_that_is_gone_is_taken() {
    let (_nats, a, b) = two_servers();
    let broker = a.broker.clone();
    scenarios::a_record_of_a_server_that_is_gone_is_taken(broker, || drop(a), &b.broker).await;
}

#[tokio::test]
async fn a_server_that_seemed_gone_learns_that_its_record_was_taken() {
    let (_nats, mut a, b) = two_servers();
    let gone = (&a.broker, &*a.broker.shared.name);
    scenarios::a_server_that_seemed_gone_learns_that_its_record_was_taken(gone, &mut a.news, &b.broker).await;
}

#[tokio::test]
async fn records_of_a_guard_are_revoked_and_later_ones_are_not() {
    let (_nats, a, b) = two_servers();
    scenarios::records_of_a_guard_are_revoked_and_later_ones_are_not(&a.broker, &b.broker, async {}).await;
}

#[tokio::test]
async fn nothing_is_left_of_a_record_that_is_gone_or_too_long() {
    let nats = Nats::start();
    let node = Node::start(nats.settings());
    let session = |n_bytes| Session {
        guard: "kay".into(),
        content: vec![b'x'; n_bytes],
    };
    let sessions = node.broker.shared.sessions.as_ref().expect("there are sessions");
    for end in ["lost", "removed", "too-long"] {
        node.broker.hold(end, session(1));
        node.broker.confirm_records().await;
        assert!(sessions.ends.get(end).is_some(), "{end}");
        match end {
            "lost" => {
                node.ask("$JS.API.STREAM.PURGE.test-sessions", &[], "").await;
                node.broker.remove(end);
            }
            "removed" => node.broker.remove(end),
            _ => node.broker.hold(end, session(2 << 20)),
        }
        node.broker.confirm_records().await;
        assert_eq!(sessions.ends.get(end), None, "{end}");
        assert_eq!(node.broker.take(end, None).await, Ok(None), "{end}");
    }
}

#[tokio::test]
async fn a_record_outlives_a_server_that_is_killed_and_comes_back() {
    let (mut nats, a, b) = two_servers();
    let session = Session {
        guard: "kay".into(),
        content: b"1".to_vec(),
    };
    a.broker.hold("k", session.clone());
    a.broker.confirm_records().await;
    nats.process.kill();
    a.broker.leave("k", session.clone());
    nats.process.restart();
    let taken = async {
        loop {
            match b.broker.take("k", None).await {
                Ok(taken) => return taken,
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    };
    let taken = timeout(PATIENCE, taken).await.expect("NATS is back");
    assert_eq!(taken, Some(session));
}

#[tokio::test]
async fn a_change_that_was_written_at_the_same_time_as_another_one_does_not_count() {
    let nats = Nats::start();
    let node = Node::start(nats.settings());
    let broker = &node.broker;
    let session = Session {
        guard: "kay".into(),
        content: b"1".to_vec(),
    };
    broker.leave("k", session.clone());
    broker.confirm_records().await;
    // What JetStream with several replicas may do: it stores two changes that follow the same message.
    broker.shared.is_replicated.store(true, Relaxed);
    let subject = broker.shared.subjects.record("k");
    for change in ["held someone 1 1 3", "left - 1 1 3"] {
        node.ask(&subject, &[("Plimsoll-Record", change)], "kay1").await;
    }
    let owned = Attempt::Owned("someone".to_owned());
    assert_eq!(broker.attempt("k", None, None).await, Ok(owned));
    let taken = Attempt::Taken {
        record: session,
        since: 1,
    };
    assert_eq!(broker.attempt("k", None, Some("someone")).await, Ok(taken));
    assert_eq!(broker.is_taken("k").await, Ok(true));
}

#[tokio::test]
async fn a_change_counts_only_while_the_store_shows_that_it_was_first() {
    let nats = Nats::start();
    let node = Node::start(nats.settings());
    let broker = &node.broker;
    broker.leave("k", Session::default());
    broker.confirm_records().await;
    broker.shared.is_replicated.store(true, Relaxed);
    let subject = broker.shared.subjects.record("k");
    let change = "taken - 1 1 0";
    let (n_kept, first) = (8_u64, 2);
    let entry = Entry::read(&Header::read(&header(&[("Plimsoll-Record", change)])));
    let entry = entry.expect("it is a change");
    for number in first..first + 2 * n_kept {
        node.ask(&subject, &[("Plimsoll-Record", change)], "").await;
        let oldest = first.max((number + 1).saturating_sub(n_kept));
        for asked in first..=number {
            let expected = match asked.cmp(&oldest) {
                Ordering::Less => None,
                Ordering::Equal => Some(true),
                Ordering::Greater => Some(false),
            };
            let is_first = broker.is_first(&subject, &entry, asked).await;
            assert_eq!(is_first, Ok(expected), "{asked} of {number}");
        }
    }
}
