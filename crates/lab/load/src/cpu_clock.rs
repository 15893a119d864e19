//! CPU time from the kernel's own clocks, in nanoseconds.
//!
//! Three sources exist on Linux. `/proc/PID/stat` counts in ticks of 10 ms, too coarse for a phase of 100 ms.
//! The sum over `/proc/PID/task/*/schedstat` is exact but loses every thread that has ended, and some kernels
//! are built without it. The process CPU clock (`clock_getcpuclockid(3)`) is exact, contains ended threads,
//! never runs backwards, is open to every user, and costs one system call, so it is the only one used.

use std::time::Duration;

use nix::{
    sys::time::TimeSpec,
    time::{ClockId, clock_getcpuclockid},
    unistd::Pid,
};

/// User and system time of all threads of this process since it began, ended threads included.
pub fn this_process() -> Duration {
    duration(
        ClockId::CLOCK_PROCESS_CPUTIME_ID
            .now()
            .expect("Linux has this clock for every process"),
    )
}

/// User and system time of the calling thread since it began.
pub fn this_thread() -> Duration {
    duration(
        ClockId::CLOCK_THREAD_CPUTIME_ID
            .now()
            .expect("Linux has this clock for every thread"),
    )
}

/// User and system time of all threads of process `pid`, without its child processes. `None` if there is no such
/// process.
pub fn of_process(pid: u32) -> Option<Duration> {
    // For the kernel 0 means the caller, which must not be the result for a foreign id.
    let pid = i32::try_from(pid).ok().filter(|&pid| pid > 0)?;
    let clock = clock_getcpuclockid(Pid::from_raw(pid)).ok()?;
    clock.now().ok().map(duration)
}

fn duration(time: TimeSpec) -> Duration {
    Duration::from(time)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Spends at least a millisecond of this thread's CPU time.
    fn work() {
        let begin = this_thread();
        while this_thread() - begin < Duration::from_millis(1) {}
    }

    #[test]
    fn ended_threads_stay_in_the_process_time() {
        let before = this_process();
        std::thread::spawn(work).join().unwrap();
        assert!(this_process() - before >= Duration::from_millis(1));
    }

    #[test]
    fn other_processes_are_readable_until_they_are_reaped() {
        let mut child = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        assert!(of_process(child.id()).is_some());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(of_process(child.id()), None);
    }

    #[test]
    fn own_time_is_the_same_from_outside() {
        let before = this_process();
        let outside = of_process(std::process::id()).unwrap();
        assert!(before <= outside && outside <= this_process());
    }

    #[test]
    fn impossible_ids_are_absent() {
        assert_eq!((of_process(0), of_process(u32::MAX)), (None, None));
    }
}
