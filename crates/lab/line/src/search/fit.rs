//! The fit: which lines agree with the steps so far, and which load would tell most about the rest.
//!
//! A step at the load `x` holds with the probability `q + s·(1 − q − r)`, where `s = 1 / (1 + (x / line)^(1/spread))`
//! falls from 1 to 0 around the line, `r` is the share of steps that fail by mistake (another program took the CPU), and
//! `q` the small share that holds by mistake. Line, spread and `r` are unknown: each combination on a grid gets the
//! weight of its prior times the probability of the observed steps (Bayes' rule, without chance and without iteration).
//! Weights of a line are those of all its spreads and mistakes together.
//!
//! The line is a whole number: the greatest load at which a step without mistakes holds at least as often as it fails.
//! Cells of the grid begin at the tried loads, because a step separates the lines below its load from the others.

use std::collections::BTreeMap;

/// A load with its steps that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Steps that held.
    pub(super) held: u32,
    /// Steps that failed.
    pub(super) failed: u32,
}

/// The loads between which the line may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The lowest useful load.
    pub(super) least: u64,
    /// The greatest load.
    pub(super) max: u64,
}

/// An interval for the line: the greatest load at which a step holds at least as often as it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Interval {
    /// The lower end. Below the lowest useful load if not even that one may hold.
    pub low: u64,
    /// The upper end, included. `None` if the greatest allowed load may hold.
    pub high: Option<u64>,
}

/// The most probable values of the fit.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Fit {
    /// The median of the line.
    pub line: u64,
    /// The relative distance from the line at which 73 % of steps hold: 0.05 is 5 % below. The mean over the grid.
    pub spread: f64,
    /// The share of steps that fail by mistake below the line. The mean over the grid.
    pub spurious: f64,
}

/// The weights of all cells after some steps.
#[derive(Clone, Debug)]
pub(super) struct Posterior {
    range: Range,
    cells: Vec<Cell>,
}

/// Lines from one load until before the next one.
#[derive(Clone, Debug)]
struct Cell {
    begin: u64,
    /// Included.
    end: u64,
    /// The logarithm of the line that stands for all of the cell.
    middle: f64,
    /// The weight for each spread, over all shares of mistakes; all weights of all cells add up to 1.
    weights: [f64; N_SPREADS],
    /// The weight for each spread, times the share of mistakes.
    spurious: [f64; N_SPREADS],
}

const N_SPREADS: usize = 6;

/// The spreads, as distances of logarithms, with their prior weights. Reason: limits of connections are sharp; latencies
/// near saturation vary by some percent from step to step; beyond a fifth a search has no narrow answer.
const SPREADS: [(f64, f64); N_SPREADS] = [
    (0.002, 0.23),
    (0.01, 0.19),
    (0.025, 0.19),
    (0.05, 0.16),
    (0.1, 0.13),
    (0.2, 0.1),
];

/// The shares of steps that fail by mistake, with their prior weights. Reason: on a quiet machine one step in a hundred
/// or fewer; on a busy one, any share.
const SPURIOUS: [(f64, f64); 4] = [(0.01, 0.5), (0.06, 0.25), (0.18, 0.15), (0.4, 0.1)];

/// The share of steps that hold by mistake: a target far beyond its limit rarely looks healthy for a whole step.
const LUCKY: f64 = 0.01;

/// The prior weight of lines outside the range, at each side, in units of the logarithm of the load.
const OUTSIDE: f64 = 0.7;

/// Cells between two tried loads. Reason: the interval is then exact to a tenth of their distance.
const PARTS: u32 = 8;

/// The share of the weight outside the interval, at each end. Reason: a search ends when its interval is narrow, so lucky
/// steps end more searches than unlucky ones. With 2 %, nine of ten simulated intervals contain the line, however sharp
/// or blurred it is (the tests count them).
const TAIL: f64 = 0.02;

/// Candidates for the most informative step: as many quantiles of the line.
const CANDIDATES: u32 = 19;

impl Posterior {
    /// The weights after these steps.
    pub(super) fn new(range: Range, tallies: &BTreeMap<u64, Tally>) -> Self {
        let mut cells = cells(range, tallies.keys().copied());
        let tallies: Vec<_> = tallies
            .iter()
            .map(|(&load, &tally)| ((load as f64).ln(), tally))
            .collect();
        for cell in &mut cells {
            cell.weigh(range, &tallies);
        }
        let total: f64 = cells.iter().map(Cell::weight).sum();
        for weight in cells
            .iter_mut()
            .flat_map(|cell| cell.weights.iter_mut().chain(&mut cell.spurious))
        {
            *weight /= total;
        }
        Self { range, cells }
    }

    /// The lines without [`TAIL`] of the weight at each end, rounded outwards to whole cells.
    pub(super) fn interval(&self) -> Interval {
        let (low, high) = (self.quantile(TAIL), self.quantile(1.0 - TAIL));
        Interval {
            low: low.begin,
            high: (high.begin < self.range.max).then_some(high.end),
        }
    }

    /// The most probable values.
    pub(super) fn fit(&self) -> Fit {
        let sum = |of: &dyn Fn(&Cell) -> f64| self.cells.iter().map(of).sum::<f64>();
        Fit {
            line: self.quantile(0.5).begin,
            spread: sum(&|cell| {
                cell.weights
                    .iter()
                    .zip(SPREADS)
                    .map(|(weight, (spread, _))| weight * spread)
                    .sum()
            }),
            spurious: sum(&|cell| cell.spurious.iter().sum()),
        }
    }

    /// The load up to `most` whose step tells most about the line: the greatest mutual information of its result and the
    /// line.
    pub(super) fn most_informative(&self, most: u64) -> u64 {
        let most = most.clamp(self.range.least, self.range.max);
        let shares = (1..=CANDIDATES).map(|at| f64::from(at) / f64::from(CANDIDATES + 1));
        let mut loads: Vec<_> = shares
            .map(|share| self.quantile(share))
            .flat_map(|cell| [cell.begin, cell.end.saturating_add(1)])
            .map(|load| load.clamp(self.range.least, most))
            .collect();
        loads.dedup();
        let mut best = (f64::NEG_INFINITY, self.range.least);
        for load in loads {
            let information = self.information(load);
            if information > best.0 {
                best = (information, load);
            }
        }
        best.1
    }

    /// The mutual information of the line and the result of a step at this load, in nats.
    fn information(&self, load: u64) -> f64 {
        let load = (load as f64).ln();
        let (mut holds, mut noise) = (0.0, 0.0);
        for cell in &self.cells {
            let (weight, share) = (cell.weight(), cell.share_that_holds(load));
            holds += share;
            if weight > 0.0 {
                noise += weight * entropy(share / weight);
            }
        }
        entropy(holds) - noise
    }

    /// The cell in which the weight from below reaches this share.
    fn quantile(&self, share: f64) -> &Cell {
        let mut sum = 0.0;
        let found = self.cells.iter().find(|cell| {
            sum += cell.weight();
            sum >= share
        });
        // Rounding may leave the sum just below 1. There is always a cell: the lines of at least the maximum.
        found.unwrap_or_else(|| &self.cells[self.cells.len() - 1])
    }
}

impl Cell {
    fn new(begin: u64, end: u64) -> Self {
        Self {
            begin,
            end,
            middle: f64::midpoint((begin as f64).ln(), (end as f64 + 1.0).ln()),
            weights: [0.0; N_SPREADS],
            spurious: [0.0; N_SPREADS],
        }
    }

    /// Sets the weights, which do not add up to 1 yet.
    fn weigh(&mut self, range: Range, tallies: &[(f64, Tally)]) {
        let prior = if self.begin < range.least || self.begin >= range.max {
            OUTSIDE
        } else {
            (self.end as f64 + 1.0).ln() - (self.begin as f64).ln()
        };
        for (at, (spread, of_spread)) in SPREADS.into_iter().enumerate() {
            let mut likely = SPURIOUS.map(|(_, of_spurious)| prior * of_spread * of_spurious);
            for (load, tally) in tallies {
                let share = share_below(*load, self.middle, spread);
                for (likely, (spurious, _)) in likely.iter_mut().zip(SPURIOUS) {
                    let holds = LUCKY + share * (1.0 - LUCKY - spurious);
                    *likely *= power(holds, tally.held) * power(1.0 - holds, tally.failed);
                }
            }
            self.weights[at] = likely.iter().sum();
            self.spurious[at] = likely
                .iter()
                .zip(SPURIOUS)
                .map(|(likely, (share, _))| likely * share)
                .sum();
        }
    }

    fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The weight of the cell times the probability that a step at this load (its logarithm) holds.
    fn share_that_holds(&self, load: f64) -> f64 {
        let of_spreads = self.weights.iter().zip(&self.spurious).zip(SPREADS);
        let shares = of_spreads.map(|((weight, spurious), (spread, _))| {
            let share = share_below(load, self.middle, spread);
            LUCKY * weight + share * (weight * (1.0 - LUCKY) - spurious)
        });
        shares.sum()
    }
}

/// The cells: one for each whole number, or [`PARTS`] between two tried loads if there are more numbers.
fn cells(range: Range, tried: impl Iterator<Item = u64>) -> Vec<Cell> {
    let Range { least, max } = range;
    let mut edges: Vec<u64> = tried.filter(|load| (least..=max).contains(load)).collect();
    edges.extend([least, max]);
    edges.sort_unstable();
    edges.dedup();
    let mut begins = Vec::new();
    for pair in edges.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let step = (to as f64 / from as f64).powf(1.0 / f64::from(PARTS));
        let parts = (0..PARTS).map(|part| (from as f64 * step.powi(part as i32)).round() as u64);
        begins.extend(parts.map(|begin| begin.clamp(from, to - 1)));
    }
    begins.push(max);
    begins.dedup();
    let mut cells = Vec::with_capacity(begins.len() + 1);
    // Lines below the range: half of the lowest useful load stands for all.
    cells.push(Cell {
        middle: (least as f64 / 2.0).ln(),
        ..Cell::new(least - 1, least - 1)
    });
    cells.extend(begins.windows(2).map(|pair| Cell::new(pair[0], pair[1] - 1)));
    // Lines of at least the maximum.
    cells.push(Cell {
        middle: (max as f64 * 1.5).ln(),
        ..Cell::new(max, max)
    });
    cells
}

/// The share of steps without mistakes that hold at a load, for a line and a spread; loads and lines are logarithms.
fn share_below(load: f64, line: f64, spread: f64) -> f64 {
    1.0 / (1.0 + ((load - line) / spread).exp())
}

fn power(base: f64, exponent: u32) -> f64 {
    match exponent {
        0 => 1.0,
        1 => base,
        _ => base.powi(i32::try_from(exponent).unwrap_or(i32::MAX)),
    }
}

/// The entropy of a result with this probability, in nats.
fn entropy(share: f64) -> f64 {
    let part = |share: f64| if share > 0.0 { -share * share.ln() } else { 0.0 };
    part(share) + part(1.0 - share)
}
