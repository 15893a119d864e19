//! The positions of a session in the streams of its channels, and the part of them that a later session needs.

use std::{collections::BTreeMap, time::Instant};

use plimsoll_cable::{command::StreamPosition, reply::Position};

use super::state::ChannelState;

/// The most streams per channel. A channel has one to three streams, and a server that names ever new ones must not
/// fill the memory.
const MAX_STREAMS: usize = 64;

/// The last position of each stream of a channel. Streams beyond the 64th are not remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Positions(BTreeMap<Box<str>, StreamPosition>);

/// The positions of a channel, and those that a gap separates from them.
///
/// A resumed session is live before its client has asked for the messages that it missed. The positions of such live
/// messages must not replace the known ones: a request from there would skip the missed messages. So they count only
/// when the request for history is answered.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    known: Positions,
    /// The positions behind the gap; `None` without a gap.
    ahead: Option<Positions>,
}

/// The data that one session leaves to a later one: its id, and the positions of each subscription.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resumption {
    pub(super) sid: Box<str>,
    pub(super) positions: Vec<(Box<str>, Positions)>,
    /// Subscriptions that the server has restored and the script has not asked for yet.
    pub(super) live: Vec<String>,
}

impl Positions {
    pub(super) fn note(&mut self, position: &Position<'_>) {
        let heard = StreamPosition {
            offset: position.offset,
            epoch: position.epoch.as_ref().into(),
        };
        self.advance(position.stream.as_ref(), heard);
    }

    /// Never back within an epoch: a replayed message behind a live one does not make the live one unknown.
    fn advance(&mut self, stream: &str, heard: StreamPosition) {
        if let Some(known) = self.0.get_mut(stream) {
            if known.epoch != heard.epoch || known.offset < heard.offset {
                *known = heard;
            }
        } else if self.0.len() < MAX_STREAMS {
            self.0.insert(stream.into(), heard);
        }
    }

    pub(super) fn streams(&self) -> &BTreeMap<Box<str>, StreamPosition> {
        &self.0
    }
}

impl Progress {
    /// The progress of a client that comes back with these positions.
    pub(super) fn behind(known: Positions) -> Self {
        Self {
            known,
            ahead: Some(Positions::default()),
        }
    }

    pub(super) fn note(&mut self, position: &Position<'_>) {
        self.ahead.as_mut().unwrap_or(&mut self.known).note(position);
    }

    /// The positions to ask from, and to leave to a later session.
    pub(super) fn known(&self) -> &Positions {
        &self.known
    }

    /// Earlier messages have been asked for: everything until the answer may be a part of it.
    pub(super) fn ask(&mut self) {
        self.ahead.get_or_insert_default();
    }

    /// The request for history is answered. After a refusal, too, there is nothing to wait for.
    pub(super) fn settle(&mut self) {
        for (stream, heard) in self.ahead.take().unwrap_or_default().0 {
            self.known.advance(&stream, heard);
        }
    }
}

impl Resumption {
    /// The earlier session's id, for the upgrade request: header `X-ANYCABLE-RESTORE-SID`.
    pub fn sid(&self) -> &str {
        &self.sid
    }

    /// The data of a later session with this id and these positions. Positions of subscriptions that it has not taken over
    /// stay.
    pub(super) fn followed_by(&self, sid: Box<str>, mut positions: Vec<(Box<str>, Positions)>) -> Self {
        for (identifier, earlier) in &self.positions {
            if !positions.iter().any(|(known, _)| known == identifier) {
                positions.push((identifier.clone(), earlier.clone()));
            }
        }
        Self {
            sid,
            positions,
            live: Vec::new(),
        }
    }

    /// With the subscriptions that the server has restored.
    pub(super) fn with_live(self, live: Vec<String>) -> Self {
        Self { live, ..self }
    }

    /// The known positions of `identifier`.
    pub(super) fn positions_of(&self, identifier: &str) -> Positions {
        let mut known = self.positions.iter();
        let known = known.find(|(known, _)| **known == *identifier);
        known.map(|(_, positions)| positions.clone()).unwrap_or_default()
    }

    /// The restored subscription of `identifier`, once.
    pub(super) fn take(&mut self, identifier: &str) -> Option<ChannelState> {
        let at = self.live.iter().position(|live| live == identifier)?;
        self.live.swap_remove(at);
        let state = ChannelState::new(identifier);
        state.restore(Instant::now(), self.positions_of(identifier));
        Some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(epoch: &'static str, offset: u64) -> Position<'static> {
        Position {
            stream: "s".into(),
            epoch: epoch.into(),
            offset,
        }
    }

    #[test]
    fn positions_never_go_back_and_wait_for_the_answer_behind_a_gap() {
        let known = |progress: &Progress| {
            let of_stream = progress.known().streams().get("s");
            of_stream.map(|at| (at.epoch.to_string(), at.offset))
        };
        let at = |epoch: &str, offset| Some((epoch.to_owned(), offset));
        let mut progress = Progress::default();
        progress.note(&position("e", 9));
        progress.note(&position("e", 8));
        assert_eq!(known(&progress), at("e", 9));
        progress.note(&position("f", 1));
        assert_eq!(known(&progress), at("f", 1));

        let mut back = Progress::behind(progress.known().clone());
        back.note(&position("f", 5));
        back.ask();
        back.note(&position("f", 2));
        assert_eq!(known(&back), at("f", 1));
        back.settle();
        assert_eq!(known(&back), at("f", 5));
        back.note(&position("f", 6));
        assert_eq!(known(&back), at("f", 6));
    }
}
