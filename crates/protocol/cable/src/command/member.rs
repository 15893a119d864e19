//! Who a client wants to be present as (docs/protocols/extended.md, Presence).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// An id that is present on a stream, and what the others are told about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The id, chosen by the client or the application. Several sessions may share it.
    pub id: Box<str>,
    /// JSON text about the member, never parsed. `None`: there is none, or it is `null`.
    pub info: Option<Box<str>>,
}

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    info: Option<&'a RawValue>,
}

impl Member {
    /// Reads the object `presence` of a command. `None` if it is not an object with the string `id`.
    pub(super) fn parse(json: &str) -> Option<Self> {
        if !json.starts_with('{') {
            // serde would accept a list of the fields in their order.
            return None;
        }
        let Text { id, info } = serde_json::from_str(json).ok()?;
        Some(Self {
            id: id.into(),
            info: info.and_then(|info| Self::info(info.get())),
        })
    }

    /// The info that a JSON text stands for: `null` is none.
    fn info(json: &str) -> Option<Box<str>> {
        (json != "null").then(|| json.into())
    }

    /// A member whose info an application has written as JSON in a string. An empty string stands for no info.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn with_info_text(id: &str, info: &str) -> Result<Self, serde_json::Error> {
        let info = info.trim();
        if info.is_empty() {
            return Ok(Self {
                id: id.into(),
                info: None,
            });
        }
        let info: &RawValue = serde_json::from_str(info)?;
        Ok(Self {
            id: id.into(),
            info: Self::info(info.get()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_applications_info_is_json_text_or_nothing() {
        for (text, expected) in [
            ("", Some(None)),
            (" ", Some(None)),
            ("null", Some(None)),
            (r#" {"b":1, "a":2} "#, Some(Some(r#"{"b":1, "a":2}"#))),
            ("\"Kay\"", Some(Some("\"Kay\""))),
            ("Kay", None),
            ("{}{}", None),
        ] {
            let info = Member::with_info_text("7", text).ok().map(|member| member.info);
            assert_eq!(info.as_ref().map(Option::as_deref), expected, "{text}");
        }
    }
}
