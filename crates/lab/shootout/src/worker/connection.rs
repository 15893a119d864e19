//! The life of one client: open, listen, send when told, end.

use std::{
    rc::Rc,
    time::{Instant, SystemTime},
};

use plimsoll_clients::{
    cause::Cause,
    websocket::{Connection, Conversation, Discard, Recipient},
};
use plimsoll_websocket::Event as Frame;

use super::{Command, Event, Failing, SendOrder, Shared, Way, book::Note, mailbox::Mailbox, opening};

/// An order of the worker to a client. There is at most one letter per message in flight, and one to close.
#[derive(Debug)]
pub(super) enum Letter {
    Send(SendOrder),
    Close,
}

/// Enters what a client receives into the book.
struct Listener<'a> {
    shared: &'a Shared,
    slot: usize,
    /// The reason that the server gave before it closed the connection.
    farewell: Option<Cause>,
}

impl Recipient for Listener<'_> {
    fn put(&mut self, at: Instant, frame: Frame<'_>) {
        match self.shared.book.borrow_mut().note(self.slot, at, &frame) {
            Note::Nothing => {}
            Note::Tell(event) => self.shared.outbox.post(event),
            Note::Farewell(cause) => self.farewell = Some(cause),
        }
    }
}

/// The whole life of the client in `slot`.
pub(super) async fn live(shared: Rc<Shared>, slot: usize, way: Way) {
    // Boxed, because it needs ten times the memory of what comes after it, and only for a moment.
    match Box::pin(opening::open(&shared.setup, way, &shared.traffic)).await {
        Err(failing) => shared.outbox.post(Event::OpenFailed(failing)),
        Ok((connection, opening)) => {
            let mailbox = shared.add_mailbox(slot);
            shared.outbox.post(Event::Opened {
                client: shared.client(slot),
                opening,
            });
            if let Some(cause) = listen(&shared, slot, connection, &mailbox).await {
                shared.lose(slot, &cause);
            }
        }
    }
}

/// Listens until the connection ends, and says why; `None` when it was told to close.
async fn listen(
    shared: &Shared,
    slot: usize,
    connection: Connection,
    mailbox: &Mailbox<Letter>,
) -> Option<Cause> {
    let mut conversation = Conversation::new(connection);
    let mut listener = Listener {
        shared,
        slot,
        farewell: None,
    };
    loop {
        match conversation
            .read_until(&mut listener, |cx, _| mailbox.poll_take(cx))
            .await
        {
            Err(ending) => return Some(listener.farewell.unwrap_or_else(|| ending.cause())),
            Ok(Letter::Send(order)) => send(shared, &mut conversation, &order),
            Ok(Letter::Close) => {
                Box::pin(conversation.close(&mut Discard, Conversation::CLOSE_TIMEOUT)).await;
                return None;
            }
        }
    }
}

/// Puts a message on its way: it is encoded here and written by the next poll, which follows at once. What the
/// socket does not take then goes out with later polls.
fn send(shared: &Shared, conversation: &mut Conversation, order: &SendOrder) {
    let (opcode, message) = shared
        .setup
        .wire
        .encode(order.command, order.id, SystemTime::now());
    if conversation.queue(opcode, &message).is_ok() {
        let at = shared.book.borrow_mut().send(order, Instant::now(), &message);
        if shared.setup.is_remote && order.command == Command::Broadcast {
            let SendOrder { id, floor, .. } = *order;
            shared.outbox.post(Event::Sent { id, floor, at });
        }
    } else {
        shared.outbox.post(Event::Unanswerable { id: order.id });
    }
}

impl Shared {
    fn add_mailbox(&self, slot: usize) -> Rc<Mailbox<Letter>> {
        let mailbox = Rc::new(Mailbox::new());
        self.mailboxes.borrow_mut()[slot] = Some(Rc::clone(&mailbox));
        mailbox
    }

    /// Settles the account of a client whose connection has ended.
    fn lose(&self, slot: usize, cause: &Cause) {
        self.mailboxes.borrow_mut()[slot] = None;
        for event in self.book.borrow_mut().drop_client(slot, Instant::now()) {
            self.outbox.post(event);
        }
        self.outbox.post(Event::Dropped {
            client: self.client(slot),
            failing: Failing::new(cause, cause),
        });
    }
}
