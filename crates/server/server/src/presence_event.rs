//! The message that tells clients what has happened to a member (docs/protocols/extended.md, Presence).

use plimsoll_broker::presence::{Change, Event, MAX_ID_BYTES, MAX_INFO_BYTES};
use plimsoll_cable::presence;

use crate::mailbox::Payload;

/// The longest message about an event, in bytes, without quotes in the id.
pub(crate) const MAX_BYTES: usize = MAX_ID_BYTES + MAX_INFO_BYTES + 64;

pub(crate) fn payload(Event { id, change, .. }: &Event) -> Payload {
    let text = match change {
        Change::Joined(info) => presence::joined(id, info.as_deref()),
        Change::Updated(info) => presence::updated(id, info.as_deref()),
        Change::Left => presence::left(id),
    };
    Payload::Typed {
        kind: presence::MESSAGE_TYPE.into(),
        text,
    }
}
