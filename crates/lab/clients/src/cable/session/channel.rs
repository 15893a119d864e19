//! One subscription of a session.

use std::{
    collections::BTreeMap,
    fmt,
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_cable::command::{
    HistoryRequest, StreamPosition, encode_history, encode_join, encode_leave, encode_message,
    encode_presence, encode_unsubscribe, encode_whisper,
};
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::{
    Message, OnArrival, OnLatency, Session, Shared,
    arrival::Listener,
    latency::Counting,
    state::{ChannelState, Inquiry, Stage},
};
use crate::cable::{Ending, InquiryError, SubscribeError};

/// A subscription. All clones are the same subscription.
#[derive(Clone)]
pub struct Channel {
    shared: Rc<Shared>,
    state: Rc<ChannelState>,
}

impl Channel {
    pub(super) fn new(shared: Rc<Shared>, state: Rc<ChannelState>) -> Self {
        Self { shared, state }
    }

    pub(super) fn state(&self) -> &ChannelState {
        &self.state
    }

    /// What it is subscribed to.
    pub fn identifier(&self) -> Rc<str> {
        self.state.identifier()
    }

    /// Whether both are the same subscription.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.state, &other.state)
    }

    /// The session that it is a part of.
    pub fn session(&self) -> Session {
        Session {
            shared: Rc::clone(&self.shared),
        }
    }

    /// Waits for the server's answer to the subscription. Returns the time from the question to the answer, even if the
    /// answer came earlier.
    ///
    /// # Errors
    /// [`SubscribeError`]; its [`cause`](SubscribeError::cause) is what to count. After a timeout,
    /// [`Session::subscribe`] asks again.
    pub async fn confirmed(&self, limit: Duration) -> Result<Duration, SubscribeError> {
        let answer = self.shared.until(|| self.answer());
        if let Ok(answer) = timeout(limit, answer).await {
            return answer;
        }
        self.state.edit().stage = Stage::Overdue;
        Err(SubscribeError::TimedOut {
            identifier: self.identifier().to_string(),
            after: limit,
        })
    }

    /// Whether it is live.
    pub fn is_confirmed(&self) -> bool {
        self.state.get().stage == Stage::Confirmed
    }

    /// Whether the server has rejected it.
    pub fn is_rejected(&self) -> bool {
        self.state.get().stage == Stage::Rejected
    }

    /// The time from the question to the answer, confirmation or rejection. `None` while there is no answer.
    pub fn ack_duration(&self) -> Option<Duration> {
        self.state.get().ack
    }

    /// Sends `data`, the JSON text of an action (see
    /// [`encode_action`](plimsoll_cable::identifier::encode_action)). Returns the instant right before the write.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn perform(&self, data: &str) -> Result<Instant, Ending> {
        self.shared.send(&encode_message(&self.identifier(), data)).await
    }

    /// Sends `data` to the other listeners, if the application allows it.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn whisper(&self, data: &RawValue) -> Result<Instant, Ending> {
        self.shared.send(&encode_whisper(&self.identifier(), data)).await
    }

    /// Ends the subscription. There is no answer. Its waiting and later messages are dropped.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn unsubscribe(&self) -> Result<(), Ending> {
        self.shared.channels.borrow_mut().remove(&*self.identifier());
        self.state.unsubscribe();
        self.shared.make_room();
        self.shared.send(&encode_unsubscribe(&self.identifier())).await?;
        Ok(())
    }

    /// The oldest message of the inbox.
    pub fn take(&self) -> Option<Message> {
        let message = self.state.edit().inbox.pop()?;
        self.shared.make_room();
        Some(message)
    }

    /// Whether the inbox has any.
    pub fn has_messages(&self) -> bool {
        !self.state.get().inbox.is_empty()
    }

    /// Puts a message into the inbox after its observers have seen it, unless messages are not read.
    pub fn keep(&self, message: Message) {
        let mut state = self.state.edit();
        if !state.ignores_reads && state.stage != Stage::Unsubscribed {
            let mark = message.mark();
            state.inbox.push(message.json, mark);
            self.shared.note_full(state.inbox.is_full());
            self.shared.waiters.wake_all();
        }
    }

    /// Makes messages [`Event`](super::Event)s from now on, before they go into the inbox.
    pub fn observe(&self) {
        self.state.edit().is_observed = true;
    }

    /// Makes joins and leaves [`Event`](super::Event)s from now on. Otherwise they are dropped.
    pub fn observe_presence(&self) {
        self.state.edit().is_presence_observed = true;
    }

    /// Puts no more messages into the inbox, and drops those in it.
    pub fn ignore_reads(&self) {
        let mut state = self.state.edit();
        state.ignores_reads = true;
        state.inbox.clear();
        drop(state);
        self.shared.make_room();
    }

    /// Only counts messages from now on, without keeping them or showing them to observers. If `sent_at_field` names a
    /// top-level field with milliseconds of Unix time, `on_latency` gets the time from then to the arrival.
    pub fn count_only(&self, sent_at_field: Option<&str>, on_latency: OnLatency) {
        let mut counting = Counting {
            sent_at_field: sent_at_field.map(Into::into),
            on_latency,
        };
        self.listen(Box::new(move |arrival| {
            counting.note(arrival.json, arrival.unix_ms);
        }));
    }

    /// Passes each message from now on to `on_arrival`, with its position, instead of keeping it.
    pub fn listen(&self, on_arrival: OnArrival) {
        self.ignore_reads();
        self.state.edit().listener = Some(Listener(on_arrival));
    }

    /// The number of messages that have arrived for it.
    pub fn n_messages(&self) -> u64 {
        self.state.get().n_messages
    }

    /// When the last message arrived, in milliseconds of Unix time.
    pub fn last_message_at_ms(&self) -> Option<u64> {
        self.state.get().last_message_at_ms
    }

    /// Asks for earlier messages, and waits until they have arrived (`true`) or the server refuses (`false`). Also
    /// returns how long that took. Without `since`, asks for the messages after the last one of each stream, which
    /// needs a server that numbers its messages.
    ///
    /// # Errors
    /// [`InquiryError`].
    pub async fn history(
        &self,
        since: Option<i64>,
        limit: Duration,
    ) -> Result<(bool, Duration), InquiryError> {
        let request = HistoryRequest {
            since,
            streams: self.positions(),
        };
        if request.is_empty() {
            return Err(InquiryError::NoPosition);
        }
        let command = encode_history(&self.identifier(), &request);
        self.state.ask_history(Instant::now());
        let answer = async {
            self.shared.send(&command).await?;
            self.history_answered().await
        };
        answered_within(limit, answer).await
    }

    /// Waits for the answer to the history that [`Session::subscribe_with_history`] has asked for: see
    /// [`Self::history`].
    ///
    /// # Errors
    /// [`InquiryError`]; [`InquiryError::NoPosition`] if nothing was asked for.
    pub async fn replayed(&self, limit: Duration) -> Result<(bool, Duration), InquiryError> {
        if matches!(self.state.get().history, Inquiry::None) {
            return Err(InquiryError::NoPosition);
        }
        answered_within(limit, self.history_answered()).await
    }

    /// The last position in each stream. While earlier messages are missing, the positions before the gap.
    pub fn positions(&self) -> BTreeMap<Box<str>, StreamPosition> {
        self.state.get().progress.known().streams().clone()
    }

    async fn history_answered(&self) -> Result<(bool, Duration), Ending> {
        self.shared
            .until(|| self.or_ending(self.state.edit().history.take()))
            .await
    }

    /// Becomes present as `id`; `info` is shown to the others. Needs a channel with presence.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn join(&self, id: &str, info: &RawValue) -> Result<(), Ending> {
        let command = encode_join(&self.identifier(), id, info);
        self.shared.send(&command).await?;
        Ok(())
    }

    /// Is present no more.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn leave(&self) -> Result<(), Ending> {
        self.shared.send(&encode_leave(&self.identifier())).await?;
        Ok(())
    }

    /// Asks who is present. Returns the server's answer, as JSON: `{"type":"info","total":1,"records":[…]}`, or
    /// `{"type":"error"}` if it has no presence.
    ///
    /// # Errors
    /// [`InquiryError`].
    pub async fn presence(&self, limit: Duration) -> Result<Box<str>, InquiryError> {
        self.state.edit().presence = Inquiry::Asked(Instant::now());
        let answer = async {
            self.shared.send(&encode_presence(&self.identifier())).await?;
            self.shared
                .until(|| self.or_ending(self.state.edit().presence.take()))
                .await
        };
        Ok(answered_within(limit, answer).await?.0)
    }

    fn answer(&self) -> Option<Result<Duration, SubscribeError>> {
        let state = self.state.get();
        let ack = state.ack.unwrap_or_default();
        match state.stage {
            Stage::Confirmed => Some(Ok(ack)),
            Stage::Rejected => Some(Err(SubscribeError::Rejected {
                identifier: self.identifier().to_string(),
            })),
            Stage::Unsubscribed => Some(Err(Ending::Left.into())),
            Stage::Asked | Stage::Overdue => Some(Err(self.session().ending()?.into())),
        }
    }

    /// The answer, or the reason why there will be none.
    fn or_ending<T>(&self, answer: Option<T>) -> Option<Result<T, Ending>> {
        answer.map(Ok).or_else(|| self.session().ending().map(Err))
    }
}

async fn answered_within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, Ending>>,
) -> Result<T, InquiryError> {
    let timed_out = |_| InquiryError::TimedOut { after: limit };
    Ok(timeout(limit, answer).await.map_err(timed_out)??)
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Channel").field(&self.identifier()).finish()
    }
}
