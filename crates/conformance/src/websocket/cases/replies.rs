//! Family r: answers to clients, good and bad ones (RFC 6455 §4.1, RFC 7692 §7.1). A client must fail the connection on the
//! bad ones.

use super::{List, Script};
use crate::{
    Clause,
    protocol::head::Head,
    websocket::{opening::accept_of, terms::Terms},
};

/// An answer and the required reaction of a client.
pub(in crate::websocket) struct Replied {
    /// The bytes up to the first frame, for the client's request.
    pub(in crate::websocket) reply: MakeReply,
    /// The number of bytes per write.
    pub(in crate::websocket) n_at_once: usize,
    /// Whether a text goes out in the same write.
    pub(in crate::websocket) text_at_once: bool,
    /// The correct reaction.
    pub(in crate::websocket) reaction: Reaction,
}

/// Makes the bytes of an answer to a request.
pub(in crate::websocket) type MakeReply = Box<dyn Fn(&Head) -> Vec<u8>>;

/// The required reaction of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::websocket) enum Reaction {
    /// The client must open the WebSocket and echo.
    Open,
    /// The client must end the connection without a frame.
    Fail,
    /// The client must end the connection without a frame; only for clients that do not offer compression.
    FailUnlessOffered,
    /// The client must end the connection without a frame; only for clients that offer compression.
    FailIfOffered,
    /// The client must not open a WebSocket. What else it does is HTTP's business: it may keep the connection, and ask again.
    StayClosed,
    /// Either is right.
    Tell,
}

/// An answer that opens a WebSocket, unless a case changes it.
#[derive(Clone, Debug)]
pub(in crate::websocket) struct Reply {
    pub(in crate::websocket) line: String,
    pub(in crate::websocket) fields: Vec<String>,
}

impl Reply {
    /// The usual answer to a request.
    pub(in crate::websocket) fn new(request: &Head) -> Self {
        let key = request.values("Sec-WebSocket-Key").next().unwrap_or_default();
        Self {
            line: "HTTP/1.1 101 Switching Protocols".to_owned(),
            fields: vec![
                "Upgrade: websocket".to_owned(),
                "Connection: Upgrade".to_owned(),
                format!("Sec-WebSocket-Accept: {}", accept_of(key)),
            ],
        }
    }

    /// The answer with one more field.
    pub(in crate::websocket) fn with(mut self, field: impl Into<String>) -> Self {
        self.fields.push(field.into());
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.fields
            .retain(|field| !field.starts_with(&format!("{name}:")));
        self
    }

    fn replacing(self, name: &str, value: &str) -> Self {
        self.without(name).with(format!("{name}: {value}"))
    }

    /// The answer as bytes.
    pub(in crate::websocket) fn encode(&self) -> Vec<u8> {
        format!("{}\r\n{}\r\n\r\n", self.line, self.fields.join("\r\n")).into_bytes()
    }
}

pub(super) fn add(list: &mut List) {
    add_good(list);
    add_accept(list);
    add_statuses(list);
    add_fields(list);
    add_extensions(list);
}

impl List {
    /// A case that is an answer.
    fn replies(
        &mut self,
        id: &'static str,
        title: &'static str,
        clause: Clause,
        reaction: Reaction,
        reply: impl Fn(Reply) -> Reply + 'static,
    ) {
        let replied = Replied {
            reply: Box::new(move |request| reply(Reply::new(request)).encode()),
            n_at_once: usize::MAX,
            text_at_once: false,
            reaction,
        };
        self.add(id, title, clause, Script::Reply(replied));
    }
}

fn add_good(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §4.1");
    list.replies(
        "r.1.1",
        "the usual answer opens a WebSocket",
        CLAUSE,
        Reaction::Open,
        |reply| reply,
    );
    list.replies(
        "r.1.2",
        "names, websocket and Upgrade are case-insensitive",
        CLAUSE,
        Reaction::Open,
        |mut reply| {
            reply.fields[0] = "UPGRADE: WebSocket".to_owned();
            reply.fields[1] = "connection: UPGRADE".to_owned();
            reply
        },
    );
    list.replies(
        "r.1.3",
        "Connection may name further options",
        CLAUSE,
        Reaction::Open,
        |reply| reply.replacing("Connection", "x-other, Upgrade"),
    );
    list.replies(
        "r.1.4",
        "another reason phrase changes nothing",
        Clause::must("RFC 6455 §4.1, RFC 9112 §4"),
        Reaction::Open,
        |mut reply| {
            reply.line = "HTTP/1.1 101 As You Wish".to_owned();
            reply
        },
    );
    list.replies(
        "r.1.5",
        "unknown fields change nothing",
        CLAUSE,
        Reaction::Open,
        |reply| reply.with("Server: conform").with("X-Unknown: anything"),
    );
    let usual = || Replied {
        reply: Box::new(|request: &Head| Reply::new(request).encode()),
        n_at_once: usize::MAX,
        text_at_once: false,
        reaction: Reaction::Open,
    };
    let bytewise = Replied {
        n_at_once: 1,
        ..usual()
    };
    list.add(
        "r.1.6",
        "an answer that comes byte by byte is read",
        CLAUSE,
        Script::Reply(bytewise),
    );
    let early = Replied {
        text_at_once: true,
        ..usual()
    };
    list.add(
        "r.1.7",
        "a text right behind the answer comes back",
        CLAUSE,
        Script::Reply(early),
    );
}

fn add_accept(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §4.1 (4)");
    const FIELD: &str = "Sec-WebSocket-Accept";
    list.replies(
        "r.2.1",
        "an answer without Sec-WebSocket-Accept",
        CLAUSE,
        Reaction::Fail,
        |reply| reply.without(FIELD),
    );
    for (id, title, value) in [
        (
            "r.2.2",
            "the Sec-WebSocket-Accept of another key",
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        ),
        ("r.2.3", "an empty Sec-WebSocket-Accept", ""),
        ("r.2.4", "a Sec-WebSocket-Accept that is not base64", "?"),
    ] {
        list.replies(id, title, CLAUSE, Reaction::Fail, move |reply| {
            reply.replacing(FIELD, value)
        });
    }
    list.replies(
        "r.2.5",
        "the Sec-WebSocket-Accept in other letters",
        CLAUSE,
        Reaction::Fail,
        |mut reply| {
            let value = reply.fields[2].split_off(FIELD.len() + 2);
            let swapped: String = value
                .chars()
                .map(|c| {
                    if c.is_ascii_lowercase() {
                        c.to_ascii_uppercase()
                    } else {
                        c.to_ascii_lowercase()
                    }
                })
                .collect();
            reply.replacing(FIELD, &swapped)
        },
    );
    list.replies(
        "r.2.6",
        "two Sec-WebSocket-Accepts, one of them right",
        Clause::should("RFC 6455 §11.3.3"),
        Reaction::Fail,
        |reply| reply.with("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
    );
}

fn add_statuses(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §4.1, §4.2.2 (5)");
    for (id, title, line) in [
        ("r.3.1", "200 opens nothing", "HTTP/1.1 200 OK"),
        ("r.3.2", "400 opens nothing", "HTTP/1.1 400 Bad Request"),
        ("r.3.3", "401 opens nothing", "HTTP/1.1 401 Unauthorized"),
        ("r.3.4", "404 opens nothing", "HTTP/1.1 404 Not Found"),
        ("r.3.5", "426 opens nothing", "HTTP/1.1 426 Upgrade Required"),
        ("r.3.6", "500 opens nothing", "HTTP/1.1 500 Internal Server Error"),
        (
            "r.3.7",
            "301 without a Location opens nothing",
            "HTTP/1.1 301 Moved Permanently",
        ),
        (
            "r.3.8",
            "a first line that is not HTTP opens nothing",
            "SSH-2.0 101 Switching",
        ),
    ] {
        let (clause, reaction) = match id {
            "r.3.8" => (CLAUSE, Reaction::Fail),
            _ => (Clause::must("RFC 6455 §4.1 (1)"), Reaction::StayClosed),
        };
        list.replies(id, title, clause, reaction, move |mut reply| {
            line.clone_into(&mut reply.line);
            reply.with("Content-Length: 0")
        });
    }
}

fn add_fields(list: &mut List) {
    const UPGRADE: Clause = Clause::must("RFC 6455 §4.1 (2)");
    const CONNECTION: Clause = Clause::must("RFC 6455 §4.1 (3)");
    const PROTOCOL: Clause = Clause::must("RFC 6455 §4.1 (6)");
    list.replies(
        "r.4.1",
        "an answer without Upgrade",
        UPGRADE,
        Reaction::Fail,
        |reply| reply.without("Upgrade"),
    );
    list.replies(
        "r.4.2",
        "an Upgrade to something else",
        UPGRADE,
        Reaction::Fail,
        |reply| reply.replacing("Upgrade", "h2c"),
    );
    list.replies(
        "r.4.3",
        "an answer without Connection",
        CONNECTION,
        Reaction::Fail,
        |reply| reply.without("Connection"),
    );
    list.replies(
        "r.4.4",
        "a Connection that does not name Upgrade",
        CONNECTION,
        Reaction::Fail,
        |reply| reply.replacing("Connection", "close"),
    );
    list.replies(
        "r.4.5",
        "a sub-protocol that was not offered",
        PROTOCOL,
        Reaction::Fail,
        |reply| reply.with("Sec-WebSocket-Protocol: x-nobody-offered-this"),
    );
    list.replies(
        "r.4.6",
        "a space before a colon",
        Clause::informational("RFC 9112 §5.1"),
        Reaction::Tell,
        |reply| reply.with("X-Field : value"),
    );
}

fn add_extensions(list: &mut List) {
    const CLAUSE: Clause = Clause::must("RFC 6455 §4.1 (5)");
    list.replies("r.5.1", "an unknown extension", CLAUSE, Reaction::Fail, |reply| {
        extending(reply, "x-unknown")
    });
    list.replies(
        "r.5.2",
        "compression that was not offered",
        CLAUSE,
        Reaction::FailUnlessOffered,
        |reply| extending(reply, "permessage-deflate"),
    );
    const TERMS: Clause = Clause::must("RFC 7692 §7");
    for (id, title, value) in [
        ("r.5.3", "an unknown parameter", "permessage-deflate; x-unknown"),
        (
            "r.5.4",
            "a window of 16 bits",
            "permessage-deflate; server_max_window_bits=16",
        ),
        (
            "r.5.5",
            "a window of 7 bits",
            "permessage-deflate; server_max_window_bits=7",
        ),
        (
            "r.5.6",
            "a window without a number",
            "permessage-deflate; server_max_window_bits",
        ),
        (
            "r.5.7",
            "a parameter twice",
            "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
        ),
        (
            "r.5.8",
            "permessage-deflate twice",
            "permessage-deflate, permessage-deflate",
        ),
        (
            "r.5.9",
            "an unknown extension beside compression",
            "permessage-deflate, x-unknown",
        ),
    ] {
        let clause = match id {
            "r.5.8" => Clause::must("RFC 7692 §6"),
            "r.5.9" => CLAUSE,
            _ => TERMS,
        };
        // Everything else about the terms is as the client offered it, so that this alone is wrong.
        list.add(
            id,
            title,
            clause,
            Script::Reply(Replied {
                reply: Box::new(move |request| {
                    let demanded = Terms::answering(request).unwrap_or_default().header();
                    let demanded = demanded.strip_prefix("permessage-deflate").unwrap_or_default();
                    let value =
                        value.replacen("permessage-deflate", &format!("permessage-deflate{demanded}"), 1);
                    extending(Reply::new(request), &value).encode()
                }),
                n_at_once: usize::MAX,
                text_at_once: false,
                reaction: Reaction::FailIfOffered,
            }),
        );
    }
}

fn extending(reply: Reply, value: &str) -> Reply {
    reply.with(format!("Sec-WebSocket-Extensions: {value}"))
}

impl std::fmt::Debug for Replied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replied")
            .field("reaction", &self.reaction)
            .finish_non_exhaustive()
    }
}
