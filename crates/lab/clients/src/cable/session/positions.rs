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
        if let Some(known) = self.0.get_mut(position.stream.as_ref()) {
            *known = heard;
        } else if self.0.len() < MAX_STREAMS {
            self.0.insert(position.stream.as_ref().into(), heard);
        }
    }

    pub(super) fn streams(&self) -> &BTreeMap<Box<str>, StreamPosition> {
        &self.0
    }
}

impl Resumption {
    /// The earlier session's id, for the upgrade request: header `X-ANYCABLE-RESTORE-SID`.
    pub fn sid(&self) -> &str {
        &self.sid
    }

    pub(super) fn with_live(self, live: Vec<String>) -> Self {
        Self { live, ..self }
    }

    /// The restored subscription of `identifier`, once.
    pub(super) fn take(&mut self, identifier: &str) -> Option<ChannelState> {
        let at = self.live.iter().position(|live| live == identifier)?;
        self.live.swap_remove(at);
        let known = self
            .positions
            .iter()
            .position(|(known, _)| **known == *identifier);
        let positions = known.map(|at| self.positions.swap_remove(at).1);
        let state = ChannelState::new(identifier);
        state.restore(Instant::now(), positions.unwrap_or_default());
        Some(state)
    }
}
