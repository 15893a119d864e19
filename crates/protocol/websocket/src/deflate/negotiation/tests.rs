//! The server's choice among offers (RFC 7692 §7.1), as offer and answer.

use super::*;
use crate::handshake::extension;

const TAKEOVER: Direction = Direction {
    context_takeover: true,
    window: WindowBits::MAX,
};
const STATELESS: Preferences = Preferences {
    server: Direction::STATELESS,
    client: Direction::STATELESS,
};
const FULL: Preferences = Preferences {
    server: TAKEOVER,
    client: TAKEOVER,
};

/// `expected` is the answer's parameters; `None` declines.
fn check(preferences: Preferences, offers: &str, expected: Option<&str>) {
    let parsed: Vec<Parameters> = extension::parse(offers)
        .filter_map(|extension| Parameters::parse(&extension))
        .collect();
    let response = preferences
        .choose(&parsed)
        .map(|agreed| agreed.response().to_string());
    let expected = expected.map(|parameters| match parameters {
        "" => "permessage-deflate".to_owned(),
        parameters => format!("permessage-deflate; {parameters}"),
    });
    assert_eq!(response, expected, "{offers}");
}

#[test]
fn parameters_of_an_offer() {
    check(FULL, "permessage-deflate", Some(""));
    check(
        FULL,
        "permessage-deflate; server_no_context_takeover",
        Some("server_no_context_takeover"),
    );
    check(
        FULL,
        "permessage-deflate; client_no_context_takeover",
        Some("client_no_context_takeover"),
    );
    check(
        FULL,
        "permessage-deflate; server_max_window_bits=10",
        Some("server_max_window_bits=10"),
    );
    check(
        FULL,
        r#"permessage-deflate; server_max_window_bits="1\0""#,
        Some("server_max_window_bits=10"),
    );
    check(
        FULL,
        "permessage-deflate; server_max_window_bits=15",
        Some("server_max_window_bits=15"),
    );
    check(FULL, "permessage-deflate; client_max_window_bits", Some(""));
    check(
        FULL,
        "permessage-deflate; client_max_window_bits=12",
        Some("client_max_window_bits=12"),
    );
    check(FULL, "permessage-deflate; client_max_window_bits=8", Some(""));
    check(
        FULL,
        "permessage-deflate ; server_max_window_bits = \"9\"",
        Some("server_max_window_bits=9"),
    );
}

#[test]
fn what_the_server_wants_itself() {
    let both = "server_no_context_takeover; client_no_context_takeover";
    check(STATELESS, "permessage-deflate", Some(both));
    check(
        STATELESS,
        "permessage-deflate; client_max_window_bits",
        Some(both),
    );

    let limited = |bits| Direction {
        context_takeover: true,
        window: WindowBits::new(bits).unwrap(),
    };
    let small = Preferences {
        server: limited(11),
        client: limited(10),
    };
    check(
        small,
        "permessage-deflate; client_max_window_bits",
        Some("client_max_window_bits=10"),
    );
    check(
        small,
        "permessage-deflate; client_max_window_bits=9",
        Some("client_max_window_bits=9"),
    );
    check(
        small,
        "permessage-deflate; client_max_window_bits=14",
        Some("client_max_window_bits=10"),
    );
    check(
        small,
        "permessage-deflate; server_max_window_bits=14",
        Some("server_max_window_bits=11"),
    );
    // A client that did not offer the parameter cannot be limited, and cannot be told that the server limits its own
    // window.
    check(small, "permessage-deflate", Some(""));
}

#[test]
fn declined_offers() {
    check(FULL, "", None);
    check(FULL, "permessage-bzip2", None);
    check(FULL, "permessage-deflate; other", None);
    check(FULL, "permessage-deflate; other=1", None);
    check(
        FULL,
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        None,
    );
    check(
        FULL,
        "permessage-deflate; client_max_window_bits; client_max_window_bits=10",
        None,
    );
    check(FULL, "permessage-deflate; server_no_context_takeover=1", None);
    check(FULL, "permessage-deflate; client_no_context_takeover=true", None);
    check(FULL, "permessage-deflate; server_max_window_bits", None);
    // zlib cannot compress with this window.
    check(FULL, "permessage-deflate; server_max_window_bits=8", None);
    for bits in ["7", "16", "010", "+10", "10.0", "ten", "", "\"\"", "256"] {
        check(
            FULL,
            &format!("permessage-deflate; server_max_window_bits={bits}"),
            None,
        );
        check(
            FULL,
            &format!("permessage-deflate; client_max_window_bits={bits}"),
            None,
        );
    }
}

#[test]
fn the_first_offer_that_can_be_fulfilled_wins() {
    let offers = "x, permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=10, permessage-deflate";
    check(FULL, offers, Some("server_max_window_bits=10"));
}

#[test]
fn the_clients_offer() {
    let offer = |server, client| Preferences { server, client }.offer().to_string();
    let small = Direction {
        context_takeover: true,
        window: WindowBits::MIN,
    };
    assert_eq!(
        offer(TAKEOVER, TAKEOVER),
        "permessage-deflate; client_max_window_bits"
    );
    assert_eq!(
        offer(Direction::STATELESS, Direction::STATELESS),
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits"
    );
    assert_eq!(
        offer(small, small),
        "permessage-deflate; server_max_window_bits=9; client_max_window_bits=9"
    );
}
