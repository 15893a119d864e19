//! The parts of a case, as data: frames to send, allowed answers, and the end of the connection.

use std::{ops::Range, time::Duration};

use super::connection::Cut;
use crate::{
    Verdict,
    protocol::{
        frame::{self, Frame},
        messages::Heard,
    },
};

/// A conversation on an open connection.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// The actions of the tester, in order.
    pub(super) actions: Vec<Action>,
    /// The allowed outcomes, the strictest first. Any other outcome is a failure.
    pub(super) outcomes: Vec<(Verdict, Vec<Event>)>,
    /// The required end of the connection.
    pub(super) ending: Ending,
}

/// An action of the tester.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Sends frames.
    Send(Vec<Frame>, Cut),
    /// Sends these bytes of a frame's payload, the first ones with its head. Its mask has to be a given one.
    SendPart(Frame, Range<usize>),
    /// Waits until that many events of the strictest outcome have come.
    Hear(usize),
    /// Gives the target time to end the connection; when that passes, [`Event::Waited`] has happened.
    AwaitFailure(Duration),
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The target said something.
    Heard(Heard),
    /// The target did not end the connection in the time that it was given.
    Waited,
}

/// The required end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The tester says Close with 1000 when everything has come, and the target answers with that.
    ByTester,
    /// The tester has sent Close; the target answers with one of these codes, where `None` is no code at all.
    Answered(&'static [Option<u16>]),
    /// The target fails the connection (RFC 6455 §7.1.7). If it says why, then with one of these codes.
    Failed(&'static [u16]),
    /// Whatever the target does is worth knowing, and right.
    Any,
}

/// The end after a protocol error.
pub(super) const PROTOCOL_ERROR: Ending = Ending::Failed(&[1002]);

/// The end after invalid data.
pub(super) const INVALID_DATA: Ending = Ending::Failed(&[1007]);

impl Exchange {
    /// Frames in one write, answered by nothing but the closing handshake.
    pub(super) fn new(frames: Vec<Frame>) -> Self {
        Self::of(vec![Action::Send(frames, Cut::Together)])
    }

    /// Actions, answered by nothing but the closing handshake.
    pub(super) fn of(actions: Vec<Action>) -> Self {
        Self {
            actions,
            outcomes: vec![(Verdict::Pass, Vec::new())],
            ending: Ending::ByTester,
        }
    }

    /// The exchange with all sent bytes cut like this.
    pub(super) fn cut(mut self, into: Cut) -> Self {
        for action in &mut self.actions {
            if let Action::Send(_, cut) = action {
                *cut = into;
            }
        }
        self
    }

    /// The exchange with these answers, in this order.
    pub(super) fn hears(self, answers: Vec<Heard>) -> Self {
        let events = answers.into_iter().map(Event::Heard).collect();
        Self {
            outcomes: vec![(Verdict::Pass, events)],
            ..self
        }
    }

    /// The exchange with a further allowed outcome, which is less strict.
    pub(super) fn or_non_strict(mut self, events: Vec<Event>) -> Self {
        self.outcomes.push((Verdict::NonStrict, events));
        self
    }

    /// The exchange with another end.
    pub(super) fn ends(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }

    /// A message that comes back.
    pub(super) fn echo(opcode: u8, payload: Vec<u8>) -> Self {
        let echo = message(opcode, payload.clone());
        Self::new(vec![Frame::new(opcode, payload)]).hears(vec![echo])
    }

    /// Whether a ping with this payload is sent.
    pub(super) fn asks_for(&self, payload: &[u8]) -> bool {
        self.frames()
            .any(|frame| frame.opcode == frame::PING && frame.payload == payload)
    }

    /// Bytes of payload in all that is sent.
    pub(super) fn n_payload_bytes(&self) -> usize {
        self.frames().map(|frame| frame.payload.len()).sum()
    }

    /// All frames that are sent, in order; a frame that is sent in parts is there for each part.
    fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.actions.iter().flat_map(|action| match action {
            Action::Send(frames, _) => frames.as_slice(),
            Action::SendPart(frame, _) => std::slice::from_ref(frame),
            Action::Hear(_) | Action::AwaitFailure(_) => &[],
        })
    }
}

/// The target's echo of a message.
pub(super) fn message(opcode: u8, payload: impl Into<Vec<u8>>) -> Heard {
    match opcode {
        frame::TEXT => Heard::Text(payload.into()),
        _ => Heard::Binary(payload.into()),
    }
}

/// A whole text.
pub(super) fn text(payload: impl Into<Vec<u8>>) -> Frame {
    Frame::new(frame::TEXT, payload)
}

/// A whole binary message.
pub(super) fn binary(payload: impl Into<Vec<u8>>) -> Frame {
    Frame::new(frame::BINARY, payload)
}

/// The beginning of a text.
pub(super) fn text_begins(payload: impl Into<Vec<u8>>) -> Frame {
    text(payload).unfinished()
}

/// The middle of a message.
pub(super) fn goes_on(payload: impl Into<Vec<u8>>) -> Frame {
    Frame::new(frame::CONTINUATION, payload).unfinished()
}

/// The end of a message.
pub(super) fn last(payload: impl Into<Vec<u8>>) -> Frame {
    Frame::new(frame::CONTINUATION, payload)
}

/// A Ping.
pub(super) fn ping(payload: impl Into<Vec<u8>>) -> Frame {
    Frame::new(frame::PING, payload)
}

/// A Pong.
pub(super) fn pong(payload: impl Into<Vec<u8>>) -> Frame {
    Frame::new(frame::PONG, payload)
}

/// A Close with this code and reason.
pub(super) fn close(code: u16, reason: &str) -> Frame {
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend(reason.bytes());
    Frame::new(frame::CLOSE, payload)
}

/// A message in fragments of `n_bytes`; `rsv` is of the first.
pub(super) fn fragments(opcode: u8, rsv: u8, payload: &[u8], n_bytes: usize) -> Vec<Frame> {
    let mut frames: Vec<Frame> = payload.chunks(n_bytes.max(1)).map(goes_on).collect();
    if frames.is_empty() {
        frames.push(goes_on(""));
    }
    if let Some(first) = frames.first_mut() {
        (first.opcode, first.rsv) = (opcode, rsv);
    }
    if let Some(last) = frames.last_mut() {
        last.fin = true;
    }
    frames
}
