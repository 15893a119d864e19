//! Streams and who hears them.
//!
//! That something does not arrive is shown by what arrives after it: a second subscription of the same connection, the
//! witness, hears the same stream, and messages of a stream keep their order. No time has to pass.

use super::{
    super::{
        client::{self, Client},
        stage::Stage,
        stop::Checked,
    },
    streams_channel,
};

/// Subscribes a witness of `streams`.
async fn witness(client: &mut Client, streams: &[&str]) -> Checked<String> {
    let identifier = streams_channel(streams, 999);
    client.subscribe(&identifier).await?;
    Ok(identifier)
}

/// Of what is published to `stream`, only the witness hears.
async fn only_witness_hears(stage: &Stage<'_>, client: &mut Client, witness: &str, stream: &str) -> Checked {
    for message in [r#""first""#, r#""second""#, r#""third""#] {
        stage.publish(stream, message).await?;
    }
    for message in [r#""first""#, r#""second""#, r#""third""#] {
        client.hears(witness, message).await?;
    }
    Ok(())
}

pub(super) async fn receives(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    stage.publish(&stream, r#"{"data":"X"}"#).await?;
    client.hears(&identifier, r#"{"data":"X"}"#).await?;
    stage.publish(&stream, r#"{"data":"Y"}"#).await?;
    client.hears(&identifier, r#"{"data":"Y"}"#).await
}

pub(super) async fn unsubscribed(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    let witness = witness(&mut client, &[&stream]).await?;
    client.send(&client::unsubscribe(&identifier)).await?;
    client.settles_silently().await?;
    only_witness_hears(stage, &mut client, &witness, &stream).await
}

pub(super) async fn one_copy_each(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let identifiers = [1, 2].map(|n| streams_channel(&[&stream], n));
    for identifier in &identifiers {
        client.subscribe(identifier).await?;
    }
    stage.publish(&stream, r#"{"data":"X"}"#).await?;
    let mut heard = Vec::new();
    for _ in 0..2 {
        let message = client.message("a copy for each subscription").await?;
        let is_due = identifiers.iter().any(|it| message.is_for(it)) && !heard.contains(&message.identifier);
        if !is_due {
            return Err(client.unexpected("one copy for each subscription", &message));
        }
        heard.push(message.identifier);
    }
    client.settles_silently().await
}

pub(super) async fn two_streams(stage: &Stage<'_>) -> Checked {
    let (a, b) = (stage.name("a"), stage.name("b"));
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&a, &b], 1);
    client.subscribe(&identifier).await?;
    for stream in [&a, &b] {
        let message = format!(r#"{{"stream":"{stream}"}}"#);
        stage.publish(stream, &message).await?;
        client.hears(&identifier, &message).await?;
    }
    Ok(())
}

pub(super) async fn two_streams_unsubscribed(stage: &Stage<'_>) -> Checked {
    let (a, b) = (stage.name("a"), stage.name("b"));
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&a, &b], 1);
    client.subscribe(&identifier).await?;
    let witness = witness(&mut client, &[&a, &b]).await?;
    client.send(&client::unsubscribe(&identifier)).await?;
    client.settles_silently().await?;
    only_witness_hears(stage, &mut client, &witness, &a).await?;
    only_witness_hears(stage, &mut client, &witness, &b).await
}

pub(super) async fn two_clients(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let mut clients = [stage.client().await?, stage.client().await?];
    for client in &mut clients {
        client.subscribe(&identifier).await?;
    }
    stage.publish(&stream, r#"{"data":"X"}"#).await?;
    for client in &mut clients {
        client.hears(&identifier, r#"{"data":"X"}"#).await?;
    }
    Ok(())
}

pub(super) async fn one_client_leaves(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let (mut leaver, mut stayer) = (stage.client().await?, stage.client().await?);
    leaver.subscribe(&identifier).await?;
    stayer.subscribe(&identifier).await?;
    let witness = witness(&mut leaver, &[&stream]).await?;
    leaver.send(&client::unsubscribe(&identifier)).await?;
    leaver.settles_silently().await?;
    only_witness_hears(stage, &mut leaver, &witness, &stream).await?;
    for message in [r#""first""#, r#""second""#, r#""third""#] {
        stayer.hears(&identifier, message).await?;
    }
    Ok(())
}

pub(super) async fn stop(stage: &Stage<'_>) -> Checked {
    let (a, b) = (stage.name("a"), stage.name("b"));
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&a, &b], 1);
    client.subscribe(&identifier).await?;
    let witness = witness(&mut client, &[&a]).await?;
    let action = format!(r#"{{"action":"stop","stream":"{a}"}}"#);
    client.perform(&identifier, &action).await?;
    client.settles_silently().await?;
    only_witness_hears(stage, &mut client, &witness, &a).await?;
    stage.publish(&b, r#""still here""#).await?;
    client.hears(&identifier, r#""still here""#).await
}

pub(super) async fn stop_all(stage: &Stage<'_>) -> Checked {
    let (a, b) = (stage.name("a"), stage.name("b"));
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&a, &b], 1);
    client.subscribe(&identifier).await?;
    let witness = witness(&mut client, &[&a, &b]).await?;
    client.perform(&identifier, r#"{"action":"stop_all"}"#).await?;
    client.settles_silently().await?;
    only_witness_hears(stage, &mut client, &witness, &a).await?;
    only_witness_hears(stage, &mut client, &witness, &b).await?;
    client.perform(&identifier, r#"{"action":"tick"}"#).await?;
    client.hears(&identifier, r#""tock""#).await
}

pub(super) async fn follow(stage: &Stage<'_>) -> Checked {
    let (a, b) = (stage.name("a"), stage.name("b"));
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&a], 1);
    client.subscribe(&identifier).await?;
    let action = format!(r#"{{"action":"follow","stream":"{b}"}}"#);
    client.perform(&identifier, &action).await?;
    client.settles_silently().await?;
    for stream in [&a, &b] {
        stage.publish(stream, r#""both""#).await?;
        client.hears(&identifier, r#""both""#).await?;
    }
    Ok(())
}

pub(super) async fn broadcast_object(stage: &Stage<'_>) -> Checked {
    arrives(
        stage,
        r#"{"data":{"foo":"bar"},"nested":{"deep":[1,{"x":null}]}}"#,
    )
    .await
}

pub(super) async fn broadcast_text(stage: &Stage<'_>) -> Checked {
    arrives(stage, r#""<script>alert('Message!');</script>""#).await
}

pub(super) async fn broadcast_json_text(stage: &Stage<'_>) -> Checked {
    arrives(stage, r#""{\"data\":\"looks like JSON\"}""#).await
}

async fn arrives(stage: &Stage<'_>, message: &str) -> Checked {
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    stage.publish(&stream, message).await?;
    client.hears(&identifier, message).await
}
