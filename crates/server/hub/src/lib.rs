//! Streams → subscribers: the pure core of a server shard.
//!
//! A [`Hub`] belongs to one shard (one thread) and knows three things: which session listens to which stream under
//! which identifier, which frames still wait in each session's [`Outbox`], and which sessions a running fan-out has yet
//! to visit. It encodes a publication once per identifier and format, shares the bytes, and returns the sessions to
//! flush in small portions, round robin over the publications in flight. So a stream with 100,000 listeners cannot hold
//! up a stream with one.
//!
//! It does no I/O and reads no clock. The type of a connection is a type parameter.

mod budget;
#[cfg(test)]
mod collisions;
mod encoded_frames;
mod fanout;
mod frame;
mod identifiers;
mod outbox;
mod session;
mod session_id;
mod shrink;
mod streams;
mod walk;

use std::rc::Rc;

use slab::Slab;

pub use crate::{
    budget::Budget,
    fanout::Portion,
    frame::Frame,
    outbox::{Flush, Outbox, PushError},
    session_id::SessionId,
    streams::{Format, Turn, Watcher},
};
use crate::{
    encoded_frames::EncodedFrames, fanout::Fanouts, identifiers::Identifiers, session::Session,
    streams::Streams,
};

/// The sessions of one shard, their subscriptions and their outgoing frames.
///
/// `C` is a session's connection. `T` is a publication's ticket: the hub keeps it until every listener was returned to
/// be flushed, so its drop means that the publication is complete.
pub struct Hub<C, T = ()> {
    sessions: Slab<Session<C>>,
    streams: Streams,
    identifiers: Identifiers,
    fanouts: Fanouts<T>,
    next_serial: u32,
    max_held_bytes: usize,
    budget: Rc<Budget>,
}

/// Which listeners of a stream a publication is for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Audience {
    /// A session that does not get it.
    pub excluded: Option<SessionId>,
    /// Whether held subscriptions do not get it; see [`Hub::hold`].
    pub is_without_held: bool,
}

/// The result of one publication.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Frames put into outboxes: one per session and identifier.
    pub n_deliveries: usize,
    /// Sessions that would have exceeded the cap, or for which the budget had no room. They got no frame, and the
    /// caller must end them.
    pub overflowed: Vec<SessionId>,
}

impl<C, T> Hub<C, T> {
    /// An empty hub. `max_held_bytes` caps the memory of one session while its connection is full; see [`Outbox::push`]
    /// for the exact rule. `budget` caps the memory of all sessions together.
    pub fn new(max_held_bytes: usize, budget: Rc<Budget>) -> Self {
        Self {
            sessions: Slab::new(),
            streams: Streams::default(),
            identifiers: Identifiers::default(),
            fanouts: Fanouts::default(),
            next_serial: 0,
            max_held_bytes,
            budget,
        }
    }

    /// From now on `watcher` is told of streams that get their first listener or lose their last one. It must not use
    /// the hub.
    pub fn watch_streams(&mut self, watcher: Watcher) {
        self.streams.watch(watcher);
    }

    /// Adds a session without subscriptions. Its broadcasts are encoded in `format`.
    pub fn insert(&mut self, connection: C, format: Format) -> SessionId {
        self.next_serial = self.next_serial.wrapping_add(1);
        let serial = self.next_serial;
        let index = self
            .sessions
            .insert(Session::new(connection, format, serial, &self.budget));
        SessionId::new(index, serial)
    }

    /// Removes a session with its subscriptions and pending frames; returns its connection.
    pub fn remove(&mut self, id: SessionId) -> Option<C> {
        self.get(id)?;
        self.leave_where(id, |_| true);
        Some(self.sessions.remove(id.index()).into_connection())
    }

    /// The budget of all sessions together.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Makes a frame of encoded bytes. It counts in the budget until its last outbox drops it.
    pub fn frame(&self, bytes: Vec<u8>) -> Frame {
        Frame::new(bytes, &self.budget)
    }

    /// Sessions whose end would free memory, with the bytes that each occupies, in no particular order: their
    /// connection is full, or memory is reserved for them. Sessions that are about to end or occupy less than
    /// `min_bytes` are omitted.
    pub fn holders(&self, min_bytes: usize) -> Vec<(usize, SessionId)> {
        self.sessions
            .iter()
            .filter(|(_, session)| {
                session.outbox().is_holding() && session.outbox().held_bytes() >= min_bytes
            })
            .map(|(index, session)| {
                let id = SessionId::new(index, session.serial());
                (session.outbox().held_bytes(), id)
            })
            .collect()
    }

    /// Releases the memory of tables that were much fuller once. Quick when there is none to release. Call it
    /// periodically.
    pub fn shrink(&mut self) {
        shrink::slab(&mut self.sessions);
        self.streams.shrink();
        self.identifiers.shrink();
        self.fanouts.shrink();
    }

    /// The number of sessions.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there is no session.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The number of streams with at least one subscriber.
    pub fn n_streams(&self) -> usize {
        self.streams.len()
    }

    /// Calls `visit` with the names of streams that have subscribers and the number of these, for up to `max` slots from
    /// number `start` on. Returns the number at which to continue, or `None` at the end. For walks that take turns with
    /// other work: streams that come or go meanwhile may be missed.
    pub fn visit_streams(&self, start: usize, max: usize, visit: impl FnMut(&str, usize)) -> Option<usize> {
        self.streams.visit(start, max, visit)
    }

    /// Calls `visit` with the identifiers of subscriptions, and the number of streams of all sessions that each has, for
    /// a walk as that of [`visit_streams`](Self::visit_streams).
    pub fn visit_identifiers(
        &self,
        start: usize,
        max: usize,
        visit: impl FnMut(&str, usize),
    ) -> Option<usize> {
        self.identifiers.visit(start, max, visit)
    }

    /// All sessions, in no particular order.
    pub fn ids(&self) -> impl Iterator<Item = SessionId> + '_ {
        self.sessions
            .iter()
            .map(|(index, session)| SessionId::new(index, session.serial()))
    }

    /// The format of a session's broadcasts, if the session still exists.
    pub fn format(&self, id: SessionId) -> Option<Format> {
        self.get(id).map(Session::format)
    }

    /// The connection and the outbox of a session, if it still exists.
    pub fn parts(&self, id: SessionId) -> Option<(&C, &Outbox)> {
        self.get(id).map(Session::parts)
    }

    /// As [`parts`](Self::parts), to change the outbox.
    pub fn get_mut(&mut self, id: SessionId) -> Option<(&C, &mut Outbox)> {
        let session = self.sessions.get_mut(id.index())?;
        (session.serial() == id.serial()).then(|| session.parts_mut())
    }

    /// Subscribes a session to `stream`. With an `identifier`, messages come in an envelope with the identifier;
    /// without one they come bare. Returns `false` if the session had this subscription already.
    pub fn subscribe(&mut self, id: SessionId, identifier: Option<&str>, stream: &str) -> bool {
        if self.get(id).is_none() || self.is_subscribed(id, identifier, stream) {
            return false;
        }
        let identifier = identifier.map(|text| self.identifiers.acquire(text));
        let session = &mut self.sessions[id.index()];
        let format = session.format();
        let (stream, position) = self
            .streams
            .add(stream, id, identifier, format, session.memberships.len());
        session.memberships.push(session::Membership {
            stream,
            position,
            identifier,
        });
        true
    }

    /// Removes one stream from one identifier. Returns whether the session had subscribed to it.
    pub fn unsubscribe(&mut self, id: SessionId, identifier: Option<&str>, stream: &str) -> bool {
        let Some(identifier) = self.known_identifier(identifier) else {
            return false;
        };
        let Some(stream) = self.streams.find(stream) else {
            return false;
        };
        self.leave_where(id, |m| m.identifier == identifier && m.stream == stream) > 0
    }

    /// Holds the subscriptions of one identifier, or goes on with them. A held subscription gets no kept messages,
    /// because they will be replayed to it. Streams that it enters later are not held.
    pub fn hold(&mut self, id: SessionId, identifier: Option<&str>, is_held: bool) {
        let Some(identifier) = self.known_identifier(identifier) else {
            return;
        };
        let session = self.sessions.get(id.index());
        let memberships = session
            .filter(|session| session.serial() == id.serial())
            .into_iter()
            .flat_map(|session| &session.memberships);
        for membership in memberships.filter(|membership| membership.identifier == identifier) {
            self.streams
                .set_held(membership.stream, membership.position, is_held);
        }
    }

    /// Removes every stream from one identifier. Returns their number.
    pub fn unsubscribe_all(&mut self, id: SessionId, identifier: Option<&str>) -> usize {
        let Some(identifier) = self.known_identifier(identifier) else {
            return 0;
        };
        self.leave_where(id, |m| m.identifier == identifier)
    }

    /// The subscriptions of a session: identifiers, each with one of its streams, in no particular order.
    pub fn subscriptions(&self, id: SessionId) -> impl Iterator<Item = (Option<&str>, &str)> {
        let memberships = self.get(id).into_iter().flat_map(|session| &session.memberships);
        memberships.map(|membership| {
            let identifier = membership.identifier.map(|id| self.identifiers.text(id));
            (identifier, self.streams.name(membership.stream))
        })
    }

    /// The listeners of `stream` with their connections and identifiers, in no particular order.
    pub fn listeners(&self, stream: &str) -> impl Iterator<Item = (&C, SessionId, Option<&str>)> {
        let members = self.streams.find(stream).map(|id| self.streams.members(id));
        members.into_iter().flatten().map(|member| {
            let identifier = member.identifier.map(|id| self.identifiers.text(id));
            let connection = self.sessions[member.session.index()].connection();
            (connection, member.session, identifier)
        })
    }

    /// The listener of `stream` whose connection satisfies `is_wanted`, if there is one.
    pub fn find_listener(&self, stream: &str, is_wanted: impl Fn(&C) -> bool) -> Option<SessionId> {
        let members = self.streams.members(self.streams.find(stream)?);
        members
            .iter()
            .map(|member| member.session)
            .find(|id| is_wanted(self.sessions[id.index()].connection()))
    }

    /// Puts a frame into the outbox of every subscriber of `stream` in the audience, and queues those sessions to be
    /// flushed.
    ///
    /// `encode` is called once per distinct identifier (`None`: bare) and format of the subscribers, as long as the
    /// budget has room for another frame.
    pub fn publish(
        &mut self,
        stream: &str,
        audience: Audience,
        ticket: T,
        mut encode: impl FnMut(Option<&str>, Format) -> Vec<u8>,
    ) -> Published {
        let mut published = Published::default();
        let Some(stream) = self.streams.find(stream) else {
            return published;
        };
        let mut frames = EncodedFrames::default();
        let mut to_visit = Vec::new();
        for member in self.streams.members(stream) {
            if audience.excluded == Some(member.session) || (member.is_held && audience.is_without_held) {
                continue;
            }
            let frame = frames.get_or_encode(member.identifier, member.format, || {
                let identifier = member.identifier.map(|id| self.identifiers.text(id));
                (!self.budget.is_exhausted())
                    .then(|| Frame::new(encode(identifier, member.format), &self.budget))
            });
            let Some(frame) = frame else {
                published.overflowed.push(member.session);
                continue;
            };
            let session = &mut self.sessions[member.session.index()];
            match session.push(frame, self.max_held_bytes) {
                Ok(()) => {
                    published.n_deliveries += 1;
                    if session.joins_sweep(stream) {
                        to_visit.push(member.session);
                    }
                }
                Err(PushError::Full) => published.overflowed.push(member.session),
                Err(PushError::Sealed) => {}
            }
        }
        self.fanouts.extend(stream, to_visit, ticket);
        published
    }

    /// Puts a frame into one session's outbox; the caller flushes it.
    ///
    /// # Errors
    /// See [`Outbox::push`]. A session that no longer exists counts as sealed.
    pub fn push(&mut self, id: SessionId, frame: Frame) -> Result<(), PushError> {
        match self.sessions.get_mut(id.index()) {
            Some(session) if session.serial() == id.serial() => session.push(frame, self.max_held_bytes),
            _ => Err(PushError::Sealed),
        }
    }

    /// The number of incomplete publications.
    pub fn n_under_way(&self) -> usize {
        self.fanouts.n_tickets()
    }

    /// Takes up to `max` sessions to flush, all of one stream. The next call serves the next stream in turn. Clears and
    /// refills `portion`.
    pub fn next_portion(&mut self, max: usize, portion: &mut Portion<T>) {
        self.fanouts.next_portion(max, portion);
        for id in &portion.sessions {
            if let Some(session) = self.sessions.get_mut(id.index()) {
                session.leaves_sweep();
            }
        }
    }

    fn get(&self, id: SessionId) -> Option<&Session<C>> {
        self.sessions
            .get(id.index())
            .filter(|session| session.serial() == id.serial())
    }

    fn is_subscribed(&self, id: SessionId, identifier: Option<&str>, stream: &str) -> bool {
        let (Some(identifier), Some(stream)) = (self.known_identifier(identifier), self.streams.find(stream))
        else {
            return false;
        };
        self.get(id).is_some_and(|session| {
            session
                .memberships
                .iter()
                .any(|m| m.identifier == identifier && m.stream == stream)
        })
    }

    /// The interned identifier. The outer `None` means that no session uses it.
    fn known_identifier(&self, identifier: Option<&str>) -> Option<Option<identifiers::IdentifierId>> {
        match identifier {
            None => Some(None),
            Some(text) => self.identifiers.find(text).map(Some),
        }
    }

    fn leave_where(&mut self, id: SessionId, leaves: impl Fn(&session::Membership) -> bool) -> usize {
        if self.get(id).is_none() {
            return 0;
        }
        let mut n_left = 0;
        // Backwards, because the slot that moves into a freed one has been visited already.
        for slot in (0..self.sessions[id.index()].memberships.len()).rev() {
            if leaves(&self.sessions[id.index()].memberships[slot]) {
                self.leave(id, slot);
                n_left += 1;
            }
        }
        n_left
    }

    /// Removes one membership and repairs the two back references that `swap_remove` moved.
    fn leave(&mut self, id: SessionId, slot: usize) {
        let memberships = &mut self.sessions[id.index()].memberships;
        let left = memberships.swap_remove(slot);
        shrink::list(memberships);
        if let Some(moved) = memberships.get(slot) {
            self.streams.set_slot(moved.stream, moved.position, slot);
        }
        if let Some(moved) = self.streams.remove(left.stream, left.position) {
            self.sessions[moved.session.index()].memberships[moved.slot as usize].position = left.position;
        }
        if let Some(identifier) = left.identifier {
            self.identifiers.release(identifier);
        }
    }
}

#[cfg(test)]
mod tests;
