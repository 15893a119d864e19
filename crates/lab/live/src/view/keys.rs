//! Keys of the controlling terminal, one at a time and without echo.
//!
//! The terminal stays otherwise as it is: Ctrl-C and Ctrl-Z are signals as always, and what other programs write looks as
//! always. So nothing but two flags has to be given back.

use std::{
    fs::File,
    io::{self, PipeReader, Read},
    os::fd::AsFd,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::getpgrp,
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr},
};

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum NoTerminal {
    /// This process has no terminal of its own, or may not use it.
    #[error("it has no terminal that keys could come from (/dev/tty: {0})")]
    Open(#[from] io::Error),
    /// Somebody else uses it.
    #[error("it runs in the background of its terminal")]
    Background,
}

/// The terminal that keys come from; dropping it gives the terminal back.
#[derive(Debug)]
pub struct Keys {
    terminal: File,
    /// As it was.
    found: Termios,
}

/// What happened while one waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Key(u8),
    Nothing,
    /// One is told not to wait any more.
    Stopped,
    /// The terminal is gone.
    Closed,
}

impl Keys {
    /// Takes keys from now on.
    ///
    /// # Errors
    /// When there is no terminal, or when it is not ours to change: the kernel would stop this process.
    pub fn open() -> Result<Self, NoTerminal> {
        let terminal = File::open("/dev/tty")?;
        if !is_ours(&terminal) {
            return Err(NoTerminal::Background);
        }
        let found = tcgetattr(&terminal).map_err(io::Error::from)?;
        let keys = Self { terminal, found };
        keys.claim()?;
        Ok(keys)
    }

    /// Keys come one at a time and are not shown.
    fn claim(&self) -> io::Result<()> {
        let mut wanted = self.found.clone();
        wanted.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&self.terminal, OptionalActions::Now, &wanted)?;
        Ok(())
    }

    /// Waits for a key, or for the other end of `stopped` to be closed, but no longer than `limit`.
    pub(super) fn wait(&mut self, stopped: &PipeReader, limit: Duration) -> Event {
        // In the background, reading would stop this process. Whoever brings it back gets a terminal as the shell has it.
        let is_ours = is_ours(&self.terminal);
        if is_ours
            && tcgetattr(&self.terminal).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
        {
            // If it cannot be claimed, keys come by the line.
            let _by_the_line = self.claim();
        }
        let mut sources = vec![PollFd::from_borrowed_fd(stopped.as_fd(), PollFlags::IN)];
        if is_ours {
            sources.push(PollFd::from_borrowed_fd(self.terminal.as_fd(), PollFlags::IN));
        }
        let limit = Timespec {
            tv_sec: 0,
            tv_nsec: limit.subsec_nanos().into(),
        };
        match poll(&mut sources, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return Event::Closed,
        }
        let is_ready =
            |source: Option<&PollFd<'_>>| source.is_some_and(|source| !source.revents().is_empty());
        if is_ready(sources.first()) {
            return Event::Stopped;
        }
        if is_ready(sources.get(1)) {
            self.read()
        } else {
            Event::Nothing
        }
    }

    fn read(&self) -> Event {
        let mut bytes = [0; 64];
        match (&self.terminal).read(&mut bytes) {
            Ok(0) => Event::Closed,
            Ok(n) => key(&bytes[..n]).map_or(Event::Nothing, Event::Key),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Event::Nothing,
            Err(_) => Event::Closed,
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if is_ours(&self.terminal) {
            // It may be gone.
            let _gone = tcsetattr(&self.terminal, OptionalActions::Now, &self.found);
        }
    }
}

/// Whether this process is in the foreground.
fn is_ours(terminal: &File) -> bool {
    tcgetpgrp(terminal).is_ok_and(|foreground| foreground == getpgrp())
}

/// The last key of what came; arrows and the like, which begin with ESC, are none.
fn key(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [0x1b, ..] => None,
        bytes => bytes.last().copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_letters() {
        for (bytes, expected) in [
            (&b"q"[..], Some(b'q')),
            (b"?q", Some(b'q')),
            (b"\x1b[A", None),
            (b"\x1bOq", None),
            (b"", None),
        ] {
            assert_eq!(key(bytes), expected, "{bytes:?}");
        }
    }
}
