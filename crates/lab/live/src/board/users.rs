//! The number of active virtual users, over the whole run.

use std::time::Duration;

/// The most points. More than a terminal has columns of braille dots.
const MAX_POINTS: usize = 512;

/// Active users over time. When there are too many points, the greater of two neighbours stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Users {
    points: Vec<(Duration, u32)>,
    /// Since when the last point has been open for greater values, and for how long each is.
    width: Duration,
}

impl Users {
    /// Adds a sample.
    pub(crate) fn push(&mut self, at: Duration, n_active: u32) {
        if let Some(last) = self.points.last_mut()
            && at.saturating_sub(last.0) < self.width
        {
            last.1 = last.1.max(n_active);
            return;
        }
        if self.points.len() == MAX_POINTS {
            self.halve();
        }
        self.points.push((at, n_active));
    }

    fn halve(&mut self) {
        let pairs = self.points.chunks(2);
        let peaks = pairs.map(|pair| (pair[0].0, pair.iter().map(|point| point.1).max().unwrap_or(0)));
        self.points = peaks.collect();
        self.width = match self.points.as_slice() {
            [first, second, ..] => second.0.saturating_sub(first.0),
            _ => self.width,
        };
    }

    pub(crate) fn points(&self) -> &[(Duration, u32)] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_keeps_its_peaks_in_few_points() {
        let mut users = Users::default();
        for second in 1..=86_400 {
            users.push(
                Duration::from_secs(second),
                if second == 30_001 { 900 } else { 100 },
            );
        }
        let n_points = users.points().len();
        assert!((MAX_POINTS / 2..=MAX_POINTS).contains(&n_points), "{n_points}");
        assert_eq!(users.points().iter().filter(|point| point.1 == 900).count(), 1);
        assert!(users.points().is_sorted());
    }
}
