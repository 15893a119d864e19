//! Subscribes and unsubscribes that overtake each other in clients: @rails/actioncable repeats a subscribe every half
//! second until it is confirmed, and pages subscribe again as fast as they unsubscribe.

use super::{
    super::{
        client::{self, Client},
        stage::Stage,
        stop::{Checked, Stop},
    },
    streams_channel,
};

/// Milliseconds that the slow channel takes. Reason: longer than commands that were sent together need to arrive.
const SLOW_MS: u32 = 150;

fn slow_channel(stream: &str) -> String {
    format!(r#"{{"channel":"SlowChannel","streams":["{stream}"],"ms":{SLOW_MS}}}"#)
}

/// Confirmations of a subscription among what came; anything else is wrong.
async fn confirmations(client: &mut Client, identifier: &str) -> Checked<usize> {
    let came = client.settle().await?;
    for message in &came {
        let is_confirmation =
            message.is("confirm_subscription") && message.identifier.as_deref() == Some(identifier);
        if !is_confirmation {
            return Err(client.unexpected("nothing but confirmations", message));
        }
    }
    Ok(came.len())
}

/// A message to the stream arrives exactly once.
async fn hears_once(stage: &Stage<'_>, client: &mut Client, identifier: &str, stream: &str) -> Checked {
    for message in [r#""once""#, r#""next""#] {
        stage.publish(stream, message).await?;
        client.hears(identifier, message).await?;
    }
    client.settles_silently().await
}

/// One confirmation is enough, more do no harm.
fn one_is_enough(n_confirmations: usize, n_subscribes: usize) -> Checked {
    match n_confirmations {
        0 => Err(Stop::fail("expected a confirmation; none came")),
        1 => Ok(()),
        n => Err(Stop::non_strict(format!(
            "expected one confirmation for {n_subscribes} subscribes; {n} came"
        ))),
    }
}

pub(super) async fn duplicate(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let mut client = stage.client().await?;
    client.subscribe(&identifier).await?;
    client.send(&client::subscribe(&identifier)).await?;
    let n_more = confirmations(&mut client, &identifier).await?;
    hears_once(stage, &mut client, &identifier, &stream).await?;
    one_is_enough(1 + n_more, 2)
}

pub(super) async fn duplicate_in_flight(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = slow_channel(&stream);
    let mut client = stage.client().await?;
    client
        .send_together(&vec![client::subscribe(&identifier); 3])
        .await?;
    let n_confirmations = confirmations(&mut client, &identifier).await?;
    hears_once(stage, &mut client, &identifier, &stream).await?;
    one_is_enough(n_confirmations, 3)
}

pub(super) async fn subscribe_again(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = slow_channel(&stream);
    let mut client = stage.client().await?;
    let (subscribe, unsubscribe) = (client::subscribe(&identifier), client::unsubscribe(&identifier));
    client
        .send_together(&[subscribe.clone(), unsubscribe, subscribe])
        .await?;
    let n_confirmations = confirmations(&mut client, &identifier).await?;
    if n_confirmations == 0 {
        return Err(Stop::fail(
            "expected the second subscribe to be confirmed; no confirmation came",
        ));
    }
    hears_once(stage, &mut client, &identifier, &stream).await
}

pub(super) async fn resubscribe(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let mut client = stage.client().await?;
    client.subscribe(&identifier).await?;
    for _ in 0..10 {
        let commands = [client::unsubscribe(&identifier), client::subscribe(&identifier)];
        client.send_together(&commands).await?;
        client.is_confirmed(&identifier).await?;
    }
    hears_once(stage, &mut client, &identifier, &stream).await
}

pub(super) async fn unsubscribe_in_flight(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = slow_channel(&stream);
    let mut client = stage.client().await?;
    let commands = [client::subscribe(&identifier), client::unsubscribe(&identifier)];
    client.send_together(&commands).await?;
    confirmations(&mut client, &identifier).await?;
    let witness = streams_channel(&[&stream], 1);
    client.subscribe(&witness).await?;
    hears_once(stage, &mut client, &witness, &stream).await
}
