//! Whether a client may read a stream. It is asked like a session that connects and subscribes to one stream, and the
//! application hears of its end.

use std::sync::Arc;

use hyper::{StatusCode, header};
use serde::Serialize;

use super::wanted::Wanted;
use crate::{
    application::{
        Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, DisconnectRequest,
        Environment, State, Status,
    },
    ending::Ending,
    http::answers::{Answer, text, with_header},
    shard::Shard,
};

/// AnyCable's channel for streams without an application.
const PUBSUB: &str = "$pubsub";

/// A client that reads. Its drop tells the application, if that wants to know.
pub(super) struct Visit {
    application: Arc<dyn Application>,
    /// Whether the application wants to hear of the end.
    hears_of_end: bool,
    sid: String,
    identifiers: String,
    subscriptions: Vec<Box<str>>,
    environment: Environment,
    istate: State,
}

#[derive(Serialize)]
struct Identifier<'a> {
    channel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_stream_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_name: Option<&'a str>,
}

/// Asks about the client, unless `skips_auth`, and about the stream.
///
/// # Errors
/// The answer to a client that may not read.
pub(super) async fn enter(
    shard: &Shard,
    request: ConnectRequest,
    wanted: &Wanted,
    signed: Option<&str>,
    skips_auth: bool,
) -> Result<Visit, Answer> {
    let _under_way = shard.calls.enter();
    let mut visit = Visit {
        application: Arc::clone(&shard.application),
        hears_of_end: false,
        sid: request.sid.clone(),
        identifiers: String::new(),
        subscriptions: Vec::new(),
        environment: Environment::EMPTY,
        istate: State::EMPTY,
    };
    let connected = if skips_auth {
        None
    } else {
        Some(shard.application.connect(&request).await)
    };
    if shard.application.keeps_state_in_sessions() {
        visit.environment = request.environment;
    }
    match connected {
        None => {}
        Some(ConnectReply::Accepted {
            identifiers,
            cstate,
            hears_of_end,
            ..
        }) => {
            visit.identifiers = identifiers;
            visit.environment.cstate.merge(cstate);
            visit.hears_of_end = hears_of_end;
        }
        Some(ConnectReply::Refused { .. }) => {
            shard.metrics.count_ending(Ending::AuthFailed);
            return Err(unauthorized("The application refused the client."));
        }
        Some(ConnectReply::Failed) => return Err(undecided()),
    }
    visit.subscribe(shard, wanted, signed).await?;
    Ok(visit)
}

impl Visit {
    async fn subscribe(
        &mut self,
        shard: &Shard,
        wanted: &Wanted,
        signed: Option<&str>,
    ) -> Result<(), Answer> {
        let identifier = Identifier {
            channel: PUBSUB,
            signed_stream_name: signed,
            stream_name: Some(&*wanted.stream).filter(|_| signed.is_none()),
        };
        let identifier = serde_json::to_string(&identifier).expect("texts always serialise");
        let request = CommandRequest {
            shard: shard.number,
            sid: &self.sid,
            identifiers: &self.identifiers,
            identifier: &identifier,
            action: Action::Subscribe,
            is_repetition: false,
            environment: &self.environment,
            istate: &State::EMPTY,
        };
        let reply = self.application.command(&request).await;
        self.hears_of_end |= reply.hears_of_end;
        match reply {
            CommandReply {
                status: Status::Failed,
                ..
            } => Err(undecided()),
            CommandReply {
                status: Status::Accepted,
                disconnects: false,
                streams,
                istate,
                ..
            } if streams.contains(&wanted.stream) => {
                self.istate.merge(istate);
                self.subscriptions.push(identifier.into());
                Ok(())
            }
            _ => Err(unauthorized(
                "The stream is not for this client: give its signed name with signed=… in the query or in the header \
                 X-Signed, unless streams are public.",
            )),
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !self.hears_of_end {
            return;
        }
        let subscriptions = std::mem::take(&mut self.subscriptions);
        let istate = std::mem::take(&mut self.istate);
        let first = subscriptions.first().cloned().filter(|_| !istate.is_empty());
        self.application.disconnect(DisconnectRequest {
            sid: self.sid.as_str().into(),
            identifiers: self.identifiers.as_str().into(),
            subscriptions,
            environment: std::mem::take(&mut self.environment),
            istate: first.map(|identifier| (identifier, istate)).into_iter().collect(),
        });
    }
}

fn unauthorized(reason: &str) -> Answer {
    let answer = text(StatusCode::UNAUTHORIZED, reason);
    with_header(answer, header::WWW_AUTHENTICATE, "Bearer")
}

fn undecided() -> Answer {
    let answer = text(
        StatusCode::SERVICE_UNAVAILABLE,
        "The application could not be reached. Try again.",
    );
    with_header(answer, header::RETRY_AFTER, "1")
}
