//! The hub's record of one session.

use std::rc::Rc;

use smallvec::SmallVec;

use crate::{Budget, Format, Frame, Outbox, PushError, identifiers::IdentifierId, streams::StreamId};

/// A session's place in a stream; [`crate::streams::Member::slot`] points back here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Membership {
    pub(crate) stream: StreamId,
    pub(crate) position: u32,
    pub(crate) identifier: Option<IdentifierId>,
}

pub(crate) struct Session<C> {
    connection: C,
    outbox: Outbox,
    /// Two entries are stored inline, because a typical channel streams from one or two streams.
    pub(crate) memberships: SmallVec<[Membership; 2]>,
    serial: u32,
    format: Format,
    /// The sweep that the session joined last, if it was not visited since.
    sweep: Option<StreamId>,
}

impl<C> Session<C> {
    pub(crate) fn new(connection: C, format: Format, serial: u32, budget: &Rc<Budget>) -> Self {
        Self {
            connection,
            outbox: Outbox::new(budget),
            memberships: SmallVec::new(),
            serial,
            format,
            sweep: None,
        }
    }

    pub(crate) fn serial(&self) -> u32 {
        self.serial
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn push(&mut self, frame: Frame, max_pending_bytes: usize) -> Result<(), PushError> {
        self.outbox.push(frame, max_pending_bytes)
    }

    /// Whether the session must be queued in the sweep of `stream`. Not if it is queued there already, and not if its
    /// connection is full (then it is flushed when there is room again).
    pub(crate) fn joins_sweep(&mut self, stream: StreamId) -> bool {
        if self.outbox.is_blocked() || self.sweep == Some(stream) {
            return false;
        }
        self.sweep = Some(stream);
        true
    }

    /// Records a visit. It flushes the whole outbox, whichever sweep it belonged to.
    pub(crate) fn leaves_sweep(&mut self) {
        self.sweep = None;
    }

    pub(crate) fn parts(&self) -> (&C, &Outbox) {
        (&self.connection, &self.outbox)
    }

    pub(crate) fn parts_mut(&mut self) -> (&C, &mut Outbox) {
        (&self.connection, &mut self.outbox)
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub(crate) fn connection(&self) -> &C {
        &self.connection
    }

    pub(crate) fn into_connection(self) -> C {
        self.connection
    }
}
