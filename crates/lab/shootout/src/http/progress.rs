//! Progress for people: a line that is redrawn on a terminal, and plain lines without a terminal.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use super::{board::Reading, schedule::Extent};
use crate::talk::Talk;

/// The interval between lines without a terminal.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// ab counts aloud in runs with more requests.
const N_SHORT: u64 = 150;

/// Tells how far a run is.
pub(crate) struct Progress<'a> {
    talk: Talk<'a>,
    /// Where exchanges are shown; `None` for the place of the progress.
    transcript: Option<&'a mut dyn Write>,
    is_quiet: bool,
    extent: Extent,
    /// The last line: its time and its reading.
    last: Option<(Instant, Reading)>,
    began: Option<Instant>,
    /// Tenths of the requests that have been counted aloud.
    n_tenths: u64,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(talk: Talk<'a>, is_quiet: bool, extent: Extent) -> Self {
        Self {
            talk,
            transcript: None,
            is_quiet,
            extent,
            last: None,
            began: None,
            n_tenths: 0,
        }
    }

    /// The same progress, with exchanges in another place.
    pub(crate) fn transcribing_to(self, out: &'a mut dyn Write) -> Self {
        Self {
            transcript: Some(out),
            ..self
        }
    }

    /// Shows an exchange. A text that cannot be written is lost.
    pub(crate) fn transcribe(&mut self, text: &str) {
        match &mut self.transcript {
            Some(out) => {
                let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            }
            None => self.talk.say(text.trim_end_matches('\n')),
        }
    }

    /// Shows the reading of `now`. Callers call this often.
    pub(crate) fn show(&mut self, reading: &Reading, now: Instant) {
        let began = *self.began.get_or_insert(now);
        if self.is_quiet {
            return;
        }
        let line = self.line(reading, began, now);
        if self.talk.draw(&line) {
            self.last = Some((now, reading.clone()));
            return;
        }
        self.count_aloud(reading.n_complete + reading.n_failed);
        let said = self.last.as_ref().map_or(began, |(at, _)| *at);
        if now >= said + SAY_EVERY {
            self.talk.say(&line);
            self.last = Some((now, reading.clone()));
        }
    }

    /// The run is over.
    pub(crate) fn finish(&mut self, n_complete: u64) {
        if self.is_quiet {
            return;
        }
        self.talk.clear();
        if !self.talk.is_terminal() && self.extent.n_requests.is_none_or(|n| n > N_SHORT) {
            self.count_aloud(n_complete);
            self.talk.say(&format!("Finished {n_complete} requests"));
        }
    }

    /// Prints a remark, also in quiet mode.
    pub(crate) fn note(&mut self, text: &str) {
        self.talk.say(text);
    }

    fn count_aloud(&mut self, n_done: u64) {
        let Some(n_requests) = self
            .extent
            .n_requests
            .filter(|n| *n > N_SHORT && self.extent.duration.is_none())
        else {
            return;
        };
        let tenth = n_requests.div_ceil(10);
        while self.n_tenths < 10 && n_done >= (self.n_tenths + 1) * tenth {
            self.n_tenths += 1;
            self.talk
                .say(&format!("Completed {} requests", self.n_tenths * tenth));
        }
    }

    fn line(&self, reading: &Reading, began: Instant, now: Instant) -> String {
        let elapsed = now - began;
        if elapsed < self.extent.warm_up {
            return format!(
                "warming up: {} requests, {} s",
                reading.n_warm_up,
                elapsed.as_secs()
            );
        }
        let (since, before) = self.last.clone().unwrap_or((began, Reading::default()));
        let n = reading.n_complete - before.n_complete;
        let seconds = (now - since).as_secs_f64();
        let per_second = if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
        let mean_ms = (reading.sum.saturating_sub(before.sum)).as_secs_f64() * 1e3 / n.max(1) as f64;
        let of = self
            .extent
            .n_requests
            .map_or(String::new(), |n| format!(" of {n}"));
        let until = self.extent.duration.map_or(String::new(), |duration| {
            format!(" of {}", duration.as_secs_f64())
        });
        let percentiles = reading.times.percentiles_since(&before.times, [50.0, 99.0]);
        // They are known within 1.6 %.
        let percentiles = percentiles.map_or_else(String::new, |[p50, p99]| {
            format!(", p50 {}, p99 {}", three_digits(p50), three_digits(p99))
        });
        format!(
            "{}{of} requests, {} failed, {:.0}{until} s; now {per_second:.0}/s, mean {mean_ms:.3}{percentiles} ms",
            reading.n_complete,
            reading.n_failed,
            (elapsed - self.extent.warm_up).as_secs_f64(),
        )
    }
}

/// The time in milliseconds.
fn three_digits(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    let decimals = match ms {
        ..1.0 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{ms:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        http::{board::Board, spread::Counts},
        talk::Columns,
    };

    const EXTENT: Extent = Extent {
        rate: None,
        warm_up: Duration::ZERO,
        duration: None,
        n_requests: Some(1000),
    };

    /// The output for these readings at these seconds.
    fn said(is_terminal: bool, is_quiet: bool, extent: Extent, readings: &[(u64, u64)]) -> String {
        let mut talk = Vec::new();
        let columns: Option<Columns> = is_terminal.then_some(|| 80);
        let mut progress = Progress::new(Talk::new(&mut talk, columns), is_quiet, extent);
        let began = Instant::now();
        for &(seconds, n_complete) in readings {
            let reading = Reading {
                n_complete,
                sum: Duration::from_millis(2 * n_complete),
                n_warm_up: 5,
                n_failed: 0,
                times: Counts::default(),
            };
            progress.show(&reading, began + Duration::from_secs(seconds));
        }
        progress.finish(readings.last().map_or(0, |(_, n)| *n));
        String::from_utf8(talk).unwrap()
    }

    #[test]
    fn nobody_watches_and_ab_counts_aloud() {
        let check = |extent, readings: &[(u64, u64)], expected: &str| {
            assert_eq!(said(false, false, extent, readings), expected);
        };
        check(
            EXTENT,
            &[(0, 0), (1, 250), (2, 1000)],
            "Completed 100 requests\nCompleted 200 requests\nCompleted 300 requests\nCompleted 400 requests\n\
             Completed 500 requests\nCompleted 600 requests\nCompleted 700 requests\nCompleted 800 requests\n\
             Completed 900 requests\nCompleted 1000 requests\nFinished 1000 requests\n",
        );
        check(
            Extent {
                n_requests: Some(150),
                ..EXTENT
            },
            &[(0, 0), (1, 150)],
            "",
        );
        check(
            Extent {
                n_requests: None,
                duration: Some(Duration::from_secs(30)),
                ..EXTENT
            },
            &[(0, 0), (9, 90), (10, 100), (11, 110), (20, 200)],
            "100 requests, 0 failed, 10 of 30 s; now 10/s, mean 2.000 ms\n\
             200 requests, 0 failed, 20 of 30 s; now 10/s, mean 2.000 ms\nFinished 200 requests\n",
        );
    }

    #[test]
    fn a_terminal_has_one_line_that_is_gone_at_the_end() {
        let warm_up = Extent {
            warm_up: Duration::from_secs(1),
            ..EXTENT
        };
        assert_eq!(
            said(true, false, warm_up, &[(0, 0), (2, 100)]),
            "\r\x1b[2Kwarming up: 5 requests, 0 s\r\x1b[2K100 of 1000 requests, 0 failed, 1 s; now 50/s, mean \
             2.000 ms\r\x1b[2K"
        );
        assert_eq!(said(true, true, warm_up, &[(0, 0), (2, 100)]), "");
    }

    #[test]
    fn percentiles_have_three_digits() {
        for (us, expected) in [
            (0, "0.000"),
            (473, "0.473"),
            (1_234, "1.23"),
            (12_345, "12.3"),
            (123_456, "123"),
            (1_234_567, "1235"),
        ] {
            assert_eq!(three_digits(Duration::from_micros(us)), expected, "{us}");
        }
    }

    #[test]
    fn the_line_has_percentiles_of_what_came_since() {
        let board = Board::default();
        let mut talk = Vec::new();
        let columns: Columns = || 200;
        let mut progress = Progress::new(Talk::new(&mut talk, Some(columns)), false, EXTENT);
        let began = Instant::now();
        for (second, ms) in [(0, 2), (1, 2), (2, 40)] {
            (0..100).for_each(|_| board.complete(Duration::from_millis(ms)));
            let boards = std::slice::from_ref(&board);
            progress.show(&Board::read(boards), began + Duration::from_secs(second));
        }
        let talk = String::from_utf8(talk).unwrap();
        assert!(
            talk.ends_with(
                "300 of 1000 requests, 0 failed, 2 s; now 100/s, mean 40.000, p50 40.4, p99 40.4 ms"
            ),
            "{talk}"
        );
    }
}
