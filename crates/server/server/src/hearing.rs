//! The streams that a session is about to listen to: the engine of the cluster delivers them before the session is told
//! that it is subscribed (docs/protocols/cluster.md, Subscribing).

use std::time::Duration;

use tokio::time::timeout;

use crate::{engine::Engine, shard::Shard};

/// How long the confirmation of a subscription waits for the engine at most.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Streams that the engine delivers until this is dropped. By then the session listens to them, and the hub has joined
/// them.
#[derive(Debug)]
pub(crate) struct Heard<'a> {
    engine: &'a dyn Engine,
    streams: Vec<String>,
}

impl Drop for Heard<'_> {
    fn drop(&mut self) {
        for stream in &self.streams {
            self.engine.leave(stream);
        }
    }
}

impl Shard {
    /// Waits until the engine delivers these streams, for a limited time. A session enters them afterwards, in the same
    /// step in which it is told so. `None`: this server is alone.
    pub(crate) async fn hear(&self, streams: &[String]) -> Option<Heard<'_>> {
        let engine = self.config.engine.as_deref()?;
        let heard = Heard {
            engine,
            streams: streams.to_vec(),
        };
        for stream in streams {
            engine.join(stream);
        }
        let all = async {
            for stream in streams {
                engine.heard(stream).await;
            }
        };
        if timeout(TIMEOUT, all).await.is_err() {
            tracing::debug!(
                "A subscription is confirmed before the engine of the cluster has confirmed its streams."
            );
        }
        // Otherwise a replay would lack the end of the log, which has just come.
        if let Some(view) = &self.view {
            view.catch_up().await;
        }
        Some(heard)
    }
}
