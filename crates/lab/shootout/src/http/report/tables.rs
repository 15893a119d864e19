//! ab's two files: percentages as CSV (`-e`) and requests for gnuplot (`-g`).

use std::{
    io::{self, Write},
    time::{Duration, UNIX_EPOCH},
};

use plimsoll_report::asctime;

use super::percentiles::at_ms;
use crate::http::outcome::HttpOutcome;

/// The time of each percentage from 0 to 100, in milliseconds.
pub(crate) fn csv(outcome: &HttpOutcome, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Percentage served,Time in ms")?;
    for percent in 0..=100_u8 {
        let ms = at_ms(&outcome.tally.total.histogram, f64::from(percent));
        writeln!(out, "{percent},{ms:.3}")?;
    }
    out.flush()
}

/// A line per complete request, the shortest first as ab sorts them; times in whole milliseconds.
pub(crate) fn gnuplot(outcome: &mut HttpOutcome, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "starttime\tseconds\tctime\tdtime\tttime\twait")?;
    let began = outcome.began;
    if let Some(samples) = &mut outcome.tally.samples {
        samples.kept.sort_unstable_by_key(|sample| sample.total_us);
        for sample in &samples.kept {
            let started = began + Duration::from_micros(sample.started_us);
            let seconds = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let ms = |us: u32| (f64::from(us) / 1e3).round();
            writeln!(
                out,
                "{}\t{seconds}\t{}\t{}\t{}\t{}",
                asctime(started),
                ms(sample.connect_us),
                ms(sample.total_us.saturating_sub(sample.connect_us)),
                ms(sample.total_us),
                ms(sample.waiting_us)
            )?;
        }
    }
    out.flush()
}
