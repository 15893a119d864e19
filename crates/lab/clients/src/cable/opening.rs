//! Welcome and subscription on a bare connection, one step after the other.

use std::{
    borrow::Cow,
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_cable::{
    command::encode_subscribe,
    encoding::{Content, Encoding},
    reply::Reply,
    subprotocol::Dialect,
};
use plimsoll_websocket::Opcode;
use tokio::time::timeout;

use super::{ConnectError, Ending, SubscribeError};
use crate::{
    dial::Traffic,
    websocket::{self, Connection, Message, Options, Payload, Timings},
};

/// Opens a WebSocket and waits for the welcome, all within the options' deadline. Returns the WebSocket's timings and
/// how long the welcome took after them. Adds the connection's bytes to `traffic`.
///
/// # Errors
/// [`ConnectError`]; its [`cause`](ConnectError::cause) is what to count.
pub async fn open(
    options: &Options,
    traffic: &Rc<Traffic>,
) -> Result<(Connection, Timings, Duration), ConnectError> {
    let (mut connection, timings) = websocket::connect(options, traffic).await?;
    let since_open = Instant::now();
    let left = options.deadline.saturating_sub(timings.total());
    let late = |_| ConnectError::TimedOut {
        after: options.deadline,
    };
    let _ = timeout(left, wait_for_welcome(&mut connection))
        .await
        .map_err(late)??;
    Ok((connection, timings, since_open.elapsed()))
}

/// The contents of the server's welcome.
#[derive(Debug, Default)]
pub(super) struct Welcome {
    pub(super) sid: Option<String>,
    /// The identifiers of the restored subscriptions.
    pub(super) restored: Option<Vec<String>>,
}

/// Waits for the welcome, at most `limit`.
pub(super) async fn welcome(connection: &mut Connection, limit: Duration) -> Result<Welcome, ConnectError> {
    let timed_out = |_| ConnectError::TimedOut { after: limit };
    Ok(timeout(limit, wait_for_welcome(connection))
        .await
        .map_err(timed_out)??)
}

/// Checks that the server writes its messages in the offered dialect. Servers that choose no sub-protocol use JSON, and
/// only AnyCable Pro uses anything else.
///
/// # Errors
/// [`ConnectError::NotAgreed`].
pub fn check_agreed(connection: &Connection, offered: Dialect) -> Result<(), ConnectError> {
    if Dialect::of(connection.protocol()).encoding == offered.encoding {
        return Ok(());
    }
    Err(ConnectError::NotAgreed {
        offered: offered.subprotocol(),
        chosen: connection.protocol().unwrap_or("none").to_owned(),
    })
}

/// Subscribes to `identifier` and waits for the answer, at most `limit`. Messages that arrive meanwhile are
/// dropped. Returns how long the confirmation took.
///
/// # Errors
/// [`SubscribeError`]; its [`cause`](SubscribeError::cause) is what to count.
pub async fn subscribe(
    connection: &mut Connection,
    identifier: &str,
    limit: Duration,
) -> Result<Duration, SubscribeError> {
    let started = Instant::now();
    let answer = async {
        send(connection, &encode_subscribe(identifier)).await?;
        loop {
            let message = next(connection).await?;
            match parse(&message)? {
                Reply::Confirm { identifier: it } if it == identifier => return Ok(()),
                Reply::Reject { identifier: it } if it == identifier => {
                    let identifier = identifier.to_owned();
                    return Err(SubscribeError::Rejected { identifier });
                }
                _ => {}
            }
        }
    };
    let timed_out = |_| SubscribeError::TimedOut {
        identifier: identifier.to_owned(),
        after: limit,
    };
    timeout(limit, answer).await.map_err(timed_out)??;
    Ok(started.elapsed())
}

async fn wait_for_welcome(connection: &mut Connection) -> Result<Welcome, Ending> {
    loop {
        let message = next(connection).await?;
        if let Reply::Welcome { sid, restored } = parse(&message)? {
            let restored = restored.map(|all| all.into_iter().map(Cow::into_owned).collect());
            return Ok(Welcome {
                sid: sid.map(Cow::into_owned),
                restored,
            });
        }
    }
}

/// Sends one command, given as JSON, and waits until the socket has taken it.
async fn send(connection: &mut Connection, command: &str) -> Result<(), Ending> {
    let encoding = Dialect::of(connection.protocol()).encoding;
    let content = encoding.encode_command(command)?;
    Ok(connection.send(opcode(encoding), &content).await?)
}

/// The opcode of messages in this encoding.
pub(super) fn opcode(encoding: Encoding) -> Opcode {
    if encoding.is_binary() {
        Opcode::Binary
    } else {
        Opcode::Text
    }
}

/// The JSON of the next message, and when it arrived.
async fn next(connection: &mut Connection) -> Result<(Instant, String), Ending> {
    let Message { at, payload } = connection.next_message().await?;
    let Dialect {
        encoding,
        is_extended,
    } = Dialect::of(connection.protocol());
    let read = |content: Content<'_>| encoding.reply_json(content, is_extended).map(Cow::into_owned);
    let json = match payload {
        Payload::Text(text) if !encoding.is_binary() => text,
        Payload::Text(text) => read(Content::Text(&text))?,
        Payload::Binary(bytes) => read(Content::Binary(&bytes))?,
    };
    Ok((at, json))
}

/// Parses a reply. A `disconnect` is an ending here.
fn parse((_, text): &(Instant, String)) -> Result<Reply<'_>, Ending> {
    match Reply::parse(text)? {
        Reply::Disconnect { reason, reconnect } => Err(Ending::Disconnected {
            reason: reason.into_owned(),
            reconnect,
        }),
        reply => Ok(reply),
    }
}
