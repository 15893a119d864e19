//! The opening handshake from the server's side (RFC 6455 §4.2): the check of a client's request, answers of which a case can
//! change every byte, and how the client takes them.

use std::{io, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use tokio::{io::AsyncWriteExt as _, time::timeout};

use super::{
    cases::replies::{Reaction, Replied, Reply},
    conduct::conduct,
    connection::{Connection, Cut, End, Side},
    exchange::{Exchange, close, message, text},
    terms::Terms,
};
use crate::{
    Judgement, Octets, Verdict, WireLog,
    address::Duplex,
    protocol::{frame::TEXT, head::Head, messages::Heard},
};

/// The time limit for a client to end the connection after a bad answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// The text that must not come back on a connection that must not be open.
const GREETING: &str = "Hello, world!";

/// A connection on which a client asked for a WebSocket.
#[derive(Debug)]
pub(super) struct Opened {
    stream: Box<dyn Duplex>,
    pub(super) request: Head,
    /// The target of the request line.
    pub(super) target: String,
    /// The bytes behind the request.
    early: Vec<u8>,
}

/// Reads a request; `None` if there is none.
pub(super) async fn receive(mut stream: Box<dyn Duplex>) -> Option<Opened> {
    let mut bytes = Vec::new();
    let (request, n_bytes) = Head::receive(&mut *stream, &mut bytes).await.ok()?;
    let target = request.first_line.split(' ').nth(1)?.to_owned();
    Some(Opened {
        stream,
        request,
        target,
        early: bytes.split_off(n_bytes),
    })
}

/// Checks the request of a client (RFC 6455 §4.1).
///
/// # Errors
/// What is wrong with it.
pub(super) fn check(request: &Head) -> Result<(), String> {
    let line = &request.first_line;
    if !(line.starts_with("GET ") && line.ends_with(" HTTP/1.1") && line.split(' ').count() == 3) {
        return Err(format!("the request line is {line:?}"));
    }
    request.only("Host")?;
    if !request.lists("Upgrade", "websocket") {
        return Err("Upgrade does not name websocket".to_owned());
    }
    if !request.lists("Connection", "Upgrade") {
        return Err("Connection does not name Upgrade".to_owned());
    }
    let version = request.only("Sec-WebSocket-Version")?;
    if version != "13" {
        return Err(format!("Sec-WebSocket-Version is {version:?}"));
    }
    let key = request.only("Sec-WebSocket-Key")?;
    match BASE64.decode(key) {
        Ok(bytes) if bytes.len() == 16 => Ok(()),
        _ => Err(format!(
            "Sec-WebSocket-Key is {key:?}, which is not 16 bytes in base64"
        )),
    }
}

/// Writes everything, through TLS as well.
async fn write(stream: &mut dyn Duplex, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// Opens the WebSocket, with compression if there are terms.
pub(super) async fn open<'w>(
    mut opened: Opened,
    reply: &Reply,
    terms: Option<Terms>,
    wire: &'w mut WireLog,
) -> Connection<'w> {
    let mut reply = reply.clone();
    if let Some(terms) = terms {
        reply = reply.with(format!("Sec-WebSocket-Extensions: {}", terms.header()));
    }
    let bytes = reply.encode();
    wire.sent(Octets(&bytes));
    // A client that has gone shows at the first read.
    let _ = write(&mut *opened.stream, &bytes).await;
    let deflate = terms.map(|terms| terms.of_server());
    Connection::new(opened.stream, Side::Server, deflate, opened.early, wire)
}

/// Opens the WebSocket, says one text unless that is empty, and closes.
pub(super) async fn tell(opened: Opened, words: String) {
    let mut wire = WireLog::default();
    let usual = Reply::new(&opened.request);
    let mut connection = open(opened, &usual, None, &mut wire).await;
    let mut frames = vec![close(1000, "")];
    if !words.is_empty() {
        frames.insert(0, text(words));
    }
    connection.send(&frames, Cut::Together).await;
    // Until the client's Close, or its end.
    while !matches!(connection.next().await, Ok(Heard::Close(_)) | Err(_)) {}
    connection.finish().await;
}

/// Answers that there is nothing at this address.
pub(super) async fn refuse(mut opened: Opened) {
    let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    // A client that has gone needs no answer.
    let _ = write(&mut *opened.stream, answer).await;
}

/// Answers as a case of family r says, and judges how the client takes it.
pub(super) async fn reply(mut opened: Opened, replied: &Replied, wire: &mut WireLog) -> Judgement {
    let offers = Terms::answering(&opened.request).is_some();
    match replied.reaction {
        Reaction::FailIfOffered if !offers => {
            return Judgement::skipped("the client does not offer compression");
        }
        Reaction::FailUnlessOffered if offers => return Judgement::skipped("the client offers compression"),
        _ => {}
    }
    let mut bytes = (replied.reply)(&opened.request);
    wire.sent(Octets(&bytes));
    if replied.text_at_once {
        text(GREETING).encode(None, &mut bytes);
    }
    for piece in bytes.chunks(replied.n_at_once.min(bytes.len())) {
        // A client that hangs up before the end of a bad answer is right.
        if write(&mut *opened.stream, piece).await.is_err() {
            break;
        }
    }
    let mut connection = Connection::new(opened.stream, Side::Server, None, opened.early, wire);
    if replied.reaction == Reaction::Open {
        let exchange = if replied.text_at_once {
            Exchange::of(Vec::new()).hears(vec![message(TEXT, GREETING)])
        } else {
            Exchange::echo(TEXT, GREETING.into())
        };
        return conduct(&exchange, &mut connection).await;
    }
    connection.send(&[text(GREETING)], Cut::Together).await;
    let reaction = timeout(PATIENCE, connection.next()).await;
    connection.finish().await;
    judge(replied.reaction, reaction.ok())
}

/// The client's reaction to an answer: its message, or the end of the connection; `None` without either.
fn judge(reaction: Reaction, came: Option<Result<Heard, End>>) -> Judgement {
    let (verdict, got) = match came {
        Some(Err(End::Finished | End::Broken(_))) => (Verdict::Pass, "the end of the connection".to_owned()),
        // A Close frame on what is not a WebSocket: it was not expected, but it does no harm.
        Some(Ok(Heard::Close(_))) => (
            Verdict::NonStrict,
            "a Close frame, where no WebSocket was open".to_owned(),
        ),
        Some(Ok(heard)) => (Verdict::Fail, format!("{heard}: the client opened a WebSocket")),
        Some(Err(End::Violated(violation))) => (Verdict::Fail, violation.what),
        None if reaction == Reaction::StayClosed => {
            let text = format!(
                "no frame in {} s; the client keeps the connection",
                PATIENCE.as_secs()
            );
            (Verdict::Pass, text)
        }
        None => (Verdict::Fail, format!("neither in {} s", PATIENCE.as_secs())),
    };
    match (reaction, verdict) {
        (Reaction::Tell, _) => Judgement::new(Verdict::Informational, format!("got {got}")),
        (_, Verdict::Pass) => Judgement::pass(format!("got {got}")),
        (_, verdict) => {
            let text = format!("expected the client to end the connection without a frame; got {got}");
            Judgement::new(verdict, text)
        }
    }
}
