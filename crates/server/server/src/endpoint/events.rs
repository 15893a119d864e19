//! An event stream: a cable session that only listens, as one long HTTP answer (docs/reference/serve.md, Server-Sent
//! Events).
//!
//! The answer's status is decided before its head goes out: the application is asked about the connection, then about
//! each subscription. Until then all messages to the session are held in its outbox, under the usual cap.

use std::{io, rc::Rc};

use plimsoll_cable::event_stream::EventStream;
use plimsoll_hub::SessionId;
use tokio::time::Instant;

use self::{answer::Refusal, wanted::Subscription};
use super::cable::{self, CableSession, Due, Wishes};
use crate::{
    application::ConnectRequest,
    connection::Connection,
    encoding,
    ending::Ending,
    open_connections::OpenConnection,
    shard::{OpenSession, Shard},
    stream::Stream,
};

mod answer;
pub(crate) mod wanted;

/// Bytes after the request that are read and discarded. HTTP/1.1 lets a client send its next request before this one is
/// answered. That request will never be answered, and a client that goes on sending is cut off.
const MAX_IGNORED_BYTES: usize = 8 * 1024;

/// A request for an event stream that passed all checks that need no application.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) request: ConnectRequest,
    pub(crate) stream: EventStream,
    pub(crate) subscriptions: Vec<Subscription>,
    /// CORS headers that say which pages may read this answer.
    pub(crate) cors: http::HeaderMap,
}

/// Asks the application, answers the request, and hands the session to a task of its own.
pub(crate) async fn open(shard: Rc<Shard>, stream: Stream, opening: Opening, counted: OpenConnection) {
    let Opening {
        request,
        stream: events,
        subscriptions,
        cors,
    } = opening;
    let sid: Rc<str> = request.sid.as_str().into();
    let connection = Rc::new(Connection::new(stream, true, sid, counted));
    connection.hears_of_losses.set(true);
    let session = shard.open_session(Rc::clone(&connection), encoding::events_format(events));
    let id = session.id;
    shard.hold(id);
    let cable = match start(&shard, id, &connection, request, subscriptions).await {
        Ok(cable) => {
            shard.release(id, answer::head(&cors));
            Some(cable)
        }
        Err(refusal) => {
            shard.refuse(id, refusal.answer(&cors));
            None
        }
    };
    shard.flush(id);
    // The session outlives this large future by hours, so it gets a small one of its own.
    tokio::task::spawn_local(listen(session, connection, cable));
}

/// Starts the session with all its subscriptions, or not at all. A session that the server ends meanwhile counts as
/// started, because its client gets the last words.
async fn start(
    shard: &Rc<Shard>,
    id: SessionId,
    connection: &Connection,
    request: ConnectRequest,
    subscriptions: Vec<Subscription>,
) -> Result<CableSession, Refusal> {
    if shard.is_stopping() {
        return Err(Refusal::Draining);
    }
    let mut cable = CableSession::connect(shard, id, Rc::clone(&connection.sid), request).await;
    match connection.ending.get() {
        Some(Ending::AuthFailed) => return Err(Refusal::Unauthorized),
        Some(Ending::AuthError) => return Err(Refusal::NotDecided),
        _ => {}
    }
    for subscription in subscriptions {
        if shard.is_ending(id) {
            break;
        }
        let Subscription {
            identifier,
            history,
            presence,
        } = subscription;
        let subscribe = cable::Request::Subscribe {
            identifier: identifier.clone(),
            wishes: Wishes::of(history, presence),
        };
        cable.perform(shard, id, subscribe).await;
        let is_decided = tokio::select! {
            is_decided = decided(&mut cable, shard, id, &identifier) => is_decided,
            // The refusal that ends the session is not read by the client.
            () = hung_up(connection, shard) => false,
        };
        if !cable.is_subscribed(&identifier) {
            return Err(if is_decided {
                Refusal::Rejected(identifier)
            } else {
                Refusal::NotDecided
            });
        }
    }
    Ok(cable)
}

/// Waits until the application has decided about a subscription, usually not at all. Returns `false` if it does not
/// decide in time.
async fn decided(cable: &mut CableSession, shard: &Rc<Shard>, id: SessionId, identifier: &str) -> bool {
    while cable.is_pending(identifier) {
        let due = cable.next_due().await;
        if matches!(due, Due::GiveUp(_)) || shard.is_ending(id) {
            return false;
        }
        cable.settle(shard, id, due).await;
    }
    true
}

/// Waits for the client to hang up. Dropping the cable session tells the application.
async fn listen(session: OpenSession, connection: Rc<Connection>, _cable: Option<CableSession>) {
    hung_up(&connection, &session.shard).await;
}

/// Completes when the client has hung up, or has sent too much.
async fn hung_up(connection: &Connection, shard: &Shard) {
    let mut n_ignored = 0;
    while n_ignored <= MAX_IGNORED_BYTES && connection.readable().await.is_ok() {
        match connection.try_read(&mut shard.codec.scratch.borrow_mut()) {
            Ok(0) => return,
            Ok(n_read) => n_ignored += n_read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

impl Shard {
    /// Holds all messages to a session until its HTTP status is known.
    fn hold(&self, id: SessionId) {
        if let Some((_, outbox)) = self.hub.borrow_mut().get_mut(id) {
            outbox.hold();
        }
    }

    /// Puts the head of the answer in front of the held messages; the caller flushes.
    fn release(&self, id: SessionId, head: Vec<u8>) {
        let mut hub = self.hub.borrow_mut();
        let head = hub.frame(head);
        if let Some((_, outbox)) = hub.get_mut(id) {
            outbox.release(head);
        }
    }

    /// Replaces all held messages by an answer that ends the connection; the caller flushes.
    fn refuse(&self, id: SessionId, answer: Vec<u8>) {
        let mut hub = self.hub.borrow_mut();
        let answer = hub.frame(answer);
        if let Some((_, outbox)) = hub.get_mut(id) {
            outbox.drop_unsent();
            outbox.release(answer);
            if !outbox.is_sealed() {
                outbox.seal();
                self.closing.borrow_mut().add(id, Instant::now());
            }
        }
    }
}
