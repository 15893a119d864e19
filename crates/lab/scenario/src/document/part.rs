//! A part of a document that is being read. It knows the path of keys to it.

use serde_json::Number;

use super::{Document, Entry, Fields, Mistake, Node, Place, Shape, Value};

/// A node, the path to it, and the document that gathers its mistakes.
///
/// The reading methods return `None` if the node has another type. Then the mistake is recorded already, and the caller
/// continues with the next part.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    document: &'a Document,
    node: &'a Node,
    path: String,
}

impl<'a> Part<'a> {
    pub(super) fn root(document: &'a Document) -> Self {
        Self {
            document,
            node: &document.root,
            path: String::new(),
        }
    }

    /// What it is.
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// The keys that lead here, for example `scenarios[0].flow`; empty for the whole document.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Records a mistake at this position.
    pub fn mistake(&self, problem: impl Into<String>) {
        self.mistake_at(self.node.place, self.path.clone(), problem.into());
    }

    pub(super) fn mistake_at(&self, place: Place, path: String, problem: String) {
        self.document.add(Mistake { place, path, problem });
    }

    /// Records that this is not the expected value: a noun with an example.
    pub fn unexpected(&self, expected: &str) {
        let found = self.node.value.excerpt();
        self.mistake(format!("expected {expected}, found {found}"));
    }

    /// The result of `read`. If it is `None`, records that `expected` was expected: a noun with an example.
    pub fn read<T>(&self, expected: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Option<T> {
        let value = read(&self.node.value);
        if value.is_none() {
            self.unexpected(expected);
        }
        value
    }

    /// A text. A number or a boolean is not accepted, because converting it would not restore its written form.
    pub fn text(&self) -> Option<&'a str> {
        self.read("a text", |value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// True or false.
    pub fn boolean(&self) -> Option<bool> {
        self.read("true or false", |value| match value {
            Value::Boolean(boolean) => Some(*boolean),
            _ => None,
        })
    }

    /// A number.
    pub fn number(&self) -> Option<f64> {
        self.read("a number, for example 0.5", |value| match value {
            Value::Number(number) => number.as_f64(),
            _ => None,
        })
    }

    /// A whole number from 0.
    pub fn whole(&self) -> Option<u64> {
        self.read("a whole number, for example 10", |value| match value {
            Value::Number(number) => whole(number),
            _ => None,
        })
    }

    /// The items of a list.
    pub fn list(&self) -> Option<impl Iterator<Item = Part<'a>> + use<'a>> {
        let items = self.read("a list", |value| match value {
            Value::List(items) => Some(items),
            _ => None,
        })?;
        let (document, path) = (self.document, self.path.clone());
        Some(items.iter().enumerate().map(move |(position, node)| Part {
            document,
            node,
            path: format!("{path}[{position}]"),
        }))
    }

    /// The fields of a map with arbitrary keys.
    pub fn fields(&self) -> Option<Fields<'a>> {
        Some(Fields::new(self.clone(), self.entries()?, None))
    }

    /// The fields of a map that has these keys.
    pub fn fields_of(&self, shape: &'static Shape) -> Option<Fields<'a>> {
        Some(Fields::new(self.clone(), self.entries()?, Some(shape)))
    }

    /// A map without keys, for an optional map.
    pub fn without_fields(&self, shape: &'static Shape) -> Fields<'a> {
        Fields::new(self.clone(), &[], Some(shape))
    }

    fn entries(&self) -> Option<&'a [Entry]> {
        self.read("a map", |value| match value {
            Value::Map(entries) => Some(entries.as_slice()),
            _ => None,
        })
    }

    /// Takes notice of a tag, such as `ruby/regexp`, that the value may have; others are mistakes.
    pub fn accept_tag(&self, tag: &str) {
        let mut tags = self.document.tags.borrow_mut();
        if tags.get(&self.node.place).is_some_and(|found| found == tag) {
            tags.remove(&self.node.place);
        }
    }

    /// The path of one of its keys. A key that would be ambiguous between dots is in brackets.
    pub(super) fn path_of(&self, key: &str) -> String {
        let is_plain = !key.is_empty() && !key.contains(['.', '[', ']', ' ', '"']);
        match (self.path.is_empty(), is_plain) {
            (true, true) => key.to_owned(),
            (false, true) => format!("{}.{key}", self.path),
            (_, false) => format!("{}[{key:?}]", self.path),
        }
    }

    pub(super) fn child(&self, key: &str, node: &'a Node) -> Self {
        Self {
            document: self.document,
            node,
            path: self.path_of(key),
        }
    }
}

/// A number that is whole and not negative, in any notation.
fn whole(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let number = number.as_f64()?;
        (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
    })
}
