//! A connection that is made again when it is lost, for the calls of one user.

use std::{cell::Cell, rc::Rc, time::Duration};

use plimsoll_grpc::Code;
use tokio::{
    sync::{Mutex, Notify},
    time::{Instant, sleep, timeout_at},
};

use super::{Call, ConnectError, Endpoint, Head, Reply, Status, call, endpoint::Connection};
use crate::dial::Traffic;

/// The pause after a first failed attempt to connect, and its growth: those of gRPC's specification (connection-backoff),
/// without their chance.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const GROWTH: f64 = 1.6;
const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// A longer timeout is this one: it is longer than any run.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// A server to call.
pub struct Channel {
    endpoint: Endpoint,
    traffic: Rc<Traffic>,
    connection: Mutex<Option<Rc<Connection>>>,
    is_closed: Cell<bool>,
    closing: Notify,
}

impl Channel {
    /// A channel without a connection. Its bytes are added to `traffic`.
    pub fn new(endpoint: Endpoint, traffic: Rc<Traffic>) -> Self {
        Self {
            endpoint,
            traffic,
            connection: Mutex::default(),
            is_closed: Cell::new(false),
            closing: Notify::new(),
        }
    }

    /// Connects. Failures that may pass, such as those of TLS, are repeated until `timeout` is over.
    ///
    /// # Errors
    /// There is no connection.
    pub async fn connect(&self, timeout: Duration) -> Result<(), ConnectError> {
        let deadline = Instant::now() + timeout.min(LONGEST_TIMEOUT);
        let mut pause = FIRST_PAUSE;
        let mut last = None;
        loop {
            match timeout_at(deadline, self.connection()).await {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(error)) if error.is_temporary() => last = Some(Box::new(error)),
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(ConnectError::Timeout(last)),
            }
            if timeout_at(deadline, sleep(pause)).await.is_err() {
                return Err(ConnectError::Timeout(last));
            }
            pause = pause.mul_f64(GROWTH).min(LONGEST_PAUSE);
        }
    }

    /// Begins a call. A lost connection is made again first.
    ///
    /// # Errors
    /// There is no connection, or the head cannot be sent.
    pub async fn start(&self, head: &Head) -> Result<Call, Status> {
        let request = head.request(&self.endpoint)?;
        let connection = self.connection().await;
        let connection = connection.map_err(|error| Status::new(Code::Unavailable, error.to_string()))?;
        Call::start(connection, request, &self.endpoint).await
    }

    /// A call with one message in each direction.
    pub async fn unary(&self, head: &Head, message: &[u8]) -> Reply {
        let deadline = head
            .timeout
            .and_then(|timeout| Instant::now().checked_add(timeout));
        tokio::select! {
            biased;
            () = self.closed() => Reply {
                failure: Some(Status::new(Code::Cancelled, "grpc: the client connection is closing")),
                ..Reply::default()
            },
            reply = call::unary(deadline, self.start(head), message) => reply,
        }
    }

    /// Ends the calls in progress; the channel is of no use any more.
    pub fn close(&self) {
        self.is_closed.set(true);
        self.closing.notify_waiters();
    }

    /// Waits until the channel is closed.
    pub async fn closed(&self) {
        let closing = self.closing.notified();
        if !self.is_closed.get() {
            closing.await;
        }
    }

    /// The connection, which is made if there is none.
    async fn connection(&self) -> Result<Rc<Connection>, ConnectError> {
        let mut current = self.connection.lock().await;
        if let Some(connection) = &*current
            && connection.shared.is_open().await
        {
            return Ok(Rc::clone(connection));
        }
        let connection = Rc::new(self.endpoint.open(&self.traffic).await?);
        Ok(Rc::clone(current.insert(connection)))
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channel")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
