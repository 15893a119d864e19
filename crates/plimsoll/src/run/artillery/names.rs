//! The names of the figures that Artillery's reports show.

use plimsoll_report::artillery::Names;
use plimsoll_scenario::artillery::{NAMES, RATES};

/// The names of everything that a report of Artillery's shows.
pub(super) const ALL_NAMES: Names = Names {
    metrics: NAMES,
    rates: RATES,
};
