//! How long a thread was ready to run while no CPU took it: the run queue's own account of each thread.

use std::{fs::File, os::unix::fs::FileExt, time::Duration};

/// The longest text of `schedstat`, in bytes: three numbers of 64 bits.
const MAX_TEXT: usize = 64;

/// The account of the thread that opened it.
#[derive(Debug)]
pub(super) struct RunQueue(Option<File>);

impl RunQueue {
    /// That of the calling thread. Kernels without scheduler statistics have none, which is no error.
    pub(super) fn of_this_thread() -> Self {
        // The link leads to this thread's own file when it is opened.
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// The time since the thread began in which it waited for a CPU: one system call. `None` if the kernel does not
    /// count it.
    pub(super) fn waited(&self) -> Option<Duration> {
        let mut text = [0; MAX_TEXT];
        let n = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        parse(std::str::from_utf8(text.get(..n)?).ok()?)
    }
}

/// The second of three numbers (the kernel's `sched-stats.rst`): nanoseconds on a CPU, nanoseconds of waiting, turns.
fn parse(schedstat: &str) -> Option<Duration> {
    let waited = schedstat.split_ascii_whitespace().nth(1)?;
    Some(Duration::from_nanos(waited.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_time_of_waiting() {
        for (text, expected) in [
            ("4270 43985 1\n", Some(43_985)),
            ("0 0 0\n", Some(0)),
            ("1", None),
            ("1 x 2", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected.map(Duration::from_nanos), "{text:?}");
        }
    }

    #[test]
    fn never_runs_backwards() {
        let queue = RunQueue::of_this_thread();
        let before = queue.waited();
        std::thread::yield_now();
        assert!(queue.waited() >= before);
    }
}
