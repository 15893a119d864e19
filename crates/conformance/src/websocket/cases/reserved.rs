//! Families 3 and 4: reserved bits and reserved opcodes fail the connection (RFC 6455 §5.2).

use super::List;
use crate::{
    Clause,
    protocol::frame::{Frame, TEXT},
    websocket::{
        connection::Cut,
        exchange::{Exchange, PROTOCOL_ERROR, binary, close, message, ping, text},
    },
};

const CLAUSE: Clause = Clause::must("RFC 6455 §5.2");

/// The valid message before the invalid frame.
const GOOD: &str = "Hello, world!";

pub(super) fn add(list: &mut List) {
    add_bits(list);
    add_opcodes(list);
}

fn add_bits(list: &mut List) {
    list.exchange("3.1", "a text with RSV3 fails the connection", CLAUSE, || {
        fails(text(GOOD).with_rsv(1))
    });
    for (id, rsv, cut, what) in [
        ("3.2", 2, Cut::Together, "a text with RSV2"),
        (
            "3.3",
            3,
            Cut::Frames,
            "a text with RSV2 and RSV3, frame by frame,",
        ),
        ("3.4", 4, Cut::Bytes(1), "a text with RSV1, byte by byte,"),
    ] {
        let title = format!("{what} fails the connection, and the text before it comes back");
        list.exchange(id, title, CLAUSE, move || {
            fails_behind(text(GOOD).with_rsv(rsv)).cut(cut)
        });
    }
    list.exchange(
        "3.5",
        "a binary message with RSV1 and RSV3 fails the connection",
        CLAUSE,
        || fails(binary([0xFF; 8]).with_rsv(5)),
    );
    list.exchange(
        "3.6",
        "a ping with RSV1 and RSV2 fails the connection",
        CLAUSE,
        || fails(ping(GOOD).with_rsv(6)),
    );
    list.exchange(
        "3.7",
        "a close with all reserved bits fails the connection",
        CLAUSE,
        || fails(close(1000, "").with_rsv(7)),
    );
}

fn add_opcodes(list: &mut List) {
    for (section, first, kind) in [(1, 3, "data"), (2, 11, "control")] {
        for number in 1..=5_u8 {
            let opcode = first + number - 1;
            let id = format!("4.{section}.{number}");
            let payload = if number == 1 { "" } else { "reserved" };
            let bad = Frame::new(opcode, payload);
            let title = format!("the reserved {kind} opcode {opcode} fails the connection");
            if number <= 2 {
                list.exchange(id, title, CLAUSE, move || fails(bad.clone()));
            } else {
                let cut = if number == 4 { Cut::Bytes(1) } else { Cut::Together };
                let title = format!("{title}, and the text before it comes back");
                list.exchange(id, title, CLAUSE, move || fails_behind(bad.clone()).cut(cut));
            }
        }
    }
}

fn fails(bad: Frame) -> Exchange {
    Exchange::new(vec![bad]).ends(PROTOCOL_ERROR)
}

/// A valid text, the invalid frame, and a ping that must not be answered any more. An echo on its way when the
/// connection fails may be lost, which is less strict.
fn fails_behind(bad: Frame) -> Exchange {
    Exchange::new(vec![text(GOOD), bad, ping("too late")])
        .hears(vec![message(TEXT, GOOD)])
        .or_non_strict(Vec::new())
        .ends(PROTOCOL_ERROR)
}
