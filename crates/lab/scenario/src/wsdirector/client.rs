//! One client on its connection: the execution of its steps.

use std::{
    future::Future,
    pin::pin,
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_cable::{command::encode_subscribe, reply::Reply, subprotocol::Dialect};
use plimsoll_clients::{
    cable,
    dial::Traffic,
    websocket::{self, Connection, Message as Received, Options, Payload, ReceiveError},
};
use plimsoll_websocket::Opcode;
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
};

/// The time limit of the answer to a subscription or a join: as for `receive`.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Messages that a client takes from its socket before others of its worker have a turn. Reason: a client whose socket
/// is never empty would otherwise keep thousands from sending messages that others wait for. A read has some 30
/// messages.
const TURN: u8 = 16;

/// Messages that the text of a failure shows.
const MOST_SHOWN: usize = 3;

/// Characters of a message that it shows.
const MOST_CHARACTERS: usize = 200;

/// A connected client.
pub(super) struct Client<'a> {
    group: &'a Group,
    /// Its number within the group, from 1.
    number: u32,
    connection: Connection,
    mailbox: Mailbox,
    channels: Channels,
    /// Only Phoenix clients have one.
    heartbeat: Option<Heartbeat>,
    /// Why nothing more will arrive.
    ending: Option<ReceiveError>,
    /// Messages that it took in its turn.
    n_taken: u8,
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
        group: &'a Group,
        number: u32,
        options: &Options,
        traffic: &Rc<Traffic>,
    ) -> Result<(Self, Connected), Unmet> {
        // Boxed, because they are large and a client runs them once.
        let (connection, timings, welcome) = match group.protocol {
            Protocol::ActionCable => {
                let no_welcome =
                    |error: cable::ConnectError| unmet("a connection and a welcome", error.to_string());
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
                    opened.map_err(|error| unmet("a connection", error.to_string()))?;
                (connection, timings, Duration::ZERO)
            }
        };
        let client = Self {
            group,
            number,
            connection,
            mailbox: Mailbox::default(),
            channels: Channels::default(),
            heartbeat: (group.protocol == Protocol::Phoenix).then(Heartbeat::new),
            ending: None,
            n_taken: 0,
        };
        let connected = Connected {
            websocket: timings.total(),
            total: timings.total() + welcome,
        };
        Ok((client, connected))
    }

    /// Says farewell.
    pub(super) async fn close(&mut self) {
        if self.ending.is_none() {
            Box::pin(self.connection.close(Connection::CLOSE_TIMEOUT)).await;
        }
    }

    /// What went over the connection.
    pub(super) fn counters(&self) -> websocket::Counters {
        self.connection.counters()
    }

    /// Takes a step that is not about other clients; gives how long it took, as measured at the socket.
    pub(super) async fn perform(&mut self, action: &Action) -> Result<Duration, Unmet> {
        let start = Instant::now();
        match action {
            Action::Send(outgoing) => self.send(outgoing).await?,
            Action::Receive(receive) => {
                let message = self.receive(receive).await?;
                if receive.prints {
                    self.say(&message.text);
                }
                // The wait for a message that arrived before the step began is zero.
                return Ok(message.at.saturating_duration_since(start));
            }
            Action::ReceiveAll(all) => {
                return Ok(self.receive_all(all).await?.saturating_duration_since(start));
            }
            Action::Sleep { time, shift } => self.listen_while(sleep(shifted(*time, *shift))).await,
            Action::Debug(message) => self.say(message),
            Action::Subscribe { identifier } => self.subscribe(identifier).await?,
            Action::Join { topic, payload } => {
                let (text, reference) = self.channels.join(topic, payload);
                self.ask(&text, &reference).await?;
            }
            Action::Leave { topic } => {
                let (text, reference) = self.channels.leave(topic);
                self.ask(&text, &reference).await?;
            }
            Action::WaitAll => {}
        }
        Ok(start.elapsed())
    }

    /// Receives into the mailbox until `work` is done.
    pub(super) async fn listen_while<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        while self.ending.is_none() {
            tokio::select! {
                biased;
                done = &mut work => return done,
                next = self.next() => match next {
                    Ok(message) => self.mailbox.push(message),
                    Err(ending) => self.ending = Some(ending),
                },
            }
        }
        work.await
    }

    /// Prints for the user.
    fn say(&self, text: &str) {
        tracing::info!(target: "scenario", "client={}_{} {text}", self.group.name, self.number);
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
        let sent = self.connection.send_text(text).await;
        sent.map_err(|error| unmet(format!("to send {}", cut(text)), error.to_string()))
    }

    async fn receive(&mut self, receive: &Receive) -> Result<Message, Unmet> {
        let Receive {
            expected,
            is_ordered,
            timeout,
            ..
        } = receive;
        let oldest = self.mailbox.first().map(|message| expected.matches(message));
        if *is_ordered && oldest == Some(false) {
            return Err(self.out_of_order(expected));
        }
        if let Some(message) = self.mailbox.take(|message| expected.matches(message)) {
            return Ok(message);
        }
        let deadline = tokio::time::Instant::now() + *timeout;
        loop {
            let message = self.next_before(deadline, *timeout, expected).await?;
            if expected.matches(&message) {
                return Ok(message);
            }
            self.mailbox.leave(message);
            if *is_ordered {
                return Err(self.out_of_order(expected));
            }
        }
    }

    /// Returns when the last of them arrived.
    async fn receive_all(&mut self, all: &ReceiveAll) -> Result<Instant, Unmet> {
        let mut counts: Vec<u32> = all.expected.iter().map(|(_, times)| *times).collect();
        let mut last = Instant::now();
        // Earlier messages that no step has examined come first.
        while counts.iter().any(|count| *count > 0) {
            let message = match self.mailbox.take_unseen() {
                Some(message) => message,
                None => {
                    let deadline = tokio::time::Instant::now() + all.timeout;
                    let mut missing = all.expected.iter().zip(&counts).filter(|(_, count)| **count > 0);
                    let Some(((expected, _), count)) = missing.next() else {
                        break;
                    };
                    let shown = format!("{}, {count} more", expected.shown);
                    let next = self.next_before(deadline, all.timeout, expected).await;
                    next.map_err(|unmet| Unmet {
                        expected: shown,
                        ..unmet
                    })?
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
        self.send_text(&encode_subscribe(identifier)).await?;
        let is_of = |message: &Message, kind: &str| {
            message
                .json()
                .is_some_and(|json| json["type"] == kind && json["identifier"] == identifier)
        };
        let answer = self
            .answer(&expected, |message| {
                is_of(message, "confirm_subscription") || is_of(message, "reject_subscription")
            })
            .await?;
        if is_of(&answer, "confirm_subscription") {
            Ok(())
        } else {
            Err(unmet(expected, format!("a rejection: {}", cut(&answer.text))))
        }
    }

    /// Sends a message of Phoenix, and waits for the reply.
    async fn ask(&mut self, text: &str, reference: &str) -> Result<(), Unmet> {
        let expected = format!("a reply with the status ok to {}", cut(text));
        self.send_text(text).await?;
        let payload = |message: &Message| {
            let json = message.json()?;
            Some(phoenix::reply(json, reference)?["status"] == "ok")
        };
        let answer = self
            .answer(&expected, |message| payload(message).is_some())
            .await?;
        match payload(&answer) {
            Some(true) => Ok(()),
            _ => Err(unmet(expected, cut(&answer.text))),
        }
    }

    /// The next message of which `is_answer` is true; others stay in the mailbox.
    async fn answer(
        &mut self,
        expected: &str,
        is_answer: impl Fn(&Message) -> bool,
    ) -> Result<Message, Unmet> {
        let deadline = tokio::time::Instant::now() + ANSWER_TIMEOUT;
        loop {
            let next = self.before(deadline, ANSWER_TIMEOUT).await;
            let message = next.map_err(|got| unmet(expected, got))?;
            if is_answer(&message) {
                return Ok(message);
            }
            self.mailbox.push(message);
        }
    }

    /// The next message, or why `expected` will not come any more.
    async fn next_before(
        &mut self,
        deadline: tokio::time::Instant,
        limit: Duration,
        expected: &Expectation,
    ) -> Result<Message, Unmet> {
        let next = self.before(deadline, limit).await;
        next.map_err(|got| {
            unmet(
                expected.shown.clone(),
                format!("{got}{}", self.unmatched(expected)),
            )
        })
    }

    async fn before(&mut self, deadline: tokio::time::Instant, limit: Duration) -> Result<Message, String> {
        if let Some(ending) = &self.ending {
            return Err(ending.to_string());
        }
        if self.mailbox.is_full() {
            return Err(format!(
                "{} messages that no step took; a client keeps at most {} of them, and {} bytes",
                self.mailbox.len(),
                mailbox::MOST_MESSAGES,
                mailbox::MOST_BYTES
            ));
        }
        match timeout_at(deadline, self.next()).await {
            Ok(Ok(message)) => Ok(message),
            Ok(Err(ending)) => {
                let told = ending.to_string();
                self.ending = Some(ending);
                Err(told)
            }
            Err(_) => Err(format!("nothing within {limit:?}")),
        }
    }

    /// The next message that is not ignored. Waits while the mailbox is full. Dropping the future loses nothing.
    async fn next(&mut self) -> Result<Message, ReceiveError> {
        loop {
            if self.n_taken >= TURN {
                yield_now().await;
                self.n_taken = 0;
            }
            let received = tokio::select! {
                // A socket that is never empty must not block the heartbeat.
                biased;
                () = Heartbeat::due(self.heartbeat.as_mut()) => {
                    self.beat();
                    continue;
                }
                received = self.connection.next_message(), if !self.mailbox.is_full() => received?,
            };
            let Received { at, payload } = received;
            self.n_taken += 1;
            let text = match payload {
                Payload::Text(text) => text,
                // It matches no awaited text, and failures show it.
                Payload::Binary(bytes) => format!("(a binary message of {} bytes)", bytes.len()),
            };
            let is_reply = self
                .heartbeat
                .as_ref()
                .is_some_and(|heartbeat| heartbeat.is_reply(&text));
            if !is_reply && !is_ignored(self.group, &text) {
                return Ok(Message::new(at, text));
            }
        }
    }

    /// Sends a heartbeat without waiting for the socket to take it.
    fn beat(&mut self) {
        let Some(heartbeat) = &mut self.heartbeat else {
            return;
        };
        let text = heartbeat.beat(self.channels.next_ref());
        // A server that has not read earlier messages sees anyway that this client is alive.
        if self.connection.n_unsent_bytes() == 0 {
            // A closing connection needs none.
            let _ = self.connection.queue(Opcode::Text, text.as_bytes());
            self.connection.try_flush();
        }
    }

    fn out_of_order(&self, expected: &Expectation) -> Unmet {
        let first = self.mailbox.first();
        let got = first.map_or_else(String::new, |first| told(expected, first));
        unmet(format!("{} next", expected.shown), got)
    }

    /// The messages that did not match.
    fn unmatched(&self, expected: &Expectation) -> String {
        let n_waiting = self.mailbox.len();
        if n_waiting == 0 {
            return String::new();
        }
        let shown = self.mailbox.iter().take(MOST_SHOWN);
        let shown: Vec<_> = shown.map(|message| told(expected, message)).collect();
        let more = match n_waiting.saturating_sub(MOST_SHOWN) {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        format!("; it received other messages: {}{more}", shown.join(", "))
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
