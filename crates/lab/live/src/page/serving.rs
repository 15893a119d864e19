//! Connections of the page: HTTP/1.1, and streams of states as Server-Sent Events (HTML Standard §9.2).

use std::{
    cell::Cell,
    convert::Infallible,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{
    Either, Full,
    channel::{Channel, Sender},
};
use hyper::{
    Request, Response,
    body::Incoming,
    header::{self, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use plimsoll_loopback::{Origin, accept, guard, protocol};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::timeout,
};

use super::{
    Shared,
    answers::{Answer, answer},
};

/// A tab that takes nothing for this long is dropped. It reconnects on its own.
const SLOW: Duration = Duration::from_secs(10);

type Body = Either<Full<Bytes>, Channel<Bytes>>;

/// Serves forever. Must be polled on a `LocalSet`.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    accept(listener, |stream| converse(stream, Arc::clone(&shared))).await;
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let has_report = Cell::new(false);
    let service = service_fn(|request| {
        let response = respond(&request, &shared);
        has_report.set(has_report.get() || is_report(&request, &response));
        async move { Ok::<_, Infallible>(response) }
    });
    // A connection that ends early is a closed tab.
    let _closed = protocol().serve_connection(TokioIo::new(stream), service).await;
    // The connection has ended, so everything has been passed to the system.
    if has_report.get() {
        shared.n_reports.send_modify(|n_reports| *n_reports += 1);
    }
}

fn is_report(request: &Request<Incoming>, response: &Response<Body>) -> bool {
    request.uri().path().ends_with("/report") && response.status().is_success()
}

fn respond(request: &Request<Incoming>, shared: &Arc<Shared>) -> Response<Body> {
    let origin = Origin::of(request.headers());
    let path = request.uri().path();
    let (status, content_type, body) = match answer(request.method(), path, &origin, shared) {
        Answer::Whole {
            status,
            content_type,
            body,
        } => (status, content_type, Either::Left(Full::new(body))),
        Answer::Stream => (
            hyper::StatusCode::OK,
            "text/event-stream",
            Either::Right(stream(shared)),
        ),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    if is_report(request, &response) {
        guard(response.headers_mut(), None);
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    } else {
        guard(response.headers_mut(), Some(POLICY));
    }
    response
}

/// Only its own script, style and states; and in a frame the page of this machine that belongs to the run.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      frame-src http://127.0.0.1:* http://localhost:*; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn stream(shared: &Arc<Shared>) -> Channel<Bytes> {
    // At most one state waits here, and one in the connection.
    let (sender, body) = Channel::new(1);
    tokio::task::spawn_local(feed(Arc::clone(shared), sender));
    body
}

/// Sends a tab the newest state whenever it can take one.
async fn feed(shared: Arc<Shared>, mut tab: Sender<Bytes>) {
    let mut states = shared.state.subscribe();
    let _counted = Tab::of(&shared);
    loop {
        let state = states.borrow_and_update().clone();
        let sent = if state.is_empty() {
            timeout(SLOW, tab.send_data(Bytes::from_static(b": welcome\n\n"))).await
        } else {
            timeout(SLOW, tab.send_data(state)).await
        };
        if !matches!(sent, Ok(Ok(()))) || next(&mut states).await.is_err() {
            return;
        }
    }
}

async fn next(states: &mut watch::Receiver<Bytes>) -> Result<(), watch::error::RecvError> {
    states.changed().await
}

/// Counts a tab while it is open.
struct Tab<'a>(&'a Shared);

impl<'a> Tab<'a> {
    fn of(shared: &'a Shared) -> Self {
        shared.n_tabs.fetch_add(1, Relaxed);
        Self(shared)
    }
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        self.0.n_tabs.fetch_sub(1, Relaxed);
    }
}
