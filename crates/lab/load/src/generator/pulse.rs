//! The health of one worker: how late its ticks fired, and how busy its thread was.

use std::time::{Duration, Instant};

use super::{BUSY_SHARE, Evidence};
use crate::histogram::Histogram;

/// Planned time between two ticks of a worker.
///
/// Reason: short enough to see a delay of [`super::LATENESS`], and 100 wake-ups per second are few beside the messages
/// of a load test.
pub const TICK: Duration = Duration::from_millis(10);

/// A window of the busy share. Reason: the granularity of progress lines and of peaks that users care about.
const WINDOW: Duration = Duration::from_secs(1);

/// The least length of a period's last, shorter window. Reason: ten ticks; fewer say nothing.
const SHORTEST_WINDOW: Duration = Duration::from_millis(100);

/// The clocks of a worker's thread at the same moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) at: Instant,
    /// Its CPU time.
    pub(super) cpu: Duration,
    /// The time in which it waited for a CPU. `None` if unknown.
    pub(super) waited: Option<Duration>,
}

#[derive(Debug)]
pub(super) struct Pulse {
    lateness: Histogram,
    /// The latest tick since the last query.
    latest: Option<Duration>,
    /// Begin of the open window and the latest reading; `None` before the first tick.
    window: Option<(Reading, Reading)>,
    watched: Duration,
    busy: Duration,
    /// The time of waiting for a CPU while it was watched.
    waited: Option<Duration>,
    busiest_share: f64,
}

impl Pulse {
    pub(super) fn new() -> Self {
        Self {
            lateness: Histogram::new(),
            latest: None,
            window: None,
            watched: Duration::ZERO,
            busy: Duration::ZERO,
            waited: None,
            busiest_share: 0.0,
        }
    }

    /// Notes a tick that fired `late`, and the clocks at that moment.
    pub(super) fn beat(&mut self, late: Duration, reading: Reading) {
        self.lateness.record(late);
        self.latest = self.latest.max(Some(late));
        let begin = self.window.map_or(reading, |(begin, _)| begin);
        self.window = Some((begin, reading));
        self.close_window(WINDOW);
    }

    /// How late the latest tick since the last call fired. `None` without ticks.
    pub(super) fn take_latest(&mut self) -> Option<Duration> {
        self.latest.take()
    }

    /// Adds the period to `evidence` and begins the next one at the latest tick.
    pub(super) fn take_into(&mut self, evidence: &mut Evidence) {
        self.close_window(SHORTEST_WINDOW);
        self.window = self.window.map(|(_, latest)| (latest, latest));
        evidence.lateness.merge(&self.lateness);
        evidence.busiest_share = evidence.busiest_share.max(self.busiest_share);
        if !self.watched.is_zero() {
            let share = self.busy.as_secs_f64() / self.watched.as_secs_f64();
            evidence.busy_time_share = evidence.busy_time_share.max(share);
            let waiting = self
                .waited
                .map(|waited| waited.as_secs_f64() / self.watched.as_secs_f64());
            evidence.waiting_share = match (evidence.waiting_share, waiting) {
                (Some(one), Some(other)) => Some(one.max(other)),
                (one, other) => one.or(other),
            };
        }
        self.lateness.clear();
        (self.watched, self.busy, self.busiest_share) = (Duration::ZERO, Duration::ZERO, 0.0);
        self.waited = None;
    }

    fn close_window(&mut self, shortest: Duration) {
        let Some((begin, end)) = self.window else { return };
        let wall = end.at.saturating_duration_since(begin.at);
        if wall < shortest {
            return;
        }
        let share = end.cpu.saturating_sub(begin.cpu).as_secs_f64() / wall.as_secs_f64();
        self.watched += wall;
        if let Some((begin, end)) = begin.waited.zip(end.waited) {
            self.waited = Some(self.waited.unwrap_or_default() + end.saturating_sub(begin));
        }
        if share >= BUSY_SHARE {
            self.busy += wall;
        }
        self.busiest_share = self.busiest_share.max(share);
        self.window = Some((end, end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beats once per tick through windows of the given length in ms and CPU use in ms.
    fn evidence(windows: &[(u64, u64)]) -> Evidence {
        let mut pulse = Pulse::new();
        // A thread that is always ready waits when it has no CPU.
        let mut reading = Reading {
            at: Instant::now(),
            cpu: Duration::ZERO,
            waited: Some(Duration::ZERO),
        };
        pulse.beat(Duration::ZERO, reading);
        for &(wall_ms, cpu_ms) in windows {
            let n_ticks = u32::try_from(wall_ms / 10).unwrap();
            for _ in 0..n_ticks {
                let cpu = Duration::from_millis(cpu_ms) / n_ticks;
                reading = Reading {
                    at: reading.at + TICK,
                    cpu: reading.cpu + cpu,
                    waited: reading.waited.map(|waited| waited + TICK.saturating_sub(cpu)),
                };
                pulse.beat(Duration::ZERO, reading);
            }
        }
        let mut evidence = Evidence::nothing();
        pulse.take_into(&mut evidence);
        evidence
    }

    #[test]
    fn tells_busy_windows_from_idle_ones() {
        for (windows, busy_time_share, busiest_share) in [
            (
                &[(1000, 100), (1000, 950), (1000, 500), (1000, 900)][..],
                0.5,
                0.95,
            ),
            (&[(1000, 899)], 0.0, 0.899),
            (&[(200, 200)], 1.0, 1.0),
            (&[(1000, 0), (500, 500)], 1.0 / 3.0, 1.0),
            (&[(90, 90)], 0.0, 0.0),
            (&[], 0.0, 0.0),
        ] {
            let found = evidence(windows);
            assert!(
                (found.busy_time_share - busy_time_share).abs() < 1e-3,
                "{windows:?}: {found:?}"
            );
            assert!(
                (found.busiest_share - busiest_share).abs() < 1e-3,
                "{windows:?}: {found:?}"
            );
        }
    }

    #[test]
    fn tells_how_long_it_waited_for_a_cpu() {
        for (windows, expected) in [
            (&[(1000, 1000)][..], Some(0.0)),
            (&[(1000, 250)], Some(0.75)),
            (&[(1000, 1000), (1000, 0)], Some(0.5)),
            (&[(90, 0)], None),
        ] {
            let found = evidence(windows).waiting_share;
            let is_near = found.unwrap_or(-1.0) - expected.unwrap_or(-1.0);
            assert!(is_near.abs() < 1e-3, "{windows:?}: {found:?}");
        }
    }
}
