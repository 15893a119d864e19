//! Who is present on each stream, which all shards share (docs/protocols/extended.md, Presence).
//!
//! A change and the message about it are one step, under one lock: all mailboxes have the events of presence in the
//! order in which they happened, so clients that count joins and leaves agree with the server.
//!
//! Where several servers share a [`PresenceStore`], this server's own members go there, and clients are told what the store
//! announces ([`shared`]).

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_broker::{
    Presence,
    presence::{Absence, Attendance, Change, Event, Refusal, Settings},
};
use plimsoll_cable::{command::Member, presence};
use plimsoll_telemetry::{Counter, Registry};
use tokio::time::Instant;

use crate::{
    engine::EngineError,
    presence_event,
    presence_store::PresenceStore,
    publisher::Publisher,
    unix_time::now_ms,
    webhook::{Herald, News},
};

mod membership;
mod shared;

use shared::Shared;

/// Bytes of a member in an answer besides its texts.
const RECORD_BYTES: usize = 24;

/// Members of a stream with their infos, for a backend.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The number of all members of the stream.
    pub(crate) total: usize,
    /// Ids and infos, in the order of the ids.
    pub(crate) members: Vec<(Box<str>, Option<Box<str>>)>,
    /// Whether there are members behind these.
    pub(crate) has_more: bool,
}

/// All members of all streams.
#[derive(Debug)]
pub(crate) struct Roll {
    /// The members at this server.
    presence: Mutex<Presence>,
    /// The members at all servers. `None`: this server is alone.
    shared: Option<Shared>,
    /// Whether clients are told of a changed info.
    announces_updates: bool,
    /// Tells the webhook. `None`: there is none.
    herald: Option<Arc<Herald>>,
    started: Instant,
    joined: Counter,
    left: Counter,
    refused: Counter,
}

impl Roll {
    pub(crate) fn new(
        mut settings: Settings,
        store: Option<Arc<dyn PresenceStore>>,
        herald: Option<Arc<Herald>>,
        registry: &Registry,
    ) -> Arc<Self> {
        let announces_updates = settings.announces_updates;
        // The store has to know of them in any case.
        settings.announces_updates |= store.is_some();
        let roll = Arc::new(Self {
            presence: Mutex::new(Presence::new(settings)),
            shared: store.map(Shared::new),
            announces_updates,
            herald,
            started: Instant::now(),
            joined: registry.counter("presence_joins_total", "Members that came to a stream"),
            left: registry.counter("presence_leaves_total", "Members that left a stream"),
            refused: registry.counter(
                "presence_refused_total",
                "Requests to be present that were refused, by clients and the application",
            ),
        });
        let counted = Arc::clone(&roll);
        registry.gauge_fn(
            "presence_members_num",
            "Members that are present at this server, each stream counted",
            move || counted.lock().n_members() as f64,
        );
        let counted = Arc::clone(&roll);
        registry.gauge_fn(
            "presence_bytes",
            "Memory of the members of this server",
            move || counted.lock().n_bytes() as f64,
        );
        roll
    }

    /// Begins an attendance.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub(crate) async fn join(
        &self,
        publisher: &Publisher,
        stream: &str,
        member: &Member,
    ) -> Result<Attendance, Refusal> {
        let joining = self.change(publisher, |presence| {
            match presence.join(stream, &member.id, member.info.as_deref()) {
                Ok((attendance, event)) => (Ok(attendance), event),
                Err(refusal) => (Err(refusal), None),
            }
        });
        joining.await
    }

    /// The client of an attendance joins again, perhaps with another info.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub(crate) async fn rejoin(
        &self,
        publisher: &Publisher,
        attendance: &Attendance,
        info: Option<&str>,
    ) -> Result<(), Refusal> {
        let joining = self.change(publisher, |presence| match presence.rejoin(attendance, info) {
            Ok(event) => (Ok(()), event),
            Err(refusal) => (Err(refusal), None),
        });
        joining.await
    }

    /// Ends an attendance.
    pub(crate) async fn leave(&self, publisher: &Publisher, attendance: Attendance) {
        self.change(publisher, |presence| ((), presence.leave(attendance)))
            .await;
    }

    /// The connection of an attendance's client is lost.
    pub(crate) fn step_away(&self, attendance: Attendance) -> Absence {
        self.lock().step_away(attendance, self.started.elapsed())
    }

    /// The client of an attendance is back, perhaps too late.
    pub(crate) fn come_back(&self, absence: &Absence) -> Option<Attendance> {
        self.lock().come_back(absence)
    }

    /// Ends attendances whose clients have been absent for too long.
    pub(crate) async fn expire(&self, publisher: &Publisher) {
        while self.is_due() {
            self.change(publisher, |presence| ((), presence.expire(self.now())))
                .await;
        }
    }

    /// Counts a request to be present that is refused.
    pub(crate) fn count_refusal(&self) {
        self.refused.increment();
    }

    /// The info of the member that an attendance belongs to.
    pub(crate) fn info_of(&self, attendance: &Attendance) -> Option<Arc<str>> {
        self.lock().info_of(attendance)
    }

    /// The answer to a client that asks who is present. `None`: the list has more than `max_bytes` bytes.
    pub(crate) fn info(&self, stream: &str, wants_records: bool, max_bytes: usize) -> Option<String> {
        let presence = self.lock();
        match &self.shared {
            None => info(|| presence.members(stream), wants_records, max_bytes),
            Some(shared) => {
                let all = shared.members(stream, presence.members(stream));
                let members = || all.iter().map(|(id, info)| (&**id, info.as_deref()));
                info(members, wants_records, max_bytes)
            }
        }
    }

    /// Members of a stream whose ids come behind `after`: at most `n` of them, and about `max_bytes` bytes.
    ///
    /// # Errors
    /// The store of all servers does not answer.
    pub(crate) async fn page(
        &self,
        stream: &str,
        after: Option<&str>,
        n: usize,
        max_bytes: usize,
    ) -> Result<Page, EngineError> {
        let Some(shared) = &self.shared else {
            return Ok(Page::new(self.lock().members(stream), after, n, max_bytes));
        };
        // This server may not hear the stream.
        let mut all = shared.read(stream).await?;
        all.sort_unstable();
        let members = all.iter().map(|(id, info)| (&**id, info.as_deref()));
        Ok(Page::new(members, after, n, max_bytes))
    }

    fn is_due(&self) -> bool {
        self.lock().is_due(self.now())
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Makes a change, and posts its event before any other change is made.
    async fn change<T>(
        &self,
        publisher: &Publisher,
        change: impl FnOnce(&mut Presence) -> (T, Option<Event>),
    ) -> T {
        if let Some(shared) = &self.shared {
            let mut presence = self.lock();
            let (result, event) = change(&mut presence);
            // Under the lock, so that the store learns of changes in their order.
            event.iter().for_each(|event| shared.pass_on(event));
            return result;
        }
        let places = publisher.reserve(presence_event::MAX_BYTES).await;
        let mut presence = self.lock();
        let (result, event) = change(&mut presence);
        if let Some(event) = event {
            self.report(&event);
            places.post(event.stream.to_string(), presence_event::payload(&event));
        }
        result
    }

    /// Counts a change, and tells the webhook. In a cluster, one server does this for each change.
    fn report(&self, event: &Event) {
        if !self.is_told(&event.change) {
            return;
        }
        if let Some(herald) = &self.herald {
            herald.add(news(event));
        }
        match &event.change {
            Change::Joined(_) => self.joined.increment(),
            Change::Updated(_) => {}
            Change::Left => self.left.increment(),
        }
    }

    /// Whether clients and the webhook are told of such a change.
    fn is_told(&self, change: &Change) -> bool {
        self.announces_updates || !matches!(change, Change::Updated(_))
    }

    fn lock(&self) -> MutexGuard<'_, Presence> {
        // A panic under the lock is a bug in the table; the sessions go on.
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Page {
    fn new<'a>(
        members: impl ExactSizeIterator<Item = (&'a str, Option<&'a str>)>,
        after: Option<&str>,
        n: usize,
        max_bytes: usize,
    ) -> Self {
        let total = members.len();
        let mut room = max_bytes;
        let mut behind = members.skip_while(|(id, _)| after.is_some_and(|after| *id <= after));
        let mut members = Vec::new();
        let has_more = loop {
            let Some((id, info)) = behind.next() else {
                break false;
            };
            if members.len() == n || room == 0 {
                break true;
            }
            room = room.saturating_sub(RECORD_BYTES + id.len() + info.map_or(0, str::len));
            members.push((id.into(), info.map(Into::into)));
        };
        Self {
            total,
            members,
            has_more,
        }
    }
}

/// The answer to a client that asks who is present. `None`: the list has more than `max_bytes` bytes.
fn info<'a, M: ExactSizeIterator<Item = (&'a str, Option<&'a str>)>>(
    members: impl Fn() -> M,
    wants_records: bool,
    max_bytes: usize,
) -> Option<String> {
    let total = members().len();
    if !wants_records {
        return Some(presence::info(total, None::<[(&str, Option<&str>); 0]>));
    }
    let n_bytes: usize = members()
        .map(|(id, info)| RECORD_BYTES + id.len() + info.map_or(0, str::len))
        .sum();
    (n_bytes <= max_bytes).then(|| presence::info(total, Some(members())))
}

/// An event for the webhook.
fn news(event: &Event) -> News {
    let (kind, info) = match &event.change {
        Change::Joined(info) => ("join", info.clone()),
        Change::Updated(info) => ("update", info.clone()),
        Change::Left => ("leave", None),
    };
    News {
        kind,
        stream: Arc::clone(&event.stream),
        id: Arc::clone(&event.id),
        info,
        at_ms: now_ms(),
    }
}

#[cfg(test)]
mod tests;
