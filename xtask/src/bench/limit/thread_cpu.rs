//! CPU time of the calling thread.
//!
//! `CLOCK_THREAD_CPUTIME_ID` and `/proc/self/task/TID/schedstat` show the same counter of the scheduler, in
//! nanoseconds; the clock also includes the time since the last tick, which the file leaves out. Work that the kernel
//! does for the thread inside a system call (on loopback that is the whole receive path for a `send`) is part of it.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time that this thread has used since it started.
pub(super) fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a thread's CPU time is never negative")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_agrees_with_the_scheduler() {
        let start = now();
        while now() - start < Duration::from_millis(50) {}
        let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        let scheduler = Duration::from_nanos(schedstat.split(' ').next().unwrap().parse().unwrap());
        let clock = now();
        assert!(
            scheduler <= clock,
            "the file lags behind the clock: {scheduler:?}, {clock:?}"
        );
        assert!(
            clock - scheduler < Duration::from_millis(20),
            "by one tick at most: {scheduler:?}, {clock:?}"
        );
    }
}
