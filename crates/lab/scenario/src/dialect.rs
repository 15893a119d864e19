//! Whose file a document is.

use std::fmt;

use crate::document::{Document, Value};

/// The tools whose files can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Artillery: a map with `config` and `scenarios`.
    Artillery,
    /// wsdirector: a list of steps or of clients.
    Wsdirector,
}

impl Dialect {
    /// The dialect of a file that may be no document yet: wsdirector's files are templates, and any may have mistakes.
    pub fn of_text(text: &str) -> Option<Self> {
        if let Ok(document) = Document::read("", text) {
            return Self::of(&document);
        }
        let mut lines = text.lines().map(str::trim_start);
        let first = lines.find(|line| {
            !(line.is_empty() || line.starts_with('#') || line.starts_with("<%#") || *line == "---")
        })?;
        if first.starts_with(['-', '[']) {
            Some(Self::Wsdirector)
        } else {
            Some(Self::Artillery)
        }
    }

    /// The dialect of a document, by its shape. `None` if it fits no dialect.
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

    #[test]
    fn a_broken_file_is_known_by_its_beginning() {
        let check = |text: &str, expected| assert_eq!(Dialect::of_text(text), expected, "{text}");
        check("- send: {}\n", Some(Dialect::Wsdirector));
        check(
            "# clients\n---\n- client:\n  name: \"<%= ENV[\"X\"] %>\"\n",
            Some(Dialect::Wsdirector),
        );
        check("[{\"send\": }", Some(Dialect::Wsdirector));
        check("config:\n  target: [\n", Some(Dialect::Artillery));
        check("services: {}\n", None);
    }
}
