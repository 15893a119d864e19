//! Who is present at each server, in Redis (docs/reference/redis-broker.md, Presence).

use plimsoll_adapters::{Broker, Source};
use plimsoll_server::{Answering, PresenceStore, Present};

use super::store::of_redis;

#[derive(Debug)]
pub(super) struct RedisMembers(pub(super) Broker);

impl PresenceStore for RedisMembers {
    fn enter(&self, stream: &str, id: &str, info: Option<&str>) {
        self.0.enter(Source::Stream(stream), id, info);
    }

    fn exit(&self, stream: &str, id: &str) {
        self.0.exit(Source::Stream(stream), id);
    }

    fn members<'a>(&'a self, stream: &'a str) -> Answering<'a, Vec<Present>> {
        Box::pin(async move {
            let members = self.0.members(Source::Stream(stream)).await;
            let members = members.map_err(|error| of_redis(&error))?.listing.members;
            let owned = members
                .into_iter()
                .map(|(id, info)| ((*id).into(), info.map(|info| (*info).into())));
            Ok(owned.collect())
        })
    }
}
