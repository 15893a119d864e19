//! Sessions that are resumed after a lost connection, without asking the application (docs/protocols/extended.md, Resuming).

use url::form_urlencoded::byte_serialize;

use super::{
    super::{
        client::{self, Client},
        handshake::Handshake,
        message::Message,
        stage::Stage,
        stop::{Checked, Stop},
    },
    extended::{
        after, connected, extended, extended_with, hears_at, history, is_replayed, keeper, since_lately,
    },
    streams_channel,
};

/// The header that names the session that a client had.
const RESTORE: &str = "X-ANYCABLE-RESTORE-SID";

/// What no session is called.
const UNKNOWN_SID: &str = "no-such-session";

/// A session that has ended: its sid, two streams, and its subscription to each.
struct Ended {
    sid: String,
    streams: [String; 2],
    identifiers: [String; 2],
}

async fn ended(stage: &Stage<'_>) -> Checked<Ended> {
    keeper(stage).await?;
    let (mut client, welcome) = extended(stage).await?;
    let streams = ["a", "b"].map(|word| stage.name(word));
    let identifiers = [1, 2].map(|n| streams_channel(&[&streams[n as usize - 1]], n));
    for identifier in &identifiers {
        client.subscribe(identifier).await?;
    }
    client.close().await?;
    Ok(Ended {
        sid: sid(&welcome),
        streams,
        identifiers,
    })
}

impl Ended {
    /// The welcome says what is restored, and both subscriptions hear each message once.
    async fn goes_on(&self, stage: &Stage<'_>, client: &mut Client, welcome: &Message) -> Checked {
        is_restored(client, welcome, &self.identifiers)?;
        for (stream, identifier) in self.streams.iter().zip(&self.identifiers) {
            stage.publish(stream, "1").await?;
            client.hears(identifier, "1").await?;
        }
        client.settles_silently().await
    }
}

fn sid(welcome: &Message) -> String {
    welcome.sid.clone().unwrap_or_default()
}

/// A client that comes back to a session by the header.
async fn resumed(stage: &Stage<'_>, sid: &str) -> Checked<(Client, Message)> {
    extended_with(stage, "", &[(RESTORE, sid)]).await
}

/// The welcome says that exactly these subscriptions are restored.
fn is_restored(client: &Client, welcome: &Message, identifiers: &[String]) -> Checked {
    let mut restored = welcome.restored_ids.clone().unwrap_or_default();
    let mut expected = identifiers.to_vec();
    restored.sort();
    expected.sort();
    if welcome.restored == Some(true) && restored == expected {
        Ok(())
    } else {
        Err(client.unexpected(
            &format!(
                "a welcome with restored: true and restored_ids {}",
                expected.join(", ")
            ),
            welcome,
        ))
    }
}

/// The welcome does not say that anything is restored.
fn is_new(client: &Client, welcome: &Message) -> Checked {
    let nothing = welcome.restored_ids.as_ref().is_none_or(Vec::is_empty);
    if welcome.restored != Some(true) && nothing {
        Ok(())
    } else {
        Err(client.unexpected("a welcome to a new session", welcome))
    }
}

pub(super) async fn by_header(stage: &Stage<'_>) -> Checked {
    let ended = ended(stage).await?;
    let (mut client, welcome) = resumed(stage, &ended.sid).await?;
    if welcome.sid.as_deref() == Some(&*ended.sid) {
        return Err(client.unexpected("a sid other than that of the session before", &welcome));
    }
    ended.goes_on(stage, &mut client, &welcome).await
}

pub(super) async fn by_query(stage: &Stage<'_>) -> Checked {
    let ended = ended(stage).await?;
    let query = format!("sid={}", in_query(&ended.sid));
    let (mut client, welcome) = extended_with(stage, &query, &[]).await?;
    ended.goes_on(stage, &mut client, &welcome).await
}

pub(super) async fn header_first(stage: &Stage<'_>) -> Checked {
    let ended = ended(stage).await?;
    let query = format!("sid={UNKNOWN_SID}");
    let (mut client, welcome) = extended_with(stage, &query, &[(RESTORE, &ended.sid)]).await?;
    ended.goes_on(stage, &mut client, &welcome).await
}

fn in_query(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

pub(super) async fn twice(stage: &Stage<'_>) -> Checked {
    let ended = ended(stage).await?;
    let (client, welcome) = resumed(stage, &ended.sid).await?;
    is_restored(&client, &welcome, &ended.identifiers)?;
    client.close().await?;
    let (mut client, welcome) = resumed(stage, &sid(&welcome)).await?;
    ended.goes_on(stage, &mut client, &welcome).await
}

pub(super) async fn unknown(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let (mut client, welcome) = resumed(stage, UNKNOWN_SID).await?;
    is_new(&client, &welcome)?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    stage.publish(&stream, "1").await?;
    client.hears(&identifier, "1").await
}

pub(super) async fn unknown_refused(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let mut client = connected(stage, "test=refused", &[(RESTORE, UNKNOWN_SID)]).await?;
    client.is_told_to_leave("unauthorized", false).await
}

pub(super) async fn base(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let base = [stage.dialect().base().name()];
    let handshake = Handshake {
        protocols: Some(&base),
        ..Handshake::default()
    };
    let mut client = stage.connected(&handshake).await?;
    let welcome = client.message("a welcome").await?;
    client.subscribe(&streams_channel(&[&stage.name("a")], 1)).await?;
    client.close().await?;
    // A server need not tell the sid to those who have no use for it.
    let Some(sid) = &welcome.sid else { return Ok(()) };
    let (client, welcome) = resumed(stage, sid).await?;
    is_new(&client, &welcome)
}

pub(super) async fn unsubscribed(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let (mut client, welcome) = extended(stage).await?;
    let streams = ["a", "b"].map(|word| stage.name(word));
    let [left, kept] = [1, 2].map(|n| streams_channel(&[&streams[n as usize - 1]], n));
    client.subscribe(&left).await?;
    client.subscribe(&kept).await?;
    client.send(&client::unsubscribe(&left)).await?;
    client.settle().await?;
    client.close().await?;
    let (mut client, welcome) = resumed(stage, &sid(&welcome)).await?;
    is_restored(&client, &welcome, std::slice::from_ref(&kept))?;
    stage.publish(&streams[0], r#""to nobody""#).await?;
    stage.publish(&streams[1], "1").await?;
    client.hears(&kept, "1").await
}

pub(super) async fn missed(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let (mut client, welcome) = extended(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    stage.publish(&stream, "1").await?;
    let position = hears_at(&mut client, &identifier, "1").await?;
    client.close().await?;
    for payload in ["2", "3"] {
        stage.publish(&stream, payload).await?;
    }
    let (mut client, welcome) = resumed(stage, &sid(&welcome)).await?;
    is_restored(&client, &welcome, std::slice::from_ref(&identifier))?;
    client.send(&history(&identifier, &after(&[&position]))).await?;
    is_replayed(&mut client, &identifier, &["2", "3"]).await?;
    stage.publish(&stream, "4").await?;
    let next = hears_at(&mut client, &identifier, "4").await?;
    if next.epoch == position.epoch && next.offset > position.offset {
        client.settles_silently().await
    } else {
        Err(Stop::fail(format!(
            "expected a position after {position}; got {next}"
        )))
    }
}

pub(super) async fn state(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let (mut client, welcome) = extended(stage).await?;
    let stream = stage.name("a");
    let identifier = format!(r#"{{"channel":"CounterChannel","name":"kay","stream":"{stream}"}}"#);
    client.subscribe(&identifier).await?;
    count(&mut client, &identifier, 1).await?;
    count(&mut client, &identifier, 2).await?;
    client.close().await?;
    let (mut client, welcome) = resumed(stage, &sid(&welcome)).await?;
    is_restored(&client, &welcome, std::slice::from_ref(&identifier))?;
    count(&mut client, &identifier, 3).await
}

/// Asks the channel to count on, which comes to this.
async fn count(client: &mut Client, identifier: &str, count: u32) -> Checked {
    client.perform(identifier, r#"{"action":"tick"}"#).await?;
    let expected = format!(r#"{{"count":{count},"name":"kay"}}"#);
    client.hears(identifier, &expected).await
}

pub(super) async fn user(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let uid = stage.name("kay");
    let (client, welcome) = extended_with(stage, &format!("test=uid&uid={uid}"), &[]).await?;
    client.close().await?;
    let (mut client, welcome) = resumed(stage, &sid(&welcome)).await?;
    is_restored(&client, &welcome, &[])?;
    stage.end_sessions(&uid, true).await?;
    client.is_told_to_leave("remote", true).await
}

pub(super) async fn old_connection(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let (mut old, welcome) = extended(stage).await?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    old.subscribe(&identifier).await?;
    // The client has lost the connection, and the server does not know it yet.
    let (mut client, welcome) = resumed(stage, &sid(&welcome)).await?;
    is_restored(&client, &welcome, std::slice::from_ref(&identifier))?;
    old.is_closed().await?;
    stage.publish(&stream, "1").await?;
    client.hears(&identifier, "1").await?;
    client.settles_silently().await
}

pub(super) async fn in_order(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let (mut client, welcome) = extended(stage).await?;
    let stream = stage.name("a");
    let identifiers = [5, 1, 4, 2, 3].map(|n| streams_channel(&[&stream], n));
    for identifier in &identifiers {
        client.subscribe(identifier).await?;
    }
    client.close().await?;
    let (client, welcome) = resumed(stage, &sid(&welcome)).await?;
    if welcome.restored_ids.as_deref() == Some(&identifiers[..]) {
        Ok(())
    } else {
        let expected = format!(
            "restored_ids in the order of the subscribes: {}",
            identifiers.join(", ")
        );
        Err(client.unexpected(&expected, &welcome))
    }
}

/// The application has granted the subscription, so the session has to have it.
pub(super) async fn in_flight(stage: &Stage<'_>) -> Checked {
    keeper(stage).await?;
    let (mut client, welcome) = extended(stage).await?;
    let stream = stage.name("a");
    let identifier = format!(r#"{{"channel":"SlowChannel","streams":["{stream}"],"ms":300}}"#);
    let n_before = stage.n_commands();
    client.send(&client::subscribe(&identifier)).await?;
    // A server may cut the old connection before it has read the command; then nothing was granted.
    stage.has_asked_about_more_than(n_before).await?;
    client.close().await?;
    let (mut client, welcome) = resumed(stage, &sid(&welcome)).await?;
    is_restored(&client, &welcome, std::slice::from_ref(&identifier))?;
    stage.publish(&stream, "1").await?;
    client.hears(&identifier, "1").await
}

pub(super) async fn no_calls(stage: &Stage<'_>) -> Checked {
    stage.needs_rpc("resuming without a call")?;
    let ended = ended(stage).await?;
    let n_before = stage.n_commands();
    let (mut client, welcome) = resumed(stage, &ended.sid).await?;
    is_restored(&client, &welcome, &ended.identifiers)?;
    for identifier in &ended.identifiers {
        client.send(&history(identifier, &since_lately())).await?;
        is_replayed(&mut client, identifier, &[]).await?;
    }
    match stage.n_commands() - n_before {
        0 => Ok(()),
        n => Err(Stop::fail(format!(
            "expected that the application is not asked about the subscriptions of a resumed session; it got {n} commands"
        ))),
    }
}
