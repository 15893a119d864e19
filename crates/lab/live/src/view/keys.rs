//! Keys of the controlling terminal, one at a time and without echo.
//!
//! The terminal is otherwise unchanged: Ctrl-C and Ctrl-Z are signals as usual, and output of other programs looks as
//! usual. So only two flags have to be restored.

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

/// Why keys are not available.
#[derive(Debug, thiserror::Error)]
pub enum NoTerminal {
    /// This process has no controlling terminal, or may not use it.
    #[error("it has no terminal to read keys from (/dev/tty: {0})")]
    Open(#[from] io::Error),
    /// Another process uses it.
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

/// The event that ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Key(u8),
    Nothing,
    /// The view must stop.
    Stopped,
    /// The terminal is gone.
    Closed,
}

impl Keys {
    /// Reads keys from now on.
    ///
    /// # Errors
    /// There is no terminal, or this process may not change it, because the kernel would stop it.
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

    /// Sets the terminal to single keys without echo.
    fn claim(&self) -> io::Result<()> {
        let mut wanted = self.found.clone();
        wanted.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&self.terminal, OptionalActions::Now, &wanted)?;
        Ok(())
    }

    /// Waits for a key, or until the other end of `stopped` is closed, but no longer than `limit`.
    pub(super) fn wait(&mut self, stopped: &PipeReader, limit: Duration) -> Event {
        // In the background, reading would stop this process. The shell restores its terminal when it resumes it.
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

/// The last key of some input. Arrows and other keys that begin with ESC are ignored.
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
