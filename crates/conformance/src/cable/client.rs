//! A cable client that hides nothing: every message as it came, in the order in which it came.
//!
//! It reads when a scenario wants something, and never in between: so a scenario decides who is slow, and no queue is
//! needed.

use std::{cell::RefCell, fmt::Display, io, rc::Rc, time::Duration};

use bytes::{BufMut, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

use super::{
    endpoint::Endpoint,
    fidelity::{Fidelity, compare, excerpt},
    frame::{self, Opcode},
    handshake::{Answer, Handshake},
    message::{Message, quoted},
    stop::{Checked, Stop},
};
use crate::WireLog;

/// Bytes that one read makes room for.
const READ_BYTES: usize = 16 << 10;

/// A request head longer than this is no answer to an upgrade; servers send a few hundred bytes.
const MOST_HEAD_BYTES: usize = 16 << 10;

/// The log of a case, which all its clients write to.
pub(super) type Log = Rc<RefCell<WireLog>>;

pub(super) struct Client {
    name: String,
    socket: TcpStream,
    received: BytesMut,
    /// Frames of a message that is not whole yet.
    fragments: Option<BytesMut>,
    sub_protocol: Option<String>,
    log: Log,
    patience: Duration,
}

/// What a client can hear next.
#[derive(Debug)]
pub(super) enum Event {
    Message(Box<Message>),
    Closed(Closing),
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Closing {
    /// With a Close frame; the code is 1005 where it has none (RFC 6455 §7.1.5).
    Frame { code: u16, reason: String },
    /// Without one.
    Cut,
}

impl Display for Closing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Frame { code, reason } => write!(f, "the connection was closed with {code} {reason:?}"),
            Self::Cut => f.write_str("the connection was cut without a Close frame"),
        }
    }
}

/// What a client was refused with: a status of HTTP.
pub(super) struct Refused(pub(super) u16);

impl Client {
    /// Connects and upgrades; no message is read yet.
    pub(super) async fn open(
        name: String,
        target: &Endpoint,
        handshake: &Handshake<'_>,
        log: Log,
        patience: Duration,
    ) -> Checked<Result<Self, Refused>> {
        let authority = target.authority();
        let connected = timeout(patience, TcpStream::connect(&authority)).await;
        let socket = connected
            .map_err(io::Error::from)
            .flatten()
            .map_err(|error| Stop::fail(format!("expected a connection to {authority}; {error}")))?;
        let mut client = Self {
            name,
            socket,
            received: BytesMut::new(),
            fragments: None,
            sub_protocol: None,
            log,
            patience,
        };
        let request = handshake.request(target);
        client
            .log
            .borrow_mut()
            .sent(format_args!("{}: {request}", client.name));
        client.write(request.as_bytes()).await?;
        let answer = client.answer().await?;
        client
            .log
            .borrow_mut()
            .received(format_args!("{}: status {}", client.name, answer.status));
        if answer.status != 101 {
            return Ok(Err(Refused(answer.status)));
        }
        client.sub_protocol = answer.sub_protocol;
        Ok(Ok(client))
    }

    /// What the server agreed on.
    pub(super) fn sub_protocol(&self) -> Option<&str> {
        self.sub_protocol.as_deref()
    }

    async fn answer(&mut self) -> Checked<Answer> {
        let deadline = Instant::now() + self.patience;
        loop {
            match Answer::take(&mut self.received) {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) if self.received.len() < MOST_HEAD_BYTES => {}
                Ok(None) => {
                    return Err(Stop::fail(
                        "expected an answer to the upgrade; its head has no end",
                    ));
                }
                Err(error) => return Err(Stop::fail(format!("expected an answer to the upgrade; {error}"))),
            }
            if self.read("an answer to the upgrade", deadline).await? == 0 {
                return Err(Stop::fail(
                    "expected an answer to the upgrade; the server closed the connection without one",
                ));
            }
        }
    }

    /// Sends text as it is.
    pub(super) async fn send(&mut self, text: &str) -> Checked {
        self.log.borrow_mut().sent(format_args!("{}: {text}", self.name));
        self.write(&frame::encode(Opcode::Text, text.as_bytes())).await
    }

    /// Sends several messages in one packet, as far as that is ours to decide.
    pub(super) async fn send_together(&mut self, texts: &[String]) -> Checked {
        let mut frames = BytesMut::new();
        for text in texts {
            self.log.borrow_mut().sent(format_args!("{}: {text}", self.name));
            frames.unsplit(frame::encode(Opcode::Text, text.as_bytes()));
        }
        self.write(&frames).await
    }

    pub(super) async fn perform(&mut self, identifier: &str, data: &str) -> Checked {
        self.send(&perform(identifier, data)).await
    }

    /// Subscribes and waits for the confirmation, which must be the next message.
    pub(super) async fn subscribe(&mut self, identifier: &str) -> Checked {
        self.send(&subscribe(identifier)).await?;
        self.is_confirmed(identifier).await
    }

    /// The next message is the confirmation of this subscription.
    pub(super) async fn is_confirmed(&mut self, identifier: &str) -> Checked {
        let expected = format!("the confirmation of {identifier}");
        let message = self.message(&expected).await?;
        if message.is("confirm_subscription") && message.identifier.as_deref() == Some(identifier) {
            return Ok(());
        }
        Err(self.unexpected(&expected, &message))
    }

    /// The next message is the rejection of this subscription.
    pub(super) async fn is_rejected(&mut self, identifier: &str) -> Checked {
        let expected = format!("the rejection of {identifier}");
        let message = self.message(&expected).await?;
        if message.is("reject_subscription") && message.identifier.as_deref() == Some(identifier) {
            return Ok(());
        }
        Err(self.unexpected(&expected, &message))
    }

    /// The next message carries this payload to this subscription. Other escapes are as good.
    pub(super) async fn hears(&mut self, identifier: &str, payload: &str) -> Checked {
        match self.fidelity(identifier, payload).await? {
            Fidelity::Exact | Fidelity::Rewritten => Ok(()),
            Fidelity::Changed(difference) => Err(Stop::fail(format!(
                "{}: expected {} on {identifier}; {difference}",
                self.name,
                excerpt(payload)
            ))),
        }
    }

    /// The next message goes to this subscription; how faithful its payload is.
    pub(super) async fn fidelity(&mut self, identifier: &str, payload: &str) -> Checked<Fidelity> {
        let expected = format!("{} on {identifier}", excerpt(payload));
        let message = self.message(&expected).await?;
        if !message.is_for(identifier) {
            return Err(self.unexpected(&expected, &message));
        }
        Ok(compare(payload, message.payload()))
    }

    /// All messages before the answer to a command that is sent now. Commands of a connection are carried out in their
    /// order, so what earlier ones led to is among them.
    pub(super) async fn settle(&mut self) -> Checked<Vec<Message>> {
        let identifier = format!(r#"{{"channel":"RefusedChannel","n":{}}}"#, fastrand::u32(..));
        self.send(&subscribe(&identifier)).await?;
        let mut before = Vec::new();
        loop {
            let message = self.message("an answer to the last command").await?;
            if message.is("reject_subscription") && message.identifier.as_deref() == Some(&*identifier) {
                return Ok(before);
            }
            before.push(message);
        }
    }

    /// The same, and there is nothing before it.
    pub(super) async fn settles_silently(&mut self) -> Checked {
        match self.settle().await?.first() {
            None => Ok(()),
            Some(message) => Err(self.unexpected("nothing before the answer to the last command", message)),
        }
    }

    /// The next message that is no ping.
    pub(super) async fn message(&mut self, expected: &str) -> Checked<Message> {
        match self.event(expected).await? {
            Event::Message(message) => Ok(*message),
            Event::Closed(closing) => Err(Stop::fail(format!(
                "{}: expected {expected}; {closing}",
                self.name
            ))),
        }
    }

    /// A `disconnect` message with a reason, which says whether to come back; it must be next.
    pub(super) async fn is_told_to_leave(&mut self, reason: &str, reconnect: bool) -> Checked {
        let expected = format!("a disconnect message, reason {reason:?}, reconnect {reconnect}");
        let message = self.message(&expected).await?;
        let is_as_expected = message.is("disconnect")
            && message.reason.as_deref() == Some(reason)
            && message.reconnect == Some(reconnect);
        match is_as_expected {
            true => Ok(()),
            false => Err(self.unexpected(&expected, &message)),
        }
    }

    /// The server closes the connection; messages before that are passed over.
    pub(super) async fn is_closed(&mut self) -> Checked<Closing> {
        loop {
            if let Event::Closed(closing) = self.event("the server to close the connection").await? {
                return Ok(closing);
            }
        }
    }

    /// The same, with a Close frame (RFC 6455 §7.1.1: who closes says so first).
    pub(super) async fn is_closed_properly(&mut self) -> Checked {
        match self.is_closed().await? {
            Closing::Frame { .. } => Ok(()),
            closing @ Closing::Cut => Err(Stop::fail(format!(
                "{}: expected a Close frame; {closing}",
                self.name
            ))),
        }
    }

    /// The next message that is no ping, or the end of the connection.
    pub(super) async fn event(&mut self, expected: &str) -> Checked<Event> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.any_event(expected, deadline).await? {
                Event::Message(message) if message.is("ping") => {}
                event => return Ok(event),
            }
        }
    }

    /// The next ping; other messages before it are passed over.
    pub(super) async fn ping(&mut self) -> Checked<Message> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.any_event("a ping", deadline).await? {
                Event::Message(message) if message.is("ping") => return Ok(*message),
                Event::Message(_) => {}
                Event::Closed(closing) => {
                    return Err(Stop::fail(format!("{}: expected a ping; {closing}", self.name)));
                }
            }
        }
    }

    pub(super) fn unexpected(&self, expected: &str, message: &Message) -> Stop {
        Stop::fail(format!(
            "{}: expected {expected}; {} came",
            self.name,
            excerpt(&message.text)
        ))
    }

    /// Says goodbye as a client should; what the server answers is nobody's business any more.
    pub(super) async fn close(mut self) -> Checked {
        self.log
            .borrow_mut()
            .sent(format_args!("{}: Close 1000", self.name));
        self.write(&frame::encode(Opcode::Close, &1000_u16.to_be_bytes()))
            .await
    }

    async fn any_event(&mut self, expected: &str, deadline: Instant) -> Checked<Event> {
        loop {
            let taken = frame::take(&mut self.received);
            let frame =
                taken.map_err(|error| Stop::fail(format!("{}: expected {expected}; {error}", self.name)))?;
            let Some(frame) = frame else {
                if self.read(expected, deadline).await? == 0 {
                    self.log
                        .borrow_mut()
                        .received(format_args!("{}: end of stream", self.name));
                    return Ok(Event::Closed(Closing::Cut));
                }
                continue;
            };
            if let Some(event) = self.frame(frame).await? {
                return Ok(event);
            }
        }
    }

    async fn frame(&mut self, frame: frame::Frame) -> Checked<Option<Event>> {
        match frame.opcode {
            Opcode::Text if frame.is_final => self.text(&frame.payload).map(Some),
            Opcode::Text => {
                self.fragments = Some(frame.payload);
                Ok(None)
            }
            Opcode::Continuation => {
                let Some(mut whole) = self.fragments.take() else {
                    return Err(Stop::fail(
                        "a continuation came without a beginning (RFC 6455 §5.4)",
                    ));
                };
                if (whole.len() + frame.payload.len()) as u64 > frame::MOST_PAYLOAD_BYTES {
                    return Err(Stop::fail("a message came in fragments that have no end"));
                }
                whole.put(frame.payload);
                if frame.is_final {
                    return self.text(&whole).map(Some);
                }
                self.fragments = Some(whole);
                Ok(None)
            }
            Opcode::Ping => {
                self.write(&frame::encode(Opcode::Pong, &frame.payload)).await?;
                Ok(None)
            }
            Opcode::Pong => Ok(None),
            Opcode::Close => Ok(Some(Event::Closed(self.close_frame(&frame.payload).await))),
            Opcode::Binary => Err(Stop::fail("a binary message came, though JSON was agreed on")),
        }
    }

    /// Echoes the Close frame, as a client must; the server may be gone already.
    async fn close_frame(&mut self, payload: &[u8]) -> Closing {
        let _server_is_gone = self.write(&frame::encode(Opcode::Close, payload)).await;
        let closing = match payload.split_first_chunk::<2>() {
            Some((code, reason)) => Closing::Frame {
                code: u16::from_be_bytes(*code),
                reason: String::from_utf8_lossy(reason).into_owned(),
            },
            None => Closing::Frame {
                code: 1005,
                reason: String::new(),
            },
        };
        self.log
            .borrow_mut()
            .received(format_args!("{}: {closing}", self.name));
        closing
    }

    fn text(&self, payload: &[u8]) -> Checked<Event> {
        let text = std::str::from_utf8(payload)
            .map_err(|_| Stop::fail("a text message is not UTF-8 (RFC 6455 §8.1)"))?
            .to_owned();
        self.log
            .borrow_mut()
            .received(format_args!("{}: {text}", self.name));
        let shown = excerpt(&text).into_owned();
        Message::parse(text)
            .map(|message| Event::Message(Box::new(message)))
            .map_err(|error| Stop::fail(format!("expected a cable message; {shown} came: {error}")))
    }

    /// Reads once; 0 is the end of the stream, and so is a reset.
    async fn read(&mut self, expected: &str, deadline: Instant) -> Checked<usize> {
        self.received.reserve(READ_BYTES);
        match timeout_at(deadline, self.socket.read_buf(&mut self.received)).await {
            Ok(read) => Ok(read.unwrap_or(0)),
            Err(_elapsed) => Err(Stop::fail(format!(
                "{}: expected {expected}; it did not come within {} s",
                self.name,
                self.patience.as_secs_f64()
            ))),
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Checked {
        let written = timeout(self.patience, self.socket.write_all(bytes)).await;
        written
            .map_err(io::Error::from)
            .flatten()
            .map_err(|error| Stop::fail(format!("{}: expected the server to read; {error}", self.name)))
    }
}

pub(super) fn subscribe(identifier: &str) -> String {
    format!(r#"{{"command":"subscribe","identifier":{}}}"#, quoted(identifier))
}

pub(super) fn unsubscribe(identifier: &str) -> String {
    format!(
        r#"{{"command":"unsubscribe","identifier":{}}}"#,
        quoted(identifier)
    )
}

/// `data` is JSON, which travels in a string.
pub(super) fn perform(identifier: &str, data: &str) -> String {
    let (identifier, data) = (quoted(identifier), quoted(data));
    format!(r#"{{"command":"message","identifier":{identifier},"data":{data}}}"#)
}
