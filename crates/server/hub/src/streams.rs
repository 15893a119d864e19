//! Streams by name, and who listens to each.

use std::{collections::HashMap, rc::Rc};

use slab::Slab;
use smallvec::SmallVec;

use crate::{SessionId, identifiers::IdentifierId, shrink, walk};

/// The encoding that a session wants for its broadcasts. The caller defines the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Format(pub u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StreamId(u32);

#[cfg(test)]
impl StreamId {
    pub(crate) fn new(number: u32) -> Self {
        Self(number)
    }
}

/// One listener. It holds everything that a fan-out needs, so that a fan-out touches one cache line per listener
/// besides the outbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) session: SessionId,
    pub(crate) identifier: Option<IdentifierId>,
    /// The index of the matching [`crate::session::Membership`] in the session.
    pub(crate) slot: u32,
    pub(crate) format: Format,
    /// Whether kept messages are not for this listener at the moment; see [`crate::Hub::hold`].
    pub(crate) is_held: bool,
}

/// Whether a stream gets its first listener or loses its last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The stream had no listener and gets one.
    Begins,
    /// The stream has lost its last listener.
    Ends,
}

/// Is told of every turn of every stream, before anything is published to a new listener.
pub type Watcher = Box<dyn Fn(&str, Turn)>;

#[derive(Default)]
pub(crate) struct Streams {
    entries: Slab<Stream>,
    /// Clients choose the names, so this map's hashes have a random key (ARCHITECTURE, "Hash tables").
    by_name: HashMap<Rc<str>, StreamId>,
    /// `None`: no program needs to know.
    watcher: Option<Watcher>,
}

struct Stream {
    name: Rc<str>,
    /// One member is stored inline, because streams of a single session (a user's own) are the most common ones.
    members: SmallVec<[Member; 1]>,
}

impl Streams {
    pub(crate) fn watch(&mut self, watcher: Watcher) {
        self.watcher = Some(watcher);
    }

    fn tell(&self, name: &str, turn: Turn) {
        if let Some(watcher) = &self.watcher {
            watcher(name, turn);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn visit(
        &self,
        start: usize,
        max: usize,
        mut visit: impl FnMut(&str, usize),
    ) -> Option<usize> {
        walk::visit(&self.entries, start, max, |stream| {
            visit(&stream.name, stream.members.len());
        })
    }

    pub(crate) fn find(&self, name: &str) -> Option<StreamId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn name(&self, id: StreamId) -> &str {
        &self.entries[id.0 as usize].name
    }

    pub(crate) fn members(&self, id: StreamId) -> &[Member] {
        &self.entries[id.0 as usize].members
    }

    /// Adds a listener; returns the stream and the listener's position in it.
    pub(crate) fn add(
        &mut self,
        name: &str,
        session: SessionId,
        identifier: Option<IdentifierId>,
        format: Format,
        slot: usize,
    ) -> (StreamId, u32) {
        let id = self.find(name).unwrap_or_else(|| self.create(name));
        let members = &mut self.entries[id.0 as usize].members;
        members.push(Member {
            session,
            identifier,
            slot: number(slot),
            format,
            is_held: false,
        });
        (id, number(members.len() - 1))
    }

    /// Removes the listener at `position`, and the stream with its last listener. Returns the listener that moved to
    /// the freed position, if any.
    pub(crate) fn remove(&mut self, id: StreamId, position: u32) -> Option<Member> {
        let stream = &mut self.entries[id.0 as usize];
        stream.members.swap_remove(position as usize);
        if stream.members.is_empty() {
            let stream = self.entries.remove(id.0 as usize);
            self.by_name.remove(&stream.name);
            self.tell(&stream.name, Turn::Ends);
            return None;
        }
        // The memory of a busy hour must not be kept forever.
        if stream.members.len() * 4 < stream.members.capacity() {
            stream.members.shrink_to_fit();
        }
        stream.members.get(position as usize).copied()
    }

    pub(crate) fn set_slot(&mut self, id: StreamId, position: u32, slot: usize) {
        self.entries[id.0 as usize].members[position as usize].slot = number(slot);
    }

    pub(crate) fn set_held(&mut self, id: StreamId, position: u32, is_held: bool) {
        self.entries[id.0 as usize].members[position as usize].is_held = is_held;
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity().max(self.by_name.capacity())
    }

    /// Releases the memory that a flood of streams took.
    pub(crate) fn shrink(&mut self) {
        shrink::slab(&mut self.entries);
        shrink::map(&mut self.by_name);
    }

    fn create(&mut self, name: &str) -> StreamId {
        self.tell(name, Turn::Begins);
        let name: Rc<str> = name.into();
        let id = StreamId(number(self.entries.insert(Stream {
            name: Rc::clone(&name),
            members: SmallVec::new(),
        })));
        self.by_name.insert(name, id);
        id
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("fewer entries than bytes of memory / 16")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collisions;

    #[test]
    fn nobody_can_choose_names_that_collide() {
        collisions::check(&collisions::names("room-"), Streams::default().by_name.hasher());
    }

    fn join(streams: &mut Streams, name: &str, index: usize) -> StreamId {
        let session = SessionId::new(index, 0);
        streams.add(name, session, None, Format(0), 0).0
    }

    /// A reallocation at every leave would make a mass disconnect quadratic.
    #[test]
    fn a_mass_leave_moves_the_listeners_a_few_times_only() {
        let mut streams = Streams::default();
        let ids: Vec<_> = (0..1024).map(|index| join(&mut streams, "all", index)).collect();
        let mut capacities = vec![1024];
        for _ in 1..1024 {
            streams.remove(ids[0], 0);
            capacities.push(streams.entries[0].members.capacity());
        }
        capacities.dedup();
        assert_eq!(capacities, [1024, 255, 63, 15, 3]);
    }

    #[test]
    fn the_watcher_hears_of_first_and_last_listeners_only() {
        let turns = Rc::new(std::cell::RefCell::new(Vec::new()));
        let mut streams = Streams::default();
        let told = Rc::clone(&turns);
        streams.watch(Box::new(move |name, turn| {
            told.borrow_mut().push((name.to_owned(), turn));
        }));
        let [a, _, b] = [("a", 0), ("a", 1), ("b", 2)].map(|(name, index)| join(&mut streams, name, index));
        for stream in [a, b, a] {
            streams.remove(stream, 0);
        }
        join(&mut streams, "a", 3);
        let turns = turns.borrow();
        let turns: Vec<_> = turns.iter().map(|(name, turn)| (&**name, *turn)).collect();
        let expected = [
            ("a", Turn::Begins),
            ("b", Turn::Begins),
            ("b", Turn::Ends),
            ("a", Turn::Ends),
            ("a", Turn::Begins),
        ];
        assert_eq!(turns, expected);
    }

    #[test]
    fn a_walk_sees_every_stream_once_whatever_the_portions() {
        let mut streams = Streams::default();
        let all: Vec<_> = (0..20).map(|n| join(&mut streams, &n.to_string(), n)).collect();
        for gone in [3, 4, 5, 11, 19] {
            streams.remove(all[gone], 0);
        }
        let mut expected: Vec<_> = streams.by_name.keys().map(ToString::to_string).collect();
        expected.sort();
        for max in [1, 2, 3, 10, 19, 20, 100, usize::MAX / 2] {
            let (mut seen, mut start, mut n_portions) = (Vec::new(), Some(0), 0);
            while let Some(place) = start {
                start = streams.visit(place, max, |name, _| seen.push(name.to_owned()));
                n_portions += 1;
                assert!(n_portions <= streams.entries.capacity(), "no end");
            }
            seen.sort();
            assert_eq!(seen, expected, "portions of {max}");
            assert_eq!(n_portions, streams.entries.capacity().div_ceil(max));
        }
    }
}
