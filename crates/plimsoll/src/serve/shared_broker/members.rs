//! Who is present at each server, in the store that they share (docs/reference/redis-broker.md, Presence).

use plimsoll_adapters::{MemberStore, Source};
use plimsoll_server::{Answering, PresenceStore, Present};

use super::store::away;

#[derive(Debug)]
pub(super) struct SharedMembers<S>(pub(super) S);

impl<S: MemberStore> PresenceStore for SharedMembers<S> {
    fn enter(&self, stream: &str, id: &str, info: Option<&str>) {
        self.0.enter(Source::Stream(stream), id, info);
    }

    fn exit(&self, stream: &str, id: &str) {
        self.0.exit(Source::Stream(stream), id);
    }

    fn members<'a>(&'a self, stream: &'a str) -> Answering<'a, Vec<Present>> {
        Box::pin(async move {
            let members = self.0.members(Source::Stream(stream)).await.map_err(away)?;
            let members = members.listing.members.into_iter();
            let owned = members.map(|(id, info)| ((*id).into(), info.map(|info| (*info).into())));
            Ok(owned.collect())
        })
    }
}
