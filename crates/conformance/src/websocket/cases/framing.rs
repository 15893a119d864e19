//! Family 1: messages of all lengths come back (RFC 6455 §5.2, §5.6).

use super::{ECHO, List};
use crate::{
    protocol::frame::{BINARY, TEXT},
    websocket::{connection::Cut, exchange::Exchange},
};

/// The lengths at which the form of the length changes, and one on either side; and the cut into writes.
const LENGTHS: [(usize, Cut); 8] = [
    (0, Cut::Together),
    (125, Cut::Together),
    (126, Cut::Together),
    (127, Cut::Together),
    (128, Cut::Together),
    (65_535, Cut::Together),
    (65_536, Cut::Together),
    // A number that no buffer's size is a multiple of.
    (65_536, Cut::Bytes(997)),
];

pub(super) fn add(list: &mut List) {
    for (section, opcode, what, filler) in [(1, TEXT, "text", b'*'), (2, BINARY, "binary message", 0xFE)] {
        for (number, (n_bytes, cut)) in (1..).zip(LENGTHS) {
            let how = match cut {
                Cut::Bytes(n) => format!(" in writes of {n} bytes"),
                Cut::Together | Cut::Frames => String::new(),
            };
            let title = format!("a {what} of {n_bytes} bytes{how} comes back");
            list.exchange(format!("1.{section}.{number}"), title, ECHO, move || {
                Exchange::echo(opcode, vec![filler; n_bytes]).cut(cut)
            });
        }
    }
}
