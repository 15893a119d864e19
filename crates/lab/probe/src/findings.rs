//! What an examination found. The JSON form is documented in `docs/reference/probe.md`.

use serde::Serialize;

/// The result of an examination.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// The examined URL as a WebSocket URL. It differs from the requested one if the scheme was wrong, or if the server
    /// has its WebSocket on another path.
    pub url: String,
    /// The requested URL, with `ws` for `http`.
    pub requested: String,
    /// The kind of server.
    pub kind: Kind,
    /// Why a client cannot use the URL as requested. Empty if it can.
    pub problems: Vec<Problem>,
    /// The address that accepted the connection.
    pub address: Option<String>,
    /// The HTTP status of the answer to the first complete request; 101 is an open WebSocket. None without an answer.
    pub status: Option<u16>,
    /// None if the server has no WebSocket.
    pub sub_protocols: Option<SubProtocols>,
    /// None if the server has no WebSocket.
    pub origins: Option<Origins>,
    /// Whether the server wants to know who the client is.
    pub authentication: Authentication,
    /// The names of what the client sent to say who it is: header fields, and with a `?` parameters of the URL.
    pub credentials: Vec<String>,
    /// None for a connection without TLS.
    pub tls: Option<TlsFinding>,
    /// Whether the server agreed to permessage-deflate (RFC 7692). None if the server has no WebSocket.
    pub compression: Option<bool>,
    /// The server's signs of life. None if there were none while the examination listened.
    pub ping: Option<Ping>,
    /// The first message of the server, at most 200 characters.
    pub greeting: Option<String>,
    /// Header fields by which servers and proxies name themselves, as `Name: value`.
    pub on_the_way: Vec<String>,
    /// The duration of the first successful handshake.
    pub handshake: Option<Handshake>,
    /// The connections that the examination opened or tried to open.
    pub n_connections: u32,
    /// The duration of the examination in seconds.
    pub seconds: f64,
}

impl Findings {
    /// What is known of a URL before its examination.
    pub fn before(url: String) -> Self {
        Self {
            requested: url.clone(),
            url,
            kind: Kind::Nothing,
            problems: Vec::new(),
            address: None,
            status: None,
            sub_protocols: None,
            origins: None,
            authentication: Authentication::Unknown,
            credentials: Vec::new(),
            tls: None,
            compression: None,
            ping: None,
            greeting: None,
            on_the_way: Vec::new(),
            handshake: None,
            n_connections: 0,
            seconds: 0.0,
        }
    }
}

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Action Cable's protocol without AnyCable's extensions.
    ActionCable,
    /// Action Cable's protocol with AnyCable's extensions: AnyCable, or Plimsoll.
    Anycable,
    /// Engine.IO and Socket.IO.
    SocketIo,
    /// Phoenix Channels.
    Phoenix,
    /// Pusher Channels.
    Pusher,
    /// A WebSocket that sends each message back.
    Echo,
    /// A WebSocket with another protocol.
    Websocket,
    /// Server-Sent Events.
    Sse,
    /// gRPC.
    Grpc,
    /// HTTP without a WebSocket at this path.
    Http,
    /// Accepts connections, and speaks neither HTTP nor gRPC.
    Unknown,
    /// No connection could be made.
    Nothing,
}

impl Kind {
    /// Whether the server opened a WebSocket.
    pub fn is_websocket(self) -> bool {
        self.is_cable()
            || matches!(
                self,
                Self::SocketIo | Self::Phoenix | Self::Pusher | Self::Echo | Self::Websocket
            )
    }

    /// Whether the server speaks Action Cable's protocol.
    pub fn is_cable(self) -> bool {
        matches!(self, Self::ActionCable | Self::Anycable)
    }
}

/// A reason why a client cannot use the URL as requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "problem", rename_all = "kebab-case")]
pub enum Problem {
    /// No connection, or no answer.
    Unreachable {
        /// The error.
        reason: String,
        /// What to do about it. None if there are too many causes.
        advice: Option<&'static str>,
    },
    /// The port does not speak TLS, and the URL asks for TLS.
    NoTls,
    /// The port speaks TLS, and the URL does not ask for it.
    NeedsTls,
    /// The certificate is not accepted.
    Certificate {
        /// The reason.
        reason: String,
    },
    /// The server wants credentials, or other credentials.
    Unauthorized {
        /// The HTTP status. None if the WebSocket was opened and the refusal was a message.
        status: Option<u16>,
        /// The server's challenge (`WWW-Authenticate`).
        challenge: Option<String>,
    },
    /// The server accepts a client without an `Origin`, or with another one, and not with the URL's own.
    Origin,
    /// The path has no WebSocket; another path has one.
    OtherPath,
    /// The path has no WebSocket.
    NoWebSocket {
        /// The HTTP status.
        status: u16,
    },
    /// Something on the way dropped the header `Upgrade`: the server demands the header that the examination sent.
    UpgradeDropped {
        /// The program that answered (`Server`).
        server: Option<String>,
    },
    /// The server has too many clients, or stops.
    Busy {
        /// The HTTP status.
        status: u16,
    },
    /// A proxy does not reach the server behind it.
    BadGateway {
        /// The HTTP status.
        status: u16,
    },
    /// The server redirects.
    Redirect {
        /// The destination.
        location: String,
    },
}

/// The sub-protocols to which the server agreed, each offered alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SubProtocols {
    /// Those that the server chose.
    pub agreed: Vec<String>,
    /// Those that it did not choose.
    pub refused: Vec<String>,
    /// Whether it also agreed to a name that no server can know.
    pub agrees_to_any: bool,
}

/// The treatment of the header `Origin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Origins {
    /// The URL's own origin, or that of the question.
    pub own: Verdict,
    /// An origin that does not exist: `https://probe.invalid`.
    pub foreign: Verdict,
    /// No `Origin`.
    pub none: Verdict,
}

/// The answer to a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The WebSocket was opened.
    Accepted,
    /// It was not.
    Refused,
    /// The question was not asked: the time or the connections were used up.
    NotAsked,
}

/// Whether the server wants to know who the client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Authentication {
    /// A client without credentials was accepted. Channels may still be refused.
    NotNeeded,
    /// Credentials were sent and accepted; without them the client is refused.
    Accepted,
    /// Credentials were sent and accepted, and a client without them is accepted, too.
    Ignored,
    /// Credentials were sent and accepted. A client without them was not tried, or got no answer.
    Untested,
    /// The client was refused.
    Refused,
    /// The examination did not get so far.
    Unknown,
}

/// The certificate of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TlsFinding {
    /// Whether the certificate was verified and accepted.
    pub is_verified: bool,
    /// Why not. None also with `--insecure`, where nothing is verified.
    pub reason: Option<String>,
}

/// The signs of life of a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ping {
    /// Their form.
    pub source: PingSource,
    /// The time between two of them in seconds. None if only one arrived while the examination listened.
    pub seconds: Option<f64>,
    /// Whether the server announced the interval, in place of a measurement.
    pub is_announced: bool,
}

/// The form of signs of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PingSource {
    /// Messages of the protocol.
    Message,
    /// Ping frames of WebSocket (RFC 6455 §5.5.2).
    Frame,
}

/// The phases of a handshake in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Handshake {
    /// The TCP connection.
    pub tcp_ms: f64,
    /// TLS, zero without it.
    pub tls_ms: f64,
    /// The HTTP upgrade.
    pub upgrade_ms: f64,
}
