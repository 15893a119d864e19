//! Identifiers are texts that a client chose, and keys of its subscriptions: one that is written anew is another one.

use super::super::{client, message::quoted, stage::Stage, stop::Checked};

pub(super) async fn verbatim(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let streams = format!(r#""streams":[{}]"#, quoted(&stream));
    for identifier in [
        format!(r#" {{ "channel" : "StreamsChannel" , {streams} }} "#),
        format!(r#"{{{streams},"z":1,"channel":"StreamsChannel","a":2}}"#),
        format!(r#"{{"channel":"StreamsChannel",{streams},"id":12345678901234567890}}"#),
        format!(r#"{{"channel":"StreamsChannel",{streams},"text":"é 🚀 <&> \u00e9 \" \\ \/"}}"#),
        format!("{{\"channel\":\"StreamsChannel\",\n\t{streams},\"nothing\":null}}"),
    ] {
        client.subscribe(&identifier).await?;
        client.perform(&identifier, r#"{"action":"tick"}"#).await?;
        client.hears(&identifier, r#""tock""#).await?;
        stage.publish(&stream, r#""all""#).await?;
        client.hears(&identifier, r#""all""#).await?;
        client.send(&client::unsubscribe(&identifier)).await?;
        client.settles_silently().await?;
    }
    Ok(())
}
