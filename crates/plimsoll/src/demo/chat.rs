//! The chat scenario in native code: the same as the k6 scripts in `tests/foreign/scripts/chat`.
//!
//! A user connects with a cookie, subscribes to the room, speaks five times, waits each time for its own
//! message to come back, pauses between half a second and a second, and leaves.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use plimsoll_clients::{
    cable::{self, Client, Incoming},
    target::Target,
    websocket,
};
use plimsoll_load::{
    metrics::{CheckId, Contains, CounterId, Recorder, RegisterError, Registry, TrendId},
    vu::{Iteration, IterationContext, IterationError, Vu, VuFactory, VuId},
};
use serde::Deserialize;

use super::room::{Account, Listener, Mark, Room};

/// Messages that a user speaks per visit (the scripts' `NUM`).
const N_MESSAGES: usize = 5;

/// The beginning of the ids of the run's users; people with a browser have other ids.
const USER_ID: &str = "100";

/// The room (the script's `WORKSPACE`), as the subscription identifier names it.
const IDENTIFIER: &str = r#"{"channel":"ChatChannel","id":"demo"}"#;

/// The script's `receiveTimeoutMS`, for its own message and for the answer to `subscribe`.
const RECEIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// The time that a leaving user waits for messages that are still on their way.
const STRAGGLER_TIMEOUT: Duration = Duration::from_secs(2);

/// Handles of everything that the scenario measures. Names as in k6 and in the script.
#[derive(Debug, Clone, Copy)]
pub(super) struct Metrics {
    connection: CheckId,
    subscription: CheckId,
    own_message: CheckId,
    rtt: TrendId,
    broadcast_duration: TrendId,
    connecting: TrendId,
    sessions: CounterId,
    messages_sent: CounterId,
    messages_received: CounterId,
    data_sent: CounterId,
    data_received: CounterId,
    expected: CounterId,
    received: CounterId,
    duplicated: CounterId,
    out_of_order: CounterId,
}

impl Metrics {
    /// Registers them.
    pub(super) fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        Ok(Self {
            connection: registry.check("successful connection"),
            subscription: registry.check("successful subscription"),
            own_message: registry.check("received its own message"),
            rtt: registry.trend("rtt")?,
            broadcast_duration: registry.trend("broadcast_duration")?,
            connecting: registry.trend("ws_connecting")?,
            sessions: registry.counter("ws_sessions", Contains::Default)?,
            messages_sent: registry.counter("ws_msgs_sent", Contains::Default)?,
            messages_received: registry.counter("ws_msgs_received", Contains::Default)?,
            data_sent: registry.counter("data_sent", Contains::Data)?,
            data_received: registry.counter("data_received", Contains::Data)?,
            expected: registry.counter("broadcasts_expected", Contains::Default)?,
            received: registry.counter("broadcasts_rcvd", Contains::Default)?,
            duplicated: registry.counter("broadcasts_duplicated", Contains::Default)?,
            out_of_order: registry.counter("broadcasts_out_of_order", Contains::Default)?,
        })
    }

    /// The account of all listeners together.
    pub(super) fn account(&self, metrics: &plimsoll_load::metrics::MetricSet) -> Account {
        Account {
            n_expected: metrics.counter(self.expected),
            n_received: metrics.counter(self.received),
            n_duplicated: metrics.counter(self.duplicated),
            n_out_of_order: metrics.counter(self.out_of_order),
        }
    }

    /// The trend that says how long a message took to each listener.
    pub(super) fn broadcast_duration(&self) -> TrendId {
        self.broadcast_duration
    }
}

/// Makes the users of one room.
#[derive(Debug)]
pub(super) struct Chat {
    options: cable::Options,
    metrics: Metrics,
    room: Arc<Room>,
}

impl Chat {
    /// A room on the server at `address`.
    pub(super) fn new(target: Target, address: SocketAddr, metrics: Metrics) -> Self {
        let options = cable::Options::new(websocket::Options::new(target, vec![address]));
        Self {
            options,
            metrics,
            room: Arc::new(Room::open()),
        }
    }
}

impl VuFactory for Chat {
    fn create(&self, vu: VuId) -> Result<Box<dyn Vu>, String> {
        let id = format!("{USER_ID}{vu}");
        let name = format!("Kay{id}");
        let mut options = self.options.clone();
        options
            .websocket
            .headers
            .push(("Cookie".to_owned(), format!("uid={name}/{id}")));
        Ok(Box::new(User {
            options,
            metrics: self.metrics,
            room: Arc::clone(&self.room),
            id,
            name,
        }))
    }
}

/// A virtual user.
struct User {
    options: cable::Options,
    metrics: Metrics,
    room: Arc<Room>,
    id: String,
    name: String,
}

impl Vu for User {
    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a> {
        Box::pin(self.visit(&context.metrics))
    }
}

impl User {
    async fn visit(&self, recorder: &Recorder) -> Result<(), IterationError> {
        let mut visit = self.connect(recorder).await?;
        visit.subscribe().await?;
        for _ in 0..N_MESSAGES {
            visit.speak().await?;
            // 0.5 to 1.0 s in steps of 0.1 s, as the script's randomIntBetween(5, 10) / 10.
            visit
                .client
                .pause(Duration::from_millis(100 * fastrand::u64(5..=10)))
                .await;
        }
        visit.leave().await;
        Ok(())
    }

    async fn connect<'a>(&'a self, recorder: &'a Recorder) -> Result<Visit<'a>, IterationError> {
        let connected = Client::connect(&self.options).await;
        recorder.check(self.metrics.connection, connected.is_ok());
        let (client, timings) = connected
            .map_err(|error| IterationError::new(format!("connection failed: {}", error.cause())))?;
        recorder.record(self.metrics.connecting, timings.websocket.total());
        recorder.count(self.metrics.sessions, 1);
        Ok(Visit {
            user: self,
            recorder,
            client,
            listener: None,
        })
    }
}

/// A connected user. What it counted is recorded when it ends, even when it is interrupted.
struct Visit<'a> {
    user: &'a User,
    recorder: &'a Recorder,
    client: Client,
    listener: Option<Arc<Mutex<Heard>>>,
}

/// The data that the client's observer collects while the user does other things.
#[derive(Debug)]
struct Heard {
    listener: Listener,
    /// The delay of each message, until the visit records it.
    ages: Vec<Duration>,
}

/// The chat's message, as far as the scenario looks into it.
#[derive(Deserialize)]
struct NewMessage<'a> {
    author_id: &'a str,
    message: &'a str,
}

impl Visit<'_> {
    async fn subscribe(&mut self) -> Result<(), IterationError> {
        let subscribed = self.client.subscribe(IDENTIFIER, RECEIVE_TIMEOUT).await;
        self.recorder
            .check(self.user.metrics.subscription, subscribed.is_ok());
        subscribed.map_err(|error| IterationError::new(format!("failed to subscribe: {}", error.cause())))?;
        let room = Arc::clone(&self.user.room);
        let heard = Arc::new(Mutex::new(Heard {
            listener: room.join(),
            ages: Vec::new(),
        }));
        self.listener = Some(Arc::clone(&heard));
        self.client
            .observe(move |incoming| lock(&heard).note(&room, incoming));
        Ok(())
    }

    async fn speak(&mut self) -> Result<(), IterationError> {
        let metrics = &self.user.metrics;
        let mark = self.user.room.mark();
        let words = mark.append_to(&format!("hello from {}", self.user.name));
        let data = serde_json::json!({ "message": words }).to_string();
        let sent_at = self
            .client
            .perform(IDENTIFIER, "speak", &data)
            .await
            .map_err(|error| {
                self.user.room.was_not_sent(mark);
                IterationError::new(format!("could not speak: {error}"))
            })?;
        let is_own = |message: &str| {
            serde_json::from_str::<NewMessage<'_>>(message)
                .is_ok_and(|message| message.author_id == self.user.id && message.message == words)
        };
        let received = self.client.receive(is_own, RECEIVE_TIMEOUT).await;
        self.recorder.check(metrics.own_message, received.is_ok());
        let received = received.map_err(|error| {
            IterationError::new(format!("expected message hasn't been received: {error}"))
        })?;
        self.recorder
            .record(metrics.rtt, received.at.saturating_duration_since(sent_at));
        self.record_ages();
        Ok(())
    }

    /// Waits for messages that are still on their way, closes the account and leaves.
    async fn leave(mut self) {
        let end = self.user.room.now();
        let deadline = Instant::now() + STRAGGLER_TIMEOUT;
        let account = loop {
            let account = self.account(end);
            let time_left = deadline.saturating_duration_since(Instant::now());
            if account.n_lost() == 0 || self.client.receive(|_| true, time_left).await.is_err() {
                break account;
            }
        };
        let metrics = &self.user.metrics;
        self.recorder.count(metrics.expected, account.n_expected);
        self.recorder.count(metrics.received, account.n_received);
        self.recorder.count(metrics.duplicated, account.n_duplicated);
        self.recorder.count(metrics.out_of_order, account.n_out_of_order);
        self.client.disconnect().await;
    }

    fn account(&self, end: u64) -> Account {
        let account = |heard: &Arc<Mutex<Heard>>| self.user.room.account(&lock(heard).listener, end);
        self.listener.as_ref().map(account).unwrap_or_default()
    }

    fn record_ages(&self) {
        let Some(heard) = &self.listener else { return };
        for age in lock(heard).ages.drain(..) {
            self.recorder.record(self.user.metrics.broadcast_duration, age);
        }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.record_ages();
        let metrics = &self.user.metrics;
        let counters = self.client.counters();
        self.recorder
            .count(metrics.messages_sent, counters.n_messages_out);
        self.recorder
            .count(metrics.messages_received, counters.n_messages_in);
        self.recorder.count(metrics.data_sent, counters.bytes_out);
        self.recorder.count(metrics.data_received, counters.bytes_in);
    }
}

impl Heard {
    fn note(&mut self, room: &Room, incoming: Incoming<'_>) {
        let Ok(message) = serde_json::from_str::<NewMessage<'_>>(incoming.message) else {
            return;
        };
        // People may be in the room, too, and say what they like: what no user of the run said is in no account.
        let mark = Mark::parse(message.message)
            .filter(|mark| message.author_id.starts_with(USER_ID) && mark.number < room.now());
        let Some(mark) = mark else {
            return;
        };
        if self.listener.hear(message.author_id, mark) {
            self.ages.push(room.age(mark, incoming.at));
        }
    }
}

/// Observer and user run on one thread, one after the other; the lock is never contended.
fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}
