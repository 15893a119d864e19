//! The sending half of a line.
//!
//! A caller sends its request itself when few are under way: otherwise each one would wait until the task of the connection
//! runs, on another thread. When many are under way, the task sends those together that have come meanwhile.

use std::{
    collections::VecDeque,
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use redis::cmd;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::{Answer, Due, LineError, MAX_IN_FLIGHT, Manner, Replication, Request};
use crate::connection::{ConnectionError, Writer};

/// The most requests that wait for the connection. Overflow rule: the next one waits for its turn, as long as its caller
/// has time.
const CAPACITY: usize = 1024;

/// The most requests that are sent at once.
const BATCH: usize = 256;

/// The number of requests under way, or waiting, from which on the task sends them.
const MANY: usize = 4;

/// A request that waits.
#[derive(Debug)]
struct Queued {
    request: Arc<Request>,
    manner: Manner,
    answer: Answer,
    _room: OwnedSemaphorePermit,
}

/// The requests that wait, and the connection while it is free.
#[derive(Debug)]
pub(super) struct Sending {
    state: Mutex<State>,
    room: Arc<Semaphore>,
    /// There is something for the task to do.
    work: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Queued>,
    /// `None`: there is no connection, or the task has it.
    outgoing: Option<Outgoing>,
    is_closed: bool,
}

impl Sending {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::default(),
            room: Arc::new(Semaphore::new(CAPACITY)),
            work: Notify::new(),
        }
    }

    /// Sends a request, or leaves it to the task of the connection. Requests are sent in the order of the calls.
    ///
    /// # Errors
    /// The line has ended.
    pub(super) async fn send(
        &self,
        request: Arc<Request>,
        manner: Manner,
        answer: Answer,
    ) -> Result<(), LineError> {
        let room = Arc::clone(&self.room).acquire_owned().await;
        let queued = Queued {
            request,
            manner,
            answer,
            _room: room.map_err(|_| LineError::Unsent)?,
        };
        let mut state = self.state();
        let State {
            waiting,
            outgoing,
            is_closed,
        } = &mut *state;
        if *is_closed {
            return Err(LineError::Unsent);
        }
        waiting.push_back(queued);
        let is_sent = outgoing
            .as_mut()
            .is_some_and(|outgoing| outgoing.send_now(waiting));
        if !is_sent {
            self.work.notify_one();
        }
        Ok(())
    }

    /// Sends requests over a connection, until it fails.
    pub(super) async fn write(&self, outgoing: Outgoing) -> ConnectionError {
        let _end = End(self);
        let mut free = Some(outgoing);
        loop {
            let Some((mut outgoing, batch)) = self.exchange(free.take()) else {
                self.work.notified().await;
                continue;
            };
            if let Err(error) = outgoing.send(batch).await {
                return error;
            }
            free = Some(outgoing);
        }
    }

    /// Gives the connection back, and takes it again with what is to be sent. `None`: there is nothing.
    fn exchange(&self, free: Option<Outgoing>) -> Option<(Outgoing, Vec<Queued>)> {
        let mut state = self.state();
        let outgoing = free.or_else(|| state.outgoing.take())?;
        if state.waiting.is_empty() && !outgoing.has_rest() {
            state.outgoing = Some(outgoing);
            return None;
        }
        let n = state.waiting.len().min(BATCH);
        Some((outgoing, state.waiting.drain(..n).collect()))
    }

    /// From now on requests are refused, as are those that wait.
    pub(super) fn close(&self) {
        self.room.close();
        let mut state = self.state();
        state.is_closed = true;
        for queued in state.waiting.drain(..) {
            // The caller may have given up.
            let _told = queued.answer.send(Err(LineError::Unsent));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic under the lock is a bug in this file; the other requests go on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the connection from the callers when it ends.
struct End<'a>(&'a Sending);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state().outgoing = None;
    }
}

/// The sending half of a connection.
pub(super) struct Outgoing {
    writer: Writer,
    hashes: Vec<Vec<u8>>,
    replication: Option<Replication>,
    in_flight: mpsc::Sender<Due>,
    rest: Rest,
}

/// What a caller has left to the task.
#[derive(Debug)]
enum Rest {
    Nothing,
    /// Bytes that the connection did not take. Those of an encrypted connection may be none, and wait in it.
    Bytes(Vec<u8>),
    Failure(ConnectionError),
}

impl Outgoing {
    pub(super) fn new(
        writer: Writer,
        hashes: Vec<Vec<u8>>,
        replication: Option<Replication>,
        in_flight: mpsc::Sender<Due>,
    ) -> Self {
        Self {
            writer,
            hashes,
            replication,
            in_flight,
            rest: Rest::Nothing,
        }
    }

    fn has_rest(&self) -> bool {
        !matches!(self.rest, Rest::Nothing)
    }

    /// Sends what waits, if it can be sent without waiting. Returns whether nothing is left for the task.
    fn send_now(&mut self, waiting: &mut VecDeque<Queued>) -> bool {
        let n_under_way = MAX_IN_FLIGHT - self.in_flight.capacity();
        let must_wait = |queued: &Queued| self.replication.is_some() && queued.manner.is_replicated;
        if self.has_rest() || n_under_way + waiting.len() > MANY || waiting.iter().any(must_wait) {
            return false;
        }
        let mut bytes = Vec::new();
        for queued in waiting.drain(..) {
            for due in self.pack(queued, &mut bytes) {
                // There is room; if the connection has ended, its task knows.
                let _kept = self.in_flight.try_send(due);
            }
        }
        self.rest = match self.writer.send_now(&bytes) {
            Ok(None) => Rest::Nothing,
            Ok(Some(n_sent)) => Rest::Bytes(bytes.split_off(n_sent)),
            Err(error) => Rest::Failure(error),
        };
        !self.has_rest()
    }

    /// Sends what was left and a batch of requests.
    async fn send(&mut self, batch: Vec<Queued>) -> Result<(), ConnectionError> {
        let mut bytes = match mem::replace(&mut self.rest, Rest::Nothing) {
            Rest::Nothing => Vec::new(),
            Rest::Bytes(bytes) => bytes,
            Rest::Failure(error) => return Err(error),
        };
        let mut is_replicated = false;
        for queued in batch {
            let manner = queued.manner;
            let owed = self.pack(queued, &mut bytes);
            is_replicated |= manner.is_replicated && !owed.is_empty();
            for due in owed {
                // If the connection has ended, the reader says why.
                let _kept = self.in_flight.send(due).await;
            }
        }
        match self.replication.filter(|_| is_replicated) {
            Some(replication) => self.send_replicated(bytes, replication).await,
            None => self.writer.send(&bytes).await,
        }
    }

    /// Adds a request to the bytes. Returns the replies to it; none if its caller has given up.
    fn pack(&self, queued: Queued, bytes: &mut Vec<u8>) -> Vec<Due> {
        let Queued {
            request,
            manner,
            answer,
            ..
        } = queued;
        let mut owed = Vec::new();
        if answer.is_closed() {
            return owed;
        }
        if manner.is_asking {
            bytes.extend(cmd("ASKING").get_packed_command());
            owed.push(Due::Asking);
        }
        request.pack(&self.hashes, bytes);
        owed.push(Due::Request(answer, manner));
        owed
    }

    /// Sends requests, and waits for their replication. One `WAIT` is for all of them; it holds back what comes after
    /// it on the connection, which waits here, where its callers can still give up.
    async fn send_replicated(
        &mut self,
        mut bytes: Vec<u8>,
        replication: Replication,
    ) -> Result<(), ConnectionError> {
        let mut wait = cmd("WAIT");
        wait.arg(replication.n_replicas);
        wait.arg(u64::try_from(replication.patience.as_millis()).unwrap_or(u64::MAX));
        bytes.extend(wait.get_packed_command());
        let (over, is_over) = oneshot::channel();
        // If the connection has ended, the reader says why.
        let _kept = self.in_flight.send(Due::Replication(over)).await;
        self.writer.send(&bytes).await?;
        let _over = is_over.await;
        Ok(())
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut outgoing = formatter.debug_struct("Outgoing");
        outgoing.field("rest", &self.rest).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
