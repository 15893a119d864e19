//! The record of a worker while its clients send and listen. Pure: no I/O, and the time is an argument.

use std::{collections::hash_map::Entry, sync::Arc, time::Instant};

use plimsoll_clients::cause::Cause;
use plimsoll_load::histogram::Histogram;
use plimsoll_websocket::Event as Frame;
use rustc_hash::FxHashMap;

use super::{Event, Report, SendOrder};
use crate::{
    ledger::{BitSet, Ledger, SendTable},
    server_type::ServerType,
    wire::{Command, Inbound, Kind, Reader, Wire},
};

/// The books of one worker.
#[derive(Debug)]
pub(super) struct Book {
    server_type: ServerType,
    reader: Reader,
    ledger: Ledger,
    /// The table of the current step's sends; `None` before the first step and for echoes.
    table: Option<Arc<SendTable>>,
    /// The messages whose answers are awaited: those in flight, and those that the coordinator gave up.
    in_flight: FxHashMap<u64, InFlight>,
    /// Whether the plain echo server of each slot has sent its welcome.
    greeted: Vec<bool>,
    n_stray_answers: u64,
    n_altered: u64,
}

/// A message that awaits its answer.
#[derive(Debug)]
struct InFlight {
    slot: usize,
    sent_at: Instant,
    /// The message that must come back unchanged; only for plain echo servers.
    message: Option<Box<[u8]>>,
}

/// The result of a received frame.
#[derive(Debug)]
pub(super) enum Note {
    /// The frame is recorded.
    Nothing,
    /// The coordinator must know.
    Tell(Event),
    /// The server has said why it is about to close the connection.
    Farewell(Cause),
}

impl Book {
    pub(super) fn new(wire: Arc<Wire>) -> Self {
        Self {
            server_type: wire.server_type(),
            reader: Reader::new(wire),
            ledger: Ledger::default(),
            table: None,
            in_flight: FxHashMap::default(),
            greeted: Vec::new(),
            n_stray_answers: 0,
            n_altered: 0,
        }
    }

    /// Begins a step. Its listeners are the `connected` slots.
    pub(super) fn open_step(
        &mut self,
        table: Arc<SendTable>,
        connected: impl ExactSizeIterator<Item = bool>,
    ) {
        let mut members = BitSet::with_slots(connected.len());
        for (slot, _) in connected.enumerate().filter(|(_, is_connected)| *is_connected) {
            members.insert(slot);
        }
        self.ledger.open_step(Arc::clone(&table), members);
        self.table = Some(table);
    }

    /// A message goes out now.
    pub(super) fn send(&mut self, order: &SendOrder, now: Instant, message: &[u8]) {
        if let (Command::Broadcast, Some(table)) = (order.command, &self.table) {
            table.mark_sent(order.id, order.floor, now);
        }
        let message = (self.server_type == ServerType::Echo).then(|| message.into());
        self.in_flight.insert(
            order.id,
            InFlight {
                slot: order.slot,
                sent_at: now,
                message,
            },
        );
    }

    /// A frame has come in at the client in `slot`.
    pub(super) fn note(&mut self, slot: usize, at: Instant, frame: &Frame<'_>) -> Note {
        let (inbound, bytes) = match frame {
            Frame::Text(text) => (self.reader.text(text), text.as_bytes()),
            Frame::Binary(bytes) => (self.reader.binary(bytes), *bytes),
            Frame::Ping(_) | Frame::Pong(_) | Frame::Close(_) => return Note::Nothing,
        };
        match inbound {
            Inbound::Ours(Kind::Broadcast, id) => self
                .ledger
                .deliver(slot, id, at)
                .map_or(Note::Nothing, |it| Note::Tell(Event::Completed(it))),
            Inbound::Ours(Kind::Echo | Kind::BroadcastResult, id) => self.answer(slot, id, at, bytes),
            Inbound::Goodbye(reason) => Note::Farewell(Cause::of_disconnect(&reason)),
            Inbound::Foreign => {
                if !self.is_greeting(slot) {
                    self.ledger.count_foreign();
                }
                Note::Nothing
            }
            Inbound::Chatter => Note::Nothing,
        }
    }

    /// The connection of the client in `slot` has ended. Returns what the coordinator must know.
    pub(super) fn drop_client(&mut self, slot: usize) -> Vec<Event> {
        let unanswerable = self.in_flight.extract_if(|_, it| it.slot == slot);
        let mut events: Vec<_> = unanswerable.map(|(id, _)| Event::Unanswerable { id }).collect();
        events.extend(self.ledger.drop_listener(slot).into_iter().map(Event::Completed));
        events
    }

    /// The latencies of deliveries since the last call, by the number of their step.
    pub(super) fn collect(&mut self) -> impl Iterator<Item = (usize, Histogram)> {
        self.ledger.collect()
    }

    /// The account as it stands.
    pub(super) fn report(&mut self, step_idx: usize) -> Report {
        Report {
            tally: self.ledger.tally(step_idx).unwrap_or_default(),
            n_foreign: self.ledger.n_foreign(),
            n_stray_answers: self.n_stray_answers,
            n_altered: self.n_altered,
        }
    }

    fn answer(&mut self, slot: usize, id: u64, at: Instant, bytes: &[u8]) -> Note {
        let Entry::Occupied(sent) = self.in_flight.entry(id) else {
            return self.stray();
        };
        if sent.get().slot != slot {
            return self.stray();
        }
        let sent = sent.remove();
        if sent.message.is_some_and(|message| *message != *bytes) {
            self.n_altered += 1;
            return Note::Tell(Event::Unanswerable { id });
        }
        Note::Tell(Event::Answered {
            id,
            latency: at.saturating_duration_since(sent.sent_at),
        })
    }

    fn stray(&mut self) -> Note {
        self.n_stray_answers += 1;
        Note::Nothing
    }

    /// Plain echo servers may say one thing of their own to each client, such as "Welcome to simple echo server".
    fn is_greeting(&mut self, slot: usize) -> bool {
        if self.server_type != ServerType::Echo {
            return false;
        }
        if slot >= self.greeted.len() {
            self.greeted.resize(slot + 1, false);
        }
        !std::mem::replace(&mut self.greeted[slot], true)
    }
}

#[cfg(test)]
mod tests;
