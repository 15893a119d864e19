//! The thread that writes log lines, and survives whatever the output does: a full disk, a pipe that is closed or that
//! has no reader. The writer tries again until there is room, while other threads drop lines that do not fit into the
//! queue.

use std::{
    io::{self, Write},
    time::Duration,
};

use super::queue::{Queue, Work};

/// Pauses before a failed write is tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pauses {
    /// After a pipe in non-blocking mode was full: 64 KiB are free again soon.
    pub(super) full_pipe: Duration,
    /// After any other error.
    pub(super) error: Duration,
}

/// Writes all lines of `queue`, until the log ends. `notice` makes the line which says how many are missing.
pub(super) fn write_all(
    queue: &Queue,
    output: &mut impl Write,
    pauses: Pauses,
    notice: impl Fn(u64) -> Vec<u8>,
) {
    loop {
        let line = match queue.next() {
            Work::Line(line) => line.into(),
            Work::Dropped(n_lines) => notice(n_lines),
            Work::End => break,
        };
        if !write_line(queue, output, pauses, &line) {
            break;
        }
    }
    queue.end();
}

/// Writes a line, however long that takes. Returns false when the log ends and the output still fails.
fn write_line(queue: &Queue, output: &mut impl Write, pauses: Pauses, mut line: &[u8]) -> bool {
    let mut is_ending = false;
    while !line.is_empty() {
        let error = match output.write(line) {
            Ok(0) => io::ErrorKind::WriteZero,
            Ok(n_bytes) => {
                line = &line[n_bytes..];
                continue;
            }
            Err(error) => error.kind(),
        };
        let pause = match error {
            io::ErrorKind::Interrupted => continue,
            // The reader may only be slow. Waiting for the end of the log has a deadline.
            io::ErrorKind::WouldBlock => pauses.full_pipe,
            _ if is_ending => return false,
            _ => pauses.error,
        };
        is_ending = queue.pause(pause);
    }
    true
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, mpsc},
        thread,
    };

    use plimsoll_telemetry::Counter;

    use super::*;

    const PAUSES: Pauses = Pauses {
        full_pipe: Duration::from_millis(1),
        error: Duration::from_millis(1),
    };

    /// Longer than any test takes.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// An output that the test controls.
    struct Output {
        begun: mpsc::Sender<()>,
        outcomes: mpsc::Receiver<Outcome>,
        /// The outcome of each write after the scripted ones.
        last: Outcome,
        written: mpsc::Sender<u8>,
    }

    /// The largest number of bytes that a write accepts, or its error.
    type Outcome = Result<usize, io::ErrorKind>;

    const EVERYTHING: Outcome = Ok(usize::MAX);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // A test may have ended.
            let _nobody_waits = self.begun.send(());
            let n_bytes = self.outcomes.recv().unwrap_or(self.last)?.min(bytes.len());
            let _nobody_reads = bytes[..n_bytes]
                .iter()
                .try_for_each(|byte| self.written.send(*byte));
            Ok(n_bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A log with room for 10 bytes.
    struct Log {
        queue: Arc<Queue>,
        n_dropped: Counter,
        begun: mpsc::Receiver<()>,
        outcomes: Option<mpsc::Sender<Outcome>>,
        written: mpsc::Receiver<u8>,
    }

    impl Log {
        fn start(last: Outcome) -> Self {
            let (begin, begun) = mpsc::channel();
            let (outcomes, next_outcome) = mpsc::channel();
            let (write, written) = mpsc::channel();
            let mut output = Output {
                begun: begin,
                outcomes: next_outcome,
                last,
                written: write,
            };
            let n_dropped = Counter::default();
            let queue = Arc::new(Queue::new(10, n_dropped.clone()));
            let thread_queue = Arc::clone(&queue);
            let notice = |n_lines| format!("({n_lines} missing)").into_bytes();
            thread::spawn(move || write_all(&thread_queue, &mut output, PAUSES, notice));
            Self {
                queue,
                n_dropped,
                begun,
                outcomes: Some(outcomes),
                written,
            }
        }

        fn push(&self, lines: &[&str]) {
            lines.iter().for_each(|line| self.queue.push(line.as_bytes()));
        }

        /// Waits until the thread writes.
        fn begins_write(&self) {
            self.begun.recv_timeout(PATIENCE).unwrap();
        }

        /// The outcomes of the next writes.
        fn tell(&self, outcomes: &[Outcome]) {
            let sender = self.outcomes.as_ref().unwrap();
            outcomes.iter().for_each(|outcome| sender.send(*outcome).unwrap());
        }

        /// Makes the last outcome apply to all further writes.
        fn go_on(&mut self) {
            self.outcomes = None;
        }

        /// Ends the log, and returns the written text.
        fn end(&self) -> String {
            assert!(self.queue.finish(PATIENCE));
            String::from_utf8(self.written.try_iter().collect()).unwrap()
        }
    }

    #[test]
    fn no_error_stops_the_log() {
        for error in [
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::StorageFull,
            io::ErrorKind::FileTooLarge,
            io::ErrorKind::WouldBlock,
            io::ErrorKind::Interrupted,
            io::ErrorKind::Other,
        ] {
            let mut log = Log::start(EVERYTHING);
            log.push(&["before", "\n"]);
            // The part of a line that was taken is not written again.
            log.tell(&[Err(error), Ok(0), Ok(3), Err(error), EVERYTHING]);
            (0..5).for_each(|_| log.begins_write());
            log.go_on();
            assert_eq!(log.end(), "before\n", "{error}");
            assert_eq!(log.n_dropped.get(), 0, "{error}");
        }
    }

    #[test]
    fn an_output_that_blocks_costs_only_what_does_not_fit() {
        let mut log = Log::start(EVERYTHING);
        log.push(&["1"]);
        log.begins_write();
        log.push(&["aaaaa", "bbbbb", "ccccc", "ddddd"]);
        assert_eq!(log.n_dropped.get(), 2);
        log.go_on();
        // The second is in hand, the third is not.
        (0..2).for_each(|_| log.begins_write());
        assert_eq!(log.end(), "1aaaaabbbbb(2 missing)");
    }

    #[test]
    fn the_log_goes_on_behind_what_is_missing() {
        let log = Log::start(EVERYTHING);
        log.push(&["1"]);
        log.begins_write();
        log.push(&["aaaaa", "bbbbb", "ccccc"]);
        log.tell(&[EVERYTHING, EVERYTHING]);
        (0..2).for_each(|_| log.begins_write());
        // The thread has b in hand, and the queue is empty.
        log.push(&["ddddd"]);
        log.tell(&[EVERYTHING, EVERYTHING, EVERYTHING]);
        assert_eq!(log.end(), "1aaaaabbbbb(1 missing)ddddd");
    }

    #[test]
    fn the_end_waits_for_lines_that_wait() {
        let log = Log::start(EVERYTHING);
        log.push(&["a", "b", "c"]);
        log.tell(&[EVERYTHING; 3]);
        assert_eq!(log.end(), "abc");
    }

    #[test]
    fn the_end_does_not_wait_for_an_output_that_blocks() {
        let log = Log::start(EVERYTHING);
        log.push(&["a"]);
        log.begins_write();
        assert!(!log.queue.finish(Duration::ZERO));
    }

    #[test]
    fn the_end_does_not_wait_for_an_output_that_fails() {
        let mut log = Log::start(Err(io::ErrorKind::StorageFull));
        log.push(&["a", "b"]);
        log.go_on();
        assert_eq!(log.end(), "");
    }
}
