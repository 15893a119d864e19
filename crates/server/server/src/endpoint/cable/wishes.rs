//! What a client asks for along with a subscription.

use plimsoll_cable::command::{HistoryRequest, Member};

/// Requests that are served once the subscription is granted.
#[derive(Debug)]
pub(crate) struct Wishes {
    /// The earlier messages.
    pub(super) history: Option<HistoryRequest>,
    /// The member that the client wants to be present as.
    pub(super) presence: Option<Member>,
}

impl Wishes {
    /// `None`: the client asks for nothing.
    pub(crate) fn of(history: Option<HistoryRequest>, presence: Option<Member>) -> Option<Box<Self>> {
        (history.is_some() || presence.is_some()).then(|| Box::new(Self { history, presence }))
    }

    /// The memory of the requests, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        let history = self.history.as_ref().map_or(0, history_bytes);
        size_of_val(self) + history + self.presence.as_ref().map_or(0, member_bytes)
    }
}

/// The memory of a request for history beside the request itself, in bytes: texts, and nodes of the table.
pub(super) fn history_bytes(request: &HistoryRequest) -> usize {
    let streams = request.streams.iter();
    streams
        .map(|(name, position)| name.len() + position.epoch.len() + 2 * size_of_val(position))
        .sum()
}

/// The memory of a member's texts, in bytes.
pub(super) fn member_bytes(member: &Member) -> usize {
    member.id.len() + member.info.as_deref().map_or(0, str::len)
}
