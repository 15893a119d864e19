//! The methods of a subscription for scripts.

use std::time::Duration;

use plimsoll_clients::cable::{InquiryError, session::Patience};
use rquickjs::{Ctx, Function, Object, Result, Value, function::Opt};
use serde_json::value::RawValue;

use super::{
    super::{counting, json::json, round_trip},
    Channel,
};
use crate::{arguments::Text, host::Host, members::class_members, or_null::OrNull};

impl Channel {
    /// The result of an inquiry; `None`, with a line in the log, without an answer.
    fn answered<T>(&self, what: &str, answer: std::result::Result<T, InquiryError>) -> Option<T> {
        let log = |error: InquiryError| {
            let text = format!("{what} of `{}`: {error}", self.channel.identifier());
            self.shared.log.error(&text);
        };
        answer.map_err(log).ok()
    }

    /// The answer of a request for history; false when it was refused, or when there was no answer.
    fn history_answered(&self, answer: std::result::Result<(bool, Duration), InquiryError>) -> bool {
        self.shared.meter.record();
        let Some((is_confirmed, took)) = self.answered("history", answer) else {
            return false;
        };
        self.history_took.set(Some(took));
        is_confirmed
    }
}

class_members![Channel:
    method c"perform" => perform,
    method c"receive" => receive,
    method c"receiveN" => receive_n,
    method c"receiveAll" => receive_all,
    method c"roundTrip" => round_trip,
    method c"ignoreReads" => ignore_reads,
    method c"countOnly" => count_only,
    method c"onMessage" => on_message,
    method c"ackDuration" => ack_duration,
    method c"unsubscribe" => unsubscribe,
    method c"history" => history,
    method c"replayed" => replayed,
    method c"historyDuration" => history_duration,
    method c"whisper" => whisper,
    method c"join" => join,
    method c"leave" => leave,
    method c"presence" => presence,
    method c"onPresence" => on_presence,
    getter c"identifier" => identifier,
    getter c"received" => received,
    getter c"lastReceivedAt" => last_received_at,
    getter c"positions" => positions,
];

impl Channel {
    /// Performs an action, without waiting for anything.
    fn perform<'js>(&self, ctx: Ctx<'js>, Text(action): Text, data: Opt<Value<'js>>) -> Result<()> {
        self.send(&ctx, &action, data.0).map(drop)
    }

    /// The next message that fulfils a condition, or null.
    fn receive<'js>(&self, ctx: Ctx<'js>, condition: Opt<Value<'js>>) -> Result<OrNull<Value<'js>>> {
        let patience = Patience::Idle(self.shared.receive_timeout);
        let found = self.search(&ctx, 1, condition.0, patience)?;
        Ok(OrNull(found.into_iter().next().map(|found| found.value)))
    }

    /// The next `n` messages, or fewer.
    fn receive_n<'js>(&self, ctx: Ctx<'js>, n: f64, condition: Opt<Value<'js>>) -> Result<Vec<Value<'js>>> {
        let patience = Patience::Idle(self.shared.receive_timeout);
        // A negative number counts as 0.
        let found = self.search(&ctx, n as usize, condition.0, patience)?;
        Ok(found.into_iter().map(|found| found.value).collect())
    }

    /// All messages within this number of seconds.
    fn receive_all<'js>(
        &self,
        ctx: Ctx<'js>,
        seconds: f64,
        condition: Opt<Value<'js>>,
    ) -> Result<Vec<Value<'js>>> {
        let window = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        let found = self.search(&ctx, usize::MAX, condition.0, Patience::Window(window))?;
        Ok(found.into_iter().map(|found| found.value).collect())
    }

    /// Performs an action and waits for its answer.
    fn round_trip<'js>(
        &self,
        ctx: Ctx<'js>,
        Text(action): Text,
        data: Opt<Value<'js>>,
        condition: Opt<Value<'js>>,
        trend: Opt<Value<'js>>,
    ) -> Result<OrNull<Value<'js>>> {
        round_trip::run(&ctx, self, &action, data.0, condition.0, trend.0).map(OrNull)
    }

    /// Stops keeping messages for `receive`.
    fn ignore_reads(&self) {
        self.channel.ignore_reads();
    }

    /// Makes the channel only count further messages.
    fn count_only<'js>(&self, ctx: Ctx<'js>, options: Opt<Value<'js>>) -> Result<()> {
        counting::start(&ctx, self, options.0)
    }

    /// Calls `function` for each message from now on.
    fn on_message<'js>(&self, ctx: Ctx<'js>, function: Function<'js>) {
        self.shared.observers.on_message(&ctx, &self.channel, function);
    }

    /// Milliseconds from the question to the answer; null before it.
    fn ack_duration(&self) -> OrNull<f64> {
        OrNull(self.channel.ack_duration().map(milliseconds))
    }

    fn identifier(&self) -> String {
        self.channel.identifier().to_string()
    }

    fn received(&self) -> f64 {
        self.channel.n_messages() as f64
    }

    fn last_received_at(&self) -> OrNull<f64> {
        OrNull(self.channel.last_message_at_ms().map(|ms| ms as f64))
    }

    /// Ends the subscription.
    fn unsubscribe(&self, ctx: Ctx<'_>) -> Result<()> {
        self.sent(&ctx, "unsubscribe", self.channel.unsubscribe())
    }

    /// Asks for earlier messages: true when they have arrived, false when the request was refused.
    fn history<'js>(&self, ctx: Ctx<'js>, options: Opt<Object<'js>>) -> Result<bool> {
        let since = match options.0 {
            Some(options) => options.get::<_, Option<f64>>("since")?,
            None => None,
        };
        let history = self
            .channel
            .history(since.map(|since| since as i64), self.shared.receive_timeout);
        let answer = Host::of(&ctx).wait(&ctx, history)?;
        Ok(self.history_answered(answer))
    }

    /// Waits for the messages that `subscribe` asked for: true when they have arrived, false when the request was
    /// refused, or when there was none.
    fn replayed(&self, ctx: Ctx<'_>) -> Result<bool> {
        let replayed = self.channel.replayed(self.shared.receive_timeout);
        let answer = Host::of(&ctx).wait(&ctx, replayed)?;
        Ok(self.history_answered(answer))
    }

    /// The last position in each stream: `{ stream: { offset, epoch } }`.
    fn positions<'js>(&self, ctx: Ctx<'js>) -> Result<Object<'js>> {
        let positions = Object::new(ctx.clone())?;
        for (stream, known) in self.channel.positions() {
            let position = Object::new(ctx.clone())?;
            position.set("offset", known.offset as f64)?;
            position.set("epoch", &*known.epoch)?;
            positions.set(&*stream, position)?;
        }
        Ok(positions)
    }

    /// Milliseconds that the last history took; null before the first.
    fn history_duration(&self) -> OrNull<f64> {
        OrNull(self.history_took.get().map(milliseconds))
    }

    /// Sends to the other listeners.
    fn whisper<'js>(&self, ctx: Ctx<'js>, data: Value<'js>) -> Result<()> {
        let data = json(&ctx, &data)?;
        self.sent(&ctx, "whisper", self.channel.whisper(&data)).map(drop)
    }

    /// Becomes present.
    fn join<'js>(&self, ctx: Ctx<'js>, Text(id): Text, info: Opt<Value<'js>>) -> Result<()> {
        let info = match info.0.filter(|info| !info.is_undefined()) {
            Some(info) => json(&ctx, &info)?,
            None => RawValue::NULL.to_owned(),
        };
        self.sent(&ctx, "join", self.channel.join(&id, &info))
    }

    /// Leaves the presence set.
    fn leave(&self, ctx: Ctx<'_>) -> Result<()> {
        self.sent(&ctx, "leave", self.channel.leave())
    }

    /// The present clients: `{ type, total, records }`; null without an answer.
    fn presence<'js>(&self, ctx: Ctx<'js>) -> Result<OrNull<Value<'js>>> {
        let presence = self.channel.presence(self.shared.receive_timeout);
        let answer = Host::of(&ctx).wait(&ctx, presence)?;
        self.shared.meter.record();
        let answer = self.answered("presence", answer);
        let answer = answer.map(|json| ctx.json_parse(json.as_bytes()));
        answer.transpose().map(OrNull)
    }

    /// Calls `function` when a user joins or leaves.
    fn on_presence<'js>(&self, ctx: Ctx<'js>, function: Function<'js>) {
        self.shared.observers.on_presence(&ctx, &self.channel, function);
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
