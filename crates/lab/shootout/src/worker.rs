//! A worker: one thread with its share of the clients.
//!
//! Each worker has a current-thread runtime and one small task per connection. The connections of a worker share
//! one read buffer, one reader of messages and one ledger, so that a connection that waits costs its socket and
//! its task. The coordinator gives orders through a bounded channel and hears back through another; per
//! broadcast it hears once from each worker, however many clients that has, and once per second how long the
//! deliveries took.

mod book;
mod connection;
mod failing;
mod held;
mod mailbox;
mod opening;

use std::{
    cell::RefCell,
    io,
    rc::Rc,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use plimsoll_clients::{dial::Traffic, websocket};
use plimsoll_load::{
    generator::{Evidence, Glance, Monitor},
    histogram::{self, Histogram},
};
use serde::{Deserialize, Serialize};
use tokio::{
    runtime::{Builder, LocalOptions},
    sync::mpsc,
    task::JoinSet,
    time::timeout,
};

use self::{
    book::Book,
    connection::{Letter, live},
    mailbox::Mailbox,
};
pub(crate) use self::{failing::Failing, opening::Opening};
use crate::{
    ledger::{Completion, Harvest, Nodes, SendTable, Standing, Tally},
    wire::{Command, Wire},
};

/// Orders that wait for a worker. When it is full the coordinator waits; the worker always takes orders, even
/// while its own channel to the coordinator is full, so the two cannot block each other.
const N_ORDERS: usize = 1024;

/// The time that a worker waits for its connections to close at the end of the run: thousands close at the same time.
const CLOSE_TIMEOUT: Duration = websocket::Conversation::CLOSE_TIMEOUT.saturating_mul(2);

/// A client: its worker and its slot there. Slots are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientId {
    pub(crate) worker: usize,
    pub(crate) slot: usize,
}

/// The common data of all workers of a run.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) wire: Arc<Wire>,
    /// The ways to each server: one set of options per source address; without source addresses a single one.
    pub(crate) routes: Vec<Vec<websocket::Options>>,
    /// The time limit of the answer to a subscription.
    pub(crate) subscribe_limit: Duration,
    pub(crate) monitor: Monitor,
    /// Whether others than workers of this process send: then their broadcasts become known by [`Order::Settle`] only.
    pub(crate) is_remote: bool,
}

/// The way of a client to its server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// The number of the server, from 0, as [`Nodes`] has it.
    pub(crate) node: usize,
    /// The number of the route to it.
    pub(crate) route: usize,
}

/// An order of the coordinator.
#[derive(Debug)]
pub(crate) enum Order {
    /// Connect the client of the next slot.
    Open(Way),
    /// A step begins; all clients that are connected now are its listeners.
    OpenStep(Arc<SendTable>),
    /// Let a client send.
    Send(SendOrder),
    /// Tell the account of a step, numbered from 0.
    Report { step_idx: usize },
    /// Tell the deliveries since this was ordered before; they belong to this time of the run.
    Collect { at: Duration },
    /// Tell how many deliveries of a step have arrived, of its broadcasts with ids below `end_id`.
    Survey { step_idx: usize, end_id: u64 },
    /// Wait no longer for deliveries of a step, and tell its account. Each missing delivery counts with the time from its
    /// send until `at`, or with `at_least` if that is longer.
    CloseStep {
        step_idx: usize,
        at: Instant,
        at_least: Duration,
    },
    /// Look again at what is held: more broadcasts are known, and all that were sent before `until`. Only for workers of
    /// agents.
    Settle { until: Option<Instant> },
}

/// One message to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SendOrder {
    pub(crate) slot: usize,
    pub(crate) command: Command,
    pub(crate) id: u64,
    pub(crate) floor: u64,
    /// The scheduled time, from which the times of the message count. `None` for a message of a closed loop.
    pub(crate) due: Option<Instant>,
}

/// An event of a worker.
#[derive(Debug)]
pub(crate) enum Event {
    /// A client is ready.
    Opened { client: ClientId, opening: Opening },
    /// A client did not get ready.
    OpenFailed(Failing),
    /// A client that was ready has lost its connection.
    Dropped { client: ClientId, failing: Failing },
    /// The sender of a message has its answer.
    Answered { id: u64, latency: Duration },
    /// The sender of a message will get no answer.
    Unanswerable { id: u64 },
    /// A broadcast goes out. Only workers of agents tell it.
    Sent { id: u64, floor: u64, at: Instant },
    /// A broadcast has arrived at all clients of the worker that it can still arrive at, or its step was closed.
    Completed(Completion),
    /// The answer to [`Order::OpenStep`].
    StepOpened,
    /// The answer to [`Order::Survey`].
    Surveyed(Standing),
    /// The server has sent Action Cable's welcome, although its type is another one.
    SpeaksCable,
    /// The answer to [`Order::Report`] and [`Order::CloseStep`].
    Reported(Box<Report>),
    /// The answer to [`Order::Collect`], once for each step that had deliveries.
    Collected {
        step_idx: usize,
        at: Duration,
        harvest: Box<Harvest>,
    },
    /// The evidence about the generator of an agent.
    Lapped(usize, Box<Evidence>),
    /// The generator of an agent in the last second.
    Glanced(usize, Glance),
    /// Why an agent has no room for more clients; `None` if it has.
    Room(usize, Option<String>),
    /// An agent is gone, for this reason.
    AgentLost(usize, String),
}

/// A worker's account of a step, and its counts of oddities in the whole run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) tally: Tally,
    /// How late scheduled messages of the newest step were sent.
    #[serde(deserialize_with = "histogram::durations")]
    pub(crate) lateness: Histogram,
    /// Messages that this run did not send.
    pub(crate) n_foreign: u64,
    /// The number of unexpected answers: repeated ones, and answers to another client's message.
    pub(crate) n_stray_answers: u64,
    /// The number of echoes that differ from the sent message.
    pub(crate) n_altered: u64,
}

/// The coordinator's hold on a worker. The worker ends when the sender of orders is dropped.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) orders: mpsc::Sender<Order>,
    pub(crate) thread: JoinHandle<()>,
}

/// Starts the worker with the number `worker_idx`.
///
/// # Errors
/// The system gives no thread or no event queue (too many open files).
pub(crate) fn spawn(worker_idx: usize, setup: Arc<Setup>, events: mpsc::Sender<Event>) -> io::Result<Handle> {
    let (orders, incoming) = mpsc::channel(N_ORDERS);
    let (started, has_started) = std::sync::mpsc::sync_channel(1);
    let thread = thread::Builder::new()
        .name(format!("bench-{worker_idx}"))
        .spawn(move || {
            let runtime = Builder::new_current_thread()
                .enable_all()
                .build_local(LocalOptions::default());
            // The spawner is waiting; if it were not, the worker would end with its orders.
            let (runtime, outcome) = runtime.map_or_else(|error| (None, Err(error)), |it| (Some(it), Ok(())));
            let _ = started.send(outcome);
            if let Some(runtime) = runtime {
                runtime.block_on(run(worker_idx, setup, incoming, events));
            }
        })?;
    has_started.recv().map_err(io::Error::other)??;
    Ok(Handle { orders, thread })
}

/// The common data of a worker's tasks.
#[derive(Debug)]
struct Shared {
    worker_idx: usize,
    setup: Arc<Setup>,
    /// One count for all connections, so that counting does not touch the memory of each.
    traffic: Rc<Traffic>,
    book: RefCell<Book>,
    /// The mailbox of each slot; `None` while the client is not connected.
    mailboxes: RefCell<Vec<Option<Rc<Mailbox<Letter>>>>>,
    /// On the way to the coordinator. Bounded by what it ordered: one event per connection that opens or ends,
    /// three per message in flight, one for each broadcast that is missing when its step is closed, one for each survey, and
    /// each second one per step that had deliveries.
    outbox: Mailbox<Event>,
}

async fn run(
    worker_idx: usize,
    setup: Arc<Setup>,
    mut orders: mpsc::Receiver<Order>,
    events: mpsc::Sender<Event>,
) {
    let shared = Rc::new(Shared {
        worker_idx,
        traffic: Rc::default(),
        book: RefCell::new(Book::new(
            Arc::clone(&setup.wire),
            Nodes::new(setup.routes.len(), worker_idx),
            setup.is_remote,
        )),
        mailboxes: RefCell::default(),
        outbox: Mailbox::new(),
        setup,
    });
    let monitor = shared.setup.monitor.clone();
    let health = tokio::task::spawn_local(async move { monitor.watch_worker().await });
    let forwarding = tokio::task::spawn_local(forward(Rc::clone(&shared), events));
    let mut connections = JoinSet::new();
    while let Some(order) = orders.recv().await {
        shared.obey(order, &mut connections);
    }
    shared
        .mailboxes
        .borrow()
        .iter()
        .flatten()
        .for_each(|mailbox| mailbox.post(Letter::Close));
    // Those that are still busy by then are dropped with the runtime.
    let _ = timeout(CLOSE_TIMEOUT, async {
        while connections.join_next().await.is_some() {}
    })
    .await;
    health.abort();
    forwarding.abort();
}

async fn forward(shared: Rc<Shared>, events: mpsc::Sender<Event>) {
    // An error means that the coordinator has ended and needs no report.
    while events.send(shared.outbox.take().await).await.is_ok() {}
}

impl Shared {
    fn obey(self: &Rc<Self>, order: Order, connections: &mut JoinSet<()>) {
        match order {
            Order::Open(way) => {
                let slot = self.add_slot();
                connections.spawn_local(live(Rc::clone(self), slot, way));
            }
            Order::OpenStep(table) => {
                let mailboxes = self.mailboxes.borrow();
                let connected = mailboxes.iter().map(Option::is_some);
                self.book.borrow_mut().open_step(table, connected);
                self.outbox.post(Event::StepOpened);
            }
            Order::Send(order) => match self.mailboxes.borrow().get(order.slot) {
                Some(Some(mailbox)) => mailbox.post(Letter::Send(order)),
                _ => self.outbox.post(Event::Unanswerable { id: order.id }),
            },
            Order::Report { step_idx } => {
                self.settle(Some(Instant::now()));
                let report = self.book.borrow_mut().report(step_idx);
                self.outbox.post(Event::Reported(Box::new(report)));
            }
            Order::Collect { at } => {
                for (step_idx, harvest) in self.book.borrow_mut().collect() {
                    self.outbox.post(Event::Collected {
                        step_idx,
                        at,
                        harvest: Box::new(harvest),
                    });
                }
            }
            Order::Survey { step_idx, end_id } => {
                let standing = self.book.borrow_mut().standing(step_idx, end_id);
                self.outbox.post(Event::Surveyed(standing));
            }
            Order::CloseStep {
                step_idx,
                at,
                at_least,
            } => {
                self.settle(Some(Instant::now()));
                let mut book = self.book.borrow_mut();
                for completion in book.close_step(step_idx, at, at_least) {
                    self.outbox.post(Event::Completed(completion));
                }
                let report = book.report(step_idx);
                self.outbox.post(Event::Reported(Box::new(report)));
            }
            Order::Settle { until } => self.settle(until),
        }
    }

    /// Enters what has been held and can be judged now.
    fn settle(&self, until: Option<Instant>) {
        for completion in self.book.borrow_mut().settle(until) {
            self.outbox.post(Event::Completed(completion));
        }
    }

    fn add_slot(&self) -> usize {
        let mut mailboxes = self.mailboxes.borrow_mut();
        mailboxes.push(None);
        mailboxes.len() - 1
    }

    fn client(&self, slot: usize) -> ClientId {
        ClientId {
            worker: self.worker_idx,
            slot,
        }
    }
}
