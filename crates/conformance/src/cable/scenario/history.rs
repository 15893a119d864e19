//! Replays of earlier messages to clients that ask for them (docs/protocols/extended.md, History).

use super::{
    super::{
        client::Client,
        message::Message,
        stage::{Backend, Stage},
        stop::{Checked, Stop},
    },
    extended::{
        Position, after, extended, hears_at, history, is_refused, is_replayed, keeper, now,
        replayed_or_refused, since, since_lately, subscribe_with,
    },
    streams_channel,
};

/// More messages than AnyCable keeps of a stream by default, which are 100.
const MANY: u32 = 150;

/// A client of a target that keeps history, subscribed to a stream on which it has heard `1`, `2` and `3`.
struct Heard {
    client: Client,
    stream: String,
    identifier: String,
    positions: Vec<Position>,
}

async fn heard(stage: &Stage<'_>) -> Checked<Heard> {
    let mut client = keeper(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    let mut positions = Vec::new();
    for payload in ["1", "2", "3"] {
        stage.publish(&stream, payload).await?;
        positions.push(hears_at(&mut client, &identifier, payload).await?);
    }
    Ok(Heard {
        client,
        stream,
        identifier,
        positions,
    })
}

pub(super) async fn since_time(stage: &Stage<'_>) -> Checked {
    let mut client = keeper(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    // Before any client listens.
    for payload in ["1", "2", "3"] {
        stage.publish(&stream, payload).await?;
    }
    client.subscribe(&identifier).await?;
    client.send(&history(&identifier, &since_lately())).await?;
    is_replayed(&mut client, &identifier, &["1", "2", "3"]).await?;
    client.settles_silently().await
}

pub(super) async fn since_later(stage: &Stage<'_>) -> Checked {
    let mut heard = heard(stage).await?;
    let in_an_hour = since(now() + 3600);
    heard
        .client
        .send(&history(&heard.identifier, &in_an_hour))
        .await?;
    is_replayed(&mut heard.client, &heard.identifier, &[]).await?;
    heard.client.settles_silently().await
}

pub(super) async fn since_never(stage: &Stage<'_>) -> Checked {
    let mut client = keeper(stage).await?;
    let identifier = streams_channel(&[&stage.name("silent")], 1);
    client.subscribe(&identifier).await?;
    client.send(&history(&identifier, &since_lately())).await?;
    is_replayed(&mut client, &identifier, &[]).await?;
    client.settles_silently().await
}

pub(super) async fn after_offset(stage: &Stage<'_>) -> Checked {
    let heard = heard(stage).await?;
    let (mut late, _) = extended(stage).await?;
    late.subscribe(&heard.identifier).await?;
    let request = after(&[&heard.positions[0]]);
    late.send(&history(&heard.identifier, &request)).await?;
    is_replayed(&mut late, &heard.identifier, &["2", "3"]).await?;
    late.settles_silently().await
}

pub(super) async fn positions(stage: &Stage<'_>) -> Checked {
    let heard = heard(stage).await?;
    let (mut late, _) = extended(stage).await?;
    late.subscribe(&heard.identifier).await?;
    late.send(&history(&heard.identifier, &since_lately())).await?;
    let replayed = is_replayed(&mut late, &heard.identifier, &["1", "2", "3"]).await?;
    let grows = |pair: &[Position]| pair[0].epoch == pair[1].epoch && pair[0].offset < pair[1].offset;
    if !heard.positions.windows(2).all(grows) {
        return Err(other_positions(
            "offsets that grow in one epoch",
            &heard.positions,
        ));
    }
    if replayed == heard.positions {
        Ok(())
    } else {
        Err(other_positions(
            "replayed messages where they were live",
            &replayed,
        ))
    }
}

fn other_positions(expected: &str, positions: &[Position]) -> Stop {
    let came: Vec<_> = positions.iter().map(Position::to_string).collect();
    Stop::fail(format!("expected {expected}; got {}", came.join(", ")))
}

pub(super) async fn up_to_date(stage: &Stage<'_>) -> Checked {
    let mut heard = heard(stage).await?;
    let request = after(&[&heard.positions[2]]);
    heard.client.send(&history(&heard.identifier, &request)).await?;
    is_replayed(&mut heard.client, &heard.identifier, &[]).await?;
    heard.client.settles_silently().await
}

pub(super) async fn offset_ahead(stage: &Stage<'_>) -> Checked {
    let mut heard = heard(stage).await?;
    let mut ahead = heard.positions[2].clone();
    ahead.offset += 1000;
    heard
        .client
        .send(&history(&heard.identifier, &after(&[&ahead])))
        .await?;
    is_refused(&mut heard.client, &heard.identifier).await?;
    heard.client.settles_silently().await
}

pub(super) async fn unknown_epoch(stage: &Stage<'_>) -> Checked {
    let mut heard = heard(stage).await?;
    let request = after(&[&heard.positions[0].in_another_epoch()]);
    heard.client.send(&history(&heard.identifier, &request)).await?;
    is_refused(&mut heard.client, &heard.identifier).await?;
    heard.client.settles_silently().await
}

pub(super) async fn unknown_stream(stage: &Stage<'_>) -> Checked {
    let mut heard = heard(stage).await?;
    let stream_id = stage.name("silent");
    let identifier = streams_channel(&[&stream_id], 2);
    heard.client.subscribe(&identifier).await?;
    let nowhere = Position {
        stream_id,
        ..heard.positions[0].clone()
    };
    heard
        .client
        .send(&history(&identifier, &after(&[&nowhere])))
        .await?;
    is_refused(&mut heard.client, &identifier).await?;
    heard.client.settles_silently().await
}

/// A client that has heard [`MANY`] messages, and the position of the first.
async fn flooded(stage: &Stage<'_>) -> Checked<(Client, String, Position)> {
    let mut client = keeper(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    stage.publish(&stream, "1").await?;
    let first = hears_at(&mut client, &identifier, "1").await?;
    for n in 2..=MANY {
        stage.publish(&stream, &n.to_string()).await?;
        hears_at(&mut client, &identifier, &n.to_string()).await?;
    }
    Ok((client, identifier, first))
}

pub(super) async fn without_gaps(stage: &Stage<'_>) -> Checked {
    let (mut client, identifier, first) = flooded(stage).await?;
    client.send(&history(&identifier, &after(&[&first]))).await?;
    match replayed_or_refused(&mut client, &identifier).await? {
        // What came right after the offset is not kept any more.
        None => Ok(()),
        Some(replayed) => is_all(replayed.iter().map(Message::payload), 2),
    }
}

pub(super) async fn latest(stage: &Stage<'_>) -> Checked {
    let (mut client, identifier, _) = flooded(stage).await?;
    client.send(&history(&identifier, &since_lately())).await?;
    // A server that no longer keeps all of them may say so.
    let Some(replayed) = replayed_or_refused(&mut client, &identifier).await? else {
        return Ok(());
    };
    let first = replayed
        .first()
        .and_then(|message| message.payload().parse().ok());
    is_all(replayed.iter().map(Message::payload), first.unwrap_or(1))
}

/// These are the numbers from `first` to the last message of a flood.
fn is_all<'a>(payloads: impl Iterator<Item = &'a str>, first: u32) -> Checked {
    let mut expected = (first..=MANY).map(|n| n.to_string());
    for came in payloads {
        let next = expected.next().unwrap_or_else(|| "confirm_history".to_owned());
        if came != next {
            return Err(Stop::fail(format!("expected {next} in the replay; got {came}")));
        }
    }
    match expected.next() {
        None => Ok(()),
        Some(next) => Err(Stop::fail(format!(
            "expected {next} in the replay; got confirm_history"
        ))),
    }
}

/// A client that is subscribed to two streams, and has heard `1` and `2` on the first and `3` and `4` on the second;
/// with the positions of `1` and `3`.
async fn heard_two(stage: &Stage<'_>) -> Checked<(Client, String, [Position; 2])> {
    let mut client = keeper(stage).await?;
    let streams = [stage.name("a"), stage.name("b")];
    let identifier = streams_channel(&[&streams[0], &streams[1]], 1);
    client.subscribe(&identifier).await?;
    let mut positions = Vec::new();
    for (stream, payload) in [(0, "1"), (0, "2"), (1, "3"), (1, "4")] {
        stage.publish(&streams[stream], payload).await?;
        positions.push(hears_at(&mut client, &identifier, payload).await?);
    }
    let [first, _, third, _] = <[Position; 4]>::try_from(positions).expect("four messages were heard");
    Ok((client, identifier, [first, third]))
}

pub(super) async fn two_streams(stage: &Stage<'_>) -> Checked {
    let (mut client, identifier, [a, b]) = heard_two(stage).await?;
    client.send(&history(&identifier, &after(&[&a, &b]))).await?;
    let replayed = replayed_or_refused(&mut client, &identifier).await?;
    let mut came: Vec<_> = replayed.iter().flatten().map(Message::payload).collect();
    // Each stream has an order; which of them is first is the server's.
    came.sort_unstable();
    if came == ["2", "4"] {
        client.settles_silently().await
    } else {
        Err(Stop::fail(format!(
            "expected 2 and 4 in the replay; got {}",
            came.join(", ")
        )))
    }
}

pub(super) async fn all_or_nothing(stage: &Stage<'_>) -> Checked {
    let (mut client, identifier, [a, b]) = heard_two(stage).await?;
    for positions in [[&a, &b.in_another_epoch()], [&a.in_another_epoch(), &b]] {
        client.send(&history(&identifier, &after(&positions))).await?;
        is_refused(&mut client, &identifier).await?;
    }
    client.settles_silently().await
}

pub(super) async fn not_subscribed(stage: &Stage<'_>) -> Checked {
    let heard = heard(stage).await?;
    let (mut stranger, _) = extended(stage).await?;
    for request in [since_lately(), after(&[&heard.positions[0]])] {
        stranger.send(&history(&heard.identifier, &request)).await?;
    }
    stranger.settles_silently().await
}

pub(super) async fn transient(stage: &Stage<'_>) -> Checked {
    let mut heard = heard(stage).await?;
    stage.publish_passing(&heard.stream, r#""passing""#).await?;
    heard.client.hears(&heard.identifier, r#""passing""#).await?;
    stage.publish(&heard.stream, "4").await?;
    heard.client.hears(&heard.identifier, "4").await?;
    let request = after(&[&heard.positions[1]]);
    heard.client.send(&history(&heard.identifier, &request)).await?;
    is_replayed(&mut heard.client, &heard.identifier, &["3", "4"]).await?;
    heard.client.settles_silently().await
}

pub(super) async fn subscribe(stage: &Stage<'_>) -> Checked {
    let mut client = keeper(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    stage.publish(&stream, "1").await?;
    client.send(&subscribe_with(&identifier, &since_lately())).await?;
    client.is_confirmed(&identifier).await?;
    is_replayed(&mut client, &identifier, &["1"]).await?;
    client.settles_silently().await
}

pub(super) async fn subscribe_refused(stage: &Stage<'_>) -> Checked {
    let heard = heard(stage).await?;
    let (mut late, _) = extended(stage).await?;
    let request = after(&[&heard.positions[0].in_another_epoch()]);
    late.send(&subscribe_with(&heard.identifier, &request)).await?;
    late.is_confirmed(&heard.identifier).await?;
    is_refused(&mut late, &heard.identifier).await?;
    stage.publish(&heard.stream, "4").await?;
    late.hears(&heard.identifier, "4").await
}

/// Publishes `from` and the 14 numbers behind it, one after another.
async fn publish_numbers(backend: &Backend<'_>, stream: &str, from: u32) -> Checked {
    for number in from..from + 15 {
        backend.publish(stream, &number.to_string()).await?;
    }
    Ok(())
}

/// Receives messages until `n` have come, and returns their offsets.
async fn offsets(client: &mut Client, identifier: &str, n: usize) -> Checked<Vec<u64>> {
    let mut offsets = Vec::new();
    while offsets.len() < n {
        let message = client.message("a message with its offset").await?;
        match message.offset {
            Some(offset) if message.is_for(identifier) => offsets.push(offset),
            _ => return Err(client.unexpected("a message with its offset", &message)),
        }
    }
    Ok(offsets)
}

/// These offsets have no gap, come once each and in their order.
fn are_consecutive(offsets: &[u64]) -> Checked {
    match offsets.windows(2).find(|pair| pair[1] != pair[0] + 1) {
        None => Ok(()),
        Some(pair) => Err(Stop::fail(format!(
            "expected offset {} behind offset {}; got {}",
            pair[0] + 1,
            pair[0],
            pair[1]
        ))),
    }
}

pub(super) async fn concurrent_publishers(stage: &Stage<'_>) -> Checked {
    let mut client = keeper(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    let (one, two) = (stage.backend()?, stage.backend()?);
    let (three, four) = (stage.backend()?, stage.backend()?);
    tokio::try_join!(
        publish_numbers(&one, &stream, 0),
        publish_numbers(&two, &stream, 100),
        publish_numbers(&three, &stream, 200),
        publish_numbers(&four, &stream, 300),
    )?;
    are_consecutive(&offsets(&mut client, &identifier, 60).await?)
}

pub(super) async fn while_publishing(stage: &Stage<'_>) -> Checked {
    let mut client = keeper(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let (one, two) = (stage.backend()?, stage.backend()?);
    publish_numbers(&one, &stream, 0).await?;
    client.send(&subscribe_with(&identifier, &since_lately())).await?;
    let heard = async {
        client.is_confirmed(&identifier).await?;
        let Some(replayed) = replayed_or_refused(&mut client, &identifier).await? else {
            return Err(Stop::skip(
                "the target refused the history of the last half minute",
            ));
        };
        let mut heard: Vec<_> = replayed.iter().filter_map(|message| message.offset).collect();
        let rest = 45_usize.saturating_sub(heard.len());
        heard.extend(offsets(&mut client, &identifier, rest).await?);
        Ok(heard)
    };
    let ((), (), heard) = tokio::try_join!(
        publish_numbers(&one, &stream, 100),
        publish_numbers(&two, &stream, 200),
        heard
    )?;
    are_consecutive(&heard)
}

pub(super) async fn truncated(stage: &Stage<'_>) -> Checked {
    let (mut client, identifier, _) = flooded(stage).await?;
    client.send(&history(&identifier, &since_lately())).await?;
    match replayed_or_refused(&mut client, &identifier).await? {
        None => Ok(()),
        Some(replayed) => is_all(replayed.iter().map(Message::payload), 1),
    }
}

pub(super) async fn no_start(stage: &Stage<'_>) -> Checked {
    let mut heard = heard(stage).await?;
    for request in ["{}", r#"{"since":0}"#] {
        heard.client.send(&history(&heard.identifier, request)).await?;
        let answers = heard.client.settle().await?;
        if !answers.iter().any(|message| message.is("reject_history")) {
            return Err(Stop::fail(format!(
                "expected reject_history for the request {request}, which no message can follow; got no answer"
            )));
        }
    }
    Ok(())
}

pub(super) async fn repeated_subscribe(stage: &Stage<'_>) -> Checked {
    let mut heard = heard(stage).await?;
    let request = after(&[&heard.positions[0]]);
    heard
        .client
        .send(&subscribe_with(&heard.identifier, &request))
        .await?;
    let answers = heard.client.settle().await?;
    // The subscription may be confirmed again, or not.
    let answers = answers
        .iter()
        .filter(|message| !message.is("confirm_subscription"));
    let came: Vec<_> = answers
        .map(|message| message.kind.as_deref().unwrap_or(message.payload()))
        .collect();
    if came == ["2", "3", "confirm_history"] {
        Ok(())
    } else {
        Err(Stop::fail(format!(
            "expected 2, 3 and confirm_history after a repeated subscribe with history; got [{}]",
            came.join(", ")
        )))
    }
}

/// Names that a server may have to escape: in JSON, in keys of a database, in subjects of a message broker.
const NAMES: &[&str] = &[
    "chat/42",
    "room.1",
    "with a space",
    "*",
    ">",
    "back\\slash",
    "\"quoted\"",
    "ü🚀",
    "a:b{c}",
];

pub(super) async fn stream_names(stage: &Stage<'_>) -> Checked {
    let mut client = keeper(stage).await?;
    for (n, name) in (1..).zip(NAMES) {
        let stream = format!("{name}{}", stage.name(""));
        let identifier = streams_channel(&[&stream], n);
        client.subscribe(&identifier).await?;
        stage.publish(&stream, "1").await?;
        let first = hears_at(&mut client, &identifier, "1").await?;
        if first.stream_id != stream {
            return Err(other_positions(&format!("the stream_id {stream:?}"), &[first]));
        }
        stage.publish(&stream, "2").await?;
        hears_at(&mut client, &identifier, "2").await?;
        client.send(&history(&identifier, &after(&[&first]))).await?;
        is_replayed(&mut client, &identifier, &["2"]).await?;
    }
    Ok(())
}

/// A log that begins anew has the same offsets as the one before. A server that kept its messages replays them.
pub(super) async fn restart(stage: &Stage<'_>) -> Checked {
    stage.can_restart()?;
    let heard = heard(stage).await?;
    stage.restart(async { Ok(()) }).await?;
    for payload in ["4", "5", "6"] {
        stage.publish(&heard.stream, payload).await?;
    }
    let (mut client, _) = extended(stage).await?;
    client.subscribe(&heard.identifier).await?;
    let request = after(&[&heard.positions[0]]);
    client.send(&history(&heard.identifier, &request)).await?;
    let Some(replayed) = replayed_or_refused(&mut client, &heard.identifier).await? else {
        return Ok(());
    };
    let came: Vec<_> = replayed.iter().map(Message::payload).collect();
    if came == ["2", "3", "4", "5", "6"] {
        Ok(())
    } else {
        Err(Stop::fail(format!(
            "expected reject_history, or 2 to 6, for a position from before a restart; got [{}] and confirm_history",
            came.join(", ")
        )))
    }
}
