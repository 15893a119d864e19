//! Tests of the logs' rules; `interleavings` has those over several readers.

use std::time::Duration;

use super::*;
use crate::Retention;

mod interleavings;

const SECOND: u64 = 1000;

/// A history whose epochs are `e1`, `e2` and so on. Its limits are those of each stream.
fn history(limit: usize, ttl_secs: u64, max_bytes: usize, truncation: Truncation) -> History<u32> {
    let retention = Retention {
        limit,
        ttl: Duration::from_secs(ttl_secs),
    };
    let settings = Settings {
        retentions: Retentions {
            default: retention,
            by_pattern: vec![(
                "few/*".parse().expect("a pattern"),
                Retention {
                    limit: 1,
                    ..retention
                },
            )],
        },
        max_bytes,
        truncation,
    };
    let mut n_epochs = 0;
    History::new(settings, move || {
        n_epochs += 1;
        format!("e{n_epochs}").into()
    })
}

/// A history with the messages 1 to `n` of stream `s`, a second apart from second 101 on.
fn filled(limit: usize, ttl_secs: u64, n: u32) -> History<u32> {
    let mut history = history(limit, ttl_secs, usize::MAX, Truncation::Refuse);
    for number in 1..=n {
        history.append("s", number, 10, (100 + u64::from(number)) * SECOND);
    }
    history
}

fn after(epoch: &str, offset: u64) -> Start<'_> {
    Start::After { epoch, offset }
}

/// The messages of a replay.
fn replay(
    history: &History<u32>,
    stream: &str,
    start: Start<'_>,
    up_to: u64,
    now_secs: u64,
) -> Result<Vec<u32>, Refused> {
    let mut cursor = history.begin(stream, start, up_to, now_secs * SECOND)?;
    let (mut room, mut found) = (usize::MAX, Vec::new());
    assert!(history.read(&mut cursor, up_to, &mut room, &mut found)?);
    Ok(found.iter().map(|entry| entry.value).collect())
}

#[track_caller]
fn check(history: &History<u32>, start: Start<'_>, now_secs: u64, expected: Result<&[u32], Refused>) {
    let found = replay(history, "s", start, u64::MAX, now_secs);
    assert_eq!(found.as_deref(), expected.as_deref(), "{start:?}");
}

#[test]
fn a_position_gets_everything_behind_it_or_a_refusal() {
    let history = filled(3, 300, 5);
    check(&history, after("e1", 5), 106, Ok(&[]));
    check(&history, after("e1", 4), 106, Ok(&[5]));
    check(&history, after("e1", 2), 106, Ok(&[3, 4, 5]));
    check(&history, after("e1", 1), 106, Err(Refused::Gone));
    check(&history, after("e1", 0), 106, Err(Refused::Gone));
    check(&history, after("e1", 6), 106, Err(Refused::Ahead));
    check(&history, after("e1", u64::MAX), 106, Err(Refused::Ahead));
    check(&history, after("e2", 5), 106, Err(Refused::OtherEpoch));
    check(&history, after("", 5), 106, Err(Refused::OtherEpoch));
    assert_eq!(
        replay(&history, "other", after("e1", 0), u64::MAX, 106),
        Err(Refused::NoLog)
    );
}

#[test]
fn messages_that_are_too_old_are_gone_before_any_sweep() {
    let history = filled(100, 10, 5);
    // At 113 messages 1 and 2 are older than ten seconds.
    check(&history, after("e1", 2), 113, Ok(&[3, 4, 5]));
    check(&history, after("e1", 1), 113, Err(Refused::Gone));
    check(&history, Start::Since(103), 113, Ok(&[3, 4, 5]));
    check(&history, Start::Since(102), 113, Err(Refused::Gone));
    // At 1000 all are, and who has heard the last one has lost nothing.
    check(&history, after("e1", 5), 1000, Ok(&[]));
    check(&history, after("e1", 4), 1000, Err(Refused::Gone));
}

#[test]
fn a_time_gets_all_messages_since_or_a_refusal() {
    let history = filled(3, 300, 5);
    check(&history, Start::Since(106), 106, Ok(&[]));
    check(&history, Start::Since(105), 106, Ok(&[5]));
    check(&history, Start::Since(103), 106, Ok(&[3, 4, 5]));
    check(&history, Start::Since(102), 106, Err(Refused::Gone));
    check(&history, Start::Since(0), 106, Err(Refused::Gone));
    check(&history, Start::Since(u64::MAX), 106, Ok(&[]));
    assert_eq!(
        replay(&history, "other", Start::Since(0), u64::MAX, 106),
        Ok(vec![])
    );
}

#[test]
fn a_truncated_replay_can_be_confirmed() {
    let mut history = history(2, 300, usize::MAX, Truncation::Confirm);
    for number in 1..=5 {
        history.append("s", number, 10, 100 * SECOND);
    }
    check(&history, Start::Since(0), 100, Ok(&[4, 5]));
    check(&history, after("e1", 1), 100, Err(Refused::Gone));
}

#[test]
fn a_reader_that_is_behind_gets_what_it_has_seen() {
    let history = filled(3, 300, 5);
    let at = |start, up_to| replay(&history, "s", start, up_to, 106);
    assert_eq!(at(after("e1", 3), 4), Ok(vec![4]));
    assert_eq!(at(after("e1", 4), 4), Ok(vec![]));
    assert_eq!(at(after("e1", 5), 4), Err(Refused::Ahead));
    assert_eq!(at(Start::Since(105), 4), Ok(vec![]));
    assert_eq!(at(Start::Since(103), 4), Ok(vec![3, 4]));
    // It has not seen any of the kept ones.
    assert_eq!(at(after("e1", 2), 1), Ok(vec![]));
}

#[test]
fn a_stream_has_a_retention_of_its_own() {
    let mut history = filled(3, 300, 0);
    for number in 1..=3 {
        history.append("few/1", number, 10, 100 * SECOND);
        history.append("s", number, 10, 100 * SECOND);
    }
    assert_eq!(history.totals().n_entries, 4);
    assert_eq!(
        replay(&history, "few/1", after("e1", 2), u64::MAX, 100),
        Ok(vec![3])
    );
    check(&history, after("e2", 0), 100, Ok(&[1, 2, 3]));
}

#[test]
fn nothing_is_kept_with_a_limit_of_0_and_positions_count() {
    let history = filled(0, 300, 2);
    check(&history, after("e1", 2), 106, Ok(&[]));
    check(&history, after("e1", 1), 106, Err(Refused::Gone));
}

#[test]
fn a_sweep_frees_old_messages_and_later_their_logs() {
    let mut history = history(100, 10, usize::MAX, Truncation::Refuse);
    for number in 0..10_u32 {
        history.append(&format!("s{number}"), number, 10, 100 * SECOND);
    }
    let full = history.totals();
    for _ in 0..4 {
        history.sweep(3, 110 * SECOND);
    }
    assert_eq!(history.totals(), full, "not older than ten seconds");
    for _ in 0..4 {
        history.sweep(3, 111 * SECOND);
    }
    let swept = history.totals();
    assert_eq!((swept.n_logs, swept.n_entries, swept.n_evicted), (10, 0, 10));
    for _ in 0..4 {
        history.sweep(3, 201 * SECOND);
    }
    let forgotten = Totals {
        n_evicted: 10,
        ..Totals::default()
    };
    assert_eq!(history.totals(), forgotten);
    assert!(history.by_silence.is_empty());
}

/// The mistake would be to take a position of the first log for one of the second.
#[test]
fn a_log_that_is_made_again_has_another_epoch() {
    let mut history = filled(100, 10, 5);
    history.sweep(10, 500 * SECOND);
    for number in 1..=8 {
        history.append("s", number, 10, 501 * SECOND);
    }
    check(&history, after("e1", 5), 502, Err(Refused::OtherEpoch));
    check(&history, after("e2", 5), 502, Ok(&[6, 7, 8]));
    // The messages of the first log belong to the answer, too.
    check(&history, Start::Since(105), 502, Err(Refused::Gone));
    check(&history, Start::Since(106), 502, Ok(&[1, 2, 3, 4, 5, 6, 7, 8]));
}

#[test]
fn the_streams_that_were_silent_for_longest_make_room() {
    let max_bytes = 10_000;
    let mut history = history(100, 300, max_bytes, Truncation::Refuse);
    let mut n_appended = 0;
    for round in 0..50_u32 {
        for stream in ["a", "b", "c"] {
            if stream == "a" && round > 10 {
                continue;
            }
            history.append(stream, round, 200, 100 * SECOND);
            n_appended += 1;
            assert!(history.totals().n_bytes <= max_bytes);
        }
    }
    assert_eq!(
        replay(&history, "a", Start::Since(100), u64::MAX, 100),
        Err(Refused::Gone)
    );
    assert_eq!(
        replay(&history, "b", Start::Since(101), u64::MAX, 100),
        Ok(vec![])
    );
    let Totals {
        n_logs,
        n_entries,
        n_evicted,
        ..
    } = history.totals();
    assert_eq!((n_logs, n_entries as u64 + n_evicted), (2, n_appended));
}

#[test]
fn a_message_larger_than_all_room_leaves_nothing_behind() {
    let mut history = history(100, 300, 1000, Truncation::Refuse);
    history.append("a", 1, 10, 100 * SECOND);
    let entry = history.append("b", 2, 5000, 100 * SECOND);
    assert_eq!((entry.offset, &*entry.label.epoch), (1, "e2"));
    assert_eq!(entry.value_bytes(), 5000);
    assert_eq!(
        history.totals(),
        Totals {
            n_evicted: 2,
            ..Totals::default()
        }
    );
}

#[test]
fn a_clock_that_goes_back_does_not_disturb_the_order() {
    let mut history = filled(100, 300, 3);
    let entry = history.append("s", 4, 10, 50 * SECOND);
    assert_eq!(entry.at_ms, 103 * SECOND);
    check(&history, Start::Since(103), 104, Ok(&[3, 4]));
}

#[test]
fn a_replay_comes_in_portions_and_notices_what_is_lost_between_them() {
    let mut history = filled(3, 300, 3);
    let mut cursor = history
        .begin("s", after("e1", 0), 3, 104 * SECOND)
        .expect("all are kept");
    let mut found = Vec::new();
    let mut read = |history: &History<u32>, cursor: &mut Cursor, up_to| {
        let mut room = 1;
        found.clear();
        let result = history.read(cursor, up_to, &mut room, &mut found);
        (result, found.iter().map(|entry| entry.value).collect::<Vec<_>>())
    };
    assert_eq!(read(&history, &mut cursor, 3), (Ok(false), vec![1]));
    history.append("s", 4, 10, 104 * SECOND);
    assert_eq!(read(&history, &mut cursor, 4), (Ok(false), vec![2]));
    history.append("s", 5, 10, 104 * SECOND);
    history.append("s", 6, 10, 104 * SECOND);
    assert_eq!(read(&history, &mut cursor, 6), (Err(Refused::Gone), vec![]));
}

#[test]
fn logs_in_figures() {
    let mut history = filled(100, 60, 3);
    history.append("small", 1, 10, 150 * SECOND);
    history.append("other", 1, 1000, 160 * SECOND);
    assert!(history.outline("t", 160 * SECOND).is_none());
    // Message 1 of second 101 is too old, and no sweep has come by.
    let now_ms = 161_500;
    let outline = history.outline("s", now_ms).expect("it has a log");
    assert_eq!(
        (outline.top, outline.n_entries, outline.last_at_ms),
        (3, 2, 103_000)
    );
    let all = after(&outline.label.epoch, outline.before_oldest());
    let up_to = history.last_serial();
    assert_eq!(replay(&history, "s", all, up_to, 161), Ok(vec![2, 3]));
    let names = |n, prefix: &str| -> Vec<_> {
        let largest = history.largest(n, prefix, now_ms);
        largest.iter().map(|it| it.label.stream.to_string()).collect()
    };
    assert_eq!(names(9, ""), ["other", "s", "small"]);
    assert_eq!(names(1, ""), ["other"]);
    assert_eq!(names(9, "s"), ["s", "small"]);
    assert!(names(0, "").is_empty());
    let sum: usize = history.largest(9, "", now_ms).iter().map(|it| it.n_bytes).sum();
    assert_eq!(sum, history.totals().n_bytes);
    history.sweep(10, now_ms);
    let sum: usize = history.largest(9, "", now_ms).iter().map(|it| it.n_bytes).sum();
    assert_eq!(sum, history.totals().n_bytes);
}

fn place(epoch: &str, offset: u64, at_secs: u64) -> Place<'_> {
    Place {
        epoch,
        offset,
        at_ms: at_secs * SECOND,
    }
}

#[test]
fn messages_with_a_place_continue_their_log_or_begin_it_anew() {
    let mut history = history(100, 600, usize::MAX, Truncation::Refuse);
    let now_ms = 110 * SECOND;
    let begun = history.begin_at("s", place("x", 5, 100), now_ms);
    assert_eq!(begun, 1, "readers see it like a message");
    for number in 6..=8 {
        let at = place("x", number, 100 + number);
        let entry = history.append_at("s", at, u32::try_from(number).expect("small"), 10, now_ms);
        assert_eq!((entry.offset, entry.at_ms), (number, (100 + number) * SECOND));
    }
    let check = |history: &History<u32>, start, expected: Result<Vec<u32>, Refused>| {
        let up_to = history.last_serial();
        assert_eq!(replay(history, "s", start, up_to, 110), expected, "{start:?}");
    };
    for (start, expected) in [
        (after("x", 5), Ok(vec![6, 7, 8])),
        (after("x", 8), Ok(vec![])),
        (after("x", 4), Err(Refused::Gone)),
        (after("y", 5), Err(Refused::OtherEpoch)),
        (Start::Since(107), Ok(vec![7, 8])),
        (Start::Since(101), Ok(vec![6, 7, 8])),
        (Start::Since(100), Err(Refused::Gone)),
        (Start::Unseen(begun), Ok(vec![6, 7, 8])),
    ] {
        check(&history, start, expected);
    }
    let before = history.last_serial();
    history.append_at("s", place("x", 10, 109), 10, 10, now_ms);
    for (start, expected) in [
        (after("x", 9), Ok(vec![10])),
        (after("x", 8), Err(Refused::Gone)),
        // A reader that was about to get message 8 must not miss what is behind it.
        (Start::Unseen(before), Err(Refused::Gone)),
        (Start::Unseen(history.last_serial()), Ok(vec![])),
    ] {
        check(&history, start, expected);
    }
    history.append_at("s", place("y", 11, 109), 11, 10, now_ms);
    check(&history, after("y", 10), Ok(vec![11]));
    check(&history, after("x", 10), Err(Refused::OtherEpoch));
    let totals = history.totals();
    assert_eq!((totals.n_logs, totals.n_entries), (1, 1));
    let outline = history.outline("s", now_ms).expect("it has a log");
    assert_eq!(outline.n_bytes, totals.n_bytes);
}
