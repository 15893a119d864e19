//! Session ids: callers use them for sessions, streams for their members.

/// The id of a session of one hub. The id of an earlier session with the same number does not match.
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
