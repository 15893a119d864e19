//! Families 12 and 13: compressed messages of many kinds and sizes come back, in all terms that can be agreed on (RFC 7692).

use super::{List, Script};
use crate::websocket::{
    connection::Side,
    payloads::Kind,
    series::{Content, Series},
    terms::Terms,
};

const CLAUSE: &str = "RFC 7692 §6, §7";

/// Sizes of messages, and of the fragments that they are sent in.
const SIZES: [(usize, Option<usize>); 18] = [
    (16, None),
    (64, None),
    (256, None),
    (1024, None),
    (4096, None),
    (8192, None),
    (16_384, None),
    (32_768, None),
    (65_536, None),
    (131_072, None),
    (8192, Some(256)),
    (16_384, Some(256)),
    (32_768, Some(256)),
    (65_536, Some(256)),
    (131_072, Some(256)),
    (131_072, Some(1024)),
    (131_072, Some(4096)),
    (131_072, Some(32_768)),
];

/// What the tester wants of how the target compresses: whether messages may refer to those before, and the window's bits.
const WANTED: [&[(bool, Option<u8>)]; 7] = [
    &[(true, None)],
    &[(false, None)],
    &[(true, Some(9))],
    &[(true, Some(15))],
    &[(false, Some(9))],
    &[(false, Some(15))],
    &[(false, Some(9)), (false, None), (true, None)],
];

pub(super) fn add(list: &mut List, side: Side, n_messages: usize) {
    for (section, kind) in (1..).zip(Kind::ALL) {
        add_sizes(list, &format!("12.{section}"), kind, &[Terms::MODEST], n_messages);
    }
    for (section, wanted) in (1..).zip(WANTED) {
        let offers: Vec<Terms> = wanted.iter().map(|&(takes_over, bits)| terms(side, takes_over, bits)).collect();
        add_sizes(list, &format!("13.{section}"), Kind::Json, &offers, n_messages);
    }
}

fn add_sizes(list: &mut List, section: &str, kind: Kind, offers: &[Terms], n_messages: usize) {
    for (number, (n_bytes, fragment_bytes)) in (1..).zip(SIZES) {
        let cut = fragment_bytes.map_or_else(String::new, |n| format!(" in fragments of {n}"));
        let title = format!("{} of {n_bytes} bytes{cut}: {}", kind.name(), Terms::headers(offers));
        let series = Series {
            content: Content::Kind(kind),
            n_bytes,
            fragment_bytes,
            n_messages,
            offers: offers.to_vec(),
        };
        list.add(format!("{section}.{number}"), title, CLAUSE, Script::Series(series));
    }
}

/// An offer that limits a server; or the answer that limits a client, if that has offered to be limited.
fn terms(side: Side, takes_over: bool, bits: Option<u8>) -> Terms {
    match side {
        Side::Client => Terms {
            server_no_context_takeover: !takes_over,
            server_max_window_bits: bits,
            ..Terms::MODEST
        },
        Side::Server => Terms {
            client_no_context_takeover: !takes_over,
            client_max_window_bits: bits.map(Some),
            ..Terms::default()
        },
    }
}
