//! One WebSocket of a script, from dialling to its end.

use std::{
    cell::{Cell, RefCell},
    future::{Future as _, poll_fn},
    pin::Pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use plimsoll_clients::{
    dial::Traffic,
    websocket::{Connection, ReceiveError, SendError},
};
use plimsoll_load::metrics::Recorder;
use plimsoll_websocket::{CloseCode, Event, Opcode};
use tokio::time::{Sleep, sleep};

use super::{
    Ending, Happening,
    debug::Debug,
    dial::{Dial, Dialled, Flavour, Opened},
    inbox::Inbox,
    pings::Pings,
    samples::Samples,
    waiter::Waiter,
};
use crate::{host::Host, network::Network, program::Program};

/// How much is read at once: nearly always all that is there.
const SCRATCH_BYTES: usize = 64 * 1024;

thread_local! {
    /// One for all sockets of a thread: it is used only while one of them is read.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice());
}

/// How long the server's Close is waited for, when the script has said its own: as long as Firefox does. A server that
/// never says it must not hold a virtual user for the rest of the run.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// A WebSocket. The script and the future that reads share it.
pub(crate) struct Session {
    url: String,
    connection: RefCell<Option<Connection>>,
    inbox: RefCell<Inbox>,
    pings: RefCell<Pings>,
    opened: RefCell<Option<Opened>>,
    ending: RefCell<Option<Ending>>,
    /// Without the tags of an answer until there is one.
    samples: RefCell<Samples>,
    traffic: Rc<Traffic>,
    started: Instant,
    flavour: Flavour,
    /// What of it is shown in the log.
    debug: Option<Debug>,
    /// The attempt to connect is over.
    has_begun: Cell<bool>,
    is_finished: Cell<bool>,
    /// Runs while the server's Close is waited for.
    patience: RefCell<Option<Pin<Box<Sleep>>>>,
    /// The future that reads.
    reader: Waiter,
    /// Who waits for news.
    owner: Waiter,
    /// Who waits until the socket has taken something.
    sender: Waiter,
}

/// Ends the session with the future that it is in, when that is dropped before its time. After the connection's own end the
/// script still takes what came before it.
struct InBackground(Rc<Session>);

impl Drop for InBackground {
    fn drop(&mut self) {
        if self.0.ending.borrow().is_none() {
            self.0.finish();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Session {
    /// Begins to connect. `recorder` has the tags of the virtual user.
    pub(crate) fn open(host: &Host, network: &Arc<Network>, recorder: Recorder, dial: Dial) -> Rc<Self> {
        let session = Rc::new(Self {
            url: dial.url.clone(),
            connection: RefCell::default(),
            inbox: RefCell::default(),
            pings: RefCell::default(),
            opened: RefCell::default(),
            ending: RefCell::default(),
            samples: RefCell::new(Samples::new(&host.program, &recorder, &dial.tags())),
            traffic: Rc::default(),
            started: Instant::now(),
            flavour: dial.flavour,
            debug: Debug::of(&host.program),
            has_begun: Cell::new(false),
            is_finished: Cell::new(false),
            patience: RefCell::default(),
            reader: Waiter::default(),
            owner: Waiter::default(),
            sender: Waiter::default(),
        });
        let guard = InBackground(Rc::clone(&session));
        let (program, network, vu) = (Arc::clone(&host.program), Arc::clone(network), host.vu);
        host.background(async move {
            let session = &guard.0;
            let dialled = dial.dial(&network, vu, &session.traffic).await;
            session.begin(dialled, &program, &recorder);
            poll_fn(|cx| session.poll_read(cx)).await;
        });
        session
    }

    /// Waits for the end of the attempt to connect, and tells what came of it; once.
    pub(crate) async fn opened(&self) -> Opened {
        poll_fn(|cx| self.poll_opened(cx)).await
    }

    /// Waits until [`take`](Self::take) gives something, or the session has ended.
    pub(crate) async fn news(&self) {
        poll_fn(|cx| {
            self.owner.register(cx);
            if self.has_news() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// Whether [`take`](Self::take) gives something, or the session has ended.
    pub(crate) fn has_news(&self) -> bool {
        self.ending.borrow().is_some() || !self.inbox.borrow().is_empty()
    }

    /// Takes the oldest thing that has happened; `read` gets it and when it was read from the socket. A message counts
    /// as received, if it `counts`.
    pub(crate) fn take<R>(&self, counts: bool, read: impl FnOnce(Happening<'_>, Instant) -> R) -> Option<R> {
        let mut inbox = self.inbox.borrow_mut();
        let was_full = inbox.is_full();
        let taken = inbox.take(|happening, at| {
            if counts && matches!(happening, Happening::Text(_) | Happening::Binary(_)) {
                self.samples.borrow().received();
            }
            read(happening, at)
        });
        if was_full && !inbox.is_full() {
            self.reader.wake();
        }
        taken
    }

    /// How the connection ended, once everything before was taken.
    pub(crate) fn ending(&self) -> Option<Ending> {
        self.ending
            .borrow()
            .clone()
            .filter(|_| self.inbox.borrow().is_empty())
    }

    /// Sends a message: what the socket does not take at once goes out in the background. Bound it with
    /// [`sent_but`](Self::sent_but).
    ///
    /// # Errors
    /// [`SendError::Closing`] when either side has said Close, or the connection is gone.
    pub(crate) fn send(&self, opcode: Opcode, payload: &[u8]) -> Result<(), SendError> {
        self.write(|connection| connection.queue(opcode, payload))?;
        if let Some(debug) = self.debug {
            debug.sent(&self.url, opcode, payload);
        }
        self.count_sent();
        Ok(())
    }

    /// Sends a Ping, whose answer is measured.
    ///
    /// # Errors
    /// As for [`send`](Self::send).
    pub(crate) fn ping(&self) -> Result<(), SendError> {
        self.write(|connection| {
            let payload = self.pings.borrow_mut().send(Instant::now());
            connection.queue_ping(payload.as_bytes())?;
            if let Some(debug) = self.debug {
                debug.sent(&self.url, Opcode::Ping, payload.as_bytes());
            }
            Ok(())
        })
    }

    /// Says Close, unless either side has said it already.
    pub(crate) fn close(&self, code: CloseCode, reason: &str) {
        if let Some(connection) = &mut *self.connection.borrow_mut()
            && connection.is_open()
        {
            connection.start_close(code, reason);
            self.patience.replace(Some(Box::pin(sleep(CLOSE_TIMEOUT))));
            if self.debug.is_some() {
                Debug::closing(&self.url, code, reason);
            }
        }
        self.reader.wake();
    }

    /// Counts a frame that is no message as a sent one, as `k6/websockets` does.
    pub(crate) fn count_sent(&self) {
        self.samples.borrow().sent();
    }

    /// How many bytes of frames the socket has not taken yet.
    pub(crate) fn n_unsent_bytes(&self) -> usize {
        self.connection
            .borrow()
            .as_ref()
            .map_or(0, Connection::n_unsent_bytes)
    }

    /// Waits until no more than this many bytes wait for the socket.
    pub(crate) async fn sent_but(&self, n_bytes: usize) {
        poll_fn(|cx| {
            self.sender.register(cx);
            if self.n_unsent_bytes() > n_bytes {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }

    /// Ends the session now, if it has not ended: what waits is forgotten, and the server is told that we go.
    pub(crate) fn finish(&self) {
        if self.is_finished.replace(true) {
            return;
        }
        self.close(
            match self.flavour {
                Flavour::Blocking => CloseCode::GOING_AWAY,
                Flavour::Events => CloseCode::NORMAL,
            },
            "",
        );
        let was_open = self.connection.take().is_some() || self.ending.borrow().is_some();
        self.inbox.borrow_mut().clear();
        self.count_traffic();
        let samples = self.samples.borrow();
        if !self.has_begun.get() {
            samples.attempted(self.started.elapsed());
        }
        if was_open || self.flavour == Flavour::Blocking {
            let ending = self.ending.borrow();
            let at = ending.as_ref().map_or_else(Instant::now, |ending| ending.at);
            samples.ended(at.saturating_duration_since(self.started));
        }
    }

    /// The attempt to connect is over.
    fn begin(&self, dialled: Dialled, program: &Program, recorder: &Recorder) {
        let Dialled {
            connection,
            opened,
            tags,
        } = dialled;
        if self.debug.is_some() {
            Debug::attempted(&self.url, opened.response.as_ref(), opened.error.as_deref());
        }
        let samples = Samples::new(program, recorder, &tags);
        samples.attempted(self.started.elapsed());
        self.has_begun.set(true);
        self.samples.replace(samples);
        self.count_traffic();
        self.connection.replace(connection);
        self.opened.replace(Some(opened));
        self.owner.wake();
    }

    fn poll_opened(&self, cx: &Context<'_>) -> Poll<Opened> {
        self.owner.register(cx);
        self.opened.take().map_or(Poll::Pending, Poll::Ready)
    }

    /// Writes what `queue` puts into the connection, as far as the socket takes it.
    fn write(&self, queue: impl FnOnce(&mut Connection) -> Result<(), SendError>) -> Result<(), SendError> {
        let mut connection = self.connection.borrow_mut();
        let connection = connection.as_mut().ok_or(SendError::Closing)?;
        queue(connection)?;
        connection.try_flush();
        if connection.n_unsent_bytes() > 0 {
            self.reader.wake();
        }
        Ok(())
    }

    /// Reads into the inbox, and writes what waits, until the connection ends.
    fn poll_read(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.reader.register(cx);
        if self.has_no_patience(cx) {
            self.lose(&ReceiveError::Ended);
            return Poll::Ready(());
        }
        let read = loop {
            let mut connection = self.connection.borrow_mut();
            let Some(connection) = connection.as_mut() else {
                return Poll::Ready(());
            };
            if self.inbox.borrow().is_full() {
                // A broken connection shows when it is read again.
                let _ = connection.poll_flush(cx);
                break Ok(());
            }
            let read = SCRATCH.with_borrow_mut(|scratch| {
                connection.poll_receive(cx, scratch, |at, event| self.receive(at, event))
            });
            match read {
                Poll::Pending => break Ok(()),
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => break Err(error),
            }
        };
        self.sender.wake();
        self.count_traffic();
        if self.has_news() {
            self.owner.wake();
        }
        match read {
            Ok(()) => Poll::Pending,
            Err(error) => {
                self.lose(&error);
                Poll::Ready(())
            }
        }
    }

    /// Whether the server has kept its Close to itself for too long.
    fn has_no_patience(&self, cx: &mut Context<'_>) -> bool {
        let mut patience = self.patience.borrow_mut();
        patience
            .as_mut()
            .is_some_and(|patience| patience.as_mut().poll(cx).is_ready())
    }

    fn receive(&self, at: Instant, event: Event<'_>) {
        if let Some(debug) = self.debug {
            debug.received(&self.url, event);
        }
        if let Event::Pong(payload) = event
            && let Some(took) = self.pings.borrow_mut().receive(payload, at)
        {
            self.samples.borrow().ponged(took);
        }
        self.inbox.borrow_mut().put(at, event);
    }

    fn lose(&self, error: &ReceiveError) {
        if self.debug.is_some() && !matches!(error, ReceiveError::Closed { .. }) {
            Debug::lost(&self.url, &error.to_string());
        }
        self.ending.replace(Some(Ending::of(error, Instant::now())));
        self.connection.take();
        self.owner.wake();
    }

    fn count_traffic(&self) {
        self.samples.borrow().moved(self.traffic.take());
    }
}
