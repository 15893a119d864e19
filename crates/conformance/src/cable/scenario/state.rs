//! What a channel remembers, and what it hears of the end.

use super::{
    super::{client::Client, stage::Stage, stop::Checked},
    streams_channel,
};

const TICK: &str = r#"{"action":"tick"}"#;

fn counter(name: &str, stream: &str) -> String {
    format!(r#"{{"channel":"CounterChannel","name":"{name}","stream":"{stream}"}}"#)
}

fn farewell(name: &str, stream: &str) -> String {
    format!(r#"{{"channel":"FarewellChannel","name":"{name}","stream":"{stream}"}}"#)
}

pub(super) async fn kept(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = counter("chipolino", &stage.name("a"));
    client.subscribe(&identifier).await?;
    for count in 1..=3 {
        client.perform(&identifier, TICK).await?;
        let expected = format!(r#"{{"count":{count},"name":"chipolino"}}"#);
        client.hears(&identifier, &expected).await?;
    }
    Ok(())
}

pub(super) async fn own(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifiers = ["a", "b"].map(|name| counter(name, &stage.name(name)));
    for identifier in &identifiers {
        client.subscribe(identifier).await?;
    }
    for (identifier, expected) in [
        (&identifiers[0], r#"{"count":1,"name":"a"}"#),
        (&identifiers[1], r#"{"count":1,"name":"b"}"#),
        (&identifiers[0], r#"{"count":2,"name":"a"}"#),
    ] {
        client.perform(identifier, TICK).await?;
        client.hears(identifier, expected).await?;
    }
    Ok(())
}

/// A client that hears who left, on these streams.
async fn listener(stage: &Stage<'_>, streams: &[&str]) -> Checked<(Client, String)> {
    let mut client = stage.client().await?;
    let identifier = streams_channel(streams, 1);
    client.subscribe(&identifier).await?;
    Ok((client, identifier))
}

pub(super) async fn at_the_end(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let (mut listener, identifier) = listener(stage, &[&stream]).await?;
    let mut leaver = stage.client().await?;
    leaver.subscribe(&counter("chipollone", &stream)).await?;
    leaver.close().await?;
    listener.hears(&identifier, r#"{"left":"chipollone"}"#).await
}

pub(super) async fn two_channels(stage: &Stage<'_>) -> Checked {
    let (a, b) = (stage.name("a"), stage.name("b"));
    let (listener, identifier) = listener(stage, &[&a, &b]).await?;
    let mut leaver = stage.client().await?;
    leaver.subscribe(&counter("one", &a)).await?;
    leaver.subscribe(&farewell("two", &b)).await?;
    leaver.close().await?;
    hears_in_any_order(listener, &identifier, [r#"{"left":"one"}"#, r#"{"left":"two"}"#]).await
}

pub(super) async fn two_subscriptions(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let (listener, identifier) = listener(stage, &[&stream]).await?;
    let mut leaver = stage.client().await?;
    leaver.subscribe(&farewell("one", &stream)).await?;
    leaver.subscribe(&farewell("two", &stream)).await?;
    leaver.close().await?;
    hears_in_any_order(listener, &identifier, [r#"{"left":"one"}"#, r#"{"left":"two"}"#]).await
}

async fn hears_in_any_order(mut client: Client, identifier: &str, expected: [&str; 2]) -> Checked {
    let first = client.message("who left").await?;
    match expected.iter().position(|message| *message == first.payload()) {
        Some(at) if first.is_for(identifier) => client.hears(identifier, expected[1 - at]).await,
        _ => Err(client.unexpected(&format!("{} or {}", expected[0], expected[1]), &first)),
    }
}
