//! The members of one stream in a store that keeps each member by itself, as one server has heard of them.
//!
//! The store counts the changes of all members together, and has the last one of each. A server begins with what it hears
//! while it reads all members, in whatever order the two come: of each member the later change counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Announcement, Change, Listing};

/// What a change has made of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The number of the change among all of the store.
    pub number: u64,
    /// The number of the member's last change when this one was written; 0 if there was none. The change counts only if that
    /// is true: a store with several replicas may take two that follow the same one.
    pub after: u64,
    /// The member's id.
    pub id: Arc<str>,
    /// The servers that have the member. None: it is gone.
    pub servers: Vec<Arc<str>>,
    /// The info, which is JSON text.
    pub info: Option<Arc<str>>,
}

/// The members of a stream.
#[derive(Debug, Default)]
pub struct Register {
    members: BTreeMap<Arc<str>, Known>,
    /// The greatest number of a change.
    top: u64,
    /// The number of the last announcement.
    n_announced: u64,
    /// Whether all members have been read.
    is_complete: bool,
}

#[derive(Debug)]
struct Known {
    number: u64,
    /// None: the member is gone, and still here so that an earlier change does not bring it back.
    servers: Vec<Arc<str>>,
    info: Option<Arc<str>>,
}

impl Register {
    /// All members are read from now on. What was known may be out of date.
    pub fn begin(&mut self) {
        self.members.clear();
        self.top = 0;
        self.is_complete = false;
    }

    /// Takes a change. Returns what it changes for clients, if they know the members.
    pub fn hear(&mut self, entry: Entry) -> Option<Announcement> {
        let id = Arc::clone(&entry.id);
        let before = self.info(&id);
        self.apply(entry);
        let after = self.info(&id);
        if !self.is_complete {
            return None;
        }
        if after.is_none() {
            self.members.remove(&id);
        }
        let change = change(before, after)?;
        self.n_announced += 1;
        Some(Announcement {
            number: self.n_announced,
            id,
            change,
        })
    }

    /// There is a change that does not count.
    pub fn skip(&mut self, number: u64) {
        self.top = self.top.max(number);
    }

    /// Takes all members as they were read, in the order of their numbers.
    pub fn take(&mut self, entries: Vec<Entry>) -> Listing {
        for entry in entries {
            self.apply(entry);
        }
        self.members.retain(|_, known| !known.servers.is_empty());
        self.is_complete = true;
        let members = self.members.iter();
        Listing {
            number: self.n_announced,
            members: members
                .map(|(id, known)| (Arc::clone(id), known.info.clone()))
                .collect(),
        }
    }

    /// Whether all changes up to this one are known, or the members are being read.
    pub fn is_at(&self, number: u64) -> bool {
        !self.is_complete || self.top == number
    }

    /// The servers that have members.
    pub fn servers(&self) -> BTreeSet<&Arc<str>> {
        self.members.values().flat_map(|known| &known.servers).collect()
    }

    /// The ids of the members that a server has.
    pub fn of<'a>(&'a self, server: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        let has = move |known: &Known| known.servers.iter().any(|name| **name == *server);
        self.members
            .iter()
            .filter(move |(_, known)| has(known))
            .map(|(id, _)| id)
    }

    /// The info of a member that is there.
    #[expect(clippy::option_option, reason = "a member may have no info")]
    fn info(&self, id: &str) -> Option<Option<Arc<str>>> {
        let known = self.members.get(id).filter(|known| !known.servers.is_empty())?;
        Some(known.info.clone())
    }

    fn apply(&mut self, entry: Entry) {
        let Entry {
            number,
            after,
            id,
            servers,
            info,
        } = entry;
        self.top = self.top.max(number);
        let known = self.members.entry(id).or_insert(Known {
            number: 0,
            servers: Vec::new(),
            info: None,
        });
        if number <= known.number {
            return;
        }
        let counts = after >= known.number;
        known.number = number;
        if counts {
            (known.servers, known.info) = (servers, info);
        }
    }
}

/// What is new for clients.
pub fn change(before: Option<Option<Arc<str>>>, after: Option<Option<Arc<str>>>) -> Option<Change> {
    match (before, after) {
        (None, Some(info)) => Some(Change::Joined(info)),
        (Some(before), Some(info)) if before != info => Some(Change::Updated(info)),
        (Some(_), None) => Some(Change::Left),
        (Some(_), Some(_)) | (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `number after id servers info`, with `-` for none.
    fn entry(text: &str) -> Entry {
        let parts: Vec<_> = text.split(' ').collect();
        let [number, after, id, servers, info] = parts[..] else {
            panic!("{text}");
        };
        Entry {
            number: number.parse().expect("a number"),
            after: after.parse().expect("a number"),
            id: id.into(),
            servers: servers
                .split(',')
                .filter(|name| *name != "-")
                .map(Into::into)
                .collect(),
            info: (info != "-").then(|| info.into()),
        }
    }

    fn words(announcement: Option<Announcement>) -> String {
        let Some(Announcement { number, id, change }) = announcement else {
            return String::new();
        };
        match change {
            Change::Joined(info) => format!("{number} +{id} {}", info.as_deref().unwrap_or("-")),
            Change::Updated(info) => format!("{number} ~{id} {}", info.as_deref().unwrap_or("-")),
            Change::Left => format!("{number} -{id}"),
        }
    }

    fn ids(listing: &Listing) -> String {
        let ids: Vec<_> = listing.members.iter().map(|(id, _)| &**id).collect();
        format!("{}: {}", listing.number, ids.join(" "))
    }

    #[test]
    fn clients_hear_of_what_changes_for_them() {
        let mut register = Register::default();
        assert_eq!(ids(&register.take(Vec::new())), "0: ");
        for (text, expected) in [
            ("1 0 a A 1", "1 +a 1"),
            ("2 1 a A,B 1", ""),
            ("3 2 a B 2", "2 ~a 2"),
            ("4 3 a B -", "3 ~a -"),
            ("5 0 b A -", "4 +b -"),
            // It was written at the same time as the fourth one, and does not count.
            ("6 3 a C 9", ""),
            ("7 6 a - -", "5 -a"),
            ("8 7 a - -", ""),
            ("9 8 a C -", "6 +a -"),
        ] {
            assert_eq!(words(register.hear(entry(text))), expected, "{text}");
        }
        assert!(register.is_at(9) && !register.is_at(8) && !register.is_at(10));
        let servers: Vec<_> = register.servers().into_iter().map(|name| &**name).collect();
        assert_eq!(servers, ["A", "C"]);
        let of_a: Vec<_> = register.of("A").map(|id| &**id).collect();
        assert_eq!(of_a, ["b"]);
    }

    #[test]
    fn what_is_heard_during_a_reading_counts() {
        let mut register = Register::default();
        register.take(vec![entry("1 0 old A -")]);
        register.begin();
        assert!(register.is_at(7), "it is being read");
        for text in ["5 0 came A -", "6 2 went - -", "7 3 moved B 2"] {
            assert_eq!(words(register.hear(entry(text))), "");
        }
        let read = ["2 0 went A -", "3 0 moved A 1", "4 0 stayed A -"];
        assert_eq!(
            ids(&register.take(read.map(entry).into())),
            "0: came moved stayed"
        );
        assert_eq!(words(register.hear(entry("8 7 moved B 2"))), "");
        assert_eq!(words(register.hear(entry("9 6 went A -"))), "1 +went -");
    }

    proptest! {
        /// Wherever the reading is cut into what is heard, the members are those of the store.
        #[test]
        fn the_members_are_those_of_the_store(
            steps in proptest::collection::vec((0_u8..4, proptest::collection::vec(0_u8..3, 0..3)), 0..40),
            heard_from in 0_usize..40,
            read_until in 0_usize..40,
        ) {
            let mut last: BTreeMap<String, u64> = BTreeMap::new();
            let mut entries = Vec::new();
            for (number, (id, servers)) in (1_u64..).zip(steps) {
                let id = id.to_string();
                let after = last.insert(id.clone(), number).unwrap_or(0);
                let servers = servers.iter().map(|name| name.to_string().into()).collect();
                entries.push(Entry { number, after, id: id.as_str().into(), servers, info: None });
            }
            let heard_from = heard_from.min(entries.len());
            let read_until = read_until.clamp(heard_from, entries.len());
            let mut register = Register::default();
            register.begin();
            let heard = entries[heard_from..].iter().cloned();
            let (during, later): (Vec<_>, Vec<_>) = heard.partition(|entry| entry.number as usize <= read_until);
            during.into_iter().for_each(|entry| drop(register.hear(entry)));
            // The store has the last change of each member at the time.
            let kept = entries[..read_until].iter().rev();
            let mut seen = BTreeSet::new();
            let mut kept: Vec<_> = kept.filter(|entry| seen.insert(Arc::clone(&entry.id))).cloned().collect();
            kept.reverse();
            let mut told: BTreeSet<Arc<str>> = register.take(kept).members.into_iter().map(|(id, _)| id).collect();
            for entry in later {
                if let Some(Announcement { id, change, .. }) = register.hear(entry) {
                    match change {
                        Change::Joined(_) => prop_assert!(told.insert(id)),
                        Change::Left => prop_assert!(told.remove(&id)),
                        Change::Updated(_) => prop_assert!(false, "there are no infos"),
                    }
                }
            }
            let present = entries.iter().rev();
            let mut seen = BTreeSet::new();
            let present: BTreeSet<_> = present
                .filter(|entry| seen.insert(Arc::clone(&entry.id)) && !entry.servers.is_empty())
                .map(|entry| Arc::clone(&entry.id))
                .collect();
            prop_assert_eq!(told, present);
            prop_assert!(register.is_at(entries.len() as u64) || entries.is_empty() || register.top < entries.len() as u64);
        }
    }
}
