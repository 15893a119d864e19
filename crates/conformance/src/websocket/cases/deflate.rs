//! Family d: rules of permessage-deflate that Autobahn's families leave out (RFC 7692 §6, §7.2).

use super::{List, Script};
use crate::{
    Clause,
    protocol::{
        frame::{Frame, RSV1, TEXT},
        messages::Heard,
    },
    websocket::exchange::{Ending, Exchange, PROTOCOL_ERROR, fragments, goes_on, last, message, ping, text},
};

/// `Hello`, compressed, as in the RFC's examples (§7.2.3.1).
const HELLO: &[u8] = b"\xf2\x48\xcd\xc9\xc9\x07\x00";

/// The text as a reference to the message before (§7.2.3.2).
const HELLO_AGAIN: &[u8] = b"\xf2\x00\x11\x00\x00";

/// Invalid DEFLATE data: the code for a block without a type. RFC 7692 names no close code for it.
const NONSENSE: &[u8] = b"\xff\xff\xff\xff";
const CORRUPT: Ending = Ending::Failed(&[1007, 1002, 1003, 1008, 1011]);

pub(super) fn add(list: &mut List) {
    add_blocks(list);
    add_frames(list);
    add_failures(list);
}

impl List {
    /// A case that is a conversation on a connection with compression in which no message refers to an older one.
    fn compressed(
        &mut self,
        id: &'static str,
        title: &'static str,
        clause: Clause,
        make: impl Fn() -> Exchange + 'static,
    ) {
        let script = Script::Compressed {
            needs_takeover: false,
            make: Box::new(make),
        };
        self.add(id, title, clause, script);
    }
}

fn add_blocks(list: &mut List) {
    let blocks: [(&str, &str, Clause, &[u8]); 6] = [
        (
            "d.1.1",
            "a block with fixed codes comes back",
            Clause::must("RFC 6455 §6.2, RFC 7692 §7.2.3.1"),
            HELLO,
        ),
        (
            "d.1.2",
            "a stored block comes back",
            Clause::must("RFC 6455 §6.2, RFC 7692 §7.2.3.3"),
            b"\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00",
        ),
        (
            "d.1.3",
            "a final block comes back",
            Clause::must("RFC 6455 §6.2, RFC 7692 §7.2.3.4"),
            b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00",
        ),
        (
            "d.1.4",
            "two blocks in one message come back",
            Clause::must("RFC 6455 §6.2, RFC 7692 §7.2.3.5"),
            b"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00",
        ),
        (
            "d.1.5",
            "a message with a flush at its very end comes back",
            Clause::must("RFC 6455 §6.2, RFC 7692 §7.2.1"),
            b"\xf2\x48\xcd\xc9\xc9\x07\x00\x00\x00\xff\xff\x00",
        ),
        (
            "d.1.6",
            "a final block behind an empty stored one comes back",
            Clause::must("RFC 6455 §6.2, RFC 7692 §7.2.3.4"),
            b"\x00\x00\x00\xff\xff\xf3\x48\xcd\xc9\xc9\x07\x00\x00",
        ),
    ];
    for (id, title, clause, payload) in blocks {
        list.compressed(id, title, clause, move || {
            Exchange::new(vec![text(payload).with_rsv(RSV1)]).hears(hello())
        });
    }
    list.compressed(
        "d.1.7",
        "an empty message comes back",
        Clause::must("RFC 6455 §6.2, RFC 7692 §7.2.3.6"),
        || Exchange::new(vec![text(b"\x00").with_rsv(RSV1)]).hears(vec![message(TEXT, "")]),
    );
    // The first message again, not a reference to it: clients may always compress each by itself.
    list.compressed(
        "d.1.8",
        "the same message twice comes back twice",
        Clause::must("RFC 6455 §6.2, RFC 7692 §7.2.3.2"),
        || {
            let twice = vec![text(HELLO).with_rsv(RSV1), text(HELLO).with_rsv(RSV1)];
            Exchange::new(twice).hears([hello(), hello()].concat())
        },
    );
    let title = "a message that refers to the one before comes back";
    let takeover = Script::Compressed {
        needs_takeover: true,
        make: Box::new(|| {
            let twice = vec![text(HELLO).with_rsv(RSV1), text(HELLO_AGAIN).with_rsv(RSV1)];
            Exchange::new(twice).hears([hello(), hello()].concat())
        }),
    };
    list.add("d.1.9", title, Clause::must("RFC 7692 §7.2.2"), takeover);
}

fn add_frames(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §6.2, RFC 7692 §6.2");
    list.compressed(
        "d.2.1",
        "a message that is not compressed comes back",
        CLAUSE,
        || Exchange::echo(TEXT, b"plain".to_vec()),
    );
    list.compressed(
        "d.2.2",
        "plain and compressed messages by turns come back",
        CLAUSE,
        || {
            let frames = vec![
                text("plain"),
                text(HELLO).with_rsv(RSV1),
                text("plain"),
                text(HELLO).with_rsv(RSV1),
            ];
            let plain = || vec![message(TEXT, "plain")];
            Exchange::new(frames).hears([plain(), hello(), plain(), hello()].concat())
        },
    );
    list.compressed(
        "d.2.3",
        "a compressed message with one byte in each fragment comes back",
        Clause::must("RFC 6455 §5.4, RFC 7692 §6.2"),
        || Exchange::new(fragments(TEXT, RSV1, HELLO, 1)).hears(hello()),
    );
    list.compressed(
        "d.2.4",
        "a ping between compressed fragments is answered before they come back",
        Clause::must("RFC 6455 §5.4, RFC 7692 §6.2"),
        || {
            let (begin, end) = HELLO.split_at(3);
            let frames = vec![
                text(begin).with_rsv(RSV1).unfinished(),
                ping("between"),
                goes_on(""),
                last(end),
            ];
            let answers = [vec![Heard::Pong(b"between".to_vec())], hello()].concat();
            Exchange::new(frames).hears(answers)
        },
    );
    list.compressed(
        "d.2.5",
        "an empty first fragment of a compressed message changes nothing",
        Clause::must("RFC 6455 §5.4, RFC 7692 §6.2"),
        || {
            let frames = vec![text("").with_rsv(RSV1).unfinished(), last(HELLO)];
            Exchange::new(frames).hears(hello())
        },
    );
}

fn add_failures(list: &mut List) {
    list.compressed(
        "d.3.1",
        "RSV1 on a continuation fails the connection",
        Clause::must("RFC 7692 §6"),
        || {
            let (begin, end) = HELLO.split_at(3);
            let frames = vec![text(begin).with_rsv(RSV1).unfinished(), last(end).with_rsv(RSV1)];
            Exchange::new(frames).ends(PROTOCOL_ERROR)
        },
    );
    list.compressed(
        "d.3.2",
        "RSV1 on a ping fails the connection",
        Clause::must("RFC 7692 §6"),
        || Exchange::new(vec![ping(HELLO).with_rsv(RSV1)]).ends(PROTOCOL_ERROR),
    );
    list.compressed(
        "d.3.3",
        "RSV2 on a compressed message fails the connection",
        Clause::must("RFC 6455 §5.2"),
        || Exchange::new(vec![text(HELLO).with_rsv(RSV1 | 2)]).ends(PROTOCOL_ERROR),
    );
    list.compressed(
        "d.3.4",
        "data that is not DEFLATE fails the connection",
        Clause::should("RFC 7692 §7.2.2"),
        || Exchange::new(vec![text(NONSENSE).with_rsv(RSV1)]).ends(CORRUPT),
    );
    list.compressed(
        "d.3.5",
        "a reference to missing data fails the connection",
        Clause::should("RFC 7692 §7.2.2"),
        || Exchange::new(vec![text(HELLO_AGAIN).with_rsv(RSV1)]).ends(CORRUPT),
    );
    list.compressed(
        "d.3.6",
        "a compressed text that is not UTF-8 fails the connection",
        Clause::must("RFC 6455 §8.1"),
        || {
            // A stored block with half of a surrogate.
            Exchange::new(vec![text(b"\x00\x03\x00\xfc\xff\xed\xa0\x80\x00").with_rsv(RSV1)])
                .ends(Ending::Failed(&[1007]))
        },
    );
    list.exchange(
        "d.3.7",
        "a compressed message fails a connection without compression",
        Clause::must("RFC 6455 §5.2"),
        || Exchange::new(vec![Frame::new(TEXT, HELLO).with_rsv(RSV1)]).ends(PROTOCOL_ERROR),
    );
}

fn hello() -> Vec<Heard> {
    vec![message(TEXT, "Hello")]
}
