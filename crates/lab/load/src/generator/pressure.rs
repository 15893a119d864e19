//! How long programs waited for a CPU: the kernel's pressure stall information (its `psi.rst`), where it has it.

use std::{fs, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// The times since boot in which at least one task waited for a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pressure {
    /// A task anywhere on the machine. `None` for kernels without this information.
    machine: Option<Duration>,
    /// A task of this program's control group, or of a group below it. `None` outside of a group of version 2.
    group: Option<Duration>,
}

/// The same as shares (0 to 1) of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PressureShares {
    /// On the machine. `None` if unknown.
    pub machine: Option<f64>,
    /// In this program's control group. `None` if unknown.
    pub group: Option<f64>,
}

impl Pressure {
    pub(super) fn read() -> Self {
        let some = |path: PathBuf| parse(&fs::read_to_string(path).ok()?);
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let group = own_group(&groups).map(|group| format!("/sys/fs/cgroup/{group}/cpu.pressure"));
        Self {
            machine: some("/proc/pressure/cpu".into()),
            group: group.and_then(|path| some(path.into())),
        }
    }

    /// The shares of the period of this length since `earlier`.
    pub(super) fn since(self, earlier: Self, elapsed: Duration) -> PressureShares {
        let share = |now: Option<Duration>, earlier: Option<Duration>| {
            let waited = now?.saturating_sub(earlier?).as_secs_f64();
            (!elapsed.is_zero()).then(|| (waited / elapsed.as_secs_f64()).min(1.0))
        };
        PressureShares {
            machine: share(self.machine, earlier.machine),
            group: share(self.group, earlier.group),
        }
    }
}

/// The total of `some`, in microseconds: `some avg10=1.53 avg60=0.87 avg300=0.73 total=1088168194`.
fn parse(pressure: &str) -> Option<Duration> {
    let line = pressure.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix("total="))?;
    Some(Duration::from_micros(total.parse().ok()?))
}

/// The path of the group of version 2 in `/proc/self/cgroup`. `None` for the root, which is the machine.
fn own_group(groups: &str) -> Option<&str> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_total() {
        let text = "some avg10=1.53 avg60=0.87 avg300=0.73 total=1088168194\nfull avg10=0.00 total=5\n";
        for (text, expected) in [
            (text, Some(1_088_168_194)),
            ("full avg10=0.00 total=5\n", None),
            ("some total=x\n", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected.map(Duration::from_micros), "{text:?}");
        }
    }

    #[test]
    fn finds_the_group_below_the_root() {
        for (text, expected) in [
            (
                "9:name=systemd:/\n0::/user.slice/app.scope\n",
                Some("user.slice/app.scope"),
            ),
            ("4:memory:/a\n0::/\n", None),
            ("4:memory:/a\n", None),
        ] {
            assert_eq!(own_group(text), expected, "{text:?}");
        }
    }

    #[test]
    fn shares_are_of_the_time_between() {
        let at = |ms| Pressure {
            machine: Some(Duration::from_millis(ms)),
            group: None,
        };
        for (earlier, later, elapsed_ms, expected) in [
            (100, 350, 1_000, Some(0.25)),
            (100, 1_200, 1_000, Some(1.0)),
            (100, 100, 0, None),
        ] {
            let shares = at(later).since(at(earlier), Duration::from_millis(elapsed_ms));
            assert_eq!((shares.machine, shares.group), (expected, None));
        }
    }
}
