//! Progress for people: a line that is redrawn on a terminal, and a line every ten seconds without one.

use std::{
    sync::atomic::Ordering::SeqCst,
    time::{Duration, Instant},
};

use super::{board::Board, publisher::Published, shared::Stage};
use crate::talk::Talk;

/// The interval between redraws. Reason: more than people can follow cost the generator CPU.
const REDRAW: Duration = Duration::from_millis(500);

/// The interval between lines without a terminal.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// Tells how far a run is.
pub(crate) struct Progress<'a> {
    talk: Talk<'a>,
    is_quiet: bool,
    n_clients: usize,
    shown_at: Option<Instant>,
    stage: Option<Stage>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(talk: Talk<'a>, is_quiet: bool, n_clients: usize) -> Self {
        Self {
            talk,
            is_quiet,
            n_clients,
            shown_at: None,
            stage: None,
        }
    }

    /// Shows the current state. Callers call this often.
    pub(crate) fn show(&mut self, stage: Stage, board: &Board, published: &Published) {
        if self.is_quiet {
            return;
        }
        let now = Instant::now();
        let is_new = self.stage.replace(stage) != Some(stage);
        let interval = if self.talk.is_terminal() {
            REDRAW
        } else {
            SAY_EVERY
        };
        let is_due = self.shown_at.is_none_or(|at| now >= at + interval);
        if !is_new && !is_due {
            return;
        }
        self.shown_at = Some(now);
        let line = self.line(stage, board, published);
        if !self.talk.draw(&line) {
            self.talk.say(&line);
        }
    }

    /// The run is over.
    pub(crate) fn finish(&mut self) {
        self.talk.clear();
    }

    /// Prints a remark, also in quiet mode.
    pub(crate) fn note(&mut self, text: &str) {
        self.talk.say(text);
    }

    fn line(&self, stage: Stage, board: &Board, published: &Published) -> String {
        let n_clients = self.n_clients;
        let n_connected = board.n_connected.load(SeqCst);
        let n_arrived = board.n_arrived.load(SeqCst);
        match stage {
            Stage::Opening => format!("connecting: {n_connected} of {n_clients} clients"),
            Stage::Publishing => format!(
                "{} broadcasts, {n_arrived} messages received, {n_connected} of {n_clients} clients connected",
                published.n_sent
            ),
            Stage::Draining => format!(
                "waiting for missing messages: {} of {n_clients} clients have all, {n_arrived} messages received",
                board.n_complete.load(SeqCst)
            ),
            Stage::Over => "closing the connections".to_owned(),
        }
    }
}
