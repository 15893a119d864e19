//! Messages on their way to the engine of a cluster.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use redis::cmd;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use crate::pipeline::{Pipeline, Request, RequestError};

/// The capacity of the queue, in jobs. Overflow rule: the sender waits, up to [`PATIENCE`].
const CAPACITY: usize = 256;

/// How long a sender waits until the engine has its messages. A Redis that is started again is back by then.
const PATIENCE: Duration = Duration::from_secs(2);

/// A message for a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// The channel.
    pub channel: Box<str>,
    /// The payload.
    pub payload: Vec<u8>,
}

/// Why messages were not sent, or perhaps not sent.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
pub enum PostError {
    /// There is no connection, or it was lost before the engine had confirmed all messages.
    #[error("there is no connection to {0}")]
    Away(&'static str),
    /// It does not take this message now, for this reason.
    #[error("{0}")]
    Postponed(String),
    /// The engine does not answer.
    #[error("{engine} did not confirm the message within {} s", PATIENCE.as_secs())]
    Silent {
        /// The engine's name.
        engine: &'static str,
    },
    /// It can never take this message.
    #[error("{0}")]
    Refused(String),
}

/// Messages of one sender, in their order.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) posts: Vec<Post>,
    done: oneshot::Sender<Result<(), PostError>>,
}

impl Job {
    /// Tells the sender the result.
    pub(crate) fn finish(self, result: Result<(), PostError>) {
        // A sender that gave up does not want to know.
        let _told = self.done.send(result);
    }

    /// Whether the sender has given up. Its messages must not be sent then, because it may send them again.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.done.is_closed()
    }
}

/// The senders' end. A clone has the same way.
#[derive(Debug, Clone)]
pub struct Outbox(Way);

/// The way to the engine.
#[derive(Debug, Clone)]
enum Way {
    Queue(Queue),
    Redis(Pipeline),
}

/// A queue to the one task that has the connection.
#[derive(Debug, Clone)]
struct Queue {
    engine: &'static str,
    jobs: mpsc::Sender<Job>,
    is_up: Arc<watch::Sender<bool>>,
}

/// The other end, for the task with the connection.
#[derive(Debug)]
pub struct Jobs {
    engine: &'static str,
    jobs: mpsc::Receiver<Job>,
    is_up: Arc<watch::Sender<bool>>,
}

/// A queue to an engine with this name.
pub fn outbox(engine: &'static str) -> (Outbox, Jobs) {
    let (sender, receiver) = mpsc::channel(CAPACITY);
    let is_up = Arc::new(watch::Sender::new(false));
    let queue = Queue {
        engine,
        jobs: sender,
        is_up: Arc::clone(&is_up),
    };
    let jobs = Jobs {
        engine,
        jobs: receiver,
        is_up,
    };
    (Outbox(Way::Queue(queue)), jobs)
}

impl Outbox {
    pub(crate) fn over_redis(pipeline: Pipeline) -> Self {
        Self(Way::Redis(pipeline))
    }

    /// Sends messages and waits until the engine has all of them. Messages of one caller arrive in the order of its
    /// calls.
    ///
    /// # Errors
    /// See [`PostError`]. The engine may have some of the messages nevertheless.
    pub async fn post(&self, posts: Vec<Post>) -> Result<(), PostError> {
        match &self.0 {
            _ if posts.is_empty() => Ok(()),
            Way::Queue(queue) => queue.post(posts).await,
            Way::Redis(pipeline) => publish(pipeline, &posts).await,
        }
    }
}

impl Queue {
    async fn post(&self, posts: Vec<Post>) -> Result<(), PostError> {
        let sent = async {
            let mut is_up = self.is_up.subscribe();
            let away = PostError::Away(self.engine);
            // While there is no connection, messages wait here and not in the queue, so they are gone with their sender.
            is_up.wait_for(|is_up| *is_up).await.map_err(|_| away.clone())?;
            let (done, result) = oneshot::channel();
            self.jobs
                .send(Job { posts, done })
                .await
                .map_err(|_| away.clone())?;
            result.await.unwrap_or(Err(away))
        };
        match timeout(PATIENCE, sent).await {
            Ok(result) => result,
            Err(_) if *self.is_up.borrow() => Err(PostError::Silent { engine: self.engine }),
            Err(_) => Err(PostError::Away(self.engine)),
        }
    }
}

/// Sends messages one after the other, without waiting for answers in between.
async fn publish(pipeline: &Pipeline, posts: &[Post]) -> Result<(), PostError> {
    let published = posts.iter().map(|post| {
        let mut publish = cmd("PUBLISH");
        publish.arg(&*post.channel).arg(&post.payload);
        pipeline.request(Request::Command(publish), PATIENCE)
    });
    let answers = join_all(published).await;
    answers
        .into_iter()
        .try_for_each(|answer| answer.map(drop).map_err(PostError::of_redis))
}

impl PostError {
    fn of_redis(error: RequestError) -> Self {
        let engine = "Redis";
        match error {
            RequestError::Late(_) => Self::Silent { engine },
            RequestError::Lost => Self::Away(engine),
            RequestError::Refused(reason) if reason.starts_with("NOPERM") => {
                Self::Refused(format!("Redis refused the message: {reason}"))
            }
            error => Self::Postponed(error.to_string()),
        }
    }
}

impl Jobs {
    /// From now on there is a connection.
    pub(crate) fn open(&self) {
        self.is_up.send_replace(true);
    }

    /// There is no connection any more. What waits is refused.
    pub(crate) fn close(&mut self) {
        self.is_up.send_replace(false);
        while let Ok(job) = self.jobs.try_recv() {
            job.finish(Err(PostError::Away(self.engine)));
        }
    }

    /// The error for messages that were sent and not confirmed when the connection was lost.
    pub(crate) fn away(&self) -> PostError {
        PostError::Away(self.engine)
    }

    /// The next messages to send. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Job {
        loop {
            match self.jobs.recv().await {
                Some(job) if job.is_abandoned() => {}
                Some(job) => return job,
                // All senders are gone: the server stops.
                None => std::future::pending().await,
            }
        }
    }

    /// The next messages, if there are some at once.
    pub(crate) fn try_next(&mut self) -> Option<Job> {
        std::iter::from_fn(|| self.jobs.try_recv().ok()).find(|job| !job.is_abandoned())
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_telemetry::Registry;

    use super::*;
    use crate::{posting::Posting, scripted::Scripted, server::Server, target::RedisUrls, tls::TlsSettings};

    fn post(channel: &str) -> Vec<Post> {
        vec![Post {
            channel: channel.into(),
            payload: Vec::new(),
        }]
    }

    #[tokio::test(start_paused = true)]
    async fn a_sender_waits_for_a_connection_and_for_the_confirmation() {
        let (outbox, mut jobs) = outbox("Redis");
        let sending = tokio::spawn(async move { outbox.post(post("a")).await });
        tokio::time::sleep(Duration::from_secs(1)).await;
        jobs.open();
        let job = jobs.next().await;
        assert_eq!(job.posts, post("a"));
        assert!(!sending.is_finished());
        job.finish(Ok(()));
        assert_eq!(sending.await.expect("no panic"), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_sender_gives_up_and_its_messages_are_not_sent() {
        let (outbox, mut jobs) = outbox("Redis");
        assert_eq!(outbox.post(post("a")).await, Err(PostError::Away("Redis")));
        jobs.open();
        assert_eq!(
            outbox.post(post("b")).await,
            Err(PostError::Silent { engine: "Redis" })
        );
        assert!(jobs.try_next().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_when_the_connection_is_lost_is_refused() {
        let (outbox, mut jobs) = outbox("Redis");
        jobs.open();
        let sending = tokio::spawn(async move { outbox.post(post("a")).await });
        tokio::task::yield_now().await;
        jobs.close();
        assert_eq!(sending.await.expect("no panic"), Err(PostError::Away("Redis")));
    }

    /// The result of messages for these channels.
    async fn check(outbox: &Outbox, channels: &[&str], expected: Result<(), PostError>) {
        let posts = channels.iter().flat_map(|channel| post(channel)).collect();
        assert_eq!(outbox.post(posts).await, expected, "{channels:?}");
    }

    #[tokio::test]
    async fn each_sender_learns_what_redis_says_of_its_own_messages() {
        let mut redis = Scripted::bind().await;
        redis.answer(|command| match command {
            "PUBLISH secret " => "-NOPERM no access\r\n".to_owned(),
            "PUBLISH busy " => "-BUSY a script runs\r\n".to_owned(),
            "PUBLISH lost " => String::new(),
            _ => ":1\r\n".to_owned(),
        });
        let urls: RedisUrls = format!("redis://127.0.0.1:{}", redis.port)
            .parse()
            .expect("a URL");
        let server = Server::at_urls(urls, &TlsSettings::default(), 1 << 20).expect("no files are named");
        let (outbox, posting) = Posting::new(server, "a test", PATIENCE);
        let (_stop, stopped) = watch::channel(false);
        tokio::spawn(posting.run(Registry::default().dependency("redis"), stopped));
        let refused = || {
            Err(PostError::Refused(
                "Redis refused the message: NOPERM no access".to_owned(),
            ))
        };
        let busy = "Redis refused the command: BUSY a script runs".to_owned();
        check(&outbox, &[], Ok(())).await;
        check(&outbox, &["a"], Ok(())).await;
        check(&outbox, &["a", "b"], Ok(())).await;
        check(&outbox, &["secret"], refused()).await;
        check(&outbox, &["a", "secret", "b"], refused()).await;
        check(&outbox, &["busy"], Err(PostError::Postponed(busy))).await;
        check(&outbox, &["lost"], Err(PostError::Away("Redis"))).await;
        check(&outbox, &["a"], Ok(())).await;
        let commands = redis.commands("PUBLISH");
        let expected = "a a b secret a secret b busy lost a".split(' ');
        assert_eq!(
            commands,
            expected
                .map(|channel| format!("PUBLISH {channel} "))
                .collect::<Vec<_>>()
        );
    }
}
