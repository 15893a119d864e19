//! Followers of a log: tables of cases, and any schedule against a model of the store.

use proptest::prelude::*;

use super::*;

mod store;

use store::{Store, message};

/// Steps as text, without the numbers of requests.
fn words(steps: &[Step<u32>]) -> String {
    let word = |step: &Step<u32>| match step {
        Step::Read { after: None, .. } => "read the end".to_owned(),
        Step::Read { after: Some(at), .. } => format!("read {}:{}", at.epoch, at.offset),
        Step::Begin { epoch, offset, .. } => format!("begin {epoch}:{offset}"),
        Step::Keep(message) => format!("keep {}", message.body),
        Step::Deliver(message) => format!("deliver {}", message.body),
        Step::Lost => "lost".to_owned(),
        Step::Heard => "heard".to_owned(),
    };
    steps.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// A follower and the store that it follows.
struct Pair {
    store: Store,
    follower: Follower<u32>,
}

impl Pair {
    /// A follower that hears a stream with `n` messages.
    fn heard(n: u32) -> Self {
        let mut pair = Self {
            store: Store::new(4),
            follower: Follower::default(),
        };
        (0..n).for_each(|_| drop(pair.store.publish(None)));
        pair.check(Follower::connected, None);
        pair
    }

    /// Lets something happen, answers all requests, and compares the steps.
    #[track_caller]
    fn check(
        &mut self,
        happen: impl FnOnce(&mut Follower<u32>, &mut Vec<Step<u32>>),
        expected: Option<&str>,
    ) {
        let (mut all, mut steps) = (Vec::new(), Vec::new());
        happen(&mut self.follower, &mut steps);
        while !steps.is_empty() {
            let request = steps.iter().rev().find_map(|step| match step {
                Step::Read { number, after } => Some((*number, after.clone())),
                _ => None,
            });
            all.append(&mut steps);
            if let Some((number, after)) = request {
                let excerpt = self.store.read(after.as_ref());
                self.follower.read(number, excerpt, &mut steps);
            }
        }
        if let Some(expected) = expected {
            assert_eq!(words(&all), expected);
        }
    }

    #[track_caller]
    fn check_arrival(&mut self, message: Message<u32>, expected: &str) {
        self.check(|follower, steps| follower.arrived(message, steps), Some(expected));
    }
}

#[test]
fn the_end_of_a_log_is_kept_and_what_follows_is_delivered() {
    let mut pair = Pair {
        store: Store::new(4),
        follower: Follower::default(),
    };
    (0..6).for_each(|_| drop(pair.store.publish(None)));
    let expected = "read the end, begin A:2, keep 3, keep 4, read A:4, keep 5, keep 6, heard";
    pair.check(Follower::connected, Some(expected));
    let seventh = pair.store.publish(None);
    pair.check_arrival(seventh.clone(), "deliver 7");
    pair.check_arrival(seventh, "");
}

#[test]
fn a_stream_without_a_log_begins_with_its_first_message() {
    let mut pair = Pair::heard(0);
    let first = pair.store.publish(None);
    pair.check_arrival(first, "begin A:0, deliver 1");
}

#[test]
fn a_gap_is_read() {
    let mut pair = Pair::heard(1);
    drop(pair.store.publish(None));
    let third = pair.store.publish(None);
    pair.check_arrival(third, "read A:1, deliver 2, deliver 3");
}

#[test]
fn a_message_that_follows_another_one_than_the_known_is_compared_with_the_store() {
    let mut pair = Pair::heard(1);
    let second = pair.store.publish(None);
    let other = Message {
        before_ms: second.before_ms + 1,
        ..second
    };
    pair.check_arrival(other, "read A:1, deliver 2");
}

#[test]
fn a_range_that_is_gone_is_announced() {
    let mut pair = Pair::heard(1);
    (0..5).for_each(|_| drop(pair.store.publish(None)));
    let last = pair.store.publish(None);
    let expected = "read A:1, lost, begin A:3, deliver 4, deliver 5, read A:5, deliver 6, deliver 7";
    pair.check_arrival(last, expected);
}

#[test]
fn after_a_break_what_was_missed_is_read() {
    let mut pair = Pair::heard(1);
    pair.follower.disconnected();
    drop(pair.store.publish(None));
    pair.check(Follower::connected, Some("read A:1, deliver 2"));
    pair.check(Follower::check, Some("read A:2"));
}

#[test]
fn a_store_that_lost_what_it_had_announced_begins_a_new_epoch() {
    let mut pair = Pair::heard(1);
    let before = pair.store.clone();
    let second = pair.store.publish(None);
    pair.check_arrival(second, "deliver 2");
    pair.store = before;
    pair.follower.disconnected();
    let expected = "read A:2, lost, begin B:0, keep 1";
    pair.check(Follower::connected, Some(expected));
    let next = pair.store.publish(None);
    assert_eq!((&*next.epoch, next.offset), ("B", 2));
    pair.check_arrival(next, "deliver 2");
}

#[test]
fn other_messages_in_the_place_of_lost_ones_are_delivered() {
    let mut pair = Pair::heard(1);
    let before = pair.store.clone();
    for body in [2, 3] {
        let message = pair.store.publish(None);
        pair.check_arrival(message, &format!("deliver {body}"));
    }
    let n = pair.store.n_published();
    pair.store = before.at(n);
    pair.follower.disconnected();
    // A server that has not heard the lost ones publishes as many as there were.
    (0..2).for_each(|_| drop(pair.store.publish(None)));
    let expected = "read A:3, begin 302:0, keep 1, lost, deliver 4, read 302:2, deliver 5";
    pair.check(Follower::connected, Some(expected));
}

#[test]
fn a_store_without_data_is_announced() {
    let mut pair = Pair::heard(2);
    pair.store.forget();
    pair.follower.disconnected();
    pair.check(Follower::connected, Some("read A:2, lost"));
    let first = pair.store.publish(None);
    pair.check_arrival(first, "begin B:0, deliver 3");
}

#[test]
fn late_messages_of_an_earlier_epoch_are_dropped() {
    let mut pair = Pair::heard(1);
    let late = pair.store.publish(None);
    pair.store.forget();
    let first = pair.store.publish(None);
    pair.check_arrival(first, "read A:1, lost, begin B:0, deliver 3");
    pair.check_arrival(late, "read B:1");
    let second = pair.store.publish(None);
    pair.check_arrival(second, "deliver 4");
}

#[test]
fn what_is_held_is_bounded() {
    let mut follower = Follower::default();
    let mut steps = Vec::new();
    follower.connected(&mut steps);
    for offset in 1..=10 * MAX_HELD as u64 {
        follower.arrived(message("A", offset, offset, 1, 0), &mut steps);
        assert!(follower.held.len() <= MAX_HELD);
    }
    for offset in 1..=100 {
        let large = message("A", offset, offset, MAX_HELD_BYTES / 10, 0);
        follower.arrived(large, &mut steps);
        assert!(follower.held_bytes <= MAX_HELD_BYTES);
    }
    assert_eq!(words(&steps), "read the end");
}

/// Something that happens.
#[derive(Debug, Clone)]
enum Event {
    /// A server publishes that hears the stream, or another one.
    Publish {
        by_listener: bool,
    },
    /// An announced message arrives.
    Arrive,
    /// The store carries out the oldest request.
    Answer,
    /// The oldest answer arrives.
    TakeAnswer,
    Connect,
    Disconnect,
    /// A request fails without a trace.
    Fail,
    Check,
    /// All messages of the store have become too old.
    Expire,
    /// The store loses everything.
    Forget,
    /// A replica takes over that lacks this many of the latest messages.
    FailOver(usize),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        8 => any::<bool>().prop_map(|by_listener| Event::Publish { by_listener }),
        8 => Just(Event::Arrive),
        6 => Just(Event::Answer),
        6 => Just(Event::TakeAnswer),
        4 => Just(Event::Connect),
        1 => Just(Event::Disconnect),
        1 => Just(Event::Fail),
        1 => Just(Event::Check),
        1 => Just(Event::Expire),
        1 => Just(Event::Forget),
        1 => (0..6_usize).prop_map(Event::FailOver),
    ];
    proptest::collection::vec(event, 0..150)
}

/// A server that follows, and the connections to it.
struct Node {
    follower: Follower<u32>,
    announced: VecDeque<Message<u32>>,
    requests: VecDeque<(u64, Option<Position>)>,
    /// Each with the number of messages that were published by then.
    answers: VecDeque<(u64, Excerpt<u32>, u32)>,
    /// Delivered messages; `None` where the listeners were told of a loss.
    delivered: Vec<Option<u32>>,
    /// The last message before the stream was heard.
    heard_behind: Option<u32>,
    /// The number of messages that were published before the last answer.
    answered_behind: u32,
}

impl Node {
    fn happen(&mut self, happen: impl FnOnce(&mut Follower<u32>, &mut Vec<Step<u32>>)) {
        let mut steps = Vec::new();
        happen(&mut self.follower, &mut steps);
        for step in steps {
            match step {
                Step::Read { number, after } => self.requests.push_back((number, after)),
                Step::Begin { .. } | Step::Keep(_) => {}
                Step::Deliver(message) => self.delivered.push(Some(message.body)),
                Step::Lost => self.delivered.push(None),
                Step::Heard => self.heard_behind = Some(self.answered_behind),
            }
        }
    }

    fn disconnect(&mut self) {
        self.announced.clear();
        self.follower.disconnected();
    }
}

fn run(limit: usize, events: Vec<Event>) {
    let mut store = Store::new(limit);
    // What a replica that lags behind has.
    let mut earlier = vec![store.clone()];
    // Messages that a failover or a loss of all data has removed.
    let mut vanished = Vec::new();
    let mut is_connected = false;
    // One at a time: a store that goes back again can also go back to the state between the two.
    let mut has_gone_back = false;
    let mut node = Node {
        follower: Follower::default(),
        announced: VecDeque::new(),
        requests: VecDeque::new(),
        answers: VecDeque::new(),
        delivered: Vec::new(),
        heard_behind: None,
        answered_behind: 0,
    };
    let finish = [Event::Disconnect, Event::Connect];
    let settle = [Event::Answer, Event::TakeAnswer, Event::Arrive];
    let settled = std::iter::repeat_n(settle, 400).flatten();
    for event in events.into_iter().chain(finish).chain(settled) {
        match event {
            Event::Publish { by_listener } => {
                earlier.push(store.clone());
                let floor = node.follower.position().filter(|_| by_listener).cloned();
                let message = store.publish(floor.as_ref());
                if is_connected {
                    node.announced.push_back(message);
                }
            }
            Event::Arrive => {
                if let Some(message) = node.announced.pop_front() {
                    node.happen(|follower, steps| follower.arrived(message, steps));
                }
            }
            Event::Answer => {
                if let Some((number, after)) = node.requests.pop_front() {
                    let excerpt = store.read(after.as_ref());
                    node.answers.push_back((number, excerpt, store.n_published()));
                }
            }
            Event::TakeAnswer => {
                if let Some((number, excerpt, n_published)) = node.answers.pop_front() {
                    node.answered_behind = n_published;
                    node.happen(|follower, steps| follower.read(number, excerpt, steps));
                }
            }
            Event::Connect if is_connected => {}
            Event::Connect => {
                is_connected = true;
                node.happen(Follower::connected);
            }
            Event::Disconnect => {
                is_connected = false;
                node.disconnect();
            }
            Event::Fail => {
                if let Some((number, _)) = node.requests.pop_front() {
                    node.happen(|follower, steps| follower.failed(number, steps));
                }
            }
            Event::Check => node.happen(Follower::check),
            Event::Expire => store.expire(),
            Event::Forget | Event::FailOver(_) if std::mem::replace(&mut has_gone_back, true) => {}
            Event::Forget => {
                vanished.extend(1..=store.n_published());
                store.forget();
                earlier.clear();
                earlier.push(store.clone());
                is_connected = false;
                node.disconnect();
            }
            Event::FailOver(n) => {
                let at = earlier.len().saturating_sub(n + 1);
                let n_published = store.n_published();
                let before = earlier[at].clone().at(n_published);
                earlier.truncate(at + 1);
                vanished.extend(before.n_published_then()..=n_published);
                store = before;
                // The connections break with the failed server, and so do its answers.
                is_connected = false;
                node.requests.clear();
                node.disconnect();
            }
        }
    }
    assert!(node.follower.is_live(), "{:?}", node.follower);
    check_history(&node, &store, &vanished);
}

/// Listeners get every message once and in order, or are told of a loss where one is missing.
fn check_history(node: &Node, store: &Store, vanished: &[u32]) {
    let mut last = node.heard_behind.expect("the stream is heard in the end");
    let mut was_told = false;
    let must_have = |number: &u32| !vanished.contains(number);
    for delivered in &node.delivered {
        let Some(number) = *delivered else {
            was_told = true;
            continue;
        };
        assert!(
            number > last,
            "{number} comes behind {last}: {:?}",
            node.delivered
        );
        let missing = (last + 1..number).find(must_have);
        assert!(
            missing.is_none() || was_told,
            "{missing:?} is missing: {:?}",
            node.delivered
        );
        (last, was_told) = (number, false);
    }
    let missing = (last + 1..=store.n_published()).find(must_have);
    assert!(
        missing.is_none() || was_told,
        "{missing:?} is missing: {:?}",
        node.delivered
    );
}

#[test]
fn a_message_in_the_place_of_one_that_was_gone_when_the_stream_was_heard_is_delivered() {
    let publish = || Event::Publish { by_listener: false };
    run(
        2,
        vec![
            publish(),
            publish(),
            Event::Connect,
            Event::Expire,
            Event::Answer,
            Event::TakeAnswer,
            publish(),
            Event::FailOver(1),
            publish(),
        ],
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn listeners_get_every_message_once_and_in_order_or_are_told(limit in 1..12_usize, events in events()) {
        run(limit, events);
    }
}
