//! The keys of one map. A reader must know all of them.

use plimsoll_load::nearest::nearest;

use super::{Entry, Key, Kind, Part, Shape, Value};

/// The fields of a map. Each requested key becomes a known one.
///
/// End with [`Self::finish`], which refuses the others. A map with arbitrary keys is read with [`Self::all`].
#[derive(Debug)]
pub struct Fields<'a> {
    part: Part<'a>,
    entries: &'a [Entry],
    shape: Option<&'static Shape>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(part: Part<'a>, entries: &'a [Entry], shape: Option<&'static Shape>) -> Self {
        Self {
            part,
            entries,
            shape,
            known: Vec::new(),
        }
    }

    /// The map itself.
    pub fn part(&self) -> &Part<'a> {
        &self.part
    }

    /// A field. `None` if it is absent or empty.
    pub fn get(&mut self, key: &'static str) -> Option<Part<'a>> {
        self.find(key)
            .filter(|part| !matches!(part.node().value, Value::Null))
    }

    /// A field. `None` if it is absent or refused. A key that is missing in the shape is a bug in the reader, which
    /// tests detect.
    pub fn find(&mut self, key: &'static str) -> Option<Part<'a>> {
        if let Some(shape) = self.shape {
            let known = shape.key(key);
            debug_assert!(known.is_some(), "{key} is not a key of a {}", shape.name);
            if matches!(known?.kind, Kind::Refused(_)) {
                return None;
            }
        }
        self.known.push(key);
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(self.part.child(key, &entry.node))
    }

    /// A required field; `expected` is a noun with an example.
    pub fn require(&mut self, key: &'static str, expected: &str) -> Option<Part<'a>> {
        let field = self.get(key);
        if field.is_none() {
            self.part
                .mistake(format!("`{key}` is missing: expected {expected}"));
        }
        field
    }

    /// Marks keys as known that are read elsewhere.
    pub fn known(&mut self, keys: &[&'static str]) {
        self.known.extend(keys);
    }

    /// Fields that have no effect, each with the reason.
    pub fn ignored(&mut self) -> Vec<(Part<'a>, &'static str)> {
        let keys = self.shape.map_or(&[][..], |shape| shape.keys);
        let ignored = keys.iter().filter_map(|key| match key.kind {
            Kind::Ignored(reason) => Some((self.get(key.name)?, reason)),
            _ => None,
        });
        ignored.collect()
    }

    /// All fields, in the order of the file.
    pub fn all(&self) -> impl Iterator<Item = (&'a str, Part<'a>)> + use<'a> {
        let part = self.part.clone();
        self.entries
            .iter()
            .map(move |entry| (entry.key.as_str(), part.child(&entry.key, &entry.node)))
    }

    /// Refuses all unknown keys.
    pub fn finish(self) {
        for entry in self.entries {
            if self.known.contains(&entry.key.as_str()) {
                continue;
            }
            match self.shape.and_then(|shape| shape.key(&entry.key)) {
                // An empty field counts as absent.
                Some(Key {
                    kind: Kind::Refused(_),
                    ..
                }) if matches!(entry.node.value, Value::Null) => {}
                Some(Key {
                    kind: Kind::Refused(reason),
                    ..
                }) => self.part.child(&entry.key, &entry.node).mistake(*reason),
                _ => {
                    let problem = unknown(&entry.key, &self.known);
                    self.part
                        .mistake_at(entry.place, self.part.path_of(&entry.key), problem);
                }
            }
        }
    }
}

/// The error for an unknown key.
fn unknown(key: &str, known: &[&'static str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(nearest) => format!("is not a key here; did you mean `{nearest}`?"),
        None if known.is_empty() => "is not a key here; no keys are allowed".to_owned(),
        None => format!("is not a key here; expected one of {}", known.join(", ")),
    }
}
