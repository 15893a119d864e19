//! NTLM on a real socket.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use tokio::join;

use super::{
    super::*,
    peer::{Peer, client, outcome, settings},
};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// A response with status 401 that asks for these schemes.
fn asks_for(fields: &[&str]) -> String {
    let fields = fields
        .iter()
        .map(|field| format!("WWW-Authenticate: {field}\r\n"));
    let fields: String = fields.collect();
    format!("HTTP/1.1 401 Unauthorized\r\n{fields}Content-Length: 0\r\n\r\n")
}

/// A challenge without facts about the server, as a field.
fn challenge(scheme: &str) -> String {
    let unicode = 1_u32.to_le_bytes();
    let message = [b"NTLMSSP\0", &2_u32.to_le_bytes()[..], &[0; 8], &unicode, &[7; 8]].concat();
    format!("{scheme} {}", BASE64_STANDARD.encode(message))
}

/// A request of a user with a domain.
fn request(peer: &Peer) -> Request {
    let mut request = peer.request(Method::POST, "/x", "body");
    request.url.set_username(r"D%5Cu").unwrap();
    request.url.set_password(Some("p")).unwrap();
    request.authentication = Authentication::Ntlm;
    request
}

/// For each request, the scheme of its `Authorization` field and the kind of NTLM's message in it.
fn authorizations(requests: &[String]) -> Vec<String> {
    let of = |request: &String| {
        let field = request
            .lines()
            .find_map(|line| line.strip_prefix("Authorization: "));
        let (scheme, token) = field.unwrap_or("none ").split_once(' ').unwrap();
        let message = BASE64_STANDARD.decode(token).unwrap();
        match message.strip_prefix(b"NTLMSSP\0") {
            Some(rest) => format!("{scheme} {}", rest[0]),
            None => format!("{scheme} {}", String::from_utf8(message).unwrap()),
        }
    };
    requests.iter().map(of).collect()
}

/// Sends a request over one connection that gives these answers. Returns what each request was authorized with, and the
/// outcomes.
async fn check(answers: &[&str], authorized: &[&str], outcomes: &[&str]) {
    let (peer, client) = (Peer::bind().await, client());
    let request = request(&peer);
    let mut found = Vec::new();
    let work = client.send(&request, None, |hop| found.push(outcome(&hop)));
    let (requests, last) = join!(peer.serve(&[answers]), work);
    found.push(outcome(&last));
    assert_eq!(authorizations(&requests), authorized);
    assert_eq!(found, outcomes);
    assert!(requests.iter().all(|request| request.ends_with("body")));
}

#[tokio::test]
async fn one_connection_is_signed_in() {
    for scheme in ["NTLM", "Negotiate"] {
        let (first, second) = (asks_for(&[scheme]), asks_for(&[&challenge(scheme)]));
        let authorized = ["none ".to_owned(), format!("{scheme} 1"), format!("{scheme} 3")];
        let authorized = authorized.each_ref().map(String::as_str);
        check(&[&first, &second, OK], &authorized, &["401 ", "401 ", "200 hi"]).await;
    }
}

#[tokio::test]
async fn a_server_may_ask_for_something_else() {
    let basic = asks_for(&["Basic realm=\"r\""]);
    let ntlm = asks_for(&["Basic realm=\"r\"", "Negotiate", "NTLM"]);
    let second = asks_for(&[&challenge("NTLM")]);
    let other = asks_for(&["Digest realm=\"r\", nonce=\"n\""]);
    check(&[OK], &["none "], &["200 hi"]).await;
    check(&[&other], &["none "], &["401 "]).await;
    check(&[&basic], &["none "], &["401 "]).await;
    check(&[&ntlm, OK], &["none ", "NTLM 1"], &["401 ", "200 hi"]).await;
    // The server refuses NTLM, or the password.
    check(&[&ntlm, &ntlm], &["none ", "NTLM 1"], &["401 ", "401 "]).await;
    let all = ["none ", "NTLM 1", "NTLM 3"];
    check(&[&ntlm, &second, &ntlm], &all, &["401 ", "401 ", "401 "]).await;
}

#[tokio::test]
async fn a_challenge_that_cannot_be_answered_is_an_error() {
    let first = asks_for(&["NTLM"]);
    let authorized = ["none ", "NTLM 1"];
    for (token, expected) in [
        ("NTLM !", "1000 NTLM: the server's challenge is not base64"),
        (
            "NTLM TlRMTVNTUAA=",
            "1000 NTLM: the server's challenge is cut: its type does not fit into it",
        ),
    ] {
        check(&[&first, &asks_for(&[token])], &authorized, &["401 ", expected]).await;
    }
}

#[tokio::test]
async fn a_connection_stays_signed_in_and_a_redirect_begins_anew() {
    let (peer, client) = (Peer::bind().await, client());
    let request = request(&peer);
    let away = "HTTP/1.1 302 Found\r\nLocation: /2\r\nContent-Length: 0\r\n\r\n";
    let (first, second) = (asks_for(&["NTLM"]), asks_for(&[&challenge("NTLM")]));
    let mut expected = Vec::new();
    let work = async {
        let on_exchange = |hop: Exchange| expected.push(hop.challenge);
        let last = client.send(&request, None, on_exchange).await;
        (outcome(&last), outcome(&client.send(&request, None, drop).await))
    };
    let (requests, outcomes) = join!(peer.serve(&[&[&first, &second, away, OK, OK]]), work);
    let authorized = ["none ", "NTLM 1", "NTLM 3", "none ", "none "];
    assert_eq!(authorizations(&requests), authorized);
    assert_eq!(outcomes, ("200 hi".to_owned(), "200 hi".to_owned()));
    let none = Expectation::None;
    assert_eq!(expected, [Expectation::Possible, none, none]);
}

#[tokio::test]
async fn a_negotiation_keeps_its_connection_although_the_pool_keeps_none() {
    let settings = Settings {
        reuse_connections: false,
        ..settings()
    };
    let (peer, client) = (Peer::bind().await, Client::new(Arc::new(settings), None));
    let request = request(&peer);
    let (first, second) = (asks_for(&["NTLM"]), asks_for(&[&challenge("NTLM")]));
    let answers: [&str; 3] = [&first, &second, OK];
    for _ in 0..2 {
        let (requests, last) = join!(peer.serve(&[&answers]), client.send(&request, None, drop));
        assert_eq!(authorizations(&requests), ["none ", "NTLM 1", "NTLM 3"]);
        assert_eq!(outcome(&last), "200 hi");
    }
}
