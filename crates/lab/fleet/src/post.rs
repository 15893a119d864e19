//! What an agent tells, on its way to the coordinator: in order, each until it has been confirmed.

use std::time::Duration;

use async_nats::Message;
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::{
    FleetError,
    link::Link,
    message::Told,
    parcel::{Parcel, unpack},
};

/// The most that waits to be told. Reason: five minutes of a part each second. An agent without a coordinator ends long
/// before.
pub(crate) const MAX_WAITING: usize = 300;

/// How long one message is offered before the agent gives up. Reason: NATS may be started anew, and the coordinator's beats
/// end a run without one earlier.
const OFFER_FOR: Duration = Duration::from_secs(60);

/// The most pieces of one message.
const MAX_PIECES: usize = 1_024;

/// A message on its way.
#[derive(Debug)]
pub(crate) struct Letter {
    pub(crate) told: Told,
    /// Is completed when the coordinator has it. `None`: the sender does not wait for that.
    pub(crate) taken: Option<oneshot::Sender<()>>,
}

/// The sender of one agent's messages of one run.
pub(crate) struct Outbox {
    pub(crate) link: Link,
    pub(crate) run: String,
    pub(crate) agent: String,
    pub(crate) waiting: mpsc::Receiver<Letter>,
}

impl Outbox {
    /// Sends all messages until their sender is gone.
    ///
    /// # Errors
    /// A message was not confirmed in time.
    pub(crate) async fn send_all(mut self) -> Result<(), FleetError> {
        let mut number = 0_u64;
        while let Some(Letter { told, taken }) = self.waiting.recv().await {
            let content = serde_json::to_vec(&told).map_err(|error| FleetError::Link(error.to_string()))?;
            let parcel = Parcel::new("", &content, self.link.piece_bytes());
            let n_pieces = parcel.label.n_pieces;
            for (at, piece) in parcel.pieces().enumerate() {
                let rest = format!("post.{}.{number}.{at}.{n_pieces}", self.agent);
                let subject = self.link.of_run(&self.run, &rest);
                self.link
                    .ask(subject, Bytes::copy_from_slice(piece), OFFER_FOR)
                    .await?;
            }
            number += 1;
            if let Some(taken) = taken {
                // Its sender may have been stopped meanwhile.
                let _gone = taken.send(());
            }
        }
        Ok(())
    }
}

/// Where a piece belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) agent: &'a str,
    number: u64,
    at: usize,
    n_pieces: usize,
}

impl<'a> Place<'a> {
    /// The place that the last four parts of a subject name.
    pub(crate) fn of(subject: &'a str) -> Option<Self> {
        let mut parts = subject.rsplit('.');
        let n_pieces = parts.next()?.parse().ok()?;
        let at = parts.next()?.parse().ok()?;
        let number = parts.next()?.parse().ok()?;
        Some(Self {
            agent: parts.next()?,
            number,
            at,
            n_pieces,
        })
    }
}

/// The messages of one agent as they come: each is put together and taken once.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// The number of the message that is being received.
    number: u64,
    pieces: Vec<Bytes>,
}

/// What becomes of a piece.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// It is confirmed: it came before, or more pieces follow.
    Confirmed,
    /// It completes a message. To be confirmed when the message has been taken.
    Complete(Box<Told>),
    /// It belongs to no message that can come now.
    Stray,
    /// It completes a message that cannot be read.
    Unreadable,
}

impl Inbox {
    /// Takes a piece.
    pub(crate) fn take(&mut self, place: Place<'_>, piece: Bytes) -> Arrival {
        let Place {
            number, at, n_pieces, ..
        } = place;
        if number < self.number || number == self.number && at < self.pieces.len() {
            return Arrival::Confirmed;
        }
        if number > self.number || at > self.pieces.len() || at >= n_pieces || n_pieces > MAX_PIECES {
            return Arrival::Stray;
        }
        self.pieces.push(piece);
        if self.pieces.len() < n_pieces {
            return Arrival::Confirmed;
        }
        let packed = self.pieces.concat();
        self.pieces.clear();
        self.number += 1;
        let told = unpack(&packed).and_then(|content| serde_json::from_slice(&content).ok());
        told.map_or(Arrival::Unreadable, Arrival::Complete)
    }
}

/// Confirms a message of NATS.
pub(crate) async fn confirm(link: &Link, message: &Message) {
    if let Some(reply) = &message.reply {
        link.publish(reply.to_string(), Bytes::new()).await;
    }
}

/// The queue between a run and its outbox.
pub(crate) fn queue() -> (mpsc::Sender<Letter>, mpsc::Receiver<Letter>) {
    mpsc::channel(MAX_WAITING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parcel::pack;

    fn place(number: u64, at: usize, n_pieces: usize) -> Place<'static> {
        Place {
            agent: "a",
            number,
            at,
            n_pieces,
        }
    }

    fn ready(vus: u32) -> Bytes {
        let told = serde_json::to_vec(&Told::Ready { vus }).expect("it serialises");
        pack(&told).into()
    }

    #[track_caller]
    fn check(inbox: &mut Inbox, at: Place<'_>, piece: Bytes, expected: &str) {
        let found = match inbox.take(at, piece) {
            Arrival::Confirmed => "confirmed".to_owned(),
            Arrival::Stray => "stray".to_owned(),
            Arrival::Unreadable => "unreadable".to_owned(),
            Arrival::Complete(told) => format!("{told:?}"),
        };
        assert_eq!(found, expected, "{at:?}");
    }

    #[test]
    fn each_message_is_taken_once_and_in_its_order() {
        let mut inbox = Inbox::default();
        let whole = ready(7);
        let (one, two) = (whole.slice(..4), whole.slice(4..));
        check(&mut inbox, place(1, 0, 1), ready(8), "stray");
        check(&mut inbox, place(0, 1, 2), two.clone(), "stray");
        check(&mut inbox, place(0, 0, 2), one.clone(), "confirmed");
        // The confirmation was lost.
        check(&mut inbox, place(0, 0, 2), one, "confirmed");
        check(&mut inbox, place(0, 1, 2), two.clone(), "Ready { vus: 7 }");
        check(&mut inbox, place(0, 1, 2), two, "confirmed");
        check(&mut inbox, place(1, 0, 1), ready(8), "Ready { vus: 8 }");
        check(&mut inbox, place(2, 0, 5_000), ready(8), "stray");
        check(
            &mut inbox,
            place(2, 0, 1),
            Bytes::from_static(b"nonsense"),
            "unreadable",
        );
    }

    #[test]
    fn subjects_name_places() {
        let found = Place::of("plimsoll.default.run.r.post.a1.7.0.2");
        assert_eq!(
            found,
            Some(Place {
                agent: "a1",
                number: 7,
                at: 0,
                n_pieces: 2
            })
        );
        for subject in ["", "a.b", "post.a.x.0.1", "post.a.1.0.-1"] {
            assert_eq!(Place::of(subject), None, "{subject}");
        }
    }
}
