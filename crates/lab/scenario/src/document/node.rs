//! The tree that a document is.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::Number;

use super::Place;

/// A value and its position. Serializes as JSON, with its keys in the order of the file.
#[derive(Clone, Debug)]
pub struct Node {
    /// The position of its beginning; for an alias, that of its anchor.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// The kinds of values: JSON's.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map without duplicate keys.
    Map(Vec<Entry>),
}

/// One key of a map, with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key. Numbers and the like are used as written.
    pub key: String,
    /// The position of the key.
    pub place: Place,
    /// The value.
    pub node: Node,
}

impl Node {
    /// The JSON value that it is. The order of keys is lost.
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("keys are texts, and numbers are JSON's")
    }
}

impl Value {
    /// The value of this key, when this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Self::Map(entries) = self else { return None };
        entries
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.node)
    }

    /// The value as an error text shows it: as JSON, cut when it is long.
    pub(super) fn excerpt(&self) -> String {
        const LONGEST: usize = 60;
        match self {
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a map".to_owned(),
            Self::Null => "nothing".to_owned(),
            Self::Boolean(boolean) => boolean.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => match text.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{:?}…", &text[..end]),
                None => format!("{text:?}"),
            },
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Boolean(boolean) => serializer.serialize_bool(*boolean),
            Value::Number(number) => number.serialize(serializer),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Value::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for entry in entries {
                    map.serialize_entry(&entry.key, &entry.node)?;
                }
                map.end()
            }
        }
    }
}
