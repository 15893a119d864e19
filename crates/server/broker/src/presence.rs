//! The members that are present on each stream.
//!
//! A *member* is an id on a stream. Each subscription that is present under the id is one *attendance* of the member.
//! The first attendance is an event, and so is the end of the last one; nothing in between is. A client whose
//! connection is lost is absent: its attendance goes on for a while, and ends unless the client comes back.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

mod mirror;
mod register;

pub use self::{
    mirror::{Announcement, Listing, Mirror},
    register::{Entry, Register, change},
};

/// The longest id, in bytes. Ids are keys of users or devices.
pub const MAX_ID_BYTES: usize = 1024;

/// The longest info, in bytes. All infos of a stream are sent in one answer.
pub const MAX_INFO_BYTES: usize = 8 * 1024;

/// The memory of a member and of its places in the tables, in bytes, without its texts.
const MEMBER_OVERHEAD: usize = 256;

/// The memory of one attendance, which may be that of an absent client, in bytes.
const ATTENDANCE_OVERHEAD: usize = 128;

/// The memory of a stream and of its place in the table, in bytes, without its name.
const STREAM_OVERHEAD: usize = 160;

/// The settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How long a client may be absent.
    pub ttl: Duration,
    /// Whether a changed info is an event.
    pub announces_updates: bool,
    /// The most memory of all members together, in bytes. Beyond it further members are refused.
    pub max_bytes: usize,
}

/// Why a member is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The id is empty.
    #[error("the id is empty")]
    EmptyId,
    /// The id is too long.
    #[error("the id has more than {MAX_ID_BYTES} bytes")]
    LongId,
    /// The info is too long.
    #[error("the info has more than {MAX_INFO_BYTES} bytes")]
    LongInfo,
    /// The limit of memory is reached.
    #[error("the server has no memory for further members")]
    NoMemory,
}

/// Something that all clients of a stream are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The stream.
    pub stream: Arc<str>,
    /// The member's id.
    pub id: Arc<str>,
    /// What has happened.
    pub change: Change,
}

/// What has happened to a member. The infos are JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It has come.
    Joined(Option<Arc<str>>),
    /// Its info has changed.
    Updated(Option<Arc<str>>),
    /// It is gone.
    Left,
}

/// The right to end one attendance, once. It must come back with [`Presence::leave`] or [`Presence::step_away`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a member without an owner stays for ever"]
pub struct Attendance {
    stream: Arc<str>,
    id: Arc<str>,
}

/// An attendance whose client is absent. It ends on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absence {
    /// The stream.
    pub stream: Arc<str>,
    /// The member's id.
    pub id: Arc<str>,
    /// The info at the beginning of the absence.
    pub info: Option<Arc<str>>,
    number: u64,
}

/// The members of all streams.
#[derive(Debug)]
pub struct Presence {
    settings: Settings,
    /// Clients and backends choose the names, so this map's hashes have a random key (ARCHITECTURE, "Hash tables").
    streams: HashMap<Arc<str>, BTreeMap<Arc<str>, Member>>,
    /// Attendances of absent clients with the time of their end, by number and so by time.
    absent: BTreeMap<u64, (Duration, Attendance)>,
    last_number: u64,
    n_members: usize,
    n_bytes: usize,
}

#[derive(Debug)]
struct Member {
    info: Option<Arc<str>>,
    n_attendances: usize,
}

impl Absence {
    /// The absence of a client that was present at another server, where its attendance ends on its own.
    pub fn elsewhere(stream: Arc<str>, id: Arc<str>, info: Option<Arc<str>>) -> Self {
        // The numbers of a server's own absences begin at 1.
        let number = 0;
        Self {
            stream,
            id,
            info,
            number,
        }
    }

    /// The memory of the texts, in bytes, if no other owner has them.
    pub fn text_bytes(&self) -> usize {
        self.stream.len() + self.id.len() + text_len(&self.info)
    }
}

impl Attendance {
    /// The stream.
    pub fn stream(&self) -> &str {
        &self.stream
    }

    /// The member's id.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Presence {
    /// A table without members.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            streams: HashMap::new(),
            absent: BTreeMap::new(),
            last_number: 0,
            n_members: 0,
            n_bytes: 0,
        }
    }

    /// The number of members of all streams together.
    pub fn n_members(&self) -> usize {
        self.n_members
    }

    /// The memory of all members, in bytes.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Begins an attendance. The last info of an id counts for all its attendances.
    ///
    /// # Errors
    /// See [`Refusal`]. Nothing has changed then.
    pub fn join(
        &mut self,
        stream: &str,
        id: &str,
        info: Option<&str>,
    ) -> Result<(Attendance, Option<Event>), Refusal> {
        check(id, info)?;
        let info_bytes = info.map_or(0, str::len);
        let most_bytes = STREAM_OVERHEAD + stream.len() + member_bytes(id, info_bytes) + ATTENDANCE_OVERHEAD;
        if self.n_bytes + most_bytes > self.settings.max_bytes {
            return Err(Refusal::NoMemory);
        }
        self.n_bytes += ATTENDANCE_OVERHEAD;
        let name = match self.streams.get_key_value(stream) {
            Some((name, _)) => Arc::clone(name),
            None => {
                let name: Arc<str> = stream.into();
                self.streams.insert(Arc::clone(&name), BTreeMap::new());
                self.n_bytes += STREAM_OVERHEAD + stream.len();
                name
            }
        };
        let members = self
            .streams
            .get_mut(stream)
            .expect("it was there, or was inserted");
        if let Some((id, _)) = members.get_key_value(id) {
            let attendance = Attendance {
                stream: name,
                id: Arc::clone(id),
            };
            let member = members.get_mut(&*attendance.id).expect("it was just found");
            member.n_attendances += 1;
            let event = self.update(&attendance, info);
            return Ok((attendance, event));
        }
        let id: Arc<str> = id.into();
        let info: Option<Arc<str>> = info.map(Into::into);
        self.n_members += 1;
        self.n_bytes += member_bytes(&id, info_bytes);
        members.insert(
            Arc::clone(&id),
            Member {
                info: info.clone(),
                n_attendances: 1,
            },
        );
        let event = Event {
            stream: Arc::clone(&name),
            id: Arc::clone(&id),
            change: Change::Joined(info),
        };
        Ok((Attendance { stream: name, id }, Some(event)))
    }

    /// The client of an attendance joins again under the same id, with this info.
    ///
    /// # Errors
    /// See [`Refusal`]. Nothing has changed then.
    pub fn rejoin(&mut self, attendance: &Attendance, info: Option<&str>) -> Result<Option<Event>, Refusal> {
        check(&attendance.id, info)?;
        if self.n_bytes + info.map_or(0, str::len) > self.settings.max_bytes {
            return Err(Refusal::NoMemory);
        }
        Ok(self.update(attendance, info))
    }

    /// The info of the member that an attendance belongs to.
    pub fn info_of(&self, attendance: &Attendance) -> Option<Arc<str>> {
        self.member(attendance)?.info.clone()
    }

    /// Ends an attendance.
    pub fn leave(&mut self, attendance: Attendance) -> Option<Event> {
        self.n_bytes -= ATTENDANCE_OVERHEAD;
        let members = self.streams.get_mut(&attendance.stream)?;
        let member = members.get_mut(&attendance.id)?;
        member.n_attendances -= 1;
        if member.n_attendances > 0 {
            return None;
        }
        self.n_bytes -= member_bytes(&attendance.id, text_len(&member.info));
        self.n_members -= 1;
        members.remove(&attendance.id);
        if members.is_empty() {
            self.n_bytes -= STREAM_OVERHEAD + attendance.stream.len();
            self.streams.remove(&attendance.stream);
            if self.streams.len() * 4 < self.streams.capacity() {
                self.streams.shrink_to(self.streams.len() * 2);
            }
        }
        Some(Event {
            stream: attendance.stream,
            id: attendance.id,
            change: Change::Left,
        })
    }

    /// The connection of an attendance's client is lost at the time `now`, which never goes back. Times are distances
    /// to one moment that the caller chooses.
    pub fn step_away(&mut self, attendance: Attendance, now: Duration) -> Absence {
        self.last_number += 1;
        let absence = Absence {
            stream: Arc::clone(&attendance.stream),
            id: Arc::clone(&attendance.id),
            info: self.info_of(&attendance),
            number: self.last_number,
        };
        let ends_at = now + self.settings.ttl;
        self.absent.insert(self.last_number, (ends_at, attendance));
        absence
    }

    /// The client of an attendance is back. `None`: the attendance has ended.
    pub fn come_back(&mut self, absence: &Absence) -> Option<Attendance> {
        let (_, attendance) = self.absent.remove(&absence.number)?;
        Some(attendance)
    }

    /// Whether an attendance ends now because its client has been absent for too long.
    pub fn is_due(&self, now: Duration) -> bool {
        let first = self.absent.values().next();
        first.is_some_and(|(ends_at, _)| *ends_at <= now)
    }

    /// Ends attendances whose clients have been absent for too long, up to the first event. `None`: no more are due.
    pub fn expire(&mut self, now: Duration) -> Option<Event> {
        while self.is_due(now) {
            let (_, (_, attendance)) = self.absent.pop_first()?;
            if let Some(event) = self.leave(attendance) {
                return Some(event);
            }
        }
        None
    }

    /// The members of all streams with their infos.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
        self.streams.iter().flat_map(|(stream, members)| {
            members
                .iter()
                .map(|(id, member)| (&**stream, &**id, member.info.as_deref()))
        })
    }

    /// The members of a stream with their infos, in the order of their ids.
    pub fn members(&self, stream: &str) -> impl ExactSizeIterator<Item = (&str, Option<&str>)> {
        static EMPTY: BTreeMap<Arc<str>, Member> = BTreeMap::new();
        let members = self.streams.get(stream).unwrap_or(&EMPTY);
        members.iter().map(|(id, member)| (&**id, member.info.as_deref()))
    }

    fn member(&self, attendance: &Attendance) -> Option<&Member> {
        self.streams.get(&attendance.stream)?.get(&attendance.id)
    }

    fn update(&mut self, attendance: &Attendance, info: Option<&str>) -> Option<Event> {
        let member = self
            .streams
            .get_mut(&attendance.stream)?
            .get_mut(&attendance.id)?;
        if member.info.as_deref() == info {
            return None;
        }
        self.n_bytes = self.n_bytes - text_len(&member.info) + info.map_or(0, str::len);
        member.info = info.map(Into::into);
        self.settings.announces_updates.then(|| Event {
            stream: Arc::clone(&attendance.stream),
            id: Arc::clone(&attendance.id),
            change: Change::Updated(member.info.clone()),
        })
    }
}

fn check(id: &str, info: Option<&str>) -> Result<(), Refusal> {
    if id.is_empty() {
        Err(Refusal::EmptyId)
    } else if id.len() > MAX_ID_BYTES {
        Err(Refusal::LongId)
    } else if info.map_or(0, str::len) > MAX_INFO_BYTES {
        Err(Refusal::LongInfo)
    } else {
        Ok(())
    }
}

fn member_bytes(id: &str, info_bytes: usize) -> usize {
    MEMBER_OVERHEAD + id.len() + info_bytes
}

fn text_len(info: &Option<Arc<str>>) -> usize {
    info.as_deref().map_or(0, str::len)
}

#[cfg(test)]
mod tests;
