//! The origin of a run, as its summary names it.

use plimsoll_load::machine::Machine;
use plimsoll_report::summary::{Kind, Origin};

use crate::arguments;

/// A run of this program, on this machine.
pub(crate) fn origin<'a>(kind: Kind, name: &'a str, machine: &'a Machine) -> Origin<'a> {
    Origin {
        plimsoll: env!("CARGO_PKG_VERSION"),
        command: arguments::typed(),
        name,
        kind,
        salt: fastrand::u32(..),
        machine,
    }
}
