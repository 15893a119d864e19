//! Requests and answers.

use expect_test::{Expect, expect};

use super::*;
use crate::deflate::{Direction, WindowBits};
use crate::handshake::MAX_HEAD_BYTES;
use crate::role::Role;

/// The key of RFC 6455 §1.2.
const KEY: [u8; 16] = *b"the sample nonce";

const ANSWER: [&str; 4] = [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
];

fn handshake() -> Handshake {
    Handshake::new("server.example.com", "/chat", KEY).protocols(&["chat", "superchat"])
}

/// The valid answer, with the line that begins like `line` replaced, or with `line` added.
fn answer(line: &str) -> String {
    let name = line.split_inclusive(':').next().unwrap_or_default();
    let mut lines: Vec<&str> = ANSWER
        .into_iter()
        .filter(|l| name.is_empty() || !l.starts_with(name))
        .collect();
    lines.push(line);
    let lines: String = lines
        .into_iter()
        .filter(|l| !l.is_empty())
        .flat_map(|l| [l, "\r\n"])
        .collect();
    format!("{lines}\r\n")
}

fn parse(handshake: &Handshake, answer: &str) -> Result<Accepted, HandshakeError> {
    let (accepted, len) = handshake
        .parse_response(answer.as_bytes())?
        .expect("a whole head");
    assert_eq!(len, answer.len());
    Ok(accepted)
}

fn check_error(answer: &str, expected: &Expect) {
    expected.assert_eq(
        &handshake()
            .parse_response(answer.as_bytes())
            .unwrap_err()
            .to_string(),
    );
}

#[test]
fn the_request() {
    let handshake = handshake()
        .origin("http://example.com")
        .headers(&[("Cookie", "a=b"), ("Authorization", "Bearer x")])
        .deflate(Preferences::default());
    let request = String::from_utf8(handshake.request().unwrap()).unwrap();
    expect![[r#"
        GET /chat HTTP/1.1
        Host: server.example.com
        Upgrade: websocket
        Connection: Upgrade
        Sec-WebSocket-Version: 13
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
        Origin: http://example.com
        Sec-WebSocket-Protocol: chat, superchat
        Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits
        Cookie: a=b
        Authorization: Bearer x

    "#]].assert_eq(&request.replace("\r\n", "\n"));
}

#[test]
fn texts_that_would_break_the_head_are_refused() {
    let base = handshake;
    let refused = |handshake: Handshake| handshake.request().unwrap_err().to_string();
    let texts = [
        refused(Handshake::new("host", "/a b", KEY)),
        refused(Handshake::new("host", "chat", KEY)),
        refused(Handshake::new("host\r\nX: y", "/", KEY)),
        refused(base().origin("null\n")),
        refused(base().protocols(&["a b"])),
        refused(base().headers(&[("X Y", "z")])),
        refused(base().headers(&[("Cookie", "a=b"), ("sec-websocket-protocol", "chat")])),
        refused(base().headers(&[("HOST", "other")])),
        refused(base().headers(&[("X", "y\r\nZ: 1")])),
    ];
    expect![[r#"
        the request target cannot be "/a b": expected a path without spaces, for example /cable?token=1
        the request target cannot be "chat": expected a path without spaces, for example /cable?token=1
        the header Host cannot be "host\r\nX: y": expected one line without control characters
        the header Origin cannot be "null\n": expected one line without control characters
        the sub-protocol cannot be "a b": expected a token, for example actioncable-v1-json
        the header name cannot be "X Y": expected a token, for example Authorization
        an added header cannot be "sec-websocket-protocol": expected one that the handshake does not write itself
        an added header cannot be "HOST": expected one that the handshake does not write itself
        the header X cannot be "y\r\nZ: 1": expected one line without control characters"#]]
    .assert_eq(&texts.join("\n"));
}

#[test]
fn good_answers() {
    let protocol = |line: &str| parse(&handshake(), &answer(line)).unwrap().protocol;
    assert_eq!(protocol(""), None);
    assert_eq!(
        protocol("sec-websocket-protocol: superchat").as_deref(),
        Some("superchat")
    );
    assert_eq!(protocol("Upgrade: WebSocket"), None);
    assert_eq!(protocol("Connection: keep-alive, upgrade"), None);
}

#[test]
fn bad_answers() {
    check_error(
        &answer("Upgrade: h2c"),
        &expect!["the answer has no header `Upgrade: websocket`"],
    );
    check_error(
        &answer("Connection: close"),
        &expect!["the answer has no header `Connection: Upgrade`"],
    );
    check_error(
        &answer("Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        &expect!["the header Sec-WebSocket-Accept does not match the key of the request"],
    );
    check_error(
        &answer("Sec-WebSocket-Protocol: other"),
        &expect![[r#"the server chose the sub-protocol "other", which was not offered"#]],
    );
    check_error(
        &answer("Sec-WebSocket-Extensions: permessage-deflate"),
        &expect![[r#"the server chose extensions that were not offered: "permessage-deflate""#]],
    );
    check_error(
        "SSH-2.0-OpenSSH_9.9\r\n",
        &expect!["malformed HTTP response: invalid HTTP version"],
    );
    check_error(
        &"x".repeat(MAX_HEAD_BYTES),
        &expect!["malformed HTTP response: invalid HTTP version"],
    );
    check_error(
        &answer(&format!("X: {}", "x".repeat(MAX_HEAD_BYTES))),
        &expect!["the response head is larger than 8192 bytes or 64 header lines"],
    );
}

#[test]
fn a_refusal_tells_its_status_and_the_beginning_of_its_body() {
    check_error(
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 15\r\n\r\nUnknown origin\n",
        &expect!["the server refused the WebSocket: 403 Forbidden: Unknown origin"],
    );
    check_error(
        "HTTP/1.1 502 Bad Gateway\r\n\r\n",
        &expect!["the server refused the WebSocket: 502 Bad Gateway"],
    );
    let long = format!("HTTP/1.1 500 \r\n\r\n{}", "é".repeat(1000));
    let Err(HandshakeError::Refused { status, body, .. }) = handshake().parse_response(long.as_bytes())
    else {
        panic!("not refused");
    };
    assert_eq!((status, body.chars().count()), (500, 256));
}

#[test]
fn an_answer_may_come_in_pieces_with_frames_behind_it() {
    let head = answer("");
    for end in 0..head.len() {
        assert_eq!(
            handshake().parse_response(&head.as_bytes()[..end]),
            Ok(None),
            "{end} bytes"
        );
    }
    let with_frame = [head.as_bytes(), b"\x81\x00"].concat();
    let (_, len) = handshake().parse_response(&with_frame).unwrap().unwrap();
    assert_eq!(len, head.len());
}

#[test]
fn deflate_terms_are_checked_against_the_offer() {
    let takeover = |bits| Direction {
        context_takeover: true,
        window: WindowBits::new(bits).unwrap(),
    };
    let check = |preferences: Preferences, response: &str, expected: Option<[(bool, u8); 2]>| {
        let handshake = handshake().deflate(preferences);
        let parsed = parse(
            &handshake,
            &answer(&format!("Sec-WebSocket-Extensions: {response}")),
        );
        let terms = parsed.ok().map(|accepted| {
            let agreed = accepted.deflate.expect("an extension");
            [Role::Server, Role::Client].map(|role| {
                let direction = agreed.sent_by(role);
                (direction.context_takeover, direction.window.get())
            })
        });
        assert_eq!(terms, expected, "{response}");
    };
    let full = Preferences {
        server: takeover(15),
        client: takeover(15),
    };
    check(full, "permessage-deflate", Some([(true, 15), (true, 15)]));
    check(
        full,
        "PERMESSAGE-DEFLATE; server_no_context_takeover",
        Some([(false, 15), (true, 15)]),
    );
    check(
        full,
        "permessage-deflate; client_no_context_takeover",
        Some([(true, 15), (false, 15)]),
    );
    check(
        full,
        "permessage-deflate; server_max_window_bits=10",
        Some([(true, 10), (true, 15)]),
    );
    check(
        full,
        "permessage-deflate; server_max_window_bits=8",
        Some([(true, 9), (true, 15)]),
    );
    check(
        full,
        "permessage-deflate; client_max_window_bits=\"12\"",
        Some([(true, 15), (true, 12)]),
    );
    check(full, "permessage-deflate; client_max_window_bits=8", None);
    check(full, "permessage-deflate; client_max_window_bits", None);
    check(full, "permessage-deflate; other", None);
    check(full, "permessage-deflate, permessage-deflate", None);
    check(full, "x-other", None);

    let limited = Preferences {
        server: takeover(10),
        client: takeover(11),
    };
    check(
        limited,
        "permessage-deflate; server_max_window_bits=10",
        Some([(true, 10), (true, 11)]),
    );
    check(limited, "permessage-deflate; server_max_window_bits=11", None);
    check(limited, "permessage-deflate", None);

    let stateless = Preferences::default();
    check(stateless, "permessage-deflate", None);
    check(
        stateless,
        "permessage-deflate; server_no_context_takeover",
        Some([(false, 15), (false, 15)]),
    );
}
