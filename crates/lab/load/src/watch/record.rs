//! A target over time, in bounded memory: a reading per second, and for long runs one per two, four, … seconds.
//!
//! An interval keeps its last reading, so merging two intervals drops the first. That loses nothing for the longer
//! interval: levels are those at its end, rates and means come from the difference of two totals. The highest level of
//! all readings is kept separately.

use std::{borrow::Cow, time::Duration};

use super::figure::{Figure, Figures};

/// The most intervals. Twice those of a timeline, so that the record is never coarser than the display.
const MAX_INTERVALS: usize = 1024;

/// The most series of one target. Reason: those of a page, and those that every target has.
const MAX_SERIES: usize = super::choice::MAX_SERIES + 16;

/// All readings of one target, from the start of the load on.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Seconds of an interval, a power of two; 0 stands for 1.
    doublings: u32,
    columns: Vec<Column>,
    n_readings: u64,
}

/// One series.
#[derive(Clone, Debug)]
struct Column {
    name: Cow<'static, str>,
    /// What was read last, for totals that begin anew.
    last_raw: Figure,
    /// Before the load.
    base: Option<Cell>,
    /// By interval.
    cells: Vec<Option<Cell>>,
    peak: f64,
}

/// A reading of one series.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    /// Seconds since the start of the load; negative before it.
    at: f64,
    /// The figure. Totals keep growing when the target's own restarted.
    figure: Figure,
}

impl Record {
    /// Adds the figures of a reading taken `at` this many seconds since the start of the load (before it, if negative).
    /// It is the end of the second numbered `second`; `None` for the state before the load.
    pub fn add(&mut self, second: Option<u64>, at: f64, figures: &Figures) {
        self.n_readings += 1;
        let interval = second.map(|second| self.make_room(second));
        for (name, figure) in figures {
            let known = self.columns.iter().position(|column| column.name == *name);
            let column = match known {
                Some(idx) => &mut self.columns[idx],
                None if self.columns.len() < MAX_SERIES => {
                    self.columns.push(Column::new(name.clone(), *figure));
                    self.columns.last_mut().expect("a column has just been pushed")
                }
                None => continue,
            };
            column.add(interval, at, *figure);
        }
    }

    /// The interval of this second, after as many merges of neighbours as necessary.
    fn make_room(&mut self, second: u64) -> usize {
        while second >> self.doublings >= MAX_INTERVALS as u64 {
            self.doublings += 1;
            self.columns.iter_mut().for_each(Column::merge_neighbours);
        }
        usize::try_from(second >> self.doublings).expect("it is less than MAX_INTERVALS")
    }

    /// The number of readings of the target.
    pub fn n_readings(&self) -> u64 {
        self.n_readings
    }

    /// The names of all series, in the order in which they appeared.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_ref())
    }

    /// A series by intervals of this many seconds, a power of two, the first of which begins with the load: levels at
    /// the end of each interval, and rates and means over it. `None` without a reading or a value. Empty if there is no
    /// such series, or the record is coarser.
    pub fn series(&self, name: &str, interval_seconds: u64, n_intervals: usize) -> Vec<Option<f64>> {
        let Some(column) = self.column(name) else {
            return Vec::new();
        };
        let wanted = interval_seconds.max(1).ilog2();
        if wanted < self.doublings {
            return Vec::new();
        }
        let mut column = column.clone();
        (self.doublings..wanted).for_each(|_| column.merge_neighbours());
        column.values(n_intervals)
    }

    /// The level before the load.
    pub fn base(&self, name: &str) -> Option<f64> {
        match self.column(name)?.base?.figure {
            Figure::Level(value) => Some(value),
            Figure::Total(_) | Figure::Mean { .. } => None,
        }
    }

    /// The highest level of all readings.
    pub fn peak(&self, name: &str) -> Option<f64> {
        let column = self.column(name)?;
        matches!(column.last_raw, Figure::Level(_)).then_some(column.peak)
    }

    /// By how much a total grew between the first and the last reading, and the time between the two.
    pub fn growth(&self, name: &str) -> Option<(f64, Duration)> {
        let column = self.column(name)?;
        let mut cells = column.base.iter().chain(column.cells.iter().flatten());
        let first = cells.next()?;
        let last = cells.last().unwrap_or(first);
        match (first.figure, last.figure) {
            (Figure::Total(from), Figure::Total(to)) => {
                let time = Duration::try_from_secs_f64(last.at - first.at).unwrap_or_default();
                Some((to - from, time))
            }
            _ => None,
        }
    }

    /// When the last reading was taken, in seconds since the start of the load. `None` without readings.
    pub fn last_at(&self) -> Option<f64> {
        let last = |column: &Column| {
            column
                .cells
                .iter()
                .rev()
                .flatten()
                .next()
                .or(column.base.as_ref())
                .map(|cell| cell.at)
        };
        self.columns.iter().filter_map(last).reduce(f64::max)
    }

    fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl Column {
    fn new(name: Cow<'static, str>, first: Figure) -> Self {
        Self {
            name,
            last_raw: first,
            base: None,
            cells: Vec::new(),
            peak: f64::NEG_INFINITY,
        }
    }

    fn add(&mut self, interval: Option<usize>, at: f64, raw: Figure) {
        let figure = grown(self.last(), self.last_raw, raw);
        self.last_raw = raw;
        if let Figure::Level(value) = raw {
            self.peak = self.peak.max(value);
        }
        let cell = Cell { at, figure };
        match interval {
            None => self.base = Some(cell),
            Some(interval) => {
                if self.cells.len() <= interval {
                    self.cells.resize(interval + 1, None);
                }
                self.cells[interval] = Some(cell);
            }
        }
    }

    fn last(&self) -> Option<Figure> {
        let last = self.cells.last().copied().flatten();
        let last = last.or_else(|| self.cells.iter().rev().flatten().next().copied());
        last.or(self.base).map(|cell| cell.figure)
    }

    fn merge_neighbours(&mut self) {
        let merged = self
            .cells
            .chunks(2)
            .map(|pair| pair.iter().rev().flatten().next().copied());
        self.cells = merged.collect();
    }

    fn values(&self, n_intervals: usize) -> Vec<Option<f64>> {
        let mut before = self.base;
        (0..n_intervals)
            .map(|interval| {
                // A reading after the end counts as the end of the last interval.
                let end = if interval + 1 == n_intervals {
                    usize::MAX
                } else {
                    interval + 1
                };
                let cells = self.cells.get(interval..end.min(self.cells.len()))?;
                let cell = cells.iter().rev().flatten().next().copied()?;
                let since = before.replace(cell);
                cell.value(since)
            })
            .collect()
    }
}

impl Cell {
    /// The value for the time since the previous reading.
    fn value(self, before: Option<Self>) -> Option<f64> {
        match (self.figure, before?) {
            (Figure::Level(value), _) => Some(value),
            (
                Figure::Total(to),
                Self {
                    at,
                    figure: Figure::Total(from),
                },
            ) => (self.at > at).then(|| (to - from) / (self.at - at)),
            (
                Figure::Mean { sum, count },
                Self {
                    figure:
                        Figure::Mean {
                            sum: sum_before,
                            count: count_before,
                        },
                    ..
                },
            ) => (count > count_before).then(|| (sum - sum_before) / (count - count_before)),
            _ => None,
        }
    }
}

/// `raw` as a sum that continues from `sum`, the result for `before`. A total that is lower than before has restarted,
/// and all of it is new.
fn grown(sum: Option<Figure>, before: Figure, raw: Figure) -> Figure {
    let more = |before: f64, now: f64| if now >= before { now - before } else { now };
    match (sum, before, raw) {
        (Some(Figure::Total(sum)), Figure::Total(before), Figure::Total(now)) => {
            Figure::Total(sum + more(before, now))
        }
        (
            Some(Figure::Mean { sum, count }),
            Figure::Mean {
                sum: sum_before,
                count: count_before,
            },
            Figure::Mean {
                sum: sum_now,
                count: count_now,
            },
        ) => {
            if count_now >= count_before {
                Figure::Mean {
                    sum: sum + sum_now - sum_before,
                    count: count + count_now - count_before,
                }
            } else {
                Figure::Mean {
                    sum: sum + sum_now,
                    count: count + count_now,
                }
            }
        }
        _ => raw,
    }
}

#[cfg(test)]
mod tests;
