//! Reading a subscription identifier, for the embedded applications.

use serde_json::{Map, Value};

/// A channel's class name and parameters.
pub(super) struct Channel {
    pub(super) name: String,
    parameters: Map<String, Value>,
}

impl Channel {
    /// `None` when the identifier is not a JSON object with a `channel`, as every Rails client sends it.
    pub(super) fn parse(identifier: &str) -> Option<Self> {
        let mut parameters: Map<String, Value> = serde_json::from_str(identifier).ok()?;
        match parameters.remove("channel")? {
            Value::String(name) => Some(Self { name, parameters }),
            _ => None,
        }
    }

    /// A parameter as text: Rails treats `1` and `"1"` alike when it builds a stream's name.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        match self.parameters.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}
