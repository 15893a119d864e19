//! What a session needs so that another connection can go on with it.

use std::{fmt, rc::Rc, sync::Arc};

use plimsoll_hub::SessionId;

use crate::{awaited::Awaited, shard::Shard};

/// The place of a session that can be resumed, and where its record goes.
pub(super) struct Resumable {
    pub(super) shard: Rc<Shard>,
    pub(super) awaited: Arc<Awaited>,
    pub(super) id: SessionId,
    /// Whether the session has changed since the store of all servers was told about it.
    pub(super) is_changed: bool,
}

impl fmt::Debug for Resumable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resumable")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
