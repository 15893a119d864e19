//! What the demo says while it runs.

use std::{
    io::{self, Write},
    time::Duration,
};

use plimsoll_load::{metrics::TrendId, run::Progress};
use plimsoll_report::{quantity, status_line};

use crate::terminal;

/// Where nobody watches a terminal, a line this often is enough.
const QUIET_INTERVAL: Duration = Duration::from_secs(5);

/// One line on stderr: rewritten on a terminal, repeated now and then elsewhere.
#[derive(Debug)]
pub(super) struct ProgressLine {
    is_terminal: bool,
    next: Duration,
}

impl ProgressLine {
    pub(super) fn new(is_terminal: bool) -> Self {
        Self {
            is_terminal,
            next: if is_terminal {
                Duration::ZERO
            } else {
                QUIET_INTERVAL
            },
        }
    }

    /// Shows the state of the run, with the latency of the broadcasts so far.
    pub(super) fn show(&mut self, progress: &Progress<'_>, latency: TrendId) {
        if progress.elapsed < self.next {
            return;
        }
        let status = status_line(
            progress.elapsed,
            progress.active_vus,
            progress.max_vus,
            progress.n_iterations_complete,
            progress.n_interrupted,
        );
        let latency = progress
            .metrics
            .trend(latency)
            .filter(|ages| !ages.is_empty())
            .map(|ages| {
                let p95 = quantity::duration(super::p95(ages));
                format!("; p(95) of a message to a listener {p95}")
            });
        let line = format!("{status}{}", latency.unwrap_or_default());
        // If stderr is closed, nobody watches.
        let _nobody_reads = if self.is_terminal {
            write!(io::stderr(), "\r\x1b[2K{}", cut(&line, terminal::columns()))
        } else {
            self.next += QUIET_INTERVAL;
            writeln!(io::stderr(), "{line}")
        };
    }

    /// Makes room for the result.
    pub(super) fn finish(self) {
        if self.is_terminal {
            let _nobody_reads = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}

/// A line that the terminal would wrap cannot be rewritten.
fn cut(line: &str, columns: Option<u16>) -> String {
    match columns {
        Some(columns) => line
            .chars()
            .take(usize::from(columns).saturating_sub(1))
            .collect(),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_wraps() {
        for (columns, expected) in [
            (None, "p(95) 5µs"),
            (Some(80), "p(95) 5µs"),
            (Some(9), "p(95) 5µ"),
            (Some(0), ""),
        ] {
            assert_eq!(cut("p(95) 5µs", columns), expected, "{columns:?}");
        }
    }
}
