//! Family h: requests to servers, good and bad ones (RFC 6455 §4.2, RFC 9110, RFC 9112, RFC 7692 §7.1).

use super::{List, Script};
use crate::{Clause, Server, protocol::request::Request};

mod extensions;
mod fields;
mod smuggling;

pub(in crate::websocket) use smuggling::SMUGGLED;

/// A request and the required reaction of a server.
pub(in crate::websocket) struct Asked {
    /// The bytes up to the first frame, for a server.
    pub(in crate::websocket) request: MakeRequest,
    /// The number of bytes per write.
    pub(in crate::websocket) n_at_once: usize,
    /// Whether a text goes out with the request, instead of after the answer.
    pub(in crate::websocket) text_at_once: bool,
    /// Sub-protocols that are offered.
    pub(in crate::websocket) protocols: &'static [&'static str],
    /// The correct reaction.
    pub(in crate::websocket) reaction: Reaction,
}

/// Makes the bytes of a request to a server.
pub(in crate::websocket) type MakeRequest = Box<dyn Fn(&Server) -> Vec<u8>>;

/// The required reaction of a server.
#[derive(Clone, Copy, Debug)]
pub(in crate::websocket) enum Reaction {
    /// The server must open a WebSocket on which a text comes back.
    Open,
    /// The server should open a WebSocket; a refusal is less strict.
    OpenBetter,
    /// The server must open a WebSocket without an extension.
    OpenPlain,
    /// The server must open a WebSocket, with permessage-deflate on terms that the offer allows, if the server
    /// supports it.
    OpenDeflated,
    /// The server must refuse with one of these statuses. Another status, or the end of the connection, is less
    /// strict.
    Refuse(&'static [u16]),
    /// The server must refuse with this status and this header field.
    RefuseWith(u16, &'static str, &'static str),
    /// The server should refuse; opening is less strict.
    RefuseBetter,
    /// Either: both are right.
    Either,
    /// Either, and both are common: it is worth knowing which.
    Tell,
    /// The server must refuse with this status and this header field, unless it understands the requested version of the
    /// protocol, too.
    RefuseUnlessUnderstood(u16, &'static str, &'static str),
}

/// The clause of valid requests: a server that accepts a connection MUST go through the steps of the handshake. The parts of
/// a valid request are in §4.2.1.
const HANDSHAKE: Clause = Clause::must("RFC 6455 §4.2.1, §4.2.2");

/// The refusal of a malformed or incomplete request.
const BAD: Reaction = Reaction::Refuse(&[400]);

/// The refusal of a valid request that does not ask for a WebSocket.
const NO_UPGRADE: Reaction = Reaction::Refuse(&[200, 400, 404, 405, 426, 501]);

pub(super) fn add(list: &mut List) {
    add_request_line(list);
    fields::add(list);
    smuggling::add(list);
    add_arrival(list);
    extensions::add(list);
}

impl List {
    /// A case that is a request.
    fn asks(
        &mut self,
        id: &'static str,
        title: &'static str,
        clause: Clause,
        reaction: Reaction,
        request: impl Fn(Request) -> Request + 'static,
    ) {
        self.asks_bytes(id, title, clause, reaction, move |server| {
            request(Request::new(server)).encode()
        });
    }

    /// A case with full control over the bytes of the request.
    fn asks_bytes(
        &mut self,
        id: &'static str,
        title: &'static str,
        clause: Clause,
        reaction: Reaction,
        request: impl Fn(&Server) -> Vec<u8> + 'static,
    ) {
        let asked = Asked {
            request: Box::new(request),
            n_at_once: usize::MAX,
            text_at_once: false,
            protocols: &[],
            reaction,
        };
        self.add(id, title, clause, Script::Request(asked));
    }
}

fn add_request_line(list: &mut List) {
    // A server MUST NOT go on with a request that is not as §4.2.1 describes it.
    const CLAUSE: Clause = Clause::must("RFC 6455 §4.2.1 (1)");
    list.asks(
        "h.1.1",
        "the usual request opens a WebSocket",
        HANDSHAKE,
        Reaction::Open,
        |request| request,
    );
    list.asks(
        "h.1.2",
        "POST does not",
        CLAUSE,
        Reaction::Refuse(&[400, 404, 405]),
        |mut request| {
            request.line = request.line.replacen("GET", "POST", 1);
            request
        },
    );
    list.asks(
        "h.1.3",
        "`get` in lower case does not",
        Clause::must("RFC 6455 §4.2.1 (1), RFC 9110 §9.1"),
        Reaction::Refuse(&[400, 404, 405, 501]),
        |mut request| {
            request.line = request.line.replacen("GET", "get", 1);
            request
        },
    );
    list.asks(
        "h.1.4",
        "HTTP/1.0 does not",
        CLAUSE,
        Reaction::Refuse(&[400, 404, 426, 505]),
        |mut request| {
            request.line = request.line.replacen("HTTP/1.1", "HTTP/1.0", 1);
            request
        },
    );
    list.asks(
        "h.1.5",
        "HTTP/3.7, which is higher than 1.1",
        Clause::may("RFC 6455 §4.2.1 (1)"),
        Reaction::Tell,
        |mut request| {
            request.line = request.line.replacen("HTTP/1.1", "HTTP/3.7", 1);
            request
        },
    );
    list.asks_bytes(
        "h.1.6",
        "a target in absolute form is accepted",
        Clause::must("RFC 9112 §3.2.2"),
        Reaction::Open,
        |server| {
            let mut request = Request::new(server);
            request.line = format!("GET {} HTTP/1.1", server.absolute());
            request.encode()
        },
    );
    list.asks(
        "h.1.7",
        "a request line without a version does not",
        CLAUSE,
        BAD,
        |mut request| {
            request.line = request.line.replacen(" HTTP/1.1", "", 1);
            request
        },
    );
}

fn add_arrival(list: &mut List) {
    let usual = || Asked {
        request: Box::new(|server: &Server| Request::new(server).encode()),
        n_at_once: usize::MAX,
        text_at_once: false,
        protocols: &[],
        reaction: Reaction::Open,
    };
    let bytewise = Asked {
        n_at_once: 1,
        ..usual()
    };
    list.add(
        "h.6.1",
        "a request that comes byte by byte is read",
        HANDSHAKE,
        Script::Request(bytewise),
    );
    let early = Asked {
        text_at_once: true,
        reaction: Reaction::Tell,
        ..usual()
    };
    let title = "a text right behind the request, where no client may send one";
    let clause = Clause::informational("RFC 6455 §4.1");
    list.add("h.6.2", title, clause, Script::Request(early));
    list.asks_bytes(
        "h.6.3",
        "an empty line before the request is ignored",
        Clause::should("RFC 9112 §2.2"),
        Reaction::OpenBetter,
        |server| [b"\r\n".to_vec(), Request::new(server).encode()].concat(),
    );
    for (id, title, protocols) in [
        (
            "h.7.1",
            "an unknown sub-protocol is not chosen",
            &["x-nobody-knows-this"][..],
        ),
        (
            "h.7.2",
            "neither of two unknown sub-protocols is chosen",
            &["x-nobody", "x-knows-this"],
        ),
    ] {
        let asked = Asked {
            request: Box::new(|server: &Server| {
                let field = format!("Sec-WebSocket-Protocol: {}", protocols.join(", "));
                Request::new(server).with(field).encode()
            }),
            // An echo server may take any; one that was not offered would be caught.
            protocols,
            reaction: Reaction::Either,
            ..usual()
        };
        list.add(id, title, Clause::must("RFC 6455 §4.2.2"), Script::Request(asked));
    }
    list.asks(
        "h.7.3",
        "a sub-protocol that is not a token",
        Clause::informational("RFC 6455 §4.1 (10)"),
        Reaction::Tell,
        |request| request.with("Sec-WebSocket-Protocol: a b(c)"),
    );
    list.asks(
        "h.8.1",
        "an origin",
        Clause::may("RFC 6455 §4.2.2, §10.2"),
        Reaction::Tell,
        |request| request.with("Origin: http://origin.example"),
    );
    list.asks(
        "h.8.2",
        "an origin that is hidden",
        Clause::may("RFC 6455 §4.2.2, RFC 6454 §7"),
        Reaction::Tell,
        |request| request.with("Origin: null"),
    );
    list.asks(
        "h.8.3",
        "cookies and unknown fields change nothing",
        HANDSHAKE,
        Reaction::Open,
        |request| {
            request
                .with("Cookie: a=b; c=\"d\"")
                .with("X-Unknown: anything")
                .with("User-Agent: conform")
        },
    );
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked")
            .field("reaction", &self.reaction)
            .finish_non_exhaustive()
    }
}
