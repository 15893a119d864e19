//! Families 12 and 13: compressed messages of many kinds and sizes come back, in all terms that can be agreed on (RFC 7692).

use super::{List, Script};
use crate::{
    Clause,
    websocket::{
        connection::Side,
        payloads::Kind,
        series::{Content, Series},
        terms::Terms,
    },
};

const CLAUSE: Clause = Clause::must("RFC 6455 §6.2, RFC 7692 §6.2");

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

/// The requested compression of the target: whether messages may refer to earlier ones, and the bits of the window.
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
        add_sizes(
            list,
            &format!("12.{section}"),
            kind,
            "any terms",
            |n_bytes, fragment_bytes| Series {
                content: Content::Kind(kind),
                n_bytes,
                fragment_bytes,
                n_messages,
                offers: offers(side, WANTED[0]),
            },
        );
    }
    for (section, wanted) in (1..).zip(WANTED) {
        add_sizes(
            list,
            &format!("13.{section}"),
            Kind::Json,
            &told(wanted),
            |n_bytes, fragment_bytes| Series {
                content: Content::Kind(Kind::Json),
                n_bytes,
                fragment_bytes,
                n_messages,
                offers: offers(side, wanted),
            },
        );
    }
}

fn add_sizes(
    list: &mut List,
    section: &str,
    kind: Kind,
    terms: &str,
    series: impl Fn(usize, Option<usize>) -> Series,
) {
    for (number, (n_bytes, fragment_bytes)) in (1..).zip(SIZES) {
        let cut = fragment_bytes.map_or_else(String::new, |n| format!(" in fragments of {n}"));
        let title = format!("{} of {n_bytes} bytes{cut} comes back ({terms})", kind.name());
        let script = Script::Series(series(n_bytes, fragment_bytes));
        list.add(format!("{section}.{number}"), title, CLAUSE, script);
    }
}

/// The requested compression in the words of a title.
fn told(wanted: &[(bool, Option<u8>)]) -> String {
    let told = |&(takes_over, bits): &(bool, Option<u8>)| match (takes_over, bits) {
        (true, None) => "any terms".to_owned(),
        (false, None) => "no context takeover".to_owned(),
        (true, Some(bits)) => format!("window of {bits} bits"),
        (false, Some(bits)) => format!("no context takeover, window of {bits} bits"),
    };
    let all: Vec<String> = wanted.iter().map(told).collect();
    all.join("; or ")
}

fn offers(side: Side, wanted: &[(bool, Option<u8>)]) -> Vec<Terms> {
    wanted
        .iter()
        .map(|&(takes_over, bits)| terms(side, takes_over, bits))
        .collect()
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
