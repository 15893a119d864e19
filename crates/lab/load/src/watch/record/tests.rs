//! Records of targets, from invented readings.

use super::*;

fn reading(figures: &[(&'static str, Figure)]) -> Vec<(Cow<'static, str>, Figure)> {
    figures
        .iter()
        .map(|&(name, figure)| (name.into(), figure))
        .collect()
}

/// A record of one series: a reading before the load, and one at the end of each of these seconds.
fn record(base: Figure, seconds: &[(u64, Figure)]) -> Record {
    let mut record = Record::default();
    record.add(None, 0.0, &reading(&[("x", base)]));
    for &(second, figure) in seconds {
        record.add(Some(second), (second + 1) as f64, &reading(&[("x", figure)]));
    }
    record
}

#[test]
fn levels_rates_and_means_by_interval() {
    use Figure::{Level, Mean, Total};
    let mean = |sum, count| Mean { sum, count };
    for (base, seconds, expected) in [
        (
            Level(1.0),
            [(0, Level(5.0)), (1, Level(4.0)), (3, Level(7.0))],
            [Some(5.0), Some(4.0), None, Some(7.0)],
        ),
        // A gap belongs to the interval after it, with its whole length.
        (
            Total(10.0),
            [(0, Total(11.0)), (1, Total(14.0)), (3, Total(20.0))],
            [Some(1.0), Some(3.0), None, Some(3.0)],
        ),
        // A server that restarted has counted 4 since.
        (
            Total(10.0),
            [(0, Total(11.0)), (1, Total(4.0)), (3, Total(4.0))],
            [Some(1.0), Some(4.0), None, Some(0.0)],
        ),
        (
            mean(10.0, 5.0),
            [(0, mean(16.0, 7.0)), (1, mean(16.0, 7.0)), (3, mean(1.0, 1.0))],
            [Some(3.0), None, None, Some(1.0)],
        ),
    ] {
        let record = record(base, &seconds);
        assert_eq!(record.series("x", 1, 4), expected, "{base:?}");
    }
}

#[test]
fn two_intervals_keep_the_last_reading_and_the_whole_rate() {
    let totals = [1.0, 3.0, 6.0, 10.0, 15.0];
    let seconds: Vec<_> = (0..).zip(totals.map(Figure::Total)).collect();
    let record = record(Figure::Total(0.0), &seconds);
    assert_eq!(record.series("x", 2, 3), [Some(1.5), Some(3.5), Some(5.0)]);
    assert_eq!(record.growth("x"), Some((15.0, Duration::from_secs(5))));
    assert_eq!((record.base("x"), record.peak("x")), (None, None));
    assert_eq!(record.last_at(), Some(5.0));
}

#[test]
fn what_was_read_after_the_end_belongs_to_the_last_interval() {
    let record = record(
        Figure::Total(0.0),
        &[
            (0, Figure::Total(1.0)),
            (1, Figure::Total(2.0)),
            (2, Figure::Total(8.0)),
        ],
    );
    assert_eq!(record.series("x", 1, 2), [Some(1.0), Some(3.5)]);
    assert_eq!(
        record.series("x", 1, 5),
        [Some(1.0), Some(1.0), Some(6.0), None, None]
    );
}

#[test]
fn what_appears_late_has_no_rate_at_first() {
    let mut record = record(Figure::Level(0.0), &[(0, Figure::Level(1.0))]);
    for (second, total) in [(1, 5.0), (2, 7.0)] {
        record.add(
            Some(second),
            (second + 1) as f64,
            &reading(&[("late", Figure::Total(total))]),
        );
    }
    assert_eq!(record.series("late", 1, 4), [None, None, Some(2.0), None]);
    assert_eq!(record.names().collect::<Vec<_>>(), ["x", "late"]);
    assert!(record.series("never", 1, 4).is_empty());
}

#[test]
fn a_day_fits_into_the_same_memory_and_keeps_its_totals() {
    let mut record = Record::default();
    record.add(
        None,
        0.0,
        &reading(&[("cpu", Figure::Total(0.0)), ("rss", Figure::Level(1.0))]),
    );
    for second in 0..86_400_u64 {
        let at = (second + 1) as f64;
        let rss = if second == 40_001 {
            9_999.0
        } else {
            second as f64 / 100.0
        };
        record.add(
            Some(second),
            at,
            &reading(&[("cpu", Figure::Total(at * 0.5)), ("rss", Figure::Level(rss))]),
        );
    }
    assert!(
        record
            .columns
            .iter()
            .all(|column| column.cells.len() <= MAX_INTERVALS)
    );
    assert_eq!(record.doublings, 7);
    assert_eq!(
        record.growth("cpu"),
        Some((43_200.0, Duration::from_secs(86_400)))
    );
    assert_eq!(
        (record.base("rss"), record.peak("rss")),
        (Some(1.0), Some(9_999.0))
    );
    // The shown series has half as many intervals, each twice as long.
    let cores = record.series("cpu", 256, 338);
    assert!(cores.iter().all(|&cores| cores == Some(0.5)), "{cores:?}");
    assert!(
        record.series("cpu", 64, 512).is_empty(),
        "finer than what was kept"
    );
}

#[test]
fn series_are_bounded() {
    let mut record = Record::default();
    let figures = (0..200).map(|n| (Cow::from(format!("m{n}")), Figure::Level(1.0)));
    let reading: Vec<_> = figures.collect();
    record.add(Some(0), 1.0, &reading);
    assert_eq!(record.names().count(), MAX_SERIES);
}
