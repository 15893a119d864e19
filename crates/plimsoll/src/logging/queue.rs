//! Log lines on their way to the thread that writes them. Adding a line never waits for the output: when the queue is
//! full, lines are dropped and counted.

use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_telemetry::Counter;

/// Lines that wait to be written, in order.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Signals the writing thread: there is something to write, or the log ends.
    has_work: Condvar,
    /// Signals the threads that wait for the last line.
    has_ended: Condvar,
    capacity_bytes: usize,
    n_dropped: Counter,
}

#[derive(Debug, Default)]
struct State {
    entries: VecDeque<Entry>,
    /// The total length of all entries' lines.
    n_bytes: usize,
    /// Lines that were dropped since the last entry was added.
    n_dropped: u64,
    /// Whether lines are dropped until half of the queue is free. Without it an output that is too slow would be told
    /// of dropped lines after every line that it takes.
    is_dropping: bool,
    phase: Phase,
}

#[derive(Debug)]
struct Entry {
    n_dropped_before: u64,
    line: Box<[u8]>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// The process is ending: waiting lines are still written.
    Closing,
    /// Nothing is written any more.
    Ended,
}

/// The next work of the writing thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Write this line.
    Line(Box<[u8]>),
    /// Report that this number of lines was dropped here.
    Dropped(u64),
    /// Everything is written, and the log ends.
    End,
}

impl Queue {
    /// A queue for lines of `capacity_bytes` together. Dropped lines are counted in `n_dropped`.
    pub(super) fn new(capacity_bytes: usize, n_dropped: Counter) -> Self {
        Self {
            state: Mutex::default(),
            has_work: Condvar::new(),
            has_ended: Condvar::new(),
            capacity_bytes,
            n_dropped,
        }
    }

    /// Adds a line, or drops it when the queue is full.
    pub(super) fn push(&self, line: &[u8]) {
        let mut state = self.state();
        let limit = if state.is_dropping {
            self.capacity_bytes / 2
        } else {
            self.capacity_bytes
        };
        state.is_dropping = state.phase == Phase::Ended || state.n_bytes + line.len() > limit;
        if state.is_dropping {
            state.n_dropped += 1;
            self.n_dropped.increment();
            return;
        }
        let entry = Entry {
            n_dropped_before: std::mem::take(&mut state.n_dropped),
            line: line.into(),
        };
        state.n_bytes += entry.line.len();
        state.entries.push_back(entry);
        // A thread that waits for work waits only while there is none.
        if state.entries.len() == 1 {
            self.has_work.notify_one();
        }
    }

    /// Waits for the next work.
    pub(super) fn next(&self) -> Work {
        let is_idle = |state: &mut State| {
            state.entries.is_empty() && state.n_dropped == 0 && state.phase == Phase::Open
        };
        let waited = self.has_work.wait_while(self.state(), is_idle);
        waited.unwrap_or_else(PoisonError::into_inner).next()
    }

    /// Waits before a failed write is tried again; less when the log is to end. Returns whether it is.
    pub(super) fn pause(&self, interval: Duration) -> bool {
        let is_open = |state: &mut State| state.phase == Phase::Open;
        let waited = self.has_work.wait_timeout_while(self.state(), interval, is_open);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.phase != Phase::Open
    }

    /// Ends writing. The writing thread calls this.
    pub(super) fn end(&self) {
        self.state().phase = Phase::Ended;
        self.has_ended.notify_all();
    }

    /// Lets the writing thread write all waiting lines, and waits for it at most for `patience`. Returns whether the
    /// thread has ended.
    pub(super) fn finish(&self, patience: Duration) -> bool {
        let mut state = self.state();
        if state.phase == Phase::Open {
            state.phase = Phase::Closing;
        }
        self.has_work.notify_all();
        let is_writing = |state: &mut State| state.phase != Phase::Ended;
        let waited = self.has_ended.wait_timeout_while(state, patience, is_writing);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.phase == Phase::Ended
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock; and if something did, a log that goes on is worth more.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> Work {
        let n_dropped = match self.entries.front_mut() {
            Some(entry) => &mut entry.n_dropped_before,
            None => &mut self.n_dropped,
        };
        if *n_dropped > 0 {
            return Work::Dropped(std::mem::take(n_dropped));
        }
        let Some(entry) = self.entries.pop_front() else {
            return Work::End;
        };
        self.n_bytes -= entry.line.len();
        if self.entries.is_empty() {
            // A full queue must not pin its memory forever.
            self.entries = VecDeque::new();
        }
        Work::Line(entry.line)
    }
}

impl Write for &Queue {
    /// Takes a whole line, which is how the formatter hands it over. Never fails: the formatter would complain on
    /// standard error with a macro that panics when that is gone, too.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Work {
        Work::Line(text.as_bytes().into())
    }

    fn push(queue: &Queue, lines: &[&str]) {
        lines.iter().for_each(|line| queue.push(line.as_bytes()));
    }

    /// All work until the queue is empty.
    fn work(queue: &Queue) -> Vec<Work> {
        let is_there = || {
            let state = queue.state();
            !state.entries.is_empty() || state.n_dropped > 0
        };
        std::iter::from_fn(|| is_there().then(|| queue.next())).collect()
    }

    #[test]
    fn lines_leave_in_their_order() {
        let queue = Queue::new(100, Counter::default());
        push(&queue, &["a", "b", "c"]);
        assert_eq!(work(&queue), [line("a"), line("b"), line("c")]);
    }

    #[test]
    fn what_does_not_fit_is_dropped_counted_and_told_of_where_it_is_missing() {
        let n_dropped = Counter::default();
        let queue = Queue::new(4, n_dropped.clone());
        push(&queue, &["aa", "bb", "cc", "dd"]);
        assert_eq!(queue.next(), line("aa"));
        // Half of the queue is free only behind the next line.
        push(&queue, &["ee"]);
        assert_eq!(queue.next(), line("bb"));
        push(&queue, &["ff", "gg"]);
        assert_eq!(work(&queue), [Work::Dropped(3), line("ff"), line("gg")]);
        assert_eq!(n_dropped.get(), 3);
    }

    #[test]
    fn dropped_lines_are_told_of_although_no_other_follows() {
        let queue = Queue::new(2, Counter::default());
        push(&queue, &["a", "too long"]);
        assert_eq!(work(&queue), [line("a"), Work::Dropped(1)]);
    }

    #[test]
    fn a_log_that_has_ended_drops_everything() {
        let n_dropped = Counter::default();
        let queue = Queue::new(100, n_dropped.clone());
        queue.end();
        push(&queue, &["a", "b"]);
        assert_eq!(n_dropped.get(), 2);
        assert!(queue.finish(Duration::ZERO));
    }
}
