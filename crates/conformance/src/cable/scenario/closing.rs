//! Connections that the server ends: from outside, by the application, and because it stops.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::{
    super::{
        client::{self, Client},
        stage::Stage,
        stop::Checked,
    },
    streams_channel,
};

/// Sessions of one user. Reason: AnyCable ends one per node (docs/protocols/broadcasts.md, Remote disconnect), so any number
/// above one shows it.
const SESSIONS: usize = 50;

/// Clients of a restart.
const CROWD: usize = 1000;

/// Connections that are made at a time. Reason: fewer than any server's queue of connections to accept.
const CONNECTING: usize = 50;

/// A session of a user that the server has registered: it has answered a command.
async fn session(stage: &Stage<'_>, uid: &str) -> Checked<Client> {
    let mut client = stage.user(uid).await?;
    client.subscribe(&streams_channel(&[], 1)).await?;
    Ok(client)
}

pub(super) async fn remote(stage: &Stage<'_>) -> Checked {
    is_ended(stage, true).await
}

pub(super) async fn remote_for_good(stage: &Stage<'_>) -> Checked {
    is_ended(stage, false).await
}

async fn is_ended(stage: &Stage<'_>, reconnect: bool) -> Checked {
    let uid = stage.name("kay");
    let mut client = session(stage, &uid).await?;
    stage.end_sessions(&uid, reconnect).await?;
    client.is_told_to_leave("remote", reconnect).await?;
    client.is_closed_properly().await
}

pub(super) async fn remote_others(stage: &Stage<'_>) -> Checked {
    let (kay, bo) = (stage.name("kay"), stage.name("bo"));
    let mut client = session(stage, &kay).await?;
    let mut other = session(stage, &bo).await?;
    stage.end_sessions(&kay, true).await?;
    client.is_closed().await?;
    other.settles_silently().await
}

pub(super) async fn remote_many(stage: &Stage<'_>) -> Checked {
    let uid = stage.name("kay");
    let mut clients = Vec::new();
    for _ in 0..SESSIONS {
        clients.push(session(stage, &uid).await?);
    }
    stage.end_sessions(&uid, true).await?;
    for client in &mut clients {
        client.is_told_to_leave("remote", true).await?;
        client.is_closed_properly().await?;
    }
    Ok(())
}

pub(super) async fn by_application(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[], 1);
    client.subscribe(&identifier).await?;
    // The second action comes too late.
    let end = client::perform(&identifier, r#"{"action":"end","reconnect":false}"#);
    let tick = client::perform(&identifier, r#"{"action":"tick"}"#);
    client.send_together(&[end, tick]).await?;
    client.is_told_to_leave("remote", false).await?;
    client.is_closed_properly().await
}

pub(super) async fn restart(stage: &Stage<'_>) -> Checked {
    stage.can_restart()?;
    let mut client = stage.client().await?;
    stage
        .restart(async {
            client.is_told_to_leave("server_restart", true).await?;
            client.is_closed_properly().await
        })
        .await?;
    stage.client().await?.settles_silently().await
}

pub(super) async fn restart_crowd(stage: &Stage<'_>) -> Checked {
    stage.can_restart()?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let mut crowd = crowd(stage, &identifier).await?;
    stage
        .restart(async {
            for client in &mut crowd {
                client.is_told_to_leave("server_restart", true).await?;
                client.is_closed_properly().await?;
            }
            Ok(())
        })
        .await?;
    drop(crowd);
    let mut crowd = self::crowd(stage, &identifier).await?;
    stage.publish(&stream, r#""all back""#).await?;
    for client in &mut crowd {
        client.hears(&identifier, r#""all back""#).await?;
    }
    Ok(())
}

async fn crowd(stage: &Stage<'_>, identifier: &str) -> Checked<Vec<Client>> {
    let subscribed = |_| async {
        let mut client = stage.client().await?;
        client.subscribe(identifier).await?;
        Ok(client)
    };
    stream::iter(0..CROWD)
        .map(subscribed)
        .buffer_unordered(CONNECTING)
        .try_collect()
        .await
}
