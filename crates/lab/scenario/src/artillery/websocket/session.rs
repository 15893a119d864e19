//! An open WebSocket with the steps that a user can do over it.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use plimsoll_clients::{
    dial::Traffic,
    websocket::{Connection, ReceiveError},
};
use plimsoll_load::metrics::Recorder;
use plimsoll_websocket::{CloseCode, Opcode};
use tokio::time::sleep_until;

use super::{Opening, reception::Reception};
use crate::artillery::{
    capture::{Answer, MismatchError, has_all, take},
    failure::Failure,
    flow::{Answers, Connect, Wanted},
    metrics::Metrics,
    variables::Variables,
};

/// How long the server may take to send its Close when a user is done. Reason: an answer to the last message comes
/// before it, and an overloaded server is slow; one that never sends it holds up only this user.
const CLOSING_TIME: Duration = Duration::from_secs(10);

/// One user's WebSocket.
#[derive(Debug)]
pub(crate) struct Session {
    connection: Connection,
    /// Set when nothing more will be received. A step that already has its messages leaves the error to the next one.
    ending: Option<ReceiveError>,
    reception: Reception,
    metrics: Metrics,
    recorder: Recorder,
    traffic: Rc<Traffic>,
    /// The default time limit of answers.
    timeout: Duration,
}

/// Why reading ended.
enum Ended {
    InTime,
    Over(ReceiveError),
}

impl Session {
    /// Opens the WebSocket.
    pub(crate) async fn open(
        opening: &Opening,
        own: Option<&Connect>,
        variables: &Variables,
        (metrics, recorder): (Metrics, Recorder),
        has_inbox: bool,
        timeout: Duration,
    ) -> Result<Self, Failure> {
        recorder.count(metrics.websocket.sessions, 1);
        let traffic = Rc::new(Traffic::default());
        let opened = opening.open(own, variables, &traffic).await;
        let (connection, timings) = opened.inspect_err(|_| count(&traffic, metrics, &recorder))?;
        recorder.record(metrics.websocket.connecting, timings.total());
        Ok(Self {
            connection,
            ending: None,
            reception: Reception::new(metrics, recorder.clone(), has_inbox),
            metrics,
            recorder,
            traffic,
            timeout,
        })
    }

    /// Sends a message and waits until the socket has taken it. Its return is timed separately.
    pub(crate) async fn send(&mut self, payload: &str) -> Result<(), Failure> {
        self.connection.queue(Opcode::Text, payload.as_bytes())?;
        self.reception.sent(payload.as_bytes(), Instant::now());
        self.flush().await
    }

    /// Sends a message and waits for its answers.
    pub(crate) async fn ask(
        &mut self,
        payload: &str,
        answers: &Answers,
        variables: &mut Variables,
    ) -> Result<(), Failure> {
        // Messages that have already arrived answer something else.
        self.read_what_is_there().await?;
        self.connection.queue(Opcode::Text, payload.as_bytes())?;
        let sent = Instant::now();
        self.reception.want(answers.n);
        self.flush().await?;
        self.next_messages(answers, Some(sent), variables).await
    }

    /// Waits for the next messages.
    pub(crate) async fn wait(&mut self, answers: &Answers, variables: &mut Variables) -> Result<(), Failure> {
        self.read_what_is_there().await?;
        self.reception.want(answers.n);
        self.next_messages(answers, None, variables).await
    }

    /// Takes matching messages from the inbox as they arrive.
    pub(crate) async fn receive(
        &mut self,
        answers: &Answers,
        variables: &mut Variables,
    ) -> Result<(), Failure> {
        let deadline = self.deadline(answers);
        for _ in 0..answers.n {
            let mut n_seen = 0;
            let found = self.read_until(deadline, |reception| {
                let is_wanted =
                    |body: &[u8]| has_all(&answers.wanted.matches, &Answer::new(body, None), variables);
                let inbox = reception.inbox()?;
                let found = inbox.take_first(n_seen, |body| is_wanted(body));
                n_seen = inbox.len();
                found
            });
            let message = found.await.map_err(Failure::from)?;
            take(&answers.wanted.captures, &Answer::new(&message, None), variables)?;
        }
        Ok(())
    }

    /// Reads for this long. Fails if the server ends the connection meanwhile.
    pub(crate) async fn idle(&mut self, time: Duration) -> Result<(), Failure> {
        let deadline = tokio::time::Instant::now() + time;
        match self.read_until(deadline, |_| None::<()>).await {
            Err(Ended::Over(error)) => Err(error.into()),
            Ok(()) | Err(Ended::InTime) => Ok(()),
        }
    }

    /// Says Close and reads on until the server does, so that the answers to the last messages are counted.
    pub(crate) async fn close(mut self) {
        self.connection.start_close(CloseCode::NORMAL, "");
        let deadline = tokio::time::Instant::now() + CLOSING_TIME;
        let ended = self.read_until(deadline, |_| None::<()>).await;
        if matches!(ended, Err(Ended::Over(ReceiveError::Closed { .. }))) {
            // The server ends the TCP connection first, so that our port is free at once.
            self.connection.close(CLOSING_TIME).await;
        }
    }

    async fn next_messages(
        &mut self,
        answers: &Answers,
        sent: Option<Instant>,
        variables: &mut Variables,
    ) -> Result<(), Failure> {
        let deadline = self.deadline(answers);
        let mut sent = sent;
        let mut outcome = Ok(());
        for _ in 0..answers.n {
            let arrival = match self.read_until(deadline, Reception::next).await {
                Ok(arrival) => arrival,
                Err(ended) => {
                    outcome = Err(ended.into());
                    break;
                }
            };
            if let Some(sent) = sent.take() {
                let time = arrival.at.saturating_duration_since(sent);
                self.recorder.record(self.metrics.response_time, time);
            }
            if let Err(error) = answers.wanted.apply(&arrival.body, variables) {
                outcome = Err(error.into());
                break;
            }
        }
        self.reception.want_no_more();
        outcome
    }

    fn deadline(&self, answers: &Answers) -> tokio::time::Instant {
        tokio::time::Instant::now() + answers.timeout.unwrap_or(self.timeout)
    }

    /// Writes queued bytes, and reads at the same time, because a server may not read until its own messages are read.
    async fn flush(&mut self) -> Result<(), Failure> {
        let flushed = poll_fn(|cx| {
            if let Poll::Ready(flushed) = self.connection.poll_flush(cx) {
                return Poll::Ready(flushed.map_err(Failure::from));
            }
            loop {
                match self.poll_read(cx) {
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                    Poll::Pending => break,
                }
            }
            self.connection.poll_flush(cx).map_err(Failure::from)
        });
        flushed.await?;
        self.recorder.count(self.metrics.websocket.msgs_sent, 1);
        Ok(())
    }

    /// Reads without waiting.
    async fn read_what_is_there(&mut self) -> Result<(), Failure> {
        poll_fn(|cx| {
            loop {
                match self.poll_read(cx) {
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                    Poll::Pending => return Poll::Ready(Ok(())),
                }
            }
        })
        .await
    }

    /// Reads until `done` returns a value.
    async fn read_until<T>(
        &mut self,
        deadline: tokio::time::Instant,
        mut done: impl FnMut(&mut Reception) -> Option<T>,
    ) -> Result<T, Ended> {
        let mut timer = pin!(sleep_until(deadline));
        poll_fn(|cx| {
            loop {
                if let Some(result) = done(&mut self.reception) {
                    return Poll::Ready(Ok(result));
                }
                match self.poll_read(cx) {
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(error)) => {
                        // Messages that arrived together with the end still count.
                        let last = done(&mut self.reception);
                        return Poll::Ready(last.ok_or(Ended::Over(error)));
                    }
                    Poll::Pending => return timer.as_mut().poll(cx).map(|()| Err(Ended::InTime)),
                }
            }
        })
        .await
    }

    /// Reads once.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ReceiveError>> {
        let Self {
            connection,
            ending,
            reception,
            ..
        } = self;
        if let Some(ending) = ending {
            return Poll::Ready(Err(ending.clone()));
        }
        let read = connection.poll_receive(cx, |at, event| reception.take(at, event));
        read.map_err(|error| ending.insert(error).clone())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        count(&self.traffic, self.metrics, &self.recorder);
    }
}

fn count(traffic: &Traffic, metrics: Metrics, recorder: &Recorder) {
    let (sent, received) = traffic.take();
    recorder.count(metrics.data.sent, sent);
    recorder.count(metrics.data.received, received);
}

impl Wanted {
    /// Checks a message and captures values from it.
    fn apply(&self, body: &[u8], variables: &mut Variables) -> Result<(), MismatchError> {
        let answer = Answer::new(body, None);
        if !has_all(&self.matches, &answer, variables) {
            return Err(MismatchError::Match);
        }
        take(&self.captures, &answer, variables)
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::InTime => Self::timeout(),
            Ended::Over(error) => error.into(),
        }
    }
}
