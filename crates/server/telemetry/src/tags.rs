//! Labels on every metric of a process: `--metrics_tags`.

use std::str::FromStr;

/// Names and values, in the given order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags(Vec<(String, String)>);

/// A list of tags that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// A part has no colon.
    #[error("tag {0:?} has no value; expected something like env:production,region:eu")]
    NoValue(String),
    /// A name that Prometheus does not allow as a label.
    #[error(
        "{0:?} is not a valid tag name; expected letters, digits and _, not beginning with a digit or __, and not \
         le, as in env:production,region:eu"
    )]
    BadName(String),
    /// A name that occurs twice.
    #[error("tag {0:?} is a duplicate; expected something like env:production,region:eu")]
    Repeated(String),
}

impl Tags {
    /// The tags as pairs of name and value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Parses `name:value,name:value`. A value ends at the next comma and may have colons.
impl FromStr for Tags {
    type Err = TagError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut tags = Vec::<(String, String)>::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part
                .split_once(':')
                .ok_or_else(|| TagError::NoValue(part.to_owned()))?;
            if !is_label_name(name) {
                return Err(TagError::BadName(name.to_owned()));
            }
            if tags.iter().any(|(known, _)| known == name) {
                return Err(TagError::Repeated(name.to_owned()));
            }
            tags.push((name.to_owned(), value.to_owned()));
        }
        Ok(Self(tags))
    }
}

/// Whether a name is a valid label. Prometheus' rule: letters, digits and `_`, no digit first. `__` at the front is
/// reserved, and `le` marks the buckets of a histogram.
fn is_label_name(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    starts_well && is_word && !name.starts_with("__") && name != "le"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[(&str, &str)], &str>) {
        let parsed = text.parse::<Tags>();
        let found = parsed
            .as_ref()
            .map(|tags| tags.iter().collect::<Vec<_>>())
            .map_err(ToString::to_string);
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(found), Err(expected)) => assert!(found.starts_with(expected), "{text}: {found}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn tags_are_pairs_with_commas() {
        check("", Ok(&[]));
        check("env:prod", Ok(&[("env", "prod")]));
        check(
            "env:prod, url:http://x ,",
            Ok(&[("env", "prod"), ("url", "http://x")]),
        );
        check("env:", Ok(&[("env", "")]));
        check("_a1_B:c", Ok(&[("_a1_B", "c")]));
        check(":c", Err("\"\" is not a valid tag name"));
        check(
            "env",
            Err("tag \"env\" has no value; expected something like env:production"),
        );
        check("a-b:c", Err("\"a-b\" is not a valid tag name"));
        check("1a:c", Err("\"1a\" is not"));
        check("__a:c", Err("\"__a\" is not"));
        check("le:1", Err("\"le\" is not"));
        check("a:1,a:2", Err("tag \"a\" is a duplicate"));
    }
}
