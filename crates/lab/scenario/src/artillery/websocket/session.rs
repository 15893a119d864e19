//! An open WebSocket with the steps that a user can do over it.

use std::{
    future::poll_fn,
    rc::Rc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use plimsoll_clients::{
    dial::Traffic,
    websocket::{Conversation, ReceiveError},
};
use plimsoll_load::metrics::Recorder;
use plimsoll_websocket::Opcode;
use tokio::time::{timeout, timeout_at};

use super::{Opening, reception::Reception};
use crate::artillery::{
    capture::{Answer, MismatchError, has_all, take},
    failure::Failure,
    flow::{Answers, Connect, Receive, Wanted},
    metrics::Metrics,
    variables::Variables,
};

/// One user's WebSocket.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    /// A step that already has its messages leaves the end of the connection to the next one.
    conversation: Conversation,
    reception: Reception<'a>,
    traffic: Rc<Traffic>,
    /// The default time limit of answers.
    timeout: Duration,
    /// When the latest message was sent, or else when connecting began.
    spoke_at: Instant,
}

impl<'a> Session<'a> {
    /// Opens the WebSocket.
    pub(crate) async fn open(
        opening: &Opening,
        own: Option<&Connect>,
        variables: &Variables,
        (metrics, recorder): (&'a Metrics, Recorder),
        has_inbox: bool,
        timeout: Duration,
    ) -> Result<Self, Failure> {
        recorder.count(metrics.websocket.sessions, 1);
        let traffic = Rc::new(Traffic::default());
        let began = Instant::now();
        let opened = opening.open(own, variables, &traffic).await;
        let (connection, timings) = opened.inspect_err(|_| count(&traffic, metrics, &recorder))?;
        recorder.record(metrics.websocket.connecting, timings.total());
        Ok(Self {
            conversation: Conversation::new(connection),
            reception: Reception::new(metrics, recorder, has_inbox),
            traffic,
            timeout,
            spoke_at: began,
        })
    }

    /// Sends a message and waits until the socket has taken it. Its return is timed separately.
    pub(crate) async fn send(&mut self, payload: &str) -> Result<(), Failure> {
        self.conversation.queue(Opcode::Text, payload.as_bytes())?;
        self.spoke_at = Instant::now();
        self.reception.sent(payload.as_bytes(), self.spoke_at);
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
        self.conversation.queue(Opcode::Text, payload.as_bytes())?;
        let sent = Instant::now();
        self.spoke_at = sent;
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
        Receive {
            answers, is_timed, ..
        }: &Receive,
        variables: &mut Variables,
    ) -> Result<(), Failure> {
        let deadline = self.deadline(answers);
        for position in 0..answers.n {
            let mut n_seen = 0;
            let found = self.read_until(deadline, |reception| {
                let is_wanted =
                    |body: &[u8]| has_all(&answers.wanted.matches, &Answer::new(body, None), variables);
                let inbox = reception.inbox()?;
                let found = inbox.take_first(n_seen, |arrival| is_wanted(&arrival.body));
                n_seen = inbox.len();
                found
            });
            let arrival = found.await?;
            take(
                &answers.wanted.captures,
                &Answer::new(&arrival.body, None),
                variables,
            )?;
            // An answer without what is to be captured is none.
            if *is_timed && position == 0 {
                self.reception.time(arrival.at, self.spoke_at);
            }
        }
        Ok(())
    }

    /// Reads for this long. Fails if the server ends the connection meanwhile.
    pub(crate) async fn idle(&mut self, time: Duration) -> Result<(), Failure> {
        let reading = self
            .conversation
            .read_until(&mut self.reception, |_, _| Poll::Pending);
        timeout(time, reading).await.unwrap_or(Ok(()))?;
        Ok(())
    }

    /// Says Close and reads on until the server does, so that the answers to the last messages are counted.
    pub(crate) async fn close(mut self) {
        let Self {
            conversation,
            reception,
            ..
        } = &mut self;
        conversation
            .close(reception, Conversation::LONG_CLOSE_TIMEOUT)
            .await;
    }

    async fn next_messages(
        &mut self,
        answers: &Answers,
        mut sent: Option<Instant>,
        variables: &mut Variables,
    ) -> Result<(), Failure> {
        let deadline = self.deadline(answers);
        let reading = async {
            for _ in 0..answers.n {
                let arrival = self.read_until(deadline, Reception::next).await?;
                if let Some(sent) = sent.take() {
                    self.reception.time(arrival.at, sent);
                }
                answers.wanted.apply(&arrival.body, variables)?;
            }
            Ok::<_, Failure>(())
        };
        let outcome = reading.await;
        self.reception.want_no_more();
        outcome
    }

    fn deadline(&self, answers: &Answers) -> tokio::time::Instant {
        tokio::time::Instant::now() + answers.timeout.unwrap_or(self.timeout)
    }

    /// Writes queued bytes.
    async fn flush(&mut self) -> Result<(), Failure> {
        self.conversation.flush(&mut self.reception).await?;
        let Reception {
            metrics, recorder, ..
        } = &self.reception;
        recorder.count(metrics.websocket.msgs_sent, 1);
        Ok(())
    }

    /// Reads without waiting.
    async fn read_what_is_there(&mut self) -> Result<(), Failure> {
        Ok(poll_fn(|cx| Poll::Ready(self.read(cx))).await?)
    }

    /// Reads until `done` returns a value.
    async fn read_until<T>(
        &mut self,
        deadline: tokio::time::Instant,
        mut done: impl FnMut(&mut Reception<'a>) -> Option<T>,
    ) -> Result<T, Failure> {
        let look = |_: &mut Context<'_>, it: &mut Reception<'a>| done(it).map_or(Poll::Pending, Poll::Ready);
        let reading = self.conversation.read_until(&mut self.reception, look);
        let read = timeout_at(deadline, reading).await;
        Ok(read.map_err(|_| Failure::timeout())??)
    }

    /// Reads all that has arrived.
    ///
    /// # Errors
    /// The connection is over.
    pub(super) fn read(&mut self, cx: &mut Context<'_>) -> Result<(), ReceiveError> {
        match self.conversation.poll_read_all(cx, &mut self.reception) {
            Poll::Ready(ending) => Err(ending),
            Poll::Pending => Ok(()),
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let Reception {
            metrics, recorder, ..
        } = &self.reception;
        count(&self.traffic, metrics, recorder);
    }
}

fn count(traffic: &Traffic, metrics: &Metrics, recorder: &Recorder) {
    let (sent, received) = traffic.take();
    recorder.count(metrics.data.sent, sent);
    recorder.count(metrics.data.received, received);
}

impl Wanted {
    /// Checks a message and captures values from it.
    fn apply(&self, body: &[u8], variables: &mut Variables) -> Result<(), MismatchError> {
        let answer = Answer::new(body, None);
        if !has_all(&self.matches, &answer, variables) {
            return Err(MismatchError);
        }
        take(&self.captures, &answer, variables)
    }
}
