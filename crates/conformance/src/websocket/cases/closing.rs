//! Family 7: the closing handshake, its codes and its reasons (RFC 6455 §5.5.1, §7).

use super::List;
use crate::{
    Clause,
    protocol::frame::{CLOSE, Frame, TEXT},
    websocket::exchange::{
        Ending, Exchange, PROTOCOL_ERROR, close, fragments, last, message, ping, text, text_begins,
    },
};

/// The usual answer to a Close with 1000.
const NORMAL: Ending = Ending::Answered(&[Some(1000)]);

/// Codes that may be sent (RFC 6455 §7.4.1, §7.4.2), each with the valid answers: the code itself, or 1000.
const VALID_CODES: [(u16, Ending); 13] = [
    (1000, NORMAL),
    (1001, Ending::Answered(&[Some(1001), Some(1000)])),
    (1002, Ending::Answered(&[Some(1002), Some(1000)])),
    (1003, Ending::Answered(&[Some(1003), Some(1000)])),
    (1007, Ending::Answered(&[Some(1007), Some(1000)])),
    (1008, Ending::Answered(&[Some(1008), Some(1000)])),
    (1009, Ending::Answered(&[Some(1009), Some(1000)])),
    (1010, Ending::Answered(&[Some(1010), Some(1000)])),
    (1011, Ending::Answered(&[Some(1011), Some(1000)])),
    (3000, Ending::Answered(&[Some(3000), Some(1000)])),
    (3999, Ending::Answered(&[Some(3999), Some(1000)])),
    (4000, Ending::Answered(&[Some(4000), Some(1000)])),
    (4999, Ending::Answered(&[Some(4999), Some(1000)])),
];

/// Codes that must not be sent.
const INVALID_CODES: [u16; 9] = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999];

/// Codes beyond those that the RFC speaks of.
const UNKNOWN_CODES: [u16; 2] = [5000, 65_535];

pub(super) fn add(list: &mut List) {
    add_order(list);
    add_payloads(list);
    for (number, (code, ending)) in (1..).zip(VALID_CODES) {
        let title = format!("a close with {code} is answered");
        list.exchange(
            format!("7.7.{number}"),
            title,
            Clause::must("RFC 6455 §5.5.1"),
            move || Exchange::new(vec![close(code, "")]).ends(ending),
        );
    }
    for (number, code) in (1..).zip(INVALID_CODES) {
        let title = format!("a close with {code}, which must not be sent, fails the connection");
        list.exchange(
            format!("7.9.{number}"),
            title,
            Clause::should("RFC 6455 §7.4, §10.7"),
            move || Exchange::new(vec![close(code, "")]).ends(PROTOCOL_ERROR),
        );
    }
    for (number, code) in (1..).zip(UNKNOWN_CODES) {
        let title = format!("how the target treats a close with {code}");
        list.exchange(
            format!("7.13.{number}"),
            title,
            Clause::informational("RFC 6455 §7.4.2"),
            move || Exchange::new(vec![close(code, "")]).ends(Ending::Any),
        );
    }
}

fn add_order(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §5.5.1");
    // After a Close has come, nothing forbids an answer to what is behind it, until the target has sent its own Close.
    const BEHIND: Clause = Clause::should("RFC 6455 §5.5.1");
    list.exchange(
        "7.1.1",
        "a text comes back, then the close is answered",
        CLAUSE,
        || Exchange::echo(TEXT, b"Hello, world!".to_vec()),
    );
    list.exchange("7.1.2", "the first of two closes is answered", CLAUSE, || {
        Exchange::new(vec![close(1000, ""), close(1000, "")]).ends(NORMAL)
    });
    list.exchange("7.1.3", "a ping behind a close is not answered", BEHIND, || {
        Exchange::new(vec![close(1000, ""), ping("too late")]).ends(NORMAL)
    });
    list.exchange(
        "7.1.4",
        "a text behind a close does not come back",
        BEHIND,
        || Exchange::new(vec![close(1000, ""), text("too late")]).ends(NORMAL),
    );
    list.exchange(
        "7.1.5",
        "a close between two fragments is answered, and the text does not come back",
        BEHIND,
        || Exchange::new(vec![text_begins("first"), close(1000, ""), last("second")]).ends(NORMAL),
    );
    list.exchange(
        "7.1.6",
        "how the target treats 256 KiB, a text, a close and a ping at once",
        Clause::informational("RFC 6455 §5.5.1"),
        || {
            let large = vec![b'*'; 256 << 10];
            let frames = vec![
                text(large),
                text("Hello, world!"),
                close(1000, ""),
                ping("too late"),
            ];
            Exchange::new(frames).ends(Ending::Any)
        },
    );
}

fn add_payloads(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §5.5.1");
    list.exchange("7.3.1", "a close without a code is answered", CLAUSE, || {
        Exchange::new(vec![Frame::new(CLOSE, "")]).ends(Ending::Answered(&[None, Some(1000)]))
    });
    list.exchange(
        "7.3.2",
        "a close with one byte fails the connection",
        Clause::should("RFC 6455 §5.5.1, §10.7"),
        || Exchange::new(vec![Frame::new(CLOSE, "a")]).ends(PROTOCOL_ERROR),
    );
    for (id, n_bytes) in [("7.3.3", 0), ("7.3.4", 13), ("7.3.5", 123)] {
        let title = format!("a close with a reason of {n_bytes} bytes is answered");
        list.exchange(id, title, CLAUSE, move || {
            Exchange::new(vec![close(1000, &"r".repeat(n_bytes))]).ends(NORMAL)
        });
    }
    list.exchange(
        "7.3.6",
        "a close with a reason of 124 bytes fails the connection",
        Clause::should("RFC 6455 §5.5, §10.7"),
        || Exchange::new(vec![close(1000, &"r".repeat(124))]).ends(PROTOCOL_ERROR),
    );
    list.exchange(
        "7.5.1",
        "a close with a reason that is not UTF-8 fails the connection",
        Clause::should("RFC 6455 §5.5.1, §10.7"),
        || {
            let mut bad = close(1000, "");
            bad.payload.extend(b"\xCE\xBA\xE1\xBD\xB9\xED\xA0\x80edited");
            Exchange::new(vec![bad]).ends(Ending::Failed(&[1007, 1002]))
        },
    );
    list.exchange(
        "10.1.1",
        "a text of 64 KiB in fragments of 1300 bytes comes back",
        Clause::must("RFC 6455 §5.4"),
        || {
            let payload = vec![b'*'; 65_536];
            Exchange::new(fragments(TEXT, 0, &payload, 1300)).hears(vec![message(TEXT, payload)])
        },
    );
}
