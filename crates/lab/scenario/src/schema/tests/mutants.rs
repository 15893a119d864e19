//! Files with one mistake each, made from a valid file: values of a wrong type, keys that are unknown, refused, missing
//! or too many.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::document::{Kind, Rule, Shape};

/// Values of each type. Every kind that does not accept everything refuses some.
const STRANGERS: [&str; 6] = [
    "{\"nonsense\": []}",
    "[{}]",
    "\"no such thing\"",
    "true",
    "-1",
    "0.37",
];

/// The mutated files.
#[derive(Debug, Default)]
pub(super) struct Mutants {
    /// What the mistake is, and the file with it.
    pub(super) texts: Vec<(String, String)>,
    /// The keys that the files have: `shape.key`.
    pub(super) seen: BTreeSet<String>,
    whole: Value,
}

impl Mutants {
    /// Adds the mutants of a file, except for keys that were seen before.
    pub(super) fn add(&mut self, kind: &Kind, whole: Value) {
        self.whole = whole;
        self.walk(kind, "");
    }

    /// `path` is a JSON pointer.
    fn walk(&mut self, kind: &Kind, path: &str) {
        for stranger in STRANGERS {
            let stranger: Value = serde_json::from_str(stranger).unwrap();
            if !takes(kind, &stranger) {
                self.replace(path, &stranger);
            }
        }
        self.descend(kind, path);
    }

    fn descend(&mut self, kind: &Kind, path: &str) {
        let value = self.whole.pointer(path).unwrap().clone();
        match kind {
            Kind::Either(kinds) => {
                let fitting = kinds.iter().find(|kind| takes(kind, &value));
                self.descend(fitting.unwrap_or_else(|| panic!("{path}: {value}")), path);
            }
            Kind::List(items) => {
                for position in 0..value.as_array().unwrap().len() {
                    self.walk(items, &format!("{path}/{position}"));
                }
            }
            Kind::Table(values) => {
                for key in value.as_object().unwrap().keys() {
                    self.walk(values, &format!("{path}/{key}"));
                }
            }
            Kind::Map(shape) => self.walk_map(shape, path),
            Kind::Having(key, shape) if value.get(key).is_some() => self.walk_map(shape, path),
            Kind::Maps(shape) | Kind::OneOrMore(shape) | Kind::Nested(shape) => match value.as_array() {
                None => self.walk_map(shape, path),
                // A list within a list is of the same kind.
                Some(items) => (0..items.len()).for_each(|position| {
                    self.descend(kind, &format!("{path}/{position}"));
                }),
            },
            Kind::Switch(key, cases) => {
                let case = cases.iter().find(|(name, _)| value[key] == *name);
                self.walk_map(case.unwrap_or(&cases[0]).1, path);
            }
            Kind::Step(shape) => match value.as_str() {
                Some(name) => drop(self.seen.insert(format!("{}.{name}", shape.name))),
                None => self.walk_map(shape, path),
            },
            _ => {}
        }
    }

    fn walk_map(&mut self, shape: &Shape, path: &str) {
        let map = self.whole.pointer(path).unwrap().clone();
        let has = |name: &str| map.get(name).is_some();
        if !shape.rules.iter().any(|rule| matches!(rule, Rule::FreeKeys(_))) {
            self.with(path, "nonsense", &json!(1));
        }
        for key in shape.keys {
            if matches!(key.kind, Kind::Refused(_)) {
                self.with(path, key.name, &json!(1));
            }
            if !has(key.name) {
                continue;
            }
            let pointer = format!("{path}/{}", key.name.replace('~', "~0").replace('/', "~1"));
            if !self.seen.insert(format!("{}.{}", shape.name, key.name)) {
                // Only for the keys below it that are new.
                self.descend(&key.kind, &pointer);
                continue;
            }
            if key.is_required {
                self.without(path, key.name);
            }
            if let Some(other) = key.needs {
                self.without(path, other);
            }
            self.walk(&key.kind, &pointer);
        }
        for rule in shape.rules {
            if let Rule::ExactlyOne(names) = rule {
                let found = names.iter().find(|name| has(name));
                self.without(path, found.unwrap_or_else(|| panic!("{path}: none of {names:?}")));
            }
            if let Rule::AtMostOne([one, other]) = rule {
                let found = [one, other].into_iter().find(|key| has(key));
                for key in [one, other].into_iter().filter(|key| !has(key)) {
                    if let Some(found) = found {
                        self.with(path, key, &map[found]);
                    }
                }
            }
        }
    }

    fn replace(&mut self, path: &str, value: &Value) {
        self.mutate(format!("{value} as {path}"), |whole| {
            *whole.pointer_mut(path).unwrap() = value.clone();
        });
    }

    fn with(&mut self, path: &str, key: &str, value: &Value) {
        self.mutate(format!("{key} in {path}"), |whole| {
            whole.pointer_mut(path).unwrap()[key] = value.clone();
        });
    }

    fn without(&mut self, path: &str, key: &str) {
        self.mutate(format!("no {key} in {path}"), |whole| {
            let map = whole.pointer_mut(path).and_then(Value::as_object_mut);
            map.unwrap().remove(key);
        });
    }

    fn mutate(&mut self, mistake: String, change: impl FnOnce(&mut Value)) {
        let mut whole = self.whole.clone();
        change(&mut whole);
        self.texts.push((mistake, whole.to_string()));
    }
}

/// Whether the kind accepts the value's type.
fn takes(kind: &Kind, value: &Value) -> bool {
    match kind {
        Kind::Any | Kind::Ignored(_) => true,
        Kind::Having(key, shape) => {
            !value.is_null() && (value.get(key).is_none() || has_keys_of(shape, value))
        }
        Kind::Maps(shape) => is_list_of(shape, value),
        Kind::OneOrMore(shape) => has_keys_of(shape, value) || is_list_of(shape, value),
        Kind::Nested(shape) => value.as_array().is_some_and(|items| {
            items
                .iter()
                .all(|item| has_keys_of(shape, item) || takes(kind, item))
        }),
        Kind::Refused(_) => false,
        Kind::Text => value.is_string(),
        Kind::Scalar => value.is_string() || value.is_number() || value.is_boolean(),
        // The stranger fits no pattern.
        Kind::Pattern(_) => value.is_string() && value != "no such thing",
        Kind::Word(words) => value.as_str().is_some_and(|text| words.contains(&text)),
        Kind::Boolean => value.is_boolean(),
        Kind::Number(least, most) => value
            .as_f64()
            .is_some_and(|number| (*least..=*most).contains(&number)),
        Kind::Whole(least, most) => value
            .as_u64()
            .is_some_and(|number| (*least..=*most).contains(&number)),
        Kind::Either(kinds) => kinds.iter().any(|kind| takes(kind, value)),
        Kind::List(items) => value
            .as_array()
            .is_some_and(|list| list.iter().all(|item| takes(items, item))),
        Kind::Table(values) => value
            .as_object()
            .is_some_and(|map| map.values().all(|value| takes(values, value))),
        Kind::Map(shape) => has_keys_of(shape, value),
        Kind::Switch(_, cases) => cases.iter().any(|(_, shape)| has_keys_of(shape, value)),
        Kind::Step(shape) => {
            value.as_str().is_some_and(|name| shape.key(name).is_some()) || has_keys_of(shape, value)
        }
    }
}

fn is_list_of(shape: &Shape, value: &Value) -> bool {
    let items = value.as_array();
    items.is_some_and(|items| items.iter().all(|item| has_keys_of(shape, item)))
}

fn has_keys_of(shape: &Shape, value: &Value) -> bool {
    let map = value.as_object();
    map.is_some_and(|map| {
        map.keys().all(|name| shape.key(name).is_some())
            && shape
                .keys
                .iter()
                .all(|key| !key.is_required || map.contains_key(key.name))
    })
}
