//! The keys of one map, of which a reader must know all.

use super::{Entry, Part, Value};
use plimsoll_load::nearest::nearest;

/// The fields of a map; each key that is asked for becomes a known one.
///
/// End with [`Self::finish`], which refuses the others. A map whose keys are free is read with [`Self::all`].
#[derive(Debug)]
pub struct Fields<'a> {
    part: Part<'a>,
    entries: &'a [Entry],
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(part: Part<'a>, entries: &'a [Entry]) -> Self {
        Self {
            part,
            entries,
            known: Vec::new(),
        }
    }

    /// The map itself.
    pub fn part(&self) -> &Part<'a> {
        &self.part
    }

    /// A field; `None` when it is absent or nothing is written behind it.
    pub fn get(&mut self, key: &'static str) -> Option<Part<'a>> {
        self.find(key)
            .filter(|part| !matches!(part.node().value, Value::Null))
    }

    /// A field; `None` when it is absent.
    pub fn find(&mut self, key: &'static str) -> Option<Part<'a>> {
        self.known.push(key);
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(self.part.child(key, &entry.node))
    }

    /// A field that must be there; `expected` is a noun with an example.
    pub fn require(&mut self, key: &'static str, expected: &str) -> Option<Part<'a>> {
        let field = self.get(key);
        if field.is_none() {
            self.part
                .mistake(format!("`{key}` is missing: expected {expected}"));
        }
        field
    }

    /// Makes keys known that are read elsewhere.
    pub fn known(&mut self, keys: &[&'static str]) {
        self.known.extend(keys);
    }

    /// All fields, in the order of the file.
    pub fn all(&self) -> impl Iterator<Item = (&'a str, Part<'a>)> + use<'a> {
        let part = self.part.clone();
        self.entries
            .iter()
            .map(move |entry| (entry.key.as_str(), part.child(&entry.key, &entry.node)))
    }

    /// Refuses all keys that nobody asked for.
    pub fn finish(self) {
        for entry in self.entries {
            if !self.known.contains(&entry.key.as_str()) {
                let problem = unknown(&entry.key, &self.known);
                self.part
                    .mistake_at(entry.place, self.part.path_of(&entry.key), problem);
            }
        }
    }
}

/// What to say of a key that nobody knows.
fn unknown(key: &str, known: &[&'static str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(nearest) => format!("is no key here; did you mean `{nearest}`?"),
        None if known.is_empty() => "is no key here; there is none".to_owned(),
        None => format!("is no key here; expected one of {}", known.join(", ")),
    }
}
