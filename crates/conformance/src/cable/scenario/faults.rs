//! Clients that break the protocol. Action Cable ignores the mistake and continues. Ending the connection is
//! acceptable where the two sides no longer understand each other.

use super::{
    super::{
        client::{self, Client, Closing, Event},
        message::quoted,
        stage::Stage,
        stop::{Checked, Stop},
    },
    streams_channel,
};

/// The connection is as good as before.
async fn is_unharmed(client: &mut Client) -> Checked {
    let identifier = streams_channel(&[], 77);
    client.subscribe(&identifier).await?;
    client.perform(&identifier, r#"{"action":"tick"}"#).await?;
    client.hears(&identifier, r#""tock""#).await
}

/// Commands that must be ignored without a word.
async fn are_ignored(stage: &Stage<'_>, commands: &[&str]) -> Checked {
    let mut client = stage.client().await?;
    for command in commands {
        client.send(command).await?;
        client.settles_silently().await?;
    }
    is_unharmed(&mut client).await
}

pub(super) async fn unknown_command(stage: &Stage<'_>) -> Checked {
    are_ignored(
        stage,
        &[
            r#"{"command":"dance","identifier":"{}"}"#,
            r#"{"command":""}"#,
            "{}",
        ],
    )
    .await
}

/// Commands that may be ignored or refused: by a rejection, or by the end of the connection.
async fn are_ignored_or_refused(stage: &Stage<'_>, commands: &[String]) -> Checked {
    let mut client = stage.client().await?;
    for command in commands {
        client.send(command).await?;
        if !survives(&mut client).await? {
            client = stage.client().await?;
        }
    }
    is_unharmed(&mut client).await
}

/// Whether the connection goes on after a command that may have been refused.
async fn survives(client: &mut Client) -> Checked<bool> {
    const EXPECTED: &str = "nothing, a rejection, or a Close";
    let last = client.send_last().await?;
    loop {
        match client.event(EXPECTED).await? {
            Event::Closed(Closing::Frame { .. }) => return Ok(false),
            Event::Message(message) if message.is("disconnect") => {
                client.is_closed_properly().await?;
                return Ok(false);
            }
            Event::Message(message) if message.is("reject_subscription") => {
                if message.identifier.as_ref() == Some(&last) {
                    return Ok(true);
                }
            }
            Event::Message(message) => return Err(client.unexpected(EXPECTED, &message)),
            Event::Closed(closing @ Closing::Cut) => {
                return Err(Stop::fail(format!("expected {EXPECTED}; {closing}")));
            }
        }
    }
}

pub(super) async fn no_identifier(stage: &Stage<'_>) -> Checked {
    let commands = [
        r#"{"command":"subscribe"}"#,
        r#"{"command":"subscribe","identifier":null}"#,
        r#"{"command":"unsubscribe"}"#,
        r#"{"command":"message","data":"{}"}"#,
    ];
    are_ignored_or_refused(stage, &commands.map(str::to_owned)).await
}

pub(super) async fn identifier_not_json(stage: &Stage<'_>) -> Checked {
    let identifiers = ["not JSON", "", "{", "[]", r#""StreamsChannel""#];
    are_ignored_or_refused(stage, &identifiers.map(client::subscribe)).await
}

pub(super) async fn data_not_text(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[], 1);
    client.subscribe(&identifier).await?;
    for data in ["7", r#"["tick"]"#, "null", "true"] {
        let identifier = quoted(&identifier);
        client
            .send(&format!(
                r#"{{"command":"message","identifier":{identifier},"data":{data}}}"#
            ))
            .await?;
        client.settles_silently().await?;
    }
    is_unharmed(&mut client).await
}

pub(super) async fn not_subscribed(stage: &Stage<'_>) -> Checked {
    let identifier = streams_channel(&[], 1);
    let perform = client::perform(&identifier, r#"{"action":"tick"}"#);
    are_ignored(stage, &[&perform, &client::unsubscribe(&identifier)]).await
}

pub(super) async fn not_json(stage: &Stage<'_>) -> Checked {
    for text in ["hello", "{", "", r#"{"command":"subscribe""#] {
        let mut client = stage.client().await?;
        client.send(text).await?;
        let identifier = streams_channel(&[], 1);
        client.send(&client::subscribe(&identifier)).await?;
        match client.event("a confirmation, or the close").await? {
            Event::Message(message) if message.is("confirm_subscription") => is_unharmed(&mut client).await?,
            Event::Message(message) if message.is("disconnect") => client.is_closed_properly().await?,
            Event::Message(message) => {
                return Err(client.unexpected("a confirmation, or the close", &message));
            }
            Event::Closed(Closing::Frame { .. }) => {}
            Event::Closed(closing) => {
                return Err(Stop::fail(format!(
                    "expected {text:?} to be ignored, or a Close frame; {closing}"
                )));
            }
        }
    }
    Ok(())
}
