//! Subscribing, and actions of subscriptions.

use std::collections::BTreeSet;

use super::{
    super::{client, stage::Stage, stop::Checked},
    streams_channel,
};

pub(super) async fn confirmed(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[], 1);
    client.send(&client::subscribe(&identifier)).await?;
    let expected = format!("the confirmation of {identifier}, and nothing else in it");
    let message = client.message(&expected).await?;
    let is_whole = message.is("confirm_subscription") && message.identifier.as_ref() == Some(&identifier);
    if is_whole && message.fields() == BTreeSet::from(["identifier", "type"].map(str::to_owned)) {
        Ok(())
    } else {
        Err(client.unexpected(&expected, &message))
    }
}

pub(super) async fn rejected(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let stream = stage.name("a");
    let identifier = format!(r#"{{"channel":"RefusedChannel","streams":["{stream}"]}}"#);
    client.send(&client::subscribe(&identifier)).await?;
    client.is_rejected(&identifier).await?;
    // A rejected subscription hears nothing, and its actions are not carried out.
    client.perform(&identifier, r#"{"action":"tick"}"#).await?;
    stage.publish(&stream, r#""for nobody""#).await?;
    client.settles_silently().await
}

pub(super) async fn params(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    client.subscribe(&streams_channel(&[], 1)).await?;
    client.subscribe(&streams_channel(&[], 2)).await
}

pub(super) async fn perform(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[], 1);
    client.subscribe(&identifier).await?;
    client.perform(&identifier, r#"{"action":"tick"}"#).await?;
    client.hears(&identifier, r#""tock""#).await
}

pub(super) async fn perform_arguments(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[], 1);
    client.subscribe(&identifier).await?;
    let action = r#"{"action":"say","message":{"response":"hello"}}"#;
    client.perform(&identifier, action).await?;
    client.hears(&identifier, r#"{"response":"hello"}"#).await
}

pub(super) async fn transmissions(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = r#"{"channel":"GreetingChannel"}"#;
    client.send(&client::subscribe(identifier)).await?;
    client.hears(identifier, r#""hello""#).await?;
    client.hears(identifier, r#""world""#).await?;
    client.is_confirmed(identifier).await
}

pub(super) async fn same_identifier(stage: &Stage<'_>) -> Checked {
    let (uid, stream) = (stage.name("kay"), stage.name("a"));
    let (mut first, mut second) = (stage.user(&uid).await?, stage.user(&uid).await?);
    let identifier = streams_channel(&[&stream], 1);
    first.subscribe(&identifier).await?;
    second.subscribe(&identifier).await?;
    stage.publish(&stream, r#""both""#).await?;
    first.hears(&identifier, r#""both""#).await?;
    second.hears(&identifier, r#""both""#).await?;
    first.perform(&identifier, r#"{"action":"tick"}"#).await?;
    first.hears(&identifier, r#""tock""#).await?;
    first.send(&client::unsubscribe(&identifier)).await?;
    first.settles_silently().await?;
    stage.publish(&stream, r#""one""#).await?;
    second.hears(&identifier, r#""one""#).await
}

pub(super) async fn right_subscription(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifiers: Vec<_> = (0..10).map(|n| streams_channel(&[], n)).collect();
    for identifier in &identifiers {
        client.subscribe(identifier).await?;
    }
    let actions: Vec<_> = (identifiers.iter().rev())
        .enumerate()
        .map(|(n, identifier)| client::perform(identifier, &format!(r#"{{"action":"say","message":{n}}}"#)))
        .collect();
    client.send_together(&actions).await?;
    for (n, identifier) in identifiers.iter().rev().enumerate() {
        client.hears(identifier, &n.to_string()).await?;
    }
    Ok(())
}
