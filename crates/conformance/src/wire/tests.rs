//! Tests that logs stay small for any input.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn shown(log: &WireLog) -> Vec<String> {
    let first = log.first().iter().map(|entry| entry.what.clone());
    let gap = (log.n_dropped() > 0).then(|| format!("({} dropped)", log.n_dropped()));
    first
        .chain(gap)
        .chain(log.last().map(|entry| entry.what.clone()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn entries_say_when_and_who() {
    let mut log = WireLog::begin();
    tokio::time::advance(Duration::from_millis(250)).await;
    log.sent("ping");
    tokio::time::advance(Duration::from_millis(500)).await;
    log.received("pong");
    log.note("enough");
    let found: Vec<_> = log
        .first()
        .iter()
        .map(|entry| (entry.at, entry.side, entry.what.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (0.25, Side::Sent, "ping"),
            (0.75, Side::Received, "pong"),
            (0.75, Side::Note, "enough")
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_middle_is_dropped_and_counted() {
    let mut log = WireLog::begin();
    (0..256).for_each(|n| log.sent(n));
    assert_eq!((shown(&log).len(), log.n_dropped()), (256, 0));
    (256..1_000).for_each(|n| log.sent(n));
    let found = shown(&log);
    assert_eq!(found.len(), 257);
    assert_eq!(found[126..131], ["126", "127", "(744 dropped)", "872", "873"]);
    assert_eq!(found[256], "999");
}

#[tokio::test(start_paused = true)]
async fn a_log_is_read_back() {
    let mut log = WireLog::begin();
    (0..300).for_each(|n| log.received(n));
    let json = serde_json::to_string(&log).unwrap();
    assert_eq!(serde_json::from_str::<WireLog>(&json).unwrap(), log);
}

#[test]
fn bytes_are_shown_as_what_they_are() {
    for (bytes, expected) in [
        (&b""[..], "0 bytes"),
        (b"a", "1 byte \"a\""),
        (b"<a>\n\0", "5 bytes \"<a>\\n\\0\""),
        ("größe".as_bytes(), "7 bytes \"größe\""),
        (b"\xffa", "2 bytes ff61"),
        (b"a\xc3", "2 bytes 61c3"),
    ] {
        assert_eq!(Octets(bytes).to_string(), expected);
    }
    assert_eq!(
        Octets(&[0xff; 33]).to_string(),
        format!("33 bytes {}…", "ff".repeat(32))
    );
    // The character across the cut is none of the text's faults.
    let long = format!("a{}", "ö".repeat(150));
    assert!(Octets(long.as_bytes()).to_string().starts_with("301 bytes \"aö"));
}

proptest! {
    #[test]
    fn no_entry_is_long(text: String, n in 0_usize..100) {
        let text = text.repeat(n);
        let shown = beginning(&text);
        prop_assert!(shown.len() <= MOST_BYTES + '…'.len_utf8());
        prop_assert_eq!(shown == text, text.len() <= MOST_BYTES);
        prop_assert!(text.starts_with(shown.trim_end_matches('…')) || shown == text);
    }
}
