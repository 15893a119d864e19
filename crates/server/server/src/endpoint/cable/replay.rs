//! Earlier messages for one subscription (docs/protocols/extended.md, History).
//!
//! Most replays go into the outbox at once, in the same step in which the session enters the streams. A larger replay
//! goes in portions, as the socket takes them. Meanwhile the subscription is held: what is kept then belongs to the replay.
//! So a client gets all kept messages of a stream once and in order, and a replay never ends a session for reading too
//! slowly.

use std::rc::Rc;

use plimsoll_broker::Cursor;
use plimsoll_cable::{command::HistoryRequest, reply};
use plimsoll_hub::SessionId;

use crate::{archive::View, encoding, log_form::LogForm, shard::Shard};

/// The memory of messages that are queued before the socket must take them, in bytes. The last message of a portion may
/// exceed it.
const PORTION_BYTES: usize = 64 * 1024;

/// Waits until this shard has delivered every message that is kept by now.
pub(super) async fn catch_up(shard: &Shard) {
    if let Some(view) = &shard.view {
        view.catch_up().await;
    }
}

/// Answers a request for history: with the messages and a confirmation, or with a rejection. The session must have
/// caught up. The caller flushes. `seen`: the subscription is held since the shard saw this serial number.
pub(super) async fn send(
    shard: &Rc<Shard>,
    id: SessionId,
    identifier: &str,
    request: Option<&HistoryRequest>,
    seen: Option<u64>,
) {
    let begun = shard.view.as_ref().zip(request).and_then(|(view, request)| {
        let streams = streams(shard, id, identifier);
        let begun = view.begin(streams.iter().map(|stream| &**stream), request, seen);
        let begun = begun.inspect_err(
            |reason| tracing::debug!(identifier = %LogForm(identifier), "History is rejected: {reason}."),
        );
        Some((view, begun.ok()?))
    });
    let Some((view, cursors)) = begun else {
        // The client must know of the gap before it hears what is behind it.
        shard.send_text(id, &reply::encode_reject_history(identifier));
        if let Some(seen) = seen {
            go_on(shard, id, identifier, seen).await;
        }
        return;
    };
    let is_complete = queue(shard, view, id, identifier, cursors, seen.is_some()).await;
    if shard.is_ending(id) {
        return;
    }
    let answer = if is_complete {
        reply::encode_confirm_history(identifier)
    } else {
        reply::encode_reject_history(identifier)
    };
    shard.send_text(id, &answer);
}

/// Goes on with a held subscription, whose client has not got the messages behind the serial number `seen`. If some of
/// them are gone, the client is told. The caller flushes.
pub(super) async fn go_on(shard: &Rc<Shard>, id: SessionId, identifier: &str, seen: u64) {
    let Some(view) = &shard.view else {
        return;
    };
    let streams = streams(shard, id, identifier);
    let is_complete = match view.begin_unseen(streams.iter().map(|stream| &**stream), seen) {
        Ok(cursors) => queue(shard, view, id, identifier, cursors, true).await,
        Err(_) => {
            shard.hub.borrow_mut().hold(id, Some(identifier), false);
            false
        }
    };
    if !is_complete && !shard.is_ending(id) {
        shard.send_text(id, &reply::encode_reject_history(identifier));
    }
}

/// The streams of a subscription.
pub(super) fn streams(shard: &Shard, id: SessionId, identifier: &str) -> Vec<Box<str>> {
    let hub = shard.hub.borrow();
    let of_session = hub.subscriptions(id);
    of_session
        .filter(|(known, _)| *known == Some(identifier))
        .map(|(_, stream)| stream.into())
        .collect()
}

/// Queues the messages behind the cursors. Returns whether all of them are queued. The subscription is held while it
/// waits for the socket, and goes on in the same step in which the last message is queued.
async fn queue(
    shard: &Rc<Shard>,
    view: &View,
    id: SessionId,
    identifier: &str,
    mut cursors: Vec<Cursor>,
    mut is_held: bool,
) -> bool {
    // An event stream whose head is not sent yet cannot wait for its socket.
    let must_be_whole = shard
        .hub
        .borrow()
        .format(id)
        .and_then(encoding::event_stream)
        .is_some();
    let is_complete = loop {
        let Some(room) = room(shard, id) else {
            break false;
        };
        let excerpt = match view.read(&mut cursors, room) {
            Ok(excerpt) if excerpt.is_last || !must_be_whole => excerpt,
            Ok(_) | Err(_) => break false,
        };
        for message in &excerpt.messages {
            let format = shard.hub.borrow().format(id);
            if let Some(format) = format {
                let deflater = &mut shard.codec.deflater.borrow_mut();
                shard.send(id, encoding::kept(message, Some(identifier), format, deflater));
            }
        }
        if excerpt.is_last {
            break true;
        }
        if !is_held {
            is_held = true;
            shard.hub.borrow_mut().hold(id, Some(identifier), true);
        }
        if !drained(shard, id).await {
            break false;
        }
    };
    if is_held {
        shard.hub.borrow_mut().hold(id, Some(identifier), false);
    }
    is_complete
}

/// The bytes of messages that may be queued now. `None`: the session is ending.
fn room(shard: &Shard, id: SessionId) -> Option<usize> {
    let mut hub = shard.hub.borrow_mut();
    let is_event_stream = hub.format(id).and_then(encoding::event_stream).is_some();
    let (_, outbox) = hub.get_mut(id)?;
    if outbox.is_sealed() {
        return None;
    }
    let free = shard.config.max_pending_bytes.saturating_sub(outbox.held_bytes());
    // Nothing may be queued while the socket is full. Only an event stream is held before its head, and then the free
    // memory counts. Its messages grow when they become events, so half of the memory is left.
    Some(match (outbox.is_blocked(), is_event_stream) {
        (_, true) => free / 2,
        (true, false) => 0,
        (false, false) => PORTION_BYTES,
    })
}

/// Writes, and waits until the socket has taken everything that is queued. Returns `false` if the session ends.
async fn drained(shard: &Rc<Shard>, id: SessionId) -> bool {
    loop {
        shard.flush(id);
        let connection = {
            let mut hub = shard.hub.borrow_mut();
            let Some((connection, outbox)) = hub.get_mut(id) else {
                return false;
            };
            if outbox.is_sealed() || connection.is_cut() {
                return false;
            }
            if outbox.is_empty() && !outbox.is_blocked() {
                return true;
            }
            Rc::clone(connection)
        };
        if connection.writable().await.is_err() {
            return false;
        }
        // The task of the full socket writes.
        tokio::task::yield_now().await;
    }
}
