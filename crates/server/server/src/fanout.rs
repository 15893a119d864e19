//! The loop that moves messages from a shard's mailbox to its sockets. The hottest code of the server.

use std::{rc::Rc, sync::Arc};

use plimsoll_cable::{broadcast::RemoteDisconnect, reply};
use plimsoll_hub::{Audience, Portion, SessionId};
use tokio::sync::mpsc;

use crate::{
    application::DisconnectRequest,
    encoding,
    ending::Ending,
    mailbox::{Body, Excluded, Letter, Outgoing},
    shard::Shard,
};

/// Sessions flushed before other tasks of the shard get their turn. At about 3 µs each, a portion takes less than a
/// millisecond.
const PORTION: usize = 256;

/// The most publications in progress at once. Beyond it the mailbox fills and publishers wait, which bounds the frames
/// that a flood of publications puts into the outboxes.
const MAX_UNDER_WAY: usize = 64;

/// Runs until all publishers are dropped.
pub(crate) async fn run(shard: Rc<Shard>, mut mailbox: mpsc::Receiver<Letter>) {
    let mut portion = Portion::default();
    loop {
        if shard.hub.borrow().n_under_way() == 0 {
            let Some(letter) = mailbox.recv().await else {
                return;
            };
            shard.deliver(letter);
        }
        while shard.hub.borrow().n_under_way() < MAX_UNDER_WAY
            && let Ok(letter) = mailbox.try_recv()
        {
            shard.deliver(letter);
        }
        shard.hub.borrow_mut().next_portion(PORTION, &mut portion);
        let n_written = shard.write_all(&portion.sessions);
        shard.metrics.sent_bytes.add(n_written as u64);
        // Tells the waiting publishers that their messages have been written.
        portion.completed.clear();
        tokio::task::yield_now().await;
    }
}

impl Shard {
    fn deliver(self: &Rc<Self>, letter: Letter) {
        match letter {
            Letter::Publish(outgoing) => self.stage(&outgoing),
            Letter::Direct(id, payload) => {
                let frame = encoding::payload(
                    &payload,
                    None,
                    encoding::PLAIN,
                    &mut self.codec.deflater.borrow_mut(),
                );
                self.send(id, frame);
                self.flush(id);
            }
            Letter::Disconnect(command) => {
                self.disconnect(&command);
            }
            Letter::Farewells(farewells) => self.say_farewells(farewells),
            Letter::Seen(serial) => self.see(serial),
            Letter::Lost { stream, serial } => {
                self.see(serial);
                self.tell_loss(&stream);
            }
            Letter::Replace(id) => self.replace(id),
            Letter::Inquire(inquiry) => self.look_into(inquiry),
            // All earlier publications are in the outboxes, in front of the sessions' last words.
            Letter::Drain => self.draining.may_drain.notify_one(),
        }
    }

    /// Ends all sessions with these identifiers, as Rails does. AnyCable ends only one session per node. Earlier
    /// publications are already in the outboxes, so the sessions get them before their last words. The first
    /// [`PORTION`] of them (all of them, except in load tests) get no later publications. The others wait their turn,
    /// so that a command for every session does not hold up the shard.
    fn disconnect(self: &Rc<Self>, command: &RemoteDisconnect) {
        let mut sessions = self.identities.borrow().sessions(&command.identifiers);
        let ending = Ending::Remote {
            reconnect: command.reconnect,
        };
        let rest = sessions.split_off(sessions.len().min(PORTION));
        self.end_all(&sessions, ending);
        if rest.is_empty() {
            return;
        }
        let shard = Rc::clone(self);
        tokio::task::spawn_local(async move {
            for portion in rest.chunks(PORTION) {
                tokio::task::yield_now().await;
                shard.end_all(portion, ending);
            }
        });
    }

    fn see(&self, serial: u64) {
        if let Some(view) = &self.view {
            view.advance(serial);
        }
    }

    /// Tells the listeners of a stream that its history has a gap, as far as they understand that.
    fn tell_loss(self: &Rc<Self>, stream: &str) {
        let listeners: Vec<(SessionId, Box<str>)> = {
            let hub = self.hub.borrow();
            let listeners = hub.listeners(stream);
            listeners
                .filter(|(connection, ..)| connection.hears_of_losses.get())
                .filter_map(|(_, id, identifier)| Some((id, identifier?.into())))
                .collect()
        };
        for (id, identifier) in listeners {
            self.send_text(id, &reply::encode_reject_history(&identifier));
            self.flush(id);
        }
    }

    pub(crate) fn say_farewells(&self, farewells: Vec<DisconnectRequest>) {
        for farewell in farewells {
            self.application.disconnect(farewell);
        }
    }

    /// Cuts a session's connection. The session's task ends and leaves the session to the client's new connection.
    fn replace(&self, id: SessionId) {
        if let Some((connection, outbox)) = self.hub.borrow_mut().get_mut(id)
            && !outbox.is_sealed()
        {
            outbox.abandon();
            connection.cut();
        }
    }

    fn end_all(self: &Rc<Self>, sessions: &[SessionId], ending: Ending) {
        for id in sessions {
            self.end(*id, ending);
            self.flush(*id);
        }
    }

    /// The session of this shard that is excluded from a publication. There is no index by session id, because every
    /// session would pay for it. The few publications that exclude a session search their listeners instead.
    fn excluded(&self, outgoing: &Outgoing) -> Option<SessionId> {
        match outgoing.excluded.as_ref()? {
            Excluded::Session { shard, id } => (*shard == self.number).then_some(*id),
            Excluded::Sid(sid) => {
                let hub = self.hub.borrow();
                hub.find_listener(&outgoing.stream, |connection| *connection.sid == **sid)
            }
        }
    }

    fn stage(self: &Rc<Self>, outgoing: &Arc<Outgoing>) {
        let Outgoing { stream, body, .. } = &**outgoing;
        let audience = Audience {
            excluded: self.excluded(outgoing),
            is_without_held: matches!(body, Body::Kept(_)),
        };
        if let (Body::Kept(kept), Some(view)) = (body, &self.view) {
            view.advance(kept.serial);
        }
        let published =
            self.hub
                .borrow_mut()
                .publish(stream, audience, Arc::clone(outgoing), |identifier, format| {
                    encoding::publication(body, identifier, format, &mut self.codec.deflater.borrow_mut())
                });
        self.metrics.server_messages.add(published.n_deliveries as u64);
        for id in published.overflowed {
            self.end(id, Ending::TooSlow);
        }
        self.make_room();
    }
}
