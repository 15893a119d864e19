//! Sends the batches, one after the other, with bounded patience for each.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::timeout;

use super::{
    batch,
    metrics::Metrics,
    post::{Failure, Post},
    queue::{Portion, Queue},
};

/// How often a batch is sent before its news are given up.
const ATTEMPTS: u32 = 8;

/// The longest time of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);

/// The wait before the second attempt, which doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// The longest wait, also if the receiver asks for more.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The task that sends.
#[derive(Debug)]
pub(super) struct Caller<P> {
    queue: Arc<Queue>,
    post: P,
    /// A text that is another one after each start of the server.
    server: String,
    metrics: Metrics,
    is_failing: bool,
}

impl<P: Post> Caller<P> {
    pub(super) fn new(queue: Arc<Queue>, post: P, server: String, metrics: Metrics) -> Self {
        Self {
            queue,
            post,
            server,
            metrics,
            is_failing: false,
        }
    }

    /// Sends until the queue is closed and empty. The first batch has no news: it tells the receiver that a server has
    /// started, whose members are unknown yet.
    pub(super) async fn run(mut self) {
        let mut portion = Portion::default();
        for number in 1.. {
            if self.deliver(number, &portion).await {
                self.metrics.delivered.add(portion.news.len() as u64);
            } else {
                self.queue.give_up(&portion);
                // A receiver that fails must not hold up a server that stops.
                if self.queue.is_closed() {
                    return;
                }
            }
            match self.queue.next().await {
                Some(next) => portion = next,
                None => return,
            }
        }
    }

    async fn deliver(&mut self, number: u64, portion: &Portion) -> bool {
        let key = format!("{}-{number}", self.server);
        let body = batch::encode(&self.server, number, portion);
        for attempt in 1..=ATTEMPTS {
            let failure = match self.attempt(&key, body.clone()).await {
                Ok(()) => {
                    self.note_success();
                    return true;
                }
                Err(failure) => failure,
            };
            self.metrics.failures.increment();
            match failure {
                Failure::Final { reason } => {
                    tracing::warn!(
                        number,
                        "The webhook of presence refuses a batch, which is given up: {reason}."
                    );
                    return false;
                }
                Failure::Passing { reason, retry_after } => {
                    self.note_failure(&reason);
                    if self.queue.is_closed() {
                        return false;
                    }
                    if attempt < ATTEMPTS {
                        let wait = wait_after(attempt, retry_after);
                        let _long_enough_or_closed = timeout(wait, self.queue.closed()).await;
                    }
                }
            }
        }
        tracing::warn!(
            number,
            "The webhook of presence did not take a batch in {ATTEMPTS} attempts; its joins and leaves are given up."
        );
        false
    }

    async fn attempt(&self, key: &str, body: Bytes) -> Result<(), Failure> {
        let posted = timeout(ATTEMPT_TIMEOUT, self.post.post(key, body)).await;
        posted.unwrap_or_else(|_| {
            Err(Failure::Passing {
                reason: format!("no answer within {} s", ATTEMPT_TIMEOUT.as_secs()),
                retry_after: None,
            })
        })
    }

    fn note_failure(&mut self, reason: &str) {
        if !self.is_failing {
            tracing::warn!("The webhook of presence fails, and is tried again: {reason}.");
        }
        self.is_failing = true;
    }

    fn note_success(&mut self) {
        if self.is_failing {
            tracing::info!("The webhook of presence works again.");
        }
        self.is_failing = false;
    }
}

/// The wait after a failed attempt.
fn wait_after(attempt: u32, retry_after: Option<Duration>) -> Duration {
    let own = FIRST_WAIT * 2_u32.pow(attempt - 1);
    own.max(retry_after.unwrap_or_default()).min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, sync::Mutex};

    use plimsoll_telemetry::Registry;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::webhook::news::News;

    /// Answers as planned, then always well; notes what it was sent, and when.
    #[derive(Debug, Clone, Default)]
    struct Receiver {
        planned: Arc<Mutex<VecDeque<Result<(), Failure>>>>,
        requests: Arc<Mutex<Vec<(String, Instant)>>>,
    }

    impl Post for Receiver {
        async fn post(&self, key: &str, body: Bytes) -> Result<(), Failure> {
            let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            let ids = body["events"].as_array().expect("a list").iter();
            let ids: Vec<_> = ids.map(|event| event["id"].as_str().expect("a text")).collect();
            let request = format!("{key} dropped {} {}", body["dropped"], ids.join(","));
            self.requests.lock().unwrap().push((request, Instant::now()));
            let planned = self.planned.lock().unwrap().pop_front();
            planned.unwrap_or(Ok(()))
        }
    }

    fn passing(retry_after: Option<u64>) -> Result<(), Failure> {
        Err(Failure::Passing {
            reason: "busy".to_owned(),
            retry_after: retry_after.map(Duration::from_secs),
        })
    }

    /// The requests for members that come one after the other, and the seconds between the first and the last one.
    async fn requests(planned: Vec<Result<(), Failure>>, ids: &[&str]) -> (Vec<String>, f64) {
        let registry = Registry::default();
        let metrics = Metrics::new(&registry);
        let queue = Arc::new(Queue::new(metrics.dropped.clone()));
        let receiver = Receiver {
            planned: Arc::new(Mutex::new(planned.into())),
            ..Receiver::default()
        };
        let caller = Caller::new(Arc::clone(&queue), receiver.clone(), "me".to_owned(), metrics);
        let coming = async {
            for id in ids {
                queue.add(News {
                    kind: "join",
                    stream: "s".into(),
                    id: (*id).into(),
                    info: None,
                    at_ms: 0,
                });
                sleep(Duration::from_secs(300)).await;
            }
            queue.close();
        };
        tokio::join!(caller.run(), coming);
        let requests = receiver.requests.lock().unwrap();
        let took = requests.last().expect("some").1 - requests[0].1;
        let texts = requests.iter().map(|(text, _)| text.clone()).collect();
        (texts, took.as_secs_f64())
    }

    #[tokio::test(start_paused = true)]
    async fn the_start_is_told_and_batches_have_numbers() {
        let (requests, _) = requests(Vec::new(), &["a", "b"]).await;
        assert_eq!(
            requests,
            ["me-1 dropped 0 ", "me-2 dropped 0 a", "me-3 dropped 0 b"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_is_repeated_with_the_same_number() {
        let planned = vec![Ok(()), passing(None), passing(Some(7)), passing(Some(3600))];
        let (requests, took) = requests(planned, &["a"]).await;
        let again = "me-2 dropped 0 a";
        assert_eq!(requests, ["me-1 dropped 0 ", again, again, again, again]);
        // Gathering, then the waits: its own, the receiver's, and the longest.
        assert!((took - (0.2 + 0.5 + 7.0 + 30.0)).abs() < 0.1, "{took}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_is_given_up_and_the_next_says_so() {
        let mut planned = vec![Ok(())];
        planned.extend((0..ATTEMPTS).map(|_| passing(None)));
        let (sent, took) = requests(planned, &["a"]).await;
        let again = "me-2 dropped 0 a".to_owned();
        assert_eq!(sent[1..=ATTEMPTS as usize], vec![again; ATTEMPTS as usize]);
        // The gap is told at once, without an event.
        assert_eq!(sent[ATTEMPTS as usize + 1..], ["me-3 dropped 1 "]);
        assert!(took < 120.0, "{took}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_that_is_refused_is_given_up_at_once() {
        let refused = Err(Failure::Final {
            reason: "no".to_owned(),
        });
        let (requests, _) = requests(vec![Ok(()), refused], &["a", "b"]).await;
        assert_eq!(
            requests,
            [
                "me-1 dropped 0 ",
                "me-2 dropped 0 a",
                "me-3 dropped 1 ",
                "me-4 dropped 0 b"
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_stops_tries_once_more() {
        let registry = Registry::default();
        let metrics = Metrics::new(&registry);
        let queue = Arc::new(Queue::new(metrics.dropped.clone()));
        let receiver = Receiver {
            planned: Arc::new(Mutex::new((0..9).map(|_| passing(Some(30))).collect())),
            ..Receiver::default()
        };
        let caller = Caller::new(Arc::clone(&queue), receiver.clone(), "me".to_owned(), metrics);
        let started = Instant::now();
        let closing = async {
            sleep(Duration::from_secs(1)).await;
            queue.close();
        };
        tokio::join!(caller.run(), closing);
        assert_eq!(started.elapsed().as_secs(), 1);
        assert_eq!(receiver.requests.lock().unwrap().len(), 2);
    }
}
