//! Many messages, each sent when the one before has come back: families 9.7, 9.8, 12 and 13.

use std::{fmt, time::Duration};

use tokio::time::timeout;

use super::{
    conduct::{close_in_order, limit},
    connection::{Connection, Cut, End},
    exchange::{fragments, message, pong},
    payloads::{Corpora, Kind},
    terms::Terms,
};
use crate::{
    Judgement, Verdict,
    protocol::{frame::RSV1, messages::Heard},
};

/// The time limit of one echo. Reason: 128 KiB, through builds without optimisation on busy machines.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of messages that the log names at the beginning; of later messages it names only failures.
const MOST_LOGGED: usize = 4;

/// Messages of one size and kind.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) content: Content,
    pub(super) n_bytes: usize,
    /// The size of the fragments of a message; `None` sends it whole.
    pub(super) fragment_bytes: Option<usize>,
    pub(super) n_messages: usize,
    /// The offered terms of compression, the preferred ones first; empty for a plain connection.
    pub(super) offers: Vec<Terms>,
}

/// The content of messages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// One byte, repeated, in messages with this opcode.
    Filler(u8, u8),
    /// Varied content, compressed.
    Kind(Kind),
}

impl Series {
    fn message(&self, corpora: &Corpora, number: usize) -> (u8, Vec<u8>) {
        match self.content {
            Content::Filler(opcode, filler) => (opcode, vec![filler; self.n_bytes]),
            Content::Kind(kind) => (kind.opcode(), corpora.message(kind, self.n_bytes, number)),
        }
    }

    /// Sends all, one after the other.
    pub(super) async fn run(&self, connection: &mut Connection<'_>, corpora: &Corpora) -> Judgement {
        for number in 0..self.n_messages {
            let (opcode, payload) = self.message(corpora, number);
            let expected = message(opcode, payload.clone());
            self.send(connection, opcode, payload, number).await;
            if let Err(got) = hear(connection, &expected).await {
                return self.judge(&expected, number, got);
            }
        }
        connection
            .wire
            .note(format_args!("{} messages came back", self.n_messages));
        let (closing, remark) = close_in_order(connection).await;
        Judgement::pass(format!("{} messages came back; then {remark}", self.n_messages))
            .with_closing(closing)
    }

    /// Judges another answer than the echo of message `number`.
    fn judge(&self, expected: &Heard, number: usize, got: Got) -> Judgement {
        if let Got::Heard(Heard::Close(Some((code, _)))) = got
            && let Some(limit) = limit(code, self.n_bytes)
        {
            return Judgement::new(Verdict::Informational, limit);
        }
        let judgement = Judgement::fail(format!(
            "expected {expected} back as message {} of {}; got {got}",
            number + 1,
            self.n_messages
        ));
        match got {
            Got::End(End::Violated(violation)) => judgement.against(violation.clause),
            _ => judgement,
        }
    }

    async fn send(&self, connection: &mut Connection<'_>, opcode: u8, payload: Vec<u8>, number: usize) {
        let n_bytes = payload.len();
        let (payload, rsv) = match connection.deflate().filter(|deflate| deflate.can_compress()) {
            Some(deflate) => (deflate.compress(&payload), RSV1),
            None => (payload, 0),
        };
        let frames = fragments(opcode, rsv, &payload, self.fragment_bytes.unwrap_or(usize::MAX));
        if number < MOST_LOGGED {
            connection.wire.sent(format_args!(
                "message {} of {n_bytes} bytes, which are {} in {} frames",
                number + 1,
                payload.len(),
                frames.len()
            ));
        }
        connection.send_silently(&frames, Cut::Together).await;
    }
}

/// What came instead of an echo.
enum Got {
    /// Nothing.
    Silence,
    /// A message of the same kind and length, with other bytes.
    OtherBytes,
    /// Another message.
    Heard(Heard),
    /// The end of the connection.
    End(End),
}

impl fmt::Display for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence => f.write_str("silence"),
            Self::OtherBytes => f.write_str("a message of the same length with other bytes"),
            Self::Heard(heard) => heard.fmt(f),
            Self::End(end) => end.fmt(f),
        }
    }
}

/// Waits for an echo.
///
/// # Errors
/// What came instead.
async fn hear(connection: &mut Connection<'_>, expected: &Heard) -> Result<(), Got> {
    loop {
        let Ok(next) = timeout(PATIENCE, connection.next()).await else {
            return Err(Got::Silence);
        };
        match next {
            Ok(heard) if heard == *expected => return Ok(()),
            // A target may send pongs that no ping asked for.
            Ok(Heard::Pong(_)) => {}
            Ok(Heard::Ping(payload)) => connection.send(&[pong(payload)], Cut::Together).await,
            Ok(heard) if heard.to_string() == expected.to_string() => {
                return Err(Got::OtherBytes);
            }
            Ok(heard) => return Err(Got::Heard(heard)),
            Err(end) => return Err(Got::End(end)),
        }
    }
}
