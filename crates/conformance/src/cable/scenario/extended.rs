//! What AnyCable adds: broadcasts to others, whispers, history, sessions that are resumed, and presence (spec §2.4–2.6).
//!
//! A target that does not have one of these is not wrong. Whether it does is asked first, and what it lacks is skipped.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{
    super::{
        client::{self, Client},
        handshake::{EXTENDED_PROTOCOL, Handshake},
        message::{Message, quoted},
        stage::Stage,
        stop::{Checked, Stop},
    },
    streams_channel,
};

pub(super) async fn to_others(stage: &Stage<'_>) -> Checked {
    stage.needs_rpc("a broadcast to others")?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let (mut speaker, mut listener) = (stage.client().await?, stage.client().await?);
    speaker.subscribe(&identifier).await?;
    listener.subscribe(&identifier).await?;
    let action =
        format!(r#"{{"action":"broadcast","stream":"{stream}","message":"to others","to_others":true}}"#);
    speaker.perform(&identifier, &action).await?;
    listener.hears(&identifier, r#""to others""#).await?;
    speaker.settles_silently().await?;
    stage.publish(&stream, r#""to all""#).await?;
    speaker.hears(&identifier, r#""to all""#).await?;
    listener.hears(&identifier, r#""to all""#).await
}

pub(super) async fn whisper(stage: &Stage<'_>) -> Checked {
    stage.needs_rpc("whispering")?;
    let stream = stage.name("a");
    let identifier = format!(r#"{{"channel":"WhisperChannel","stream":"{stream}"}}"#);
    let (mut speaker, mut listener) = (stage.client().await?, stage.client().await?);
    speaker.subscribe(&identifier).await?;
    listener.subscribe(&identifier).await?;
    let data = r#"{"event":"typing","user":9007199254740993}"#;
    let whisper = format!(
        r#"{{"command":"whisper","identifier":{},"data":{data}}}"#,
        quoted(&identifier)
    );
    speaker.send(&whisper).await?;
    let message = listener.message("the whisper").await?;
    // AnyCable marks whispers with a type of their own; clients pass on what they do not know as a message.
    let is_whisper = message.kind.as_deref().is_none_or(|kind| kind == "whisper");
    let is_for_listener = message.identifier.as_deref() == Some(&*identifier);
    if !(is_whisper && is_for_listener && message.payload() == data) {
        return Err(listener.unexpected(data, &message));
    }
    stage.publish(&stream, r#""to all""#).await?;
    speaker.hears(&identifier, r#""to all""#).await?;
    listener.hears(&identifier, r#""to all""#).await
}

/// A client of the extended protocol, if the target speaks it; with the sid of its session.
async fn extended(stage: &Stage<'_>, headers: &[(&str, &str)]) -> Checked<(Client, Message)> {
    let handshake = Handshake {
        protocols: &[EXTENDED_PROTOCOL],
        headers,
        ..Handshake::default()
    };
    let refused = || {
        Stop::skip(format!(
            "the target does not accept the sub-protocol {EXTENDED_PROTOCOL}"
        ))
    };
    let mut client = stage.open(&handshake).await?.map_err(|_refused| refused())?;
    if client.sub_protocol() != Some(EXTENDED_PROTOCOL) {
        return Err(refused());
    }
    let welcome = client.message("a welcome").await?;
    match welcome.is("welcome") && welcome.sid.is_some() {
        true => Ok((client, welcome)),
        false => Err(client.unexpected("a welcome with a sid", &welcome)),
    }
}

/// The same, if the target keeps history: then messages carry their position.
async fn keeper(stage: &Stage<'_>) -> Checked<Client> {
    let (mut client, _) = extended(stage, &[]).await?;
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

/// A little in the past: history counts in seconds.
fn half_a_minute_ago() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs().saturating_sub(30)
}

fn history(identifier: &str, request: &str) -> String {
    format!(
        r#"{{"command":"history","identifier":{},"history":{request}}}"#,
        quoted(identifier)
    )
}

/// Replayed messages, and then the confirmation of the history.
async fn is_replayed(client: &mut Client, identifier: &str, expected: &[&str]) -> Checked {
    for message in expected {
        client.hears(identifier, message).await?;
    }
    let message = client.message("confirm_history").await?;
    match message.is("confirm_history") && message.identifier.as_deref() == Some(identifier) {
        true => Ok(()),
        false => Err(client.unexpected("confirm_history", &message)),
    }
}

pub(super) async fn history_since(stage: &Stage<'_>) -> Checked {
    let mut client = keeper(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    // Before anybody listens.
    stage.publish(&stream, "1").await?;
    stage.publish(&stream, "2").await?;
    client.subscribe(&identifier).await?;
    let request = format!(r#"{{"since":{}}}"#, half_a_minute_ago());
    client.send(&history(&identifier, &request)).await?;
    is_replayed(&mut client, &identifier, &["1", "2"]).await
}

pub(super) async fn history_offset(stage: &Stage<'_>) -> Checked {
    let mut client = keeper(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    stage.publish(&stream, "1").await?;
    stage.publish(&stream, "2").await?;
    client.hears(&identifier, "1").await?;
    let message = client.message("a message with its position").await?;
    let (Some(stream_id), Some(epoch), Some(offset)) = (&message.stream_id, &message.epoch, message.offset)
    else {
        return Err(client.unexpected("a message with stream_id, epoch and offset", &message));
    };
    let (mut late, _) = extended(stage, &[]).await?;
    late.subscribe(&identifier).await?;
    let (stream_id, epoch, before) = (quoted(stream_id), quoted(epoch), offset.saturating_sub(1));
    let request = format!(r#"{{"streams":{{{stream_id}:{{"offset":{before},"epoch":{epoch}}}}}}}"#);
    late.send(&history(&identifier, &request)).await?;
    is_replayed(&mut late, &identifier, &["2"]).await
}

pub(super) async fn history_subscribe(stage: &Stage<'_>) -> Checked {
    let mut client = keeper(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    stage.publish(&stream, "1").await?;
    let (quoted, since) = (quoted(&identifier), half_a_minute_ago());
    let subscribe =
        format!(r#"{{"command":"subscribe","identifier":{quoted},"history":{{"since":{since}}}}}"#);
    client.send(&subscribe).await?;
    client.is_confirmed(&identifier).await?;
    is_replayed(&mut client, &identifier, &["1"]).await
}

pub(super) async fn restored(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let (mut client, welcome) = extended(stage, &[]).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    let sid = welcome.sid.unwrap_or_default();
    client.close().await?;
    let (mut client, welcome) = extended(stage, &[("X-ANYCABLE-RESTORE-SID", &sid)]).await?;
    if welcome.restored != Some(true) {
        return Err(client.unexpected("a welcome that says restored", &welcome));
    }
    stage.publish(&stream, "1").await?;
    client.hears(&identifier, "1").await
}

fn presence_channel(stream: &str, user: &str, joins: bool, n: u32) -> String {
    format!(r#"{{"channel":"PresenceChannel","stream":"{stream}","user":"{user}","joins":{joins},"n":{n}}}"#)
}

/// Asks a subscription who is there; a target without presence says so, or says nothing.
async fn needs_presence(client: &mut Client, identifier: &str) -> Checked {
    client
        .send(&format!(
            r#"{{"command":"presence","identifier":{}}}"#,
            quoted(identifier)
        ))
        .await?;
    let lacks = client
        .settle()
        .await?
        .iter()
        .all(|message| !message.is("presence") || message.payload().contains(r#""type":"error""#));
    match lacks {
        true => Err(Stop::skip(
            "the target answered the command `presence` with an error: it does not keep who is there",
        )),
        false => Ok(()),
    }
}

/// The next message is a presence event of this kind and id.
async fn hears_of(client: &mut Client, identifier: &str, kind: &str, id: &str) -> Checked {
    let expected = format!("that {id} {kind}s");
    let message = client.message(&expected).await?;
    let payload = message.payload();
    let is_it = message.is("presence")
        && message.identifier.as_deref() == Some(identifier)
        && payload.contains(&format!(r#""type":"{kind}""#))
        && payload.contains(&format!(r#""id":"{id}""#));
    match is_it {
        true => Ok(()),
        false => Err(client.unexpected(&expected, &message)),
    }
}

/// A client that is subscribed and has seen that there is presence.
async fn observer(stage: &Stage<'_>, identifier: &str) -> Checked<Client> {
    stage.needs_rpc("presence")?;
    let mut client = stage.client().await?;
    client.subscribe(identifier).await?;
    needs_presence(&mut client, identifier).await?;
    Ok(client)
}

pub(super) async fn presence_perform(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = presence_channel(&stream, "", false, 1);
    let mut observer = observer(stage, &identifier).await?;
    let mut actor = stage.client().await?;
    actor.subscribe(&identifier).await?;
    for kind in ["join", "leave"] {
        let action = format!(r#"{{"action":"{kind}","user":"kay"}}"#);
        actor.perform(&identifier, &action).await?;
        hears_of(&mut observer, &identifier, kind, "kay").await?;
        hears_of(&mut actor, &identifier, kind, "kay").await?;
    }
    Ok(())
}

pub(super) async fn presence_subscribe(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = presence_channel(&stream, "", false, 1);
    let mut observer = observer(stage, &identifier).await?;
    let mut actor = stage.client().await?;
    actor
        .subscribe(&presence_channel(&stream, "kay", true, 2))
        .await?;
    hears_of(&mut observer, &identifier, "join", "kay").await?;
    actor.close().await?;
    hears_of(&mut observer, &identifier, "leave", "kay").await
}

pub(super) async fn presence_sessions(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = presence_channel(&stream, "", false, 1);
    let mut observer = observer(stage, &identifier).await?;
    let present = presence_channel(&stream, "kay", true, 2);
    let (mut first, mut second) = (stage.client().await?, stage.client().await?);
    first.subscribe(&present).await?;
    hears_of(&mut observer, &identifier, "join", "kay").await?;
    second.subscribe(&present).await?;
    first.send(&client::unsubscribe(&present)).await?;
    first.settle().await?;
    observer.settles_silently().await?;
    second.send(&client::unsubscribe(&present)).await?;
    hears_of(&mut observer, &identifier, "leave", "kay").await
}
