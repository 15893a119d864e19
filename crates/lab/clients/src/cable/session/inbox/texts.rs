//! The texts of all messages that wait on a thread, each held once.
//!
//! A text is found in three steps, the cheapest first. The text that followed the previous one in another inbox is compared:
//! in a room, whose members all get the same messages in the same order, the search ends here. Then the text is looked up
//! in a table of recent texts, by a hash with a random key. A text that is not there is added. The table has no chains and
//! keeps nothing alive: a text that it forgot may be held twice, and a text that no inbox holds is gone.

use std::{
    cell::RefCell,
    hash::{BuildHasher, RandomState},
    num::NonZeroU32,
    rc::Rc,
};

/// Places of the table of recent texts, 4 bytes each.
const N_RECENT: usize = 4096;

/// Up to this number of places, a thread without waiting messages keeps them.
const N_KEPT_PLACES: usize = 64;

/// The texts of a thread. Clones are the same texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts(Rc<RefCell<Store>>);

/// The place of a text, valid while the text is held. The first place is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handle(NonZeroU32);

#[derive(Debug)]
struct Store {
    places: Vec<Place>,
    /// The first free place.
    free: Option<Handle>,
    n_taken: usize,
    recent: Box<[Option<Handle>]>,
    key: RandomState,
}

#[derive(Debug)]
struct Place {
    /// `None` in a free place.
    text: Option<Rc<str>>,
    /// How many messages have this text.
    n_holders: u32,
    /// The place of the text that follows in inboxes; in a free place, the next free one. Inboxes find their texts by
    /// successors, so a successor that is held is never replaced.
    next: Option<Handle>,
}

impl Texts {
    /// The texts that all inboxes of this thread share.
    pub(super) fn of_thread() -> Self {
        thread_local! {
            static TEXTS: Texts = Texts::default();
        }
        TEXTS.with(Self::clone)
    }

    /// Holds a text for a message behind one with the text `previous`, which the caller holds. Also returns whether it is
    /// now the successor of `previous`, and stays so while both are held.
    pub(super) fn hold(
        &self,
        text: impl AsRef<str> + Into<Rc<str>>,
        previous: Option<Handle>,
    ) -> (Handle, bool) {
        self.0.borrow_mut().hold(text, previous)
    }

    /// Releases a text that is held. Also returns its successor.
    pub(super) fn release(&self, handle: Handle) -> (Rc<str>, Option<Handle>) {
        self.0.borrow_mut().release(handle)
    }

    /// How many different texts are held.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.borrow().n_taken
    }

    /// How many texts there is room for.
    #[cfg(test)]
    pub(super) fn n_places(&self) -> usize {
        self.0.borrow().places.len()
    }
}

impl Handle {
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl Default for Store {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: None,
            n_taken: 0,
            recent: vec![None; N_RECENT].into_boxed_slice(),
            key: RandomState::new(),
        }
    }
}

impl Store {
    fn hold(&mut self, text: impl AsRef<str> + Into<Rc<str>>, previous: Option<Handle>) -> (Handle, bool) {
        let successor = previous.and_then(|previous| self.places[previous.index()].next);
        if let Some(successor) = self.held_again(successor, text.as_ref()) {
            return (successor, true);
        }
        let recent = self.key.hash_one(text.as_ref()) as usize % N_RECENT;
        let handle = self
            .held_again(self.recent[recent], text.as_ref())
            .unwrap_or_else(|| self.add(text.into()));
        self.recent[recent] = Some(handle);
        let is_successor = previous.is_some_and(|previous| self.follows(previous, handle));
        (handle, is_successor)
    }

    /// Holds the text of a place once more, if it is this text. The place may have become another text's, or free.
    fn held_again(&mut self, handle: Option<Handle>, text: &str) -> Option<Handle> {
        let place = self.places.get_mut(handle?.index())?;
        if place.text.as_deref() != Some(text) {
            return None;
        }
        place.n_holders = place.n_holders.checked_add(1)?;
        handle
    }

    fn add(&mut self, text: Rc<str>) -> Handle {
        let place = Place {
            text: Some(text),
            n_holders: 1,
            next: None,
        };
        self.n_taken += 1;
        if let Some(handle) = self.free {
            let free = std::mem::replace(&mut self.places[handle.index()], place);
            self.free = free.next;
            return handle;
        }
        self.places.push(place);
        let number = u32::try_from(self.places.len()).ok().and_then(NonZeroU32::new);
        Handle(number.expect("four billion texts do not fit into memory"))
    }

    /// Makes `handle` the successor of `previous` unless it has one. Returns whether it is.
    fn follows(&mut self, previous: Handle, handle: Handle) -> bool {
        let next = self.places[previous.index()].next;
        let is_held = |next: Handle| {
            self.places
                .get(next.index())
                .is_some_and(|next| next.text.is_some())
        };
        if !next.is_some_and(is_held) {
            self.places[previous.index()].next = Some(handle);
            return true;
        }
        next == Some(handle)
    }

    fn release(&mut self, handle: Handle) -> (Rc<str>, Option<Handle>) {
        let place = &mut self.places[handle.index()];
        let next = place.next;
        let text = place.text.clone().expect("the caller holds it");
        place.n_holders -= 1;
        if place.n_holders == 0 {
            place.text = None;
            place.next = self.free.replace(handle);
            self.n_taken -= 1;
            if self.n_taken == 0 && self.places.len() > N_KEPT_PLACES {
                self.places = Vec::new();
                self.free = None;
            }
        }
        (text, next)
    }
}
