//! The stores of the logs that several servers share: Redis, and NATS JetStream.

use std::{fmt::Display, pin::pin};

use plimsoll_adapters::{
    Broker, BrokerTasks, Hearing, JetStream, JetStreamError, JetStreamTasks, Limits, Listener, RecordStore,
    Source,
};
use plimsoll_server::EngineError;
use plimsoll_telemetry::{Dependency, Registry};
use tokio::sync::watch;

/// A store. A clone is the same store.
#[derive(Debug, Clone)]
pub(super) enum Store {
    Redis(Broker),
    JetStream(JetStream),
}

/// The connections of a store.
pub(super) enum Tasks {
    Redis(BrokerTasks),
    JetStream(Box<JetStreamTasks>),
}

impl Store {
    /// The name of the engine, as in `--broker`.
    pub(super) fn engine_name(&self) -> &'static str {
        match self {
            Self::Redis(_) => "redis",
            Self::JetStream(_) => "nats",
        }
    }

    /// Stores a message at the end of a log, and announces it to all servers.
    pub(super) async fn publish(
        &self,
        source: Source<'_>,
        payload: &[u8],
        limits: Limits,
        key: Option<&str>,
    ) -> Result<(), EngineError> {
        match self {
            Self::Redis(broker) => {
                let stored = broker.publish(source, payload, limits, key).await;
                stored.map(drop).map_err(|error| unconfirmed(&error))
            }
            Self::JetStream(broker) => broker.publish(source, payload, key).await.map_err(of_jetstream),
        }
    }

    /// Announces a message that is not kept.
    pub(super) async fn pass(&self, source: Source<'_>, payload: &[u8]) -> Result<(), EngineError> {
        match self {
            Self::Redis(broker) => broker
                .pass(source, payload)
                .await
                .map_err(|error| unconfirmed(&error)),
            Self::JetStream(broker) => broker.pass(source, payload).await.map_err(of_jetstream),
        }
    }

    /// Sees to it that no session of this client goes on that has begun by now.
    pub(super) async fn revoke_sessions(&self, identifiers: &str) -> Result<(), EngineError> {
        match self {
            Self::Redis(broker) => broker.revoke(identifiers).await.map_err(away),
            Self::JetStream(broker) => broker.revoke(identifiers).await.map_err(away),
        }
    }

    /// Waits, for a limited time, until the store has the sessions of this server.
    pub(super) async fn confirm_sessions(&self) {
        match self {
            Self::Redis(broker) => broker.confirm_records().await,
            Self::JetStream(broker) => broker.confirm_records().await,
        }
    }

    /// Begins to hear a log.
    pub(super) fn hear(&self, source: Source<'_>) -> Hearing {
        match self {
            Self::Redis(broker) => broker.hear(source),
            Self::JetStream(broker) => broker.hear(source),
        }
    }
}

impl Tasks {
    /// The name of the dependency.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Redis(_) => "redis_broker",
            Self::JetStream(_) => "nats_broker",
        }
    }

    /// Connects and stays so until `stop` becomes true. Hears and changes nothing.
    pub(super) async fn reach(self, statuses: (Dependency, Dependency), stop: watch::Receiver<bool>) {
        match self {
            Self::Redis(tasks) => tasks.reach(statuses, stop).await,
            Self::JetStream(tasks) => tasks.reach(statuses, stop).await,
        }
    }

    /// Stays connected until `stop` becomes true, and hands all news to `listener`. `commands_are_heard` completes when no
    /// command to all servers is missed any more; a server that is ready before that would miss one without a word.
    pub(super) async fn run(
        self,
        listener: impl Listener,
        commands_are_heard: impl Future<Output = ()>,
        registry: &Registry,
        stop: watch::Receiver<bool>,
    ) {
        let name = self.name();
        let statuses = (registry.dependency(name), registry.dependency(name));
        let commands = registry.dependency(name);
        commands.down("the commands to all servers are not heard yet");
        let connected = async {
            match self {
                Self::Redis(tasks) => tasks.run(listener, statuses, registry, stop).await,
                Self::JetStream(tasks) => tasks.run(listener, statuses, registry, stop).await,
            }
        };
        let mut connected = pin!(connected);
        tokio::select! {
            () = &mut connected => return,
            () = commands_are_heard => commands.up(),
        }
        connected.await;
    }
}

/// What could not be read or changed may be so later.
pub(super) fn away(error: impl Display) -> EngineError {
    EngineError::Away(error.to_string())
}

fn unconfirmed(error: &impl Display) -> EngineError {
    EngineError::Away(format!("{error}; the message may be stored all the same"))
}

fn of_jetstream(error: JetStreamError) -> EngineError {
    match error {
        JetStreamError::Late(_) | JetStreamError::Lost => unconfirmed(&error),
        JetStreamError::Refused(_) | JetStreamError::Foreign(_) => away(&error),
        JetStreamError::Unfit(reason) => EngineError::Refused(reason),
    }
}
