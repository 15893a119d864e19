//! Family 9: large messages, many small pieces, and many messages one after the other.

use super::{ECHO, List, Script};
use crate::{
    Clause,
    protocol::frame::{BINARY, TEXT},
    websocket::{
        connection::Cut,
        exchange::{Exchange, fragments, message},
        series::{Content, Series},
    },
};

const CLAUSE: Clause = Clause::must("RFC 6455 §5.4, §6.2");

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Whole messages.
const SIZES: [usize; 6] = [64 * KIB, 256 * KIB, MIB, 4 * MIB, 8 * MIB, 16 * MIB];

/// Fragments of messages of 4 MiB.
const FRAGMENTS: [usize; 9] = [64, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB];

/// Writes of messages of 1 MiB.
const WRITES: [usize; 6] = [64, 128, 256, 512, KIB, 2 * KIB];

/// Messages that wait for each other's echo.
const ECHOES: [usize; 6] = [0, 16, 64, 256, KIB, 4 * KIB];

/// The number of echoes.
const N_ECHOES: usize = 1000;

pub(super) fn add(list: &mut List) {
    let kinds = [(TEXT, "text", b'*'), (BINARY, "binary message", 0xFE)];
    for (section, (opcode, what, filler)) in (1..).zip(kinds) {
        for (number, n_bytes) in (1..).zip(SIZES) {
            let title = format!("a {what} of {} comes back", size(n_bytes));
            list.exchange(format!("9.{section}.{number}"), title, CLAUSE, move || {
                Exchange::echo(opcode, vec![filler; n_bytes])
            });
        }
    }
    for (section, (opcode, what, filler)) in (3..).zip(kinds) {
        for (number, n_bytes) in (1..).zip(FRAGMENTS) {
            let title = format!("a {what} of 4 MiB in fragments of {} comes back", size(n_bytes));
            list.exchange(format!("9.{section}.{number}"), title, CLAUSE, move || {
                let payload = vec![filler; 4 * MIB];
                Exchange::new(fragments(opcode, 0, &payload, n_bytes)).hears(vec![message(opcode, payload)])
            });
        }
    }
    for (section, (opcode, what, filler)) in (5..).zip(kinds) {
        for (number, n_bytes) in (1..).zip(WRITES) {
            let title = format!("a {what} of 1 MiB in writes of {} comes back", size(n_bytes));
            list.exchange(format!("9.{section}.{number}"), title, CLAUSE, move || {
                Exchange::echo(opcode, vec![filler; MIB]).cut(Cut::Bytes(n_bytes))
            });
        }
    }
    for (section, (opcode, what, filler)) in (7..).zip(kinds) {
        for (number, n_bytes) in (1..).zip(ECHOES) {
            let title = format!("{N_ECHOES} {what}s of {n_bytes} bytes come back, one after the other");
            let series = Series {
                content: Content::Filler(opcode, filler),
                n_bytes,
                fragment_bytes: None,
                n_messages: N_ECHOES,
                offers: Vec::new(),
            };
            list.add(
                format!("9.{section}.{number}"),
                title,
                ECHO,
                Script::Series(series),
            );
        }
    }
}

fn size(n_bytes: usize) -> String {
    match n_bytes {
        0..KIB => format!("{n_bytes} bytes"),
        KIB..MIB => format!("{} KiB", n_bytes / KIB),
        _ => format!("{} MiB", n_bytes / MIB),
    }
}
