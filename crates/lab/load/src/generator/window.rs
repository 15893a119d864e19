//! The part of a run that its generator is judged in.

use std::{ops::Range, time::Duration};

use super::{Evidence, Monitor};

/// Cuts the evidence of a part out of that of a run.
#[derive(Debug)]
pub struct Window {
    monitor: Monitor,
    /// The part, since the start of the run.
    span: Range<Duration>,
    has_begun: bool,
    /// The evidence of the part, after its end.
    evidence: Option<Evidence>,
}

impl Window {
    /// A part of a run that has not begun. The run has this monitor, and no other caller takes from it.
    pub fn new(monitor: Monitor, span: Range<Duration>) -> Self {
        Self {
            has_begun: span.start.is_zero(),
            monitor,
            span,
            evidence: None,
        }
    }

    /// The run has told of everything until then, since its start. Callers call this about once per second.
    pub fn observe(&mut self, until: Duration) {
        if !self.has_begun && until >= self.span.start {
            self.has_begun = true;
            self.monitor.take();
        }
        if self.has_begun && self.evidence.is_none() && until >= self.span.end {
            self.evidence = Some(self.monitor.take());
        }
    }

    /// The evidence of the part. `rest` is what the monitor had last: the evidence of a run that ended in its part.
    pub fn finish(self, rest: Evidence) -> Evidence {
        self.evidence.unwrap_or(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::TICK;

    /// The number of ticks in the evidence of a part of a run of five seconds.
    async fn ticks(span: Range<u64>) -> u64 {
        let monitor = Monitor::new();
        let mut window = Window::new(
            monitor.clone(),
            Duration::from_secs(span.start)..Duration::from_secs(span.end),
        );
        let watch = monitor.watch_worker();
        tokio::pin!(watch);
        for second in 1..=5 {
            assert!(
                tokio::time::timeout(Duration::from_secs(1), &mut watch)
                    .await
                    .is_err()
            );
            window.observe(Duration::from_secs(second));
        }
        window.finish(monitor.take()).lateness.count()
    }

    #[tokio::test(start_paused = true)]
    async fn the_evidence_is_that_of_the_part() {
        let second = u64::try_from(Duration::from_secs(1).as_nanos() / TICK.as_nanos()).unwrap();
        for (span, seconds) in [(0..5, 5), (2..4, 2), (0..1, 1), (3..60, 2), (0..60, 5)] {
            let found = ticks(span.clone()).await;
            let expected = seconds * second;
            assert!(
                found.abs_diff(expected) <= 5,
                "{span:?}: {found} ticks, expected {expected}"
            );
        }
    }
}
