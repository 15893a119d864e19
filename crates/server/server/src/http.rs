//! Plain HTTP on the server's ports: hello, health, metrics, pages for people, broadcasts from backends, and the start
//! of event streams.

use std::{
    convert::Infallible, future::pending, io, net::SocketAddr, pin::Pin, rc::Rc, task, time::Duration,
};

use hyper::{Method, Request, StatusCode, body::Incoming, header, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc,
};

use self::{
    answers::{Answer, no_room, stopping, text, with_header},
    request_stream::{Refusal, RequestStream},
};
use crate::{
    endpoint::{
        Kind,
        events::{self, Opening},
    },
    open_connections::OpenConnection,
    purpose::Purpose,
    shard::Shard,
    stream::Stream,
};

mod admin;
mod answers;
mod api;
mod body;
mod broadcast;
mod cluster;
mod demo_page;
mod durable;
mod event_stream;
mod flow;
mod head;
mod kept_data;
mod observation;
mod pages;
mod percent;
mod query;
mod request_stream;

pub(crate) use observation::Readiness;

/// How long a keep-alive connection may stay idle between two requests.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The limit of hyper's read buffer per connection. Request heads are small, and bodies are read piece by piece.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

/// The result of a request.
enum Outcome {
    Answer(Answer),
    /// The connection leaves HTTP and becomes an event stream.
    Events(Box<Opening>),
}

/// The origin of a connection's requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub(crate) peer: SocketAddr,
    pub(crate) purpose: Purpose,
    /// Whether the server has no room for another session. Requests that need no session are still answered.
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
    let mut requests = RequestStream::default();
    requests.feed(&already_read);
    let refusal = requests.refusal();
    let io = TokioIo::new(Checked {
        requests,
        scratch: Rc::clone(&shard),
        stream,
        is_full: false,
    });
    let (open, mut opened) = mpsc::channel(1);
    let service = service_fn(|request| {
        let (shard, open, refusal) = (Rc::clone(&shard), open.clone(), Rc::clone(&refusal));
        async move {
            if let Some(answer) = refused(&shard, &request, &refusal) {
                return Ok(answer);
            }
            match receive(&shard, request, from).await {
                Outcome::Answer(answer) => Ok::<_, Infallible>(parting(&shard, answer)),
                Outcome::Events(opening) => {
                    let _the_receiver_outlives_this = open.send(opening).await;
                    pending().await
                }
            }
        }
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // One answer only: a kept connection beyond the limit would take the place of a session.
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
    let Checked { stream, is_full, .. } = connection.into_parts().io.into_inner();
    // A client that sends requests without reading the answers has received part of one.
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
        return tokio::select! {
            biased;
            () = shard.publisher.closed() => Outcome::Answer(stopping(shard)),
            received = event_stream::receive(shard, request, from.peer) => match received {
                Ok(opening) => Outcome::Events(Box::new(opening)),
                Err(answer) => Outcome::Answer(answer),
            },
        };
    }
    if let Some(durable) = durable::of_request(shard, &request, from.purpose) {
        let answer = if from.finds_no_room {
            no_room(shard)
        } else if shard.publisher.is_closed() {
            stopping(shard)
        } else {
            durable::answer(shard, durable, request, from.peer).await
        };
        return Outcome::Answer(answer);
    }
    Outcome::Answer(answer(shard, request, from).await)
}

async fn answer(shard: &Shard, request: Request<Incoming>, from: Source) -> Answer {
    let purpose = from.purpose;
    let config = &shard.config;
    let path = request.uri().path();
    if let Some(answer) = observation::answer(shard, &request, purpose) {
        return answer;
    }
    if let Some(admin) = admin::of_request(shard, &request, purpose) {
        return admin::answer(shard, admin, request, from.peer.ip()).await;
    }
    if purpose == Purpose::Metrics {
        return text(StatusCode::NOT_FOUND, "There is nothing at this path.");
    }
    if let Some(route) = api::of_request(shard, &request, purpose) {
        return api::answer(shard, route, request).await;
    }
    if purpose == Purpose::Api {
        return text(StatusCode::NOT_FOUND, "There is nothing at this path.");
    }
    if let Some(broadcasts) = &config.broadcasts
        && path == broadcasts.path
        && (purpose == Purpose::Broadcasts || broadcasts.on_main_port)
    {
        return broadcast::answer(shard, request, broadcasts).await;
    }
    if Kind::of_path(path, config).is_some() {
        return if shard.is_stopping() {
            stopping(shard)
        } else {
            upgrade_required()
        };
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
        _ => text(StatusCode::NOT_FOUND, "There is nothing at this path."),
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

/// Closes the connection of a client that is told to use another server.
fn parting(shard: &Shard, answer: Answer) -> Answer {
    if shard.is_stopping() {
        with_header(answer, header::CONNECTION, "close")
    } else {
        answer
    }
}

fn upgrade_required() -> Answer {
    let answer = text(StatusCode::UPGRADE_REQUIRED, "This path speaks WebSocket.");
    let answer = with_header(answer, header::UPGRADE, "websocket");
    with_header(answer, header::CONNECTION, "Upgrade")
}

/// The answer to a request that was refused before hyper parsed it.
fn refused<B>(shard: &Shard, request: &Request<B>, refusal: &Refusal) -> Option<Answer> {
    let error = refusal
        .get()
        .filter(|_| request.method().as_str() == request_stream::REFUSED)?;
    let (status, reason) = error.response();
    let status = StatusCode::from_u16(status).expect("the codec knows its HTTP statuses");
    shard.metrics.count_refusal(status);
    Some(text(status, &reason))
}

/// A stream that passes requests with valid heads to hyper. Bytes that were read earlier come first.
struct Checked {
    requests: RequestStream,
    /// The shard, whose scratch buffer is used for reading.
    scratch: Rc<Shard>,
    stream: Stream,
    /// Whether the last write found the socket full, so that part of an answer still waits.
    is_full: bool,
}

impl AsyncRead for Checked {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> task::Poll<io::Result<()>> {
        let Self {
            requests,
            scratch,
            stream,
            ..
        } = &mut *self;
        loop {
            let checked = requests.take(buffer.remaining());
            if !checked.is_empty() {
                buffer.put_slice(&checked);
                return task::Poll::Ready(Ok(()));
            }
            if requests.is_over() {
                // hyper sends the answers it has, and closes.
                return task::Poll::Pending;
            }
            let mut scratch = scratch.codec.scratch.borrow_mut();
            let n_wanted = scratch.len().min(buffer.remaining());
            let mut read = ReadBuf::new(&mut scratch[..n_wanted]);
            task::ready!(Pin::new(&mut *stream).poll_read(cx, &mut read))?;
            match read.filled() {
                [] => return task::Poll::Ready(Ok(())),
                bytes => requests.feed(bytes),
            }
        }
    }
}

impl AsyncWrite for Checked {
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
