//! One client on its connection: the execution of its steps.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use plimsoll_cable::{command::encode_subscribe, reply::Reply, subprotocol::Dialect};
use plimsoll_clients::{
    cable,
    dial::Traffic,
    websocket::{self, Conversation, Discard, Options, ReceiveError, Recipient},
};
use plimsoll_websocket::{Event, Opcode};
use tokio::{
    task::yield_now,
    time::{sleep, timeout_at},
};

use super::{
    failure::Unmet,
    heartbeat::Heartbeat,
    mailbox::{self, Mailbox, Message},
    phoenix::{self, Channels},
    scenario::{Action, Expectation, Group, Outgoing, Protocol, Receive, ReceiveAll},
    voice::Speaker,
};

/// The time limit of the answer to a subscription or a join: as for `receive`.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Messages that the text of a failure shows.
const MOST_SHOWN: usize = 3;

/// Characters of a message that it shows.
const MOST_CHARACTERS: usize = 200;

/// A connected client.
pub(super) struct Client<'a> {
    conversation: Conversation,
    incoming: Incoming<'a>,
    channels: Channels,
}

/// Puts the messages that steps can take into the mailbox.
struct Incoming<'a> {
    speaker: Speaker<'a>,
    mailbox: Mailbox,
    /// Only Phoenix clients have one.
    heartbeat: Option<Heartbeat>,
}

impl Recipient for Incoming<'_> {
    fn put(&mut self, at: Instant, event: Event<'_>) {
        let text = match event {
            Event::Text(text) => text.to_owned(),
            // It matches no awaited text, and failures show it.
            Event::Binary(bytes) => format!("(a binary message of {} bytes)", bytes.len()),
            Event::Ping(_) | Event::Pong(_) | Event::Close(_) => return,
        };
        self.speaker.show("<-", &text);
        let heartbeat = self.heartbeat.as_ref();
        let is_reply = heartbeat.is_some_and(|heartbeat| heartbeat.is_reply(&text));
        if !is_reply && !is_ignored(self.speaker.group, &text) {
            self.mailbox.push(Message::new(at, text));
        }
    }

    fn is_full(&self) -> bool {
        self.mailbox.is_full()
    }
}

/// The result of connecting.
pub(super) struct Connected {
    /// From before the TCP connect until the WebSocket was open.
    pub(super) websocket: Duration,
    /// Until the protocol let the client in.
    pub(super) total: Duration,
}

impl<'a> Client<'a> {
    /// Connects, and waits for the welcome of the protocol.
    pub(super) async fn connect(
        speaker: Speaker<'a>,
        options: &Options,
        traffic: &Rc<Traffic>,
    ) -> Result<(Self, Connected), Unmet> {
        // Boxed, because they are large and a client runs them once.
        let (connection, timings, welcome) = match speaker.group.protocol {
            Protocol::ActionCable => {
                let no_welcome = |error: cable::ConnectError| {
                    unmet("a connection and a welcome", error.cause().explain(&error))
                };
                let opened = Box::pin(cable::open(options, traffic))
                    .await
                    .map_err(no_welcome)?;
                // Steps define messages as text.
                cable::check_agreed(&opened.0, Dialect::default()).map_err(no_welcome)?;
                opened
            }
            Protocol::Base | Protocol::Phoenix => {
                let opened = Box::pin(websocket::connect(options, traffic)).await;
                let (connection, timings) =
                    opened.map_err(|error| unmet("a connection", error.cause().explain(&error)))?;
                (connection, timings, Duration::ZERO)
            }
        };
        let client = Self {
            conversation: Conversation::new(connection),
            incoming: Incoming {
                speaker,
                mailbox: Mailbox::default(),
                heartbeat: (speaker.group.protocol == Protocol::Phoenix).then(Heartbeat::new),
            },
            channels: Channels::default(),
        };
        let connected = Connected {
            websocket: timings.total(),
            total: timings.total() + welcome,
        };
        Ok((client, connected))
    }

    /// Says farewell.
    pub(super) async fn close(&mut self) {
        if self.conversation.ending().is_none() {
            Box::pin(self.conversation.close(&mut Discard, Conversation::CLOSE_TIMEOUT)).await;
        }
    }

    /// What went over the connection.
    pub(super) fn counters(&self) -> websocket::Counters {
        self.conversation.connection().counters()
    }

    /// Takes a step that is not about other clients; gives how long it took, as measured at the socket.
    pub(super) async fn perform(&mut self, action: &Action) -> Result<Duration, Unmet> {
        let start = Instant::now();
        match action {
            Action::Send(outgoing) => self.send(outgoing).await?,
            Action::Receive(receive) => {
                let message = self.receive(receive).await?;
                if receive.prints {
                    self.incoming.speaker.say(&message.text);
                }
                // The wait for a message that arrived before the step began is zero.
                return Ok(message.at.saturating_duration_since(start));
            }
            Action::ReceiveAll(all) => {
                return Ok(self.receive_all(all).await?.saturating_duration_since(start));
            }
            Action::Sleep { time, shift } => self.listen_while(sleep(shifted(*time, *shift))).await,
            Action::Debug(message) => self.incoming.speaker.say(message),
            Action::Subscribe { identifier } => self.subscribe(identifier).await?,
            Action::Join { topic, payload } => {
                let (text, reference) = self.channels.join(topic, payload);
                self.ask_phoenix(&text, &reference).await?;
            }
            Action::Leave { topic } => {
                let (text, reference) = self.channels.leave(topic);
                self.ask_phoenix(&text, &reference).await?;
            }
            Action::WaitAll => {}
        }
        Ok(start.elapsed())
    }

    /// Receives into the mailbox until `work` is done.
    pub(super) async fn listen_while<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                read = self.read() => if read.is_err() { return work.await },
            }
        }
    }

    async fn send(&mut self, outgoing: &Outgoing) -> Result<(), Unmet> {
        match outgoing {
            Outgoing::Text(text) => self.send_text(text).await,
            Outgoing::Phoenix {
                topic,
                event,
                payload,
            } => {
                let (text, _) = self.channels.message(topic, event, payload);
                self.send_text(&text).await
            }
        }
    }

    async fn send_text(&mut self, text: &str) -> Result<(), Unmet> {
        let unsent = |error: String| unmet(format!("to send {}", cut(text)), error);
        self.incoming.speaker.show("->", text);
        let queued = self.conversation.queue(Opcode::Text, text.as_bytes());
        queued.map_err(|error| unsent(error.to_string()))?;
        let sent = self.conversation.flush(&mut self.incoming).await;
        sent.map_err(|error| unsent(error.to_string()))
    }

    async fn receive(&mut self, receive: &Receive) -> Result<Message, Unmet> {
        let Receive {
            expected,
            is_ordered,
            timeout,
            ..
        } = receive;
        let mut n_looked = 0;
        let found = self.find(*timeout, |mailbox| {
            if *is_ordered && !expected.matches(mailbox.first()?) {
                return Some(None);
            }
            let found = mailbox.take(n_looked, |message| expected.matches(message));
            n_looked = mailbox.len();
            found.map(Some)
        });
        match found.await {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err(self.out_of_order(expected)),
            Err(got) => Err(self.none_of(expected, expected.shown.clone(), &got)),
        }
    }

    /// Returns when the last of them arrived.
    async fn receive_all(&mut self, all: &ReceiveAll) -> Result<Instant, Unmet> {
        let mut counts: Vec<u32> = all.expected.iter().map(|(_, times)| *times).collect();
        let mut last = Instant::now();
        // Earlier messages that no step has examined come first.
        while counts.iter().any(|count| *count > 0) {
            let message = match self.find(all.timeout, Mailbox::take_unseen).await {
                Ok(message) => message,
                Err(got) => {
                    let mut missing = all.expected.iter().zip(&counts).filter(|(_, count)| **count > 0);
                    let Some(((expected, _), count)) = missing.next() else {
                        break;
                    };
                    let shown = format!("{}, {count} more", expected.shown);
                    return Err(self.none_of(expected, shown, &got));
                }
            };
            let mut wanted = all.expected.iter().zip(&mut counts);
            match wanted.find(|((expected, _), count)| **count > 0 && expected.matches(&message)) {
                Some((_, count)) => *count -= 1,
                None => return Err(unexpected(all, &counts, &message)),
            }
            last = message.at;
        }
        Ok(last)
    }

    async fn subscribe(&mut self, identifier: &str) -> Result<(), Unmet> {
        let expected = format!("the confirmation of {identifier}");
        let is_of = |message: &Message, kind: &str| {
            message
                .json()
                .is_some_and(|json| json["type"] == kind && json["identifier"] == identifier)
        };
        let is_answer = |message: &Message| {
            is_of(message, "confirm_subscription") || is_of(message, "reject_subscription")
        };
        let command = encode_subscribe(identifier);
        let answer = self.ask(&command, &expected, is_answer).await?;
        if is_of(&answer, "confirm_subscription") {
            Ok(())
        } else {
            Err(unmet(expected, format!("a rejection: {}", cut(&answer.text))))
        }
    }

    /// Sends a message of Phoenix, and waits for the reply.
    async fn ask_phoenix(&mut self, text: &str, reference: &str) -> Result<(), Unmet> {
        let expected = format!("a reply with the status ok to {}", cut(text));
        let payload = |message: &Message| {
            let json = message.json()?;
            Some(phoenix::reply(json, reference)?["status"] == "ok")
        };
        let is_answer = |message: &Message| payload(message).is_some();
        let answer = self.ask(text, &expected, is_answer).await?;
        match payload(&answer) {
            Some(true) => Ok(()),
            _ => Err(unmet(expected, cut(&answer.text))),
        }
    }

    /// Sends a message, and waits for the next one of which `is_answer` is true; others stay in the mailbox.
    async fn ask(
        &mut self,
        text: &str,
        expected: &str,
        is_answer: impl Fn(&Message) -> bool,
    ) -> Result<Message, Unmet> {
        let mut n_looked = self.incoming.mailbox.len();
        self.send_text(text).await?;
        let answer = self.find(ANSWER_TIMEOUT, |mailbox| {
            let answer = mailbox.take_answer(n_looked, &is_answer);
            n_looked = mailbox.len();
            answer
        });
        answer.await.map_err(|got| unmet(expected, got))
    }

    /// Reads until `look` finds something in the mailbox, at most for `limit`. Otherwise returns what came instead.
    async fn find<T>(
        &mut self,
        limit: Duration,
        mut look: impl FnMut(&mut Mailbox) -> Option<T>,
    ) -> Result<T, String> {
        let deadline = tokio::time::Instant::now() + limit;
        let mut is_late = false;
        loop {
            if let Some(found) = look(&mut self.incoming.mailbox) {
                return Ok(found);
            }
            if let Some(ending) = self.conversation.ending() {
                return Err(ending.to_string());
            }
            if is_late {
                return Err(format!("nothing within {limit:?}"));
            }
            if self.incoming.is_full() {
                return Err(format!(
                    "{} messages that no step took; a client keeps at most {} of them, and {} bytes",
                    self.incoming.mailbox.len(),
                    mailbox::MOST_MESSAGES,
                    mailbox::MOST_BYTES
                ));
            }
            is_late = timeout_at(deadline, self.read()).await.is_err();
        }
    }

    /// Reads once, then lets others of the worker have a turn: a client whose socket is never empty would otherwise keep
    /// thousands from sending messages that others wait for. Waits while the mailbox is full. Dropping the future loses
    /// nothing.
    async fn read(&mut self) -> Result<(), ReceiveError> {
        poll_fn(|cx| self.poll_read(cx)).await?;
        yield_now().await;
        Ok(())
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ReceiveError>> {
        // First, because a socket that is never empty must not block it.
        while let Some(heartbeat) = &mut self.incoming.heartbeat
            && heartbeat.poll_due(cx).is_ready()
        {
            self.beat();
        }
        self.conversation.poll_read(cx, &mut self.incoming)
    }

    /// Sends a heartbeat without waiting for the socket to take it.
    fn beat(&mut self) {
        let Some(heartbeat) = &mut self.incoming.heartbeat else {
            return;
        };
        let text = heartbeat.beat(self.channels.next_ref());
        self.incoming.speaker.show("->", &text);
        // A server that has not read earlier messages sees anyway that this client is alive.
        let connection = self.conversation.connection_mut();
        if connection.n_unsent_bytes() == 0 {
            // A closing connection needs none.
            let _ = connection.queue(Opcode::Text, text.as_bytes());
            connection.try_flush();
        }
    }

    fn out_of_order(&self, expected: &Expectation) -> Unmet {
        let first = self.incoming.mailbox.first();
        let got = first.map_or_else(String::new, |first| told(expected, first));
        unmet(format!("{} next", expected.shown), got)
    }

    /// `got` instead of an expected message, and the messages that did not match.
    fn none_of(&self, expected: &Expectation, shown: String, got: &str) -> Unmet {
        let mailbox = &self.incoming.mailbox;
        if mailbox.len() == 0 {
            return unmet(shown, got);
        }
        let others = mailbox.iter().take(MOST_SHOWN);
        let others: Vec<_> = others.map(|message| told(expected, message)).collect();
        let more = match mailbox.len().saturating_sub(MOST_SHOWN) {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        let others = others.join(", ");
        unmet(
            shown,
            format!("{got}; it received other messages: {others}{more}"),
        )
    }
}

/// Whether a message is ignored.
fn is_ignored(group: &Group, text: &str) -> bool {
    let is_ping = || {
        group.protocol == Protocol::ActionCable
            && text.contains("\"ping\"")
            && matches!(Reply::parse(text), Ok(Reply::Ping))
    };
    is_ping() || group.ignore.iter().any(|regex| regex.is_match(text))
}

fn unmet(expected: impl Into<String>, got: impl Into<String>) -> Unmet {
    Unmet {
        expected: expected.into(),
        got: got.into(),
    }
}

fn unexpected(all: &ReceiveAll, counts: &[u32], message: &Message) -> Unmet {
    let left = all.expected.iter().zip(counts).filter(|(_, count)| **count > 0);
    let left: Vec<_> = left
        .map(|((expected, _), count)| format!("{} ({count} more)", expected.shown))
        .collect();
    unmet(left.join(" or "), cut(&message.text))
}

/// A message that does not match, with the first difference if it has the same subject.
fn told(expected: &Expectation, message: &Message) -> String {
    match expected.difference(message) {
        Some(difference) => format!("{} ({difference})", cut(&message.text)),
        None => cut(&message.text),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `time`, more or less by up to `shift`.
fn shifted(time: Duration, shift: Duration) -> Duration {
    let most_less = shift.min(time).as_secs_f64();
    let shift = fastrand::f64() * (most_less + shift.as_secs_f64()) - most_less;
    Duration::try_from_secs_f64(time.as_secs_f64() + shift).unwrap_or(time)
}

#[cfg(test)]
mod tests;
