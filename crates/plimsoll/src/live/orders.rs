//! The orders that a person gives during a run, with keys or buttons.

use plimsoll_live::{Mood, Orders};
use plimsoll_load::run::Control;
use plimsoll_report::summary::Kind;

use crate::signals::Signals;

/// Orders that a person gives with keys or buttons.
pub(super) struct RunOrders {
    pub(super) control: Control,
    pub(super) signals: Signals,
    pub(super) kind: Kind,
}

impl Orders for RunOrders {
    fn end(&self) {
        self.signals.end_by_hand();
    }

    fn pause_or_resume(&self) -> Result<(), String> {
        if self.kind == Kind::Bench {
            return Err("a bench cannot be paused; end it with Stop, or with q".to_owned());
        }
        if self.control.state().is_paused {
            self.control.resume();
            return Ok(());
        }
        self.control.pause().map_err(|error| error.to_string())
    }

    fn mood(&self) -> Mood {
        Mood {
            is_paused: self.control.state().is_paused,
            is_ending: self.signals.count() > 0,
        }
    }
}

/// Orders to a search, which chooses its loads itself.
pub(super) struct SearchOrders {
    pub(super) signals: Signals,
}

impl Orders for SearchOrders {
    fn end(&self) {
        self.signals.end_by_hand();
    }

    fn pause_or_resume(&self) -> Result<(), String> {
        Err("a search cannot be paused; end it with Stop".to_owned())
    }

    fn mood(&self) -> Mood {
        Mood {
            is_paused: false,
            is_ending: self.signals.count() > 0,
        }
    }
}
