//! Tests of a shard's view.

use std::{pin::pin, time::Duration};

use plimsoll_broker::{Retention, Retentions, Truncation};
use plimsoll_cable::broadcast::Publication;
use tokio::time::timeout;

use super::*;
use crate::{Publisher, publisher::Kept};

/// A client that comes from a faster shard would be told that its position is in the future.
#[tokio::test(start_paused = true)]
async fn a_shard_catches_up_with_what_is_kept_by_now_and_no_more() {
    let settings = Settings {
        retentions: Retentions {
            default: Retention {
                limit: 10,
                ttl: Duration::from_secs(60),
            },
            by_pattern: Vec::new(),
        },
        max_bytes: usize::MAX,
        truncation: Truncation::Refuse,
    };
    let registry = Registry::default();
    let archive = Archive::new(settings, &registry);
    let kept = Kept {
        archive: Some(Arc::clone(&archive)),
        ..Kept::default()
    };
    let (publisher, _mailboxes) = Publisher::new(1, 1 << 20, kept, None, &registry);
    let view = View::new(archive);
    let publish = || publisher.publish(Publication::from_json("a", "1"));
    view.catch_up().await;
    publish().await;
    publish().await;
    let mut catching_up = pin!(view.catch_up());
    let waits = Duration::from_secs(1);
    assert!(timeout(waits, catching_up.as_mut()).await.is_err());
    publish().await;
    view.advance(1);
    assert!(timeout(waits, catching_up.as_mut()).await.is_err());
    view.advance(2);
    catching_up.await;
    assert_eq!(view.seen(), 2);
}
