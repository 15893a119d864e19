//! The connection on which a node publishes to other nodes: many messages at once, with a confirmation for each.

use std::{collections::VecDeque, pin::pin, time::Duration};

use plimsoll_telemetry::Dependency;
use redis::cmd;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{
    connection::{Connection, ConnectionError, PATIENCE, Writer},
    outbox::{Job, Jobs, PostError},
    resp::Reply,
    server::Server,
    supervisor::{self, Link, Session, Stop, stopped},
};

/// The most senders whose messages are sent and not confirmed. Further ones wait in the queue.
const MAX_UNCONFIRMED: usize = 256;

/// The size from which on commands are written without waiting for further ones, in bytes.
const WRITE_BYTES: usize = 64 << 10;

/// Publishes on channels of a Redis server.
#[derive(Debug)]
pub struct Posting {
    /// The server.
    pub server: Server,
    /// The messages.
    pub jobs: Jobs,
    /// The receivers of the messages, for the log.
    pub receiver: &'static str,
    /// Silence after which the adapter pings the server.
    pub keepalive: Duration,
}

impl Posting {
    /// Publishes until `stop` becomes true. Keeps `status` up to date.
    pub async fn run(self, status: Dependency, stop: watch::Receiver<bool>) {
        supervisor::keep(Link::outgoing(self.receiver, status), self, stop).await;
    }
}

/// What the server owes an answer for: so many replies.
struct Unconfirmed {
    n_replies: usize,
    /// `None`: a ping.
    job: Option<Job>,
    sent_at: Instant,
}

impl Session for Posting {
    type Error = ConnectionError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let connection = tokio::select! {
            opened = Connection::open(&self.server) => opened?,
            () = stopped(stop) => return Ok(()),
        };
        link.is_up();
        self.jobs.open();
        let mut unconfirmed = VecDeque::new();
        let outcome = self.publish(connection, &mut unconfirmed, stop).await;
        self.jobs.close();
        for job in unconfirmed.into_iter().filter_map(|sent| sent.job) {
            job.finish(Err(self.jobs.away()));
        }
        outcome
    }
}

impl Posting {
    async fn publish(
        &mut self,
        connection: Connection,
        unconfirmed: &mut VecDeque<Unconfirmed>,
        stop: &mut Stop,
    ) -> Result<(), ConnectionError> {
        let Connection {
            mut reader,
            mut writer,
        } = connection;
        loop {
            let mut said = pin!(reader.receive());
            let asked_at = Instant::now();
            let reply = loop {
                let deadline = match unconfirmed.front() {
                    Some(oldest) => oldest.sent_at.max(asked_at) + PATIENCE,
                    None => asked_at + self.keepalive,
                };
                tokio::select! {
                    biased;
                    said = &mut said => break said,
                    () = stopped(stop) => return Ok(()),
                    job = self.jobs.next(), if unconfirmed.len() < MAX_UNCONFIRMED => {
                        self.send(job, unconfirmed, &mut writer).await?;
                    }
                    () = sleep_until(deadline) => {
                        if !unconfirmed.is_empty() {
                            return Err(ConnectionError::Silent(PATIENCE));
                        }
                        unconfirmed.push_back(Unconfirmed {
                            n_replies: 1,
                            job: None,
                            sent_at: Instant::now(),
                        });
                        writer.send(&cmd("PING").get_packed_command()).await?;
                    }
                }
            };
            take(reply, unconfirmed)?;
        }
    }

    /// Sends the messages of one sender, and of those that wait behind it.
    async fn send(
        &mut self,
        first: Job,
        unconfirmed: &mut VecDeque<Unconfirmed>,
        writer: &mut Writer,
    ) -> Result<(), ConnectionError> {
        let mut commands = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next {
            for post in &job.posts {
                let mut publish = cmd("PUBLISH");
                publish.arg(&*post.channel).arg(&post.payload);
                commands.extend(publish.get_packed_command());
            }
            unconfirmed.push_back(Unconfirmed {
                n_replies: job.posts.len(),
                job: Some(job),
                sent_at: Instant::now(),
            });
            next = (unconfirmed.len() < MAX_UNCONFIRMED && commands.len() < WRITE_BYTES)
                .then(|| self.jobs.try_next())
                .flatten();
        }
        writer.send(&commands).await
    }
}

/// Counts one reply. A message that Redis does not permit is its sender's fault; any other error is the connection's.
fn take(
    reply: Result<Reply, ConnectionError>,
    unconfirmed: &mut VecDeque<Unconfirmed>,
) -> Result<(), ConnectionError> {
    let refused = match reply {
        Ok(_) => None,
        Err(ConnectionError::Refused(error)) if error.starts_with("NOPERM") => Some(error),
        Err(error) => return Err(error),
    };
    let Some(oldest) = unconfirmed.front_mut() else {
        return Ok(());
    };
    oldest.n_replies -= 1;
    if let Some(error) = refused
        && let Some(job) = oldest.job.take()
    {
        job.finish(Err(PostError::Refused(format!(
            "Redis refused the message: {error}"
        ))));
    }
    if oldest.n_replies == 0
        && let Some(sent) = unconfirmed.pop_front()
        && let Some(job) = sent.job
    {
        job.finish(Ok(()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::{Post, outbox};

    /// The results of two senders, of two messages and one, with a ping between them, after these replies.
    async fn results(replies: Vec<Result<Reply, ConnectionError>>) -> Vec<Result<(), PostError>> {
        let (outbox, mut jobs) = outbox("Redis");
        jobs.open();
        let post = |n| {
            let outbox = outbox.clone();
            let post = Post {
                channel: "a".into(),
                payload: Vec::new(),
            };
            tokio::spawn(async move { outbox.post(vec![post; n]).await })
        };
        let senders = [post(2), post(1)];
        let mut unconfirmed = VecDeque::new();
        for n_replies in [2, 1] {
            let job = jobs.next().await;
            assert_eq!(job.posts.len(), n_replies);
            let sent_at = Instant::now();
            unconfirmed.push_back(Unconfirmed {
                n_replies,
                job: Some(job),
                sent_at,
            });
            unconfirmed.push_back(Unconfirmed {
                n_replies: 1,
                job: None,
                sent_at,
            });
        }
        for reply in replies {
            take(reply, &mut unconfirmed).expect("the connection goes on");
        }
        assert!(unconfirmed.is_empty());
        let mut results = Vec::new();
        for sender in senders {
            results.push(sender.await.expect("no panic"));
        }
        results
    }

    #[tokio::test]
    async fn each_sender_learns_of_its_own_messages() {
        let sent = || Ok(Reply::Integer(1));
        let refused = || Err(ConnectionError::Refused("NOPERM no access".to_owned()));
        assert_eq!(
            results(vec![sent(), sent(), sent(), sent(), sent()]).await,
            [Ok(()), Ok(())]
        );
        let not_permitted = Err(PostError::Refused(
            "Redis refused the message: NOPERM no access".to_owned(),
        ));
        assert_eq!(
            results(vec![refused(), sent(), sent(), sent(), sent()]).await,
            [not_permitted.clone(), Ok(())]
        );
        assert_eq!(
            results(vec![sent(), refused(), sent(), refused(), sent()]).await,
            [not_permitted.clone(), not_permitted]
        );
    }
}
