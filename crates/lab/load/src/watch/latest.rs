//! A target's figures of the last second, for the live view.

use std::sync::{Arc, Mutex, PoisonError};

use super::figure::{CPU_CORES, Figure, RSS_BYTES, Reading};

/// The newest figures of one target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latest {
    /// CPU time per wall time since the previous reading. `None` if the target does not provide it.
    pub cores: Option<f64>,
    /// Resident memory. `None` if the target does not provide it.
    pub rss_bytes: Option<f64>,
    /// Whether the target is gone.
    pub has_ended: bool,
}

/// The place where a sampler leaves the newest figures.
#[derive(Clone, Debug, Default)]
pub(super) struct LatestCell(Arc<Mutex<Latest>>);

impl LatestCell {
    pub(super) fn get(&self) -> Latest {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, latest: Latest) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = latest;
    }
}

impl Latest {
    /// What happened between two readings of a target.
    pub(super) fn between(earlier: &Reading, later: &Reading) -> Self {
        let seconds = later
            .taken_at
            .saturating_duration_since(earlier.taken_at)
            .as_secs_f64();
        let cpu = match (figure(earlier, CPU_CORES), figure(later, CPU_CORES)) {
            (Some(Figure::Total(before)), Some(Figure::Total(now))) => Some(now - before),
            _ => None,
        };
        Self {
            cores: cpu.filter(|_| seconds > 0.0).map(|cpu| cpu.max(0.0) / seconds),
            rss_bytes: match figure(later, RSS_BYTES) {
                Some(Figure::Level(bytes)) => Some(bytes),
                _ => None,
            },
            has_ended: false,
        }
    }
}

fn figure(reading: &Reading, name: &str) -> Option<Figure> {
    let mut figures = reading.figures.iter();
    figures
        .find(|(known, _)| known == name)
        .map(|(_, figure)| *figure)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn figures_of_the_last_second() {
        let start = Instant::now();
        let reading = |ms, cpu, rss| Reading {
            taken_at: start + Duration::from_millis(ms),
            figures: vec![
                (CPU_CORES.into(), Figure::Total(cpu)),
                (RSS_BYTES.into(), Figure::Level(rss)),
            ],
        };
        let page = Reading {
            taken_at: start,
            figures: vec![("sessions".into(), Figure::Level(5.0))],
        };
        for (earlier, later, expected) in [
            (
                reading(0, 1.0, 10.0),
                reading(500, 1.75, 20.0),
                (Some(1.5), Some(20.0)),
            ),
            // The process was replaced by another one.
            (
                reading(0, 1.0, 10.0),
                reading(1_000, 0.5, 20.0),
                (Some(0.0), Some(20.0)),
            ),
            (reading(0, 1.0, 10.0), reading(0, 2.0, 20.0), (None, Some(20.0))),
            (page.clone(), page, (None, None)),
        ] {
            let latest = Latest::between(&earlier, &later);
            assert_eq!((latest.cores, latest.rss_bytes), expected);
        }
    }
}
