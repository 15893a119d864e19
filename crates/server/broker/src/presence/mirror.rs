//! The members of one stream at all servers of a cluster, as one of them has heard of them.
//!
//! A store counts the changes of each stream and announces them. An announcement that does not follow the last one means
//! that some are missing: then the server reads all members, and what differs is what its clients have not been told.

use std::{collections::BTreeMap, sync::Arc};

use super::Change;

/// A change of a member, in a store that all servers share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The number of the change. The next one of the same stream has the next number.
    pub number: u64,
    /// The member's id.
    pub id: Arc<str>,
    /// What has happened.
    pub change: Change,
}

/// All members of a stream, in a store that all servers share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The number of the last change; 0 if the store has none.
    pub number: u64,
    /// Their ids and infos, each id once.
    pub members: Vec<(Arc<str>, Option<Arc<str>>)>,
}

/// The members of a stream.
#[derive(Debug, Default)]
pub struct Mirror {
    /// The number of the last change that is in `members`. `None`: a listing is awaited.
    number: Option<u64>,
    /// The greatest number that was announced while a listing was awaited.
    announced: u64,
    members: BTreeMap<Arc<str>, Option<Arc<str>>>,
    /// Whether clients know of members: there was a listing, or they asked before.
    is_shown: bool,
}

impl Mirror {
    /// Takes an announcement. Returns whether the members have to be read: a change is missing. Otherwise `tell` gets what
    /// the clients are to be told.
    pub fn hear(&mut self, announcement: Announcement, tell: impl FnOnce(Arc<str>, Change)) -> bool {
        let Announcement { number, id, change } = announcement;
        match self.number {
            None => {
                self.announced = self.announced.max(number);
                false
            }
            Some(last) if last.checked_add(1) == Some(number) => {
                self.number = Some(number);
                match &change {
                    Change::Joined(info) | Change::Updated(info) => {
                        self.members.insert(Arc::clone(&id), info.clone());
                    }
                    Change::Left => {
                        self.members.remove(&id);
                    }
                }
                tell(id, change);
                false
            }
            Some(_) => {
                self.announced = number;
                self.number = None;
                true
            }
        }
    }

    /// From now on nothing is announced, or a listing is on its way for another reason.
    pub fn await_listing(&mut self) {
        if self.number.take().is_some() {
            self.announced = 0;
        }
    }

    /// A client has asked for the members.
    pub fn show(&mut self) {
        self.is_shown = true;
    }

    /// Takes the listing that was awaited. `tell` gets each difference, unless this is the first listing and no client has
    /// asked before. Returns whether the members have to be read again:
    /// the listing is older than what was announced meanwhile.
    pub fn take(&mut self, listing: Listing, mut tell: impl FnMut(Arc<str>, Change)) -> bool {
        let Listing { number, members } = listing;
        let members: BTreeMap<_, _> = members.into_iter().collect();
        let was_shown = std::mem::replace(&mut self.is_shown, true);
        let mut tell = |id, change| {
            if was_shown {
                tell(id, change);
            }
        };
        for id in self.members.keys().filter(|id| !members.contains_key(*id)) {
            tell(Arc::clone(id), Change::Left);
        }
        for (id, info) in &members {
            match self.members.get(id) {
                None => tell(Arc::clone(id), Change::Joined(info.clone())),
                Some(known) if known != info => tell(Arc::clone(id), Change::Updated(info.clone())),
                Some(_) => {}
            }
        }
        self.members = members;
        let is_behind = self.announced > number;
        self.announced = 0;
        self.number = (!is_behind).then_some(number);
        is_behind
    }

    /// Whether the changes up to this number are known, or a listing is awaited.
    pub fn is_at(&self, number: u64) -> bool {
        self.number.is_none_or(|known| known == number)
    }

    /// The members in the order of their ids.
    pub fn members(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, Option<&Arc<str>>)> {
        self.members.iter().map(|(id, info)| (id, info.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(number: u64, id: &str) -> Announcement {
        Announcement {
            number,
            id: id.into(),
            change: Change::Joined(None),
        }
    }

    fn listing(number: u64, ids: &[&str]) -> Listing {
        Listing {
            number,
            members: ids.iter().map(|id| ((*id).into(), None)).collect(),
        }
    }

    /// What clients are told, as words.
    #[derive(Default)]
    struct Told(Vec<String>);

    impl Told {
        fn note(&mut self) -> impl FnMut(Arc<str>, Change) {
            |id, change| {
                self.0.push(match change {
                    Change::Joined(_) => format!("+{id}"),
                    Change::Updated(_) => format!("~{id}"),
                    Change::Left => format!("-{id}"),
                });
            }
        }

        #[track_caller]
        fn expect(&mut self, expected: &str) {
            assert_eq!(std::mem::take(&mut self.0).join(" "), expected);
        }
    }

    #[test]
    fn a_gap_is_read_and_told() {
        let (mut mirror, mut told) = (Mirror::default(), Told::default());
        assert!(
            !mirror.hear(joined(7, "a"), told.note()),
            "the first listing is on its way"
        );
        told.expect("");
        assert!(mirror.take(listing(6, &["z"]), told.note()), "it is older than 7");
        told.expect("");
        assert!(!mirror.take(listing(7, &["a", "z"]), told.note()));
        told.expect("+a");
        assert!(!mirror.hear(joined(8, "b"), told.note()));
        told.expect("+b");
        assert!(mirror.hear(joined(10, "d"), told.note()), "9 is missing");
        told.expect("");
        assert!(!mirror.take(listing(10, &["a", "b", "d"]), told.note()));
        told.expect("-z +d");
        mirror.await_listing();
        assert!(
            !mirror.take(listing(0, &[]), told.note()),
            "the store has lost everything"
        );
        told.expect("-a -b -d");
    }

    #[test]
    fn who_asks_too_early_is_told() {
        let (mut mirror, mut told) = (Mirror::default(), Told::default());
        mirror.show();
        assert!(!mirror.take(listing(6, &["z"]), told.note()));
        told.expect("+z");
    }

    proptest! {
        /// Whatever is missed, what clients were told adds up to the members.
        #[test]
        fn clients_that_count_agree_with_the_store(
            steps in proptest::collection::vec((0_u8..4, 0_u8..5, 0_u8..3), 0..80),
        ) {
            let mut store: BTreeMap<String, Option<Arc<str>>> = BTreeMap::new();
            let mut counted: BTreeMap<String, Option<Arc<str>>> = BTreeMap::new();
            let (mut mirror, mut number, mut is_awaited) = (Mirror::default(), 100, true);
            mirror.show();
            let mut note = |id: Arc<str>, change: Change| match change {
                Change::Joined(info) => assert!(counted.insert(id.to_string(), info).is_none()),
                Change::Updated(info) => assert!(counted.insert(id.to_string(), info).is_some()),
                Change::Left => assert!(counted.remove(&*id).is_some()),
            };
            for (kind, id, info) in steps.into_iter().chain([(3, 0, 0), (0, 9, 0), (3, 0, 0)]) {
                let id = format!("id-{id}");
                let info: Option<Arc<str>> = Some(info.to_string().into());
                let change = match (kind, store.get(&id)) {
                    // A listing arrives.
                    (3, _) => None,
                    (_, None) => Some(Change::Joined(info)),
                    (2, Some(_)) => Some(Change::Left),
                    (_, Some(_)) => Some(Change::Updated(info)),
                };
                match change {
                    None if is_awaited => {
                        let members = store.iter().map(|(id, info)| (id.as_str().into(), info.clone()));
                        let listing = Listing { number, members: members.collect() };
                        is_awaited = mirror.take(listing, &mut note);
                    }
                    None => {}
                    Some(change) => {
                        number += 1;
                        match &change {
                            Change::Joined(info) | Change::Updated(info) => store.insert(id.clone(), info.clone()),
                            Change::Left => store.remove(&id),
                        };
                        // Every third announcement is lost.
                        if number % 3 != 0 {
                            let announcement = Announcement { number, id: id.as_str().into(), change };
                            is_awaited |= mirror.hear(announcement, &mut note);
                        }
                    }
                }
            }
            if !is_awaited {
                let members: BTreeMap<_, _> = mirror
                    .members()
                    .map(|(id, info)| (id.to_string(), info.cloned()))
                    .collect();
                prop_assert_eq!(&members, &counted);
            }
        }
    }
}
