//! Publishes as a backend does, over HTTP or through Redis (docs/protocols/broadcasts.md).

mod http;
mod redis;

use std::{fmt, io, sync::Arc, time::Duration};

use rustls::ClientConfig;
use tokio::{sync::Mutex, time::timeout};

use self::{http::HttpDoor, redis::RedisDoor};
use super::message::quoted;
use crate::Server;

/// The path of broadcasts in the default settings of AnyCable's servers.
const PATH: &str = "/_broadcast";
const REDIS_NAME: &str = "__anycable__";
const REDIS_URL: &str = "redis://127.0.0.1:6379";

/// The time limit of one publication. Reason: on a local network it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// How broadcasts reach the server under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Adapter {
    /// `POST /_broadcast`.
    #[default]
    Http,
    /// `PUBLISH`: the old way, without acknowledgements.
    Redis,
    /// `XADD` to a stream.
    Redisx,
}

/// Why something could not be published.
#[derive(Debug, thiserror::Error)]
pub enum BroadcastError {
    /// The URL has an unsupported scheme, such as `ftp://`.
    #[error("{url} is not a URL for broadcasts over {adapter}; expected something like {example}")]
    Url {
        /// The URL as given, without user and password.
        url: String,
        /// The adapter that it was given for.
        adapter: Adapter,
        /// An example of a valid URL.
        example: &'static str,
    },
    /// The connection cannot be made or was lost.
    #[error("broadcast to {place}: {error}")]
    Io {
        /// `host:port`.
        place: String,
        /// The error of the connection.
        error: io::Error,
    },
    /// The answer does not mean success.
    #[error("broadcast to {place}: expected {expected}, got {answer}")]
    Refused {
        /// `host:port`.
        place: String,
        /// The answer.
        answer: String,
        /// The answer that means success.
        expected: &'static str,
    },
}

/// A way to the server under test, with one connection that all scenarios share.
#[derive(Debug)]
pub(super) struct Broadcaster {
    door: Mutex<Door>,
}

#[derive(Debug)]
enum Door {
    Http(HttpDoor),
    Redis(RedisDoor),
}

impl Broadcaster {
    /// Prepares broadcasts to `url`; `None` is the adapter's default, for HTTP at the target itself. `tls` is for
    /// URLs that need it, and `key` is the secret of the HTTP adapter.
    pub(super) fn new(
        adapter: Adapter,
        url: Option<&str>,
        tls: Option<Arc<ClientConfig>>,
        key: Option<&str>,
        target: &Server,
    ) -> Result<Self, BroadcastError> {
        let door = match adapter {
            Adapter::Http => {
                let usual = target.origin() + PATH;
                Door::Http(HttpDoor::new(url.unwrap_or(&usual), tls, key)?)
            }
            Adapter::Redis | Adapter::Redisx => Door::Redis(RedisDoor::new(
                adapter,
                url.unwrap_or(REDIS_URL),
                tls,
                REDIS_NAME,
            )?),
        };
        Ok(Self {
            door: Mutex::new(door),
        })
    }

    /// Publishes one body: a message, a list of messages, or a command. When this returns, the next body that is
    /// published comes after it.
    pub(super) async fn publish(&self, body: &str) -> Result<(), BroadcastError> {
        let mut door = self.door.lock().await;
        let (place, published) = match &mut *door {
            Door::Http(door) => (door.place(), timeout(PATIENCE, door.publish(body)).await),
            Door::Redis(door) => (door.place(), timeout(PATIENCE, door.publish(body)).await),
        };
        published.unwrap_or_else(|_elapsed| {
            Err(BroadcastError::Io {
                place,
                error: io::Error::new(io::ErrorKind::TimedOut, "no answer within 10 s"),
            })
        })
    }
}

/// A broadcast of `data`, which is usually JSON, to all listeners of a stream.
pub(super) fn to_stream(stream: &str, data: &str) -> String {
    format!(r#"{{"stream":{},"data":{}}}"#, quoted(stream), quoted(data))
}

/// A broadcast to all listeners except the session `sid`.
pub(super) fn to_others(stream: &str, data: &str, sid: &str) -> String {
    let (stream, data, sid) = (quoted(stream), quoted(data), quoted(sid));
    format!(r#"{{"stream":{stream},"data":{data},"meta":{{"exclude_socket":{sid}}}}}"#)
}

/// A broadcast to the current listeners only: history does not keep it.
pub(super) fn passing(stream: &str, data: &str) -> String {
    let (stream, data) = (quoted(stream), quoted(data));
    format!(r#"{{"stream":{stream},"data":{data},"meta":{{"transient":true}}}}"#)
}

/// Ends all sessions of a user.
pub(super) fn disconnect(identifiers: &str, reconnect: bool) -> String {
    let identifier = quoted(identifiers);
    format!(r#"{{"command":"disconnect","payload":{{"identifier":{identifier},"reconnect":{reconnect}}}}}"#)
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "http",
            Self::Redis => "redis",
            Self::Redisx => "redisx",
        })
    }
}
