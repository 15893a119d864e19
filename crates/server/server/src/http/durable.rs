//! Durable Streams: the messages that are kept of a stream, for readers over plain HTTP
//! (docs/protocols/durable-streams.md). A reader asks with the offset of its last answer; it gets every message behind
//! it, or learns that some are gone.
//!
//! Readers are no sessions. They read the archive, and wait for [`crate::tails`].

use std::{net::SocketAddr, sync::Arc};

use http_body_util::{Either, Full};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderName, HeaderValue},
};
use plimsoll_broker::Refused;
use tokio::time::{Instant, sleep_until};

use self::{
    access::Visit,
    events::Listener,
    offset::Offset,
    reading::{Reading, read},
    wanted::{Mode, Wanted},
};
use super::{
    answers::{Answer, stopping, text, with_header},
    head,
};
use crate::{archive::Archive, config::DurableStreams, purpose::Purpose, shard::Shard, unix_time::now_ms};

mod access;
mod cursor;
mod events;
mod offset;
mod reading;
mod wanted;

const NEXT_OFFSET: HeaderName = HeaderName::from_static("stream-next-offset");
const CURSOR: HeaderName = HeaderName::from_static("stream-cursor");
const UP_TO_DATE: HeaderName = HeaderName::from_static("stream-up-to-date");
const CROSS_ORIGIN_RESOURCES: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The request headers that a page's script may send across origins.
const ALLOWED_HEADERS: HeaderValue =
    HeaderValue::from_static("Authorization, Content-Type, If-None-Match, X-JID, X-Request-ID, X-Signed");
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
/// The answer's headers that a page's script may read.
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("ETag, Retry-After, Stream-Cursor, Stream-Next-Offset, Stream-Up-To-Date");

/// The messages of one answer, in bytes; the last one may be more.
const ANSWER_BYTES: usize = 1 << 20;

/// A part that will never be another one may stay in caches for a minute, as the protocol recommends.
const FOR_A_MINUTE: &str = "private, max-age=60, stale-while-revalidate=300";
const FOR_A_MINUTE_PUBLIC: &str = "public, max-age=60, stale-while-revalidate=300";
/// An answer at the end of the stream is out of date with the next message.
const CHECKED: &str = "private, no-cache";
const CHECKED_PUBLIC: &str = "public, no-cache";
const NOT_AT_ALL: &str = "no-store";

/// The settings, if the request is for a path of Durable Streams.
pub(super) fn of_request<'a, B>(
    shard: &'a Shard,
    request: &Request<B>,
    purpose: Purpose,
) -> Option<(&'a DurableStreams, &'a Arc<Archive>)> {
    let settings = shard.config.durable_streams.as_ref()?;
    let below = request.uri().path().strip_prefix(settings.path.as_str())?;
    let is_here = purpose == Purpose::Clients && (below.is_empty() || below.starts_with('/'));
    is_here.then_some((settings, shard.shared.archive.as_ref()?))
}

/// Answers with the headers that pages need.
pub(super) async fn answer(
    shard: &Shard,
    (settings, archive): (&DurableStreams, &Arc<Archive>),
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Answer {
    let origin = request.headers().get(header::ORIGIN);
    let origin = origin.map(|origin| String::from_utf8_lossy(origin.as_bytes()).into_owned());
    let origins = &shard.config.allowed_origins;
    let mut cors = origins.cors_headers(origin.as_deref());
    if cors.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
        cors.insert(header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
        cors.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
        cors.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
    }
    let mut answer = match *request.method() {
        // Requests of pages to their own host have no `Origin`, and neither have those of programs.
        _ if origin.is_some() && !origins.allows(origin.as_deref()) => text(
            StatusCode::FORBIDDEN,
            "Pages of this origin are not allowed to read; see --allowed_origins.",
        ),
        Method::OPTIONS => text(StatusCode::OK, "Streams are read with GET."),
        Method::GET | Method::HEAD => {
            let reader = Reader {
                shard,
                settings,
                archive,
            };
            reader
                .serve(request, peer)
                .await
                .unwrap_or_else(|refusal| refusal)
        }
        _ => {
            let refusal = "Streams are only read here; backends publish with the REST API.";
            let answer = text(StatusCode::METHOD_NOT_ALLOWED, refusal);
            with_header(answer, header::ALLOW, "GET, HEAD, OPTIONS")
        }
    };
    let headers = answer.headers_mut();
    headers.extend(cors);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(CROSS_ORIGIN_RESOURCES, HeaderValue::from_static("cross-origin"));
    answer
}

struct Reader<'a> {
    shard: &'a Shard,
    settings: &'a DurableStreams,
    archive: &'a Arc<Archive>,
}

impl Reader<'_> {
    async fn serve(&self, request: Request<Incoming>, peer: SocketAddr) -> Result<Answer, Answer> {
        let (head, _) = request.into_parts();
        let below = head.uri.path().strip_prefix(self.settings.path.as_str());
        let wanted = Wanted::parse(below.unwrap_or_default(), head.uri.query().unwrap_or_default())
            .map_err(|problem| text(StatusCode::BAD_REQUEST, problem))?;
        let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let signed = wanted.signed.as_deref().or(header("x-signed"));
        let known_tag = header("if-none-match").map(str::to_owned);
        let is_public = self.settings.skips_auth && signed.is_none();
        let wire_form = head::wire_form(&head);
        let request = self
            .shard
            .connect_request(&head::parse(&wire_form).map_err(|refusal| *refusal)?, peer);
        let visit = access::enter(self.shard, request, &wanted, signed, self.settings.skips_auth).await?;
        if head.method == Method::HEAD {
            let reading = self.read(&wanted, &Offset::Now).map_err(gone)?;
            return Ok(self.with_offset(json(reading.json(), NOT_AT_ALL), &reading));
        }
        self.shard.metrics.durable_reads.increment();
        match wanted.mode {
            Mode::CatchUp => {
                let reading = self.read(&wanted, &wanted.offset).map_err(gone)?;
                Ok(self.catch_up(&wanted, &reading, is_public, known_tag.as_deref()))
            }
            Mode::LongPoll => self.long_poll(&wanted, is_public).await,
            Mode::Events => self.listen(wanted, visit).map_err(gone),
        }
    }

    fn read(&self, wanted: &Wanted, offset: &Offset) -> Result<Reading, Refused> {
        read(
            self.archive,
            &wanted.stream,
            offset,
            ANSWER_BYTES,
            now_ms() / 1000,
        )
    }

    fn catch_up(
        &self,
        wanted: &Wanted,
        reading: &Reading,
        is_public: bool,
        known_tag: Option<&str>,
    ) -> Answer {
        if wanted.offset == Offset::Now {
            let answer = json(reading.json(), NOT_AT_ALL);
            return self.with_cursor(self.with_offset(answer, reading), wanted);
        }
        let tag = reading.tag();
        let is_known = known_tag.is_some_and(|known| known.split(',').any(|known| known.trim() == tag));
        let mut answer = if is_known {
            empty(StatusCode::NOT_MODIFIED)
        } else {
            json(reading.json(), NOT_AT_ALL)
        };
        let caching = match (reading.is_up_to_date, is_public) {
            (false, false) => FOR_A_MINUTE,
            (false, true) => FOR_A_MINUTE_PUBLIC,
            (true, false) => CHECKED,
            (true, true) => CHECKED_PUBLIC,
        };
        set(&mut answer, header::CACHE_CONTROL, caching);
        set(&mut answer, header::ETAG, &tag);
        self.with_cursor(self.with_offset(answer, reading), wanted)
    }

    /// Waits until there is a message behind the offset.
    async fn long_poll(&self, wanted: &Wanted, is_public: bool) -> Result<Answer, Answer> {
        let metrics = &self.shard.metrics;
        metrics.durable_polls.increment();
        metrics.durable_polling.add(1);
        let _waiting = Waiting(&metrics.durable_polling);
        let end = Instant::now() + self.settings.poll_interval;
        let mut tail = self.archive.watch(&wanted.stream);
        let mut offset = wanted.offset.clone();
        loop {
            let reading = self.read(wanted, &offset).map_err(gone)?;
            if !reading.is_empty() {
                // The messages behind an offset, up to another one, are always the same.
                let caching = if is_public {
                    FOR_A_MINUTE_PUBLIC
                } else {
                    FOR_A_MINUTE
                };
                let caching = if wanted.offset == Offset::Now {
                    NOT_AT_ALL
                } else {
                    caching
                };
                let mut answer = json(reading.json(), caching);
                set(&mut answer, header::ETAG, &reading.tag());
                return Ok(self.with_cursor(self.with_offset(answer, &reading), wanted));
            }
            offset = reading.next.clone();
            tokio::select! {
                biased;
                () = self.shard.publisher.closed() => return Err(stopping(self.shard)),
                () = tail.changed() => {}
                () = sleep_until(end) => {
                    let answer = with_header(empty(StatusCode::NO_CONTENT), header::CACHE_CONTROL, NOT_AT_ALL);
                    return Ok(self.with_cursor(self.with_offset(answer, &reading), wanted));
                }
            }
        }
    }

    /// Begins an answer that goes on.
    fn listen(&self, wanted: Wanted, visit: Visit) -> Result<Answer, Refused> {
        let tail = self.archive.watch(&wanted.stream);
        // Refused while there still is a status.
        self.read(&wanted, &wanted.offset)?;
        let metrics = &self.shard.metrics;
        metrics.durable_streams.increment();
        let cursor = next_cursor(&wanted);
        let listener = Listener {
            archive: Arc::clone(self.archive),
            publisher: self.shard.publisher.clone(),
            tail,
            stream: wanted.stream,
            cursor,
            ttl: self.settings.sse_ttl,
            counted: metrics.durable_listening.clone(),
            visit,
        };
        let mut answer = Response::new(Either::Right(listener.start(&wanted.offset)));
        set(
            &mut answer,
            header::CONTENT_TYPE,
            "text/event-stream; charset=utf-8",
        );
        set(
            &mut answer,
            header::CACHE_CONTROL,
            "private, no-cache, no-store, must-revalidate, max-age=0",
        );
        set(&mut answer, HeaderName::from_static("x-accel-buffering"), "no");
        Ok(answer)
    }

    fn with_offset(&self, mut answer: Answer, reading: &Reading) -> Answer {
        set(&mut answer, NEXT_OFFSET, &reading.next.to_string());
        if reading.is_up_to_date {
            set(&mut answer, UP_TO_DATE, "true");
        }
        answer
    }

    fn with_cursor(&self, mut answer: Answer, wanted: &Wanted) -> Answer {
        set(&mut answer, CURSOR, &next_cursor(wanted).to_string());
        answer
    }
}

fn next_cursor(wanted: &Wanted) -> u64 {
    cursor::next(wanted.cursor.as_deref(), now_ms() / 1000, fastrand::f64())
}

/// A reader that waits, counted until its drop.
struct Waiting<'a>(&'a plimsoll_telemetry::Gauge);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.sub(1);
    }
}

fn json(body: bytes::Bytes, caching: &'static str) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(body)));
    set(&mut answer, header::CONTENT_TYPE, "application/json");
    with_header(answer, header::CACHE_CONTROL, caching)
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Either::Left(Full::default()));
    *answer.status_mut() = status;
    answer
}

fn gone(refused: Refused) -> Answer {
    let reason = format!("There are no messages behind this offset: {refused}. Read again from -1.");
    with_header(text(StatusCode::GONE, &reason), header::CACHE_CONTROL, NOT_AT_ALL)
}

/// Sets a header to a text of visible ASCII. Epochs and numbers are; another text would be left out.
fn set(answer: &mut Answer, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}
