//! What every store does with records, for its tests with a real server. `a` and `b` are two servers that share it.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::{sync::mpsc, time::timeout};

use super::{Attempt, Record, RecordStore};

const PATIENCE: Duration = Duration::from_secs(60);

fn session(content: &str) -> Record {
    Record {
        guard: "kay".into(),
        content: content.into(),
    }
}

async fn take<S: RecordStore>(store: &S, key: &str, guard: Option<&str>) -> Option<Record> {
    store.take(key, guard).await.ok().expect("the store is there")
}

/// Waits for the note that another server wants a record, or has it.
async fn released(news: &mut mpsc::UnboundedReceiver<String>, key: &str) {
    let note = timeout(PATIENCE, news.recv()).await.expect("it comes");
    assert_eq!(note, Some(format!("release {key}")));
}

pub(crate) async fn a_record_that_was_left_is_taken_once(a: &impl RecordStore, b: &impl RecordStore) {
    a.leave("k", session("1"));
    a.confirm_records().await;
    assert_eq!(take(b, "k", Some("another")).await, None);
    let taken = tokio::join!(take(a, "k", None), take(b, "k", Some("kay")), take(b, "k", None));
    let taken: Vec<_> = [taken.0, taken.1, taken.2].into_iter().flatten().collect();
    assert_eq!(taken, [session("1")]);
    assert_eq!(a.is_taken("k").await.ok(), Some(true));
    for key in ["other", "", "no key", &"k".repeat(65)] {
        assert_eq!(take(b, key, None).await, None, "{key}");
    }
    a.leave("gone", session("2"));
    a.remove("gone");
    a.confirm_records().await;
    assert_eq!(take(b, "gone", None).await, None);
}

pub(crate) async fn a_record_that_many_ask_for_is_taken_once(a: &impl RecordStore, b: &impl RecordStore) {
    for round in 0..20 {
        let key = &format!("k{round}");
        a.leave(key, session("1"));
        a.confirm_records().await;
        let (of_a, of_b) = tokio::join!(
            join_all((0..20).map(|_| take(a, key, None))),
            join_all((0..20).map(|_| take(b, key, None)))
        );
        let taken: Vec<_> = of_a.into_iter().chain(of_b).flatten().collect();
        assert_eq!(taken, [session("1")], "{key}");
    }
}

pub(crate) async fn a_record_lives_as_its_server_says(a: &impl RecordStore, b: &impl RecordStore) {
    for content in ["1", "2"] {
        a.hold("k", session(content));
        a.confirm_records().await;
    }
    a.remove("k");
    a.confirm_records().await;
    assert_eq!(take(b, "k", None).await, None);
    assert_eq!(b.is_taken("k").await.ok(), Some(false));
    a.hold("k", session("3"));
    a.leave("k", session("4"));
    a.confirm_records().await;
    assert_eq!(take(b, "k", None).await, Some(session("4")));
    // What was taken goes on under another key.
    b.hold("l", session("5"));
    b.leave("l", session("6"));
    b.confirm_records().await;
    assert_eq!(take(a, "l", None).await, Some(session("6")));
}

pub(crate) async fn a_server_is_asked_to_leave_a_record_that_it_holds(
    a: &impl RecordStore,
    news: &mut mpsc::UnboundedReceiver<String>,
    b: &impl RecordStore,
) {
    a.hold("k", session("1"));
    a.confirm_records().await;
    let (taken, ()) = tokio::join!(take(b, "k", None), async {
        released(news, "k").await;
        a.leave("k", session("2"));
    });
    assert_eq!(taken, Some(session("2")));
}

/// `kill` ends the server `a`.
pub(crate) async fn a_record_of_a_server_that_is_gone_is_taken(
    a: impl RecordStore,
    kill: impl FnOnce(),
    b: &impl RecordStore,
) {
    a.hold("k", session("1"));
    a.confirm_records().await;
    kill();
    assert_eq!(take(b, "k", None).await, Some(session("1")));
}

/// `name` is that of the server `a`.
pub(crate) async fn a_server_that_seemed_gone_learns_that_its_record_was_taken(
    (a, name): (&impl RecordStore, &str),
    news: &mut mpsc::UnboundedReceiver<String>,
    b: &impl RecordStore,
) {
    a.hold("k", session("1"));
    a.confirm_records().await;
    let attempt = b.attempt("k", None, Some(name)).await.ok();
    assert!(matches!(attempt, Some(Attempt::Taken { .. })), "{attempt:?}");
    a.hold("k", session("2"));
    a.confirm_records().await;
    released(news, "k").await;
    assert_eq!(take(b, "k", None).await, None);
}

/// `later` completes when what begins then is behind what was revoked before.
pub(crate) async fn records_of_a_guard_are_revoked_and_later_ones_are_not(
    a: &impl RecordStore,
    b: &impl RecordStore,
    later: impl Future<Output = ()>,
) {
    a.leave("k", session("1"));
    a.confirm_records().await;
    for guard in ["kay", "someone"] {
        assert!(b.revoke(guard).await.is_ok());
    }
    assert_eq!(take(b, "k", None).await, None);
    later.await;
    a.leave("l", session("2"));
    a.confirm_records().await;
    assert_eq!(take(b, "l", None).await, Some(session("2")));
}
