//! The seam between this server and a store in which the servers of a cluster say who is present at each of them
//! (docs/protocols/extended.md, Presence).
//!
//! A member is present as long as one server has it. The store announces what that changes for clients, to this server,
//! too, through [`Publisher`](crate::Publisher); only then are the clients told.

use std::{fmt::Debug, sync::Arc};

use plimsoll_broker::presence::{Announcement, Change, Event, Listing};

use crate::session_store::Answering;

/// A member's id and its info, which is JSON text.
pub type Present = (Box<str>, Option<Box<str>>);

/// Says which members this server has. Its calls come from all shards; those that return nothing must not block.
pub trait PresenceStore: Debug + Send + Sync {
    /// This server has a member from now on, with this info.
    fn enter(&self, stream: &str, id: &str, info: Option<&str>);

    /// This server does not have a member any more.
    fn exit(&self, stream: &str, id: &str);

    /// The members of a stream at all servers.
    fn members<'a>(&'a self, stream: &'a str) -> Answering<'a, Vec<Present>>;
}

/// What follows from something that the store says.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Whether the members have to be read: something is missing.
    pub(crate) is_incomplete: bool,
    /// What clients are to be told.
    pub(crate) events: Vec<Event>,
}

/// Takes what the store says. The calls for one stream come one after the other.
pub(crate) trait Membership: Debug + Send + Sync {
    /// A change of a member.
    fn hear(&self, stream: &str, announcement: Announcement) -> Told;

    /// All members of a stream, `ours` those that the store has of this server.
    fn take(&self, stream: &str, listing: Listing, ours: &[Arc<str>]) -> Told;

    /// Changes of a stream's members may be missing from now on.
    fn await_listing(&self, stream: &str);

    /// A stream is not heard any more.
    fn forget(&self, stream: &str);

    /// Whether the members up to the change with this number are known, or awaited.
    fn is_at(&self, stream: &str, number: u64) -> bool;

    /// This server has made a change that the store announces.
    fn made(&self, stream: &str, id: Arc<str>, change: Change);
}
