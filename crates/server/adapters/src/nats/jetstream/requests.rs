//! Requests of many tasks over one connection, and their answers on subjects of their own.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use plimsoll_nats::{
    Header, Info, Message, Operation, PING, PONG, jetstream::KeptStream, publish_with, subscribe,
};
use plimsoll_telemetry::Dependency;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, MissedTickBehavior, interval, timeout},
};

use super::{
    setup::{self, Access},
    tips::Tips,
};
use crate::{
    connection::PATIENCE,
    nats::{
        ROUND_BYTES,
        connection::{Connection, NatsError, Reader, Writer},
        is_about_permissions,
        servers::NatsServers,
    },
    supervisor::{self, Connector, Link, Reach, Session, Stop, stopped},
};

/// The most requests that wait for the connection. Overflow rule: the next one waits for its turn, as long as its caller
/// has time.
const CAPACITY: usize = 1024;

/// The most requests without an answer.
const MAX_IN_FLIGHT: usize = 4096;

/// The time between two looks at what is due.
const TICK: Duration = Duration::from_secs(1);

/// The number of the subscription for answers.
const ANSWERS: u64 = 1;

/// The status of the answer to a request that no program takes.
const NO_RESPONDERS: u16 = 503;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JetStreamError {
    /// There was no answer in time. The request may have taken effect, or may still do so.
    #[error("NATS did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// The connection was lost before the answer. The request may have taken effect.
    #[error("the connection to NATS was lost")]
    Lost,
    /// The request was refused, and may be taken later.
    #[error("{0}")]
    Refused(String),
    /// Another program has written the last message on a subject.
    #[error(
        "the last message on the subject {0} in JetStream is of another program; purge the subject (nats stream purge)"
    )]
    Foreign(String),
    /// The request can never be taken.
    #[error("{0}")]
    Unfit(String),
}

/// A message to send.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) subject: String,
    pub(super) header: Vec<u8>,
    pub(super) payload: Vec<u8>,
}

/// Who waits for what.
#[derive(Debug)]
pub(super) enum Waiting {
    /// For the answer of whoever takes the request.
    Answer(Sender),
    /// For the server to have the message.
    Receipt(Sender),
}

pub(super) type Sender = oneshot::Sender<Result<Message, JetStreamError>>;

/// The callers' end of the connection. A clone is the same connection.
#[derive(Debug, Clone)]
pub(super) struct Requests(mpsc::Sender<(Request, Waiting)>);

/// The connection's end.
pub(super) struct RequestTask {
    pub(super) servers: NatsServers,
    /// The streams of JetStream that the broker needs.
    pub(super) streams: Vec<KeptStream>,
    /// How long JetStream may take to become ready.
    pub(super) ready_timeout: Duration,
    pub(super) max_payload_bytes: usize,
    pub(super) tips: Arc<Tips>,
    /// Whether a stream has several replicas.
    pub(super) is_replicated: Arc<AtomicBool>,
    pub(super) waiting: mpsc::Receiver<(Request, Waiting)>,
}

impl Requests {
    /// The two ends, of which `task` makes the second one.
    pub(super) fn new(
        task: impl FnOnce(mpsc::Receiver<(Request, Waiting)>) -> RequestTask,
    ) -> (Self, RequestTask) {
        let (sender, waiting) = mpsc::channel(CAPACITY);
        (Self(sender), task(waiting))
    }

    /// Makes a request and waits for its answer.
    pub(super) async fn ask(&self, request: Request) -> Result<Message, JetStreamError> {
        self.send(request, Waiting::Answer).await
    }

    /// Publishes a message and waits until the server has it.
    pub(super) async fn publish(&self, request: Request) -> Result<(), JetStreamError> {
        self.send(request, Waiting::Receipt).await.map(drop)
    }

    async fn send(
        &self,
        request: Request,
        waiting: impl FnOnce(Sender) -> Waiting,
    ) -> Result<Message, JetStreamError> {
        let (sender, answered) = oneshot::channel();
        let sent = self.0.send((request, waiting(sender))).await;
        sent.map_err(|_| JetStreamError::Lost)?;
        answered.await.unwrap_or(Err(JetStreamError::Lost))
    }
}

impl RequestTask {
    /// Stays connected until `stop` becomes true.
    pub(super) async fn run(self, status: Dependency, stop: watch::Receiver<bool>) {
        supervisor::keep(link(status), self, stop).await;
    }

    /// Stays connected until `stop` becomes true, and changes nothing. JetStream has less time to become ready than in
    /// [`run`](Self::run), so that a check can say that it is not.
    pub(super) async fn reach(mut self, status: Dependency, stop: watch::Receiver<bool>) {
        self.ready_timeout = self.ready_timeout.min(PATIENCE);
        supervisor::keep(link(status), Reach(self), stop).await;
    }

    /// Connects, and sees to it that the streams are there.
    async fn open(&mut self, access: Access) -> Result<(Connection, Inbox), NatsError> {
        let mut connection = self.servers.connect(self.max_payload_bytes).await?;
        let inbox = Inbox::new();
        let mut bytes = Vec::new();
        inbox.subscribe(&mut bytes);
        connection.writer.send(&bytes).await?;
        let ready = setup::prepare(&mut connection, &inbox, &self.streams, access);
        let ready = timeout(self.ready_timeout, ready).await;
        let n_replicas = ready.unwrap_or(Err(NatsError::NotReady(self.ready_timeout)))?;
        self.is_replicated.store(n_replicas > 1, Relaxed);
        Ok((connection, inbox))
    }
}

fn link(status: Dependency) -> Link {
    Link::with_words("Connected to the NATS broker", "The NATS broker is away", status)
}

impl Connector for RequestTask {
    type Connection = Connection;
    type Error = NatsError;

    async fn connect(&mut self) -> Result<Connection, NatsError> {
        self.open(Access::Look).await.map(|(connection, _)| connection)
    }
}

/// The state of one connection.
struct Talk {
    inbox: Inbox,
    info: Info,
    /// Requests without an answer, by their numbers, which are ours.
    in_flight: HashMap<u64, (String, Sender)>,
    last_number: u64,
    /// Who waits for each ping of ours to be answered.
    pings: VecDeque<(Instant, Vec<Sender>)>,
    heard_at: Instant,
}

/// The subjects for answers.
pub(super) struct Inbox(String);

impl Inbox {
    fn new() -> Self {
        let name: String = std::iter::repeat_with(fastrand::alphanumeric).take(22).collect();
        Self(format!("_INBOX.{name}."))
    }

    /// The subject for the answer to a request.
    pub(super) fn subject(&self, number: u64) -> String {
        format!("{}{number}", self.0)
    }

    fn subscribe(&self, bytes: &mut Vec<u8>) {
        subscribe(bytes, &format!("{}*", self.0), ANSWERS);
    }

    fn number(&self, subject: &str) -> Option<u64> {
        subject.strip_prefix(&self.0)?.parse().ok()
    }
}

impl Session for RequestTask {
    type Error = NatsError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), NatsError> {
        let (connection, inbox) = tokio::select! {
            opened = self.open(Access::Change) => opened?,
            () = stopped(stop) => return Ok(()),
        };
        self.tips.forget_all();
        link.is_up();
        let Connection { reader, writer, info } = connection;
        let talk = Talk {
            inbox,
            info,
            in_flight: HashMap::new(),
            last_number: 0,
            pings: VecDeque::new(),
            heard_at: Instant::now(),
        };
        talk.run(reader, writer, &mut self.waiting, stop).await
    }
}

impl Talk {
    async fn run(
        mut self,
        mut reader: Reader,
        mut writer: Writer,
        waiting: &mut mpsc::Receiver<(Request, Waiting)>,
        stop: &mut Stop,
    ) -> Result<(), NatsError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut bytes = Vec::new();
        loop {
            if !bytes.is_empty() {
                writer.send(&bytes).await?;
                bytes.clear();
            }
            tokio::select! {
                read = reader.read() => {
                    read?;
                    self.heard_at = Instant::now();
                    while let Some(operation) = reader.decoder.decode()? {
                        self.take(operation, &mut bytes)?;
                    }
                }
                request = waiting.recv(), if self.in_flight.len() < MAX_IN_FLIGHT => match request {
                    Some(request) => self.send_all(request, waiting, &mut bytes),
                    // No caller is left.
                    None => return Ok(()),
                },
                _ = ticks.tick() => {
                    self.in_flight.retain(|_, (_, sender)| !sender.is_closed());
                    self.check(&mut bytes)?;
                }
                () = stopped(stop) => return Ok(()),
            }
        }
    }

    /// Sends a request, and those that wait.
    fn send_all(
        &mut self,
        first: (Request, Waiting),
        waiting: &mut mpsc::Receiver<(Request, Waiting)>,
        bytes: &mut Vec<u8>,
    ) {
        let mut receipts = Vec::new();
        let mut next = Some(first);
        while let Some((request, waiting_for)) = next {
            self.send(&request, waiting_for, &mut receipts, bytes);
            next = if bytes.len() < ROUND_BYTES && self.in_flight.len() < MAX_IN_FLIGHT {
                waiting.try_recv().ok()
            } else {
                None
            };
        }
        if !receipts.is_empty() {
            self.ping(receipts, bytes);
        }
    }

    fn send(&mut self, request: &Request, waiting: Waiting, receipts: &mut Vec<Sender>, bytes: &mut Vec<u8>) {
        let Request {
            subject,
            header,
            payload,
        } = request;
        let (Waiting::Answer(sender) | Waiting::Receipt(sender)) = &waiting;
        // A request whose caller has given up is not sent.
        if sender.is_closed() {
            return;
        }
        let (n_bytes, limit) = (header.len() + payload.len(), self.info.max_payload);
        if limit > 0 && n_bytes > limit {
            let (Waiting::Answer(sender) | Waiting::Receipt(sender)) = waiting;
            let error = format!(
                "the message has {n_bytes} bytes with its header, and NATS accepts {limit} (max_payload)"
            );
            return answer(sender, Err(JetStreamError::Unfit(error)));
        }
        match waiting {
            Waiting::Answer(sender) => {
                self.last_number += 1;
                let reply = self.inbox.subject(self.last_number);
                publish_with(bytes, subject, Some(&reply), header, payload);
                self.in_flight.insert(self.last_number, (subject.clone(), sender));
            }
            Waiting::Receipt(sender) => {
                publish_with(bytes, subject, None, header, payload);
                receipts.push(sender);
            }
        }
    }

    fn ping(&mut self, receipts: Vec<Sender>, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(PING);
        self.pings.push_back((Instant::now(), receipts));
    }

    /// Tests a silent connection.
    fn check(&mut self, bytes: &mut Vec<u8>) -> Result<(), NatsError> {
        match self.pings.front() {
            Some((sent_at, _)) if (*sent_at).max(self.heard_at).elapsed() >= PATIENCE => {
                return Err(NatsError::Silent);
            }
            None if self.heard_at.elapsed() >= PATIENCE => self.ping(Vec::new(), bytes),
            _ => {}
        }
        Ok(())
    }

    fn take(&mut self, operation: Operation, answers: &mut Vec<u8>) -> Result<(), NatsError> {
        match operation {
            Operation::Message(message) => self.take_answer(message)?,
            Operation::TooLong { subject, n_bytes } => {
                let error = format!("the answer of NATS has {n_bytes} bytes, more than any message here");
                self.finish(&subject, Err(JetStreamError::Refused(error)));
            }
            Operation::Ping => answers.extend_from_slice(PONG),
            Operation::Pong => {
                let (_, receipts) = self.pings.pop_front().unwrap_or((self.heard_at, Vec::new()));
                for sender in receipts {
                    answer(sender, Ok(Message::default()));
                }
            }
            Operation::Info(info) => self.info = info,
            Operation::Ok => {}
            Operation::Error(error) if is_about_permissions(&error) => self.refuse(&error),
            Operation::Error(error) => return Err(NatsError::Refused(error)),
        }
        Ok(())
    }

    fn take_answer(&mut self, message: Message) -> Result<(), NatsError> {
        let subject = message.subject.clone();
        if Header::read(&message.header).status != Some(NO_RESPONDERS) {
            self.finish(&subject, Ok(message));
            return Ok(());
        }
        let error = NatsError::NoJetStream;
        self.finish(&subject, Err(JetStreamError::Refused(error.to_string())));
        // The stream may have been deleted, or has no leader: a new connection asks for it.
        Err(error)
    }

    fn finish(&mut self, subject: &str, outcome: Result<Message, JetStreamError>) {
        let request = self
            .inbox
            .number(subject)
            .and_then(|number| self.in_flight.remove(&number));
        if let Some((_, sender)) = request {
            answer(sender, outcome);
        }
    }

    /// The server has refused a message. It names the subject.
    fn refuse(&mut self, error: &str) {
        tracing::warn!(
            "NATS does not permit a part of the NATS broker: {error}. The user needs the permissions in \
             docs/reference/nats-broker.md."
        );
        let error = JetStreamError::Refused(format!("NATS refused the message: {error}"));
        let refused = self
            .in_flight
            .extract_if(|_, (subject, _)| error_names(&error, subject));
        for (_, (_, sender)) in refused.collect::<Vec<_>>() {
            answer(sender, Err(error.clone()));
        }
        for (_, receipts) in &mut self.pings {
            for sender in receipts.drain(..) {
                answer(sender, Err(error.clone()));
            }
        }
    }
}

/// Whether an error is about a subject, which it has in quotation marks.
fn error_names(error: &JetStreamError, subject: &str) -> bool {
    error.to_string().contains(&format!("\"{subject}\""))
}

fn answer(sender: Sender, outcome: Result<Message, JetStreamError>) {
    // The caller may have given up.
    let _sent = sender.send(outcome);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(max_payload: usize) -> Talk {
        Talk {
            inbox: Inbox("_INBOX.x.".to_owned()),
            info: Info {
                max_payload,
                ..Info::default()
            },
            in_flight: HashMap::new(),
            last_number: 0,
            pings: VecDeque::new(),
            heard_at: Instant::now(),
        }
    }

    fn request(subject: &str) -> Request {
        Request {
            subject: subject.to_owned(),
            header: b"H".to_vec(),
            payload: b"payload".to_vec(),
        }
    }

    type Receiver = oneshot::Receiver<Result<Message, JetStreamError>>;

    /// Sends requests for answers on these subjects, and one for a receipt.
    fn send(talk: &mut Talk, subjects: &[&str]) -> (Vec<Receiver>, Receiver, String) {
        let (sender, mut waiting) = mpsc::channel(10);
        let mut receivers = Vec::new();
        for subject in subjects {
            let (answer, answered) = oneshot::channel();
            let waiting_for = Waiting::Answer(answer);
            sender
                .try_send((request(subject), waiting_for))
                .expect("there is room");
            receivers.push(answered);
        }
        let (receipt, received) = oneshot::channel();
        let mut bytes = Vec::new();
        talk.send_all(
            (request("r"), Waiting::Receipt(receipt)),
            &mut waiting,
            &mut bytes,
        );
        (receivers, received, String::from_utf8(bytes).expect("text"))
    }

    fn message(number: u64, header: &str) -> Operation {
        Operation::Message(Message {
            subject: format!("_INBOX.x.{number}").into(),
            header: header.into(),
            ..Message::default()
        })
    }

    #[tokio::test]
    async fn answers_find_their_requests_in_any_order() {
        let mut talk = talk(100);
        let (mut answered, mut received, sent) = send(&mut talk, &["a", "b"]);
        let expected = "HPUB r 1 8\r\nHpayload\r\nHPUB a _INBOX.x.1 1 8\r\nHpayload\r\nHPUB b _INBOX.x.2 1 8\r\nHpayload\r\nPING\r\n";
        assert_eq!(sent, expected);
        for number in [2, 7] {
            talk.take(message(number, ""), &mut Vec::new())
                .expect("it goes on");
        }
        assert!(answered[0].try_recv().is_err() && received.try_recv().is_err());
        let answer = answered[1]
            .try_recv()
            .expect("it is there")
            .expect("it is no error");
        assert_eq!(&*answer.subject, "_INBOX.x.2");
        talk.take(Operation::Pong, &mut Vec::new()).expect("it goes on");
        assert_eq!(received.try_recv(), Ok(Ok(Message::default())));
    }

    #[tokio::test]
    async fn what_no_program_takes_needs_a_new_connection() {
        let mut talk = talk(100);
        let (mut answered, _, _) = send(&mut talk, &["a"]);
        let ended = talk.take(message(1, "NATS/1.0 503\r\n\r\n"), &mut Vec::new());
        assert!(matches!(ended, Err(NatsError::NoJetStream)));
        let refused = JetStreamError::Refused(NatsError::NoJetStream.to_string());
        assert_eq!(answered[0].try_recv(), Ok(Err(refused)));
    }

    #[tokio::test]
    async fn a_subject_that_is_not_permitted_is_refused() {
        let mut talk = talk(100);
        let (mut answered, _, _) = send(&mut talk, &["a", "b"]);
        let error = "Permissions Violation for Publish to \"b\"".to_owned();
        talk.take(Operation::Error(error), &mut Vec::new())
            .expect("it goes on");
        assert!(answered[0].try_recv().is_err());
        assert!(matches!(
            answered[1].try_recv(),
            Ok(Err(JetStreamError::Refused(_)))
        ));
    }

    #[tokio::test]
    async fn messages_that_are_too_long_are_not_sent() {
        let mut talk = talk(7);
        let (mut answered, mut received, sent) = send(&mut talk, &["a"]);
        assert_eq!(sent, "");
        for receiver in [&mut answered[0], &mut received] {
            assert!(matches!(receiver.try_recv(), Ok(Err(JetStreamError::Unfit(_)))));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_is_given_up() {
        let mut talk = talk(0);
        let mut bytes = Vec::new();
        for (wait_secs, pings) in [(4, ""), (1, "PING\r\n"), (4, "PING\r\n")] {
            tokio::time::advance(Duration::from_secs(wait_secs)).await;
            talk.check(&mut bytes).expect("it goes on");
            assert_eq!(bytes, pings.as_bytes());
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(matches!(talk.check(&mut bytes), Err(NatsError::Silent)));
    }
}
