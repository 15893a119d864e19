//! A map for the few names of one session, in as much memory as it has entries.
//!
//! A leaf of a `BTreeMap` has room for eleven entries: 640 bytes for two short texts. A session of a public stream has two
//! such maps, which were a half of its memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values by name, in the order of the names. Searches halve, insertions move what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entries<V = Box<str>>(Vec<(Box<str>, V)>);

impl<V> Entries<V> {
    /// A map without entries, which has no memory of its own.
    pub const EMPTY: Self = Self(Vec::new());

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&V> {
        let place = self.place(name).ok()?;
        Some(&self.0[place].1)
    }

    /// Sets a value. Returns the value that it replaces.
    pub fn insert(&mut self, name: Box<str>, value: V) -> Option<V> {
        match self.place(&name) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                // A vector of its own accord would make room for four.
                self.0.reserve_exact(1);
                self.0.insert(place, (name, value));
                None
            }
        }
    }

    /// Removes a name with its value, and frees their memory.
    pub fn remove(&mut self, name: &str) -> Option<V> {
        let place = self.place(name).ok()?;
        let (_, value) = self.0.remove(place);
        self.0.shrink_to_fit();
        Some(value)
    }

    /// Removes the entries for which `keeps` is false, and frees their memory.
    pub fn retain(&mut self, mut keeps: impl FnMut(&str, &V) -> bool) {
        self.0.retain(|(name, value)| keeps(name, value));
        self.0.shrink_to_fit();
    }

    /// All entries in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// The place of a name, or the place where it would be.
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(name))
    }
}

impl<V> Default for Entries<V> {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Of entries with one name, the last one counts.
impl<N: Into<Box<str>>, W: Into<V>, V> FromIterator<(N, W)> for Entries<V> {
    fn from_iter<I: IntoIterator<Item = (N, W)>>(entries: I) -> Self {
        let mut all = Self::EMPTY;
        for (name, value) in entries {
            all.insert(name.into(), value.into());
        }
        all
    }
}

/// A map.
impl<V: Serialize> Serialize for Entries<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// A map.
impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = BTreeMap::<Box<str>, V>::deserialize(deserializer)?;
        Ok(map.into_iter().collect())
    }
}

impl<V> IntoIterator for Entries<V> {
    type Item = (Box<str>, V);
    type IntoIter = std::vec::IntoIter<(Box<str>, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_map_without_spare_room() {
        let mut random = fastrand::Rng::with_seed(1);
        let (mut entries, mut map) = (Entries::<u32>::EMPTY, BTreeMap::new());
        for _ in 0..1000 {
            let name = random.u32(..12).to_string();
            if random.bool() {
                let value = random.u32(..100);
                let replaced = entries.insert(name.as_str().into(), value);
                assert_eq!(replaced, map.insert(name, value));
            } else {
                assert_eq!(entries.remove(&name), map.remove(&name));
            }
            assert_eq!(entries.0.capacity(), map.len());
            let expected = map.iter().map(|(name, value)| (name.as_str(), value));
            assert!(entries.iter().eq(expected));
            let wanted = random.u32(..12).to_string();
            assert_eq!(entries.get(&wanted), map.get(&wanted));
        }
        entries.retain(|_, value| value % 2 == 0);
        map.retain(|_, value| *value % 2 == 0);
        let json = [serde_json::to_string(&entries), serde_json::to_string(&map)];
        let [entries, map] = json.map(|json| json.expect("numbers by name"));
        assert_eq!(entries, map);
    }

    #[test]
    fn of_equal_names_the_last_one_counts() {
        let entries: Entries = [("b", "1"), ("a", "2"), ("b", "3")].into_iter().collect();
        let found: Vec<_> = entries.iter().map(|(name, value)| (name, &**value)).collect();
        assert_eq!(found, [("a", "2"), ("b", "3")]);
    }
}
