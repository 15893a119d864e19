//! AnyCable's additions to broadcasts: messages that leave out the client that caused them (docs/protocols/broadcasts.md,
//! Payloads), and whispers among clients (docs/protocols/extended.md, Whispers).

use super::{
    super::{
        fidelity::{Fidelity, compare},
        message::quoted,
        stage::Stage,
        stop::{Checked, Stop},
    },
    WHISPERS, streams_channel,
};
use crate::Score;

pub(super) async fn to_others(stage: &Stage<'_>) -> Checked {
    stage.needs_rpc("a broadcast to others")?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let (mut speaker, mut listener) = (stage.client().await?, stage.client().await?);
    speaker.subscribe(&identifier).await?;
    listener.subscribe(&identifier).await?;
    let action =
        format!(r#"{{"action":"broadcast","stream":"{stream}","message":"to others","to_others":true}}"#);
    speaker.perform(&identifier, &action).await?;
    listener.hears(&identifier, r#""to others""#).await?;
    speaker.settles_silently().await?;
    stage.publish(&stream, r#""to all""#).await?;
    speaker.hears(&identifier, r#""to all""#).await?;
    listener.hears(&identifier, r#""to all""#).await
}

pub(super) async fn whisper(stage: &Stage<'_>) -> Checked {
    whispers(stage, r#"{"event":"typing","user":"kay"}"#)
        .await
        .map(|_kept| ())
}

pub(super) async fn whispered_numbers(stage: &Stage<'_>) -> Checked {
    let kept = whispers(stage, r#"{"id":9007199254740993}"#).await?;
    let score = Score {
        kept: u32::from(kept.is_ok()),
        of: 1,
    };
    let first = kept
        .err()
        .map_or_else(String::new, |difference| format!("; {difference}"));
    Err(Stop::graded(
        score,
        format!("{} of 1 whispers kept its number{first}", score.kept),
    ))
}

/// Expects that others receive the whisper `data`, and its sender does not. Returns the difference that RFC 8259 allows, if
/// there is one.
async fn whispers(stage: &Stage<'_>, data: &str) -> Checked<Result<(), String>> {
    stage.needs_rpc("whispering")?;
    let stream = stage.name("a");
    let identifier = format!(r#"{{"channel":"WhisperChannel","stream":"{stream}"}}"#);
    let (mut speaker, mut listener) = (stage.client().await?, stage.client().await?);
    speaker.subscribe(&identifier).await?;
    listener.subscribe(&identifier).await?;
    let whisper = format!(
        r#"{{"command":"whisper","identifier":{},"data":{data}}}"#,
        quoted(&identifier)
    );
    speaker.send(&whisper).await?;
    let message = listener.message("the whisper").await?;
    // Some mark whispers with a type of their own; clients pass on what they do not know as a message.
    let is_whisper = message.kind.as_deref().is_none_or(|kind| kind == "whisper");
    if !is_whisper || message.identifier.as_deref() != Some(&*identifier) {
        return Err(listener.unexpected(data, &message));
    }
    let kept = match compare(data, message.payload()) {
        Fidelity::Changed(difference) => {
            let text = format!("expected the whisper {data}; {difference}");
            return Err(Stop::fail(text).against(WHISPERS));
        }
        Fidelity::Allowed(difference) => Err(difference),
        Fidelity::Exact | Fidelity::Rewritten => Ok(()),
    };
    stage.publish(&stream, r#""to all""#).await?;
    speaker.hears(&identifier, r#""to all""#).await?;
    listener.hears(&identifier, r#""to all""#).await?;
    Ok(kept)
}

pub(super) async fn not_granted(stage: &Stage<'_>) -> Checked {
    stage.needs_rpc("whispering")?;
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let (mut speaker, mut listener) = (stage.client().await?, stage.client().await?);
    speaker.subscribe(&identifier).await?;
    listener.subscribe(&identifier).await?;
    let whisper = format!(
        r#"{{"command":"whisper","identifier":{},"data":"psst"}}"#,
        quoted(&identifier)
    );
    speaker.send(&whisper).await?;
    speaker.settles_silently().await?;
    stage.publish(&stream, r#""to all""#).await?;
    listener.hears(&identifier, r#""to all""#).await
}

pub(super) async fn ping(stage: &Stage<'_>) -> Checked {
    stage.needs_rpc("the command `ping`")?;
    let mut client = stage.client().await?;
    client.send(r#"{"command":"ping"}"#).await?;
    let answers = client.settle().await?;
    match &*answers {
        [pong] if pong.is("pong") => Ok(()),
        [] => Err(Stop::fail(
            "expected a pong in answer to the command `ping`; got no answer",
        )),
        [other, ..] => Err(client.unexpected("a pong", other)),
    }
}
