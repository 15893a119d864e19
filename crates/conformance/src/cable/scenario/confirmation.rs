//! The promise of a confirmation: no later message is missed.

use super::{
    super::{
        client,
        stage::Stage,
        stop::{Checked, Stop},
    },
    streams_channel,
};

/// Subscriptions that are made and published to. Reason: a gap of a few microseconds shows in one of some.
const ROUNDS: u32 = 20;

/// Messages that are published while a client subscribes.
const FIRE: u32 = 100;

pub(super) async fn never_missed(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    for n in 0..ROUNDS {
        let stream = stage.name(&format!("a{n}"));
        let identifier = streams_channel(&[&stream], n);
        client.subscribe(&identifier).await?;
        stage.publish(&stream, &n.to_string()).await?;
        client.hears(&identifier, &n.to_string()).await?;
    }
    Ok(())
}

pub(super) async fn first(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let mut client = stage.client().await?;
    let fire = async {
        for n in 0..FIRE {
            stage.publish(&stream, &n.to_string()).await?;
        }
        Ok(())
    };
    let subscribing = async {
        // In the thick of it: a few are out by then.
        stage.client().await?;
        client.send(&client::subscribe(&identifier)).await
    };
    let (fired, subscribed): (Checked, Checked) = tokio::join!(fire, subscribing);
    fired.and(subscribed)?;
    let mut heard_before = 0;
    let mut last = None;
    let mut is_confirmed = false;
    // The last one may be out before the subscription is; another one tells when to stop.
    while !is_confirmed {
        let message = client.message("the confirmation").await?;
        if message.is("confirm_subscription") {
            is_confirmed = true;
        } else {
            last = Some(follows(last, message.payload())?);
            heard_before += 1;
        }
    }
    stage.publish(&stream, r#""end""#).await?;
    loop {
        let message = client.message("the rest of the messages").await?;
        if message.payload() == r#""end""# {
            break;
        }
        last = Some(follows(last, message.payload())?);
    }
    if last.is_some_and(|last| last + 1 != FIRE) {
        return Err(Stop::fail(format!(
            "expected all messages to {}; {last:?} was the last",
            FIRE - 1
        )));
    }
    match heard_before {
        0 => Ok(()),
        n => Err(Stop::non_strict(format!(
            "expected the confirmation first; {n} broadcasts came before it, which Rails' client tolerates"
        ))),
    }
}

/// The number in `payload`, which must follow the last one.
fn follows(last: Option<u32>, payload: &str) -> Checked<u32> {
    let expected = last.map(|last| last + 1);
    match payload.parse::<u32>() {
        Ok(n) if expected.is_none_or(|expected| n == expected) => Ok(n),
        _ => Err(Stop::fail(format!(
            "expected {expected:?} as the next message; got {payload}"
        ))),
    }
}
