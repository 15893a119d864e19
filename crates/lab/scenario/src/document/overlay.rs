//! One document laid over another: the parts of a test in several files, its environments, and values of the command
//! line.

use std::mem;

use super::{Document, Entry, Node, Value};

/// What becomes of a list that lies over another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// Its items lie over those with the same position; further items of the lower list stay.
    ByPosition,
    /// It replaces the lower list.
    Replace,
}

impl Document {
    /// Lays another document over this one. The entries of a map lie over those with the same key, and other values
    /// replace the lower ones. Mistakes name the file of the value that is left.
    pub fn overlay(&mut self, over: Self, lists: Lists) {
        let n_before = self.names.len();
        let Self {
            names,
            mut root,
            tags,
            mistakes,
        } = over;
        move_to_file(&mut root, n_before);
        self.names.extend(names);
        let moved = tags.into_inner().into_iter().map(|(mut place, tag)| {
            place.file += n_before;
            (place, tag)
        });
        self.tags.get_mut().extend(moved);
        let moved = mistakes.into_inner().into_iter().map(|mut mistake| {
            mistake.place.file += n_before;
            mistake
        });
        self.mistakes.get_mut().extend(moved);
        lay_unless_empty(&mut self.root, root, lists);
    }

    /// Lays a part of this document over another part; each is named by the keys that lead to it. False if one of them
    /// is absent.
    pub fn overlay_part(&mut self, lower: &[&str], over: &[&str], lists: Lists) -> bool {
        let found = over.iter().try_fold(&self.root, |node, key| node.value.get(key));
        let Some(over) = found.cloned() else { return false };
        let mut node = &mut self.root;
        for key in lower {
            let Value::Map(entries) = &mut node.value else {
                return false;
            };
            let Some(entry) = entries.iter_mut().find(|entry| entry.key == *key) else {
                return false;
            };
            node = &mut entry.node;
        }
        lay_unless_empty(node, over, lists);
        true
    }
}

/// An empty document changes nothing.
fn lay_unless_empty(lower: &mut Node, over: Node, lists: Lists) {
    if !matches!(over.value, Value::Null) {
        lay(lower, over, lists);
    }
}

fn move_to_file(node: &mut Node, file: usize) {
    node.place.file += file;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| move_to_file(item, file)),
        Value::Map(entries) => {
            for entry in entries {
                entry.place.file += file;
                move_to_file(&mut entry.node, file);
            }
        }
        _ => {}
    }
}

/// The recursion is bounded by the levels of a document.
fn lay(lower: &mut Node, over: Node, lists: Lists) {
    match (&mut lower.value, over.value) {
        (Value::Map(entries), Value::Map(over)) => {
            for Entry { key, place, node } in over {
                match entries.iter_mut().find(|entry| entry.key == key) {
                    Some(entry) => {
                        entry.place = place;
                        lay(&mut entry.node, node, lists);
                    }
                    None => entries.push(Entry { key, place, node }),
                }
            }
        }
        (Value::List(items), Value::List(over)) if lists == Lists::ByPosition => {
            let mut over = over.into_iter();
            for (item, over) in items.iter_mut().zip(over.by_ref()) {
                lay(item, over, lists);
            }
            items.extend(over);
        }
        (value, over_value) => {
            let _lower = mem::replace(value, over_value);
            lower.place = over.place;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(text: &str) -> Document {
        Document::read(
            if text.contains("OVER") {
                "over.yml"
            } else {
                "test.yml"
            },
            text,
        )
        .unwrap()
    }

    #[test]
    fn documents_lie_over_each_other() {
        let check = |lower: &str, over: &str, lists: Lists, expected: serde_json::Value| {
            let mut found = document(lower);
            found.overlay(document(over), lists);
            assert_eq!(found.root.json(), expected, "{lower} {over}");
        };
        let by_position = Lists::ByPosition;
        check(
            "{a: 1, b: 2}",
            "{b: 3, c: 4}",
            by_position,
            json!({"a": 1, "b": 3, "c": 4}),
        );
        check(
            "{a: {b: 1}}",
            "{a: {c: 2}}",
            by_position,
            json!({"a": {"b": 1, "c": 2}}),
        );
        check(
            "[{a: 1}, 2]",
            "[{b: 3}]",
            by_position,
            json!([{"a": 1, "b": 3}, 2]),
        );
        check("[1]", "[2, 3]", by_position, json!([2, 3]));
        check("[1, 2]", "[3]", Lists::Replace, json!([3]));
        check("{a: [1]}", "{a: {b: 1}}", by_position, json!({"a": {"b": 1}}));
        check("{a: 1}", "{a: null}", by_position, json!({"a": null}));
        check("a: 1", "", by_position, json!({"a": 1}));
    }

    #[test]
    fn mistakes_name_the_file_of_the_value() {
        let mut found = document("a: 1\nb: 2\n");
        found.overlay(document("# OVER\n\nb: {c: 3}\n"), Lists::ByPosition);
        let mut fields = found.root().fields().unwrap();
        assert!(fields.get("b").unwrap().text().is_none());
        fields.finish();
        assert_eq!(
            found.finish().unwrap_err().to_string(),
            "test.yml:1:1: a: is not a key here; expected one of b\nover.yml:3:4: b: expected a text, found a map"
        );
    }

    #[test]
    fn a_part_lies_over_another() {
        let mut found = document("{config: {a: 1}, more: {x: {a: 2, b: 3}}}");
        assert!(found.overlay_part(&["config"], &["more", "x"], Lists::ByPosition));
        assert!(!found.overlay_part(&["config"], &["more", "y"], Lists::ByPosition));
        assert!(!found.overlay_part(&["other"], &["more", "x"], Lists::ByPosition));
        assert_eq!(
            found.root.value.get("config").unwrap().json(),
            json!({"a": 2, "b": 3})
        );
    }
}
