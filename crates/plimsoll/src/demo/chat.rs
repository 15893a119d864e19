//! The chat scenario in native code: the same as the k6 scripts in `tests/foreign/scripts/chat`.
//!
//! A user connects with a cookie, subscribes to the room, speaks five times, waits each time for its own
//! message to come back, pauses between half a second and a second, and leaves.

use std::{
    net::SocketAddr,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_cable::identifier::encode_action;
use plimsoll_clients::{
    cable::{
        ConnectError, SubscribeError,
        session::{Channel, Message, Reader, Session},
    },
    dial::Traffic,
    target::Target,
    websocket::{self, Options, Timings},
};
use plimsoll_load::{
    metrics::{CheckId, Contains, CounterId, Recorder, RegisterError, Registry, TrendId},
    vu::{Iteration, IterationContext, IterationError, Vu, VuFactory, VuId},
};
use serde::Deserialize;
use tokio::time::{sleep_until, timeout_at};

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
    options: Options,
    metrics: Metrics,
    room: Arc<Room>,
}

impl Chat {
    /// A room on the server at `address`.
    pub(super) fn new(target: Target, address: SocketAddr, metrics: Metrics) -> Self {
        let options = Options::new(target, vec![address]);
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
    options: Options,
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
        let mut visit = self.enter(recorder).await?;
        for _ in 0..N_MESSAGES {
            visit.speak().await?;
            // 0.5 to 1.0 s in steps of 0.1 s, as the script's randomIntBetween(5, 10) / 10.
            visit
                .pause(Duration::from_millis(100 * fastrand::u64(5..=10)))
                .await;
        }
        visit.leave().await;
        Ok(())
    }

    /// Connects and subscribes.
    async fn enter<'a>(&'a self, recorder: &'a Recorder) -> Result<Visit<'a>, IterationError> {
        let traffic = Rc::default();
        let connected = self.connect(&traffic).await;
        recorder.check(self.metrics.connection, connected.is_ok());
        let (session, mut reader, timings) = connected
            .map_err(|error| IterationError::new(format!("connection failed: {}", error.cause())))?;
        recorder.record(self.metrics.connecting, timings.total());
        recorder.count(self.metrics.sessions, 1);
        let meter = Meter {
            metrics: self.metrics,
            recorder,
            session,
            traffic,
        };
        let subscribing = async {
            let channel = meter.session.subscribe(IDENTIFIER).await?;
            channel.confirmed(RECEIVE_TIMEOUT).await?;
            Ok::<_, SubscribeError>(channel)
        };
        let subscribed = reader.read_during(subscribing).await;
        recorder.check(self.metrics.subscription, subscribed.is_ok());
        let channel = subscribed
            .map_err(|error| IterationError::new(format!("failed to subscribe: {}", error.cause())))?;
        Ok(Visit {
            user: self,
            reader,
            channel,
            listener: self.room.join(),
            meter,
        })
    }

    async fn connect(&self, traffic: &Rc<Traffic>) -> Result<(Session, Reader, Timings), ConnectError> {
        let (connection, timings) = websocket::connect(&self.options, traffic).await?;
        let left = self.options.deadline.saturating_sub(timings.total());
        let (session, reader) = Session::open(connection, left, None).await?;
        Ok((session, reader, timings))
    }
}

/// Records the traffic of a session when that ends, even when the visit is interrupted.
struct Meter<'a> {
    metrics: Metrics,
    recorder: &'a Recorder,
    session: Session,
    traffic: Rc<Traffic>,
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        let (totals, (n_sent, n_received)) = (self.session.totals(), self.traffic.take());
        for (counter, n) in [
            (self.metrics.messages_sent, totals.n_commands),
            (self.metrics.messages_received, totals.n_messages_in),
            (self.metrics.data_sent, n_sent),
            (self.metrics.data_received, n_received),
        ] {
            self.recorder.count(counter, n);
        }
    }
}

/// A user in the room.
struct Visit<'a> {
    user: &'a User,
    reader: Reader,
    channel: Channel,
    listener: Listener,
    meter: Meter<'a>,
}

/// The chat's message, as far as the scenario looks into it.
#[derive(Deserialize)]
struct NewMessage<'a> {
    author_id: &'a str,
    message: &'a str,
}

impl Visit<'_> {
    async fn speak(&mut self) -> Result<(), IterationError> {
        let (user, recorder) = (self.user, self.meter.recorder);
        let mark = user.room.mark();
        let words = mark.append_to(&format!("hello from {}", user.name));
        let not_sent = |error: String| {
            user.room.was_not_sent(mark);
            IterationError::new(format!("could not speak: {error}"))
        };
        let data = serde_json::json!({ "message": words }).to_string();
        let data = encode_action("speak", &data).map_err(|error| not_sent(error.to_string()))?;
        let sent = self.reader.read_during(self.channel.perform(&data)).await;
        let sent_at = sent.map_err(|error| not_sent(error.to_string()))?;
        let is_own = |message: &NewMessage<'_>| message.author_id == user.id && message.message == words;
        let received = self.hear(is_own, RECEIVE_TIMEOUT).await;
        recorder.check(user.metrics.own_message, received.is_ok());
        let received_at = received
            .map_err(|why| IterationError::new(format!("expected message hasn't been received: {why}")))?;
        recorder.record(user.metrics.rtt, received_at.saturating_duration_since(sent_at));
        Ok(())
    }

    /// Listens for this long.
    async fn pause(&mut self, time: Duration) {
        let end = tokio::time::Instant::now() + time;
        if self.hear(|_| false, time).await.is_err() {
            // The connection may have ended before.
            sleep_until(end).await;
        }
    }

    /// Waits for messages that are still on their way, closes the account and leaves.
    async fn leave(mut self) {
        let room = &self.user.room;
        let end = room.now();
        let deadline = Instant::now() + STRAGGLER_TIMEOUT;
        let account = loop {
            let account = room.account(&self.listener, end);
            let time_left = deadline.saturating_duration_since(Instant::now());
            if account.n_lost() == 0 || self.hear(|_| true, time_left).await.is_err() {
                break account;
            }
        };
        let (metrics, recorder) = (&self.user.metrics, self.meter.recorder);
        recorder.count(metrics.expected, account.n_expected);
        recorder.count(metrics.received, account.n_received);
        recorder.count(metrics.duplicated, account.n_duplicated);
        recorder.count(metrics.out_of_order, account.n_out_of_order);
        self.meter.session.disconnect().await;
    }

    /// Notes the messages that have arrived, or will within `limit`, up to the first one that `is_wanted`. Returns when
    /// that arrived, or why it will not.
    async fn hear(
        &mut self,
        is_wanted: impl Fn(&NewMessage<'_>) -> bool,
        limit: Duration,
    ) -> Result<Instant, String> {
        let deadline = tokio::time::Instant::now() + limit;
        let mut over = None;
        loop {
            while let Some(message) = self.channel.take() {
                if self.note(&message).is_some_and(|message| is_wanted(&message)) {
                    return Ok(message.at);
                }
            }
            if let Some(why) = over {
                return Err(why);
            }
            // Messages that arrive together with the end still count.
            over = match timeout_at(deadline, self.reader.read()).await {
                Ok(read) => read.err().map(|ending| ending.to_string()),
                Err(_) => Some(format!("no matching message within {limit:?}")),
            };
        }
    }

    /// Enters a message into the account.
    fn note<'m>(&mut self, message: &'m Message) -> Option<NewMessage<'m>> {
        let room = &self.user.room;
        let new: NewMessage<'_> = serde_json::from_str(&message.json).ok()?;
        // People may be in the room, too, and say what they like: what no user of the run said is in no account.
        let mark = Mark::parse(new.message)
            .filter(|mark| new.author_id.starts_with(USER_ID) && mark.number < room.now());
        if let Some(mark) = mark
            && self.listener.hear(new.author_id, mark)
        {
            let age = room.age(mark, message.at);
            self.meter
                .recorder
                .record(self.user.metrics.broadcast_duration, age);
        }
        Some(new)
    }
}
