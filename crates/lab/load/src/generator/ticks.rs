//! Ticks at absolute times. A tick that was missed is delivered late and never skipped, so that each stall has its full
//! weight in the lateness.

use std::time::{Duration, Instant};

use super::pulse::TICK;
use crate::pacer::Pacer;

/// The ticks of one worker.
#[derive(Debug)]
pub(super) struct Ticks {
    timer: Timer,
    next: tokio::time::Instant,
}

#[derive(Debug)]
enum Timer {
    /// A timer of the kernel, on time to the microsecond.
    Kernel(Pacer),
    /// The runtime's timers, which are up to 2 ms late by themselves: without a file descriptor for the kernel's timer,
    /// and in tests, which move the time.
    Runtime,
}

impl Ticks {
    /// The first tick is due at once. Needs a runtime.
    pub(super) fn new() -> Self {
        let kernel = (!cfg!(test)).then(Pacer::new);
        Self {
            timer: kernel.and_then(Result::ok).map_or(Timer::Runtime, Timer::Kernel),
            next: tokio::time::Instant::now(),
        }
    }

    /// Waits for the next tick. Returns how late it fired, and when.
    pub(super) async fn next(&mut self) -> (Duration, Instant) {
        let due = self.next;
        self.next += TICK;
        match &self.timer {
            Timer::Kernel(pacer) => tokio::select! {
                biased;
                _ = pacer.until(due.into_std()) => {}
                // It ends only when the runtime goes down.
                () = pacer.run() => tokio::time::sleep_until(due).await,
            },
            Timer::Runtime => tokio::time::sleep_until(due).await,
        }
        let now = tokio::time::Instant::now();
        (now.saturating_duration_since(due), now.into_std())
    }
}
