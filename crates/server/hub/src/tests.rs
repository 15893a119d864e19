//! The hub as its shard uses it, and compared with a plain model.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

mod schedule;

const CAP: usize = 1 << 20;

fn unlimited() -> Rc<Budget> {
    Budget::new(usize::MAX)
}

fn envelope(identifier: Option<&str>, message: &str) -> Vec<u8> {
    format!("{}:{message};", identifier.unwrap_or("-")).into_bytes()
}

fn publish(hub: &mut Hub<&'static str>, stream: &str, message: &str) -> Published {
    publish_except(hub, stream, None, message)
}

fn publish_except(
    hub: &mut Hub<&'static str>,
    stream: &str,
    excluded: Option<SessionId>,
    message: &str,
) -> Published {
    let audience = Audience {
        excluded,
        ..Audience::default()
    };
    hub.publish(stream, audience, (), |identifier, _| {
        envelope(identifier, message)
    })
}

/// Everything that is pending for a session.
fn drain(hub: &mut Hub<&'static str>, id: SessionId) -> String {
    let mut text = String::new();
    let (_, outbox) = hub.get_mut(id).expect("session exists");
    outbox
        .flush(|slices| {
            slices
                .iter()
                .for_each(|slice| text.push_str(std::str::from_utf8(slice).expect("text")));
            Ok(slices.iter().map(|slice| slice.len()).sum())
        })
        .expect("a string takes all");
    text
}

#[test]
fn one_copy_per_identifier_and_none_after_unsubscribing() {
    let mut hub = Hub::new(CAP, unlimited());
    let (a, b) = (hub.insert("a", Format(0)), hub.insert("b", Format(0)));
    assert!(hub.subscribe(a, Some("x"), "all"));
    assert!(hub.subscribe(a, Some("y"), "all"));
    assert!(hub.subscribe(b, None, "all"));
    assert!(!hub.subscribe(a, Some("x"), "all"), "a duplicate adds nothing");

    assert_eq!(publish(&mut hub, "all", "1").n_deliveries, 3);
    assert_eq!(publish(&mut hub, "nobody", "2"), Published::default());
    assert_eq!(
        (drain(&mut hub, a), drain(&mut hub, b)),
        ("x:1;y:1;".into(), "-:1;".into())
    );

    assert!(hub.unsubscribe(a, Some("x"), "all"));
    assert!(!hub.unsubscribe(a, Some("x"), "all"));
    publish(&mut hub, "all", "3");
    assert_eq!(
        (drain(&mut hub, a), drain(&mut hub, b)),
        ("y:3;".into(), "-:3;".into())
    );

    assert_eq!(hub.remove(b), Some("b"));
    assert_eq!(hub.unsubscribe_all(a, Some("y")), 1);
    assert_eq!(
        (hub.n_streams(), hub.identifiers.len()),
        (0, 0),
        "nothing is kept for nobody"
    );
}

#[test]
fn each_identifier_and_format_is_encoded_once() {
    let mut hub: Hub<_> = Hub::new(CAP, unlimited());
    for n in 0..100 {
        let id = hub.insert("c", Format(n % 2));
        hub.subscribe(id, Some(if n < 50 { "x" } else { "y" }), "all");
    }
    let mut n_encoded = 0;
    let published = hub.publish("all", Audience::default(), (), |identifier, _| {
        n_encoded += 1;
        envelope(identifier, "m")
    });
    assert_eq!((published.n_deliveries, n_encoded), (100, 4));
}

#[test]
fn an_excluded_session_gets_nothing_under_any_identifier_and_is_not_visited() {
    let mut hub = Hub::new(CAP, unlimited());
    let ids = ["a", "b", "c"].map(|name| hub.insert(name, Format(0)));
    for id in &ids {
        hub.subscribe(*id, Some("x"), "all");
        hub.subscribe(*id, Some("y"), "all");
    }
    hub.unsubscribe_all(ids[2], Some("x"));
    hub.unsubscribe_all(ids[2], Some("y"));
    let excluded = hub.find_listener("all", |name| *name == "b");
    assert_eq!(excluded, Some(ids[1]));
    assert_eq!(publish_except(&mut hub, "all", excluded, "1").n_deliveries, 2);
    let mut portion = Portion::default();
    hub.next_portion(10, &mut portion);
    assert_eq!(portion.sessions, [ids[0]]);
    assert_eq!(ids.map(|id| drain(&mut hub, id)), ["x:1;y:1;", "", ""]);

    assert_eq!(
        hub.find_listener("all", |name| *name == "c"),
        None,
        "it does not listen"
    );
    assert_eq!(hub.find_listener("nobody", |_| true), None);
    let published = publish_except(&mut hub, "all", Some(ids[2]), "2");
    assert_eq!(published.n_deliveries, 4, "who does not listen cannot be missed");
}

#[test]
fn a_held_subscription_gets_no_kept_messages_until_it_goes_on() {
    let mut hub = Hub::new(CAP, unlimited());
    let ids = ["a", "b"].map(|name| hub.insert(name, Format(0)));
    for stream in ["all", "more"] {
        for id in &ids {
            hub.subscribe(*id, Some("x"), stream);
        }
    }
    hub.subscribe(ids[0], Some("y"), "all");
    hub.hold(ids[0], Some("unknown"), true);
    hub.hold(ids[0], Some("x"), true);
    // Another listener that leaves moves the held one.
    hub.unsubscribe(ids[1], Some("x"), "more");
    let publish = |hub: &mut Hub<&'static str>, stream, message, is_kept| {
        let audience = Audience {
            is_without_held: is_kept,
            ..Audience::default()
        };
        hub.publish(stream, audience, (), |identifier, _| {
            envelope(identifier, message)
        })
    };
    publish(&mut hub, "all", "1", true);
    publish(&mut hub, "more", "2", true);
    publish(&mut hub, "all", "passing", false);
    assert_eq!(
        ids.map(|id| drain(&mut hub, id)),
        ["y:1;x:passing;y:passing;", "x:1;x:passing;"]
    );
    hub.hold(ids[0], Some("x"), false);
    publish(&mut hub, "all", "3", true);
    publish(&mut hub, "more", "4", true);
    assert_eq!(drain(&mut hub, ids[0]), "x:3;y:3;x:4;");
    hub.remove(ids[0]);
    hub.hold(ids[0], Some("x"), true);
}

#[test]
fn a_publication_for_nobody_but_the_excluded_one_is_complete_at_once() {
    let mut hub = Hub::new(CAP, unlimited());
    let only = hub.insert("only", Format(0));
    hub.subscribe(only, None, "all");
    assert_eq!(
        publish_except(&mut hub, "all", Some(only), "1"),
        Published::default()
    );
    assert_eq!(hub.n_under_way(), 0);
}

#[test]
fn a_reused_number_is_another_session() {
    let mut hub: Hub<_> = Hub::new(CAP, unlimited());
    let old = hub.insert("old", Format(0));
    hub.remove(old);
    let new = hub.insert("new", Format(0));
    assert_ne!(old, new);
    assert!(hub.get_mut(old).is_none());
    assert!(!hub.subscribe(old, None, "all"));
    assert_eq!(hub.remove(old), None);
    assert_eq!(
        hub.push(old, hub.frame(envelope(None, "late"))),
        Err(PushError::Sealed)
    );
    assert_eq!(hub.remove(new), Some("new"));
}

#[test]
fn a_session_that_does_not_read_is_reported_and_left_out() {
    let mut hub = Hub::new(100, unlimited());
    let (slow, quick) = (hub.insert("slow", Format(0)), hub.insert("quick", Format(0)));
    hub.subscribe(slow, None, "all");
    hub.subscribe(quick, None, "all");
    publish(&mut hub, "all", "12345");
    let (_, outbox) = hub.get_mut(slow).expect("exists");
    outbox
        .flush(|_| Err(std::io::ErrorKind::WouldBlock.into()))
        .expect("blocked is not an error");
    drain(&mut hub, quick);

    let published = publish(&mut hub, "all", "6");
    assert_eq!(
        published,
        Published {
            n_deliveries: 1,
            overflowed: vec![slow]
        }
    );
    assert_eq!(drain(&mut hub, quick), "-:6;");
}

#[test]
fn only_sessions_that_take_bytes_are_visited() {
    let mut hub = Hub::new(CAP, unlimited());
    let (blocked, free) = (hub.insert("blocked", Format(0)), hub.insert("free", Format(0)));
    hub.subscribe(blocked, None, "all");
    hub.subscribe(free, None, "all");
    hub.push(blocked, hub.frame(envelope(None, "0"))).expect("room");
    let (_, outbox) = hub.get_mut(blocked).expect("exists");
    outbox
        .flush(|_| Err(std::io::ErrorKind::WouldBlock.into()))
        .expect("blocked is not an error");
    publish(&mut hub, "all", "1");
    let mut portion = Portion::default();
    hub.next_portion(10, &mut portion);
    assert_eq!((portion.sessions, hub.n_under_way()), (vec![free], 0));
}

#[test]
fn a_session_is_visited_once_for_what_one_stream_published_meanwhile() {
    let mut hub = Hub::new(CAP, unlimited());
    let ids: Vec<_> = (0..3).map(|_| hub.insert("c", Format(0))).collect();
    for id in &ids {
        hub.subscribe(*id, None, "all");
    }
    hub.subscribe(ids[2], None, "own");
    publish(&mut hub, "all", "1");
    publish(&mut hub, "all", "2");
    publish(&mut hub, "own", "3");
    assert_eq!(hub.n_under_way(), 3);

    let mut visits = Vec::new();
    let mut portion = Portion::default();
    while hub.n_under_way() > 0 {
        hub.next_portion(1, &mut portion);
        assert!(visits.len() < 10, "no end: {visits:?}");
        visits.push((
            portion.sessions[0],
            drain(&mut hub, portion.sessions[0]),
            portion.completed.len(),
        ));
    }
    assert_eq!(
        visits,
        [
            (ids[0], "-:1;-:2;".to_owned(), 0),
            // The small stream has its turn early and flushes the pending frames, too.
            (ids[2], "-:1;-:2;-:3;".to_owned(), 1),
            (ids[1], "-:1;-:2;".to_owned(), 0),
            (ids[2], String::new(), 2),
        ]
    );
}

/// A hub and its budget, with sessions that all listen to `all`, under an identifier of their own or under a common
/// one.
fn listeners(n_sessions: usize, limit: usize, have_own: bool) -> (Hub<&'static str>, Vec<SessionId>) {
    let mut hub = Hub::new(CAP, Budget::new(limit));
    let ids: Vec<_> = (0..n_sessions).map(|_| hub.insert("c", Format(0))).collect();
    for (n, id) in ids.iter().enumerate() {
        let own = format!("{n:04}");
        hub.subscribe(*id, Some(if have_own { &own } else { "same" }), "all");
    }
    (hub, ids)
}

#[test]
fn a_message_that_a_thousand_share_counts_once() {
    let (mut hub, ids) = listeners(1000, usize::MAX, false);
    let message = "x".repeat(10_000);
    publish(&mut hub, "all", &message);
    let frame = "same:;".len() + 10_000 + Frame::OVERHEAD;
    let used = hub.budget().used();
    assert!((frame..frame + 20).contains(&used), "{used} bytes");
    for id in &ids[..999] {
        drain(&mut hub, *id);
    }
    assert_eq!(hub.budget().used(), used, "the last one still has it");
    drain(&mut hub, ids[999]);
    assert_eq!(hub.budget().used(), 0);
}

#[test]
fn who_needs_a_frame_of_their_own_gets_none_beyond_the_limit() {
    let (mut hub, ids) = listeners(10, 5000, true);
    let published = publish(&mut hub, "all", &"x".repeat(1000));
    assert_eq!(published.n_deliveries, 5, "the fifth passes the limit");
    assert_eq!(published.overflowed, ids[5..]);
    ids.iter().for_each(|id| drop(drain(&mut hub, *id)));
    assert_eq!(publish(&mut hub, "all", "short").n_deliveries, 10);
}

#[test]
fn holders_are_those_that_occupy_much_and_are_not_about_to_end() {
    let mut hub: Hub<_> = Hub::new(CAP, unlimited());
    let [quiet, sends, reads, reads_nothing, ends] =
        ["a", "b", "c", "d", "e"].map(|name| hub.insert(name, Format(0)));
    for (id, n_bytes) in [(quiet, 10), (reads, 2000), (reads_nothing, 2000), (ends, 3000)] {
        let frame = hub.frame(vec![0; n_bytes]);
        hub.push(id, frame).expect("room");
    }
    for id in [quiet, reads_nothing, ends] {
        let (_, outbox) = hub.get_mut(id).expect("exists");
        let _blocked = outbox.flush(|_| Err(std::io::ErrorKind::WouldBlock.into()));
    }
    hub.get_mut(sends).expect("exists").1.reserve(1500);
    hub.get_mut(ends).expect("exists").1.seal();
    let mut holders: Vec<_> = hub.holders(1000).into_iter().map(|(_, id)| id).collect();
    holders.sort();
    assert_eq!(holders, [sends, reads_nothing]);
    let of_sends = |min_bytes| hub.holders(min_bytes).contains(&(1500, sends));
    assert_eq!((of_sends(1500), of_sends(1501)), (true, false));
}

#[test]
fn streams_are_visited_in_portions() {
    let mut hub: Hub<_> = Hub::new(CAP, unlimited());
    let id = hub.insert("c", Format(0));
    let names = ["a", "b", "c", "d"];
    for name in names {
        hub.subscribe(id, None, name);
    }
    let mut visited = Vec::new();
    let next = hub.visit_streams(0, 3, |name, _| visited.push(name.to_owned()));
    assert_eq!(
        (next, visited.as_slice()),
        (Some(3), &names.map(str::to_owned)[..3])
    );
    let next = hub.visit_streams(3, 100, |name, _| visited.push(name.to_owned()));
    assert_eq!((next, visited), (None, names.map(str::to_owned).into()));
}

#[test]
fn walks_count_listeners_and_uses() {
    let mut hub: Hub<_> = Hub::new(CAP, unlimited());
    let ids = [0, 1, 2].map(|_| hub.insert("c", Format(0)));
    for (id, identifier, stream) in [(0, "x", "a"), (1, "x", "a"), (2, "y", "a"), (2, "y", "b")] {
        hub.subscribe(ids[id], Some(identifier), stream);
    }
    let mut streams = Vec::new();
    assert_eq!(
        hub.visit_streams(0, 100, |name, n| streams.push((name.to_owned(), n))),
        None
    );
    assert_eq!(streams, [("a".to_owned(), 3), ("b".to_owned(), 1)]);
    let mut identifiers = Vec::new();
    let next = hub.visit_identifiers(0, 1, |text, n| identifiers.push((text.to_owned(), n)));
    assert_eq!(
        (next, identifiers.as_slice()),
        (Some(1), &[("x".to_owned(), 2)][..])
    );
    hub.visit_identifiers(1, 100, |text, n| identifiers.push((text.to_owned(), n)));
    assert_eq!(identifiers[1..], [("y".to_owned(), 2)]);
}

#[test]
fn sessions_are_counted_and_listed() {
    let mut hub: Hub<_> = Hub::new(CAP, unlimited());
    assert!(hub.is_empty());
    let ids = [0, 1, 2].map(|n| hub.insert("c", Format(n)));
    assert_eq!(ids.map(|id| hub.format(id)), [0, 1, 2].map(|n| Some(Format(n))));
    hub.remove(ids[1]);
    assert_eq!((hub.len(), hub.is_empty(), hub.format(ids[1])), (2, false, None));
    let mut listed: Vec<_> = hub.ids().collect();
    listed.sort();
    assert_eq!(listed, [ids[0], ids[2]]);
}

#[test]
fn tables_shrink_after_a_flood() {
    let mut hub: Hub<_> = Hub::new(CAP, unlimited());
    let stays = hub.insert("stays", Format(0));
    hub.subscribe(stays, Some("x"), "all");
    let flood: Vec<_> = (0..1000).map(|_| hub.insert("goes", Format(0))).collect();
    for (n, id) in flood.iter().enumerate() {
        let own = n.to_string();
        hub.subscribe(*id, Some(&own), &own);
        hub.subscribe(stays, Some(&own), &own);
        publish(&mut hub, &own, "m");
    }
    let mut portion = Portion::default();
    // Each of the streams has two listeners.
    for _ in 0..1000 {
        hub.next_portion(100, &mut portion);
    }
    assert_eq!(hub.n_under_way(), 0);
    for id in flood {
        hub.remove(id);
    }
    for n in 0..1000 {
        hub.unsubscribe_all(stays, Some(&n.to_string()));
    }
    hub.shrink();
    assert!(
        hub.sessions.capacity() <= 256,
        "{} sessions",
        hub.sessions.capacity()
    );
    assert!(
        hub.streams.capacity() <= 256,
        "{} streams",
        hub.streams.capacity()
    );
    assert!(
        hub.identifiers.capacity() <= 256,
        "{} identifiers",
        hub.identifiers.capacity()
    );
    assert!(hub.fanouts.capacity() <= 256, "{} sweeps", hub.fanouts.capacity());
    let memberships = hub.sessions[stays.index()].memberships.capacity();
    assert!(memberships <= 4, "{memberships} memberships");
    assert_eq!(publish(&mut hub, "all", "m").n_deliveries, 1);
}

#[derive(Debug, Clone)]
enum Step {
    Join {
        session: usize,
        identifier: usize,
        stream: usize,
    },
    Leave {
        session: usize,
        identifier: usize,
        stream: usize,
    },
    LeaveAll {
        session: usize,
        identifier: usize,
    },
    Replace {
        session: usize,
    },
    Publish {
        stream: usize,
        excluded: Option<usize>,
    },
}

const IDENTIFIERS: [Option<&str>; 3] = [None, Some("x"), Some("y")];
const STREAMS: [&str; 4] = ["a", "b", "c", "d"];
const N_SESSIONS: usize = 4;

fn step() -> impl Strategy<Value = Step> {
    let (session, identifier, stream) = (0..N_SESSIONS, 0..IDENTIFIERS.len(), 0..STREAMS.len());
    let excluded = prop::option::weighted(0.3, session.clone());
    prop_oneof![
        4 => (session.clone(), identifier.clone(), stream.clone())
            .prop_map(|(session, identifier, stream)| Step::Join { session, identifier, stream }),
        2 => (session.clone(), identifier.clone(), stream.clone())
            .prop_map(|(session, identifier, stream)| Step::Leave { session, identifier, stream }),
        1 => (session.clone(), identifier).prop_map(|(session, identifier)| Step::LeaveAll { session, identifier }),
        1 => session.prop_map(|session| Step::Replace { session }),
        3 => (stream, excluded).prop_map(|(stream, excluded)| Step::Publish { stream, excluded }),
    ]
}

proptest! {
    /// Compares the hub with the simplest model: a set of (stream, session, identifier).
    #[test]
    fn agrees_with_a_plain_set(steps in prop::collection::vec(step(), 0..200)) {
        let mut hub = Hub::new(CAP, unlimited());
        let mut ids: Vec<_> = (0..N_SESSIONS).map(|_| hub.insert("c", Format(0))).collect();
        let mut model = BTreeSet::new();
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                Step::Join { session, identifier, stream } => {
                    let is_new = model.insert((stream, session, identifier));
                    prop_assert_eq!(hub.subscribe(ids[session], IDENTIFIERS[identifier], STREAMS[stream]), is_new);
                }
                Step::Leave { session, identifier, stream } => {
                    let was_in = model.remove(&(stream, session, identifier));
                    prop_assert_eq!(hub.unsubscribe(ids[session], IDENTIFIERS[identifier], STREAMS[stream]), was_in);
                }
                Step::LeaveAll { session, identifier } => {
                    let before = model.len();
                    model.retain(|entry| (entry.1, entry.2) != (session, identifier));
                    prop_assert_eq!(hub.unsubscribe_all(ids[session], IDENTIFIERS[identifier]), before - model.len());
                }
                Step::Replace { session } => {
                    model.retain(|entry| entry.1 != session);
                    prop_assert_eq!(hub.remove(ids[session]), Some("c"));
                    ids[session] = hub.insert("c", Format(0));
                }
                Step::Publish { stream, excluded } => {
                    let message = n.to_string();
                    publish_except(&mut hub, STREAMS[stream], excluded.map(|session| ids[session]), &message);
                    let mut expected: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
                    for (_, session, identifier) in model.iter().filter(|entry| entry.0 == stream) {
                        if excluded == Some(*session) {
                            continue;
                        }
                        let text = format!("{}:{message}", IDENTIFIERS[*identifier].unwrap_or("-"));
                        expected.entry(*session).or_default().insert(text);
                    }
                    for (session, id) in ids.iter().enumerate() {
                        let text = drain(&mut hub, *id);
                        let got: BTreeSet<String> =
                            text.split_terminator(';').map(str::to_owned).collect();
                        prop_assert_eq!(got, expected.remove(&session).unwrap_or_default());
                    }
                }
            }
        }
        let streams: BTreeSet<_> = model.iter().map(|entry| entry.0).collect();
        prop_assert_eq!(hub.n_streams(), streams.len());
        for id in ids {
            hub.remove(id);
        }
        prop_assert_eq!((hub.len(), hub.n_streams(), hub.identifiers.len()), (0, 0, 0));
        prop_assert_eq!(hub.budget().used(), 0);
    }
}
