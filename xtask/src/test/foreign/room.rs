//! Whether the machine has CPU time left for one more test file, by the counts of the kernel in `/proc/stat`.

use std::{
    fs,
    time::{Duration, Instant},
};

/// The idle CPUs that one more file needs. Reason: the five slowest quiet files used a third of a CPU on average, and
/// loading packages at the start of a file takes more.
const NEEDED_CPUS: f64 = 0.6;

/// The time over which idle CPUs are counted. Reason: a file that has just begun has loaded its packages after a second.
const WINDOW: Duration = Duration::from_secs(1);

/// The age at which a window says nothing about the present any more.
const STALE: Duration = Duration::from_secs(3);

/// The clock ticks of all CPUs since the machine started.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticks {
    idle: u64,
    all: u64,
}

/// A watch on the idle CPUs of the machine.
pub(super) struct Room {
    n_cpus: usize,
    since: Instant,
    before: Option<Ticks>,
}

impl Room {
    /// Begins a window now.
    pub(super) fn new(n_cpus: usize) -> Self {
        Self {
            n_cpus,
            since: Instant::now(),
            before: read(),
        }
    }

    /// Whether enough CPUs were idle in the last second. Each answer begins a new window, so that the file that starts
    /// because of it is part of the next one. Without `/proc/stat` there is no room.
    pub(super) fn is_there(&mut self) -> bool {
        let age = self.since.elapsed();
        if age < WINDOW {
            return false;
        }
        let now = read();
        let before = std::mem::replace(&mut self.before, now);
        self.since = Instant::now();
        let (Some(before), Some(now)) = (before, now) else {
            return false;
        };
        age < STALE && idle_cpus(before, now, self.n_cpus) >= NEEDED_CPUS
    }
}

fn read() -> Option<Ticks> {
    parsed(&fs::read_to_string("/proc/stat").ok()?)
}

/// The first line: `cpu`, then user, nice, system, idle, iowait, irq, softirq, steal. A CPU that waits for a disk is idle.
/// The two numbers behind these eight, of guests, are part of user and nice.
fn parsed(stat: &str) -> Option<Ticks> {
    let mut words = stat.lines().next()?.split_ascii_whitespace();
    if words.next()? != "cpu" {
        return None;
    }
    let numbers: Vec<u64> = words.take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(Ticks {
        idle: numbers.get(3)? + numbers.get(4)?,
        all: numbers.iter().sum(),
    })
}

/// The CPUs that were idle between two looks, on average.
fn idle_cpus(before: Ticks, now: Ticks, n_cpus: usize) -> f64 {
    let all = now.all.saturating_sub(before.all);
    let idle = now.idle.saturating_sub(before.idle);
    if all == 0 {
        return 0.0;
    }
    idle as f64 / all as f64 * n_cpus as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_read() {
        let check = |stat, expected| assert_eq!(parsed(stat), expected, "{stat}");
        let ticks = Ticks { idle: 45, all: 138 };
        check("cpu  10 20 30 40 5 6 7 20 9 10\ncpu0 1 2 3 4\n", Some(ticks));
        check("cpu  1 2 3\n", None);
        check("cpu  1 2 3 x 5\n", None);
        check("intr 1 2 3 4 5\n", None);
        check("", None);
    }

    #[test]
    fn idle_cpus_are_a_share_of_all() {
        let check = |idle: u64, all: u64, expected: f64| {
            let before = Ticks { idle: 100, all: 200 };
            let now = Ticks {
                idle: 100 + idle,
                all: 200 + all,
            };
            let found = idle_cpus(before, now, 2);
            assert!((found - expected).abs() < 1e-9, "{idle} of {all}");
        };
        check(200, 200, 2.0);
        check(50, 200, 0.5);
        check(0, 200, 0.0);
        check(0, 0, 0.0);
    }

    #[test]
    fn this_machine_has_counts_but_no_answer_at_once() {
        assert!(read().is_some());
        assert!(!Room::new(1_000_000).is_there());
    }
}
