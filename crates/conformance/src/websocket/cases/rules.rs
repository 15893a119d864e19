//! Family f: rules of framing that Autobahn's families leave out: masks, forms of the length, the order of many messages.

use super::{ECHO, List};
use crate::{
    Clause,
    protocol::{
        frame::{BINARY, CLOSE, CONTINUATION, Frame, Length, Masking, PING, TEXT},
        messages::Heard,
    },
    websocket::{
        connection::Cut,
        exchange::{
            Ending, Exchange, PROTOCOL_ERROR, binary, close, goes_on, last, message, ping, text, text_begins,
        },
    },
};

/// Messages that are sent at once. Reason: a target that loses one in a thousand is caught.
const N_AT_ONCE: usize = 1000;

pub(super) fn add(list: &mut List) {
    add_masks(list);
    add_lengths(list);
    add_continuations(list);
    add_order(list);
    add_closing(list);
}

fn add_masks(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §5.1");
    for (number, (opcode, what)) in (1..).zip([(TEXT, "text"), (PING, "ping"), (CLOSE, "close")]) {
        let title = format!(
            "a {what} that is masked the wrong way round (unmasked from a client) fails the connection"
        );
        list.exchange(format!("f.1.{number}"), title, CLAUSE, move || {
            let payload: &[u8] = if opcode == CLOSE { &[0x03, 0xE8] } else { b"mask?" };
            Exchange::new(vec![Frame::new(opcode, payload).with_masking(Masking::Wrong)]).ends(PROTOCOL_ERROR)
        });
    }
    list.exchange(
        "f.1.4",
        "a fragment that is masked the wrong way round fails the connection",
        CLAUSE,
        || {
            Exchange::new(vec![
                text_begins("first"),
                last("second").with_masking(Masking::Wrong),
            ])
            .ends(PROTOCOL_ERROR)
        },
    );
    for (number, key) in (5..).zip([[0; 4], [0xFF; 4], [0, 0, 0, 1]]) {
        let title = format!("a text masked with {key:02x?} comes back");
        list.exchange(
            format!("f.1.{number}"),
            title,
            Clause::must("RFC 6455 §5.3, §6.2"),
            move || {
                let frame = text("masks are only bytes").with_masking(Masking::Key(key));
                Exchange::new(vec![frame]).hears(vec![message(TEXT, "masks are only bytes")])
            },
        );
    }
}

fn add_lengths(list: &mut List) {
    // The form of a length binds its sender only: a receiver may drop the connection (RFC 6455 §10.7).
    const CLAUSE: Clause = Clause::should("RFC 6455 §5.2, §10.7");
    for (number, (n_bytes, length, form)) in (1..).zip([
        (0, Length::Bits16, "16 bits"),
        (125, Length::Bits16, "16 bits"),
        (0, Length::Bits64, "64 bits"),
        (125, Length::Bits64, "64 bits"),
        (65_535, Length::Bits64, "64 bits"),
    ]) {
        let title = format!("a length of {n_bytes} in {form}, more than it needs, fails the connection");
        list.exchange(format!("f.2.{number}"), title, CLAUSE, move || {
            Exchange::new(vec![binary(vec![b'*'; n_bytes]).with_length(length)]).ends(PROTOCOL_ERROR)
        });
    }
    list.exchange(
        "f.2.6",
        "a length with its highest bit set fails the connection",
        CLAUSE,
        || {
            let frame = binary("*").with_length(Length::Announced(1 << 63));
            Exchange::new(vec![frame]).ends(Ending::Failed(&[1002, 1009]))
        },
    );
    list.exchange(
        "f.2.7",
        "a length beyond all memory fails the connection",
        Clause::should("RFC 6455 §10.4"),
        || {
            let frame = binary("*").with_length(Length::Announced(u64::MAX >> 1));
            Exchange::new(vec![frame]).ends(Ending::Failed(&[1009, 1002, 1008]))
        },
    );
    list.exchange(
        "f.2.8",
        "a ping with its length in 16 bits fails the connection",
        Clause::should("RFC 6455 §5.2, §5.5, §10.7"),
        || Exchange::new(vec![ping("ping").with_length(Length::Bits16)]).ends(PROTOCOL_ERROR),
    );
    list.exchange(
        "f.2.9",
        "messages of 65537 and 66000 bytes, byte counts with a high half, come back",
        ECHO,
        || {
            let sizes = [65_537, 66_000];
            let frames = sizes.map(|n_bytes| binary(vec![b'*'; n_bytes])).to_vec();
            Exchange::new(frames).hears(sizes.map(|n_bytes| message(BINARY, vec![b'*'; n_bytes])).to_vec())
        },
    );
}

fn add_continuations(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §5.2");
    for (number, rsv) in (1..).zip([1, 2, 4]) {
        let title = format!("a continuation with the reserved bits {rsv:03b} fails the connection");
        list.exchange(format!("f.3.{number}"), title, CLAUSE, move || {
            Exchange::new(vec![text_begins("first"), last("second").with_rsv(rsv)]).ends(PROTOCOL_ERROR)
        });
    }
    list.exchange(
        "f.3.4",
        "a binary message inside a fragmented text fails the connection",
        Clause::should("RFC 6455 §5.4, §10.7"),
        || Exchange::new(vec![text_begins("first"), binary("second"), last("third")]).ends(PROTOCOL_ERROR),
    );
    list.exchange(
        "f.3.5",
        "binary fragments are not text: bytes that are not UTF-8 come back",
        ECHO,
        || {
            let frames = vec![
                binary(b"\xFF\xC0").unfinished(),
                goes_on(b"\x80"),
                last(b"\xED\xA0\x80"),
            ];
            Exchange::new(frames).hears(vec![message(BINARY, b"\xFF\xC0\x80\xED\xA0\x80")])
        },
    );
    list.exchange(
        "f.3.6",
        "a text that ends inside a character fails the connection",
        Clause::must("RFC 6455 §8.1"),
        || {
            let frames = vec![text_begins("caf"), Frame::new(CONTINUATION, b"\xC3")];
            Exchange::new(frames).ends(Ending::Failed(&[1007]))
        },
    );
    list.exchange(
        "f.3.7",
        "a hundred fragments of one byte with ten pings between them come back",
        Clause::must("RFC 6455 §5.4, §5.5.2"),
        many_fragments,
    );
}

/// Few pings, none of which is waited for: targets may refuse to owe many answers, and may answer behind the message.
fn many_fragments() -> Exchange {
    const FRAGMENTS: usize = 100;
    const PINGS: usize = 10;
    let mut frames = Vec::new();
    let mut answers = Vec::new();
    for n in 0..FRAGMENTS {
        frames.push(if n == 0 { text_begins("x") } else { goes_on("x") });
        if n % (FRAGMENTS / PINGS) == 0 {
            let payload = format!("{n}").into_bytes();
            frames.push(ping(payload.clone()));
            answers.push(Heard::Pong(payload));
        }
    }
    frames.push(last(""));
    answers.push(message(TEXT, "x".repeat(FRAGMENTS)));
    Exchange::new(frames).hears(answers)
}

fn add_order(list: &mut List) {
    for (number, (cut, how)) in (1..).zip([(Cut::Together, "one write"), (Cut::Frames, "a write each")]) {
        let title = format!("{N_AT_ONCE} texts in {how} come back in order, and none is lost");
        list.exchange(format!("f.4.{number}"), title, ECHO, move || {
            let payloads = (0..N_AT_ONCE).map(|n| format!("message {n}"));
            let frames = payloads.clone().map(text).collect();
            Exchange::new(frames)
                .hears(payloads.map(|payload| message(TEXT, payload)).collect())
                .cut(cut)
        });
    }
    list.exchange(
        "f.4.3",
        "texts and binary messages by turns keep their kinds and their order",
        ECHO,
        || {
            let opcodes = [TEXT, BINARY, BINARY, TEXT, TEXT, BINARY];
            let frames = opcodes
                .map(|opcode| Frame::new(opcode, "the same words"))
                .to_vec();
            Exchange::new(frames).hears(opcodes.map(|opcode| message(opcode, "the same words")).to_vec())
        },
    );
}

fn add_closing(list: &mut List) {
    list.exchange(
        "f.5.1",
        "a close behind twenty texts: all come back before it is answered",
        Clause::should("RFC 6455 §5.5.1"),
        || {
            let payloads = (0..20).map(|n| format!("message {n}"));
            let mut frames: Vec<Frame> = payloads.clone().map(text).collect();
            frames.push(close(1000, ""));
            // A target that answers the Close before its application has seen the messages loses echoes, which is less strict.
            let all = payloads.map(|payload| message(TEXT, payload)).collect();
            Exchange::new(frames)
                .hears(all)
                .or_non_strict(Vec::new())
                .ends(Ending::Answered(&[Some(1000)]))
        },
    );
    list.exchange(
        "f.5.2",
        "a close, byte by byte, is answered",
        Clause::must("RFC 6455 §5.5.1"),
        || {
            Exchange::new(vec![close(1000, "byte by byte")])
                .cut(Cut::Bytes(1))
                .ends(Ending::Answered(&[Some(1000)]))
        },
    );
    list.exchange(
        "f.5.3",
        "a close with 1015, which must not be sent, fails the connection",
        Clause::should("RFC 6455 §7.4.1, §10.7"),
        || Exchange::new(vec![close(1015, "")]).ends(PROTOCOL_ERROR),
    );
}
