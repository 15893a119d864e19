//! The state of a run that its threads and clients share.

use std::{
    cell::RefCell,
    rc::Rc,
    sync::{Arc, OnceLock, atomic::Ordering::SeqCst},
    time::{Duration, Instant},
};

use plimsoll_cable::subprotocol::Dialect;
use plimsoll_clients::{dial::Traffic, websocket};
use plimsoll_load::{generator::Monitor, metrics::MetricSet};
use tokio::sync::{Semaphore, watch};

use super::{
    account::Findings,
    board::Board,
    measures::{Measures, Singles},
    options::{Protocol, RecoverOptions},
    tally::Tally,
};

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Clients connect.
    Opening,
    /// Messages are published, and clients are cut.
    Publishing,
    /// Everything is published; clients wait for what is missing.
    Draining,
    /// Clients account for what they have.
    Over,
}

/// The common data of all workers of a run.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) options: RecoverOptions,
    /// One set of options per source address; without source addresses a single one.
    pub(crate) routes: Vec<websocket::Options>,
    pub(crate) board: Arc<Board>,
    pub(crate) stage: watch::Sender<Stage>,
    /// When the broadcasts begin; known from [`Stage::Publishing`] on.
    pub(crate) begin: OnceLock<Instant>,
    /// The start of the run, to which its times refer.
    pub(crate) started: Instant,
    pub(crate) monitor: Monitor,
    pub(crate) measures: (Measures, MetricSet),
}

/// The common data of the clients of a worker.
pub(crate) struct Shared {
    pub(crate) setup: Arc<Setup>,
    pub(crate) traffic: Rc<Traffic>,
    /// The clients that may connect at the same time, before the broadcasts begin.
    pub(crate) opening: Semaphore,
    pub(crate) tally: RefCell<Tally>,
    pub(crate) singles: Option<Singles>,
}

impl Setup {
    /// The dialect that a client of this protocol offers.
    pub(crate) fn dialect(&self, protocol: Protocol) -> Dialect {
        Dialect {
            encoding: self.options.encoding,
            is_extended: protocol == Protocol::Extended,
        }
    }
}

impl Shared {
    pub(crate) fn stage(&self) -> Stage {
        *self.setup.stage.borrow()
    }

    /// A client is ready after this time.
    pub(crate) fn connected(&self, is_beside: bool, is_return: bool, took: Duration) {
        self.setup.board.n_connected.fetch_add(1, SeqCst);
        let mut tally = self.tally.borrow_mut();
        if is_beside {
            tally.n_beside_opened += u64::from(!is_return);
            return;
        }
        if is_return {
            tally.reconnect.record(took);
        } else {
            self.setup.board.n_ready.fetch_add(1, SeqCst);
            tally.n_opened += 1;
            tally.connect.record(took);
        }
        if let Some(singles) = &self.singles {
            singles.connected(is_return, took);
        }
    }

    /// Messages have been taken in this round.
    pub(crate) fn add(&self, is_beside: bool, round: usize, findings: Findings, at: Instant) {
        self.tally.borrow_mut().add(is_beside, round, findings, at);
        if findings.recovery.is_some() {
            self.setup.board.n_whole.fetch_add(1, SeqCst);
        }
        if let (Some(singles), Some(recovery)) = (&self.singles, findings.recovery) {
            singles.recovered(recovery);
        }
    }

    /// An attempt to connect has failed.
    pub(crate) fn fail(&self, cause: &str, example: &str) {
        self.tally.borrow_mut().n_failed_attempts += 1;
        self.fault(cause, example);
    }

    /// Something else has failed.
    pub(crate) fn fault(&self, cause: &str, example: &str) {
        let at = self.setup.started.elapsed();
        self.tally.borrow_mut().fail(cause, example, at);
    }
}
