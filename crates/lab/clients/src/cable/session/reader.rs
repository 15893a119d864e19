//! The reader of a session's socket, which dispatches each message.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use plimsoll_cable::reply::{Position, Reply, ReplyError};
use serde::Deserialize;

use super::{
    Arrival, Ending, Message, Shared,
    event::{Kind, Pending},
    message::Mark,
    state::{ChannelState, Stage},
};

/// Reads the socket of a session while it is polled. Dropping it ends the session.
#[derive(Debug)]
pub struct Reader {
    shared: Rc<Shared>,
}

impl Reader {
    pub(super) fn new(shared: Rc<Shared>) -> Self {
        Self { shared }
    }

    /// Reads once, and dispatches the messages. Call it again and again, and look at
    /// [`Session::totals`](super::Session::totals) between two calls.
    ///
    /// # Errors
    /// The session is over.
    pub async fn read(&mut self) -> Result<(), Ending> {
        let read = poll_fn(|cx| self.shared.poll_read(cx)).await;
        let mut link = self.shared.link.borrow_mut();
        // The server's Close comes after its `disconnect`.
        if read.is_ok() && matches!(link.ending(), None | Some(Ending::Disconnected { .. })) {
            return Ok(());
        }
        let ending = link.end(Ending::Left);
        drop(link);
        self.shared.waiters.wake_all();
        Err(ending)
    }

    /// Reads while `work` runs, and returns its output. If the session ends meanwhile, `work` continues.
    pub async fn read_during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                output = &mut work => return output,
                read = self.read() => if read.is_err() { return work.await },
            }
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.link.borrow_mut().end(Ending::Left);
        self.shared.waiters.wake_all();
    }
}

#[derive(Deserialize)]
struct PresenceEvent<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
}

impl Shared {
    /// Dispatches one server message. A message without a destination is counted and dropped.
    pub(super) fn route(&self, at: Instant, json: &str) -> Result<(), Ending> {
        let reply = match Reply::parse(json) {
            Ok(reply) => reply,
            Err(error @ ReplyError::NotJson(_)) => return Err(error.into()),
            // An unknown extension.
            Err(ReplyError::Unknown(_) | ReplyError::Missing { .. }) => {
                self.count(|totals| totals.n_messages_in += 1);
                return Ok(());
            }
        };
        if reply == Reply::Ping {
            self.count(|totals| totals.n_pings += 1);
            self.owes_pong.set(true);
            return Ok(());
        }
        self.count(|totals| totals.n_messages_in += 1);
        match reply {
            Reply::Confirm { identifier } => self.answered(&identifier, Stage::Confirmed, at),
            Reply::Reject { identifier } => {
                self.answered(&identifier, Stage::Rejected, at);
                // Forgotten, so that another attempt asks again.
                self.channels.borrow_mut().remove(identifier.as_ref());
            }
            Reply::ConfirmHistory { identifier } => self.with_channel(&identifier, |channel| {
                channel.answer_history(true, at);
            }),
            Reply::RejectHistory { identifier } => self.with_channel(&identifier, |channel| {
                channel.answer_history(false, at);
            }),
            Reply::Presence { identifier, message } => self.with_channel(&identifier, |channel| {
                self.present(channel, message, at);
            }),
            Reply::Message {
                identifier,
                message,
                position,
            } => self.with_channel(&identifier, |channel| {
                self.deliver(channel, message, position.as_ref(), at);
            }),
            Reply::Disconnect { reason, reconnect } => {
                return Err(Ending::Disconnected {
                    reason: reason.into_owned(),
                    reconnect,
                });
            }
            Reply::Welcome { .. } | Reply::Ping | Reply::Pong => {}
        }
        Ok(())
    }

    fn with_channel(&self, identifier: &str, then: impl FnOnce(&Rc<ChannelState>)) {
        let channel = self.channels.borrow().get(identifier).map(Rc::clone);
        if let Some(channel) = channel {
            then(&channel);
        }
    }

    fn answered(&self, identifier: &str, stage: Stage, at: Instant) {
        self.with_channel(identifier, |channel| channel.answer(stage, at));
    }

    fn deliver(&self, channel: &Rc<ChannelState>, json: &str, position: Option<&Position<'_>>, at: Instant) {
        let unix_ms = unix_ms(at);
        let mut inner = channel.edit();
        inner.n_messages += 1;
        inner.last_message_at_ms = Some(unix_ms);
        if let Some(position) = position {
            inner.progress.note(position);
        }
        if let Some(listener) = &mut inner.listener {
            listener.hear(&Arrival {
                json,
                position,
                at,
                unix_ms,
            });
            return;
        }
        let mark = Mark { at, unix_ms };
        if inner.is_observed {
            self.tell(channel, Kind::Message, mark.on(json.into()));
        } else if !inner.ignores_reads {
            inner.inbox.push(json, mark);
            self.note_full(inner.inbox.is_full());
        }
    }

    fn present(&self, channel: &Rc<ChannelState>, json: &str, at: Instant) {
        let event = serde_json::from_str::<PresenceEvent<'_>>(json);
        if event.is_ok_and(|event| matches!(event.kind, "info" | "error")) {
            channel.edit().presence.answer(json.into(), at);
        } else if channel.get().is_presence_observed {
            let mark = Mark {
                at,
                unix_ms: unix_ms(at),
            };
            self.tell(channel, Kind::Presence, mark.on(json.into()));
        }
    }

    fn tell(&self, channel: &Rc<ChannelState>, kind: Kind, message: Message) {
        let mut events = self.events.borrow_mut();
        events.push(Pending {
            channel: Rc::clone(channel),
            kind,
            message,
        });
        self.note_full(events.is_full());
    }
}

/// The wall clock's time of an instant that has just been.
fn unix_ms(at: Instant) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let then = now.saturating_sub(at.elapsed());
    u64::try_from(then.as_millis()).unwrap_or(u64::MAX)
}
