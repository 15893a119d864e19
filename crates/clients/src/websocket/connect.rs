//! From nothing to an open WebSocket, with the time of each phase.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use plimsoll_websocket::{
    deflate::Preferences,
    handshake::client::{Accepted, Handshake},
};
use tokio::{net::TcpStream, time::timeout_at};

use super::{ConnectError, Connection, Options, tcp};
use crate::cause::Phase;

/// How long the phases took, on the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timings {
    /// Immediately before the TCP connect.
    pub started: Instant,
    /// Until the TCP connection stood; contains failed attempts at earlier addresses of the target.
    pub tcp_connect: Duration,
    /// From there until the server's 101 was read.
    pub upgrade: Duration,
}

impl Timings {
    /// From before the TCP connect until the WebSocket was open.
    pub fn total(&self) -> Duration {
        self.tcp_connect + self.upgrade
    }
}

/// Opens a WebSocket.
///
/// # Errors
/// [`ConnectError`]; its [`cause`](ConnectError::cause) is what to count.
pub async fn connect(options: &Options) -> Result<(Connection, Timings), ConnectError> {
    let started = Instant::now();
    let deadline = Deadline {
        at: tokio::time::Instant::now() + options.deadline,
        after: options.deadline,
    };
    let mut stream = deadline.hold(Phase::TcpConnect, tcp::connect(options)).await?;
    let tcp_connect = started.elapsed();
    let (accepted, unread) = deadline
        .hold(Phase::Upgrade, upgrade(&mut stream, options))
        .await?;
    let timings = Timings {
        started,
        tcp_connect,
        upgrade: started.elapsed() - tcp_connect,
    };
    Ok((
        Connection::new(stream, options.max_message_bytes, accepted, unread),
        timings,
    ))
}

struct Deadline {
    at: tokio::time::Instant,
    after: Duration,
}

impl Deadline {
    async fn hold<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, ConnectError>>,
    ) -> Result<T, ConnectError> {
        let timed_out = |_| ConnectError::TimedOut {
            phase,
            after: self.after,
        };
        timeout_at(self.at, work).await.map_err(timed_out)?
    }
}

/// Sends the request and reads the answer; what came behind it is the beginning of the frames.
async fn upgrade(stream: &mut TcpStream, options: &Options) -> Result<(Accepted, Vec<u8>), ConnectError> {
    let handshake = handshake(options);
    write_all(stream, &handshake.request()?).await?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    loop {
        stream.readable().await.map_err(ConnectError::Lost)?;
        match stream.try_read_buf(&mut head) {
            Ok(0) => return Err(ConnectError::Ended),
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => {
                return Err(ConnectError::Lost(error));
            }
            _ => {}
        }
        // The handshake refuses heads over its limit, so this buffer is bounded.
        if let Some((accepted, n_head_bytes)) = handshake.parse_response(&head)? {
            return Ok((accepted, head[n_head_bytes..].to_vec()));
        }
        head.reserve(HEAD_BYTES);
    }
}

/// Answers to an upgrade are 130 to 300 bytes; a `welcome` often comes with them.
const HEAD_BYTES: usize = 512;

fn handshake(options: &Options) -> Handshake {
    let target = &options.target;
    // The key only has to differ from connection to connection (RFC 6455 §10.3 protects browsers, not tools).
    let key = fastrand::u128(..).to_ne_bytes();
    let protocols: Vec<&str> = options.protocols.iter().map(String::as_str).collect();
    let headers: Vec<(&str, &str)> = options
        .headers
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let mut handshake = Handshake::new(&target.authority(), target.path_and_query(), key)
        .protocols(&protocols)
        .headers(&headers);
    if let Some(origin) = &options.origin {
        handshake = handshake.origin(origin);
    }
    if options.deflate {
        handshake = handshake.deflate(Preferences::default());
    }
    handshake
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> Result<(), ConnectError> {
    while !bytes.is_empty() {
        stream.writable().await.map_err(ConnectError::Lost)?;
        match stream.try_write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(ConnectError::Lost(error)),
        }
    }
    Ok(())
}
