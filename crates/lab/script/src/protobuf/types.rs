//! Finds the types of messages that are packed into `Any`.

use std::sync::Arc;

use prost_reflect::MessageDescriptor;

use super::definitions::Definitions;

/// All definitions that a client has loaded, the first ones first.
#[derive(Clone, Copy)]
pub(crate) struct Types<'a>(pub(crate) &'a [Arc<Definitions>]);

impl Types<'_> {
    /// The type of this URL, which ends in its full name.
    pub(super) fn find(&self, url: &str) -> Option<MessageDescriptor> {
        let name = url.rsplit_once('/').map_or(url, |(_, name)| name);
        self.0.iter().find_map(|definitions| definitions.message(name))
    }
}
