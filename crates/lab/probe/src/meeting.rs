//! One connection: the handshake, and what the server says in the first seconds.

use std::{
    net::SocketAddr,
    task::Poll,
    time::{Duration, Instant},
};

use plimsoll_cable::reply::Reply;
use plimsoll_clients::websocket::{
    Attempt, ConnectError, Connection, Conversation, Recipient, Response, Timings,
};
use plimsoll_websocket::{Event, Opcode};
use tokio::time::timeout;

use crate::{
    Kind,
    greeting::{self, Greeting},
};

/// How long a greeting may take.
pub(crate) const GREETING_LIMIT: Duration = Duration::from_secs(2);

/// How long the answer to a heartbeat may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// How long pings are waited for. Action Cable sends one every three seconds, and a server of ours the first one after
/// up to one and a half intervals. The rest is for a busy machine.
const PINGS_LIMIT: Duration = Duration::from_secs(9);

/// The messages that are kept. Later ones are dropped.
const MAX_MESSAGES: usize = 16;

/// The kept part of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 2000;

/// Whether a connection waits for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listening {
    /// Only the handshake matters.
    No,
    /// Until the first message, at most for this time. Nothing is sent.
    Greeting(Duration),
    /// Until the kind of the server is known. A server that is silent gets a heartbeat.
    Kind,
    /// Until the kind of the server and its pings are known. A server that is silent gets a heartbeat.
    Pings,
}

/// A connection that is over.
#[derive(Debug)]
pub(crate) struct Meeting {
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) response: Option<Response>,
    pub(crate) outcome: Result<Opened, ConnectError>,
}

/// A WebSocket that was open.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) timings: Timings,
    pub(crate) protocol: Option<String>,
    pub(crate) is_deflated: bool,
    pub(crate) heard: Heard,
}

/// What the server sent.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    messages: Vec<(Instant, String)>,
    ping_frames: Vec<Instant>,
    /// The server's kind, as far as its messages show it. None if the connection did not listen.
    pub(crate) kind: Option<Kind>,
}

impl Meeting {
    /// Listens to an open WebSocket and closes it, at most for the time that is `left` and one second.
    pub(crate) async fn of(
        attempt: Attempt,
        path_and_query: &str,
        listening: Listening,
        left: Duration,
    ) -> Self {
        let outcome = match attempt.outcome {
            Err(error) => Err(error),
            Ok((connection, timings)) => Ok(Opened {
                timings,
                protocol: connection.protocol().map(str::to_owned),
                is_deflated: connection.is_deflated(),
                heard: listen(connection, path_and_query, listening, left).await,
            }),
        };
        Self {
            remote: attempt.remote,
            response: attempt.response,
            outcome,
        }
    }
}

async fn listen(connection: Connection, path_and_query: &str, listening: Listening, left: Duration) -> Heard {
    let mut conversation = Conversation::new(connection);
    let mut heard = Heard::default();
    let hearing = async {
        match listening {
            Listening::No => {}
            Listening::Greeting(limit) => {
                heard.hear_greeting(&mut conversation, limit).await;
            }
            Listening::Kind => {
                heard.find_kind(&mut conversation, path_and_query).await;
            }
            Listening::Pings => {
                if heard.find_kind(&mut conversation, path_and_query).await {
                    heard.hear_pings(&mut conversation).await;
                }
            }
        }
    };
    // What was heard until the end of the time counts.
    let _ = timeout(left, hearing).await;
    conversation.close(&mut heard, Conversation::CLOSE_TIMEOUT).await;
    heard
}

impl Heard {
    /// The server's first message.
    pub(crate) fn first(&self) -> Option<&str> {
        self.messages.first().map(|(_, text)| text.as_str())
    }

    /// When Action Cable's pings arrived.
    pub(crate) fn pings(&self) -> impl Iterator<Item = Instant> {
        let is_ping = |text: &str| matches!(Reply::parse(text), Ok(Reply::Ping));
        let messages = self.messages.iter();
        messages.filter(move |(_, text)| is_ping(text)).map(|&(at, _)| at)
    }

    /// When Ping frames arrived.
    pub(crate) fn ping_frames(&self) -> impl Iterator<Item = Instant> {
        self.ping_frames.iter().copied()
    }

    /// Listens to the first message and understands it.
    async fn hear_greeting(&mut self, conversation: &mut Conversation, limit: Duration) -> Option<Greeting> {
        self.kind = Some(Kind::Websocket);
        self.read(conversation, limit, |heard| heard.first().is_some())
            .await;
        let greeting = greeting::understand(self.first()?)?;
        self.kind = Some(greeting.kind);
        Some(greeting)
    }

    /// Finds the kind of the server. Returns whether it has welcomed a client of Action Cable, and will send pings.
    async fn find_kind(&mut self, conversation: &mut Conversation, path_and_query: &str) -> bool {
        let greeting = self.hear_greeting(conversation, GREETING_LIMIT).await;
        if self.first().is_none() {
            self.ask(conversation, path_and_query).await;
        }
        greeting.is_some_and(|greeting| greeting.kind.is_cable() && !greeting.is_refusal)
    }

    async fn hear_pings(&mut self, conversation: &mut Conversation) {
        self.read(conversation, PINGS_LIMIT, |heard| heard.pings().nth(1).is_some())
            .await;
    }

    /// Sends a heartbeat to a server that is silent.
    async fn ask(&mut self, conversation: &mut Conversation, path_and_query: &str) {
        let heartbeat = greeting::heartbeat(path_and_query);
        if conversation.queue(Opcode::Text, heartbeat.as_bytes()).is_err() {
            return;
        }
        self.read(conversation, ANSWER_LIMIT, |heard| heard.first().is_some())
            .await;
        if let Some(answer) = self.first() {
            self.kind = Some(greeting::of_answer(heartbeat, answer));
            // It is an answer and no greeting.
            self.messages.clear();
        }
    }

    /// Reads until there is enough, the limit has passed, or the connection is over.
    async fn read(
        &mut self,
        conversation: &mut Conversation,
        limit: Duration,
        is_enough: impl Fn(&Self) -> bool,
    ) {
        let reading = conversation.read_until(self, |_, heard| {
            if is_enough(heard) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let _ = timeout(limit, reading).await;
    }
}

impl Recipient for Heard {
    fn put(&mut self, at: Instant, event: Event<'_>) {
        let text = match event {
            Event::Text(text) => text.chars().take(MAX_MESSAGE_CHARS).collect(),
            Event::Binary(bytes) => format!("(binary, {} bytes)", bytes.len()),
            Event::Ping(_) if self.ping_frames.len() < MAX_MESSAGES => {
                self.ping_frames.push(at);
                return;
            }
            Event::Ping(_) | Event::Pong(_) | Event::Close(_) => return,
        };
        if self.messages.len() < MAX_MESSAGES {
            self.messages.push((at, text));
        }
    }
}
