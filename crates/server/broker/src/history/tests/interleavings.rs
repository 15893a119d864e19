//! Any interleaving of publishing, reading by shards, cuts, returns and eviction: no client misses a message, hears one
//! twice or out of order, unless it was told that history is not available.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

const N_SHARDS: usize = 3;
const STREAM: &str = "s";

/// One step of a schedule. Clients and shards are numbered.
#[derive(Debug, Clone)]
enum Step {
    Publish {
        on_another_stream: bool,
    },
    /// A shard takes a letter from its mailbox.
    Take(usize),
    Cut(usize),
    /// The client comes back on a shard, with its last position.
    Return {
        client: usize,
        shard: usize,
    },
    /// The client's session goes on on a shard, and the client has not asked for its history yet.
    Resume {
        client: usize,
        shard: usize,
    },
    /// The client of a resumed session asks, or its time to ask is over.
    Settle {
        client: usize,
        asks: bool,
    },
    /// A replay goes on with its next portion.
    GoOn(usize),
    Wait {
        secs: u64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => any::<bool>().prop_map(|on_another_stream| Step::Publish { on_another_stream }),
        8 => (0..N_SHARDS).prop_map(Step::Take),
        2 => (0..4_usize).prop_map(Step::Cut),
        3 => (0..4_usize, 0..N_SHARDS).prop_map(|(client, shard)| Step::Return { client, shard }),
        3 => (0..4_usize, 0..N_SHARDS).prop_map(|(client, shard)| Step::Resume { client, shard }),
        4 => (0..4_usize, any::<bool>()).prop_map(|(client, asks)| Step::Settle { client, asks }),
        4 => (0..4_usize).prop_map(Step::GoOn),
        1 => (1..8_u64).prop_map(|secs| Step::Wait { secs }),
    ];
    proptest::collection::vec(step, 0..120)
}

#[derive(Default)]
struct Shard {
    mailbox: VecDeque<Arc<Entry<u32>>>,
    taken: u64,
}

#[derive(Debug)]
enum State {
    Away,
    /// On this shard, held since it had seen this serial number.
    Held(usize, u64),
    /// On this shard, with a replay in progress.
    Replaying(usize, Cursor),
    Live(usize),
}

/// The epoch and the offset of a message.
type Place = (Box<str>, u64);

struct Client {
    state: State,
    position: Option<Place>,
    /// All messages since the client was told of a loss.
    heard: Vec<Place>,
}

impl Client {
    fn hear(&mut self, entry: &Entry<u32>) {
        let place = (entry.label.epoch.clone(), entry.offset);
        self.heard.push(place.clone());
        self.position = Some(place);
    }

    /// The client learns that it may have missed something.
    fn is_told(&mut self) {
        self.heard.clear();
    }

    /// What the client heard is a part of all that was published, without a gap. A log that was forgotten begins again in
    /// another epoch, which a client that hears its messages live does not notice.
    fn check(&self, published: &[Place]) {
        let Some(first) = self.heard.first() else { return };
        let from = published.iter().position(|place| place == first);
        let all = from.map(|from| &published[from..]).unwrap_or_default();
        assert_eq!(
            all.get(..self.heard.len()),
            Some(&*self.heard),
            "of {published:?}"
        );
    }
}

struct World {
    history: History<u32>,
    shards: [Shard; N_SHARDS],
    clients: Vec<Client>,
    now_secs: u64,
    /// The messages of the stream, in order.
    published: Vec<Place>,
    /// Their serial numbers.
    serials: Vec<u64>,
}

impl World {
    fn take(&mut self, shard: usize) {
        let Some(entry) = self.shards[shard].mailbox.pop_front() else {
            return;
        };
        self.shards[shard].taken = entry.serial;
        for client in &mut self.clients {
            if matches!(client.state, State::Live(on) if on == shard) && &*entry.label.stream == STREAM {
                client.hear(&entry);
            }
        }
    }

    fn come_back(&mut self, number: usize, shard: usize) {
        // A shard takes all that was published by now, as `Shard::catch_up` waits for.
        let seen = self.history.last_serial();
        while self.shards[shard].taken < seen {
            self.take(shard);
        }
        let client = &mut self.clients[number];
        let start = match &client.position {
            Some((epoch, offset)) => after(epoch, *offset),
            None => Start::Since(0),
        };
        match self
            .history
            .begin(STREAM, start, self.shards[shard].taken, self.now_secs * SECOND)
        {
            Ok(cursor) => client.state = State::Replaying(shard, cursor),
            Err(_) => {
                client.is_told();
                client.state = State::Live(shard);
            }
        }
        self.go_on(number);
    }

    fn resume(&mut self, number: usize, shard: usize) {
        let seen = self.history.last_serial();
        while self.shards[shard].taken < seen {
            self.take(shard);
        }
        self.clients[number].state = State::Held(shard, self.shards[shard].taken);
    }

    /// A held client asks for what it has missed, or gets what came since its return. If it does not ask, the gap before
    /// its return is its own affair.
    fn settle(&mut self, number: usize, asks: bool) {
        let State::Held(shard, seen) = self.clients[number].state else {
            return;
        };
        if asks {
            return self.come_back(number, shard);
        }
        let client = &mut self.clients[number];
        client.is_told();
        let mut before_return = self
            .published
            .iter()
            .zip(&self.serials)
            .filter(|(_, serial)| **serial <= seen);
        if let Some((place, _)) = before_return.next_back() {
            client.heard.push(place.clone());
            client.position = Some(place.clone());
        }
        let (up_to, now_ms) = (self.shards[shard].taken, self.now_secs * SECOND);
        match self.history.begin(STREAM, Start::Unseen(seen), up_to, now_ms) {
            Ok(cursor) => client.state = State::Replaying(shard, cursor),
            Err(_) => {
                client.is_told();
                client.state = State::Live(shard);
            }
        }
        self.go_on(number);
    }

    fn go_on(&mut self, number: usize) {
        let client = &mut self.clients[number];
        let State::Replaying(shard, cursor) = &mut client.state else {
            return;
        };
        let (shard, mut room, mut found) = (*shard, 300, Vec::new());
        let result = self
            .history
            .read(cursor, self.shards[shard].taken, &mut room, &mut found);
        found.iter().for_each(|entry| client.hear(entry));
        match result {
            Ok(false) => {}
            Ok(true) => client.state = State::Live(shard),
            Err(_) => {
                client.is_told();
                client.state = State::Live(shard);
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Publish { on_another_stream } => {
                let stream = if on_another_stream { "other" } else { STREAM };
                let entry = self.history.append(stream, 0, 50, self.now_secs * SECOND);
                if !on_another_stream {
                    self.published.push((entry.label.epoch.clone(), entry.offset));
                    self.serials.push(entry.serial);
                }
                for shard in &mut self.shards {
                    shard.mailbox.push_back(Arc::clone(&entry));
                }
            }
            Step::Take(shard) => self.take(shard),
            Step::Cut(client) => self.clients[client].state = State::Away,
            Step::Return { client, shard } => {
                if matches!(self.clients[client].state, State::Away) {
                    self.come_back(client, shard);
                }
            }
            Step::Resume { client, shard } => {
                if matches!(self.clients[client].state, State::Away) {
                    self.resume(client, shard);
                }
            }
            Step::Settle { client, asks } => self.settle(client, asks),
            Step::GoOn(client) => self.go_on(client),
            Step::Wait { secs } => {
                self.now_secs += secs;
                self.history.sweep(1, self.now_secs * SECOND);
            }
        }
    }
}

proptest! {
    #[test]
    fn no_client_misses_a_message_without_being_told(
        steps in steps(),
        limit in 1..12_usize,
        max_bytes in prop_oneof![Just(usize::MAX), Just(2000)],
    ) {
        let mut world = World {
            history: history(limit, 5, max_bytes, Truncation::Refuse),
            shards: Default::default(),
            clients: (0..4)
                .map(|_| Client { state: State::Away, position: None, heard: Vec::new() })
                .collect(),
            now_secs: 100,
            published: Vec::new(),
            serials: Vec::new(),
        };
        for step in &steps {
            world.step(step);
            world.clients.iter().for_each(|client| client.check(&world.published));
        }
        // When all mailboxes are empty, a client that is live has heard the last message.
        for shard in 0..N_SHARDS {
            while !world.shards[shard].mailbox.is_empty() {
                world.take(shard);
            }
        }
        for client in &world.clients {
            client.check(&world.published);
            if let (State::Live(_), Some((epoch, offset))) = (&client.state, client.heard.last()) {
                let start = after(epoch, *offset);
                let missed = replay(&world.history, STREAM, start, u64::MAX, world.now_secs);
                prop_assert!(
                    matches!(missed.as_deref(), Ok([]) | Err(Refused::NoLog | Refused::OtherEpoch)),
                    "{missed:?}"
                );
            }
        }
    }
}
