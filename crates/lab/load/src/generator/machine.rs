//! The idle CPU of the whole machine, from the first line of `/proc/stat` (proc(5)).

use std::fs;

/// Clock ticks of all cores since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MachineCpu {
    idle: u64,
    total: u64,
}

impl MachineCpu {
    /// `None` if `/proc` is missing or hidden.
    pub(super) fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Parses the line. Waiting for a disk counts as idle, time stolen by other guests of the host does not. The
    /// columns of guest time are ignored, because the kernel includes them in `user` and `nice`.
    fn parse(stat: &str) -> Option<Self> {
        let ticks = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = ticks
            .split_ascii_whitespace()
            .take(8)
            .map_while(|n| n.parse().ok())
            .collect();
        let (Some(idle), Some(iowait)) = (ticks.get(3), ticks.get(4)) else {
            return None;
        };
        Some(Self {
            idle: idle + iowait,
            total: ticks.iter().sum(),
        })
    }

    /// The idle share (0 to 1) of all cores between two readings. `None` within one clock tick.
    pub(super) fn idle_share_since(self, earlier: Self) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|&total| total > 0)?;
        Some((self.idle.saturating_sub(earlier.idle) as f64 / total as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_line_of_all_cores() {
        let captured = "cpu  3949 0 1304 192111 665 0 78 4 5 6\ncpu0 2033 0 632 95953 403 0 28 1 0 0\n";
        let all = Some(MachineCpu {
            idle: 192_776,
            total: 198_111,
        });
        for (text, expected) in [
            (captured, all),
            ("", None),
            ("cpu  1 2 3 4", None),
            ("cpu0 1 2 3 4 5", None),
        ] {
            assert_eq!(MachineCpu::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn idle_share_is_of_the_time_between() {
        let at = |idle, total| MachineCpu { idle, total };
        for (earlier, later, expected) in [
            (at(100, 200), at(150, 400), Some(0.25)),
            (at(100, 200), at(100, 300), Some(0.0)),
            (at(100, 200), at(100, 200), None),
            (at(100, 200), at(90, 210), Some(0.0)),
        ] {
            assert_eq!(later.idle_share_since(earlier), expected);
        }
    }
}
