//! Sections h.2 to h.4: the fields of a request that a WebSocket needs (RFC 6455 §4.2.1).

use super::{BAD, HANDSHAKE, NO_UPGRADE, Reaction};
use crate::{Clause, websocket::cases::List};

/// A version that the server does not have is answered with those that it has (RFC 6455 §4.2.2, §4.4).
const VERSION: Reaction = Reaction::RefuseWith(426, "Sec-WebSocket-Version", "13");

/// Drafts before the RFC have numbers of their own, and a server may understand them, too.
const DRAFT: Reaction = Reaction::RefuseUnlessUnderstood(426, "Sec-WebSocket-Version", "13");

pub(super) fn add(list: &mut List) {
    add_versions(list);
    add_keys(list);
    add_upgrade(list);
    add_host(list);
}

fn add_versions(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §4.2.2, §4.4");
    for (id, title, value, reaction) in [
        (
            "h.2.1",
            "version 8 is answered with 13, or understood",
            "8",
            DRAFT,
        ),
        ("h.2.2", "version 14 is answered with 13", "14", VERSION),
        (
            "h.2.3",
            "version 0 is answered with 13, or understood",
            "0",
            DRAFT,
        ),
        ("h.2.4", "version 255 is answered with 13", "255", VERSION),
    ] {
        list.asks(id, title, CLAUSE, reaction, |request| {
            request.replacing("Sec-WebSocket-Version", value)
        });
    }
    let missing = Reaction::Refuse(&[400, 426]);
    list.asks(
        "h.2.5",
        "a request without a version opens nothing",
        Clause::must("RFC 6455 §4.2.1 (6)"),
        missing,
        |request| request.without("Sec-WebSocket-Version"),
    );
    for (id, title, value) in [
        (
            "h.2.6",
            "a version that is not a number opens nothing",
            "thirteen",
        ),
        ("h.2.7", "an empty version opens nothing", ""),
        ("h.2.8", "version 130 opens nothing", "130"),
    ] {
        list.asks(
            id,
            title,
            Clause::must("RFC 6455 §4.2.1 (6), §4.3"),
            missing,
            |request| request.replacing("Sec-WebSocket-Version", value),
        );
    }
    list.asks(
        "h.2.9",
        "a list of versions, which no client may send",
        Clause::informational("RFC 6455 §4.3"),
        Reaction::Tell,
        |request| request.replacing("Sec-WebSocket-Version", "13, 8"),
    );
    list.asks(
        "h.2.10",
        "the version twice, which no client may send",
        Clause::informational("RFC 6455 §11.3.5"),
        Reaction::Tell,
        |request| request.with("Sec-WebSocket-Version: 13"),
    );
}

fn add_keys(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §4.2.1 (5)");
    list.asks(
        "h.3.1",
        "a request without a key opens nothing",
        CLAUSE,
        BAD,
        |request| request.without("Sec-WebSocket-Key"),
    );
    for (id, title, value) in [
        ("h.3.2", "an empty key opens nothing", ""),
        ("h.3.3", "a key of 15 bytes opens nothing", "AQIDBAUGBwgJCgsMDQ4P"),
        (
            "h.3.4",
            "a key of 17 bytes opens nothing",
            "AQIDBAUGBwgJCgsMDQ4PEBE=",
        ),
        (
            "h.3.5",
            "a key that is not base64 opens nothing",
            "!!!!!!!!!!!!!!!!!!!!!!==",
        ),
        (
            "h.3.6",
            "a key without its padding opens nothing",
            "dGhlIHNhbXBsZSBub25jZQ",
        ),
        (
            "h.3.7",
            "a key with a space inside opens nothing",
            "dGhlIHNhbXBs ZSBub25jZQ==",
        ),
    ] {
        // Servers need not decode a key (§4.2.2), so its length is theirs to check or not.
        let clause = match id {
            "h.3.3" | "h.3.4" => Clause::should("RFC 6455 §4.2.1 (5), §4.2.2"),
            _ => CLAUSE,
        };
        list.asks(id, title, clause, BAD, |request| {
            request.replacing("Sec-WebSocket-Key", value)
        });
    }
    list.asks(
        "h.3.8",
        "two keys open nothing",
        Clause::should("RFC 6455 §11.3.1"),
        BAD,
        |request| request.with("Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA=="),
    );
    list.asks(
        "h.3.9",
        "space around a key does not count",
        Clause::must("RFC 9110 §5.5"),
        Reaction::Open,
        |request| request.replacing("Sec-WebSocket-Key", " \t dGhlIHNhbXBsZSBub25jZQ== \t"),
    );
}

fn add_upgrade(list: &mut List) {
    const UPGRADE: Clause = Clause::must("RFC 6455 §4.2.1 (3)");
    const CONNECTION: Clause = Clause::must("RFC 6455 §4.2.1 (4)");
    list.asks(
        "h.4.1",
        "a request without Upgrade opens nothing",
        UPGRADE,
        NO_UPGRADE,
        |request| request.without("Upgrade"),
    );
    for (id, title, value) in [
        ("h.4.2", "Upgrade to another protocol opens nothing", "h2c"),
        (
            "h.4.3",
            "Upgrade to a name that only begins like websocket opens nothing",
            "websockets",
        ),
        (
            "h.4.4",
            "Upgrade to a name that only ends like websocket opens nothing",
            "x-websocket",
        ),
    ] {
        list.asks(id, title, UPGRADE, NO_UPGRADE, |request| {
            request.replacing("Upgrade", value)
        });
    }
    list.asks(
        "h.4.5",
        "websocket is case-insensitive",
        HANDSHAKE,
        Reaction::Open,
        |request| request.replacing("Upgrade", "WebSocket"),
    );
    list.asks(
        "h.4.6",
        "websocket may be one of several protocols",
        Clause::should("RFC 9110 §7.8"),
        Reaction::OpenBetter,
        |request| request.replacing("Upgrade", "x-other/1, websocket"),
    );
    list.asks(
        "h.4.7",
        "a request without Connection opens nothing",
        CONNECTION,
        NO_UPGRADE,
        |request| request.without("Connection"),
    );
    list.asks(
        "h.4.8",
        "Connection without Upgrade opens nothing",
        CONNECTION,
        NO_UPGRADE,
        |request| request.replacing("Connection", "keep-alive"),
    );
    list.asks(
        "h.4.9",
        "Connection may name further options",
        HANDSHAKE,
        Reaction::Open,
        |request| request.replacing("Connection", "keep-alive, Upgrade"),
    );
    list.asks(
        "h.4.10",
        "Connection is case-insensitive",
        HANDSHAKE,
        Reaction::Open,
        |request| request.replacing("Connection", "upgrade"),
    );
    list.asks(
        "h.4.11",
        "Connection may be on two lines",
        Clause::should("RFC 9110 §5.3"),
        Reaction::Open,
        |request| {
            request
                .replacing("Connection", "keep-alive")
                .with("Connection: Upgrade")
        },
    );
    list.asks(
        "h.4.12",
        "names of fields are case-insensitive",
        Clause::must("RFC 6455 §4.2.2, RFC 9110 §5.1"),
        Reaction::Open,
        |mut request| {
            for field in &mut request.fields {
                let (name, value) = field.split_once(':').unwrap_or((field, ""));
                *field = format!("{}:{value}", name.to_uppercase());
            }
            request
        },
    );
    list.asks(
        "h.4.13",
        "no space is needed behind the colon",
        Clause::must("RFC 6455 §4.2.2, RFC 9112 §5"),
        Reaction::Open,
        |mut request| {
            for field in &mut request.fields {
                *field = field.replacen(": ", ":", 1);
            }
            request
        },
    );
}

fn add_host(list: &mut List) {
    list.asks(
        "h.4.14",
        "a request without Host opens nothing",
        Clause::must("RFC 9112 §3.2"),
        BAD,
        |request| request.without("Host"),
    );
    list.asks(
        "h.4.15",
        "two Hosts open nothing",
        Clause::must("RFC 9112 §3.2"),
        BAD,
        |request| request.with("Host: other.example"),
    );
    list.asks(
        "h.4.16",
        "an invalid Host opens nothing",
        Clause::must("RFC 9112 §3.2"),
        BAD,
        |request| request.replacing("Host", "a b, c"),
    );
}
