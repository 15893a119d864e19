//! Performs an exchange on an open connection and judges the target's behaviour.

use std::time::Duration;

use tokio::time::timeout;

use super::{
    connection::{Connection, Cut, End, Side},
    exchange::{Action, Ending, Event, Exchange, close, ping, pong},
};
use crate::{
    Judgement, Verdict,
    protocol::{
        frame::{self, Frame},
        messages::Heard,
    },
};

mod fitting;
mod wording;

pub(super) use wording::limit;

/// The time limit of an answer of the target.
const PATIENCE: Duration = Duration::from_secs(8);

/// The additional time for every MiB that was sent. Reason: builds without optimisation, and busy machines.
const PATIENCE_PER_MIB: Duration = Duration::from_secs(4);

/// After this much silence a target that has to end the connection is asked whether it still listens: the answer, if one
/// comes, proves that it does, without a longer wait.
const PROBE_AFTER: Duration = Duration::from_secs(1);

/// The payload of the ping that proves whether a target is still alive.
const PROBE: &[u8] = b"are you there?";

/// The time in which a server must end TCP after both ends have sent Close.
const LINGER: Duration = Duration::from_secs(3);

/// The events of a connection.
#[derive(Debug, Default)]
struct Course {
    events: Vec<Event>,
    /// The target's Close: with code and reason, or without.
    close: Option<Option<(u16, String)>>,
    /// The end of the stream of bytes; `None` before it.
    end: Option<End>,
    /// The target said something after its Close.
    spoke_after_close: Option<Heard>,
    /// The target answered a ping after it should have failed the connection.
    answered_probe: bool,
    /// The target left TCP open after both ends had sent Close.
    lingers: bool,
    /// The target was silent for the whole time limit.
    was_silent: bool,
    /// The tester has sent a Close.
    has_said_close: bool,
    /// The payload of a pong that no ping asked for, which targets may send (RFC 6455 §5.5.3).
    unsolicited: Option<Vec<u8>>,
}

/// An exchange in progress.
struct Conduct<'c, 'w> {
    connection: &'c mut Connection<'w>,
    exchange: &'c Exchange,
    patience: Duration,
    course: Course,
}

/// Goes through an exchange to the end of the connection.
pub(super) async fn conduct(exchange: &Exchange, connection: &mut Connection<'_>) -> Judgement {
    let n_mib = exchange.n_payload_bytes() >> 20;
    let patience = PATIENCE + PATIENCE_PER_MIB * u32::try_from(n_mib).unwrap_or(u32::MAX);
    let mut conduct = Conduct {
        connection,
        exchange,
        patience,
        course: Course::default(),
    };
    for action in &exchange.actions {
        conduct.act(action).await;
    }
    conduct.finish().await;
    let side = conduct.connection.side();
    conduct.course.judge(exchange, side)
}

/// Sends Close and judges the target's reaction. This ends conversations that are not exchanges.
pub(super) async fn close_in_order(connection: &mut Connection<'_>) -> (Verdict, String) {
    let exchange = Exchange::of(Vec::new());
    let judgement = conduct(&exchange, connection).await;
    let worst = judgement
        .closing
        .map_or(judgement.verdict, |closing| closing.max(judgement.verdict));
    (worst, judgement.explanation)
}

impl Conduct<'_, '_> {
    async fn act(&mut self, action: &Action) {
        match action {
            Action::Send(..) | Action::SendPart(..) if self.is_over() => {}
            Action::Send(frames, cut) => self.send(frames, *cut).await,
            Action::SendPart(frame, part) => self.connection.send_part(frame, part.clone()).await,
            Action::Hear(n_events) => {
                while !self.has_come(*n_events) && self.goes_as_expected() {
                    // After a pong with other data, the right one is hardly to come.
                    let patience = match self.course.unsolicited {
                        Some(_) => PROBE_AFTER,
                        None => self.patience,
                    };
                    if !self.step(patience).await {
                        self.course.was_silent = true;
                        return;
                    }
                }
            }
            Action::AwaitFailure(patience) => {
                while !self.is_over() {
                    if !self.step(*patience).await {
                        self.connection
                            .wire
                            .note(format_args!("{patience:?} have passed"));
                        return self.course.events.push(Event::Waited);
                    }
                }
            }
        }
    }

    async fn send(&mut self, frames: &[Frame], cut: Cut) {
        self.course.has_said_close |= frames.iter().any(|frame| frame.opcode == frame::CLOSE);
        // A great many look the same in the log.
        if frames.len() > 300 {
            let first = &frames[0];
            self.connection.wire.sent(format_args!(
                "{} frames, the first of them: {first}",
                frames.len()
            ));
            self.connection.send_silently(frames, cut).await;
        } else {
            self.connection.send(frames, cut).await;
        }
    }

    /// Waits for one thing to happen; false when nothing does.
    async fn step(&mut self, patience: Duration) -> bool {
        let Ok(next) = timeout(patience, self.connection.next()).await else {
            return false;
        };
        match next {
            Err(end) => self.course.end = Some(end),
            // Only data is forbidden behind a Close (RFC 6455 §5.5.1).
            Ok(heard @ (Heard::Text(_) | Heard::Binary(_))) if self.course.close.is_some() => {
                self.course.spoke_after_close = Some(heard);
            }
            Ok(_) if self.course.close.is_some() => {}
            Ok(Heard::Close(close)) => self.course.close = Some(close),
            // Servers may look after their connections.
            Ok(Heard::Ping(payload)) if !self.course.has_said_close => {
                self.connection.send(&[pong(payload)], Cut::Together).await;
            }
            Ok(Heard::Ping(_)) => {}
            Ok(Heard::Pong(payload)) if payload == PROBE => self.course.answered_probe = true,
            Ok(Heard::Pong(payload)) if !self.exchange.asks_for(&payload) => {
                self.course.unsolicited = Some(payload);
            }
            Ok(heard) => self.course.events.push(Event::Heard(heard)),
        }
        true
    }

    /// Whether the connection ends, by the target's will.
    fn is_over(&self) -> bool {
        self.course.end.is_some() || self.course.close.is_some() || self.course.answered_probe
    }

    /// Whether it is worth waiting for more of the strictest outcome.
    fn goes_as_expected(&self) -> bool {
        !self.is_over() && fitting::may_become(self.strictest(), &self.course.events)
    }

    /// Whether the first `n_events` events of the strictest outcome have come, as far as they have to.
    fn has_come(&self, n_events: usize) -> bool {
        let expected = self.strictest();
        let first = &expected[..n_events.min(expected.len())];
        fitting::is_there(first, &self.course.events)
    }

    fn strictest(&self) -> &[Event] {
        self.exchange.outcomes.first().map_or(&[], |(_, events)| events)
    }

    async fn finish(&mut self) {
        match self.exchange.ending {
            Ending::ByTester => {
                let n_events = self.strictest().len();
                self.act(&Action::Hear(n_events)).await;
                if !self.is_over() {
                    self.send(&[close(1000, "")], Cut::Together).await;
                }
                self.await_end().await;
            }
            Ending::Answered(_) | Ending::Any => self.await_end().await,
            Ending::Failed(_) => self.await_failure().await,
        }
        self.close_behind().await;
    }

    /// Waits until the target says Close or ends the connection.
    async fn await_end(&mut self) {
        while !self.is_over() {
            if !self.step(self.patience).await {
                self.course.was_silent = true;
                return;
            }
        }
    }

    /// Waits for a failure of the connection, and sends a ping when nothing happens.
    async fn await_failure(&mut self) {
        let mut patience = PROBE_AFTER + self.patience - PATIENCE;
        let mut is_asked = false;
        while !self.is_over() {
            if self.step(patience).await {
                continue;
            }
            if is_asked {
                self.course.was_silent = true;
                return;
            }
            self.send(&[ping(PROBE)], Cut::Together).await;
            (patience, is_asked) = (self.patience, true);
        }
    }

    /// Answers the target's Close and sees the connection off.
    async fn close_behind(&mut self) {
        if let (Some(said), None) = (&self.course.close, &self.course.end) {
            if !self.course.has_said_close {
                let answer = match said {
                    Some((code, _)) => close(*code, ""),
                    None => Frame::new(frame::CLOSE, ""),
                };
                self.send(&[answer], Cut::Together).await;
            }
            // The server ends TCP first (RFC 6455 §7.1.1).
            if self.connection.side() == Side::Client {
                while self.course.end.is_none() && self.course.spoke_after_close.is_none() {
                    if !self.step(LINGER).await {
                        self.course.lingers = true;
                        break;
                    }
                }
            }
        }
        self.connection.finish().await;
    }
}
