//! A consumer that separates *reading* from *waiting*.
//!
//! A script sleeps, fetches pages and waits for one channel while messages of all its channels continue to arrive. So
//! reading and waiting are separate futures. The [`Reader`] reads the socket whenever it is polled, records when each
//! message arrived, and dispatches it. A waiting future ([`Channel::confirmed`], [`Search::run`] and so on) looks at
//! the dispatched messages and is woken when there are more. Both live on one thread and share one session; neither is
//! a task of its own.
//!
//! No message is lost and no queue grows without bound: while an inbox is full, the reader does not read the socket
//! (see [`Totals::n_stalls`]). So the connection fills, acknowledgements and other channels of the session wait too,
//! and a server sees a slow client, as it would with k6's cable extension. Scripts that do not want the messages call
//! [`Channel::ignore_reads`] or [`Channel::count_only`].

use std::{
    fmt,
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_cable::command::{
    HistoryRequest, encode_history, encode_subscribe, encode_subscribe_with_history,
};

use super::{ConnectError, Ending, opening};
use crate::websocket::{Connection, Conversation, Discard};

mod arrival;
mod channel;
mod event;
mod inbox;
mod latency;
mod link;
mod message;
mod positions;
mod reader;
mod search;
mod shared;
mod state;
mod waiters;

pub use self::{
    arrival::{Arrival, OnArrival},
    channel::Channel,
    event::Event,
    latency::OnLatency,
    message::Message,
    positions::Resumption,
    reader::Reader,
    search::{Patience, Search},
};
use self::{shared::Shared, state::ChannelState};

/// Bytes of messages that a queue of a session holds at most.
const MAX_WAITING_BYTES: usize = 16 << 20;

/// An Action Cable consumer, with the extended protocol if the server agreed to it. Clones share one connection, which
/// ends with the [`Reader`].
#[derive(Clone)]
pub struct Session {
    shared: Rc<Shared>,
}

/// What a session has received and sent since the welcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Server messages other than pings.
    pub n_messages_in: u64,
    /// Action Cable's heartbeats.
    pub n_pings: u64,
    /// Commands sent, without answers to pings.
    pub n_commands: u64,
    /// How many times reading stopped because an inbox was full. Messages that arrive meanwhile wait in the kernel and
    /// count as arriving when they are read.
    pub n_stalls: u64,
}

impl Session {
    /// Waits on an open WebSocket for the welcome, at most `limit`. `resumption` is the [`Self::resumption`] of an
    /// earlier session whose id was in the upgrade request. The positions of its subscriptions are taken over, even if
    /// the server does not restore the session.
    ///
    /// # Errors
    /// [`ConnectError`]; its [`cause`](ConnectError::cause) is what to count.
    pub async fn open(
        mut connection: Connection,
        limit: Duration,
        resumption: Option<Resumption>,
    ) -> Result<(Self, Reader), ConnectError> {
        let welcome = opening::welcome(&mut connection, limit).await?;
        let shared = Rc::new(Shared::new(connection, welcome, resumption));
        let reader = Reader::new(Rc::clone(&shared));
        Ok((Self { shared }, reader))
    }

    /// The id that the server gave this session. Plain Action Cable gives none.
    pub fn sid(&self) -> Option<&str> {
        self.shared.sid.as_deref()
    }

    /// Whether the server restored the earlier session and its subscriptions.
    pub fn is_restored(&self) -> bool {
        self.shared.is_restored
    }

    /// The data with which a later session can resume this one. `None` if the server gave no id.
    pub fn resumption(&self) -> Option<Resumption> {
        let channels = self.shared.channels.borrow();
        let earlier = self.shared.earlier.borrow();
        let live = channels.values().filter_map(|channel| channel.resumable());
        Some(earlier.followed_by(self.shared.sid.clone()?, live.collect()))
    }

    /// The subscription of `identifier`, if it exists or was requested.
    pub fn channel(&self, identifier: &str) -> Option<Channel> {
        let state = self.shared.channels.borrow().get(identifier).map(Rc::clone)?;
        Some(Channel::new(Rc::clone(&self.shared), state))
    }

    /// Asks for a subscription, without waiting for the answer: see [`Channel::confirmed`].
    ///
    /// An existing or requested subscription is returned unchanged. It is requested again only after a wait for its
    /// answer timed out.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn subscribe(&self, identifier: &str) -> Result<Channel, Ending> {
        self.ask(identifier, &HistoryRequest::default()).await
    }

    /// Like [`Self::subscribe`], and asks for the messages that a client has missed: those after its positions of the
    /// earlier session, and of other streams those from `since`, in Unix time in seconds. For a subscription that the
    /// server has restored that is a request of its own, otherwise a part of the command. [`Channel::replayed`] waits
    /// for the answer.
    ///
    /// Without a starting point nothing is asked for, and neither for a subscription that exists already.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn subscribe_with_history(
        &self,
        identifier: &str,
        since: Option<i64>,
    ) -> Result<Channel, Ending> {
        let positions = self.shared.earlier_positions(identifier);
        let request = HistoryRequest {
            since,
            streams: positions.streams().clone(),
        };
        if self.channel(identifier).is_some() {
            return self.ask(identifier, &request).await;
        }
        let Some(state) = self.shared.restored(identifier) else {
            return self.ask(identifier, &request).await;
        };
        let channel = self.shared.register(state);
        if !request.is_empty() {
            channel.state().ask_history(Instant::now());
            self.shared.send(&encode_history(identifier, &request)).await?;
        }
        Ok(channel)
    }

    async fn ask(&self, identifier: &str, request: &HistoryRequest) -> Result<Channel, Ending> {
        if let Some(channel) = self.channel(identifier)
            && !channel.state().is_overdue()
        {
            return Ok(channel);
        }
        if let Some(state) = self.shared.restored(identifier) {
            return Ok(self.shared.register(state));
        }
        self.shared.flushed().await?;
        let channel = self
            .channel(identifier)
            .unwrap_or_else(|| self.shared.register(ChannelState::new(identifier)));
        let now = Instant::now();
        channel.state().ask(now);
        let known = self.shared.earlier_positions(identifier);
        if !known.streams().is_empty() {
            channel.state().come_back(known);
        }
        let command = if request.is_empty() {
            encode_subscribe(identifier)
        } else {
            channel.state().ask_history(now);
            encode_subscribe_with_history(identifier, request)
        };
        self.shared.send(&command).await?;
        Ok(channel)
    }

    /// The oldest event for an observer: see [`Channel::observe`]. A message stays while its channel's inbox has no
    /// room for it.
    pub fn next_event(&self) -> Option<Event> {
        let event = self.shared.events.borrow_mut().next()?;
        self.shared.make_room();
        Some(event.with_channel(&self.shared))
    }

    /// Whether [`Self::next_event`] has an event.
    pub fn has_events(&self) -> bool {
        self.shared.events.borrow().is_ready()
    }

    /// Why the session is over. `None` while it is open, as far as known.
    pub fn ending(&self) -> Option<Ending> {
        self.shared.link.borrow().ending().cloned()
    }

    /// Waits until the session is over, for any reason.
    pub async fn ended(&self) -> Ending {
        self.until(|| self.ending()).await
    }

    async fn until<T>(&self, look: impl FnMut() -> Option<T>) -> T {
        self.shared.until(look).await
    }

    /// Whether nothing more will arrive: after a `disconnect`, the server's Close has arrived or the wait for it is
    /// over.
    pub fn is_over(&self) -> bool {
        self.shared.link.borrow().is_gone()
    }

    /// The server's close code, once its Close has arrived. A `disconnect` message comes before it.
    pub fn close_code(&self) -> Option<u16> {
        self.shared.link.borrow().close_code()
    }

    /// The totals so far.
    pub fn totals(&self) -> Totals {
        self.shared.totals.get()
    }

    /// Closes with code 1000 and waits at most a second for the server's Close. Messages that arrive meanwhile are
    /// dropped; those in the inboxes stay.
    pub async fn disconnect(&self) {
        let conversation = self.shared.link.borrow_mut().leave();
        self.shared.waiters.wake_all();
        if let Some(mut conversation) = conversation {
            conversation
                .close(&mut Discard, Conversation::CLOSE_TIMEOUT)
                .await;
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("ending", &self.ending())
            .field("totals", &self.totals())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
