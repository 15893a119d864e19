//! One Action Cable session: its commands, its subscriptions, its calls to the application.

use std::rc::Rc;

use plimsoll_cable::{
    command::{Command, CommandError},
    reply,
};
use plimsoll_hub::SessionId;

use crate::{
    application::{Action, CommandReply, CommandRequest, ConnectReply, ConnectRequest},
    identities::Identity,
    outgoing::Ending,
    shard::Shard,
};

/// Subscriptions that one connection may hold. Pages have a handful; without a limit one client could fill
/// the memory. Beyond it a subscription is rejected.
const MAX_SUBSCRIPTIONS: usize = 1000;

/// What the server remembers of a session. The streams are in the hub.
#[derive(Debug)]
pub(crate) struct CableSession {
    sid: Box<str>,
    /// Who it is, in the application's words; none when the application has none.
    identity: Option<Box<Identity>>,
    subscriptions: Vec<Box<str>>,
}

/// A command that needs the application.
#[derive(Debug)]
pub(crate) enum Request {
    Subscribe(Box<str>),
    Unsubscribe(Box<str>),
    Perform { identifier: Box<str>, data: Box<str> },
    Ping,
}

impl CableSession {
    /// Asks the application whether the client may stay, and sends what it says.
    pub(crate) async fn connect(shard: &Rc<Shard>, id: SessionId, request: ConnectRequest) -> Self {
        let mut session = Self {
            sid: request.sid.as_str().into(),
            identity: None,
            subscriptions: Vec::new(),
        };
        match shard.application.connect(&request).await {
            ConnectReply::Accepted {
                identifiers,
                transmissions,
            } => {
                session.identity = Identity::register(shard, id, &identifiers);
                transmit(shard, id, &transmissions);
                shard.heartbeat.borrow_mut().add(id, fastrand::f64());
            }
            ConnectReply::Refused { transmissions } => {
                transmit(shard, id, &transmissions);
                shard.end(id, Ending::AuthFailed);
            }
        }
        session
    }

    /// Decodes a frame. `None`: there is nothing to do.
    ///
    /// # Errors
    /// Only what ends the connection; other faults of a client are logged and ignored.
    pub(crate) fn receive(&self, frame: &[u8]) -> Result<Option<Request>, CommandError> {
        match Command::parse(frame) {
            Ok(Command::Subscribe { identifier }) => Ok(Some(Request::Subscribe(identifier.into()))),
            Ok(Command::Unsubscribe { identifier }) => Ok(Some(Request::Unsubscribe(identifier.into()))),
            Ok(Command::Message { identifier, data }) => Ok(Some(Request::Perform {
                identifier: identifier.into(),
                data: data.into(),
            })),
            Ok(Command::Ping) => Ok(Some(Request::Ping)),
            Ok(Command::Pong) => Ok(None),
            Err(error) if error.is_fatal() => Err(error),
            Err(error) => {
                tracing::debug!(sid = &*self.sid, %error, "A command is ignored.");
                Ok(None)
            }
        }
    }

    /// Carries out one command.
    pub(crate) async fn perform(&mut self, shard: &Rc<Shard>, id: SessionId, request: Request) {
        match request {
            Request::Subscribe(identifier) => self.subscribe(shard, id, identifier).await,
            Request::Unsubscribe(identifier) => self.unsubscribe(shard, id, &identifier).await,
            Request::Perform { identifier, data } => {
                if !self.is_subscribed(&identifier) {
                    tracing::debug!(sid = &*self.sid, %identifier, "A message without a subscription is ignored.");
                    return;
                }
                let reply = self.call(shard, &identifier, Action::Perform(&data)).await;
                apply(shard, id, &identifier, &reply);
            }
            Request::Ping => shard.send_text(id, &reply::encode_pong()),
        }
    }

    /// A second `subscribe` for a live subscription gets no answer: clients repeat the command until the
    /// first answer arrives, and one confirmation is enough (spec §2.3, §9).
    async fn subscribe(&mut self, shard: &Rc<Shard>, id: SessionId, identifier: Box<str>) {
        if self.is_subscribed(&identifier) {
            tracing::debug!(sid = &*self.sid, %identifier, "A repeated subscription is ignored.");
            return;
        }
        if self.subscriptions.len() >= MAX_SUBSCRIPTIONS {
            tracing::warn!(
                sid = &*self.sid,
                MAX_SUBSCRIPTIONS,
                "A client has too many subscriptions."
            );
            shard.send_text(id, &reply::encode_reject(&identifier));
            return;
        }
        let reply = self.call(shard, &identifier, Action::Subscribe).await;
        apply(shard, id, &identifier, &reply);
        if reply.accepted {
            self.subscriptions.push(identifier);
        }
    }

    async fn unsubscribe(&mut self, shard: &Rc<Shard>, id: SessionId, identifier: &str) {
        let Some(position) = self.subscriptions.iter().position(|known| **known == *identifier) else {
            tracing::debug!(sid = &*self.sid, %identifier, "An unsubscribe without a subscription is ignored.");
            return;
        };
        let reply = self.call(shard, identifier, Action::Unsubscribe).await;
        transmit(shard, id, &reply.transmissions);
        shard.hub.borrow_mut().unsubscribe_all(id, Some(identifier));
        self.subscriptions.swap_remove(position);
    }

    async fn call(&self, shard: &Shard, identifier: &str, action: Action<'_>) -> CommandReply {
        let request = CommandRequest {
            sid: &self.sid,
            identifiers: self.identity.as_ref().map_or("", |identity| identity.text()),
            identifier,
            action,
        };
        shard.application.command(&request).await
    }

    fn is_subscribed(&self, identifier: &str) -> bool {
        self.subscriptions.iter().any(|known| **known == *identifier)
    }
}

/// Joins streams before the confirmation goes out, so that nothing published in between is missed.
fn apply(shard: &Shard, id: SessionId, identifier: &str, reply: &CommandReply) {
    for stream in &reply.streams {
        shard.hub.borrow_mut().subscribe(id, Some(identifier), stream);
    }
    transmit(shard, id, &reply.transmissions);
}

fn transmit(shard: &Shard, id: SessionId, transmissions: &[String]) {
    for transmission in transmissions {
        shard.send_text(id, transmission);
    }
}
