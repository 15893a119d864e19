//! Section h.5: requests that two readers could read in two ways (RFC 9112 §5, §6, §11.2).

use super::{BAD, Reaction};
use crate::{
    Clause, Server,
    protocol::request::Request,
    websocket::{cases::List, exchange::text},
};

/// The body of a request, which must never come back as a frame.
pub(in crate::websocket) const SMUGGLED: &str = "smuggled";

pub(super) fn add(list: &mut List) {
    add_bodies(list);
    add_lines(list);
    add_sizes(list);
}

/// A frame as a browser's script could have it sent as the body of a request.
fn smuggled_frame() -> Vec<u8> {
    let mut frame = Vec::new();
    text(SMUGGLED).encode(Some([1, 2, 3, 4]), &mut frame);
    frame
}

fn add_bodies(list: &mut List) {
    // A server MUST read the whole body, or close the connection.
    const CLAUSE: Clause = Clause::must("RFC 9112 §9.3");
    let title = "a body is not a frame: refused, or left out";
    list.asks_bytes("h.5.1", title, CLAUSE, Reaction::Either, |server| {
        let body = smuggled_frame();
        let request = Request::new(server).with(format!("Content-Length: {}", body.len()));
        [request.encode(), body].concat()
    });
    let title = "a body in chunks is not a frame: refused, or left out";
    list.asks_bytes("h.5.2", title, CLAUSE, Reaction::Either, |server| {
        let body = smuggled_frame();
        let request = Request::new(server).with("Transfer-Encoding: chunked");
        let size = format!("{:x}\r\n", body.len()).into_bytes();
        [request.encode(), size, body, b"\r\n0\r\n\r\n".to_vec()].concat()
    });
    let both = |server: &Server| {
        Request::new(server)
            .with("Content-Length: 5")
            .with("Transfer-Encoding: chunked")
    };
    list.asks_bytes(
        "h.5.3",
        "Content-Length and Transfer-Encoding together: refused, or read as chunks",
        Clause::may("RFC 9112 §6.1, §6.3"),
        Reaction::Either,
        move |server| [both(server).encode(), b"0\r\n\r\n".to_vec()].concat(),
    );
    list.asks_bytes(
        "h.5.4",
        "two different Content-Lengths",
        Clause::must("RFC 9112 §6.3"),
        BAD,
        |server| {
            let request = Request::new(server)
                .with("Content-Length: 0")
                .with("Content-Length: 5");
            request.encode()
        },
    );
    list.asks(
        "h.5.5",
        "a Content-Length that is not a number",
        Clause::must("RFC 9112 §6.3"),
        BAD,
        |request| request.with("Content-Length: +5"),
    );
    list.asks(
        "h.5.6",
        "a Content-Length of 0 changes nothing",
        Clause::should("RFC 9112 §6.3"),
        Reaction::OpenBetter,
        |request| request.with("Content-Length: 0"),
    );
}

fn add_lines(list: &mut List) {
    // Octets that are no HTTP SHOULD be answered with 400.
    const GRAMMAR: Clause = Clause::should("RFC 9112 §2.2");
    list.asks(
        "h.5.7",
        "a field on two lines: refused, or read as one",
        Clause::must("RFC 9112 §5.2"),
        Reaction::Either,
        |request| request.with("X-Folded: one\r\n two"),
    );
    list.asks(
        "h.5.8",
        "a space before the colon",
        Clause::must("RFC 9112 §5.1"),
        BAD,
        |request| request.with("X-Field : value"),
    );
    list.asks("h.5.9", "a field without a name", GRAMMAR, BAD, |request| {
        request.with(": value")
    });
    list.asks("h.5.10", "a line without a colon", GRAMMAR, BAD, |request| {
        request.with("X-Field")
    });
    list.asks(
        "h.5.11",
        "a line with a space before the first field: refused, or left out",
        Clause::must("RFC 9112 §2.2"),
        Reaction::Either,
        |mut request| {
            request.fields.insert(0, " X-Field: value".to_owned());
            request
        },
    );
    list.asks(
        "h.5.12",
        "a zero byte in a value: refused, or replaced",
        Clause::must("RFC 9110 §5.5"),
        Reaction::Either,
        |request| request.with("X-Field: a\0b"),
    );
    list.asks(
        "h.5.13",
        "a zero byte behind the key: refused, or replaced by a space",
        Clause::must("RFC 9110 §5.5"),
        Reaction::Either,
        |request| request.replacing("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==\0"),
    );
    list.asks(
        "h.5.14",
        "a carriage return inside a value: refused, or replaced",
        Clause::must("RFC 9112 §2.2"),
        Reaction::Either,
        |request| request.with("X-Field: a\rb"),
    );
    let title = "lines that end with a line feed only: servers may take them";
    list.asks_bytes(
        "h.5.15",
        title,
        Clause::may("RFC 9112 §2.2"),
        Reaction::Tell,
        |server| {
            let request = String::from_utf8_lossy(&Request::new(server).encode()).replace("\r\n", "\n");
            request.into_bytes()
        },
    );
    list.asks(
        "h.5.16",
        "two spaces in the request line",
        Clause::may("RFC 9112 §3"),
        Reaction::Tell,
        |mut request| {
            request.line = request.line.replacen(' ', "  ", 1);
            request
        },
    );
}

fn add_sizes(list: &mut List) {
    list.asks(
        "h.5.17",
        "a field of 1 KiB changes nothing",
        Clause::should("RFC 9110 §5.4"),
        Reaction::OpenBetter,
        |request| request.with(format!("X-Field: {}", "x".repeat(1 << 10))),
    );
    let title = "a field of 1 MiB: refused, or read";
    list.asks(
        "h.5.18",
        title,
        Clause::must("RFC 9110 §5.4"),
        Reaction::Either,
        |request| request.with(format!("X-Field: {}", "x".repeat(1 << 20))),
    );
    let title = "ten thousand fields: refused, or read";
    list.asks(
        "h.5.19",
        title,
        Clause::must("RFC 9110 §5.4"),
        Reaction::Either,
        |mut request| {
            request
                .fields
                .extend((0..10_000).map(|n| format!("X-Field-{n}: x")));
            request
        },
    );
}
