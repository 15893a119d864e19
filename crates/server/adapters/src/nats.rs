//! NATS' core publish/subscribe over one connection: a node hears the subjects that it has reasons to hear, and publishes.
//!
//! The server confirms nothing on its own. So what was sent ends with a ping, and the answer to that confirms all of it.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use plimsoll_nats::{NameTooLong, Operation, PING, PONG, publish, subject, subscribe, unsubscribe};
use plimsoll_telemetry::Dependency;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use self::connection::{Connection, NatsError, Reader};
pub use self::{
    jetstream::{JetStream, JetStreamError, JetStreamSettings, JetStreamTasks},
    servers::{NatsServers, NatsUrlError, NatsUrls},
};
use crate::{
    connection::PATIENCE,
    interest::{Command, Interest},
    outbox::{Job, Jobs, PostError},
    sink::{Sink, hand_over},
    supervisor::{self, Link, Session, Stop, stopped},
};

mod connection;
mod jetstream;
mod servers;

/// The most rounds that were sent and not confirmed. Beyond it messages wait in the queue.
const MAX_UNCONFIRMED: usize = 64;

/// The size from which on a round takes no further messages, in bytes.
const ROUND_BYTES: usize = 64 << 10;

/// A node among the clients of a NATS server.
#[derive(Debug)]
pub struct NatsClient {
    /// The servers, of which one is used at a time.
    pub servers: NatsServers,
    /// The names of the channels to hear; see [`plimsoll_nats::subject`].
    pub interest: Interest,
    /// The messages to publish. `None`: it only listens.
    pub jobs: Option<Jobs>,
    /// The other end, for the log.
    pub peer: &'static str,
    /// Longer payloads are dropped, with a line in the log.
    pub max_payload_bytes: usize,
}

impl NatsClient {
    /// Subscribes, publishes, and hands every message to `sink`, until `stop` becomes true. Keeps `status` up to date.
    /// Messages that are published while the connection is down are lost; that is how core NATS works.
    pub async fn run(self, sink: impl Sink, status: Dependency, stop: watch::Receiver<bool>) {
        let link = Link::new(self.peer, status);
        supervisor::keep(link, Node { client: self, sink }, stop).await;
    }
}

struct Node<S> {
    client: NatsClient,
    sink: S,
}

/// What one ping of ours confirms.
struct Round {
    channels: Vec<Arc<str>>,
    jobs: Vec<Job>,
    sent_at: Instant,
}

impl Round {
    fn new() -> Self {
        Self {
            channels: Vec::new(),
            jobs: Vec::new(),
            sent_at: Instant::now(),
        }
    }
}

/// The state of one connection.
struct Talk {
    /// The longest payload that the server accepts, in bytes.
    max_payload: usize,
    /// The number of each subscription.
    ids: HashMap<Arc<str>, u64>,
    last_id: u64,
    unconfirmed: VecDeque<Round>,
}

impl<S: Sink> Session for Node<S> {
    type Error = NatsError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), NatsError> {
        let connection = tokio::select! {
            opened = self.client.servers.connect(self.client.max_payload_bytes) => opened?,
            () = stopped(stop) => return Ok(()),
        };
        self.client.interest.connected();
        if let Some(jobs) = &self.client.jobs {
            jobs.open();
        }
        let mut talk = Talk {
            max_payload: connection.info.max_payload,
            ids: HashMap::new(),
            last_id: 0,
            unconfirmed: VecDeque::new(),
        };
        let outcome = self.talk(connection, &mut talk, link, stop).await;
        self.client.interest.disconnected();
        if let Some(jobs) = &mut self.client.jobs {
            jobs.close();
            for job in talk.unconfirmed.into_iter().flat_map(|round| round.jobs) {
                job.finish(Err(jobs.away()));
            }
        }
        outcome
    }
}

impl<S: Sink> Node<S> {
    async fn talk(
        &mut self,
        connection: Connection,
        talk: &mut Talk,
        link: &mut Link,
        stop: &mut Stop,
    ) -> Result<(), NatsError> {
        let Connection {
            mut reader,
            mut writer,
            ..
        } = connection;
        let mut first = None;
        let mut heard_at = Instant::now();
        loop {
            let mut bytes = Vec::new();
            let round = self.round(talk, first.take(), &mut bytes);
            if self.client.interest.is_restored_now() {
                link.is_up();
            }
            if !bytes.is_empty() {
                bytes.extend_from_slice(PING);
                talk.unconfirmed.push_back(round);
                writer.send(&bytes).await?;
            }
            let deadline = match talk.unconfirmed.front() {
                Some(oldest) => oldest.sent_at.max(heard_at) + PATIENCE,
                None => heard_at + self.client.servers.keepalive,
            };
            tokio::select! {
                biased;
                read = reader.read() => {
                    read?;
                    self.take_all(&mut reader, talk, &mut bytes).await?;
                    if !bytes.is_empty() {
                        writer.send(&bytes).await?;
                    }
                    heard_at = Instant::now();
                }
                () = stopped(stop) => return Ok(()),
                () = self.client.interest.changed() => {}
                job = next(&mut self.client.jobs), if talk.unconfirmed.len() < MAX_UNCONFIRMED => {
                    first = Some(job);
                }
                () = sleep_until(deadline) => {
                    if !talk.unconfirmed.is_empty() {
                        return Err(NatsError::Silent);
                    }
                    // Its answer confirms nothing.
                    talk.unconfirmed.push_back(Round::new());
                    writer.send(PING).await?;
                }
            }
        }
    }

    /// Writes what there is to send, without the ping at its end.
    fn round(&mut self, talk: &mut Talk, first: Option<Job>, bytes: &mut Vec<u8>) -> Round {
        let mut round = Round::new();
        while let Some(command) = self.client.interest.next_command() {
            let (subscribes, names) = match command {
                Command::Subscribe(names) => (true, names),
                Command::Unsubscribe(names) => (false, names),
            };
            for name in &names {
                if subscribes {
                    talk.subscribe(name, bytes);
                } else if let Some(id) = talk.ids.remove(name) {
                    unsubscribe(bytes, id);
                }
            }
            round.channels.extend(names);
            // Otherwise nothing would confirm names that are too long for a subject.
            if bytes.is_empty() {
                round
                    .channels
                    .drain(..)
                    .for_each(|name| self.client.interest.confirmed(&name));
            }
        }
        let mut next = first;
        while let Some(job) = next {
            match talk.publish(&job, self.client.max_payload_bytes) {
                Ok(messages) => {
                    bytes.extend(messages);
                    round.jobs.push(job);
                }
                Err(error) => job.finish(Err(error)),
            }
            let jobs = self.client.jobs.as_mut().filter(|_| bytes.len() < ROUND_BYTES);
            next = jobs.and_then(Jobs::try_next);
        }
        round
    }

    /// Handles everything that has been read. What is to be sent at once goes into `answers`.
    async fn take_all(
        &self,
        reader: &mut Reader,
        talk: &mut Talk,
        answers: &mut Vec<u8>,
    ) -> Result<(), NatsError> {
        answers.clear();
        while let Some(operation) = reader.decoder.decode()? {
            match operation {
                Operation::Message(message) => {
                    hand_over(&self.sink, &message.payload, self.client.peer).await;
                }
                Operation::TooLong { n_bytes, .. } => tracing::warn!(
                    n_bytes,
                    "A broadcast from NATS is dropped: it is longer than {} bytes.",
                    self.client.max_payload_bytes
                ),
                Operation::Ping => answers.extend_from_slice(PONG),
                Operation::Pong => {
                    let Some(round) = talk.unconfirmed.pop_front() else {
                        continue;
                    };
                    for channel in &round.channels {
                        self.client.interest.confirmed(channel);
                    }
                    round.jobs.into_iter().for_each(|job| job.finish(Ok(())));
                }
                Operation::Info(info) => talk.max_payload = info.max_payload,
                Operation::Ok => {}
                // The server keeps the connection, and names the subject.
                Operation::Error(error) if is_about_permissions(&error) => {
                    tracing::warn!("NATS does not permit a part of the broadcasts: {error}.");
                    if error.to_ascii_lowercase().contains("publish") {
                        talk.refuse_oldest(&error);
                    }
                }
                Operation::Error(error) => return Err(NatsError::Refused(error)),
            }
        }
        Ok(())
    }
}

impl Talk {
    /// The server has refused a message of the oldest round; it does not say whose.
    fn refuse_oldest(&mut self, error: &str) {
        let round = self.unconfirmed.front_mut();
        let jobs = round.map(|round| std::mem::take(&mut round.jobs));
        for job in jobs.into_iter().flatten() {
            let error = format!("NATS refused the message: {error}");
            job.finish(Err(PostError::Refused(error)));
        }
    }

    fn subscribe(&mut self, name: &Arc<str>, bytes: &mut Vec<u8>) {
        match subject(name) {
            Ok(subject) => {
                self.last_id += 1;
                self.ids.insert(Arc::clone(name), self.last_id);
                subscribe(bytes, &subject, self.last_id);
            }
            Err(error) => tracing::warn!("A stream gets no messages of the cluster: {error}."),
        }
    }

    /// The messages of a job as bytes. If one of them cannot be sent, none is.
    fn publish(&self, job: &Job, max_payload_bytes: usize) -> Result<Vec<u8>, PostError> {
        let limit = match self.max_payload {
            0 => max_payload_bytes,
            max_payload => max_payload.min(max_payload_bytes),
        };
        let mut bytes = Vec::new();
        for post in &job.posts {
            if post.payload.len() > limit {
                return Err(PostError::Refused(format!(
                    "the message has {} bytes on its way to other servers, and NATS accepts {limit} (max_payload)",
                    post.payload.len()
                )));
            }
            let refused = |error: NameTooLong| PostError::Refused(error.to_string());
            publish(
                &mut bytes,
                &subject(&post.channel).map_err(refused)?,
                &post.payload,
            );
        }
        Ok(bytes)
    }
}

fn is_about_permissions(error: &str) -> bool {
    error.to_ascii_lowercase().starts_with("permissions violation")
}

async fn next(jobs: &mut Option<Jobs>) -> Job {
    match jobs {
        Some(jobs) => jobs.next().await,
        None => std::future::pending().await,
    }
}
