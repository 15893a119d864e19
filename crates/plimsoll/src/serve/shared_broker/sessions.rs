//! The sessions of all servers, in the store that they share (docs/reference/redis-broker.md, Sessions).

use plimsoll_adapters::{Record, RecordStore};
use plimsoll_server::{Answering, SessionStore, StoredSession};

use super::store::away;

/// Sessions as records, which their clients' identifiers guard.
#[derive(Debug)]
pub(super) struct SharedSessions<S>(pub(super) S);

impl<S: RecordStore> SessionStore for SharedSessions<S> {
    fn hold(&self, sid: &str, session: StoredSession) {
        self.0.hold(sid, record(session));
    }

    fn leave(&self, sid: &str, session: StoredSession) {
        self.0.leave(sid, record(session));
    }

    fn end(&self, sid: &str) {
        self.0.remove(sid);
    }

    fn take<'a>(
        &'a self,
        sid: &'a str,
        identifiers: Option<&'a str>,
    ) -> Answering<'a, Option<StoredSession>> {
        Box::pin(async move {
            let taken = self.0.take(sid, identifiers).await.map_err(away)?;
            Ok(taken.map(|Record { guard, content }| StoredSession {
                identifiers: guard,
                record: content,
            }))
        })
    }

    fn is_taken<'a>(&'a self, sid: &'a str) -> Answering<'a, bool> {
        Box::pin(async move { self.0.is_taken(sid).await.map_err(away) })
    }
}

fn record(session: StoredSession) -> Record {
    Record {
        guard: session.identifiers,
        content: session.record,
    }
}
