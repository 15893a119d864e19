//! HTTP/1.1 responses (RFC 9112), parsed from pieces of any size. No I/O here.

use std::{borrow::Cow, mem::MaybeUninit};

use httparse::{ParserConfig, Status};

use super::{
    Headers, HttpError, Keep, KeptBodies, Protocol, Response,
    chunked::Chunked,
    exchange::reason,
    framing::{Body, Framing},
    kept_bodies::Share,
};

/// The largest head of a response. Heads have a few hundred bytes; proxies refuse heads over 64 KiB.
pub(super) const MAX_HEAD_BYTES: usize = 256 << 10;

/// The number of fields with room on the stack.
const N_USUAL_FIELDS: usize = 64;

/// The most fields in a head.
const MAX_FIELDS: usize = 1000;

/// The most memory that is allocated for a body at once, whatever its announced length. The rest is allocated as it
/// arrives.
const MAX_FIRST_CAPACITY: usize = 64 << 10;

/// Reads one response.
#[derive(Debug)]
pub(super) struct ResponseReader {
    state: State,
    /// The beginning of a head that has not arrived whole.
    head_bytes: Vec<u8>,
    /// The length of all interim heads.
    n_interim_bytes: usize,
    is_answer_to_head: bool,
    keeps_fields: bool,
    head: Option<Head>,
    sink: Sink,
    is_persistent: bool,
}

#[derive(Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
    /// Until the server closes the connection.
    UntilEnd,
    Done,
}

#[derive(Debug)]
struct Head {
    protocol: Protocol,
    status: u16,
    reason: Cow<'static, str>,
    headers: Headers,
}

/// A head (`None` for an interim response) with its framing, and its length in bytes; `None` if it is incomplete.
type Said = Option<(Option<(Head, Framing)>, usize)>;

/// Where a body goes.
#[derive(Debug)]
pub(super) struct Sink {
    keep: Keep,
    max_bytes: usize,
    bytes: Vec<u8>,
    share: Share,
    /// Bytes of the body so far, kept or not.
    n_bytes: u64,
}

impl Sink {
    pub(super) fn new(keep: Keep, max_bytes: usize, kept: &KeptBodies) -> Self {
        Self {
            keep,
            max_bytes,
            bytes: Vec::new(),
            share: kept.share(),
            n_bytes: 0,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), HttpError> {
        self.n_bytes += bytes.len() as u64;
        if self.keep == Keep::Nothing {
            return Ok(());
        }
        if self.bytes.len() + bytes.len() > self.max_bytes {
            return Err(HttpError::TooLarge {
                what: "body",
                max_bytes: self.max_bytes,
            });
        }
        self.make_room(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Grows like a vector, but within the memory limit.
    fn make_room(&mut self, n_bytes: usize) -> Result<(), HttpError> {
        let needed = self.bytes.len() + n_bytes;
        if needed > self.bytes.capacity() {
            let capacity = needed.max(self.bytes.capacity() * 2).min(self.max_bytes);
            self.share.resize(capacity)?;
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        Ok(())
    }

    /// The length of the body, with its content codings.
    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// The body, and its share of the total.
    pub(super) fn into_parts(self) -> (Vec<u8>, Share) {
        (self.bytes, self.share)
    }

    fn expect(&mut self, n_bytes: u64) -> Result<(), HttpError> {
        if self.keep != Keep::Body {
            return Ok(());
        }
        let n = usize::try_from(n_bytes).unwrap_or(usize::MAX);
        self.make_room(n.min(MAX_FIRST_CAPACITY).min(self.max_bytes))
    }
}

impl ResponseReader {
    pub(super) fn new(is_answer_to_head: bool, sink: Sink) -> Self {
        Self {
            state: State::Head,
            head_bytes: Vec::new(),
            n_interim_bytes: 0,
            is_answer_to_head,
            keeps_fields: true,
            head: None,
            sink,
            is_persistent: true,
        }
    }

    /// Reads the fields of the head and forgets them, which saves their memory.
    pub(super) fn without_fields(mut self) -> Self {
        self.keeps_fields = false;
        self
    }

    /// The length of the body so far, with its content codings.
    pub(super) fn n_body_bytes(&self) -> u64 {
        self.sink.n_bytes()
    }

    /// Whether the response is whole.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether the connection can be used again.
    pub(super) fn is_persistent(&self) -> bool {
        self.is_persistent && self.is_done()
    }

    /// Takes the next bytes of the connection. Bytes after the response make the connection unusable.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), HttpError> {
        while !bytes.is_empty() {
            let n_taken = match &mut self.state {
                State::Head => self.feed_head(bytes)?,
                State::Length(left) => {
                    let n = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                    self.sink.take(&bytes[..n])?;
                    *left -= n as u64;
                    if *left == 0 {
                        self.state = State::Done;
                    }
                    n
                }
                State::Chunked(chunked) => {
                    let n = chunked.feed(bytes, |data| self.sink.take(data))?;
                    if chunked.is_done() {
                        self.state = State::Done;
                    }
                    n
                }
                State::UntilEnd => {
                    self.sink.take(bytes)?;
                    bytes.len()
                }
                State::Done => {
                    self.is_persistent = false;
                    bytes.len()
                }
            };
            bytes = &bytes[n_taken..];
        }
        Ok(())
    }

    /// The server has closed the connection.
    pub(super) fn end(&mut self) -> Result<(), HttpError> {
        match self.state {
            State::Done => Ok(()),
            State::UntilEnd => {
                self.state = State::Done;
                Ok(())
            }
            State::Head if self.head_bytes.is_empty() && self.n_interim_bytes == 0 => {
                Err(HttpError::Unanswered)
            }
            _ => Err(HttpError::Ended),
        }
    }

    /// The response, when it is whole.
    pub(super) fn into_response(self) -> Result<Response, HttpError> {
        let head = self.head.ok_or(HttpError::Ended)?;
        let (body, share) = self.sink.into_parts();
        Ok(Response {
            protocol: head.protocol,
            status: head.status,
            reason: head.reason,
            headers: head.headers,
            body,
            share,
        })
    }

    /// Takes from the front of `bytes`; mostly they hold the whole head.
    fn feed_head(&mut self, bytes: &[u8]) -> Result<usize, HttpError> {
        if self.head_bytes.is_empty() {
            if let Some((head, n_bytes)) = self.parse(bytes)? {
                self.begin_body(head, n_bytes)?;
                return Ok(n_bytes);
            }
            self.head_bytes.extend_from_slice(bytes);
            return limit(bytes.len()).map(|()| bytes.len());
        }
        let n_before = self.head_bytes.len();
        self.head_bytes.extend_from_slice(bytes);
        // Parsing anew for each piece would be quadratic for a server that sends byte by byte.
        let searched_from = n_before.saturating_sub(2);
        if !has_empty_line(&self.head_bytes[searched_from..]) {
            return limit(self.head_bytes.len()).map(|()| bytes.len());
        }
        let whole = std::mem::take(&mut self.head_bytes);
        match self.parse(&whole)? {
            Some((head, n_bytes)) => {
                self.begin_body(head, n_bytes)?;
                // Without a line's last byte there was no head before.
                Ok(n_bytes.saturating_sub(n_before))
            }
            None => {
                self.head_bytes = whole;
                limit(self.head_bytes.len()).map(|()| bytes.len())
            }
        }
    }

    fn begin_body(&mut self, head: Option<(Head, Framing)>, n_bytes: usize) -> Result<(), HttpError> {
        let Some((head, framing)) = head else {
            // An interim response; the final one follows. A server that sends nothing else must be stopped.
            self.n_interim_bytes += n_bytes;
            return limit(self.n_interim_bytes);
        };
        self.is_persistent = framing.is_persistent;
        self.state = match framing.body {
            Body::None | Body::Length(0) => State::Done,
            Body::Chunked => State::Chunked(Chunked::default()),
            Body::UntilEnd => State::UntilEnd,
            Body::Length(n_bytes) => {
                self.sink.expect(n_bytes)?;
                State::Length(n_bytes)
            }
        };
        self.head = Some(head);
        Ok(())
    }

    /// The meaning of the head at the front, if it is complete, and its length in bytes.
    fn parse(&self, bytes: &[u8]) -> Result<Said, HttpError> {
        let mut fields = [const { MaybeUninit::uninit() }; N_USUAL_FIELDS];
        match parse_into(bytes, &mut fields) {
            Err(httparse::Error::TooManyHeaders) => {
                let mut fields = vec![MaybeUninit::uninit(); MAX_FIELDS];
                self.read(parse_into(bytes, &mut fields))
            }
            parsed => self.read(parsed),
        }
    }

    fn read(&self, parsed: Result<Option<Parsed<'_, '_>>, httparse::Error>) -> Result<Said, HttpError> {
        let Some(Parsed { head, n_bytes }) = parsed.map_err(malformed)? else {
            return Ok(None);
        };
        let status = head.code.unwrap_or_default();
        if status == 101 {
            return Err(HttpError::SwitchingProtocols);
        }
        if (100..200).contains(&status) {
            return Ok(Some((None, n_bytes)));
        }
        let protocol = if head.version == Some(0) {
            Protocol::Http10
        } else {
            Protocol::Http11
        };
        let framing = Framing::of(protocol, status, head.headers, self.is_answer_to_head)?;
        let fields = head.headers.iter();
        let head = Head {
            protocol,
            status,
            reason: reason(status, head.reason.filter(|_| self.keeps_fields)),
            headers: if self.keeps_fields {
                Headers::new(n_bytes, fields.map(|field| (field.name.as_bytes(), field.value)))
            } else {
                Headers::default()
            },
        };
        Ok(Some((Some((head, framing)), n_bytes)))
    }
}

fn limit(n_bytes: usize) -> Result<(), HttpError> {
    if n_bytes > MAX_HEAD_BYTES {
        return Err(HttpError::TooLarge {
            what: "head",
            max_bytes: MAX_HEAD_BYTES,
        });
    }
    Ok(())
}

/// Each line may end with or without a carriage return (RFC 9112 §2.2).
fn has_empty_line(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|two| two == b"\n\n") || bytes.windows(3).any(|three| three == b"\n\r\n")
}

fn malformed(error: httparse::Error) -> HttpError {
    HttpError::Malformed(match error {
        httparse::Error::Version => "it does not begin with HTTP/1.1 or HTTP/1.0",
        httparse::Error::Status => "a bad status",
        httparse::Error::TooManyHeaders => "more than 1,000 header fields",
        _ => "a bad header field",
    })
}

/// A complete head.
struct Parsed<'f, 'b> {
    head: httparse::Response<'f, 'b>,
    n_bytes: usize,
}

fn parse_into<'f, 'b>(
    bytes: &'b [u8],
    fields: &'f mut [MaybeUninit<httparse::Header<'b>>],
) -> Result<Option<Parsed<'f, 'b>>, httparse::Error> {
    let mut head = httparse::Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(&mut head, bytes, fields)?;
    Ok(match parsed {
        Status::Complete(n_bytes) => Some(Parsed { head, n_bytes }),
        Status::Partial => None,
    })
}

#[cfg(test)]
mod tests;
