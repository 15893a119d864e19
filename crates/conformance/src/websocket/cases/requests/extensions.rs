//! Section h.9: offers of extensions (RFC 6455 §9.1, RFC 7692 §7.1). Whatever is answered has to keep to the offer.

use super::Reaction;
use crate::{Clause, websocket::cases::List};

/// Servers may decline any offer, and accept the connection without it (§9): a refusal is not strict. An offer that they
/// accept on other terms fails all the same.
const OFFER: Clause = Clause::should("RFC 6455 §9.1, RFC 7692 §5");

/// The rule is for recipients that negotiate. A server without extensions does not read the list.
const MALFORMED: Clause = Clause::should("RFC 6455 §9.1");

pub(super) fn add(list: &mut List) {
    const UNKNOWN: Clause = Clause::must("RFC 6455 §4.2.2, §9");
    const DECLINE: Clause = Clause::must("RFC 7692 §7");
    for (id, title, clause, offer) in [
        (
            "h.9.1",
            "an unknown extension is not accepted",
            UNKNOWN,
            "x-unknown",
        ),
        (
            "h.9.2",
            "an unknown extension with parameters is not accepted",
            UNKNOWN,
            "x-unknown; a=1; b=\"c\"",
        ),
        (
            "h.9.3",
            "an unknown parameter declines the offer",
            DECLINE,
            "permessage-deflate; x-unknown",
        ),
        (
            "h.9.4",
            "a window of 7 bits declines the offer",
            DECLINE,
            "permessage-deflate; server_max_window_bits=7",
        ),
        (
            "h.9.5",
            "a window of 16 bits declines the offer",
            DECLINE,
            "permessage-deflate; server_max_window_bits=16",
        ),
        (
            "h.9.6",
            "a window with a leading zero declines the offer",
            DECLINE,
            "permessage-deflate; server_max_window_bits=010",
        ),
        (
            "h.9.7",
            "a window without a number declines the offer",
            DECLINE,
            "permessage-deflate; server_max_window_bits",
        ),
        (
            "h.9.8",
            "a window that is not a number declines the offer",
            DECLINE,
            "permessage-deflate; client_max_window_bits=ten",
        ),
        (
            "h.9.9",
            "a value where none belongs declines the offer",
            DECLINE,
            "permessage-deflate; server_no_context_takeover=1",
        ),
        (
            "h.9.10",
            "a parameter twice declines the offer",
            DECLINE,
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        ),
        (
            "h.9.11",
            "two different windows decline the offer",
            DECLINE,
            "permessage-deflate; client_max_window_bits; client_max_window_bits=10",
        ),
    ] {
        list.asks(id, title, clause, Reaction::OpenPlain, move |request| {
            offering(request, offer)
        });
    }
    for (id, title, offer) in [
        (
            "h.9.12",
            "a bare offer is accepted without a limit for the client",
            "permessage-deflate",
        ),
        (
            "h.9.13",
            "all parameters together are accepted",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=12; client_max_window_bits=12",
        ),
        (
            "h.9.14",
            "a value may be in quotes",
            "permessage-deflate; server_max_window_bits=\"12\"",
        ),
        (
            "h.9.15",
            "of a bad and a good offer the good one is accepted",
            "permessage-deflate; x-unknown, permessage-deflate",
        ),
        (
            "h.9.16",
            "an unknown extension before a good offer is passed over",
            "x-unknown; a=\"b\"; permessage-deflate=c, permessage-deflate",
        ),
        (
            "h.9.17",
            "a window of 8 bits is accepted as it is, or not at all",
            "permessage-deflate; server_max_window_bits=8, permessage-deflate",
        ),
    ] {
        list.asks(id, title, OFFER, Reaction::OpenDeflated, move |request| {
            offering(request, offer)
        });
    }
    list.asks(
        "h.9.18",
        "offers on two lines are one list",
        OFFER,
        Reaction::OpenDeflated,
        |request| {
            let request = offering(request, "x-unknown");
            offering(request, "permessage-deflate; client_max_window_bits")
        },
    );
    list.asks(
        "h.9.19",
        "a malformed list of extensions",
        MALFORMED,
        Reaction::RefuseBetter,
        |request| offering(request, "permessage-deflate; =, ;;"),
    );
    list.asks(
        "h.9.20",
        "a value in quotes that is not a token makes no list",
        MALFORMED,
        Reaction::RefuseBetter,
        |request| offering(request, "x-unknown; a=\"b, permessage-deflate; c\""),
    );
    list.asks(
        "h.9.21",
        "a value in quotes that is not a token without its escapes makes no list",
        MALFORMED,
        Reaction::RefuseBetter,
        |request| offering(request, r#"x-unknown; a="b\\c""#),
    );
    list.asks(
        "h.9.22",
        "a value in quotes means what it is without its escapes",
        OFFER,
        Reaction::OpenDeflated,
        |request| offering(request, r#"permessage-deflate; server_max_window_bits="1\2""#),
    );
}

fn offering(request: crate::protocol::request::Request, offer: &str) -> crate::protocol::request::Request {
    request.with(format!("Sec-WebSocket-Extensions: {offer}"))
}
