//! The connection on which a node publishes to other nodes with Redis publish/subscribe.

use std::{sync::Arc, time::Duration};

use plimsoll_telemetry::Dependency;
use redis::cmd;
use tokio::{sync::watch, time::sleep};

use crate::{
    connection::PATIENCE,
    outbox::Outbox,
    pipeline::{Pipeline, Request, Requests},
    server::Server,
    supervisor::Link,
};

/// The work on the connection of an [`Outbox`].
#[derive(Debug)]
pub struct Posting {
    pipeline: Pipeline,
    requests: Requests,
    receiver: &'static str,
    keepalive: Duration,
}

impl Posting {
    /// An outbox for channels of a Redis server, and the work on its connection. `receiver` names the receivers of the messages in
    /// the log. After each `keepalive` the server is pinged.
    pub fn new(server: Server, receiver: &'static str, keepalive: Duration) -> (Outbox, Self) {
        let (pipeline, requests) = Pipeline::to_any_node(Arc::new(server));
        let posting = Self {
            pipeline: pipeline.clone(),
            requests,
            receiver,
            keepalive,
        };
        (Outbox::over_redis(pipeline), posting)
    }

    /// Stays connected until `stop` becomes true. Keeps `status` up to date.
    pub async fn run(self, status: Dependency, stop: watch::Receiver<bool>) {
        let connected = self.requests.run(Link::outgoing(self.receiver, status), stop);
        tokio::select! {
            () = connected => {}
            () = ping(&self.pipeline, self.keepalive) => {}
        }
    }
}

/// Pings the server after each `keepalive`. So a connection whose other end lost its power is noticed before a message is lost in it.
async fn ping(pipeline: &Pipeline, keepalive: Duration) {
    loop {
        sleep(keepalive).await;
        // Without an answer the connection ends.
        let _answer = pipeline.request(Request::Command(cmd("PING")), PATIENCE).await;
    }
}
