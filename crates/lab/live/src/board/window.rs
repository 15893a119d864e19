//! A figure over the last two minutes.

use std::{collections::VecDeque, time::Duration};

/// The length of the window. A braille chart of half a wide terminal has two points per column, so a second takes about
/// one.
pub(crate) const WINDOW: Duration = Duration::from_secs(120);

/// Values with the time since the start of the run. With one per second there are at most 121.
#[derive(Clone, Debug)]
pub(crate) struct Window<T> {
    values: VecDeque<(Duration, T)>,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Self {
            values: VecDeque::new(),
        }
    }
}

impl<T> Window<T> {
    /// Adds a value, later than all before, and forgets old ones.
    pub(crate) fn push(&mut self, at: Duration, value: T) {
        self.values.push_back((at, value));
        while self
            .values
            .front()
            .is_some_and(|(first, _)| at.saturating_sub(*first) > WINDOW)
        {
            self.values.pop_front();
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &(Duration, T)> {
        self.values.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_old_is_forgotten() {
        let mut window = Window::default();
        for second in 1..=1_000 {
            window.push(Duration::from_secs(second), second);
        }
        let seconds: Vec<_> = window.iter().map(|(_, second)| *second).collect();
        assert_eq!(seconds, (880..=1_000).collect::<Vec<_>>());
    }
}
