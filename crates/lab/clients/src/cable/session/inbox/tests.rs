//! Inboxes of one thread, and a plain queue as the model of each.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::inbox::{self, Capacity, Overflow};

/// Limits that no test reaches.
const MOST: usize = usize::MAX;

fn inboxes(n: usize) -> (Texts, Vec<Inbox>) {
    let texts = Texts::default();
    let inboxes = (0..n)
        .map(|_| Inbox::with_texts(texts.clone(), MOST, MOST))
        .collect();
    (texts, inboxes)
}

fn now() -> Mark {
    Mark {
        at: Instant::now(),
        unix_ms: 1_754_000_000_000,
    }
}

fn receive(inbox: &mut Inbox, messages: &[&str]) {
    for json in messages {
        inbox.push(*json, now());
    }
}

fn taken(inbox: &mut Inbox) -> Vec<String> {
    std::iter::from_fn(|| inbox.pop())
        .map(|message| message.json.to_string())
        .collect()
}

/// Each of a thread's users gets its messages, of which so many different ones are held, in so many runs together.
#[track_caller]
fn check(users: &[&[&str]], n_texts: usize, n_runs: usize) {
    let (texts, mut inboxes) = inboxes(users.len());
    for (inbox, messages) in inboxes.iter_mut().zip(users) {
        receive(inbox, &["alone"]);
        receive(inbox, messages);
    }
    assert_eq!(texts.len(), n_texts, "{users:?}");
    let runs = inboxes.iter().map(|inbox| inbox.runs.len());
    assert_eq!(runs.sum::<usize>(), n_runs, "{users:?}");
    for (inbox, messages) in inboxes.iter_mut().zip(users) {
        assert_eq!(taken(inbox), [&["alone"], *messages].concat());
    }
    assert_eq!(texts.len(), 0, "{users:?}");
}

#[test]
fn a_text_is_held_once_and_a_sequence_is_one_run() {
    check(&[&["a", "b", "c"]], 3, 1);
    check(&[&["a", "b", "c"], &["a", "b", "c"], &["a", "b", "c"]], 3, 3);
    // A user that came later.
    check(&[&["a", "b", "c", "d"], &["b", "c", "d"]], 4, 2);
    // Shards of the server had two messages in different orders.
    check(&[&["a", "b", "c", "d"], &["a", "c", "b", "d"]], 4, 5);
    // Rooms of one user each.
    check(&[&["a", "b"], &["c", "d"]], 4, 2);
    // Rooms that share a message.
    check(&[&["a", "x", "b"], &["c", "x", "d"]], 5, 3);
    check(&[&["a", "a", "a", "b"], &["a", "a", "a"]], 2, 3);
}

#[test]
fn a_thousand_users_of_a_room_hold_no_copies() {
    let messages: Vec<_> = (0..2_048).map(|n| format!("message {n}")).collect();
    let (texts, mut inboxes) = inboxes(1_000);
    // The users of a worker get a message one after the other.
    for json in &messages {
        for inbox in &mut inboxes {
            inbox.push(json.as_str(), now());
        }
    }
    // Each holds its first message alone.
    assert_eq!(texts.len(), 2_047);
    for inbox in &mut inboxes {
        assert_eq!((inbox.runs.len(), inbox.n_messages), (1, 2_048));
        inbox.clear();
    }
    assert_eq!((texts.len(), texts.n_places()), (0, 0));
}

#[test]
fn a_slow_user_finds_texts_that_the_table_has_forgotten() {
    let messages: Vec<_> = (0..20_000).map(|n| format!("message {n}")).collect();
    let (texts, mut inboxes) = inboxes(2);
    for inbox in &mut inboxes {
        receive(inbox, &["alone", "begin"]);
    }
    for inbox in &mut inboxes {
        for json in &messages {
            inbox.push(json.as_str(), now());
        }
    }
    assert_eq!((texts.len(), inboxes[1].runs.len()), (20_001, 1));
}

#[test]
fn a_message_for_a_user_that_waits_is_held_alone() {
    let (texts, mut inboxes) = inboxes(1);
    for (json, n_texts) in [
        ("echo".to_owned(), 0),
        ("x".repeat(MAX_BYTES_ALONE), 0),
        ("x".repeat(MAX_BYTES_ALONE + 1), 1),
    ] {
        inboxes[0].push(json.as_str(), now());
        assert_eq!(texts.len(), n_texts, "{}", json.len());
        assert_eq!(taken(&mut inboxes[0]), [json]);
    }
}

#[test]
fn users_that_leave_release_their_texts() {
    let (texts, mut inboxes) = inboxes(2);
    for inbox in &mut inboxes {
        receive(inbox, &["alone", "a", "b"]);
    }
    receive(&mut inboxes[0], &["c"]);
    assert_eq!(texts.len(), 3);
    inboxes.remove(0);
    assert_eq!(texts.len(), 2);
    inboxes[0].clear();
    assert_eq!(texts.len(), 0);
}

#[test]
fn an_inbox_uses_the_texts_of_its_thread() {
    let mut inboxes = [Inbox::new(MOST, MOST), Inbox::new(MOST, MOST)];
    for inbox in &mut inboxes {
        receive(inbox, &["alone", "a"]);
    }
    assert_eq!(Texts::of_thread().len(), 1);
}

/// What happens to one of three inboxes.
#[derive(Debug, Clone)]
enum Step {
    /// It gets one of few messages, so that sequences repeat and branch.
    Push(u8),
    Pop,
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u8..6).prop_map(Step::Push),
        3 => Just(Step::Pop),
        1 => Just(Step::Clear),
    ]
}

proptest! {
    #[test]
    fn an_inbox_is_a_queue(steps in proptest::collection::vec((0_usize..3, step()), 0..300)) {
        let texts = Texts::default();
        let origin = Instant::now();
        let capacity = Capacity { n_messages: 9, n_bytes: 600, overflow: Overflow::StopReading };
        let mut users: Vec<_> = (0..3)
            .map(|_| (Inbox::with_texts(texts.clone(), 9, 600), inbox::Inbox::new(capacity)))
            .collect();
        for (n, (user, step)) in steps.into_iter().enumerate() {
            let (inbox, model) = &mut users[user];
            match step {
                Step::Push(which) => {
                    let at = origin + Duration::from_micros(n as u64 * 700);
                    let json: Rc<str> = format!("{which}").repeat(1 + usize::from(which) * 60).into();
                    let mark = Mark { at, unix_ms: n as u64 };
                    inbox.push(&*json, mark);
                    model.push(mark.on(json));
                }
                Step::Pop => prop_assert_eq!(inbox.pop(), model.pop()),
                Step::Clear => {
                    inbox.clear();
                    model.clear();
                }
            }
            prop_assert_eq!(inbox.is_full(), model.is_full());
            prop_assert_eq!(inbox.is_empty(), model.is_empty());
        }
        for (mut inbox, mut model) in users {
            while let Some(expected) = model.pop() {
                prop_assert_eq!(inbox.pop(), Some(expected));
            }
            prop_assert_eq!(inbox.pop(), None);
        }
        prop_assert_eq!(texts.len(), 0);
    }
}
