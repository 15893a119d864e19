//! Presence: who is there (docs/protocols/extended.md, Presence).
//!
//! A user is present while one of the user's sessions is. A session whose connection is lost stays for a while,
//! AnyCable's `presence_ttl`, which has to be shorter than a case's patience.

use serde::Deserialize;
use serde_json::Value;

use super::{
    super::{
        client::{self, Client},
        message::{Message, quoted},
        stage::Stage,
        stop::{Checked, Stop},
    },
    extended::{extended, history, is_replayed, keeper, since_lately},
    streams_channel,
};

/// The content of a presence message: an event, or the list of present users.
#[derive(Deserialize)]
struct Event {
    r#type: String,
    id: Option<String>,
    info: Option<Value>,
    total: Option<u64>,
    records: Option<Vec<Member>>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Member {
    id: String,
    info: Value,
}

impl Member {
    /// A user whose name the suite's channels announce.
    fn named(id: &str, name: &str) -> Self {
        Self {
            id: id.to_owned(),
            info: serde_json::json!({ "name": name }),
        }
    }
}

/// The event that a presence message has for a subscription.
fn event(message: &Message, identifier: &str) -> Option<Event> {
    let is_it = message.is("presence") && message.identifier.as_deref() == Some(identifier);
    is_it
        .then(|| serde_json::from_str(message.payload()).ok())
        .flatten()
}

/// The failure for an unexpected presence message. The identifier is left out, because it is longer than the event.
fn unexpected(client: &Client, expected: &str, message: &Message) -> Stop {
    if message.is("presence") {
        Stop::fail(format!("expected {expected}; got {}", message.payload()))
    } else {
        client.unexpected(expected, message)
    }
}

fn presence_channel(stream: &str, user: &str, joins: bool, n: u32) -> String {
    format!(r#"{{"channel":"PresenceChannel","stream":"{stream}","user":"{user}","joins":{joins},"n":{n}}}"#)
}

/// The channel of clients that only watch.
fn onlooker(stream: &str) -> String {
    presence_channel(stream, "", false, 1)
}

fn ask(identifier: &str) -> String {
    format!(r#"{{"command":"presence","identifier":{}}}"#, quoted(identifier))
}

fn join(identifier: &str, id: &str, name: &str) -> String {
    let identifier = quoted(identifier);
    format!(
        r#"{{"command":"join","identifier":{identifier},"presence":{{"id":"{id}","info":{{"name":"{name}"}}}}}}"#
    )
}

fn leave(identifier: &str) -> String {
    format!(r#"{{"command":"leave","identifier":{}}}"#, quoted(identifier))
}

/// A client that is subscribed and has seen that there is presence: a target without it says so, or says nothing.
async fn observer(stage: &Stage<'_>, identifier: &str) -> Checked<Client> {
    stage.needs_rpc("presence")?;
    let mut client = stage.client().await?;
    client.subscribe(identifier).await?;
    client.send(&ask(identifier)).await?;
    let answers = client.settle().await?;
    let keeps = |message| event(message, identifier).is_some_and(|event| event.r#type != "error");
    if answers.iter().any(keeps) {
        Ok(client)
    } else {
        Err(Stop::skip(
            "the target answered the command `presence` with an error: it does not support presence",
        ))
    }
}

/// Expects that the next message announces `id` with its name.
async fn hears_join(client: &mut Client, identifier: &str, id: &str) -> Checked {
    let expected = format!("that {id} joins, with the info {{\"name\":\"{id}\"}}");
    let message = client.message(&expected).await?;
    let info = Some(Member::named(id, id).info);
    match event(&message, identifier) {
        Some(event) if event.r#type == "join" && event.id.as_deref() == Some(id) && event.info == info => {
            Ok(())
        }
        _ => Err(unexpected(client, &expected, &message)),
    }
}

/// The next message is that `id` left.
async fn hears_leave(client: &mut Client, identifier: &str, id: &str) -> Checked {
    let expected = format!("that {id} leaves");
    let message = client.message(&expected).await?;
    match event(&message, identifier) {
        Some(event) if event.r#type == "leave" && event.id.as_deref() == Some(id) => Ok(()),
        _ => Err(unexpected(client, &expected, &message)),
    }
}

/// Who is there are these, in any order.
async fn sees(client: &mut Client, identifier: &str, members: &[Member]) -> Checked {
    client.send(&ask(identifier)).await?;
    let message = client.message("who is there").await?;
    let ids: Vec<_> = members.iter().map(|member| &*member.id).collect();
    let expected = format!("the info of {} present: [{}]", members.len(), ids.join(", "));
    let Some(event) = event(&message, identifier).filter(|event| event.r#type == "info") else {
        return Err(unexpected(client, &expected, &message));
    };
    let records = event.records.unwrap_or_default();
    let are_same = records.len() == members.len() && members.iter().all(|member| records.contains(member));
    if are_same && event.total == Some(members.len() as u64) {
        Ok(())
    } else {
        Err(unexpected(client, &expected, &message))
    }
}

pub(super) async fn perform(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    let mut actor = stage.client().await?;
    actor.subscribe(&identifier).await?;
    actor
        .perform(&identifier, r#"{"action":"join","user":"kay"}"#)
        .await?;
    for client in [&mut observer, &mut actor] {
        hears_join(client, &identifier, "kay").await?;
    }
    actor
        .perform(&identifier, r#"{"action":"leave","user":"kay"}"#)
        .await?;
    for client in [&mut observer, &mut actor] {
        hears_leave(client, &identifier, "kay").await?;
    }
    Ok(())
}

pub(super) async fn commands(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    let mut actor = stage.client().await?;
    actor.subscribe(&identifier).await?;
    actor.send(&join(&identifier, "kay", "kay")).await?;
    for client in [&mut observer, &mut actor] {
        hears_join(client, &identifier, "kay").await?;
    }
    actor.send(&leave(&identifier)).await?;
    for client in [&mut observer, &mut actor] {
        hears_leave(client, &identifier, "kay").await?;
    }
    Ok(())
}

pub(super) async fn disconnect(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = onlooker(&stream);
    let mut observer = observer(stage, &identifier).await?;
    let mut actor = stage.client().await?;
    actor
        .subscribe(&presence_channel(&stream, "kay", true, 2))
        .await?;
    hears_join(&mut observer, &identifier, "kay").await?;
    actor.close().await?;
    hears_leave(&mut observer, &identifier, "kay").await
}

pub(super) async fn sessions(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = onlooker(&stream);
    let mut observer = observer(stage, &identifier).await?;
    let present = presence_channel(&stream, "kay", true, 2);
    let (mut first, mut second) = (stage.client().await?, stage.client().await?);
    first.subscribe(&present).await?;
    hears_join(&mut observer, &identifier, "kay").await?;
    second.subscribe(&present).await?;
    first.send(&client::unsubscribe(&present)).await?;
    first.settle().await?;
    observer.settles_silently().await?;
    second.send(&client::unsubscribe(&present)).await?;
    hears_leave(&mut observer, &identifier, "kay").await
}

pub(super) async fn back_in_time(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = onlooker(&stream);
    let mut observer = observer(stage, &identifier).await?;
    let present = presence_channel(&stream, "kay", true, 2);
    let mut actor = stage.client().await?;
    actor.subscribe(&present).await?;
    hears_join(&mut observer, &identifier, "kay").await?;
    actor.close().await?;
    let mut actor = stage.client().await?;
    actor.subscribe(&present).await?;
    observer.settles_silently().await?;
    actor.send(&client::unsubscribe(&present)).await?;
    // At once, or when the connection that was lost is given up.
    hears_leave(&mut observer, &identifier, "kay").await?;
    observer.settles_silently().await
}

pub(super) async fn info(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    sees(&mut observer, &identifier, &[]).await?;
    let (mut kay, mut ann) = (stage.client().await?, stage.client().await?);
    for (client, id) in [(&mut kay, "kay"), (&mut ann, "ann")] {
        client.subscribe(&identifier).await?;
        client.send(&join(&identifier, id, id)).await?;
        hears_join(&mut observer, &identifier, id).await?;
    }
    let both = [Member::named("kay", "kay"), Member::named("ann", "ann")];
    sees(&mut observer, &identifier, &both).await?;
    kay.send(&leave(&identifier)).await?;
    hears_leave(&mut observer, &identifier, "kay").await?;
    sees(&mut observer, &identifier, &both[1..]).await
}

pub(super) async fn info_replaced(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    let (mut first, mut second) = (stage.client().await?, stage.client().await?);
    first.subscribe(&identifier).await?;
    first.send(&join(&identifier, "kay", "kay")).await?;
    hears_join(&mut observer, &identifier, "kay").await?;
    second.subscribe(&identifier).await?;
    second.send(&join(&identifier, "kay", "Kay II")).await?;
    second.settle().await?;
    observer.settles_silently().await?;
    sees(&mut observer, &identifier, &[Member::named("kay", "Kay II")]).await
}

pub(super) async fn one_id(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    let mut actor = stage.client().await?;
    actor.subscribe(&identifier).await?;
    actor.send(&join(&identifier, "kay", "kay")).await?;
    hears_join(&mut observer, &identifier, "kay").await?;
    actor.send(&join(&identifier, "ann", "ann")).await?;
    actor.settle().await?;
    observer.settles_silently().await?;
    sees(&mut observer, &identifier, &[Member::named("kay", "kay")]).await
}

pub(super) async fn transient(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = onlooker(&stream);
    let mut observer = observer(stage, &identifier).await?;
    keeper(stage).await?;
    let (mut actor, _) = extended(stage).await?;
    actor.subscribe(&identifier).await?;
    actor.send(&join(&identifier, "kay", "kay")).await?;
    hears_join(&mut observer, &identifier, "kay").await?;
    hears_join(&mut actor, &identifier, "kay").await?;
    stage.publish(&stream, "1").await?;
    actor.hears(&identifier, "1").await?;
    actor.send(&history(&identifier, &since_lately())).await?;
    is_replayed(&mut actor, &identifier, &["1"]).await?;
    actor.settles_silently().await
}

pub(super) async fn subscribe_command(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = onlooker(&stream);
    let mut observer = observer(stage, &identifier).await?;
    keeper(stage).await?;
    stage.publish(&stream, "1").await?;
    observer.hears(&identifier, "1").await?;
    let (mut actor, _) = extended(stage).await?;
    let subscribe = format!(
        r#"{{"command":"subscribe","identifier":{},"history":{},"presence":{{"id":"kay","info":{{"name":"kay"}}}}}}"#,
        quoted(&identifier),
        since_lately()
    );
    actor.send(&subscribe).await?;
    actor.is_confirmed(&identifier).await?;
    is_replayed(&mut actor, &identifier, &["1"]).await?;
    hears_join(&mut actor, &identifier, "kay").await?;
    hears_join(&mut observer, &identifier, "kay").await
}

/// A member that lost its connection leaves after the target's `presence_ttl`. A member that has been connected for
/// longer than that must still be present then.
pub(super) async fn stays(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    let (mut kay, mut ann) = (stage.base_client().await?, stage.base_client().await?);
    for (client, id) in [(&mut kay, "kay"), (&mut ann, "ann")] {
        client.subscribe(&identifier).await?;
        client.send(&join(&identifier, id, id)).await?;
        hears_join(&mut observer, &identifier, id).await?;
    }
    ann.close().await?;
    hears_leave(&mut observer, &identifier, "ann").await?;
    sees(&mut observer, &identifier, &[Member::named("kay", "kay")]).await
}

pub(super) async fn number_only(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    observer.send(&join(&identifier, "kay", "kay")).await?;
    hears_join(&mut observer, &identifier, "kay").await?;
    let ask = format!(
        r#"{{"command":"presence","identifier":{},"data":{{"return_records":false}}}}"#,
        quoted(&identifier)
    );
    observer.send(&ask).await?;
    let expected = "an info with the total of 1 and without records";
    let message = observer.message(expected).await?;
    match event(&message, &identifier) {
        Some(event) if event.r#type == "info" && event.total == Some(1) && event.records.is_none() => Ok(()),
        _ => Err(unexpected(&observer, expected, &message)),
    }
}

pub(super) async fn empty_id(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    let mut actor = stage.client().await?;
    actor.subscribe(&identifier).await?;
    actor.send(&join(&identifier, "", "nameless")).await?;
    actor.settle().await?;
    sees(&mut observer, &identifier, &[]).await
}

pub(super) async fn always_answered(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    let unknown = onlooker(&stage.name("b"));
    let without_presence = streams_channel(&[&stage.name("c")], 1);
    observer.subscribe(&without_presence).await?;
    for (identifier, which) in [
        (&unknown, "that does not exist"),
        (&without_presence, "without presence"),
    ] {
        observer.send(&ask(identifier)).await?;
        let answers = observer.settle().await?;
        if !answers.iter().any(|message| event(message, identifier).is_some()) {
            return Err(Stop::fail(format!(
                "expected an answer to the command `presence` for a subscription {which}; got none"
            )));
        }
    }
    Ok(())
}

pub(super) async fn leave_own(stage: &Stage<'_>) -> Checked {
    let identifier = onlooker(&stage.name("a"));
    let mut observer = observer(stage, &identifier).await?;
    let (mut first, mut second) = (stage.client().await?, stage.client().await?);
    let mut stranger = stage.client().await?;
    for client in [&mut first, &mut second, &mut stranger] {
        client.subscribe(&identifier).await?;
    }
    first.send(&join(&identifier, "kay", "kay")).await?;
    hears_join(&mut observer, &identifier, "kay").await?;
    second.send(&join(&identifier, "kay", "kay")).await?;
    second.settle().await?;
    // One who never came, and one of two, twice.
    for (client, times) in [(&mut stranger, 1), (&mut first, 2)] {
        for _ in 0..times {
            client.send(&leave(&identifier)).await?;
            client.settle().await?;
        }
    }
    observer.settles_silently().await?;
    sees(&mut observer, &identifier, &[Member::named("kay", "kay")]).await?;
    second.send(&leave(&identifier)).await?;
    hears_leave(&mut observer, &identifier, "kay").await
}
