//! Order: of commands, of broadcasts, and nothing lost or twice.

use super::{
    super::{
        client::{self, Event},
        stage::Stage,
        stop::Checked,
    },
    streams_channel,
};

pub(super) async fn commands(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[], 1);
    let mut commands = vec![client::subscribe(&identifier)];
    let say = |n| client::perform(&identifier, &format!(r#"{{"action":"say","message":{n}}}"#));
    commands.extend((0..50).map(say));
    client.send_together(&commands).await?;
    client.is_confirmed(&identifier).await?;
    for n in 0..50 {
        client.hears(&identifier, &n.to_string()).await?;
    }
    client.settles_silently().await
}

pub(super) async fn broadcasts(stage: &Stage<'_>) -> Checked {
    arrive(stage, 100, 3).await
}

pub(super) async fn thousand(stage: &Stage<'_>) -> Checked {
    arrive(stage, 1000, 1).await
}

async fn arrive(stage: &Stage<'_>, n_messages: u32, n_clients: u32) -> Checked {
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let mut clients = Vec::new();
    for _ in 0..n_clients {
        let mut client = stage.client().await?;
        client.subscribe(&identifier).await?;
        clients.push(client);
    }
    for n in 0..n_messages {
        stage.publish(&stream, &n.to_string()).await?;
    }
    for client in &mut clients {
        for n in 0..n_messages {
            client.hears(&identifier, &n.to_string()).await?;
        }
        client.settles_silently().await?;
    }
    Ok(())
}

pub(super) async fn last_words(stage: &Stage<'_>) -> Checked {
    let (uid, stream) = (stage.name("kay"), stage.name("a"));
    let mut client = stage.user(&uid).await?;
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    stage.publish(&stream, r#""before""#).await?;
    stage.end_sessions(&uid, true).await?;
    stage.publish(&stream, r#""after""#).await?;
    client.hears(&identifier, r#""before""#).await?;
    let message = client.message("a disconnect message").await?;
    if !message.is("disconnect") {
        return Err(client.unexpected("a disconnect message", &message));
    }
    match client.event("the close").await? {
        Event::Closed(_) => Ok(()),
        Event::Message(message) => Err(client.unexpected("nothing after the disconnect message", &message)),
    }
}
