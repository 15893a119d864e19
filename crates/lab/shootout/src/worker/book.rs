//! The record of a worker while its clients send and listen. Pure: no I/O, and the time is an argument.

use std::{
    collections::hash_map::Entry,
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_cable::reply::Reply;
use plimsoll_clients::cause::Cause;
use plimsoll_load::histogram::Histogram;
use plimsoll_websocket::Event as Frame;
use rustc_hash::FxHashMap;

use super::{Event, Report, SendOrder, held::Held};
use crate::{
    ledger::{BitSet, Completion, Harvest, Ledger, Nodes, SendTable, Standing},
    server_type::ServerType,
    wire::{Command, Inbound, Kind, Reader, Wire},
};

/// The books of one worker.
#[derive(Debug)]
pub(super) struct Book {
    server_type: ServerType,
    reader: Reader,
    ledger: Ledger,
    /// What cannot be judged yet; `None` if all senders are in this process.
    held: Option<Held>,
    /// The table of the current step's sends; `None` before the first step and for echoes.
    table: Option<Arc<SendTable>>,
    /// The messages whose answers are awaited: those in flight, and those that the coordinator gave up.
    in_flight: FxHashMap<u64, InFlight>,
    /// Whether the plain echo server of each slot has sent its welcome.
    greeted: Vec<bool>,
    /// How late scheduled messages of the current step were sent.
    lateness: Histogram,
    n_stray_answers: u64,
    n_altered: u64,
    /// Whether the coordinator knows that the server speaks Action Cable, which its type does not.
    is_cable_known: bool,
}

/// A message that awaits its answer.
#[derive(Debug)]
struct InFlight {
    slot: usize,
    /// The scheduled time of a message that has one.
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
    pub(super) fn new(wire: Arc<Wire>, nodes: Nodes, is_remote: bool) -> Self {
        Self {
            server_type: wire.server_type(),
            reader: Reader::new(wire),
            ledger: Ledger::new(nodes),
            held: is_remote.then(Held::default),
            table: None,
            in_flight: FxHashMap::default(),
            greeted: Vec::new(),
            lateness: Histogram::small(),
            n_stray_answers: 0,
            n_altered: 0,
            is_cable_known: false,
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
        self.lateness = Histogram::small();
    }

    /// A message goes out now. Its times count from `now`, or from its scheduled time. Returns that time.
    pub(super) fn send(&mut self, order: &SendOrder, now: Instant, message: &[u8]) -> Instant {
        let sent_at = order.due.unwrap_or(now);
        if order.due.is_some() {
            self.lateness.record(now.saturating_duration_since(sent_at));
        }
        if let (Command::Broadcast, Some(table)) = (order.command, &self.table) {
            table.mark_sent(order.id, order.floor, sent_at);
        }
        let message = (self.server_type == ServerType::Echo).then(|| message.into());
        self.in_flight.insert(
            order.id,
            InFlight {
                slot: order.slot,
                sent_at,
                message,
            },
        );
        sent_at
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
                .deliver(slot, id, at)
                .map_or(Note::Nothing, |it| Note::Tell(Event::Completed(it))),
            Inbound::Ours(Kind::Echo | Kind::BroadcastResult, id) => self.answer(slot, id, at, bytes),
            Inbound::Goodbye(reason) => Note::Farewell(Cause::of_disconnect(&reason)),
            Inbound::Foreign => {
                if !self.is_cable_known && self.is_cable_welcome(frame) {
                    self.is_cable_known = true;
                    return Note::Tell(Event::SpeaksCable);
                }
                if !self.is_greeting(slot) {
                    self.ledger.count_foreign();
                }
                Note::Nothing
            }
            Inbound::Chatter => Note::Nothing,
        }
    }

    fn deliver(&mut self, slot: usize, id: u64, at: Instant) -> Option<Completion> {
        match &mut self.held {
            None => self.ledger.deliver(slot, id, at),
            Some(held) => held.arrive(slot, id, at, &mut self.ledger),
        }
    }

    /// Enters what was held and can be judged: deliveries of known broadcasts, and all that happened before `until`.
    pub(super) fn settle(&mut self, until: Option<Instant>) -> Vec<Completion> {
        let held = self.held.as_mut();
        held.map_or_else(Vec::new, |held| held.settle(until, &mut self.ledger))
    }

    /// The connection of the client in `slot` has ended at this time. Returns what the coordinator must know.
    pub(super) fn drop_client(&mut self, slot: usize, at: Instant) -> Vec<Event> {
        let unanswerable = self.in_flight.extract_if(|_, it| it.slot == slot);
        let mut events: Vec<_> = unanswerable.map(|(id, _)| Event::Unanswerable { id }).collect();
        match &mut self.held {
            None => events.extend(
                self.ledger
                    .drop_listener(slot, at)
                    .into_iter()
                    .map(Event::Completed),
            ),
            Some(held) => held.drop_client(slot, at),
        }
        events
    }

    /// The deliveries since the last call, by the number of their step.
    pub(super) fn collect(&mut self) -> impl Iterator<Item = (usize, Harvest)> {
        self.ledger.collect()
    }

    /// The deliveries of the step numbered `step_idx`, of its broadcasts with ids below `end_id`.
    pub(super) fn standing(&mut self, step_idx: usize, end_id: u64) -> Standing {
        self.ledger.standing(step_idx, end_id)
    }

    /// The run waits no longer for deliveries of a step. Returns the broadcasts that were not complete.
    pub(super) fn close_step(&mut self, step_idx: usize, at: Instant, at_least: Duration) -> Vec<Completion> {
        self.ledger.close_step(step_idx, at, at_least)
    }

    /// The account as it stands.
    pub(super) fn report(&mut self, step_idx: usize) -> Report {
        Report {
            tally: self.ledger.tally(step_idx).unwrap_or_default(),
            lateness: self.lateness.clone(),
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

    /// Whether the frame is Action Cable's welcome, and the server was expected to speak another language.
    fn is_cable_welcome(&self, frame: &Frame<'_>) -> bool {
        let is_welcome = |text: &str| matches!(Reply::parse(text), Ok(Reply::Welcome { .. }));
        !self.server_type.is_cable() && matches!(frame, Frame::Text(text) if is_welcome(text))
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
