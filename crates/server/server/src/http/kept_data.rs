//! The data of a message that is kept, inside a JSON document.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::mailbox::Kept;

/// JSON, byte for byte. A backend may have published another text, which becomes a string.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Data<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

/// The type and the data of a message. `None` for bytes, which the history does not have.
pub(super) fn of(kept: &Kept) -> Option<(Option<&str>, Data<'_>)> {
    let (kind, text) = kept.value.json()?;
    Some((
        kind,
        serde_json::from_str(text).map_or(Data::Text(text), Data::Json),
    ))
}
