//! Sends and receives for a stream in the background, until it ends.

use std::{
    future::pending,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_clients::grpc::{Call, Channel, Metadata, Receiver, Sender, Status};
use plimsoll_grpc::Code;
use plimsoll_load::metrics::Recorder;

use super::{
    super::{debug::CallLog, samples::CallTags, session::Session},
    outcome::Outcome,
    queue::{Leaving, Queue},
};
use crate::program::Program;

/// A stream that was opened.
pub(super) struct Transfer {
    pub(super) queue: Rc<Queue>,
    pub(super) channel: Rc<Channel>,
    pub(super) tags: CallTags,
    /// The recorder of the virtual user.
    pub(super) recorder: Recorder,
    pub(super) session: Rc<Session>,
    pub(super) program: Arc<Program>,
    pub(super) log: Option<CallLog>,
    pub(super) started: Instant,
    /// The time that is left; `None` for as long as it takes.
    pub(super) time_left: Option<Duration>,
}

impl Transfer {
    /// Sends and receives until the end, and records it.
    pub(super) async fn run(self, call: Call) {
        let Call {
            mut sender,
            mut receiver,
            remote,
        } = call;
        let metrics = self.program.metrics();
        let tagged =
            self.session
                .samples
                .recorder(&self.program, &self.recorder, &self.tags, None, Some(remote));
        tagged.count(metrics.grpc.streams, 1);
        let outcome = tokio::select! {
            received = self.receive(&mut receiver, &tagged) => Outcome::from(received),
            unusable = self.send(&mut sender, &tagged) => unusable,
            () = self.time_is_over() => Outcome::Failed(Status::deadline_exceeded()),
            () = self.channel.closed() => {
                Outcome::Failed(Status::new(Code::Cancelled, "grpc: the client connection is closing"))
            }
        };
        let failure = match &outcome {
            Outcome::Failed(status) => Some(status.clone()),
            Outcome::Complete | Outcome::Unusable(_) => None,
        };
        if let Some(log) = &self.log {
            log.ended(&Metadata::default(), failure.as_ref());
        }
        let end = (Some(remote), failure.as_ref());
        let took = self.started.elapsed();
        self.session
            .samples
            .ended(&self.program, &self.recorder, &self.tags, end, took);
        drop((sender, receiver));
        self.session.count_bytes(&self.recorder, &metrics.data);
        self.queue.finish(outcome);
    }

    async fn receive(&self, receiver: &mut Receiver, tagged: &Recorder) -> Result<(), Status> {
        let metrics = self.program.metrics();
        loop {
            self.queue.room().await;
            let Some(message) = receiver.next().await? else {
                return Ok(());
            };
            tagged.count(metrics.grpc.streams_msgs_received, 1);
            if let Some(log) = &self.log {
                log.received(&message);
            }
            self.queue.arrive(message);
        }
    }

    /// Ends only with a message that cannot be sent: the server decides about the end otherwise.
    async fn send(&self, sender: &mut Sender, tagged: &Recorder) -> Outcome {
        let metrics = self.program.metrics();
        loop {
            match self.queue.next_leaving().await {
                Leaving::Message(message) => {
                    if let Some(log) = &self.log {
                        log.sent(&message);
                    }
                    match sender.send(&message).await {
                        Ok(true) => tagged.count(metrics.grpc.streams_msgs_sent, 1),
                        // The receiver knows why.
                        Ok(false) => return pending().await,
                        Err(status) => return Outcome::Failed(status),
                    }
                    self.queue.left(message.len());
                }
                Leaving::Unusable(text) => return Outcome::Unusable(text),
                Leaving::End => sender.finish(),
            }
        }
    }

    async fn time_is_over(&self) {
        match self.time_left {
            Some(time) => tokio::time::sleep(time).await,
            None => pending().await,
        }
    }
}
