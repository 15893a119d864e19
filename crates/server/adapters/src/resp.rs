//! Redis' replies (RESP2), read with limits.
//!
//! A string may have 512 MB, and the reply to a read of a hundred messages may have a hundred such strings. A string
//! over this server's limit passes through a small buffer, and only its length is kept. Parsers that return complete
//! strings cannot do that.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, copy, sink};

/// The longest line: a status, an error or a number. Redis' own errors have a few hundred bytes.
const MAX_LINE_BYTES: usize = 64 << 10;

/// The deepest nesting of arrays. A reply to `XREADGROUP` has four levels.
const MAX_DEPTH: usize = 16;

/// The size limit of a reply, as a number of strings of the greatest length; it applies to the bytes of other elements,
/// too. The rest of a larger reply is dropped. Replies to the commands of this crate hold at most a hundred payloads.
const MAX_STRINGS: usize = 128;

/// A server's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Nil,
    Integer(i64),
    Text(Vec<u8>),
    /// A string of this many bytes, which was not kept.
    TooLong(u64),
    Array(Vec<Reply>),
    /// An error. Its first word is the code.
    Error(String),
}

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplyError {
    #[error("the connection is lost: {0}")]
    Lost(#[from] io::Error),
    #[error("the connection was closed")]
    Closed,
    #[error("the answer is not in Redis' protocol: {0:?}")]
    NotRedis(String),
}

/// Reads replies one after the other.
pub(crate) struct ReplyReader<R> {
    stream: BufReader<R>,
    max_text_bytes: usize,
}

/// The beginning of a reply.
enum Element {
    Whole(Reply),
    /// An array of this many elements, which follow.
    Array(usize),
}

impl<R: AsyncRead + Unpin> ReplyReader<R> {
    /// Reads from `stream`. Strings longer than `max_text_bytes` are not kept.
    pub(crate) fn new(stream: R, max_text_bytes: usize) -> Self {
        Self {
            stream: BufReader::new(stream),
            max_text_bytes,
        }
    }

    /// The next reply. After an error, or when this is dropped before it is complete, the connection cannot be used any
    /// more.
    pub(crate) async fn read(&mut self) -> Result<Reply, ReplyError> {
        let mut budget = MAX_STRINGS * self.max_text_bytes;
        let mut open: Vec<(Vec<Reply>, usize)> = Vec::new();
        loop {
            let mut reply = match self.element(&mut budget).await? {
                Element::Whole(reply) => reply,
                Element::Array(0) => Reply::Array(Vec::new()),
                Element::Array(_) if open.len() == MAX_DEPTH => {
                    return Err(ReplyError::NotRedis("arrays in arrays without end".to_owned()));
                }
                Element::Array(n_elements) => {
                    open.push((Vec::new(), n_elements));
                    continue;
                }
            };
            loop {
                let Some((elements, n_missing)) = open.last_mut() else {
                    return Ok(reply);
                };
                if let Some(rest) = budget.checked_sub(size_of::<Reply>()) {
                    budget = rest;
                    elements.push(reply);
                }
                *n_missing -= 1;
                if *n_missing > 0 {
                    break;
                }
                reply = Reply::Array(std::mem::take(elements));
                open.pop();
            }
        }
    }

    async fn element(&mut self, budget: &mut usize) -> Result<Element, ReplyError> {
        let line = self.line().await?;
        let text = String::from_utf8_lossy(&line);
        let mut characters = text.chars();
        let (kind, rest) = (characters.next(), characters.as_str());
        let not_redis = || ReplyError::NotRedis(text.chars().take(40).collect());
        let number = || rest.parse::<i64>().map_err(|_| not_redis());
        Ok(Element::Whole(match kind {
            Some('+') => Reply::Text(rest.into()),
            Some('-') => Reply::Error(rest.to_owned()),
            Some(':') => Reply::Integer(number()?),
            Some('$') => match u64::try_from(number()?) {
                Ok(length) => self.text(length, budget).await?,
                Err(_) => Reply::Nil,
            },
            Some('*') => match usize::try_from(number()?) {
                Ok(n_elements) => return Ok(Element::Array(n_elements)),
                Err(_) => Reply::Nil,
            },
            _ => return Err(not_redis()),
        }))
    }

    async fn line(&mut self) -> Result<Vec<u8>, ReplyError> {
        let mut line = Vec::new();
        let limit = MAX_LINE_BYTES as u64;
        (&mut self.stream)
            .take(limit)
            .read_until(b'\n', &mut line)
            .await?;
        if line.ends_with(b"\r\n") {
            line.truncate(line.len() - 2);
            return Ok(line);
        }
        match line.len() {
            MAX_LINE_BYTES => Err(ReplyError::NotRedis("a line without end".to_owned())),
            _ => Err(ReplyError::Closed),
        }
    }

    /// Reads a string and the line break after it.
    async fn text(&mut self, length: u64, budget: &mut usize) -> Result<Reply, ReplyError> {
        let limit = self.max_text_bytes.min(*budget);
        match usize::try_from(length) {
            Ok(n_bytes) if n_bytes <= limit => {
                *budget -= n_bytes;
                let mut text = vec![0; n_bytes];
                self.stream.read_exact(&mut text).await?;
                self.skip(2).await?;
                Ok(Reply::Text(text))
            }
            _ => {
                self.skip(length.saturating_add(2)).await?;
                Ok(Reply::TooLong(length))
            }
        }
    }

    async fn skip(&mut self, n_bytes: u64) -> Result<(), ReplyError> {
        match copy(&mut (&mut self.stream).take(n_bytes), &mut sink()).await? {
            n_skipped if n_skipped == n_bytes => Ok(()),
            _ => Err(ReplyError::Closed),
        }
    }
}

impl Reply {
    /// Returns the error if the reply is one, or has one as an element.
    pub(crate) fn into_result(self) -> Result<Self, String> {
        match self {
            Self::Error(error) => Err(error),
            Self::Array(elements) => {
                let elements: Result<_, _> = elements.into_iter().map(Self::into_result).collect();
                Ok(Self::Array(elements?))
            }
            other => Ok(other),
        }
    }

    /// The elements of an array. Other replies have none.
    pub(crate) fn into_elements(self) -> Vec<Self> {
        match self {
            Self::Array(elements) => elements,
            _ => Vec::new(),
        }
    }

    /// Whether a part of it was too long to be kept.
    pub(crate) fn is_cut(&self) -> bool {
        match self {
            Self::TooLong(_) => true,
            Self::Array(elements) => elements.iter().any(Self::is_cut),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
