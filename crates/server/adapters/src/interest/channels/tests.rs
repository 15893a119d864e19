//! Channels against a server that carries out commands late, in any order of events and in a time of its own.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// The other end of a connection: it carries out commands in their order, when it is told to.
#[derive(Debug, Default)]
struct Server {
    on_the_way: VecDeque<(bool, Arc<str>)>,
    subscribed: BTreeSet<Arc<str>>,
}

impl Server {
    fn send(&mut self, command: Command) {
        let (subscribes, names) = match command {
            Command::Subscribe(names) => (true, names),
            Command::Unsubscribe(names) => (false, names),
        };
        self.on_the_way
            .extend(names.into_iter().map(|name| (subscribes, name)));
    }

    /// Carries out the oldest command; returns its channel.
    fn step(&mut self) -> Option<Arc<str>> {
        let (subscribes, name) = self.on_the_way.pop_front()?;
        if subscribes {
            let is_new = self.subscribed.insert(Arc::clone(&name));
            // Two subscriptions would deliver everything twice.
            assert!(is_new, "{name} is subscribed twice");
        } else {
            assert!(self.subscribed.remove(&name), "{name} was not subscribed");
        }
        Some(name)
    }
}

/// A node and its server, in a time of their own.
struct World {
    channels: Channels,
    server: Server,
    reasons: BTreeMap<&'static str, usize>,
    now: Instant,
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Debug, Clone)]
enum Step {
    Join(usize),
    Leave(usize),
    /// Milliseconds pass.
    Wait(u64),
    /// The task sends what there is to send.
    Send,
    /// The server carries out some commands, and its confirmations arrive.
    Confirm(usize),
    Lose,
    Connect,
}

impl World {
    fn new() -> Self {
        Self {
            channels: Channels::default(),
            server: Server::default(),
            reasons: BTreeMap::new(),
            now: Instant::now(),
        }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Join(name) => {
                self.channels.join(NAMES[name]);
                *self.reasons.entry(NAMES[name]).or_default() += 1;
            }
            Step::Leave(name) => {
                self.channels.leave(NAMES[name], self.now);
                let n_reasons = self.reasons.entry(NAMES[name]).or_default();
                *n_reasons = n_reasons.saturating_sub(1);
            }
            Step::Wait(ms) => self.now += Duration::from_millis(ms),
            Step::Send => self.send(),
            Step::Confirm(n) => (0..n).for_each(|_| self.confirm()),
            Step::Lose => {
                self.channels.disconnected();
                self.server = Server::default();
            }
            Step::Connect => {
                self.channels.connected();
                self.server = Server::default();
            }
        }
        self.check();
    }

    fn send(&mut self) {
        while let Some(command) = self.channels.next_command(self.now) {
            if let Command::Unsubscribe(names) = &command {
                let is_needed = |name: &&Arc<str>| self.reasons.get(&***name).is_some_and(|n| *n > 0);
                assert_eq!(names.iter().find(is_needed), None, "it has listeners");
            }
            self.server.send(command);
        }
    }

    fn confirm(&mut self) {
        if let Some(name) = self.server.step() {
            self.channels.confirmed(&name);
        }
    }

    /// No node believes to hear what it does not hear.
    fn check(&self) {
        let heard: Vec<_> = NAMES.iter().filter(|name| self.channels.is_heard(name)).collect();
        for name in &heard {
            assert!(
                self.server.subscribed.contains(**name),
                "{name} is not subscribed"
            );
            let ends = |(subscribes, on_the_way): &(bool, Arc<str>)| !subscribes && **on_the_way == ***name;
            assert!(!self.server.on_the_way.iter().any(ends), "{name} is about to end");
        }
        assert_eq!(self.channels.n_heard(), heard.len());
    }

    /// What the server has when everything has come to rest.
    fn settle(&mut self) {
        self.take(&Step::Connect);
        self.take(&Step::Wait(2 * LINGER.as_millis() as u64));
        for _ in 0..NAMES.len() {
            self.take(&Step::Send);
            self.take(&Step::Confirm(100));
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..NAMES.len()).prop_map(Step::Join),
        6 => (0..NAMES.len()).prop_map(Step::Leave),
        4 => (0..3000_u64).prop_map(Step::Wait),
        6 => Just(Step::Send),
        6 => (1..4_usize).prop_map(Step::Confirm),
        1 => Just(Step::Lose),
        2 => Just(Step::Connect),
    ];
    prop::collection::vec(step, 0..200)
}

proptest! {
    /// The race between the last unsubscribe and the first subscribe leaves no deaf node, and no subscription that
    /// is not needed.
    #[test]
    fn the_server_has_what_is_wanted_whatever_happened_before(steps in steps(), reconnects in any::<bool>()) {
        let mut world = World::new();
        world.take(&Step::Connect);
        for step in &steps {
            world.take(step);
        }
        if reconnects || !world.channels.is_connected() {
            world.settle();
        } else {
            for _ in 0..10 {
                world.take(&Step::Wait(LINGER.as_millis() as u64));
                world.take(&Step::Send);
                world.take(&Step::Confirm(1000));
            }
        }
        let wanted = world.reasons.iter().filter(|(_, n)| **n > 0);
        let wanted: BTreeSet<Arc<str>> = wanted.map(|(name, _)| Arc::from(*name)).collect();
        prop_assert_eq!(&world.server.subscribed, &wanted);
        prop_assert!(world.channels.is_restored());
        prop_assert_eq!(world.channels.n_unconfirmed, 0);
        prop_assert!(world.channels.changed.is_empty());
        prop_assert_eq!(world.channels.by_name.len(), wanted.len(), "others are forgotten");
        prop_assert_eq!(world.channels.n_heard(), wanted.len());
    }
}

fn names(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

#[test]
fn a_client_that_comes_back_at_once_costs_no_command() {
    let mut channels = Channels::default();
    let start = Instant::now();
    channels.connected();
    channels.join("a");
    assert_eq!(
        channels.next_command(start),
        Some(Command::Subscribe(names(&["a"])))
    );
    channels.confirmed("a");
    assert!(channels.leave("a", start));
    assert_eq!(channels.next_end(), Some(start + LINGER));
    assert_eq!(channels.next_command(start + LINGER / 2), None);
    assert!(!channels.join("a"));
    assert_eq!(channels.next_command(start + 2 * LINGER), None);
    assert!(channels.is_heard("a"));
    channels.leave("a", start + 2 * LINGER);
    assert_eq!(
        channels.next_command(start + 3 * LINGER),
        Some(Command::Unsubscribe(names(&["a"])))
    );
    assert!(!channels.is_heard("a"));
}

#[test]
fn a_new_connection_gets_everything_in_batches_and_waits_for_confirmations() {
    let mut channels = Channels::default();
    let now = Instant::now();
    for n in 0..2 * MAX_UNCONFIRMED {
        channels.join(&n.to_string());
    }
    assert_eq!(channels.next_command(now), None);
    channels.connected();
    let mut sent = VecDeque::new();
    while let Some(Command::Subscribe(batch)) = channels.next_command(now) {
        assert_eq!(batch.len(), BATCH);
        sent.extend(batch);
    }
    assert_eq!(sent.len(), MAX_UNCONFIRMED);
    for name in sent.drain(..BATCH) {
        channels.confirmed(&name);
    }
    assert!(channels.next_command(now).is_some());
    assert!(!channels.is_restored());
}

#[test]
fn names_do_not_pile_up_while_there_is_no_connection() {
    let mut channels = Channels::default();
    let now = Instant::now();
    for n in 0..1000 {
        channels.join(&n.to_string());
        channels.leave(&n.to_string(), now);
    }
    assert!(channels.by_name.is_empty());
    channels.connected();
    assert_eq!(channels.next_command(now), None);
    assert!(channels.changed.is_empty());
}
