//! The connection on which JetStream announces messages.

use std::{
    collections::{HashMap, VecDeque},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use plimsoll_broker::follower;
use plimsoll_nats::{
    Header, Message, Operation, PING, PONG,
    jetstream::{NUMBER, NUMBER_BEFORE},
    subscribe, unsubscribe,
};
use plimsoll_telemetry::{Dependency, Registry};
use tokio::{
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval, timeout},
};

use super::{
    JetStream, Shared,
    read::Chained,
    record::{Kind, PASSING, Record},
    requests::Request,
    tips::Tip,
};
use crate::{
    broker::{Body, Followers, Health, Listener, News, SILENCE, Store, Verdict},
    connection::PATIENCE,
    members::{Mirrors, next_answer},
    nats::{
        connection::{Connection, NatsError, Reader, Writer},
        is_about_permissions,
        servers::NatsServers,
    },
    records::key_to_leave,
    supervisor::{self, Connector, Link, Session, Stop, stopped},
};

/// The most subscriptions that are sent at once.
const BATCH: usize = 512;

/// The most messages between the connection and the followers. Overflow rule: the connection is not read, and NATS closes it
/// when too much waits for it (`max_pending`, `write_deadline`). Then the followers read what they miss.
const CAPACITY: usize = 1024;

/// The time between two looks at what is due.
const TICK: Duration = Duration::from_secs(1);

/// The wait before a log is compared that is heard since a moment ago. A server of a cluster confirms a subscription before the
/// others know of it.
const UNTIL_KNOWN: Duration = Duration::from_secs(2);

/// The numbers of the subscriptions to the probe, and to the signs of life of all servers.
const PROBE: u64 = 1;
const BEATS: u64 = 2;

/// The first number of a subscription to a log. Each one of these is followed by that of the subscription to its members.
const LOGS: u64 = 4;

pub(super) struct Subscriber<L> {
    broker: JetStream,
    connector: SubscriberConnector,
    followers: Followers<JetStream, L>,
    /// `None`: no client is present on any stream.
    mirrors: Option<Mirrors<JetStream, L>>,
}

/// Makes the subscriber's connection.
pub(super) struct SubscriberConnector {
    servers: NatsServers,
    max_payload_bytes: usize,
    probe: String,
    beats: String,
}

/// The subscriptions of one connection.
#[derive(Default)]
struct Subscriptions {
    /// The logs of the subscriptions, by their numbers, which are ours.
    logs: HashMap<u64, Arc<str>>,
    ids: HashMap<Arc<str>, u64>,
    next_id: u64,
    /// What each ping of ours confirms.
    unconfirmed: VecDeque<Vec<Arc<str>>>,
    /// Whether the server is one of a cluster.
    is_of_cluster: bool,
}

impl<L: Listener> Subscriber<L> {
    pub(super) fn new(
        broker: JetStream,
        connector: SubscriberConnector,
        listener: Arc<L>,
        registry: &Registry,
    ) -> Self {
        Self {
            mirrors: broker
                .shared
                .presence
                .as_ref()
                .map(|presence| Mirrors::new(broker.clone(), presence.changes.ttl, Arc::clone(&listener))),
            connector,
            followers: Followers::new(broker.clone(), listener, registry),
            broker,
        }
    }

    pub(super) async fn run(self, status: Dependency, stop: watch::Receiver<bool>) {
        supervisor::keep(link(status), self, stop).await;
    }
}

/// The link of the subscriber's connection.
pub(super) fn link(status: Dependency) -> Link {
    Link::with_words(
        "Hearing the streams of the NATS broker",
        "The NATS broker announces no messages",
        status,
    )
}

impl SubscriberConnector {
    pub(super) fn new(broker: &JetStream, servers: NatsServers, max_payload_bytes: usize) -> Self {
        let Shared { subjects, name, .. } = &*broker.shared;
        Self {
            servers,
            max_payload_bytes,
            probe: subjects.probe(name),
            beats: subjects.beats(),
        }
    }

    /// Subscribes to the messages for this server, and waits until that is confirmed.
    async fn open(&self, connection: &mut Connection) -> Result<(), NatsError> {
        let mut bytes = Vec::new();
        subscribe(&mut bytes, &self.probe, PROBE);
        subscribe(&mut bytes, &self.beats, BEATS);
        bytes.extend_from_slice(PING);
        connection.writer.send(&bytes).await?;
        let confirmed = async {
            loop {
                match connection.reader.decoder.decode()? {
                    Some(Operation::Pong) => return Ok(()),
                    Some(Operation::Error(error)) => return Err(NatsError::Refused(error)),
                    Some(_) => {}
                    None => connection.reader.read().await?,
                }
            }
        };
        timeout(PATIENCE, confirmed)
            .await
            .unwrap_or(Err(NatsError::Silent))
    }
}

impl Connector for SubscriberConnector {
    type Connection = Connection;
    type Error = NatsError;

    async fn connect(&mut self) -> Result<Connection, NatsError> {
        let mut connection = self.servers.connect(self.max_payload_bytes).await?;
        self.open(&mut connection).await?;
        Ok(connection)
    }
}

impl<L: Listener> Session for Subscriber<L> {
    type Error = NatsError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), NatsError> {
        let ended = self.hear(link, stop).await;
        self.broker.shared.beats.set_hearing(false);
        self.followers.cannot_hear(ended.is_err());
        ended
    }
}

impl<L: Listener> Subscriber<L> {
    async fn hear(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), NatsError> {
        let connection = tokio::select! {
            opened = self.connector.connect() => opened?,
            () = stopped(stop) => return Ok(()),
        };
        let Connection {
            reader,
            mut writer,
            info,
        } = connection;
        let (announce, mut announced) = mpsc::channel(CAPACITY);
        let mut reading = pin!(read_all(reader, announce));
        let known = self.followers.known();
        let mut subscriptions = Subscriptions {
            next_id: LOGS,
            is_of_cluster: !info.cluster.is_empty(),
            ..Subscriptions::default()
        };
        let serving = async {
            self.subscribe(&known, &mut subscriptions, &mut writer).await?;
            link.is_up();
            self.broker.shared.beats.set_hearing(true);
            self.followers.can_hear();
            self.serve(&mut writer, &mut subscriptions, &mut announced, stop)
                .await
        };
        let mut serving = pin!(serving);
        tokio::select! {
            ended = &mut serving => ended,
            failed = &mut reading => failed,
        }
    }

    async fn serve(
        &mut self,
        writer: &mut Writer,
        subscriptions: &mut Subscriptions,
        announced: &mut mpsc::Receiver<Operation>,
        stop: &mut Stop,
    ) -> Result<(), NatsError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut health = Health::new();
        let table = Arc::clone(self.broker.table());
        self.follow_new(subscriptions, writer).await?;
        loop {
            tokio::select! {
                operation = announced.recv() => match operation {
                    Some(operation) => {
                        health.heard();
                        self.take(operation, subscriptions, writer).await?;
                    }
                    // The reader says why.
                    None => std::future::pending().await,
                },
                answer = self.followers.next_answer() => self.followers.take_answer(answer).await,
                answer = next_answer(&mut self.mirrors) => {
                    if let Some(mirrors) = &mut self.mirrors {
                        mirrors.take_answer(answer).await;
                    }
                }
                () = table.changed() => self.follow_new(subscriptions, writer).await?,
                _ = ticks.tick() => {
                    self.unfollow(subscriptions, writer).await?;
                    self.followers.check_silent().await;
                    self.mirrors.iter_mut().for_each(Mirrors::tick);
                    self.probe(&mut health)?;
                }
                () = stopped(stop) => return Ok(()),
            }
        }
    }

    /// Follows logs that are wanted now.
    async fn follow_new(
        &mut self,
        subscriptions: &mut Subscriptions,
        writer: &mut Writer,
    ) -> Result<(), NatsError> {
        let new = self.followers.follow_new();
        self.subscribe(&new, subscriptions, writer).await
    }

    async fn subscribe(
        &self,
        bases: &[Arc<str>],
        subscriptions: &mut Subscriptions,
        writer: &mut Writer,
    ) -> Result<(), NatsError> {
        for bases in bases.chunks(BATCH) {
            let mut bytes = Vec::new();
            let mut heard = Vec::new();
            for base in bases {
                let source = self.broker.source(base);
                match source.map(|source| self.broker.shared.subjects.announced(source)) {
                    Some(Ok(subject)) => {
                        let id = subscriptions.add(base);
                        subscribe(&mut bytes, &subject, id);
                        if self.mirrors.is_some() {
                            let members = self.broker.shared.subjects.announced_members(base);
                            subscribe(&mut bytes, &members, id + 1);
                        }
                        heard.push(Arc::clone(base));
                    }
                    Some(Err(error)) => {
                        tracing::warn!("A stream has no messages in the NATS broker: {error}.");
                        // No message can be published to it.
                        self.broker.table().set_heard(base);
                        self.broker.table().set_members_known(base);
                    }
                    None => {}
                }
            }
            bytes.extend_from_slice(PING);
            subscriptions.unconfirmed.push_back(heard);
            writer.send(&bytes).await?;
        }
        Ok(())
    }

    async fn unfollow(
        &mut self,
        subscriptions: &mut Subscriptions,
        writer: &mut Writer,
    ) -> Result<(), NatsError> {
        let mut bytes = Vec::new();
        for base in self.followers.unfollow() {
            if let Some(id) = subscriptions.remove(&base) {
                unsubscribe(&mut bytes, id);
                if let Some(mirrors) = &mut self.mirrors {
                    unsubscribe(&mut bytes, id + 1);
                    mirrors.forget(&base);
                }
            }
        }
        if bytes.is_empty() {
            return Ok(());
        }
        writer.send(&bytes).await
    }

    /// Tests the connection after a silence.
    fn probe(&self, health: &mut Health) -> Result<(), NatsError> {
        match health.check() {
            Verdict::Healthy => {}
            Verdict::Deaf => return Err(NatsError::Deaf(SILENCE)),
            Verdict::Probe => {
                let requests = self.broker.shared.requests.clone();
                let probe = Request {
                    subject: self.connector.probe.clone(),
                    header: Vec::new(),
                    payload: Vec::new(),
                };
                // Without the probe's return the connection counts as deaf.
                tokio::spawn(async move { timeout(SILENCE, requests.publish(probe)).await });
            }
        }
        Ok(())
    }

    async fn take(
        &mut self,
        operation: Operation,
        subscriptions: &mut Subscriptions,
        writer: &mut Writer,
    ) -> Result<(), NatsError> {
        match operation {
            Operation::Message(message) => match message.subscription {
                PROBE => {
                    if let Some(key) = key_to_leave(&message.payload) {
                        self.followers.release(key).await;
                    }
                }
                BEATS => self.broker.shared.beats.heard(&message.payload),
                number => {
                    if let Some(base) = subscriptions.logs.get(&number) {
                        self.take_message(&Arc::clone(base), message).await;
                    } else if let Some(base) = subscriptions.logs.get(&number.wrapping_sub(1)) {
                        self.take_member(&Arc::clone(base), message).await;
                    }
                }
            },
            Operation::Pong => {
                for base in subscriptions.unconfirmed.pop_front().into_iter().flatten() {
                    self.mirrors
                        .iter_mut()
                        .for_each(|mirrors| mirrors.connected(&base));
                    self.followers.connected(&base).await;
                    if subscriptions.is_of_cluster {
                        self.followers.check_later(&base, UNTIL_KNOWN);
                        self.mirrors
                            .iter_mut()
                            .for_each(|mirrors| mirrors.check_later(&base));
                    }
                }
            }
            Operation::Ping => writer.send(PONG).await?,
            Operation::Error(error) if is_about_permissions(&error) => tracing::warn!(
                "NATS does not permit a part of the NATS broker: {error}. The user needs the permissions in \
                 docs/reference/nats-broker.md."
            ),
            Operation::Error(error) => return Err(NatsError::Refused(error)),
            // A message that is too long is missing, and found to be so with the next one.
            Operation::TooLong { .. } | Operation::Info(_) | Operation::Ok => {}
        }
        Ok(())
    }

    async fn take_member(&mut self, base: &Arc<str>, message: Message) {
        if let Some(mirrors) = &mut self.mirrors
            && let Some(announcement) = self.broker.hear_member(base, message)
        {
            mirrors.announced(base, announcement).await;
        }
    }

    async fn take_message(&mut self, base: &Arc<str>, message: Message) {
        let Message { header, payload, .. } = message;
        let header = Header::read(&header);
        if header.get(PASSING).is_some() {
            return self.followers.tell(base, News::Passing(payload)).await;
        }
        let numbers = header.number(NUMBER).zip(header.number(NUMBER_BEFORE));
        // Other programs may publish there.
        let Some((record, (number, before))) = Record::read(&header).zip(numbers) else {
            return;
        };
        let tips = &self.broker.shared.tips;
        if before > record.after {
            // It is in no log; see [`super::write`].
            return tips.forget(base);
        }
        let head = Some(record.head.clone());
        tips.heard(base, Tip { number, head });
        match record.kind {
            Kind::Message { before_ms } => {
                let message = follower::Message {
                    epoch: record.head.epoch,
                    offset: record.head.offset,
                    at_ms: record.head.at_ms,
                    before_ms,
                    n_bytes: payload.len(),
                    body: Body { number, payload },
                };
                self.followers.arrived(base, message).await;
            }
            Kind::Marker { .. } => {
                let known = self.broker.table().position(base);
                if known.is_some_and(|known| known.epoch != record.head.epoch) {
                    self.followers.check(base).await;
                }
            }
        }
    }
}

impl Subscriptions {
    fn add(&mut self, base: &Arc<str>) -> u64 {
        let id = self.next_id;
        self.next_id += 2;
        self.logs.insert(id, Arc::clone(base));
        self.ids.insert(Arc::clone(base), id);
        id
    }

    fn remove(&mut self, base: &str) -> Option<u64> {
        let id = self.ids.remove(base)?;
        self.logs.remove(&id);
        Some(id)
    }
}

/// Reads what NATS sends until the connection ends.
async fn read_all(mut reader: Reader, announce: mpsc::Sender<Operation>) -> Result<(), NatsError> {
    loop {
        reader.read().await?;
        while let Some(operation) = reader.decoder.decode()? {
            if announce.send(operation).await.is_err() {
                return Ok(());
            }
        }
    }
}
