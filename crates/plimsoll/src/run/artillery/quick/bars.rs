//! A histogram of latencies as lines of text.

use std::time::Duration;

use plimsoll_load::histogram::Histogram;
use plimsoll_report::{bar, percentile, readable};

/// The most rows. Reason: the screen has room for so many beside the other lines.
const MOST_ROWS: u64 = 7;

/// The longest bar in columns.
const LONGEST_BAR: usize = 50;

/// A range of latencies in microseconds, and its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    from: u64,
    /// The first latency that is no longer in it.
    to: u64,
    count: u64,
}

/// The rows of the histogram, and the percentiles below them, each at most `width` columns wide. Empty without samples.
pub(super) fn lines(latencies: &Histogram, width: usize) -> Vec<String> {
    if latencies.is_empty() {
        return Vec::new();
    }
    let rows = rows(latencies);
    let labels: Vec<_> = rows.iter().map(|row| (time(row.from), time(row.to))).collect();
    let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or_default();
    let from_width = longest(&mut labels.iter().map(|(from, _)| from.chars().count()));
    let to_width = longest(&mut labels.iter().map(|(_, to)| to.chars().count()));
    let most = rows.iter().map(|row| row.count).max().unwrap_or_default();
    let count_width = readable::count(most).chars().count();
    // Two columns before each line, three within the label, two on each side of the count.
    let rest = 2 + from_width + 3 + to_width + 2 + count_width + 2;
    let longest_bar = width.saturating_sub(rest).min(LONGEST_BAR);
    let mut lines: Vec<_> = rows
        .iter()
        .zip(labels)
        .map(|(row, (from, to))| {
            let count = readable::count(row.count);
            let bar = bar_of(row.count, most, longest_bar);
            let line = format!("  {from:>from_width$} – {to:>to_width$}  {count:>count_width$}  {bar}");
            cut(line.trim_end(), width)
        })
        .collect();
    let figures = [("p50", 50.0), ("p95", 95.0), ("p99", 99.0)];
    let figures =
        figures.map(|(name, percent)| format!("{name} {}", duration(percentile(latencies, percent))));
    let line = format!("  {}   max {}", figures.join("   "), duration(latencies.max()));
    lines.push(cut(&line, width));
    lines
}

/// The line without the end that the terminal would wrap.
pub(super) fn cut(line: &str, width: usize) -> String {
    line.chars().take(width).collect()
}

fn rows(latencies: &Histogram) -> Vec<Row> {
    let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    let (min, max) = (micros(latencies.min()), micros(latencies.max()));
    let bounds = bounds(min, max);
    let n_from = |us: u64| latencies.n_at_or_above(Duration::from_micros(us));
    // The outer rows have all that is beyond them, so that buckets at the edges lose no sample.
    let last = bounds.len().saturating_sub(2);
    bounds
        .windows(2)
        .enumerate()
        .map(|(at, pair)| {
            let above = if at == last { 0 } else { n_from(pair[1]) };
            let below = if at == 0 {
                latencies.count()
            } else {
                n_from(pair[0])
            };
            Row {
                from: pair[0],
                to: pair[1],
                count: below.saturating_sub(above),
            }
        })
        .collect()
}

/// Round bounds around `min` and `max`: equal steps if the latencies are alike, and otherwise the series 1, 2, 5, 10, the
/// series 1, 3, 10, or powers of ten: the first that has room.
fn bounds(min: u64, max: u64) -> Vec<u64> {
    if max < min.saturating_mul(10) {
        let step = round_steps().find(|step| max / step - min / step < MOST_ROWS);
        let step = step.unwrap_or(u64::MAX);
        return (min / step..=max / step + 1)
            .map(|n| n.saturating_mul(step))
            .collect();
    }
    let within = |bounds: Vec<u64>| {
        let first = bounds.iter().rposition(|&bound| bound <= min).unwrap_or_default();
        let end = bounds
            .iter()
            .position(|&bound| bound > max)
            .unwrap_or(bounds.len() - 1);
        bounds[first..=end].to_vec()
    };
    let series = |digits: &[u64]| within(std::iter::once(0).chain(powers(digits)).collect());
    let candidates = [series(&[1, 2, 5]), series(&[1, 3])];
    let fitting = candidates
        .into_iter()
        .find(|bounds| bounds.len() as u64 <= MOST_ROWS + 1);
    fitting.unwrap_or_else(|| series(&[1]))
}

/// 1, 2, 5, 10, 20 … microseconds, far beyond an hour.
fn round_steps() -> impl Iterator<Item = u64> {
    powers(&[1, 2, 5])
}

/// These digits with the powers of ten.
fn powers(digits: &[u64]) -> impl Iterator<Item = u64> {
    (0..12).flat_map(move |power| digits.iter().map(move |digit| digit * 10_u64.pow(power)))
}

/// A bar whose length stands for `count` of `most`. A few samples have a bar, too.
fn bar_of(count: u64, most: u64, longest: usize) -> String {
    if count == 0 {
        return String::new();
    }
    let shortest = 1.0 / (longest * 8) as f64;
    bar((count as f64 / most as f64).max(shortest), longest)
}

fn time(us: u64) -> String {
    match us {
        0 => "0 µs".to_owned(),
        us => duration(Duration::from_micros(us)),
    }
}

fn duration(duration: Duration) -> String {
    readable::duration(duration.as_micros() as f64)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(samples: &[(u64, u64)], width: usize, expected: &Expect) {
        let mut latencies = Histogram::new();
        for &(us, n) in samples {
            latencies.record_n(Duration::from_micros(us), n);
        }
        let lines = lines(&latencies, width);
        for line in &lines {
            assert!(line.chars().count() <= width, "{line}");
        }
        let n_rows = rows(&latencies).iter().map(|row| row.count).sum::<u64>();
        assert_eq!(n_rows, latencies.count());
        // Without a line at the margin, the indentation would be that of the snapshot.
        expected.assert_eq(&format!("{width} columns\n{}", lines.join("\n")));
    }

    #[test]
    fn every_sample_is_in_a_bar() {
        check(
            &[],
            80,
            &expect![[r#"
            80 columns
        "#]],
        );
        check(
            &[(250, 1)],
            80,
            &expect![[r#"
                80 columns
                  250 µs – 251 µs  1  ██████████████████████████████████████████████████
                  p50 250 µs   p95 250 µs   p99 250 µs   max 250 µs"#]],
        );
        check(
            &[(210, 20), (280, 55), (333, 4), (399, 1)],
            80,
            &expect![[r#"
                80 columns
                  200 µs – 250 µs  20  ██████████████████▏
                  250 µs – 300 µs  55  ██████████████████████████████████████████████████
                  300 µs – 350 µs   4  ███▋
                  350 µs – 400 µs   1  ▉
                  p50 280 µs   p95 333 µs   p99 347 µs   max 399 µs"#]],
        );
        check(
            &[(90, 3), (450, 900), (1_500, 90), (40_000, 1)],
            80,
            &expect![[r#"
                80 columns
                   30 µs – 100 µs    3  ▏
                  100 µs – 300 µs    0
                  300 µs –   1 ms  900  ██████████████████████████████████████████████████
                    1 ms –   3 ms   90  █████
                    3 ms –  10 ms    0
                   10 ms –  30 ms    0
                   30 ms – 100 ms    1  ▏
                  p50 450 µs   p95 1.5 ms   p99 1.5 ms   max 40 ms"#]],
        );
        check(
            &[(90, 3), (450, 900), (1_500, 90), (40_000, 1)],
            40,
            &expect![[r#"
                40 columns
                   30 µs – 100 µs    3  ▏
                  100 µs – 300 µs    0
                  300 µs –   1 ms  900  ████████████████
                    1 ms –   3 ms   90  █▋
                    3 ms –  10 ms    0
                   10 ms –  30 ms    0
                   30 ms – 100 ms    1  ▏
                  p50 450 µs   p95 1.5 ms   p99 1.5 ms  "#]],
        );
        check(
            &[(1, 1), (90, 3), (40_000_000, 12_000), (7_200_000_000, 1)],
            60,
            &expect![[r#"
                60 columns
                         1 µs –       10 µs       1  ▏
                        10 µs –      100 µs       3  ▏
                       100 µs –        1 ms       0
                         1 ms –       10 ms       0
                        10 ms –      100 ms       0
                       100 ms –         1 s       0
                          1 s –        10 s       0
                         10 s –  1 min 40 s  12,000  ███████████████████████
                   1 min 40 s – 16 min 40 s       0
                  16 min 40 s –  2 h 46 min       1  ▏
                  p50 40 s   p95 40 s   p99 40 s   max 2 h"#]],
        );
        check(
            &[(0, 1), (3, 2)],
            12,
            &expect![[r#"
                12 columns
                  0 µs – 1 µ
                  1 µs – 2 µ
                  2 µs – 5 µ
                  p50 3 µs  "#]],
        );
    }
}
