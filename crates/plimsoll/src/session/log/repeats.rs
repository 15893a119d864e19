//! Repeated lines of the log: the first line of each cause is written, and further ones are counted until a line tells
//! their number.
//!
//! Lines of scripts' `console` are not counted: they are output of the script.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    convert::Infallible,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_load::causes::{Causes, generalized};
use plimsoll_report::readable::count;
use tokio::time::sleep;
use tracing::Level;

/// The target of lines that tell a number of lines.
pub(super) const REPEATS: &str = "repeats";

/// The interval between lines about repeated lines.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// The most causes whose first line is written. Reason: people do not read more, and causes with an id in them must not
/// fill memory.
const MAX_CAUSES: usize = 100;

/// The most lines that are written at a time. Reason: they must not hide the lines of new causes.
const MAX_LINES: usize = 5;

/// The most characters of a message in a line about repeated lines.
const MAX_CHARS: usize = 120;

/// The repeated lines of one log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats(Arc<Mutex<Levels>>);

/// Errors and warnings, each by cause. Lines of other levels are not counted.
#[derive(Debug, Default)]
struct Levels {
    errors: Counted,
    warnings: Counted,
}

#[derive(Debug, Default)]
struct Counted {
    /// The causes whose first line was written.
    written: BTreeSet<String>,
    /// Further lines of these causes that were not told yet.
    untold: Causes,
    /// Lines of other causes that were not told yet.
    n_others: u64,
}

/// A line about repeated lines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    level: Level,
    text: String,
    /// The number of lines that it stands for.
    n: u64,
}

impl Repeats {
    /// Whether a line is to be written. A line that is not is counted.
    pub(super) fn is_new(&self, level: Level, message: &str) -> bool {
        let mut levels = self.lock();
        match level {
            Level::ERROR => levels.errors.is_new(message),
            Level::WARN => levels.warnings.is_new(message),
            _ => true,
        }
    }

    /// Writes how many lines were not written since the last call.
    pub(crate) fn tell(&self) {
        let told = self.lock().take();
        for Told { level, text, n } in told {
            match level {
                Level::ERROR => tracing::error!(target: REPEATS, count = n, "{text}"),
                _ => tracing::warn!(target: REPEATS, count = n, "{text}"),
            }
        }
    }

    /// Writes these numbers at intervals, until it is dropped.
    pub(crate) async fn keep_telling(&self) -> Infallible {
        loop {
            sleep(TELL_EVERY).await;
            self.tell();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Levels> {
        // Nothing panics while it is held, and each change leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Levels {
    fn take(&mut self) -> Vec<Told> {
        let errors = self.errors.take(Level::ERROR);
        errors
            .into_iter()
            .chain(self.warnings.take(Level::WARN))
            .collect()
    }
}

impl Counted {
    fn is_new(&mut self, message: &str) -> bool {
        let cause = generalized(message);
        if self.written.contains(&cause) {
            self.untold.add_as(&cause, message, 1, Duration::ZERO);
            return false;
        }
        let has_room = self.written.len() < MAX_CAUSES;
        if has_room {
            self.written.insert(cause);
        } else {
            self.n_others += 1;
        }
        has_room
    }

    fn take(&mut self, level: Level) -> Vec<Told> {
        let (untold, n_others) = (mem::take(&mut self.untold), mem::take(&mut self.n_others));
        let mut known: Vec<_> = untold
            .iter()
            .map(|(_, line)| (line.example.as_str(), line.span.n))
            .collect();
        known.sort_by_key(|&(_, n)| Reverse(n));
        let shown = known.len().min(MAX_LINES);
        let n_rest = known[shown..].iter().map(|&(_, n)| n).sum::<u64>() + n_others;
        let lines = known[..shown].iter().map(|&(example, n)| Told {
            level,
            text: format!("… {} more like this: {}", count(n), brief(example)),
            n,
        });
        let rest = (n_rest > 0).then(|| Told {
            level,
            text: format!("… and {} more lines with other causes", count(n_rest)),
            n: n_rest,
        });
        lines.chain(rest).collect()
    }
}

/// The first line of a message, cut.
fn brief(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(repeats: &Repeats) -> Vec<String> {
        let told = repeats.lock().take();
        told.into_iter()
            .map(|it| format!("{} {} ({})", it.level, it.text, it.n))
            .collect()
    }

    #[test]
    fn the_first_line_of_a_cause_is_written_and_the_others_are_counted() {
        let repeats = Repeats::default();
        let exception = |port: u32| format!("TypeError: no room on port {port}\n  at default (chat.js:3:9)");
        assert!(repeats.is_new(Level::ERROR, &exception(45_001)));
        for n in 0..17_512 {
            assert!(!repeats.is_new(Level::ERROR, &exception(45_002 + n)));
        }
        assert!(repeats.is_new(Level::WARN, "Request Failed"));
        assert!(repeats.is_new(Level::WARN, "another"));
        assert!(!repeats.is_new(Level::WARN, "Request Failed"));
        assert!(repeats.is_new(Level::INFO, "a step"));
        assert!(repeats.is_new(Level::INFO, "a step"));
        assert_eq!(
            told(&repeats),
            [
                "ERROR … 17,512 more like this: TypeError: no room on port 45002 (17512)",
                "WARN … 1 more like this: Request Failed (1)",
            ]
        );
        assert_eq!(told(&repeats), [""; 0]);
        assert!(!repeats.is_new(Level::ERROR, &exception(45_001)));
        assert_eq!(told(&repeats).len(), 1);
    }

    #[test]
    fn causes_without_end_are_one_line_and_none_is_lost() {
        let repeats = Repeats::default();
        let n_written = (0..500)
            .filter(|n| repeats.is_new(Level::ERROR, &format!("cause {n}")))
            .count();
        (0..500).for_each(|n| assert!(!repeats.is_new(Level::ERROR, &format!("cause {n}"))));
        let lines = told(&repeats);
        assert_eq!((n_written, lines.len()), (MAX_CAUSES, MAX_LINES + 1));
        assert_eq!(
            lines[MAX_LINES],
            "ERROR … and 895 more lines with other causes (895)"
        );
    }
}
