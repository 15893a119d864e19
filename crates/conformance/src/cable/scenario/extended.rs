//! Clients of AnyCable's extended protocol: positions of messages, and requests for history (docs/protocols/extended.md).
//!
//! A target that does not speak it is not wrong. Whether it does is asked first, and what it lacks is skipped.

use std::{
    fmt,
    time::{SystemTime, UNIX_EPOCH},
};

use super::{
    super::{
        client::{self, Client},
        handshake::Handshake,
        message::{Message, quoted},
        stage::Stage,
        stop::{Checked, Stop},
    },
    streams_channel,
};

/// The position of a message in its stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) stream_id: String,
    pub(super) epoch: String,
    pub(super) offset: u64,
}

impl Position {
    fn of(message: &Message) -> Option<Self> {
        Some(Self {
            stream_id: message.stream_id.clone()?,
            epoch: message.epoch.clone()?,
            offset: message.offset?,
        })
    }

    /// The position with the same offset in another epoch.
    pub(super) fn in_another_epoch(&self) -> Self {
        Self {
            epoch: format!("{}-before", self.epoch),
            ..self.clone()
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "offset {} of {} in the epoch {}",
            self.offset, self.stream_id, self.epoch
        )
    }
}

/// A client of the extended protocol, if the target speaks it; with its welcome, which has a sid.
pub(super) async fn extended(stage: &Stage<'_>) -> Checked<(Client, Message)> {
    extended_with(stage, "", &[]).await
}

/// An extended client with additions to its query or headers.
pub(super) async fn extended_with(
    stage: &Stage<'_>,
    query: &str,
    headers: &[(&str, &str)],
) -> Checked<(Client, Message)> {
    let mut client = connected(stage, query, headers).await?;
    let welcome = client.message("a welcome").await?;
    if welcome.is("welcome") && welcome.sid.is_some() {
        Ok((client, welcome))
    } else {
        Err(client.unexpected("a welcome with a sid", &welcome))
    }
}

/// An extended client before its welcome.
pub(super) async fn connected(stage: &Stage<'_>, query: &str, headers: &[(&str, &str)]) -> Checked<Client> {
    let extended = stage.dialect().extended().name();
    let handshake = Handshake {
        protocols: Some(&[extended]),
        query,
        headers,
    };
    let agreed = stage.open(&handshake).await?.ok();
    agreed
        .filter(|client| client.sub_protocol() == Some(extended))
        .ok_or_else(|| Stop::skip(format!("the target does not accept the sub-protocol {extended}")))
}

/// A client of the extended protocol, if the target keeps history: then messages carry their position.
pub(super) async fn keeper(stage: &Stage<'_>) -> Checked<Client> {
    let (mut client, _) = extended(stage).await?;
    let stream = stage.name("probe");
    let identifier = streams_channel(&[&stream], 900);
    client.subscribe(&identifier).await?;
    stage.publish(&stream, "0").await?;
    let message = client.message("a message with its position").await?;
    client.send(&client::unsubscribe(&identifier)).await?;
    client.settle().await?;
    match message.offset {
        Some(_) => Ok(client),
        None => Err(Stop::skip(
            "messages carry no offset: the target keeps no history",
        )),
    }
}

/// The next message carries this payload to this subscription, with its position.
pub(super) async fn hears_at(client: &mut Client, identifier: &str, payload: &str) -> Checked<Position> {
    let expected = format!("{payload} on {identifier}, with stream_id, epoch and offset");
    let message = client.message(&expected).await?;
    match Position::of(&message) {
        Some(position) if message.is_for(identifier) && message.payload() == payload => Ok(position),
        _ => Err(client.unexpected(&expected, &message)),
    }
}

/// A request for the messages of the last seconds.
pub(super) fn since(seconds: u64) -> String {
    format!(r#"{{"since":{seconds}}}"#)
}

/// A request for the messages of the last half minute. History counts in whole seconds, and clocks may differ a
/// little.
pub(super) fn since_lately() -> String {
    since(now().saturating_sub(30))
}

/// The seconds of Unix time.
pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

/// A request for the messages after these positions.
pub(super) fn after(positions: &[&Position]) -> String {
    let streams: Vec<_> = positions
        .iter()
        .map(|position| {
            let (stream_id, epoch) = (quoted(&position.stream_id), quoted(&position.epoch));
            format!(r#"{stream_id}:{{"offset":{},"epoch":{epoch}}}"#, position.offset)
        })
        .collect();
    format!(r#"{{"streams":{{{}}}}}"#, streams.join(","))
}

/// The command that asks for history.
pub(super) fn history(identifier: &str, request: &str) -> String {
    let identifier = quoted(identifier);
    format!(r#"{{"command":"history","identifier":{identifier},"history":{request}}}"#)
}

/// A subscribe that asks for history.
pub(super) fn subscribe_with(identifier: &str, request: &str) -> String {
    let identifier = quoted(identifier);
    format!(r#"{{"command":"subscribe","identifier":{identifier},"history":{request}}}"#)
}

/// These messages are replayed, and then the history is confirmed; their positions.
pub(super) async fn is_replayed(
    client: &mut Client,
    identifier: &str,
    expected: &[&str],
) -> Checked<Vec<Position>> {
    let mut positions = Vec::new();
    for payload in expected {
        positions.push(hears_at(client, identifier, payload).await?);
    }
    is_answered(client, identifier, "confirm_history").await?;
    Ok(positions)
}

/// Expects that nothing is replayed and the history is refused.
pub(super) async fn is_refused(client: &mut Client, identifier: &str) -> Checked {
    is_answered(client, identifier, "reject_history").await
}

async fn is_answered(client: &mut Client, identifier: &str, kind: &str) -> Checked {
    let message = client.message(kind).await?;
    if message.is(kind) && message.identifier.as_deref() == Some(identifier) {
        Ok(())
    } else {
        Err(client.unexpected(kind, &message))
    }
}

/// The replayed messages until the history is confirmed; `None` if it is refused.
pub(super) async fn replayed_or_refused(
    client: &mut Client,
    identifier: &str,
) -> Checked<Option<Vec<Message>>> {
    let mut replayed = Vec::new();
    loop {
        let message = client.message("an answer to the request for history").await?;
        if message.is("reject_history") && replayed.is_empty() {
            return Ok(None);
        }
        if message.is("confirm_history") {
            return Ok(Some(replayed));
        }
        if !message.is_for(identifier) {
            return Err(client.unexpected("what was published, or confirm_history", &message));
        }
        replayed.push(message);
    }
}
