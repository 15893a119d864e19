//! Any schedule of publications, cuts, returns and new clients, on the shards of a real server: a client hears every
//! message of its streams once and in order, or is told that some are missing.

mod listener;

use std::{sync::Arc, time::Duration};

use plimsoll_broker::{Retention, Retentions, Settings, Truncation, presence};
use plimsoll_cable::broadcast::Publication;
use plimsoll_server::{Broker, Config, Resuming};
use proptest::prelude::*;

use self::listener::Listener;
use super::{
    application::Streaming,
    server::{Server, config},
};

/// The streams, and the bytes of their messages. A replay of many large ones goes in portions.
const STREAMS: [(&str, usize); 2] = [("a", 4096), ("b", 10)];
/// More messages of a stream than any schedule publishes.
const UNLIMITED: usize = 100_000;

const N_LISTENERS: usize = 4;

#[derive(Debug, Clone)]
enum Step {
    Publish(Burst),
    /// The client reads everything that the server has for it.
    Read(usize),
    /// The connection breaks. `is_noticed`: the server learns of it.
    Cut {
        listener: usize,
        is_noticed: bool,
    },
    /// The client comes back, and asks for what it has missed.
    Return {
        listener: usize,
        /// Published before the client has read its welcome.
        early: Burst,
        /// Published while the client asks.
        late: Burst,
    },
    /// The client comes back and does not ask.
    ReturnSilently {
        listener: usize,
        early: Burst,
    },
    /// The client comes back while messages are published, so that its new shard may be behind its last one.
    Hop {
        listener: usize,
        meanwhile: Burst,
    },
    /// Another client takes the place of this one.
    Replace {
        listener: usize,
        late: Burst,
    },
}

/// Numbers of messages, by stream.
type Burst = [usize; STREAMS.len()];

fn bursts() -> impl Strategy<Value = Burst> {
    prop_oneof![
        4 => [0..4_usize, 0..4_usize],
        1 => [0..40_usize, 0..200_usize],
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let listener = 0..N_LISTENERS;
    let step = prop_oneof![
        4 => bursts().prop_map(Step::Publish),
        3 => listener.clone().prop_map(Step::Read),
        3 => (listener.clone(), any::<bool>())
            .prop_map(|(listener, is_noticed)| Step::Cut { listener, is_noticed }),
        5 => (listener.clone(), bursts(), bursts())
            .prop_map(|(listener, early, late)| Step::Return { listener, early, late }),
        2 => (listener.clone(), bursts())
            .prop_map(|(listener, early)| Step::ReturnSilently { listener, early }),
        3 => (listener.clone(), bursts())
            .prop_map(|(listener, meanwhile)| Step::Hop { listener, meanwhile }),
        1 => (listener, bursts()).prop_map(|(listener, late)| Step::Replace { listener, late }),
    ];
    proptest::collection::vec(step, 1..25)
}

/// A server with its backend.
struct World {
    server: Arc<Server>,
    /// Whether messages may be gone.
    may_refuse: bool,
    /// The number of the last message of each stream.
    published: [u64; STREAMS.len()],
}

impl World {
    fn new(limit: usize, max_bytes: usize) -> Self {
        let retention = Retention {
            limit,
            ttl: Duration::from_secs(300),
        };
        let broker = Broker {
            sessions: None,
            members: None,
            history: Settings {
                retentions: Retentions {
                    default: retention,
                    by_pattern: Vec::new(),
                },
                max_bytes,
                truncation: Truncation::Refuse,
            },
            resuming: Some(Resuming {
                ttl: Duration::from_secs(300),
                disconnect_grace: Duration::ZERO,
                max_bytes: usize::MAX,
            }),
            presence: Some(presence::Settings {
                ttl: Duration::from_secs(15),
                announces_updates: false,
                max_bytes: usize::MAX,
            }),
        };
        let config = Config {
            broker: Some(broker),
            n_shards: 3,
            max_pending_bytes: 64 << 20,
            ..config()
        };
        Self {
            server: Arc::new(Server::start(config, Streaming)),
            may_refuse: limit < UNLIMITED || max_bytes < usize::MAX,
            published: [0; STREAMS.len()],
        }
    }

    /// Publishes to all streams at once, and waits until all shards have delivered.
    async fn publish(&mut self, burst: Burst) {
        let publisher = self.server.publisher();
        let [a, b] = [0, 1].map(|stream| {
            let (name, n_bytes) = STREAMS[stream];
            let numbers = self.published[stream] + 1..=self.published[stream] + burst[stream] as u64;
            async move {
                for number in numbers {
                    let message = format!(r#"{{"number":{number},"rest":"{}"}}"#, "x".repeat(n_bytes));
                    let publication = Publication::from_json(name, message);
                    if number % 8 == 0 {
                        publisher.deliver(publication).await;
                    } else {
                        publisher.publish(publication).await;
                    }
                }
            }
        });
        tokio::join!(a, b);
        for (last, n) in self.published.iter_mut().zip(burst) {
            *last += n as u64;
        }
        // Behind all of them in every mailbox.
        let mut mark = Publication::from_json("mark", "0");
        mark.options.is_transient = true;
        self.server.publisher().deliver(mark).await;
    }

    async fn step(&mut self, listeners: &mut [Listener], step: &Step) {
        match *step {
            Step::Publish(burst) => self.publish(burst).await,
            Step::Read(listener) => listeners[listener].read_all().await,
            Step::Cut { listener, is_noticed } => listeners[listener].cut(is_noticed),
            Step::Return {
                listener,
                early,
                late,
            } => {
                let listener = &mut listeners[listener];
                listener.reconnect(&self.server).await;
                self.publish(early).await;
                tokio::join!(listener.ask(), self.publish(late));
            }
            Step::ReturnSilently { listener, early } => {
                let listener = &mut listeners[listener];
                listener.reconnect(&self.server).await;
                if listener.is_welcomed_back().await {
                    listener.forgets_the_gap(self.published);
                    self.publish(early).await;
                    listener.act().await;
                    listener.read_all().await;
                } else {
                    listener.subscribe().await;
                }
            }
            Step::Hop { listener, meanwhile } => {
                let listener = &mut listeners[listener];
                let server = self.server.clone();
                let hopping = async {
                    listener.read_all().await;
                    listener.reconnect(&server).await;
                    listener.ask().await;
                };
                tokio::join!(self.publish(meanwhile), hopping);
            }
            Step::Replace { listener, late } => {
                let listener = &mut listeners[listener];
                *listener = Listener::new(self.may_refuse);
                listener.reconnect(&self.server).await;
                tokio::join!(listener.ask(), self.publish(late));
            }
        }
    }
}

async fn run(steps: &[Step], limit: usize, max_bytes: usize) {
    let mut world = World::new(limit, max_bytes);
    let mut listeners: Vec<_> = (0..N_LISTENERS)
        .map(|_| Listener::new(world.may_refuse))
        .collect();
    for step in steps {
        world.step(&mut listeners, step).await;
    }
    // Everyone comes back, and hears what is published from then on.
    for listener in &mut listeners {
        listener.reconnect(&world.server).await;
        listener.ask().await;
    }
    world.publish([1, 1]).await;
    for listener in &mut listeners {
        listener.read_all().await;
        listener.check_is_whole(world.published);
    }
    drop(listeners);
    Arc::into_inner(world.server).unwrap().stop().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_client_misses_a_message_without_being_told(
        steps in steps(),
        limit in prop_oneof![Just(1_usize), Just(5), Just(50), Just(UNLIMITED)],
        max_bytes in prop_oneof![2 => Just(usize::MAX), 1 => Just(30_000_usize)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(&steps, limit, max_bytes));
    }
}
