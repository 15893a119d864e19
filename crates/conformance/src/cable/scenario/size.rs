//! Small and large messages, many subscriptions, and clients that do not keep up.

use super::{
    super::{
        client::{self, Client, Event},
        message::Message,
        stage::Stage,
        stop::Checked,
    },
    streams_channel,
};

/// Subscriptions of one connection.
const CHANNELS: u32 = 100;

/// What a slow reader leaves lying: 8 MB, more than the buffers of sockets and AnyCable's limit of 1 MiB.
const BACKLOG: u32 = 128;
const BACKLOG_MESSAGE_BYTES: usize = 64 << 10;

pub(super) async fn empty(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    for payload in [r#""""#, "{}", "[]"] {
        stage.publish(&stream, payload).await?;
        client.hears(&identifier, payload).await?;
    }
    Ok(())
}

pub(super) async fn large(stage: &Stage<'_>) -> Checked {
    arrives(stage, 64 << 10).await
}

pub(super) async fn huge(stage: &Stage<'_>) -> Checked {
    arrives(stage, 1_000_000).await
}

async fn arrives(stage: &Stage<'_>, n_bytes: usize) -> Checked {
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    let payload = text(n_bytes);
    stage.publish(&stream, &payload).await?;
    client.hears(&identifier, &payload).await
}

/// A JSON text of so many bytes that is nowhere like itself.
fn text(n_bytes: usize) -> String {
    let mut text = String::with_capacity(n_bytes);
    text.push('"');
    let mut n = 0_u32;
    while text.len() + 12 < n_bytes {
        text.push_str(&format!("{n} "));
        n += 1;
    }
    while text.len() + 1 < n_bytes {
        text.push('x');
    }
    text + "\""
}

pub(super) async fn large_command(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[], 1);
    client.subscribe(&identifier).await?;
    let payload = text(48 << 10);
    let action = format!(r#"{{"action":"say","message":{payload}}}"#);
    client.perform(&identifier, &action).await?;
    client.hears(&identifier, &payload).await
}

pub(super) async fn many_channels(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let identifiers: Vec<_> = (0..CHANNELS).map(|n| streams_channel(&[&stream], n)).collect();
    let subscribes: Vec<_> = identifiers
        .iter()
        .map(|identifier| client::subscribe(identifier))
        .collect();
    client.send_together(&subscribes).await?;
    hear_each_once(&mut client, &identifiers, |message, identifier| {
        message.is("confirm_subscription") && message.identifier.as_deref() == Some(identifier)
    })
    .await?;
    stage.publish(&stream, r#""all""#).await?;
    hear_each_once(&mut client, &identifiers, Message::is_for).await?;
    client.settles_silently().await
}

/// One message for each subscription, in any order.
async fn hear_each_once(
    client: &mut Client,
    identifiers: &[String],
    is_for: impl Fn(&Message, &str) -> bool,
) -> Checked {
    let mut missing: Vec<_> = identifiers.iter().collect();
    while !missing.is_empty() {
        let message = client.message("one message for each subscription").await?;
        let Some(at) = missing.iter().position(|identifier| is_for(&message, identifier)) else {
            return Err(client.unexpected("one message for each subscription", &message));
        };
        missing.swap_remove(at);
    }
    Ok(())
}

pub(super) async fn slow_reader(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let (mut slow, mut quick) = (stage.client().await?, stage.client().await?);
    slow.subscribe(&identifier).await?;
    quick.subscribe(&identifier).await?;
    let padding = "x".repeat(BACKLOG_MESSAGE_BYTES);
    let message = |n: u32| format!(r#"{{"n":{n},"padding":"{padding}"}}"#);
    for n in 0..BACKLOG {
        stage.publish(&stream, &message(n)).await?;
        quick.hears(&identifier, &message(n)).await?;
    }
    quick.settles_silently().await?;
    // The slow one gets everything, or is told to leave after a beginning without gaps.
    for n in 0..BACKLOG {
        match slow.event("what was published").await? {
            Event::Message(got) if got.is_for(&identifier) && got.payload() == message(n) => {}
            Event::Message(got) if got.is("disconnect") => return slow.is_closed().await.map(|_closing| ()),
            Event::Message(got) => {
                return Err(slow.unexpected(&format!("message {n}, or to be disconnected"), &got));
            }
            Event::Closed(_) => return Ok(()),
        }
    }
    Ok(())
}
