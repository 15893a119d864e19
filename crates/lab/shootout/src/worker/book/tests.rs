//! Tests of answers, reports and unexpected messages.

use std::time::Duration;

use plimsoll_cable::subprotocol::Dialect;

use super::*;
use crate::wire::Run;

const RUN: Run = Run {
    token: 1,
    start_ns: 0,
};

fn book(server_type: ServerType) -> Book {
    let wire = Wire::new(server_type, Dialect::default(), "channel", 0, RUN);
    Book::new(Arc::new(wire), Nodes::default(), false)
}

fn order(slot: usize, id: u64) -> SendOrder {
    SendOrder {
        slot,
        command: Command::Echo,
        id,
        floor: 0,
        due: None,
    }
}

fn echo(id: u64) -> String {
    format!(r#"{{"type":"echo","payload":{{"id":"00000001.{id}"}}}}"#)
}

/// `[foreign, stray, altered]`
fn oddities(book: &mut Book) -> [u64; 3] {
    let report = book.report(0);
    [report.n_foreign, report.n_stray_answers, report.n_altered]
}

#[test]
fn an_answer_counts_once_and_only_for_its_sender() {
    let sent_at = Instant::now();
    let at = sent_at + Duration::from_millis(5);
    let mut book = book(ServerType::Json);
    book.send(&order(3, 1), sent_at, b"");
    assert!(
        matches!(book.note(4, at, &Frame::Text(&echo(1))), Note::Nothing),
        "somebody else's"
    );
    match book.note(3, at, &Frame::Text(&echo(1))) {
        Note::Tell(Event::Answered { id: 1, latency }) => assert_eq!(latency, Duration::from_millis(5)),
        note => panic!("{note:?}"),
    }
    assert!(
        matches!(book.note(3, at, &Frame::Text(&echo(1))), Note::Nothing),
        "repeated"
    );
    assert_eq!(oddities(&mut book), [0, 2, 0]);
}

#[test]
fn the_times_of_a_scheduled_message_count_from_its_schedule() {
    let due = Instant::now();
    let (sent_at, at) = (due + Duration::from_millis(3), due + Duration::from_millis(8));
    let mut book = book(ServerType::Json);
    let table = Arc::new(SendTable::new(due, 1, 1));
    book.open_step(Arc::clone(&table), [true].into_iter());
    let scheduled = SendOrder {
        command: Command::Broadcast,
        due: Some(due),
        ..order(0, 1)
    };
    book.send(&scheduled, sent_at, b"");
    assert_eq!(table.sent(1).map(|sent| sent.at), Some(due));
    match book.note(0, at, &Frame::Text(&echo(1))) {
        Note::Tell(Event::Answered { id: 1, latency }) => assert_eq!(latency, at - due),
        note => panic!("{note:?}"),
    }
    let lateness = book.report(0).lateness;
    assert_eq!((lateness.count(), lateness.max()), (1, sent_at - due));
}

#[test]
fn a_welcome_of_action_cable_is_told_once() {
    let welcome = Frame::Text(r#"{"type":"welcome","sid":"x"}"#);
    for (server_type, is_told) in [
        (ServerType::Json, true),
        (ServerType::Echo, true),
        (ServerType::ActionCable, false),
    ] {
        let mut book = book(server_type);
        let note = book.note(0, Instant::now(), &welcome);
        assert_eq!(
            matches!(note, Note::Tell(Event::SpeaksCable)),
            is_told,
            "{server_type}"
        );
        let note = book.note(1, Instant::now(), &welcome);
        assert!(matches!(note, Note::Nothing), "{server_type}");
    }
}

#[test]
fn a_lost_sender_gets_no_answer() {
    let mut book = book(ServerType::Json);
    for (slot, id) in [(1, 1), (2, 2)] {
        book.send(&order(slot, id), Instant::now(), b"");
    }
    let events = book.drop_client(1, Instant::now());
    assert!(
        matches!(events[..], [Event::Unanswerable { id: 1 }]),
        "{events:?}"
    );
}

#[test]
fn a_plain_echo_server_may_greet_each_client_once() {
    let mut book = book(ServerType::Echo);
    for slot in [0, 1, 0] {
        book.note(
            slot,
            Instant::now(),
            &Frame::Text("Welcome to simple echo server"),
        );
    }
    assert_eq!(oddities(&mut book), [1, 0, 0]);
}

#[test]
fn a_plain_echo_must_be_the_same_to_the_byte() {
    let mut book = book(ServerType::Echo);
    let (good, bad) = (r#"{"id":"00000001.1"}"#, r#"{"id":"00000001.2" }"#);
    book.send(&order(0, 1), Instant::now(), good.as_bytes());
    book.send(&order(0, 2), Instant::now(), bad.replace(' ', "").as_bytes());
    let note = book.note(0, Instant::now(), &Frame::Text(good));
    assert!(
        matches!(note, Note::Tell(Event::Answered { id: 1, .. })),
        "{note:?}"
    );
    let note = book.note(0, Instant::now(), &Frame::Text(bad));
    assert!(
        matches!(note, Note::Tell(Event::Unanswerable { id: 2 })),
        "{note:?}"
    );
    assert_eq!(oddities(&mut book), [0, 0, 1]);
}

#[test]
fn a_farewell_gives_the_cause() {
    let mut book = book(ServerType::ActionCable);
    let bye = r#"{"type":"disconnect","reason":"server_restart","reconnect":true}"#;
    match book.note(0, Instant::now(), &Frame::Text(bye)) {
        Note::Farewell(cause) => assert_eq!(cause, Cause::Disconnected("server_restart".into())),
        note => panic!("{note:?}"),
    }
}
