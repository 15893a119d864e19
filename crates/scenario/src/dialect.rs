//! Whose file a document is.

use std::fmt;

use crate::document::{Document, Value};

/// The tools whose files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Artillery: a map with `config` and `scenarios`.
    Artillery,
    /// wsdirector: a list of steps or of clients.
    Wsdirector,
}

impl Dialect {
    /// The dialect that a document has by its shape; `None` when it looks like neither.
    pub fn of(document: &Document) -> Option<Self> {
        match &document.root().node().value {
            Value::List(_) => Some(Self::Wsdirector),
            Value::Map(entries) => entries
                .iter()
                .any(|entry| ["config", "scenarios"].contains(&entry.key.as_str()))
                .then_some(Self::Artillery),
            _ => None,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Artillery => "artillery",
            Self::Wsdirector => "wsdirector",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_tells() {
        let check = |text: &str, expected| {
            let document = Document::read("test.yml", text).unwrap();
            assert_eq!(Dialect::of(&document), expected, "{text}");
        };
        check("- receive:\n    data: hi\n", Some(Dialect::Wsdirector));
        check("[]", Some(Dialect::Wsdirector));
        check(
            "config:\n  target: ws://localhost\nscenarios: []\n",
            Some(Dialect::Artillery),
        );
        check("scenarios: []", Some(Dialect::Artillery));
        check("services: {}", None);
        check("hello", None);
        check("", None);
    }
}
