//! A consumer for users that do one thing after the other.

use std::{
    fmt,
    future::Future,
    pin::pin,
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_cable::{
    command::{encode_message, encode_subscribe},
    reply::Reply,
};
use serde::de::IgnoredAny;
use tokio::time::{sleep, timeout};

use super::{
    ConnectError, Ending, PerformError, ReceiveError, SubscribeError,
    opening::{self, Answer},
};
use crate::{
    inbox::{Capacity, HeapBytes, Inbox},
    websocket::{self, Connection},
};

/// Bytes of messages that wait in the inbox at most.
const MAX_INBOX_BYTES: usize = 16 << 20;

/// The options of a [`Client`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The options of the WebSocket. Its deadline covers the welcome, too.
    pub websocket: websocket::Options,
    /// How many messages wait in the inbox; when one more arrives, or they have more than 16 MiB, the oldest is dropped
    /// and counted in [`Counters::n_dropped`]. Default 1,000.
    pub inbox_capacity: usize,
}

/// The durations of the phases of connecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectTimings {
    /// Until the WebSocket is open.
    pub websocket: websocket::Timings,
    /// From the open WebSocket to the welcome.
    pub welcome: Duration,
}

/// A message of a subscription, from [`Client::receive`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The JSON text of the payload, exactly as sent.
    pub message: String,
    /// When it was read from the socket.
    pub at: Instant,
}

/// A message of a subscription, for the observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incoming<'a> {
    /// The subscription's identifier.
    pub identifier: &'a str,
    /// The JSON text of the payload, exactly as sent.
    pub message: &'a str,
    /// When it was read from the socket.
    pub at: Instant,
}

/// What a client has received and sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// WebSocket messages received, of any kind.
    pub n_messages_in: u64,
    /// WebSocket messages sent.
    pub n_messages_out: u64,
    /// Bytes received since the handshake.
    pub bytes_in: u64,
    /// Bytes sent since the handshake.
    pub bytes_out: u64,
    /// Action Cable's heartbeats.
    pub n_pings: u64,
    /// Messages dropped from a full inbox.
    pub n_dropped: u64,
}

impl HeapBytes for Received {
    fn heap_bytes(&self) -> usize {
        self.message.len()
    }
}

type Observer = Box<dyn FnMut(Incoming<'_>) + Send>;

/// An Action Cable consumer.
///
/// It reads from its socket only while one of its methods runs. A user that pauses should do so inside
/// [`listen_while`](Self::listen_while) or [`pause`](Self::pause): otherwise messages wait in the kernel and count as
/// arriving when the pause is over.
pub struct Client {
    connection: Connection,
    inbox: Inbox<Received>,
    n_dropped: u64,
    observer: Option<Observer>,
    ending: Option<Ending>,
    n_pings: u64,
}

impl Options {
    const DEFAULT_INBOX_CAPACITY: usize = 1000;

    /// Options with the default inbox and these `websocket` options.
    pub fn new(websocket: websocket::Options) -> Self {
        Self {
            websocket,
            inbox_capacity: Self::DEFAULT_INBOX_CAPACITY,
        }
    }
}

impl ConnectTimings {
    /// From before the TCP connect until the welcome.
    pub fn total(&self) -> Duration {
        self.websocket.total() + self.welcome
    }
}

impl Client {
    /// Connects and waits for the welcome.
    ///
    /// # Errors
    /// [`ConnectError`]; its [`cause`](ConnectError::cause) is what to count.
    pub async fn connect(options: &Options) -> Result<(Self, ConnectTimings), ConnectError> {
        let (connection, websocket, welcome) = opening::open(&options.websocket, &Rc::default()).await?;
        let client = Self {
            connection,
            inbox: Inbox::new(Capacity {
                n_messages: options.inbox_capacity,
                n_bytes: MAX_INBOX_BYTES,
            }),
            n_dropped: 0,
            observer: None,
            ending: None,
            n_pings: 0,
        };
        Ok((client, ConnectTimings { websocket, welcome }))
    }

    /// Calls `observer` for every message of every subscription from now on, before it goes into the inbox.
    pub fn observe(&mut self, observer: impl FnMut(Incoming<'_>) + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// Subscribes and waits for the answer. Returns how long the confirmation took.
    ///
    /// # Errors
    /// [`SubscribeError`]; its [`cause`](SubscribeError::cause) is what to count.
    pub async fn subscribe(&mut self, identifier: &str, limit: Duration) -> Result<Duration, SubscribeError> {
        let started = Instant::now();
        let timed_out = |_| SubscribeError::TimedOut {
            identifier: identifier.to_owned(),
            after: limit,
        };
        let answer = timeout(limit, self.ask_to_subscribe(identifier))
            .await
            .map_err(timed_out)?;
        answer?.result(identifier)?;
        Ok(started.elapsed())
    }

    /// Performs `action` of the subscribed channel with `data`, the text of a JSON object. Returns the instant right
    /// before the write.
    ///
    /// # Errors
    /// `data` is not an object, or the connection is over.
    pub async fn perform(
        &mut self,
        identifier: &str,
        action: &str,
        data: &str,
    ) -> Result<Instant, PerformError> {
        let data = with_action(action, data)?;
        let command = encode_message(identifier, &data);
        let sent_at = Instant::now();
        self.send(&command).await?;
        Ok(sent_at)
    }

    /// The oldest message that has arrived, or will within `limit`, and that `matches`. Older messages that do not
    /// match are consumed. A message in the inbox is found even if `limit` is zero or the connection is over.
    ///
    /// # Errors
    /// None matched in time, or the connection is over.
    pub async fn receive(
        &mut self,
        mut matches: impl FnMut(&str) -> bool,
        limit: Duration,
    ) -> Result<Received, ReceiveError> {
        let search = async {
            loop {
                while let Some(received) = self.inbox.pop() {
                    if matches(&received.message) {
                        return Ok(received);
                    }
                }
                self.read().await?;
            }
        };
        timeout(limit, search)
            .await
            .map_err(|_| ReceiveError::TimedOut { after: limit })?
    }

    /// Receives into the inbox while `work` runs, and returns its output. If the connection ends meanwhile, `work`
    /// continues; later calls return the reason.
    pub async fn listen_while<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                output = &mut work => return output,
                read = self.read() => if read.is_err() { return work.await },
            }
        }
    }

    /// Receives into the inbox for this long, like a user between two actions.
    pub async fn pause(&mut self, duration: Duration) {
        self.listen_while(sleep(duration)).await;
    }

    /// Why the connection is over. `None` while it is open, as far as known.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        let websocket::Counters {
            n_messages_in,
            n_messages_out,
            bytes_in,
            bytes_out,
            n_pings: _,
        } = self.connection.counters();
        Counters {
            n_messages_in,
            n_messages_out,
            bytes_in,
            bytes_out,
            n_pings: self.n_pings,
            n_dropped: self.n_dropped,
        }
    }

    /// Closes the connection properly, waiting at most a second for the server's Close. The counters stay readable.
    pub async fn disconnect(&mut self) {
        self.connection.close(Connection::CLOSE_TIMEOUT).await;
    }

    async fn ask_to_subscribe(&mut self, identifier: &str) -> Result<Answer, Ending> {
        self.send(&encode_subscribe(identifier)).await?;
        loop {
            let message = self.next().await?;
            let reply = self.parse(&message)?;
            if let Some(answer) = Answer::of(&reply, identifier) {
                return Ok(answer);
            }
            self.note(message.0, &reply);
        }
    }

    async fn send(&mut self, command: &str) -> Result<(), Ending> {
        self.still_open()?;
        let sent = opening::send(&mut self.connection, command).await;
        sent.map_err(|ending| self.end(ending))
    }

    /// Reads one message and dispatches it.
    async fn read(&mut self) -> Result<(), Ending> {
        let message = self.next().await?;
        let reply = self.parse(&message)?;
        self.note(message.0, &reply);
        Ok(())
    }

    async fn next(&mut self) -> Result<(Instant, String), Ending> {
        self.still_open()?;
        opening::next(&mut self.connection)
            .await
            .map_err(|ending| self.end(ending))
    }

    fn parse<'a>(&mut self, message: &'a (Instant, String)) -> Result<Reply<'a>, Ending> {
        opening::parse(message).map_err(|ending| self.end(ending))
    }

    fn note(&mut self, at: Instant, reply: &Reply<'_>) {
        match reply {
            Reply::Ping => self.n_pings += 1,
            Reply::Message {
                identifier, message, ..
            } => {
                if let Some(observer) = &mut self.observer {
                    observer(Incoming {
                        identifier,
                        message,
                        at,
                    });
                }
                self.n_dropped += self.inbox.push_dropping(Received {
                    message: (*message).to_owned(),
                    at,
                });
            }
            // A second welcome, or a late answer to a subscription.
            _ => {}
        }
    }

    fn still_open(&self) -> Result<(), Ending> {
        self.ending.clone().map_or(Ok(()), Err)
    }

    fn end(&mut self, ending: Ending) -> Ending {
        self.ending.get_or_insert(ending).clone()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("ending", &self.ending)
            .field("counters", &self.counters())
            .finish()
    }
}

/// `data` with `"action":action` after its own fields, as made by `@rails/actioncable`'s `perform`.
fn with_action(action: &str, data: &str) -> Result<String, PerformError> {
    let data = data.trim();
    let is_json = serde_json::from_str::<IgnoredAny>(data).is_ok();
    let not_an_object = || PerformError::NotAnObject {
        action: action.to_owned(),
        data: data.to_owned(),
    };
    let fields = data
        .strip_prefix('{')
        .and_then(|data| data.strip_suffix('}'))
        .filter(|_| is_json);
    let fields = fields.ok_or_else(not_an_object)?.trim();
    let comma = if fields.is_empty() { "" } else { "," };
    Ok(format!(
        r#"{{{fields}{comma}"action":{}}}"#,
        serde_json::Value::from(action)
    ))
}

#[cfg(test)]
mod tests;
