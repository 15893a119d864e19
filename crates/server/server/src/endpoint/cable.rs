//! One Action Cable session: its commands, its subscriptions, its calls to the application.

use std::{future::poll_fn, rc::Rc, sync::Arc, time::SystemTime};

use plimsoll_cable::{
    command::{Command, CommandError, HistoryRequest, Member},
    reply,
};
use plimsoll_hub::SessionId;

use crate::{
    application::{
        Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, DisconnectRequest,
        Entries, Environment, State, StateChanges, Status, WHISPER_STREAM,
    },
    ending::Ending,
    identity::Identity,
    log_form::LogForm,
    shard::Shard,
};

mod attendances;
mod held;
mod holding;
mod pending;
mod presence;
mod replay;
mod resumable;
mod resuming;
mod settling;
mod wishes;

use self::{attendances::Attendances, held::Held, pending::Pending, resumable::Resumable};
pub(crate) use self::{pending::Due, wishes::Wishes};

/// The most subscriptions per connection, pending ones included. Pages have a handful; without a limit one client could
/// fill the memory. Beyond it a subscription is rejected.
const MAX_SUBSCRIPTIONS: usize = 1000;

/// The most bytes of a connection's identifiers in total. Those of pages have a hundred bytes each. A client may put
/// anything into them, up to its largest message, and they are stored three times.
const MAX_IDENTIFIER_BYTES: usize = 256 * 1024;

/// The server's state of a session. The streams are in the hub.
#[derive(Debug)]
pub(crate) struct CableSession {
    sid: Rc<str>,
    /// The identifiers given by the application. `None` if it gives none.
    identity: Option<Box<Identity>>,
    subscriptions: Vec<Box<str>>,
    /// `None` if there is nothing to remember, so that an idle session stays small.
    memory: Option<Box<Memory>>,
    /// `None` if the session cannot be resumed.
    resumable: Option<Box<Resumable>>,
    /// The time from which on the session cannot be resumed.
    expires_at: Option<Box<SystemTime>>,
}

/// The state that a session keeps for a stateless application.
#[derive(Default)]
struct Memory {
    /// The application to tell when the session ends. `None` until a reply asks for it.
    farewell_to: Option<Arc<dyn Application>>,
    /// The client's request, empty if the application does not want it, and the connection's state.
    environment: Environment,
    /// State by the subscription's identifier. A missing entry is an empty state.
    istate: Entries<State>,
    /// Subscriptions that the application has not decided about. `None` while there are none.
    pending: Option<Box<Pending>>,
    /// Subscriptions that wait for a request for history. `None` if none do.
    held: Option<Box<Held>>,
    /// Where the client is present. `None` if it has not been present anywhere.
    attendances: Option<Box<Attendances>>,
}

/// A command that needs the application.
#[derive(Debug)]
pub(crate) enum Request {
    Subscribe {
        identifier: Box<str>,
        wishes: Option<Box<Wishes>>,
    },
    Unsubscribe(Box<str>),
    Perform {
        identifier: Box<str>,
        data: Box<str>,
    },
    Whisper {
        identifier: Box<str>,
        data: Box<str>,
    },
    History {
        identifier: Box<str>,
        history: Option<Box<HistoryRequest>>,
    },
    Presence {
        identifier: Box<str>,
        wants_records: bool,
    },
    Join {
        identifier: Box<str>,
        member: Box<Member>,
    },
    Leave(Box<str>),
    Ping,
}

impl Request {
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Self::Subscribe { identifier, wishes } => {
                identifier.len() + wishes.as_deref().map_or(0, Wishes::heap_bytes)
            }
            Self::History { identifier, history } => {
                let history = history.as_deref();
                identifier.len() + history.map_or(0, |it| size_of_val(it) + wishes::history_bytes(it))
            }
            Self::Join { identifier, member } => {
                identifier.len() + size_of_val(&**member) + wishes::member_bytes(member)
            }
            Self::Unsubscribe(identifier) | Self::Presence { identifier, .. } | Self::Leave(identifier) => {
                identifier.len()
            }
            Self::Perform { identifier, data } | Self::Whisper { identifier, data } => {
                identifier.len() + data.len()
            }
            Self::Ping => 0,
        }
    }
}

impl CableSession {
    /// Asks the application whether the client may stay, and sends its answer. Meanwhile the client already gets its
    /// queued frames: the answer to its upgrade.
    pub(crate) async fn connect(
        shard: &Rc<Shard>,
        id: SessionId,
        sid: Rc<str>,
        request: ConnectRequest,
    ) -> Self {
        let under_way = shard.calls.enter();
        let mut call = shard.application.connect(&request);
        let reply = poll_fn(|context| {
            let polled = call.as_mut().poll(context);
            if polled.is_pending() {
                shard.flush(id);
            }
            polled
        })
        .await;
        drop((call, under_way));
        let mut session = Self {
            sid,
            identity: None,
            subscriptions: Vec::new(),
            memory: None,
            resumable: None,
            expires_at: None,
        };
        match reply {
            ConnectReply::Accepted {
                identifiers,
                transmissions,
                cstate,
                hears_of_end,
                expires_at,
            } => {
                session.expires_at = expires_at.map(Box::new);
                shard
                    .heartbeat
                    .borrow_mut()
                    .add(id, &request.environment.url, fastrand::f64());
                session.identity = Identity::register(shard, id, &identifiers);
                if shard.application.keeps_state_in_sessions() {
                    session.memory_mut().environment = request.environment;
                }
                session.remember(shard, "", StateChanges::new(), cstate, hears_of_end);
                transmit(shard, id, &transmissions);
            }
            ConnectReply::Refused { transmissions } => {
                transmit(shard, id, &transmissions);
                shard.end(id, Ending::AuthFailed);
            }
            ConnectReply::Failed => shard.end(id, Ending::AuthError),
        }
        session
    }

    /// Decodes a frame. `None`: there is nothing to do.
    ///
    /// # Errors
    /// Only faults that end the connection. Other faults of a client are logged and ignored.
    pub(crate) fn receive(&self, frame: &[u8]) -> Result<Option<Request>, CommandError> {
        match Command::parse(frame) {
            Ok(Command::Subscribe {
                identifier,
                history,
                presence,
            }) => Ok(Some(Request::Subscribe {
                identifier: identifier.into(),
                wishes: Wishes::of(history, presence),
            })),
            Ok(Command::Unsubscribe { identifier }) => Ok(Some(Request::Unsubscribe(identifier.into()))),
            Ok(Command::Message { identifier, data }) => Ok(Some(Request::Perform {
                identifier: identifier.into(),
                data: data.into(),
            })),
            Ok(Command::Whisper { identifier, data }) => Ok(Some(Request::Whisper {
                identifier: identifier.into(),
                data: data.into(),
            })),
            Ok(Command::History { identifier, history }) => Ok(Some(Request::History {
                identifier: identifier.into(),
                history: history.map(Box::new),
            })),
            Ok(Command::Presence {
                identifier,
                wants_records,
            }) => Ok(Some(Request::Presence {
                identifier: identifier.into(),
                wants_records,
            })),
            Ok(Command::Join { identifier, member }) => Ok(Some(Request::Join {
                identifier: identifier.into(),
                member: Box::new(member),
            })),
            Ok(Command::Leave { identifier }) => Ok(Some(Request::Leave(identifier.into()))),
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
        self.carry_out(shard, id, request).await;
        self.tell_store(shard, id);
    }

    async fn carry_out(&mut self, shard: &Rc<Shard>, id: SessionId, request: Request) {
        match request {
            Request::Subscribe { identifier, wishes } => {
                self.subscribe(shard, id, identifier, wishes).await;
            }
            Request::Unsubscribe(identifier) => self.unsubscribe(shard, id, &identifier).await,
            Request::Perform { identifier, data } => {
                if !self.must_be_subscribed("message", &identifier) {
                    return;
                }
                // The application may move the subscription to other streams.
                self.go_on(shard, id, &identifier).await;
                let mut reply = self.call(shard, &identifier, Action::Perform(&data)).await;
                let presence = reply.presence.take();
                let _heard = shard.hear(&reply.streams).await;
                self.apply(shard, id, &identifier, reply);
                if let Some(change) = presence.filter(|_| self.is_subscribed(&identifier)) {
                    self.apply_presence(shard, &identifier, change).await;
                }
            }
            Request::Whisper { identifier, data } => {
                let Some(stream) = self.state(&identifier, WHISPER_STREAM).map(str::to_owned) else {
                    tracing::debug!(sid = &*self.sid, identifier = %LogForm(&identifier), "A whisper that is not allowed is ignored.");
                    return;
                };
                let publisher = &shard.publisher;
                publisher
                    .whisper((shard.number, id, &self.sid), stream, data.into())
                    .await;
            }
            Request::History { identifier, history } if self.must_be_subscribed("history", &identifier) => {
                replay::catch_up(shard).await;
                let seen = self.take_held(&identifier);
                replay::send(shard, id, &identifier, history.as_deref(), seen).await;
            }
            Request::Presence {
                identifier,
                wants_records,
            } => self.tell_presence(shard, id, &identifier, wants_records),
            Request::Join { identifier, member } => self.join(shard, id, &identifier, &member).await,
            Request::Leave(identifier) => self.leave(shard, &identifier).await,
            Request::History { .. } => {}
            Request::Ping => shard.send_text(id, &reply::encode_pong()),
        }
    }

    /// Subscribes. A second `subscribe` for a live or pending subscription gets no answer of its own: clients repeat
    /// the command until the first answer arrives, and one answer is enough (docs/protocols/cable.md, Repeated
    /// subscribes). Its wishes are served.
    async fn subscribe(
        &mut self,
        shard: &Rc<Shard>,
        id: SessionId,
        identifier: Box<str>,
        wishes: Option<Box<Wishes>>,
    ) {
        if self.is_subscribed(&identifier) || self.is_pending(&identifier) {
            tracing::debug!(sid = &*self.sid, identifier = %LogForm(&identifier), "A repeated subscription is ignored.");
            let asks_for_history = wishes.as_ref().is_some_and(|wishes| wishes.history.is_some());
            if asks_for_history {
                replay::catch_up(shard).await;
            } else {
                self.go_on(shard, id, &identifier).await;
            }
            if let Some(wishes) = wishes.filter(|_| self.is_subscribed(&identifier)) {
                self.grant(shard, id, &identifier, *wishes).await;
            }
            return;
        }
        if !self.has_room_for(&identifier) {
            tracing::debug!(
                sid = &*self.sid,
                MAX_SUBSCRIPTIONS,
                MAX_IDENTIFIER_BYTES,
                "A client has too many subscriptions."
            );
            shard.send_text(id, &reply::encode_reject(&identifier));
            return;
        }
        let reply = self.call(shard, &identifier, Action::Subscribe).await;
        if reply.status == Status::Failed {
            let counted = shard.shared.pending_subscriptions.add(&reply.failure);
            let pending = self.memory_mut().pending.get_or_insert_default();
            pending.add(&identifier, wishes, counted);
            return;
        }
        self.decide(shard, id, &identifier, wishes, reply).await;
    }

    /// Applies the application's decision about a subscription. The session enters the streams and gets the beginning
    /// of the history in one step, so no message of the streams comes between the two or is missing.
    async fn decide(
        &mut self,
        shard: &Rc<Shard>,
        id: SessionId,
        identifier: &str,
        wishes: Option<Box<Wishes>>,
        mut reply: CommandReply,
    ) {
        if reply.status != Status::Accepted {
            // Without a subscription, streams and state have no owner.
            reply.streams.clear();
            reply.istate.clear();
            return self.apply(shard, id, identifier, reply);
        }
        let _heard = shard.hear(&reply.streams).await;
        if wishes.as_ref().is_some_and(|wishes| wishes.history.is_some()) {
            replay::catch_up(shard).await;
        }
        self.subscriptions.push(identifier.into());
        self.changed();
        let presence = reply.presence.take();
        self.apply(shard, id, identifier, reply);
        if let Some(wishes) = wishes {
            self.grant(shard, id, identifier, *wishes).await;
        }
        if let Some(change) = presence {
            self.apply_presence(shard, identifier, change).await;
        }
    }

    /// Serves the wishes of a client about a subscription that exists. If there is one for history, the session must
    /// have caught up.
    async fn grant(&mut self, shard: &Rc<Shard>, id: SessionId, identifier: &str, wishes: Wishes) {
        let Wishes { history, presence } = wishes;
        if history.is_some() {
            let seen = self.take_held(identifier);
            replay::send(shard, id, identifier, history.as_ref(), seen).await;
        }
        if let Some(member) = presence {
            self.join(shard, id, identifier, &member).await;
        }
    }

    /// Ends a subscription with its streams and its state, whatever the application replies.
    async fn unsubscribe(&mut self, shard: &Rc<Shard>, id: SessionId, identifier: &str) {
        if self.forget_pending(identifier).is_some() {
            return;
        }
        let Some(position) = self.subscriptions.iter().position(|known| **known == *identifier) else {
            tracing::debug!(sid = &*self.sid, identifier = %LogForm(identifier), "An unsubscribe without a subscription is ignored.");
            return;
        };
        let mut reply = self.call(shard, identifier, Action::Unsubscribe).await;
        reply.stops_streams = true;
        reply.streams.clear();
        reply.istate.clear();
        // The order is that of a resumed session's `restored_ids`.
        self.subscriptions.remove(position);
        self.take_held(identifier);
        if let Some(memory) = &mut self.memory {
            memory.istate.remove(identifier);
        }
        self.apply(shard, id, identifier, reply);
        self.leave(shard, identifier).await;
    }

    async fn call(&self, shard: &Shard, identifier: &str, action: Action<'_>) -> CommandReply {
        let memory = self.memory.as_deref();
        let request = CommandRequest {
            shard: shard.number,
            sid: &self.sid,
            identifiers: self.identifiers(),
            identifier,
            action,
            is_repetition: false,
            environment: memory.map_or(&NO_ENVIRONMENT, |memory| &memory.environment),
            istate: memory
                .and_then(|memory| memory.istate.get(identifier))
                .unwrap_or(&NO_STATE),
        };
        let _under_way = shard.calls.enter();
        shard.application.command(&request).await
    }

    /// Applies a reply in the order of its fields. Streams are joined before the confirmation goes out, so that no
    /// publication in between is missed.
    fn apply(&mut self, shard: &Shard, id: SessionId, identifier: &str, reply: CommandReply) {
        let CommandReply {
            stops_streams,
            stopped_streams,
            streams,
            istate,
            cstate,
            ..
        } = &reply;
        if *stops_streams
            || ![stopped_streams, streams]
                .iter()
                .all(|streams| streams.is_empty())
            || ![istate, cstate].iter().all(|changes| changes.is_empty())
        {
            self.changed();
        }
        let mut hub = shard.hub.borrow_mut();
        if reply.stops_streams {
            hub.unsubscribe_all(id, Some(identifier));
        }
        for stream in &reply.stopped_streams {
            hub.unsubscribe(id, Some(identifier), stream);
        }
        for stream in &reply.streams {
            hub.subscribe(id, Some(identifier), stream);
        }
        drop(hub);
        self.remember(shard, identifier, reply.istate, reply.cstate, reply.hears_of_end);
        transmit(shard, id, &reply.transmissions);
        if reply.disconnects {
            shard.end(id, Ending::ClosedByApplication);
        }
    }

    /// Keeps the state that a reply asks to keep. Allocates the memory only if there is any.
    fn remember(
        &mut self,
        shard: &Shard,
        identifier: &str,
        istate: StateChanges,
        cstate: StateChanges,
        hears_of_end: bool,
    ) {
        if !hears_of_end && istate.is_empty() && cstate.is_empty() {
            return;
        }
        let memory = self.memory_mut();
        memory.merge(identifier, istate, cstate);
        if hears_of_end && memory.farewell_to.is_none() {
            memory.farewell_to = Some(Arc::clone(&shard.application));
        }
    }

    fn memory_mut(&mut self) -> &mut Memory {
        self.memory.get_or_insert_default()
    }

    fn identifiers(&self) -> &str {
        self.identity.as_ref().map_or("", |identity| identity.text())
    }

    /// A value of a subscription's state. `None` if the application set none.
    fn state(&self, identifier: &str, key: &str) -> Option<&str> {
        let state = self.memory.as_ref()?.istate.get(identifier)?;
        state.entries().get(key).map(|value| &**value)
    }

    /// Whether the subscription of a command exists. Without one the command is ignored.
    fn must_be_subscribed(&self, command: &str, identifier: &str) -> bool {
        let is_subscribed = self.is_subscribed(identifier);
        if !is_subscribed {
            tracing::debug!(sid = &*self.sid, command, identifier = %LogForm(identifier), "A command without a subscription is ignored.");
        }
        is_subscribed
    }

    fn has_room_for(&self, identifier: &str) -> bool {
        let pending = self.pending();
        let n = self.subscriptions.len() + pending.map_or(0, Pending::len);
        let n_bytes = || {
            let granted: usize = self.subscriptions.iter().map(|known| known.len()).sum();
            granted + pending.map_or(0, Pending::identifier_bytes)
        };
        n < MAX_SUBSCRIPTIONS && n_bytes() + identifier.len() <= MAX_IDENTIFIER_BYTES
    }

    /// Whether the application has granted this subscription and it has not ended since.
    pub(crate) fn is_subscribed(&self, identifier: &str) -> bool {
        self.subscriptions.iter().any(|known| **known == *identifier)
    }
}

/// Tells the application about the end once, if it asked for that, however the session's task ends. A session that may
/// be resumed is left to others, who do so.
impl Drop for CableSession {
    fn drop(&mut self) {
        if self.leave_for_return() {
            return;
        }
        let Some(memory) = self.memory.take() else {
            return;
        };
        let Memory {
            farewell_to: Some(application),
            environment,
            istate,
            pending: _,
            held: _,
            attendances: _,
        } = *memory
        else {
            return;
        };
        application.disconnect(DisconnectRequest {
            sid: self.sid.as_ref().into(),
            identifiers: self.identifiers().into(),
            subscriptions: std::mem::take(&mut self.subscriptions),
            environment,
            istate,
        });
    }
}

static NO_ENVIRONMENT: Environment = Environment::EMPTY;
static NO_STATE: State = State::EMPTY;

impl Memory {
    fn merge(&mut self, identifier: &str, istate: StateChanges, cstate: StateChanges) {
        if !istate.is_empty() {
            let mut state = self.istate.remove(identifier).unwrap_or_default();
            state.merge(istate);
            if !state.is_empty() {
                self.istate.insert(identifier.into(), state);
            }
        }
        self.environment.cstate.merge(cstate);
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("environment", &self.environment)
            .field("istate", &self.istate)
            .finish_non_exhaustive()
    }
}

fn transmit(shard: &Shard, id: SessionId, transmissions: &[String]) {
    for transmission in transmissions {
        shard.send_text(id, transmission);
    }
}
