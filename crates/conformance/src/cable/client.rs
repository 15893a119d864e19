//! A cable client that returns every message unchanged, in the order of arrival.
//!
//! It reads when a scenario wants something, and never in between: so a scenario decides who is slow, and no queue is
//! needed.

use std::{cell::RefCell, fmt::Display, io, rc::Rc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Instant, timeout, timeout_at},
};

use super::{
    codec::{self, Unfit},
    dialect::{Dialect, Encoding},
    fidelity::{Fidelity, compare, excerpt},
    handshake::Handshake,
    message::{Message, quoted},
    stop::{Checked, Stop},
};
use crate::{
    DialError, Server, WireLog,
    address::Duplex,
    protocol::{
        frame::{BINARY, CLOSE, Frame, PONG, TEXT},
        head::Head,
        messages::{Heard, MessageReader},
        reader::Violation,
    },
};

/// Bytes that one read makes room for.
const READ_BYTES: usize = 16 << 10;

/// The log of a case, which all its clients write to.
pub(super) type Log = Rc<RefCell<WireLog>>;

pub(super) struct Client {
    name: String,
    stream: Box<dyn Duplex>,
    reader: MessageReader,
    sub_protocol: Option<String>,
    /// The meaning of the sub-protocol that the server chose. Without one it is the base protocol in JSON.
    dialect: Dialect,
    log: Log,
    patience: Duration,
}

/// The next event of a client.
#[derive(Debug)]
pub(super) enum Event {
    Message(Box<Message>),
    Closed(Closing),
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Closing {
    /// The server sent a Close frame; the code is 1005 if the frame has none (RFC 6455 §7.1.5).
    Frame { code: u16, reason: String },
    /// The connection ended without a Close frame.
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

/// The HTTP status of a refusal.
pub(super) struct Refused(pub(super) u16);

impl Client {
    /// Connects and upgrades; no message is read yet. `usual` is the sub-protocol that the suite runs over.
    pub(super) async fn open(
        name: String,
        target: &Server,
        usual: Dialect,
        handshake: &Handshake<'_>,
        log: Log,
        patience: Duration,
    ) -> Checked<Result<Self, Refused>> {
        let stream = timeout(patience, target.dial())
            .await
            .map_err(|elapsed| DialError::Unreachable(elapsed.into()))
            .flatten()
            .map_err(|error| {
                Stop::fail(format!(
                    "expected a connection to {}; {error}",
                    target.authority()
                ))
            })?;
        let mut client = Self {
            name,
            stream,
            reader: MessageReader::new(false, Vec::new()),
            sub_protocol: None,
            dialect: Dialect::default(),
            log,
            patience,
        };
        let request = handshake.request(target, usual);
        client
            .log
            .borrow_mut()
            .sent(format_args!("{}: {request}", client.name));
        client.write(&request.encode()).await?;
        let (status, head) = client.answer().await?;
        client
            .log
            .borrow_mut()
            .received(format_args!("{}: status {status}", client.name));
        if status != 101 {
            return Ok(Err(Refused(status)));
        }
        let chosen = head.values("Sec-WebSocket-Protocol").next();
        client.sub_protocol = chosen.map(str::to_owned);
        client.dialect = chosen.and_then(Dialect::named).unwrap_or_default();
        Ok(Ok(client))
    }

    /// The sub-protocol that the server chose.
    pub(super) fn sub_protocol(&self) -> Option<&str> {
        self.sub_protocol.as_deref()
    }

    /// The status and the head of the answer to the upgrade.
    async fn answer(&mut self) -> Checked<(u16, Head)> {
        let expected = "an answer to the upgrade";
        let mut bytes = Vec::new();
        let received = timeout(self.patience, Head::receive(&mut *self.stream, &mut bytes)).await;
        let (head, n_bytes) = received
            .map_err(|_elapsed| self.silence(expected))?
            .map_err(|none| Stop::fail(format!("{}: expected {expected}; got {none}", self.name)))?;
        let status = head.status().ok_or_else(|| {
            let line = &head.first_line;
            Stop::fail(format!("{}: expected {expected}; got {line:?}", self.name))
        })?;
        self.reader.push(&bytes[n_bytes..]);
        Ok((status, head))
    }

    /// Sends a command, which is JSON text, in the encoding of the sub-protocol. Text that is not JSON goes out unchanged.
    pub(super) async fn send(&mut self, text: &str) -> Checked {
        let frame = self.frame(text)?;
        self.write(&frame).await
    }

    fn frame(&self, text: &str) -> Checked<Vec<u8>> {
        let encoding = self.dialect.encoding;
        let payload = match codec::encode(self.dialect, text) {
            Ok(payload) => payload,
            Err(Unfit::NotJson) => text.into(),
            Err(Unfit::NoForm(why)) => {
                return Err(Stop::skip(format!(
                    "{encoding} has no form for the command {text}: {why}"
                )));
            }
        };
        let (opcode, form) = match encoding {
            Encoding::Json => (TEXT, String::new()),
            Encoding::Msgpack | Encoding::Protobuf => (BINARY, format!("{encoding} of ")),
        };
        self.log
            .borrow_mut()
            .sent(format_args!("{}: {form}{text}", self.name));
        Ok(masked(opcode, payload))
    }

    /// Sends several messages in one packet, as far as that is ours to decide.
    pub(super) async fn send_together(&mut self, texts: &[String]) -> Checked {
        let mut frames = Vec::new();
        for text in texts {
            frames.extend(self.frame(text)?);
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
            Fidelity::Exact | Fidelity::Rewritten | Fidelity::Allowed(_) => Ok(()),
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
        // Escapes and spaces are JSON's: behind another encoding the text is this suite's own.
        match compare(payload, message.payload()) {
            Fidelity::Rewritten if self.dialect.encoding != Encoding::Json => Ok(Fidelity::Exact),
            fidelity => Ok(fidelity),
        }
    }

    /// Sends a command that is answered with the rejection of an identifier of its own, which is returned. The server carries
    /// out commands of a connection in their order, so what comes before the answer belongs to earlier commands.
    pub(super) async fn send_last(&mut self) -> Checked<String> {
        let identifier = format!(r#"{{"channel":"RefusedChannel","n":{}}}"#, fastrand::u32(..));
        self.send(&subscribe(&identifier)).await?;
        Ok(identifier)
    }

    /// All messages before the answer to a command that is sent now. The server carries out commands of a connection
    /// in their order, so the effects of earlier commands are included.
    pub(super) async fn settle(&mut self) -> Checked<Vec<Message>> {
        let identifier = self.send_last().await?;
        let mut before = Vec::new();
        loop {
            let message = self.message("an answer to the last command").await?;
            if message.is("reject_subscription") && message.identifier.as_deref() == Some(&*identifier) {
                return Ok(before);
            }
            before.push(message);
        }
    }

    /// Expects no message before the answer to a command that is sent now.
    pub(super) async fn settles_silently(&mut self) -> Checked {
        match self.settle().await?.first() {
            None => Ok(()),
            Some(message) => Err(self.unexpected("nothing before the answer to the last command", message)),
        }
    }

    /// The next message, without pings.
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
        if is_as_expected {
            Ok(())
        } else {
            Err(self.unexpected(&expected, &message))
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

    /// Expects that the server closes the connection with a Close frame (RFC 6455 §7.1.1).
    pub(super) async fn is_closed_properly(&mut self) -> Checked {
        match self.is_closed().await? {
            Closing::Frame { .. } => Ok(()),
            closing @ Closing::Cut => Err(Stop::fail(format!(
                "{}: expected a Close frame; {closing}",
                self.name
            ))),
        }
    }

    /// The next message without pings, or the end of the connection.
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
            "{}: expected {expected}; got {}",
            self.name,
            excerpt(&message.text)
        ))
    }

    /// Closes the connection as a client should. The server's answer does not matter any more.
    pub(super) async fn close(mut self) -> Checked {
        self.log
            .borrow_mut()
            .sent(format_args!("{}: Close 1000", self.name));
        self.write(&masked(CLOSE, 1000_u16.to_be_bytes())).await
    }

    async fn any_event(&mut self, expected: &str, deadline: Instant) -> Checked<Event> {
        loop {
            let next = self.reader.next(None).map_err(|Violation { what, clause }| {
                let text = format!("{}: expected {expected}; the server sent {what}", self.name);
                Stop::fail(text).against(clause)
            })?;
            let Some(heard) = next else {
                if self.read(expected, deadline).await? == 0 {
                    self.log
                        .borrow_mut()
                        .received(format_args!("{}: end of stream", self.name));
                    return Ok(Event::Closed(Closing::Cut));
                }
                continue;
            };
            match heard {
                Heard::Text(text) => return self.read_message(TEXT, &text),
                Heard::Binary(bytes) => return self.read_message(BINARY, &bytes),
                Heard::Ping(payload) => self.write(&masked(PONG, payload)).await?,
                Heard::Pong(_) => {}
                Heard::Close(close) => return Ok(Event::Closed(self.close_frame(close).await)),
            }
        }
    }

    /// Answers a Close frame with its code, as a client must. The server may be gone already.
    async fn close_frame(&mut self, close: Option<(u16, String)>) -> Closing {
        let payload = close.as_ref().map(|(code, _)| code.to_be_bytes().to_vec());
        let _server_is_gone = self.write(&masked(CLOSE, payload.unwrap_or_default())).await;
        let (code, reason) = close.unwrap_or((1005, String::new()));
        let closing = Closing::Frame { code, reason };
        self.log
            .borrow_mut()
            .received(format_args!("{}: {closing}", self.name));
        closing
    }

    fn read_message(&self, opcode: u8, payload: &[u8]) -> Checked<Event> {
        let encoding = self.dialect.encoding;
        let (expected, form) = match encoding {
            Encoding::Json => (TEXT, String::new()),
            Encoding::Msgpack | Encoding::Protobuf => (BINARY, format!("{encoding} of ")),
        };
        if opcode != expected {
            let kind = if opcode == TEXT { "text" } else { "binary" };
            return Err(Stop::fail(format!(
                "got a {kind} message, although {encoding} was agreed on"
            )));
        }
        let text = codec::decode(self.dialect, payload).map_err(|error| {
            let shown = excerpt(&String::from_utf8_lossy(payload)).into_owned();
            Stop::fail(format!(
                "expected a message in {encoding}; got {shown:?}: {error}"
            ))
        })?;
        self.log
            .borrow_mut()
            .received(format_args!("{}: {form}{text}", self.name));
        let shown = excerpt(&text).into_owned();
        Message::parse(text)
            .map(|message| Event::Message(Box::new(message)))
            .map_err(|error| Stop::fail(format!("expected a cable message; got {shown}: {error}")))
    }

    /// Reads once; 0 is the end of the stream, and so is a reset.
    async fn read(&mut self, expected: &str, deadline: Instant) -> Checked<usize> {
        let mut bytes = Vec::with_capacity(READ_BYTES);
        let read = timeout_at(deadline, self.stream.read_buf(&mut bytes)).await;
        self.reader.push(&bytes);
        match read {
            Ok(read) => Ok(read.unwrap_or(0)),
            Err(_elapsed) => Err(self.silence(expected)),
        }
    }

    fn silence(&self, expected: &str) -> Stop {
        Stop::fail(format!(
            "{}: expected {expected}; it did not arrive within {} s",
            self.name,
            self.patience.as_secs_f64()
        ))
    }

    async fn write(&mut self, bytes: &[u8]) -> Checked {
        let written = timeout(self.patience, async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        });
        written
            .await
            .map_err(io::Error::from)
            .flatten()
            .map_err(|error| Stop::fail(format!("{}: expected the server to read; {error}", self.name)))
    }
}

/// A whole message or a control frame, masked with its own key (RFC 6455 §5.3).
fn masked(opcode: u8, payload: impl Into<Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame::new(opcode, payload).encode(Some(fastrand::u32(..).to_ne_bytes()), &mut bytes);
    bytes
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
