//! The seam between sessions and the application that decides who may connect, subscribe and do what.
//!
//! Its shape is AnyCable's RPC contract (spec §3): stateless calls with everything the application needs in
//! them, and replies that say which streams to join and which messages to transmit verbatim. Two applications
//! are embedded; remote ones take the same seam.

use std::{future::Future, net::IpAddr, pin::Pin};

mod benchmark;
mod channel;
mod chat;

pub use benchmark::Benchmark;
pub use chat::Chat;

/// A call under way. It stays on the session's shard, so it need not be `Send`.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Decides what sessions may do.
///
/// Calls for one session come one at a time, in the order of its commands. A call must not block the thread:
/// a whole shard waits with it.
pub trait Application: Send + Sync {
    /// A client has connected. The reply's transmissions carry the welcome message.
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply>;

    /// A client subscribes, unsubscribes or performs an action.
    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply>;
}

/// A new connection, as the application sees it.
#[derive(Debug, Clone)]
pub struct ConnectRequest {
    /// The session's id, made by the server.
    pub sid: String,
    /// The full URL of the request, with its query.
    pub url: String,
    /// The request's `Cookie` header.
    pub cookies: Option<String>,
    /// The peer's address.
    pub remote_address: IpAddr,
}

impl ConnectRequest {
    /// The value of one cookie, as it stands in the header.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.cookies.as_deref()?.split(';');
        pairs
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(key, value)| (key == name).then_some(value))
    }
}

/// What became of a connection.
#[derive(Debug)]
pub enum ConnectReply {
    /// The client may stay.
    Accepted {
        /// Who it is, in the application's words; comes back with every command.
        identifiers: String,
        /// Messages for the client, sent verbatim, the welcome among them.
        transmissions: Vec<String>,
    },
    /// The client is not welcome.
    Refused {
        /// Messages for the client, sent verbatim before the connection closes.
        transmissions: Vec<String>,
    },
}

/// One command of a client.
#[derive(Debug)]
pub struct CommandRequest<'a> {
    /// The session's id.
    pub sid: &'a str,
    /// What `connect` returned.
    pub identifiers: &'a str,
    /// The channel and its parameters, as the client wrote them.
    pub identifier: &'a str,
    /// What the client wants.
    pub action: Action<'a>,
}

/// What a client wants of a channel.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    /// To hear it.
    Subscribe,
    /// To hear it no more. The server drops the subscription's streams whatever the reply says.
    Unsubscribe,
    /// To do something; the data is JSON text with an `action`.
    Perform(&'a str),
}

/// What a command led to. Applied in the order of the fields.
#[derive(Debug, Default)]
pub struct CommandReply {
    /// Whether a subscription is granted. Of no meaning for other actions.
    pub accepted: bool,
    /// Streams that the subscription hears from now on.
    pub streams: Vec<String>,
    /// Messages for the client, sent verbatim: a confirmation or rejection, and whatever else.
    pub transmissions: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cookies: Option<&str>, name: &str, expected: Option<&str>) {
        let request = ConnectRequest {
            sid: String::new(),
            url: String::new(),
            cookies: cookies.map(str::to_owned),
            remote_address: IpAddr::from([127, 0, 0, 1]),
        };
        assert_eq!(request.cookie(name), expected, "{cookies:?}");
    }

    #[test]
    fn finds_every_cookie() {
        check(None, "uid", None);
        check(Some("uid=kay/1"), "uid", Some("kay/1"));
        check(Some("a=1; uid=kay/1;b=2"), "uid", Some("kay/1"));
        check(Some("a=1; b=x=y=="), "b", Some("x=y=="));
        check(Some("xuid=1; uid"), "uid", None);
    }
}
