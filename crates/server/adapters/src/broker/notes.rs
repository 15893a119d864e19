//! The news of a broker as words, for its tests with a real server.

use std::time::Duration;

use tokio::sync::mpsc;

use super::{Limits, Listener, News, Source};

pub(crate) const LIMITS: Limits = Limits {
    limit: 50,
    ttl: Duration::from_secs(300),
};

/// Writes down the news as words.
pub(crate) struct Notes(pub(crate) mpsc::UnboundedSender<String>);

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
        let words = match source {
            Source::Stream(stream) => format!("{stream}: {words}"),
            Source::Control => format!("control: {words}"),
        };
        drop(self.0.send(words));
    }

    fn limits(&self, _source: Source<'_>) -> Limits {
        LIMITS
    }

    async fn release(&self, key: &str) {
        drop(self.0.send(format!("release {key}")));
    }
}
