//! What a client sends. Lines end with CR LF; names and payloads are the caller's.

use serde::Serialize;

/// Asks the server for a [`PONG`]: it has done everything that was sent before.
pub const PING: &[u8] = b"PING\r\n";

/// The answer to the server's ping.
pub const PONG: &[u8] = b"PONG\r\n";

/// The first message of a client, without what is the same for all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Greeting<'a> {
    /// The user, with a password.
    pub user: Option<&'a str>,
    /// The password of the user.
    pub password: Option<&'a str>,
    /// A token instead of a user.
    pub token: Option<&'a str>,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// Whether messages come with their headers. A request that no program takes is then answered, with the status 503.
    pub has_headers: bool,
}

#[derive(Serialize)]
struct Connect<'a> {
    verbose: bool,
    pedantic: bool,
    tls_required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<&'a str>,
    name: &'a str,
    lang: &'a str,
    version: &'a str,
    protocol: u8,
    /// Messages of this connection come back to it.
    echo: bool,
    headers: bool,
    no_responders: bool,
}

/// `CONNECT`: the client says who it is.
pub fn connect(greeting: Greeting<'_>) -> Vec<u8> {
    let connect = Connect {
        verbose: false,
        pedantic: false,
        tls_required: greeting.is_encrypted,
        auth_token: greeting.token,
        user: greeting.user,
        pass: greeting.password,
        name: "plimsoll",
        lang: "rust",
        version: env!("CARGO_PKG_VERSION"),
        protocol: 1,
        echo: true,
        headers: greeting.has_headers,
        no_responders: greeting.has_headers,
    };
    let json = serde_json::to_string(&connect).expect("texts and numbers always serialise");
    format!("CONNECT {json}\r\n").into_bytes()
}

/// `SUB`: begins the subscription number `id`, which no earlier one of this connection had.
pub fn subscribe(into: &mut Vec<u8>, subject: &str, id: u64) {
    into.extend_from_slice(format!("SUB {subject} {id}\r\n").as_bytes());
}

/// `UNSUB`: ends a subscription.
pub fn unsubscribe(into: &mut Vec<u8>, id: u64) {
    into.extend_from_slice(format!("UNSUB {id}\r\n").as_bytes());
}

/// `PUB`: publishes a message.
pub fn publish(into: &mut Vec<u8>, subject: &str, payload: &[u8]) {
    into.extend_from_slice(format!("PUB {subject} {}\r\n", payload.len()).as_bytes());
    into.extend_from_slice(payload);
    into.extend_from_slice(b"\r\n");
}

/// `HPUB`, or `PUB` if `header` is empty: publishes a message with the bytes of a header. `reply` is the subject for the
/// answer.
pub fn publish_with(into: &mut Vec<u8>, subject: &str, reply: Option<&str>, header: &[u8], payload: &[u8]) {
    let reply = reply.map_or(String::new(), |reply| format!("{reply} "));
    let n_bytes = header.len() + payload.len();
    let line = if header.is_empty() {
        format!("PUB {subject} {reply}{n_bytes}\r\n")
    } else {
        format!("HPUB {subject} {reply}{} {n_bytes}\r\n", header.len())
    };
    into.extend_from_slice(line.as_bytes());
    into.extend_from_slice(header);
    into.extend_from_slice(payload);
    into.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(encode: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let mut bytes = Vec::new();
        encode(&mut bytes);
        assert_eq!(String::from_utf8(bytes).expect("UTF-8"), expected);
    }

    #[test]
    fn operations_as_text() {
        check(|into| subscribe(into, "chat_1", 7), "SUB chat_1 7\r\n");
        check(|into| unsubscribe(into, 7), "UNSUB 7\r\n");
        check(|into| publish(into, "chat_1", b"{}"), "PUB chat_1 2\r\n{}\r\n");
        check(|into| publish(into, "a", b""), "PUB a 0\r\n\r\n");
        check(
            |into| publish_with(into, "a", Some("b"), b"HEAD", b"x"),
            "HPUB a b 4 5\r\nHEADx\r\n",
        );
        check(
            |into| publish_with(into, "a", None, b"HEAD", b""),
            "HPUB a 4 4\r\nHEAD\r\n",
        );
        check(
            |into| publish_with(into, "a", Some("b"), b"", b"x"),
            "PUB a b 1\r\nx\r\n",
        );
    }

    #[test]
    fn a_greeting_has_only_the_credentials_that_there_are() {
        let text = |greeting| String::from_utf8(connect(greeting)).expect("UTF-8");
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            text(Greeting::default()),
            format!(
                "CONNECT {{\"verbose\":false,\"pedantic\":false,\"tls_required\":false,\"name\":\"plimsoll\",\
                 \"lang\":\"rust\",\"version\":\"{version}\",\"protocol\":1,\"echo\":true,\"headers\":false,\
                 \"no_responders\":false}}\r\n"
            )
        );
        let user = text(Greeting {
            user: Some("kay"),
            password: Some("se\"cret"),
            ..Greeting::default()
        });
        assert!(
            user.contains(r#""user":"kay","pass":"se\"cret","name""#),
            "{user}"
        );
        let headers = text(Greeting {
            has_headers: true,
            ..Greeting::default()
        });
        assert!(
            headers.contains(r#""headers":true,"no_responders":true"#),
            "{headers}"
        );
        let token = text(Greeting {
            token: Some("t"),
            is_encrypted: true,
            ..Greeting::default()
        });
        assert!(
            token.contains(r#""tls_required":true,"auth_token":"t","name""#),
            "{token}"
        );
    }
}
