//! Opens a WebSocket, with the time of each phase.

use std::{
    future::Future,
    net::SocketAddr,
    rc::Rc,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use plimsoll_websocket::{
    deflate::Preferences,
    handshake::client::{Accepted, Handshake, ResponseHead},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout_at,
};

use super::{Compression, ConnectError, Connection, Options, attempt::Response, refusal::read_body};
use crate::{
    cause::Phase,
    dial::{Counted, Traffic},
    stream::Stream,
    tcp,
    tls::{Application, Tls, TlsOptions},
};

/// The durations of the phases, on the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timings {
    /// Immediately before the TCP connect.
    pub started: Instant,
    /// Until the TCP connection stood; contains failed attempts at earlier addresses of the target.
    pub tcp_connect: Duration,
    /// From there until TLS stood; zero without TLS.
    pub tls_handshake: Duration,
    /// From there until the server's 101 was read.
    pub upgrade: Duration,
}

impl Timings {
    /// From before the TCP connect until the WebSocket was open.
    pub fn total(&self) -> Duration {
        self.tcp_connect + self.tls_handshake + self.upgrade
    }
}

/// Opens a WebSocket. Adds the connection's bytes to `traffic`.
///
/// # Errors
/// [`ConnectError`]; its [`cause`](ConnectError::cause) is what to count.
pub async fn connect(
    options: &Options,
    traffic: &Rc<Traffic>,
) -> Result<(Connection, Timings), ConnectError> {
    Opening::new(options, traffic).run().await
}

/// A connection that is becoming a WebSocket.
pub(super) struct Opening<'a> {
    options: &'a Options,
    traffic: &'a Rc<Traffic>,
    pub(super) started: Instant,
    deadline: Deadline,
    pub(super) remote: Option<SocketAddr>,
    /// Kept when the upgrade was refused.
    refused: Option<Stream>,
    /// The bytes of the server's answer, and those after it.
    answer: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Deadline {
    at: tokio::time::Instant,
    after: Duration,
}

impl<'a> Opening<'a> {
    pub(super) fn new(options: &'a Options, traffic: &'a Rc<Traffic>) -> Self {
        let deadline = Deadline {
            at: tokio::time::Instant::now() + options.deadline,
            after: options.deadline,
        };
        Self {
            options,
            traffic,
            started: Instant::now(),
            deadline,
            remote: None,
            refused: None,
            answer: Vec::new(),
        }
    }

    pub(super) async fn run(&mut self) -> Result<(Connection, Timings), ConnectError> {
        let (started, deadline) = (self.started, self.deadline);
        let socket = deadline.hold(Phase::TcpConnect, self.connect_tcp()).await?;
        let tcp_connect = started.elapsed();
        let mut tls_handshake = Duration::ZERO;
        let mut stream = if self.options.target.is_secure() {
            // Boxed: few connections need it, and it is larger than all the rest.
            let shaking = Box::pin(self.shake_hands(socket));
            let stream = deadline.hold(Phase::TlsHandshake, shaking).await?;
            tls_handshake = started.elapsed() - tcp_connect;
            stream
        } else {
            Stream::Plain(socket)
        };
        let upgrading = self.upgrade(&mut stream);
        let (accepted, unread) = match deadline.hold(Phase::Upgrade, upgrading).await {
            Ok(upgraded) => upgraded,
            Err(error) => {
                self.refused = Some(stream);
                return Err(error);
            }
        };
        let timings = Timings {
            started,
            tcp_connect,
            tls_handshake,
            upgrade: started.elapsed() - tcp_connect - tls_handshake,
        };
        Ok((Connection::new(stream, self.options, accepted, unread), timings))
    }

    /// The head of the server's answer, if there was one.
    pub(super) fn answer(&self) -> Option<Response> {
        let (head, _) = ResponseHead::parse(&self.answer).ok()??;
        let body = Vec::new();
        Some(Response { head, body })
    }

    /// The answer with its body, if it was a refusal.
    pub(super) async fn read_answer(&mut self) -> Option<Response> {
        let (head, n_head_bytes) = ResponseHead::parse(&self.answer).ok()??;
        let mut body = self.answer.split_off(n_head_bytes);
        if let Some(stream) = &mut self.refused {
            // A body that does not end in time is reported as far as it arrived.
            let _ = timeout_at(self.deadline.at, read_body(stream, &head, &mut body)).await;
        }
        Some(Response { head, body })
    }

    /// Tries the addresses in order; the first that accepts wins.
    async fn connect_tcp(&mut self) -> Result<Counted, ConnectError> {
        let local_address = self.options.local_address;
        let mut outcome = Err(ConnectError::NoAddress);
        for &address in &self.options.addresses {
            match tcp::connect_to(address, local_address, None).await {
                Ok(stream) => {
                    self.remote = Some(address);
                    let mut stream = Counted::new(stream, Rc::clone(self.traffic));
                    if let Some(proxy) = &self.options.proxy {
                        let target = &self.options.target;
                        let host = target.host();
                        // Boxed: few connections need it, and all the others would have room for it.
                        Box::pin(proxy.tunnel(&mut stream, &host, target.port())).await?;
                    }
                    return Ok(stream);
                }
                Err(source) => {
                    outcome = Err(ConnectError::Tcp {
                        address,
                        local_address,
                        source,
                    });
                }
            }
        }
        outcome
    }

    async fn shake_hands(&self, socket: Counted) -> Result<Stream, ConnectError> {
        let tls = match &self.options.tls {
            Some(tls) => tls,
            None => default_tls(),
        };
        let host = self.options.target.host();
        let stream = tls.connect(&host, Application::Http1, socket).await?;
        Ok(Stream::Tls(Box::new(stream)))
    }

    /// Sends the request and reads the answer. Bytes after it are the first frames.
    async fn upgrade(&mut self, stream: &mut Stream) -> Result<(Accepted, Vec<u8>), ConnectError> {
        let handshake = handshake(self.options);
        let request = handshake.request()?;
        stream.write_all(&request).await.map_err(ConnectError::Lost)?;
        stream.flush().await.map_err(ConnectError::Lost)?;
        loop {
            self.answer.reserve(HEAD_BYTES);
            let n_read = stream
                .read_buf(&mut self.answer)
                .await
                .map_err(ConnectError::Lost)?;
            if n_read == 0 {
                return Err(ConnectError::Ended);
            }
            if self.answer.starts_with(&TLS_ALERT) {
                return Err(ConnectError::SpeaksTls);
            }
            // The handshake refuses heads over its limit, so this buffer is bounded.
            if let Some((accepted, n_head_bytes)) = handshake.parse_response(&self.answer)? {
                return Ok((accepted, self.answer[n_head_bytes..].to_vec()));
            }
        }
    }
}

impl Deadline {
    async fn hold<T>(
        self,
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

/// Answers to an upgrade are 130 to 300 bytes; a `welcome` often comes with them.
pub(super) const HEAD_BYTES: usize = 512;

/// The first bytes of a TLS record of type alert (RFC 8446 §5.1): the answer to a plain request.
const TLS_ALERT: [u8; 2] = [21, 3];

/// The TLS settings for options without any: the system's authorities, read once per process.
fn default_tls() -> &'static Arc<Tls> {
    static DEFAULT: OnceLock<Arc<Tls>> = OnceLock::new();
    DEFAULT.get_or_init(|| {
        let tls = Tls::new(TlsOptions::default());
        Arc::new(tls.expect("the defaults exclude nothing"))
    })
}

fn handshake(options: &Options) -> Handshake {
    let target = &options.target;
    let host = options.host.clone().unwrap_or_else(|| target.authority());
    // The key only has to differ from connection to connection (RFC 6455 §10.3 protects browsers, not tools).
    let key = fastrand::u128(..).to_ne_bytes();
    let protocols: Vec<&str> = options.protocols.iter().map(String::as_str).collect();
    let headers: Vec<(&str, &str)> = options
        .headers
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let mut handshake = Handshake::new(&host, target.path_and_query(), key)
        .protocols(&protocols)
        .headers(&headers);
    if let Some(origin) = &options.origin {
        handshake = handshake.origin(origin);
    }
    if options.compression != Compression::Off {
        handshake = handshake.deflate(Preferences::default());
    }
    handshake
}
