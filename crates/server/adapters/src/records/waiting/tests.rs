//! The changes that wait for the store, in virtual time. Tests with a real Redis are in `broker/tests.rs`.

use super::*;

const TTL: Duration = Duration::from_secs(300);

fn record(content: &str) -> Record {
    Record {
        guard: "kay".into(),
        content: content.into(),
    }
}

/// The due changes in words.
fn due(waiting: &mut Waiting) -> String {
    let (batch, _) = waiting.take_due(Instant::now());
    let words = batch.iter().map(|(key, change)| match change {
        Change::Hold(record) => format!("hold {key} {}", String::from_utf8_lossy(&record.content)),
        Change::Leave(record) => format!("leave {key} {}", String::from_utf8_lossy(&record.content)),
        Change::Remove => format!("remove {key}"),
        Change::Touch => format!("touch {key}"),
    });
    let words: Vec<_> = words.collect();
    for (key, change) in batch {
        waiting.confirm(key, &change, Outcome::Made, TTL);
    }
    words.join(", ")
}

#[tokio::test(start_paused = true)]
async fn the_latest_change_of_a_record_counts() {
    let mut waiting = Waiting::default();
    assert!(waiting.add("a".into(), Change::Hold(record("0"))));
    assert_eq!(due(&mut waiting), "hold a 0");
    for content in ["1", "2", "3"] {
        assert!(waiting.add("a".into(), Change::Hold(record(content))));
    }
    assert_eq!(due(&mut waiting), "", "changes of a record that is held may wait");
    tokio::time::advance(HOLD_DELAY).await;
    assert_eq!(due(&mut waiting), "hold a 3");
    assert!(waiting.add("a".into(), Change::Hold(record("4"))));
    assert!(waiting.add("a".into(), Change::Leave(record("5"))));
    assert!(waiting.add("b".into(), Change::Remove));
    assert_eq!(due(&mut waiting), "leave a 5, remove b");
    tokio::time::advance(10 * TTL).await;
    assert_eq!(due(&mut waiting), "");
    assert_eq!(
        (waiting.n_bytes, waiting.held.len(), waiting.to_touch.len()),
        (0, 0, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_held_is_renewed_until_it_is_left() {
    let mut waiting = Waiting::default();
    waiting.add("a".into(), Change::Hold(record("1")));
    assert_eq!(due(&mut waiting), "hold a 1");
    waiting.add("a".into(), Change::Hold(record("2")));
    tokio::time::advance(TTL / 2).await;
    assert_eq!(due(&mut waiting), "hold a 2, touch a");
    tokio::time::advance(TTL / 2).await;
    assert_eq!(due(&mut waiting), "touch a");
    waiting.add("a".into(), Change::Leave(record("3")));
    assert_eq!(due(&mut waiting), "leave a 3");
    tokio::time::advance(TTL).await;
    assert_eq!(due(&mut waiting), "");
}

#[tokio::test(start_paused = true)]
async fn a_change_that_failed_is_repeated_unless_there_is_a_later_one() {
    let mut waiting = Waiting::default();
    for key in ["a", "b"] {
        waiting.add(key.into(), Change::Hold(record("1")));
    }
    let (batch, _) = waiting.take_due(Instant::now());
    waiting.add("b".into(), Change::Leave(record("2")));
    for (key, change) in batch {
        waiting.put_back(key, change);
    }
    assert_eq!(due(&mut waiting), "leave b 2, hold a 1");
    assert_eq!(due(&mut waiting), "");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_sends_everything_at_once() {
    let mut waiting = Waiting::default();
    for content in ["1", "2"] {
        waiting.add("a".into(), Change::Hold(record(content)));
        due(&mut waiting);
    }
    waiting.hurry();
    waiting.add("b".into(), Change::Hold(record("3")));
    assert_eq!(due(&mut waiting), "hold a 2, hold b 3");
    waiting.add("b".into(), Change::Hold(record("4")));
    assert_eq!(due(&mut waiting), "hold b 4");
}

#[tokio::test(start_paused = true)]
async fn a_record_that_another_server_has_taken_is_held_no_longer() {
    let mut waiting = Waiting::default();
    waiting.add("a".into(), Change::Hold(record("1")));
    waiting.hurry();
    let (batch, _) = waiting.take_due(Instant::now());
    let (key, change) = batch.into_iter().next().expect("it is due");
    assert!(waiting.confirm(Arc::clone(&key), &change, Outcome::NotOurs, TTL));
    assert!(
        !waiting.confirm(key, &change, Outcome::NotOurs, TTL),
        "it is known"
    );
    tokio::time::advance(TTL).await;
    assert_eq!(due(&mut waiting), "");
}

#[tokio::test(start_paused = true)]
async fn the_memory_of_waiting_changes_is_limited() {
    let mut waiting = Waiting::default();
    let large = "x".repeat(1 << 20);
    let n_added = (0..100)
        .filter(|n| waiting.add(n.to_string().into(), Change::Leave(record(&large))))
        .count();
    assert_eq!(n_added, 63);
    assert!(waiting.n_bytes <= MAX_WAITING_BYTES);
    assert!(
        waiting.add("0".into(), Change::Remove),
        "it replaces a larger one"
    );
}
