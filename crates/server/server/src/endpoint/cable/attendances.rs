//! The attendances of one session. However the session ends, its clients are absent from then on.

use std::{mem, sync::Arc};

use plimsoll_broker::presence::{Absence, Attendance};

use crate::{application::Entries, roll::Roll};

/// Attendances by the identifier of their subscription, at most one for each.
#[derive(Debug)]
pub(super) struct Attendances {
    pub(super) roll: Arc<Roll>,
    by_identifier: Entries<Attendance>,
}

impl Attendances {
    pub(super) fn new(roll: Arc<Roll>) -> Self {
        Self {
            roll,
            by_identifier: Entries::EMPTY,
        }
    }

    pub(super) fn of(&self, identifier: &str) -> Option<&Attendance> {
        self.by_identifier.get(identifier)
    }

    pub(super) fn add(&mut self, identifier: &str, attendance: Attendance) {
        self.by_identifier.insert(identifier.into(), attendance);
    }

    pub(super) fn remove(&mut self, identifier: &str) -> Option<Attendance> {
        self.by_identifier.remove(identifier)
    }

    /// Whether the session is present on this stream under another id.
    pub(super) fn has_other_id(&self, stream: &str, id: &str) -> bool {
        let mut attendances = self.by_identifier.iter();
        attendances.any(|(_, attendance)| attendance.stream() == stream && attendance.id() != id)
    }

    /// All attendances, each with the identifier of its subscription.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Attendance)> {
        self.by_identifier.iter()
    }

    /// The client is away.
    pub(super) fn step_away(&mut self) -> Vec<(Box<str>, Absence)> {
        mem::take(&mut self.by_identifier)
            .into_iter()
            .map(|(identifier, attendance)| (identifier, self.roll.step_away(attendance)))
            .collect()
    }
}

impl Drop for Attendances {
    fn drop(&mut self) {
        self.step_away();
    }
}
