//! A session that goes on with a new connection of its client (docs/protocols/extended.md, Resuming).

use std::{borrow::Cow, mem, rc::Rc, sync::Arc};

use plimsoll_cable::reply;
use plimsoll_hub::SessionId;
use tokio::time::{Instant, timeout_at};

use super::{
    CableSession, Memory, NO_ENVIRONMENT,
    replay::{catch_up, streams},
    resumable::Resumable,
};
use crate::{
    application::{ConnectRequest, Entries, MayResume, State, StateChanges},
    awaited::{Awaited, Claim, MAX_WAIT, Present, Record, Snapshot},
    ending::Ending,
    hearing::Heard,
    identity::Identity,
    session_store::SessionStore,
    shard::Shard,
};

static NO_ISTATE: Entries<State> = Entries::EMPTY;

impl Shard {
    /// What is left of an earlier session, if there is one that may go on. A connection of it that is still open is cut
    /// first.
    pub(crate) async fn claim(&self, sid: &str, request: &ConnectRequest) -> Option<Box<Record>> {
        let awaited = self.shared.awaited.as_ref()?;
        let may = self.application.may_resume(request).await;
        if may == MayResume::None {
            return None;
        }
        match awaited.store() {
            Some(store) => self.take(awaited, store, sid, &may).await,
            None => self.claim_here(awaited, sid, &may).await,
        }
    }

    /// A session that waits at this server.
    async fn claim_here(&self, awaited: &Awaited, sid: &str, may: &MayResume) -> Option<Box<Record>> {
        // Otherwise the client would hear the latest messages again, if this shard is slower than its last one.
        catch_up(self).await;
        let deadline = Instant::now() + MAX_WAIT;
        loop {
            let open = match awaited.claim(sid, may) {
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

    /// A session of any server.
    async fn take(
        &self,
        awaited: &Awaited,
        store: &dyn SessionStore,
        sid: &str,
        may: &MayResume,
    ) -> Option<Box<Record>> {
        if let Some(open) = awaited.find_open(sid) {
            self.publisher.replace(open.shard, open.session).await;
            // The store would say so, too, only later.
            let _or_too_late = timeout_at(Instant::now() + MAX_WAIT, open.end).await;
        }
        let identifiers = match may {
            MayResume::Of(identifiers) => Some(&**identifiers),
            MayResume::Any | MayResume::None => None,
        };
        let taken = store.take(sid, identifiers).await;
        let taken = taken.inspect_err(|error| tracing::debug!(%error, "A session is not resumed."));
        let record = Record::from_stored(taken.ok()??);
        let record = record.inspect_err(|error| tracing::warn!("A session is not resumed: {error}."));
        record.ok().map(Box::new)
    }

    /// Prepares the streams of an earlier session for its return. The session goes on in the same step in which this
    /// returns. `None`: it may not go on any more.
    pub(crate) async fn prepare_return(&self, sid: &str, record: &Record) -> Option<Option<Heard<'_>>> {
        let streams = record.subscriptions.iter().flat_map(|(_, streams)| streams);
        let streams: Vec<_> = streams.map(|stream| String::from(&**stream)).collect();
        let heard = self.hear(&streams).await;
        let may_go_on = self.shared.awaited.as_ref()?.goes_on(sid, record);
        may_go_on.then_some(heard)
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
            is_changed: true,
        }));
        self.tell_store(shard, id);
    }

    /// The session is not as the store of all servers knows it.
    pub(super) fn changed(&mut self) {
        if let Some(resumable) = &mut self.resumable {
            resumable.is_changed = true;
        }
    }

    /// Tells the store of all servers about changes, so that another one can go on should this one die.
    pub(super) fn tell_store(&mut self, shard: &Shard, id: SessionId) {
        let Some(resumable) = self.resumable.as_deref_mut() else {
            return;
        };
        if !mem::take(&mut resumable.is_changed) || shard.is_ending(id) {
            return;
        }
        let awaited = Arc::clone(&resumable.awaited);
        if let Some(store) = awaited.store() {
            let subscriptions = self.subscriptions.iter();
            let subscriptions = subscriptions
                .map(|identifier| (Cow::Borrowed(&**identifier), streams(shard, id, identifier)))
                .collect();
            let memory = self.memory.as_deref();
            let snapshot = Snapshot::new(
                subscriptions,
                memory.map_or(&NO_ENVIRONMENT, |memory| &memory.environment),
                memory.map_or(&NO_ISTATE, |memory| &memory.istate),
                memory.is_some_and(|memory| memory.farewell_to.is_some()),
                self.expires_at.as_deref().copied(),
                memory.map_or_else(Vec::new, present),
            );
            store.hold(&self.sid, snapshot.store(self.identifiers()));
        }
    }

    /// Leaves the session to a later connection of the client. Returns `false` if the session ends here: it cannot be
    /// resumed, or the server, a backend or the application has ended it.
    pub(super) fn leave_for_return(&mut self) -> bool {
        let Some(resumable) = self.resumable.take() else {
            return false;
        };
        let Resumable {
            shard, awaited, id, ..
        } = *resumable;
        let ending = {
            let mut hub = shard.hub.borrow_mut();
            hub.get_mut(id).map(|(connection, _)| connection.ending.get())
        };
        let may_return = match ending {
            Some(None | Some(Ending::TooSlow | Ending::NoPong)) => {
                !shard.publisher.is_closed() || awaited.store().is_some()
            }
            Some(Some(Ending::ServerRestart)) => awaited.store().is_some(),
            _ => false,
        };
        if !may_return {
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

/// Where the client is present.
fn present(memory: &Memory) -> Vec<Present<'_>> {
    let attendances = memory.attendances.iter().flat_map(|attendances| {
        attendances
            .iter()
            .map(|(identifier, attendance)| (identifier, attendance, attendances.roll.info_of(attendance)))
    });
    attendances
        .map(|(identifier, attendance, info)| Present {
            identifier: identifier.into(),
            stream: attendance.stream().into(),
            id: attendance.id().into(),
            info: info.map(|info| String::from(&*info).into()),
        })
        .collect()
}
