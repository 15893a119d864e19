//! Requests and answers.

use expect_test::{Expect, expect};

use super::*;

/// The request of RFC 6455 §1.2 with one line replaced (an empty replacement removes it) and lines added.
fn request(replaced: &str, with: &str) -> String {
    let lines = [
        "GET /chat HTTP/1.1",
        "Host: server.example.com",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Origin: http://example.com",
        "Sec-WebSocket-Protocol: chat, superchat",
        "Sec-WebSocket-Version: 13",
    ];
    assert!(
        lines.iter().any(|line| line.starts_with(replaced)),
        "no line {replaced}"
    );
    let lines = lines.iter().map(|line| {
        if !replaced.is_empty() && line.starts_with(replaced) {
            with
        } else {
            line
        }
    });
    let lines: String = lines
        .filter(|line| !line.is_empty())
        .flat_map(|line| [line, "\r\n"])
        .collect();
    let added = if replaced.is_empty() {
        format!("{with}\r\n")
    } else {
        String::new()
    };
    format!("{lines}{added}\r\n")
}

fn upgrade(request: &str) -> Result<Upgrade, HandshakeError> {
    let (parsed, len) = Request::parse(request.as_bytes())?.expect("a whole head");
    assert_eq!(len, request.len());
    Upgrade::from_request(&parsed)
}

/// Checks the 101 answer to that request, with the first sub-protocol and deflate by the default preferences.
fn check_accepted(replaced: &str, with: &str, expected: &Expect) {
    let upgrade = upgrade(&request(replaced, with)).unwrap();
    let deflate = upgrade.negotiate(&Preferences::default());
    let response = upgrade.response(upgrade.protocols().next(), deflate.as_ref(), &[]);
    expected.assert_eq(&String::from_utf8(response).unwrap().replace("\r\n", "\n"));
}

#[test]
fn the_example_of_the_rfc() {
    check_accepted(
        "Origin",
        "",
        &expect![[r#"
            HTTP/1.1 101 Switching Protocols
            Upgrade: websocket
            Connection: Upgrade
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
            Sec-WebSocket-Protocol: chat

        "#]],
    );
}

#[test]
fn refusals() {
    let answers = [
        ("GET", "POST /chat HTTP/1.1"),
        ("GET", "GET /chat HTTP/1.0"),
        ("Host", ""),
        ("Upgrade", ""),
        ("Upgrade", "Upgrade: h2c"),
        ("Connection", "Connection: keep-alive"),
        ("Sec-WebSocket-Key", "Sec-WebSocket-Key: short"),
        ("Sec-WebSocket-Version", "Sec-WebSocket-Version: 8"),
        ("Sec-WebSocket-Version", ""),
        ("Sec-WebSocket-Protocol", "Sec-WebSocket-Protocol: two words"),
        ("Host", "Host: a.example\r\nHost: b.example"),
        ("Host", "Host: a b, c"),
        ("Sec-WebSocket-Protocol", "Content-Length: 5"),
        ("Sec-WebSocket-Protocol", "Content-Length: 0\r\nContent-Length: 5"),
        ("Sec-WebSocket-Protocol", "Transfer-Encoding: chunked"),
        (
            "Sec-WebSocket-Protocol",
            "Sec-WebSocket-Extensions: permessage-deflate; =, ;;",
        ),
    ]
    .map(|(replaced, with)| {
        let error = upgrade(&request(replaced, with)).unwrap_err();
        let (status, text) = error.response();
        format!("{with:?} {status} {:?}\n  {text}\n", error.headers())
    });
    expect![[r#"
        "POST /chat HTTP/1.1" 405 [("Allow", "GET")]
          a WebSocket request needs the method GET
        "GET /chat HTTP/1.0" 505 []
          a WebSocket request needs HTTP/1.1
        "" 400 []
          a request needs the header Host once, with a host, for example `Host: app.example:8080`
        "" 400 []
          this address speaks WebSocket: the request needs the header `Upgrade: websocket`
        "Upgrade: h2c" 400 []
          this address speaks WebSocket: the request needs the header `Upgrade: websocket`
        "Connection: keep-alive" 400 []
          a WebSocket request needs the header `Connection: Upgrade`
        "Sec-WebSocket-Key: short" 400 []
          the request needs the header Sec-WebSocket-Key once, with 16 bytes in base64
        "Sec-WebSocket-Version: 8" 426 [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")]
          only WebSocket version 13 is supported: send the header `Sec-WebSocket-Version: 13`
        "" 426 [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")]
          only WebSocket version 13 is supported: send the header `Sec-WebSocket-Version: 13`
        "Sec-WebSocket-Protocol: two words" 400 []
          the header Sec-WebSocket-Protocol must be a list of tokens, for example `chat, superchat`
        "Host: a.example\r\nHost: b.example" 400 []
          a request needs the header Host once, with a host, for example `Host: app.example:8080`
        "Host: a b, c" 400 []
          a request needs the header Host once, with a host, for example `Host: app.example:8080`
        "Content-Length: 5" 400 []
          a WebSocket request has no body: leave out Content-Length and Transfer-Encoding
        "Content-Length: 0\r\nContent-Length: 5" 400 []
          a WebSocket request has no body: leave out Content-Length and Transfer-Encoding
        "Transfer-Encoding: chunked" 400 []
          a WebSocket request has no body: leave out Content-Length and Transfer-Encoding
        "Sec-WebSocket-Extensions: permessage-deflate; =, ;;" 400 []
          the header Sec-WebSocket-Extensions must be a list such as `permessage-deflate; client_max_window_bits`
    "#]].assert_eq(&answers.concat());
}

#[test]
fn keys() {
    let is_valid = |line: &str| match upgrade(&request("Sec-WebSocket-Key", line)) {
        Ok(_) => true,
        Err(e) => {
            assert_eq!(e, HandshakeError::Key);
            false
        }
    };
    assert!(is_valid("sec-websocket-key:  dGhlIHNhbXBsZSBub25jZQ==  "));
    assert!(
        is_valid("Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEC=="),
        "the example of §4.1"
    );
    assert!(!is_valid(""));
    assert!(!is_valid("Sec-WebSocket-Key:"));
    assert!(
        !is_valid("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ"),
        "no padding"
    );
    assert!(!is_valid("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j"), "15 bytes");
    assert!(
        !is_valid("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZSE="),
        "17 bytes"
    );
    assert!(!is_valid(
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    ));
}

#[test]
fn names_and_tokens_in_any_case_and_lists_over_several_lines() {
    for (replaced, with) in [
        ("Upgrade", "UPGRADE: WebSocket"),
        ("Upgrade", "Upgrade: h2c, websocket"),
        ("Connection", "connection: keep-alive, Upgrade"),
        ("Connection", "Connection: keep-alive\r\nConnection: upgrade"),
        ("Sec-WebSocket-Version", "Sec-WebSocket-Version: 8, 13"),
    ] {
        assert!(upgrade(&request(replaced, with)).is_ok(), "{with}");
    }
    let with = "sec-websocket-protocol: a,b ,\r\nSec-WebSocket-Protocol: c";
    let upgrade = upgrade(&request("Sec-WebSocket-Protocol", with)).unwrap();
    assert_eq!(upgrade.protocols().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn the_answer_takes_no_protocol_and_more_headers() {
    let upgrade = upgrade(&request("Origin", "")).unwrap();
    let response = upgrade.response(None, None, &[("X-AnyCable-Version", "1.6.16")]);
    let response = String::from_utf8(response).unwrap();
    assert!(!response.contains("Sec-WebSocket-Protocol"));
    assert!(response.ends_with("\r\nX-AnyCable-Version: 1.6.16\r\n\r\n"));
}

#[test]
fn a_head_may_come_in_pieces_with_bytes_behind_it() {
    let head = request("Origin", "");
    for end in 0..head.len() {
        assert!(
            Request::parse(&head.as_bytes()[..end]).unwrap().is_none(),
            "{end} bytes"
        );
    }
    let with_frame = [head.as_bytes(), b"\x81\x80\x00\x00\x00\x00"].concat();
    let (_, len) = Request::parse(&with_frame).unwrap().unwrap();
    assert_eq!(len, head.len());
}

#[test]
fn heads_are_bounded() {
    let error = |head: &str| Request::parse(head.as_bytes()).map(|_| ()).unwrap_err();
    assert_eq!(error(&"x".repeat(MAX_HEAD_BYTES)), HandshakeError::HeadTooLarge);
    assert_eq!(
        error(&request("Origin", &format!("Cookie: {}", "x".repeat(8000)))),
        HandshakeError::HeadTooLarge
    );
    assert_eq!(
        error(&request("Origin", &"a: b\r\n".repeat(65))),
        HandshakeError::HeadTooLarge
    );
    assert!(matches!(
        error("GET /\x01 HTTP/1.1\r\n\r\n"),
        HandshakeError::Malformed(_)
    ));
    assert!(
        matches!(
            error("\x16\x03\x01\x02\x00\x01\x00\x01"),
            HandshakeError::Malformed(_)
        ),
        "a TLS client"
    );
}

#[test]
fn targets() {
    for (target, path, query) in [
        ("/cable", "/cable", None),
        ("/cable?token=a?b&pi=3", "/cable", Some("token=a?b&pi=3")),
        ("/?", "/", Some("")),
        ("http://host:80/cable?x", "/cable", Some("x")),
        ("http://host", "/", None),
        ("/a?u=http://host/b", "/a", Some("u=http://host/b")),
        ("*", "*", None),
    ] {
        let head = format!("POST {target} HTTP/1.0\r\nContent-Length: 2\r\n\r\n");
        let (request, _) = Request::parse(head.as_bytes()).unwrap().unwrap();
        assert_eq!(
            (request.target(), request.path(), request.query()),
            (target, path, query)
        );
        assert_eq!(
            (request.method(), request.header("content-length")),
            ("POST", Some("2"))
        );
        assert!(!request.is_upgrade());
    }
}

#[test]
fn deflate_is_negotiated() {
    let offer =
        "Sec-WebSocket-Extensions: x-webkit-deflate-frame, permessage-deflate; client_max_window_bits";
    check_accepted(
        "Origin",
        offer,
        &expect![[r#"
        HTTP/1.1 101 Switching Protocols
        Upgrade: websocket
        Connection: Upgrade
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
        Sec-WebSocket-Protocol: chat
        Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover

    "#]],
    );
}

#[test]
fn a_bare_line_feed_ends_no_line() {
    for (head, expected) in [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", Ok(())),
        ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Ok(())),
        ("GET / HTTP/1.1\nHost: a\r\n\r\n", Err(HandshakeError::LineEnd)),
        ("GET / HTTP/1.1\r\nHost: a\n\r\n", Err(HandshakeError::LineEnd)),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", Err(HandshakeError::LineEnd)),
        (
            "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            Err(HandshakeError::LineEnd),
        ),
    ] {
        let found = Request::parse(head.as_bytes()).map(|request| assert!(request.is_some(), "{head:?}"));
        assert_eq!(found, expected, "{head:?}");
    }
}

#[test]
fn a_request_names_one_host_unless_it_is_of_http_1_0() {
    for (head, expected) in [
        ("HTTP/1.1\r\nHost: a.example:80", Ok(())),
        ("HTTP/1.1\r\nhost:", Ok(())),
        ("HTTP/1.1", Err(HandshakeError::Host)),
        ("HTTP/1.0", Ok(())),
        ("HTTP/1.0\r\nHost: a/b", Err(HandshakeError::Host)),
    ] {
        let head = format!("GET / {head}\r\n\r\n");
        let (request, _) = Request::parse(head.as_bytes()).unwrap().unwrap();
        assert_eq!(request.check_host(), expected, "{head:?}");
    }
}
