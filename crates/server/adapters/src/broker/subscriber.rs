//! The connection on which Redis announces messages.

use std::{pin::pin, sync::Arc, time::Duration};

use plimsoll_telemetry::{Dependency, Registry};
use redis::cmd;
use tokio::{
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval},
};

use super::{
    Announcement, Broker, Listener, News,
    followers::Followers,
    health::{Health, SILENCE, Verdict},
    keys, replies,
};
use crate::{
    connection::{Connection, ConnectionError, PATIENCE, Reader, Writer},
    members::{Mirrors, next_answer},
    pipeline::Request,
    records::key_to_leave,
    resp::Reply,
    server::Server,
    supervisor::{self, Connector, Link, Session, Stop, stopped},
    target::Address,
};

/// The most channels in one command.
const BATCH: usize = 512;

/// The most messages between the connection and the followers. Overflow rule: the connection is not read, and Redis
/// closes it when its own buffer is full (`client-output-buffer-limit pubsub`). Then the followers read what they miss.
const CAPACITY: usize = 1024;

/// The time between two looks at what is due.
const TICK: Duration = Duration::from_secs(1);

pub(super) struct Subscriber<L> {
    broker: Broker,
    server: Arc<Server>,
    followers: Followers<Broker, L>,
    /// `None`: no client is present on any stream.
    mirrors: Option<Mirrors<Broker, L>>,
    probe: String,
    /// The node of the cluster that announces.
    node: Option<Address>,
}

impl<L: Listener> Subscriber<L> {
    pub(super) fn new(broker: Broker, server: Arc<Server>, listener: Arc<L>, registry: &Registry) -> Self {
        Self {
            probe: broker.shared.keys.probe(&broker.shared.name),
            node: None,
            mirrors: broker
                .shared
                .members
                .as_ref()
                .map(|changes| Mirrors::new(broker.clone(), changes.ttl, Arc::clone(&listener))),
            followers: Followers::new(broker.clone(), listener, registry),
            broker,
            server,
        }
    }

    pub(super) async fn run(self, status: Dependency, stop: watch::Receiver<bool>) {
        supervisor::keep(link(status), self, stop).await;
    }
}

/// The link of the subscriber's connection.
pub(super) fn link(status: Dependency) -> Link {
    Link::with_words(
        "Hearing the streams of the Redis broker",
        "The Redis broker announces no messages",
        status,
    )
}

/// Makes the subscriber's connection.
pub(super) struct SubscriberConnector {
    pub(super) server: Arc<Server>,
    pub(super) probe: String,
}

impl Connector for SubscriberConnector {
    type Connection = Connection;
    type Error = ConnectionError;

    async fn connect(&mut self) -> Result<Connection, ConnectionError> {
        open(&self.server, &self.probe).await
    }
}

impl<L: Listener> Session for Subscriber<L> {
    type Error = ConnectionError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let ended = self.hear(link, stop).await;
        self.followers.cannot_hear(ended.is_err());
        ended
    }
}

impl<L: Listener> Subscriber<L> {
    async fn hear(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let connection = tokio::select! {
            opened = open(&self.server, &self.probe) => opened?,
            () = stopped(stop) => return Ok(()),
        };
        self.node = connection.reader.node().cloned();
        let Connection { reader, mut writer } = connection;
        let (announce, mut announced) = mpsc::channel(CAPACITY);
        let mut reading = pin!(read_all(reader, announce));
        let known = self.followers.known();
        let serving = async {
            subscribe(&mut writer, &known).await?;
            link.is_up();
            self.followers.can_hear();
            self.serve(&mut writer, &mut announced, stop).await
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
        announced: &mut mpsc::Receiver<Reply>,
        stop: &mut Stop,
    ) -> Result<(), ConnectionError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut health = Health::new();
        self.follow_new(writer).await?;
        let table = Arc::clone(&self.broker.shared.table);
        loop {
            tokio::select! {
                reply = announced.recv() => match reply {
                    Some(reply) => {
                        health.heard();
                        self.take(reply).await;
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
                () = table.changed() => self.follow_new(writer).await?,
                _ = ticks.tick() => {
                    self.unfollow(writer).await?;
                    self.followers.check_silent().await;
                    self.mirrors.iter_mut().for_each(Mirrors::tick);
                    self.probe(&mut health)?;
                }
                () = stopped(stop) => return Ok(()),
            }
        }
    }

    /// Follows logs that are wanted now.
    async fn follow_new(&mut self, writer: &mut Writer) -> Result<(), ConnectionError> {
        let new = self.followers.follow_new();
        subscribe(writer, &new).await
    }

    async fn unfollow(&mut self, writer: &mut Writer) -> Result<(), ConnectionError> {
        let gone = self.followers.unfollow();
        if let Some(mirrors) = &mut self.mirrors {
            gone.iter().for_each(|base| mirrors.forget(base));
        }
        for bases in gone.chunks(BATCH) {
            let mut unsubscribe = cmd("UNSUBSCRIBE");
            for base in bases {
                unsubscribe.arg(keys::channel(base));
            }
            writer.send(&unsubscribe.get_packed_command()).await?;
        }
        Ok(())
    }

    /// Tests the connection after a silence.
    fn probe(&self, health: &mut Health) -> Result<(), ConnectionError> {
        match health.check() {
            Verdict::Healthy => {}
            Verdict::Deaf => return Err(ConnectionError::Deaf(SILENCE)),
            Verdict::Probe => {
                let (pipeline, node) = (self.broker.shared.pipeline.clone(), self.node.clone());
                let publish = cmd("PUBLISH").arg(&self.probe).arg("").to_owned();
                tokio::spawn(async move {
                    let request = Request::Command(publish);
                    // Without the probe's return the connection counts as deaf.
                    pipeline.request_elsewhere(request, SILENCE, node.as_ref()).await;
                });
            }
        }
        Ok(())
    }

    /// Takes `["message", channel, payload]` or `["subscribe", channel, number]`.
    async fn take(&mut self, reply: Reply) {
        let Ok([Reply::Text(kind), Reply::Text(channel), content]) =
            <[Reply; 3]>::try_from(reply.into_elements())
        else {
            return;
        };
        if channel == self.probe.as_bytes() {
            if let Reply::Text(message) = content
                && let Some(key) = key_to_leave(&message)
            {
                self.followers.release(key).await;
            }
            return;
        }
        let Some(base) = keys::base_of_channel(&channel).and_then(|base| self.followers.get(base)) else {
            return;
        };
        match (&*kind, content) {
            (b"subscribe", _) => {
                self.mirrors
                    .iter_mut()
                    .for_each(|mirrors| mirrors.connected(&base));
                self.followers.connected(&base).await;
            }
            (b"message", Reply::Text(text)) => match replies::announcement(&text) {
                Some(Announcement::Message(message)) => self.followers.arrived(&base, message).await,
                Some(Announcement::Passing(payload)) => {
                    self.followers.tell(&base, News::Passing(payload)).await;
                }
                Some(Announcement::Member(announcement)) => {
                    if let Some(mirrors) = &mut self.mirrors {
                        mirrors.announced(&base, announcement).await;
                    }
                }
                None => {}
            },
            // A message that is too long is missing, and found to be so with the next one.
            _ => {}
        }
    }
}

/// Connects and subscribes to the probe.
async fn open(server: &Server, probe: &str) -> Result<Connection, ConnectionError> {
    let mut connection = Connection::open(server).await?;
    connection.request(cmd("SUBSCRIBE").arg(probe), PATIENCE).await?;
    Ok(connection)
}

async fn subscribe(writer: &mut Writer, bases: &[Arc<str>]) -> Result<(), ConnectionError> {
    for bases in bases.chunks(BATCH) {
        let mut subscribe = cmd("SUBSCRIBE");
        for base in bases {
            subscribe.arg(keys::channel(base));
        }
        writer.send(&subscribe.get_packed_command()).await?;
    }
    Ok(())
}

/// Reads what Redis sends until the connection ends.
async fn read_all(mut reader: Reader, announce: mpsc::Sender<Reply>) -> Result<(), ConnectionError> {
    loop {
        let reply = reader.receive().await?;
        if announce.send(reply).await.is_err() {
            return Ok(());
        }
    }
}
