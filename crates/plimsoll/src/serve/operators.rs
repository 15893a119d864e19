//! What the page of operators shows and does outside of the server's own state: settings, log and stop.

use std::sync::Arc;

use plimsoll_server::{Operations, Setting, Warning};

use super::stopping::OperatorsStop;
use crate::logging::LogControl;

/// The process as operators see it.
pub(super) struct Process {
    pub(super) settings: Vec<Setting>,
    pub(super) log: LogControl,
    pub(super) stop: Arc<OperatorsStop>,
}

impl Operations for Process {
    fn settings(&self) -> &[Setting] {
        &self.settings
    }

    fn warnings(&self) -> Vec<Warning> {
        self.log.recent_warnings()
    }

    fn log_level(&self) -> &'static str {
        self.log.level()
    }

    fn set_log_level(&self, level: &'static str) {
        self.log.set_level(level);
    }

    fn drain(&self) -> bool {
        self.stop.order()
    }
}
