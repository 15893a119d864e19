//! SIGINT, SIGTERM and SIGHUP: the first ends a run in good order, the second at once. A button or a key may take the place of
//! the first.

use std::{fs, future::pending, io};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

/// Counts the signals that tell this process to end.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    received: watch::Sender<Received>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Received {
    n: u32,
    /// Whether the first one was a button or a key.
    is_by_hand: bool,
}

impl Signals {
    /// Handles them from now on. To be called on a `LocalSet`.
    pub(crate) fn listen() -> io::Result<Self> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = if is_hangup_ignored() {
            None
        } else {
            Some(signal(SignalKind::hangup())?)
        };
        let counted = watch::Sender::new(Received::default());
        let sender = counted.clone();
        tokio::task::spawn_local(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                    _ = received(&mut hangup) => {}
                }
                sender.send_modify(|received| received.n += 1);
            }
        });
        Ok(Self { received: counted })
    }

    /// How many there were.
    pub(crate) fn count(&self) -> u32 {
        self.received.borrow().n
    }

    /// Takes a button or a key for the first signal. After the first one it means nothing: the second ends at once.
    pub(crate) fn end_by_hand(&self) {
        self.received.send_if_modified(|received| {
            let is_first = received.n == 0;
            if is_first {
                *received = Received {
                    n: 1,
                    is_by_hand: true,
                };
            }
            is_first
        });
    }

    /// Whether the first one was a button or a key.
    pub(crate) fn is_by_hand(&self) -> bool {
        self.received.borrow().is_by_hand
    }

    /// Waits until there were `n` of them.
    pub(crate) async fn received(&self, n: u32) {
        // The sender is this very value, so it is not gone.
        drop(
            self.received
                .subscribe()
                .wait_for(|received| received.n >= n)
                .await,
        );
    }
}

/// Waits for a signal that may be left to others.
pub(crate) async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => pending().await,
    }
}

/// Whether this process was started to survive its terminal, as nohup(1) does it. A terminal that is closed without it
/// ends the run in good order, so that its results are not lost.
pub(crate) fn is_hangup_ignored() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hangup(&status))
}

/// `status` is that of proc(5); the lowest bit of the mask is signal 1, SIGHUP.
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hangups_are_left_to_nohup() {
        for (status, expected) in [
            ("Name:\tx\nSigIgn:\t0000000000000001\nSigCgt:\t0\n", true),
            ("SigIgn:\t0000000000001006\n", false),
            ("SigIgn:\t0000000000001007\n", true),
            ("SigBlk:\t0000000000000001\n", false),
            ("SigIgn:\tzz\n", false),
        ] {
            assert_eq!(ignores_hangup(status), expected, "{status}");
        }
    }
}
