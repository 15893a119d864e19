//! A target's figures of the last second, for the live view.

use std::sync::{Arc, Mutex, PoisonError};

use super::figure::{CPU_CORES, Figure, Figures, RSS_BYTES};

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
    /// The figures of a target that is gone.
    pub(super) fn ended() -> Self {
        Self {
            has_ended: true,
            ..Self::default()
        }
    }

    /// What happened between two readings of a target, so many seconds apart.
    pub(super) fn between(earlier: &Figures, later: &Figures, seconds: f64) -> Self {
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

fn figure(figures: &Figures, name: &str) -> Option<Figure> {
    let mut figures = figures.iter();
    figures
        .find(|(known, _)| known == name)
        .map(|(_, figure)| *figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_last_second() {
        let reading = |seconds: f64, cpu, rss| {
            let figures = vec![
                (CPU_CORES.into(), Figure::Total(cpu)),
                (RSS_BYTES.into(), Figure::Level(rss)),
            ];
            (seconds, figures)
        };
        let page = (0.0, vec![("sessions".into(), Figure::Level(5.0))]);
        for (earlier, later, expected) in [
            (
                reading(0.0, 1.0, 10.0),
                reading(0.5, 1.75, 20.0),
                (Some(1.5), Some(20.0)),
            ),
            // The process was replaced by another one.
            (
                reading(0.0, 1.0, 10.0),
                reading(1.0, 0.5, 20.0),
                (Some(0.0), Some(20.0)),
            ),
            (
                reading(0.0, 1.0, 10.0),
                reading(0.0, 2.0, 20.0),
                (None, Some(20.0)),
            ),
            (page.clone(), page, (None, None)),
        ] {
            let latest = Latest::between(&earlier.1, &later.1, later.0 - earlier.0);
            assert_eq!((latest.cores, latest.rss_bytes), expected);
        }
    }
}
