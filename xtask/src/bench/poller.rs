//! epoll as the limit loops and the paced clients use it: level-triggered, reading only, sockets known by their index.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
};

/// Events fetched per system call; mio's default.
const EVENTS_PER_WAIT: usize = 1024;

/// Nothing in these loops takes longer; a wait that does has lost a message, and ends with an error.
const PATIENCE: Duration = Duration::from_secs(30);

/// A set of sockets that are waited for together.
pub(super) struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Poller {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(EVENTS_PER_WAIT),
        })
    }

    /// Reports `index` from now on whenever `socket` can be read.
    pub(super) fn add(&self, socket: impl AsFd, index: usize) -> io::Result<()> {
        Ok(epoll::add(
            &self.epoll,
            socket,
            EventData::new_u64(index as u64),
            EventFlags::IN,
        )?)
    }

    /// Waits, and returns the indices of the sockets that can be read.
    pub(super) fn wait(&mut self) -> io::Result<impl Iterator<Item = usize>> {
        self.events.clear();
        let timeout = Timespec::try_from(PATIENCE).expect("half a minute fits");
        epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout))?;
        if self.events.is_empty() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(self.events.iter().map(|event| event.data.u64() as usize))
    }
}
