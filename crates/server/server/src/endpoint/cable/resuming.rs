//! A session that goes on with a new connection of its client (docs/protocols/extended.md, Resuming).

use std::{mem, rc::Rc, sync::Arc};

use plimsoll_cable::reply;
use plimsoll_hub::SessionId;
use tokio::time::{Instant, timeout_at};

use super::{
    CableSession,
    replay::{catch_up, streams},
    resumable::Resumable,
};
use crate::{
    application::{ConnectRequest, MayResume, State, StateChanges},
    awaited::{Claim, MAX_WAIT, Record},
    ending::Ending,
    identity::Identity,
    shard::Shard,
};

impl Shard {
    /// What is left of an earlier session, if there is one that may go on. A connection of it that is still open is cut
    /// first.
    pub(crate) async fn claim(&self, sid: &str, request: &ConnectRequest) -> Option<Box<Record>> {
        let awaited = self.shared.awaited.as_ref()?;
        let may = self.application.may_resume(request).await;
        if may == MayResume::None {
            return None;
        }
        // Otherwise the client would hear the latest messages again, if this shard is slower than its last one.
        catch_up(self).await;
        let deadline = Instant::now() + MAX_WAIT;
        loop {
            let open = match awaited.claim(sid, &may) {
                Claim::Granted(record) => return Some(record),
                Claim::Unknown => return None,
                Claim::Open(open) => open,
            };
            self.publisher.replace(open.shard, open.session).await;
            if timeout_at(deadline, open.end).await.is_err() {
                tracing::debug!("A session is not resumed: its old connection does not end in time.");
                return None;
            }
        }
    }
}

impl CableSession {
    /// Goes on with an earlier session. The application is not asked.
    pub(crate) fn resume(
        shard: &Rc<Shard>,
        id: SessionId,
        sid: Rc<str>,
        request: ConnectRequest,
        record: Record,
    ) -> Self {
        let Record {
            identifiers,
            subscriptions,
            environment: earlier,
            istate,
            hears_of_end,
            expires_at,
            absences: _,
        } = record;
        let url = &request.environment.url;
        shard.heartbeat.borrow_mut().add(id, url, fastrand::f64());
        let mut session = Self {
            identity: Identity::register(shard, id, &identifiers),
            sid,
            subscriptions: Vec::new(),
            memory: None,
            resumable: None,
            expires_at: expires_at.map(Box::new),
        };
        if shard.application.keeps_state_in_sessions() {
            session.memory_mut().environment = request.environment;
        }
        if earlier.cstate != State::EMPTY {
            session.memory_mut().environment.cstate = earlier.cstate;
        }
        if !istate.is_empty() {
            session.memory_mut().istate = istate;
        }
        session.remember(shard, "", StateChanges::new(), StateChanges::new(), hears_of_end);
        let mut hub = shard.hub.borrow_mut();
        for (identifier, streams) in subscriptions {
            for stream in &streams {
                hub.subscribe(id, Some(&identifier), stream);
            }
            session.subscriptions.push(identifier);
        }
        drop(hub);
        session.hold(shard, id);
        let restored = session.subscriptions.iter().map(|identifier| &**identifier);
        shard.send_text(id, &reply::encode_restored(&session.sid, restored));
        session
    }

    /// From now on the session can be resumed, if the server resumes sessions and the application has accepted the
    /// client.
    pub(crate) fn may_be_resumed(&mut self, shard: &Rc<Shard>, id: SessionId) {
        let Some(awaited) = shard.shared.awaited.as_ref().filter(|_| !shard.is_ending(id)) else {
            return;
        };
        awaited.opened(&self.sid, shard.number, id);
        self.resumable = Some(Box::new(Resumable {
            shard: Rc::clone(shard),
            awaited: Arc::clone(awaited),
            id,
        }));
    }

    /// Leaves the session to a later connection of the client. Returns `false` if the session ends here: it cannot be
    /// resumed, or the server, a backend or the application has ended it.
    pub(super) fn leave_for_return(&mut self) -> bool {
        let Some(resumable) = self.resumable.take() else {
            return false;
        };
        let Resumable { shard, awaited, id } = *resumable;
        let ending = {
            let mut hub = shard.hub.borrow_mut();
            hub.get_mut(id).map(|(connection, _)| connection.ending.get())
        };
        if !matches!(ending, Some(None | Some(Ending::TooSlow | Ending::NoPong)))
            || shard.publisher.is_closed()
        {
            awaited.closed(&self.sid);
            return false;
        }
        let record = self.record(&shard, id);
        shard.say_farewells(awaited.leave(&self.sid, record));
        true
    }

    fn record(&mut self, shard: &Shard, id: SessionId) -> Record {
        let subscriptions = mem::take(&mut self.subscriptions);
        let mut memory = self.memory.take().map(|memory| *memory).unwrap_or_default();
        let attendances = memory.attendances.take();
        Record {
            identifiers: self.identifiers().into(),
            subscriptions: subscriptions
                .into_iter()
                .map(|identifier| {
                    let streams = streams(shard, id, &identifier);
                    (identifier, streams)
                })
                .collect(),
            environment: memory.environment,
            istate: memory.istate,
            hears_of_end: memory.farewell_to.is_some(),
            expires_at: self.expires_at.take().map(|end| *end),
            absences: attendances.map_or_else(Vec::new, |mut attendances| attendances.step_away()),
        }
    }
}
