//! The life of one client: open, listen, send when told, end.

use std::{
    future::poll_fn,
    rc::Rc,
    task::{Context, Poll},
    time::{Instant, SystemTime},
};

use plimsoll_clients::{
    cause::Cause,
    websocket::{Connection, ReceiveError},
};

use super::{Event, SendOrder, Shared, book::Note, mailbox::Mailbox, opening};

/// An order of the worker to a client. There is at most one letter per message in flight, and one to close.
#[derive(Debug)]
pub(super) enum Letter {
    Send(SendOrder),
    Close,
}

/// The next event.
enum Turn {
    Letter(Letter),
    Read(Result<(), ReceiveError>),
}

/// The whole life of the client in `slot`.
pub(super) async fn live(shared: Rc<Shared>, slot: usize, route: usize) {
    // Boxed, because it needs ten times the memory of what comes after it, and only for a moment.
    match Box::pin(opening::open(&shared.setup, route, &shared.traffic)).await {
        Err(cause) => shared.outbox.post(Event::OpenFailed { cause }),
        Ok((connection, opening)) => {
            let mailbox = shared.add_mailbox(slot);
            shared.outbox.post(Event::Opened {
                client: shared.client(slot),
                opening,
            });
            if let Some(cause) = listen(&shared, slot, connection, &mailbox).await {
                shared.lose(slot, cause);
            }
        }
    }
}

/// Listens until the connection ends, and says why; `None` when it was told to close.
async fn listen(
    shared: &Shared,
    slot: usize,
    mut connection: Connection,
    mailbox: &Mailbox<Letter>,
) -> Option<Cause> {
    let mut farewell = None;
    loop {
        match poll_fn(|cx| poll_turn(cx, shared, slot, &mut connection, mailbox, &mut farewell)).await {
            Turn::Read(Ok(())) => {}
            Turn::Read(Err(error)) => return Some(farewell.unwrap_or_else(|| error.cause())),
            Turn::Letter(Letter::Send(order)) => send(shared, &mut connection, &order),
            Turn::Letter(Letter::Close) => {
                Box::pin(connection.close(Connection::CLOSE_TIMEOUT)).await;
                return None;
            }
        }
    }
}

fn poll_turn(
    cx: &mut Context<'_>,
    shared: &Shared,
    slot: usize,
    connection: &mut Connection,
    mailbox: &Mailbox<Letter>,
    farewell: &mut Option<Cause>,
) -> Poll<Turn> {
    if let Poll::Ready(letter) = mailbox.poll_take(cx) {
        return Poll::Ready(Turn::Letter(letter));
    }
    let read = connection.poll_receive(cx, |at, event| {
        let mut book = shared.book.borrow_mut();
        match book.note(slot, at, &event) {
            Note::Nothing => {}
            Note::Tell(event) => shared.outbox.post(event),
            Note::Farewell(cause) => *farewell = Some(cause),
        }
    });
    read.map(Turn::Read)
}

/// Puts a message on its way: it is encoded here and written by the next poll, which follows at once. What the
/// socket does not take then goes out with later polls.
fn send(shared: &Shared, connection: &mut Connection, order: &SendOrder) {
    let (opcode, message) = shared
        .setup
        .wire
        .encode(order.command, order.id, SystemTime::now());
    if connection.queue(opcode, &message).is_ok() {
        shared.book.borrow_mut().send(order, Instant::now(), &message);
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
    fn lose(&self, slot: usize, cause: Cause) {
        self.mailboxes.borrow_mut()[slot] = None;
        for event in self.book.borrow_mut().drop_client(slot) {
            self.outbox.post(event);
        }
        self.outbox.post(Event::Dropped {
            client: self.client(slot),
            cause,
        });
    }
}
