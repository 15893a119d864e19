//! ab's two files: percentages as CSV (`-e`) and requests for gnuplot (`-g`).

use std::{
    io::{self, Write},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

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

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// `Sun Nov 22 05:05:35 2026`, in UTC.
fn asctime(time: SystemTime) -> String {
    // 2026-11-22T05:05:35…
    let text = plimsoll_report::rfc3339(time);
    let days = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400;
    let weekday = DAYS[(days % 7) as usize];
    let month: usize = text.get(5..7).and_then(|month| month.parse().ok()).unwrap_or(1);
    let month = MONTHS[month.clamp(1, 12) - 1];
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    format!(
        "{weekday} {month} {} {} {}",
        part(8, 10),
        part(11, 19),
        part(0, 4)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_c() {
        let check = |seconds, expected| {
            assert_eq!(asctime(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        };
        check(0, "Thu Jan 01 00:00:00 1970");
        check(1_795_323_935, "Sun Nov 22 05:05:35 2026");
    }
}
