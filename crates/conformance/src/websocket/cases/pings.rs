//! Family 2: pings are answered with their own data, and unsolicited pongs do no harm (RFC 6455 §5.5.2, §5.5.3).

use super::List;
use crate::{
    Clause,
    protocol::messages::Heard,
    websocket::{
        connection::Cut,
        exchange::{Exchange, PROTOCOL_ERROR, ping, pong},
    },
};

/// The number of pings that are sent at once.
const N_PINGS: usize = 10;

pub(super) fn add(list: &mut List) {
    const PING: Clause = Clause::must("RFC 6455 §5.5.2");
    const PONG: Clause = Clause::must("RFC 6455 §5.5.3, §6.2");
    list.exchange("2.1", "an empty ping is answered", PING, || answered(Vec::new()));
    list.exchange("2.2", "a ping with text is answered with that text", PING, || {
        answered(b"Hello, world!".to_vec())
    });
    list.exchange(
        "2.3",
        "a ping with bytes that are not UTF-8 is answered with them",
        PING,
        || answered(vec![0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF]),
    );
    list.exchange("2.4", "a ping of 125 bytes is answered", PING, || {
        answered(vec![0xFE; 125])
    });
    list.exchange(
        "2.5",
        "a ping of 126 bytes fails the connection",
        Clause::should("RFC 6455 §5.5"),
        || Exchange::new(vec![ping([0xFE; 126])]).ends(PROTOCOL_ERROR),
    );
    list.exchange(
        "2.6",
        "a ping of 125 bytes, byte by byte, is answered",
        PING,
        || answered(vec![0xFE; 125]).cut(Cut::Bytes(1)),
    );
    list.exchange("2.7", "an unsolicited empty pong does no harm", PONG, || {
        Exchange::new(vec![pong("")])
    });
    list.exchange("2.8", "an unsolicited pong does no harm", PONG, || {
        Exchange::new(vec![pong("unsolicited")])
    });
    list.exchange(
        "2.9",
        "an unsolicited pong changes nothing for the ping after it",
        PONG,
        || {
            Exchange::new(vec![pong("unsolicited"), ping("the ping")])
                .hears(vec![Heard::Pong(b"the ping".to_vec())])
        },
    );
    list.exchange(
        "2.10",
        "ten pings are answered in order, or the last one is",
        PING,
        ten,
    );
    list.exchange(
        "2.11",
        "ten pings, byte by byte, are answered in order, or the last one is",
        PING,
        || ten().cut(Cut::Bytes(1)),
    );
}

fn answered(payload: Vec<u8>) -> Exchange {
    Exchange::new(vec![ping(payload.clone())]).hears(vec![Heard::Pong(payload)])
}

fn ten() -> Exchange {
    let payloads = (0..N_PINGS).map(|n| format!("ping {n}").into_bytes());
    let pings = payloads.clone().map(ping).collect();
    Exchange::new(pings).hears(payloads.map(Heard::Pong).collect())
}
