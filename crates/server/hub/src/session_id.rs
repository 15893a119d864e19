//! How callers name sessions, and streams their members.

/// Names a session of one hub. A number that was used by an earlier session does not match a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId {
    index: u32,
    serial: u32,
}

impl SessionId {
    pub(crate) fn new(index: usize, serial: u32) -> Self {
        let index = u32::try_from(index).expect("a process cannot hold 2^32 connections");
        Self { index, serial }
    }

    pub(crate) fn index(self) -> usize {
        self.index as usize
    }

    pub(crate) fn serial(self) -> u32 {
        self.serial
    }
}
