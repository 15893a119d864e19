//! The webhook of presence: the application is told who comes and who leaves, in batches over HTTP
//! (docs/reference/serve.md, A webhook for presence).
//!
//! The table of members adds news under its lock, so they are in order, and never waits. One task sends them, one batch
//! at a time. A batch that cannot be delivered is sent again with the same number; news that are lost are counted, and
//! the next batch says so.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use plimsoll_telemetry::Registry;
use tokio::{task::JoinHandle, time::timeout};

use self::{caller::Caller, metrics::Metrics, queue::Queue};
use crate::sid;

mod batch;
mod caller;
mod metrics;
mod news;
mod post;
mod queue;
mod url;

pub(crate) use news::News;
pub use {
    post::{Webhook, WebhookError},
    url::{WebhookUrl, WebhookUrlError},
};

/// The length of the text that names this start of the server, in characters of 6 random bits.
const SERVER_LENGTH: usize = 12;

/// The sending end.
#[derive(Debug)]
pub(crate) struct Herald {
    queue: Arc<Queue>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Herald {
    /// Starts the task that sends. Needs a runtime.
    pub(crate) fn start(webhook: Webhook, registry: &Registry) -> Arc<Self> {
        let metrics = Metrics::new(registry);
        let queue = Arc::new(Queue::new(metrics.dropped.clone()));
        let counted = Arc::clone(&queue);
        registry.gauge_fn(
            "presence_webhook_queue_size",
            "Joins and leaves that wait for the webhook",
            move || counted.n_waiting() as f64,
        );
        let server = sid::generate()[..SERVER_LENGTH].to_owned();
        let caller = Caller::new(Arc::clone(&queue), webhook, server, metrics);
        Arc::new(Self {
            queue,
            task: Mutex::new(Some(tokio::spawn(caller.run()))),
        })
    }

    /// Adds news, without waiting.
    pub(crate) fn add(&self, news: News) {
        self.queue.add(news);
    }

    /// Sends the news that are left, for up to `time_left`, unless a request fails. News that come later are dropped.
    pub(crate) async fn finish(&self, time_left: Duration) {
        self.queue.close();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut task) = task else {
            return;
        };
        if timeout(time_left, &mut task).await.is_err() {
            task.abort();
        }
        let n_waiting = self.queue.n_waiting();
        if n_waiting > 0 {
            tracing::warn!(
                n_waiting,
                "The webhook of presence did not take all joins and leaves before the server had to stop."
            );
        }
    }
}
