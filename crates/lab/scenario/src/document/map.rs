//! The meaning of the entries of one map: duplicate keys, and `<<`.

use std::collections::BTreeMap;

use super::{Entry, Mistake, Place, Value};

/// The key that merges the entries of other maps. It is YAML 1.1, and still widely used.
const MERGE: &str = "<<";

/// The entries of a map. Its own take precedence over merged ones, and earlier merged ones over later.
pub(super) fn settle(entries: Vec<Entry>, mistakes: &mut Vec<Mistake>) -> Vec<Entry> {
    let mut places: BTreeMap<String, Place> = BTreeMap::new();
    let (mut settled, mut brought) = (Vec::with_capacity(entries.len()), Vec::new());
    for entry in entries {
        if entry.key == MERGE {
            bring(entry, &mut brought, mistakes);
        } else if let Some(first) = places.get(&entry.key) {
            mistakes.push(Mistake {
                place: entry.place,
                path: entry.key,
                problem: format!("this key is a duplicate of the one at {first}"),
            });
        } else {
            places.insert(entry.key.clone(), entry.place);
            settled.push(entry);
        }
    }
    for entry in brought {
        if !places.contains_key(&entry.key) {
            places.insert(entry.key.clone(), entry.place);
            settled.push(entry);
        }
    }
    settled
}

/// The entries after `<<`: a map, or a list of maps.
fn bring(entry: Entry, brought: &mut Vec<Entry>, mistakes: &mut Vec<Mistake>) {
    let maps = match entry.node.value {
        Value::List(items) => items,
        _ => vec![entry.node],
    };
    for node in maps {
        match node.value {
            Value::Map(entries) => brought.extend(entries),
            value => mistakes.push(Mistake {
                place: node.place,
                path: MERGE.to_owned(),
                problem: format!(
                    "expected a map to merge, for example *defaults, found {}",
                    value.excerpt()
                ),
            }),
        }
    }
}
