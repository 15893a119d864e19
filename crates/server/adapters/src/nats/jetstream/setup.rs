//! The streams of JetStream that the broker needs: made, adapted, or refused with a reason.

use std::time::Duration;

use plimsoll_nats::{
    Header, Message, Operation, PONG,
    jetstream::{Api, ApiError, KeptStream, Need, StreamConfig, stream_config},
    publish_with,
};
use tokio::time::{sleep, timeout};

use super::requests::Inbox;
use crate::nats::{
    connection::{Connection, NatsError},
    is_about_permissions,
};

/// The oldest servers with what the logs need: direct reads, and stored messages that are published again.
const MIN_VERSION: (u32, u32) = (2, 9);

/// How long JetStream may take to answer before it is asked again: a cluster that elects its leaders answers nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The wait before JetStream is asked again that is not ready yet.
const BEFORE_REPEAT: Duration = Duration::from_millis(250);

const NOT_AVAILABLE: u32 = 10008;
const NAME_IN_USE: u32 = 10058;
const NOT_FOUND: u32 = 10059;

/// What may be done to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It is made, or gets other settings.
    Change,
    /// Nothing: a stream that is not there, or has other settings, could be made or changed.
    Look,
}

/// Makes sure that the streams are there, if `access` allows that. Returns the greatest number of their replicas.
pub(super) async fn prepare(
    connection: &mut Connection,
    inbox: &Inbox,
    streams: &[KeptStream],
    access: Access,
) -> Result<u64, NatsError> {
    check_version(&connection.info.version)?;
    let (mut number, mut n_replicas) = (0, 1);
    for stream in streams {
        n_replicas = n_replicas.max(prepare_one(connection, inbox, &mut number, (stream, access)).await?);
    }
    Ok(n_replicas)
}

/// `number` is that of the last request. Returns the number of the stream's replicas.
async fn prepare_one(
    connection: &mut Connection,
    inbox: &Inbox,
    number: &mut u64,
    (stream, access): (&KeptStream, Access),
) -> Result<u64, NatsError> {
    loop {
        let mut ask = async |api: Api, payload: Vec<u8>| {
            let subject = api.subject(&stream.name);
            loop {
                *number += 1;
                let answered = exchange(connection, inbox, *number, &subject, &payload);
                if let Ok(message) = timeout(PATIENCE, answered).await {
                    return Ok::<_, NatsError>(stream_config(&message?.payload));
                }
            }
        };
        let found = match ask(Api::Info, Vec::new()).await? {
            Err(ApiError { code: NOT_FOUND, .. }) if access == Access::Look => return Ok(1),
            Err(ApiError { code: NOT_FOUND, .. }) => ask(Api::Create, stream.create()).await?,
            found => found,
        };
        match found {
            Ok(config) => match needs(stream, &config)? {
                Need::Nothing => return Ok(config.n_replicas()),
                Need::Change { .. } if access == Access::Look => return Ok(config.n_replicas()),
                Need::Change { names, payload } => {
                    tracing::info!(
                        "Changing the settings of the JetStream stream {}: {}.",
                        stream.name,
                        names.join(", ")
                    );
                    let changed = ask(Api::Update, payload).await?;
                    let refused =
                        |error| refused(stream, &format!("cannot change {}", names.join(", ")), &error);
                    return changed.map(|config| config.n_replicas()).map_err(refused);
                }
            },
            // Another server was faster, or JetStream is about to start.
            Err(error) if matches!(error.code, NAME_IN_USE | NOT_AVAILABLE) => sleep(BEFORE_REPEAT).await,
            Err(error) => return Err(refused(stream, "cannot be used", &error)),
        }
    }
}

fn needs(stream: &KeptStream, config: &StreamConfig) -> Result<Need, NatsError> {
    if config.stores(&stream.stored) {
        return Ok(stream.compare(config));
    }
    Err(NatsError::Stream(format!(
        "the JetStream stream {} keeps other subjects than {}, so it belongs to another program; name another one with \
         --nats_stream",
        stream.name,
        stream.stored.join(" and ")
    )))
}

fn refused(stream: &KeptStream, what: &str, error: &ApiError) -> NatsError {
    let advice = match error.code {
        10039 | 10076 => "; start NATS with JetStream (nats-server -js), and allow it for the account",
        10005 | 10074 => "; --nats_replicas needs as many servers in the NATS cluster",
        10065 => {
            "; another stream keeps the same subjects: name it with --nats_stream, or use another --nats_prefix"
        }
        10023 | 10028 | 10047 => "; give JetStream more room (max_file_store, or the limits of the account)",
        10052 | 10027 => {
            "; delete the stream (nats stream rm) for it to be made anew, which loses its messages, or name another one \
             with --nats_stream"
        }
        _ => "",
    };
    NatsError::Stream(format!(
        "the JetStream stream {} {what}: {error}{advice}",
        stream.name
    ))
}

fn check_version(version: &str) -> Result<(), NatsError> {
    let mut parts = version.split('.').map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) < MIN_VERSION => {
            let (major, minor) = MIN_VERSION;
            Err(NatsError::Stream(format!(
                "the NATS server has version {version}, and --broker nats needs {major}.{minor} or later"
            )))
        }
        _ => Ok(()),
    }
}

/// Makes a request on a connection that has no other user.
async fn exchange(
    connection: &mut Connection,
    inbox: &Inbox,
    number: u64,
    subject: &str,
    payload: &[u8],
) -> Result<Message, NatsError> {
    let reply = inbox.subject(number);
    let mut bytes = Vec::new();
    publish_with(&mut bytes, subject, Some(&reply), b"", payload);
    connection.writer.send(&bytes).await?;
    loop {
        match connection.reader.decoder.decode()? {
            Some(Operation::Message(message)) if *message.subject == *reply => {
                return match Header::read(&message.header).status {
                    Some(_) => Err(NatsError::NoJetStream),
                    None => Ok(message),
                };
            }
            Some(Operation::Ping) => connection.writer.send(PONG).await?,
            Some(Operation::Error(error)) if is_about_permissions(&error) => {
                return Err(NatsError::Stream(format!(
                    "NATS refused a request to JetStream: {error}; the user needs the permissions in \
                     docs/reference/nats-broker.md"
                )));
            }
            Some(Operation::Error(error)) => return Err(NatsError::Refused(error)),
            Some(_) => {}
            None => connection.reader.read().await?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_are_too_old_are_named() {
        for (version, is_good) in [
            ("2.9.10", true),
            ("2.10.0", true),
            ("3.0.0-beta", true),
            ("", true),
            ("2.8.4", false),
            ("1.4.1", false),
        ] {
            let checked = check_version(version).map_err(|error| error.to_string());
            let expected =
                format!("the NATS server has version {version}, and --broker nats needs 2.9 or later");
            assert_eq!(checked, if is_good { Ok(()) } else { Err(expected) }, "{version}");
        }
    }
}
