//! Plain HTTP on the server's ports: hello, health, metrics, pages for people, broadcasts from backends, and how
//! event streams begin.

use std::{
    convert::Infallible, future::pending, io, net::SocketAddr, pin::Pin, rc::Rc, task, time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, header, server::conn::http1, service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc,
};

use crate::{
    accept::Purpose,
    config::BroadcastAccess,
    endpoint::{
        Kind,
        events::{self, Opening},
    },
    open_connections::OpenConnection,
    shard::Shard,
    stream::Stream,
};

mod admin;
mod body;
mod broadcast;
mod demo_page;
mod event_stream;
mod observation;
mod pages;

pub(crate) use observation::Readiness;

/// How long an idle keep-alive connection may think about its next request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// hyper's read buffer per connection, at most: request heads are small, and bodies are read piecewise.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

type Answer = Response<Full<Bytes>>;

/// What a request leads to.
enum Outcome {
    Answer(Answer),
    /// The connection is HTTP's no more.
    Events(Box<Opening>),
}

/// Where requests on a connection come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub(crate) peer: SocketAddr,
    pub(crate) purpose: Purpose,
    /// Whether the server has no room for another session; questions are answered all the same.
    pub(crate) finds_no_room: bool,
}

/// Serves HTTP/1.1 on a connection whose first bytes were read already, until it ends or becomes an event stream.
pub(crate) async fn serve(
    shard: Rc<Shard>,
    stream: Stream,
    already_read: Vec<u8>,
    from: Source,
    counted: OpenConnection,
) {
    let io = TokioIo::new(Replayed {
        already_read: already_read.into(),
        stream,
        is_full: false,
    });
    let (open, mut opened) = mpsc::channel(1);
    let service = service_fn(|request| {
        let (shard, open) = (Rc::clone(&shard), open.clone());
        async move {
            match receive(&shard, request, from).await {
                Outcome::Answer(answer) => Ok::<_, Infallible>(answer),
                Outcome::Events(opening) => {
                    let _the_receiver_outlives_this = open.send(opening).await;
                    pending().await
                }
            }
        }
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // One answer each: a connection beyond the limit that stayed would keep a session from its place.
        .keep_alive(!from.finds_no_room)
        .header_read_timeout(IDLE_TIMEOUT)
        .max_buf_size(MAX_BUFFER_BYTES)
        .serve_connection(io, service);
    let opening = tokio::select! {
        biased;
        Some(opening) = opened.recv() => opening,
        served = &mut connection => {
            if let Err(error) = served {
                tracing::debug!(%error, "An HTTP connection ended early.");
            }
            return;
        }
    };
    let Replayed { stream, is_full, .. } = connection.into_parts().io.into_inner();
    // A client that sends requests without reading the answers has one of them half.
    if !is_full {
        // Boxed: every connection begins with this future, and few become event streams.
        Box::pin(events::open(shard, stream, *opening, counted)).await;
    }
}

async fn receive(shard: &Shard, request: Request<Incoming>, from: Source) -> Outcome {
    let path = request.uri().path();
    if from.purpose == Purpose::Clients && shard.config.events_path.as_deref() == Some(path) {
        if from.finds_no_room {
            return Outcome::Answer(no_room(shard));
        }
        return match event_stream::receive(shard, request, from.peer).await {
            Ok(opening) => Outcome::Events(Box::new(opening)),
            Err(answer) => Outcome::Answer(answer),
        };
    }
    Outcome::Answer(answer(shard, request, from.purpose).await)
}

async fn answer(shard: &Shard, request: Request<Incoming>, purpose: Purpose) -> Answer {
    let config = &shard.config;
    let path = request.uri().path();
    if let Some(answer) = observation::answer(shard, &request, purpose) {
        return answer;
    }
    if let Some(admin) = admin::of_request(shard, &request, purpose) {
        return admin::answer(shard, admin, request).await;
    }
    if purpose == Purpose::Metrics {
        return text(StatusCode::NOT_FOUND, "Nothing is served on this path.");
    }
    if path == config.broadcast_path {
        match (&config.broadcast_access, purpose) {
            (BroadcastAccess::Key(key), _) => return broadcast::answer(shard, request, Some(key)).await,
            (BroadcastAccess::Everybody, _) => return broadcast::answer(shard, request, None).await,
            (BroadcastAccess::SeparateListener(key), Purpose::Broadcasts) => {
                return broadcast::answer(shard, request, key.as_ref()).await;
            }
            (BroadcastAccess::SeparateListener(_), Purpose::Clients | Purpose::Metrics) => {}
        }
    }
    if Kind::of_path(path, config).is_some() {
        return upgrade_required();
    }
    if let Some(answer) = demo_page::answer(config, &request) {
        return answer;
    }
    match (request.method(), path) {
        (&Method::GET | &Method::HEAD, "/") => text(StatusCode::OK, &hello(config)),
        (_, "/") => with_header(
            text(StatusCode::METHOD_NOT_ALLOWED, "Only GET is allowed here."),
            header::ALLOW,
            "GET, HEAD",
        ),
        _ => text(StatusCode::NOT_FOUND, "Nothing is served on this path."),
    }
}

fn hello(config: &crate::Config) -> String {
    format!(
        "Hello from Plimsoll {}. Action Cable is on {}.",
        env!("CARGO_PKG_VERSION"),
        config
            .paths
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    )
}

fn no_room(shard: &Shard) -> Answer {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    shard.metrics.count_refusal(status);
    let answer = text(status, "The server takes no more connections.");
    with_header(answer, header::RETRY_AFTER, "1")
}

fn upgrade_required() -> Answer {
    let answer = text(StatusCode::UPGRADE_REQUIRED, "This path speaks WebSocket.");
    let answer = with_header(answer, header::UPGRADE, "websocket");
    with_header(answer, header::CONNECTION, "Upgrade")
}

fn text(status: StatusCode, text: &str) -> Answer {
    answer_of(status, "text/plain; charset=utf-8", format!("{text}\n"))
}

fn answer_of(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    with_header(answer, header::CONTENT_TYPE, content_type)
}

fn with_header(mut answer: Answer, name: header::HeaderName, value: &'static str) -> Answer {
    answer
        .headers_mut()
        .insert(name, header::HeaderValue::from_static(value));
    answer
}

/// A stream that first gives back what was read from it.
struct Replayed {
    already_read: Bytes,
    stream: Stream,
    /// Whether the last write found no room, so that a part of an answer still waits.
    is_full: bool,
}

impl AsyncRead for Replayed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> task::Poll<io::Result<()>> {
        if self.already_read.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let length = self.already_read.len().min(buffer.remaining());
        buffer.put_slice(&self.already_read.split_to(length));
        task::Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Replayed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        bytes: &[u8],
    ) -> task::Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.is_full = polled.is_pending();
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> task::Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> task::Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
