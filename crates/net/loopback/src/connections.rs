//! Connections: HTTP/1.1, and a bounded number of them.

use std::{convert::Infallible, future::Future, sync::Arc, time::Duration};

use hyper::{
    header::{self, HeaderMap, HeaderName, HeaderValue},
    server::conn::http1,
};
use hyper_util::rt::TokioTimer;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};

/// The most connections at the same time. Further ones wait to be accepted. A browser opens up to six to one server.
pub const MAX_CONNECTIONS: usize = 32;

/// How long a client may take to send a request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Accepts connections forever and starts a conversation for each. Must be polled on a `LocalSet`. Its drop ends all
/// conversations.
pub async fn accept<C>(listener: TcpListener, converse: impl Fn(TcpStream) -> C) -> Infallible
where
    C: Future<Output = ()> + 'static,
{
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // The semaphore is never closed.
        let place = Arc::clone(&places).acquire_owned().await;
        match listener.accept().await {
            Ok((stream, _)) => {
                let conversation = converse(stream);
                connections.spawn_local(async move {
                    conversation.await;
                    drop(place);
                });
            }
            // There may be too many open files at the moment.
            Err(_) => tokio::time::sleep(REQUEST_TIMEOUT / 10).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// HTTP/1.1 with a timeout for requests.
pub fn protocol() -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT);
    protocol
}

/// Adds headers that keep a page's data private, and that keep other pages from showing it in a frame. `policy` is its
/// Content-Security-Policy; `None` for a page that has one of its own.
pub fn guard(headers: &mut HeaderMap, policy: Option<&'static str>) {
    const FIXED: [(HeaderName, &str); 4] = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    let policy = policy.map(|policy| (header::CONTENT_SECURITY_POLICY, policy));
    for (name, value) in FIXED.into_iter().chain(policy) {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
