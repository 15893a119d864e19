//! The closed loop of websocket-bench: a fixed number of tasks, of which a limited number runs concurrently, each
//! optionally after a delay. Pure: it decides, and others act.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// A sliding window over a number of equal tasks. When one is done, the next may begin, without waiting for a batch.
#[derive(Debug)]
pub(crate) struct Window {
    width: usize,
    n_left: usize,
    n_under_way: usize,
    delay: Duration,
    /// The start times of delayed tasks. All delays are equal, so it stays sorted. It is never longer than `width`.
    delayed: VecDeque<Instant>,
}

impl Window {
    /// `n_tasks` tasks, `width` (at least 1) at a time. A delayed task begins `delay` after its turn came.
    pub(crate) fn new(n_tasks: usize, width: usize, delay: Duration) -> Self {
        Self {
            width: width.max(1),
            n_left: n_tasks,
            n_under_way: 0,
            delay,
            delayed: VecDeque::new(),
        }
    }

    /// The number of tasks that begin now. They count as running until [`done`](Self::done). `is_delayed` decides
    /// about each task in turn.
    pub(crate) fn admit(&mut self, now: Instant, mut is_delayed: impl FnMut() -> bool) -> usize {
        let mut n_admitted = 0;
        while self.delayed.front().is_some_and(|due| *due <= now) {
            self.delayed.pop_front();
            n_admitted += 1;
        }
        while self.n_left > 0 && self.n_under_way + self.delayed.len() + n_admitted < self.width {
            self.n_left -= 1;
            if !self.delay.is_zero() && is_delayed() {
                self.delayed.push_back(now + self.delay);
            } else {
                n_admitted += 1;
            }
        }
        self.n_under_way += n_admitted;
        n_admitted
    }

    /// The time at which [`admit`](Self::admit) has work although no task has ended.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.delayed.front().copied()
    }

    /// Records the end of a task.
    pub(crate) fn done(&mut self) {
        self.n_under_way = self.n_under_way.saturating_sub(1);
    }

    /// Stops the window: no further task begins.
    pub(crate) fn stop(&mut self) {
        self.n_left = 0;
        self.delayed.clear();
    }

    /// Whether further tasks can begin.
    pub(crate) fn has_more(&self) -> bool {
        self.n_left > 0 || !self.delayed.is_empty()
    }

    /// Whether no task is running or can begin.
    pub(crate) fn is_finished(&self) -> bool {
        self.n_left == 0 && self.n_under_way == 0 && self.delayed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(500);

    #[test]
    fn the_window_slides() {
        let now = Instant::now();
        let mut window = Window::new(5, 3, Duration::ZERO);
        assert!(window.has_more());
        assert_eq!(window.admit(now, || true), 3);
        assert_eq!(window.admit(now, || true), 0);
        window.done();
        assert_eq!(window.admit(now, || true), 1);
        window.done();
        window.done();
        assert_eq!(window.admit(now, || true), 1);
        assert_eq!((window.admit(now, || true), window.is_finished()), (0, false));
        assert!(!window.has_more());
        window.done();
        window.done();
        assert!(window.is_finished());
    }

    #[test]
    fn delayed_tasks_hold_their_place() {
        let now = Instant::now();
        let mut window = Window::new(9, 3, DELAY);
        let mut answers = [true, false, true].into_iter();
        assert_eq!(window.admit(now, || answers.next().unwrap()), 1);
        assert_eq!(
            (window.next_due(), window.admit(now, || true)),
            (Some(now + DELAY), 0)
        );
        assert_eq!(window.admit(now + DELAY, || true), 2);
        assert!(window.has_more());
        window.stop();
        assert!(!window.has_more());
        (0..3).for_each(|_| window.done());
        assert!(window.is_finished());
    }
}
