//! The news of a broker as words, for its tests with a real server.

use std::{sync::Arc, time::Duration};

use plimsoll_broker::presence::Change;
use tokio::sync::mpsc;

use super::{Limits, Listener, MemberAnnouncement, News, Source};
use crate::members::Members;

pub(crate) const LIMITS: Limits = Limits {
    limit: 50,
    ttl: Duration::from_secs(300),
};

/// Writes down the news as words.
pub(crate) struct Notes(pub(crate) mpsc::UnboundedSender<String>);

impl Notes {
    fn note(&self, source: Source<'_>, words: &str) {
        let words = match source {
            Source::Stream(stream) => format!("{stream}: {words}"),
            Source::Control => format!("control: {words}"),
        };
        drop(self.0.send(words));
    }
}

impl Listener for Notes {
    async fn take(&self, source: Source<'_>, news: News<'_>) {
        let text = |payload: Vec<u8>| String::from_utf8(payload).expect("the tests publish text");
        let words = match news {
            News::Begin { offset, .. } => format!("begin {offset}"),
            News::Message {
                offset,
                payload,
                is_new,
                ..
            } => format!(
                "{} {offset} {}",
                if is_new { "new" } else { "old" },
                text(payload)
            ),
            News::Passing(payload) => format!("passing {}", text(payload)),
            News::Lost => "lost".to_owned(),
            News::Heard => "heard".to_owned(),
        };
        self.note(source, &words);
    }

    fn limits(&self, _source: Source<'_>) -> Limits {
        LIMITS
    }

    async fn release(&self, key: &str) {
        drop(self.0.send(format!("release {key}")));
    }

    async fn hear_member(&self, source: Source<'_>, announcement: MemberAnnouncement) -> bool {
        self.note(source, &format!("member {announcement:?}"));
        false
    }

    async fn take_members(&self, source: Source<'_>, members: Members) -> bool {
        self.note(source, &format!("members {members:?}"));
        false
    }

    fn await_members(&self, _source: Source<'_>) {}

    fn forget_members(&self, _source: Source<'_>) {}

    fn is_at(&self, _source: Source<'_>, _number: u64) -> bool {
        true
    }

    async fn made(&self, source: Source<'_>, id: Arc<str>, change: Change) {
        self.note(source, &format!("made {id} {change:?}"));
    }
}
