//! One metric on its way to a series.

use plimsoll_load::metrics::{Rate, Value};

use super::{Axis, Series, axis::halve, spread::Spread};

/// What a metric did in each interval so far. Intervals at the end without samples may be missing.
#[derive(Clone, Debug)]
pub(super) enum Track {
    Counter(Vec<f64>),
    Gauge(Vec<Option<f64>>),
    Rate(Vec<Rate>),
    Trend(Vec<Spread>),
}

impl Track {
    /// A track of the kind of `value`.
    pub(super) fn of(value: Value<'_>) -> Self {
        match value {
            Value::Counter(_) => Self::Counter(Vec::new()),
            Value::Gauge(_) => Self::Gauge(Vec::new()),
            Value::Rate(_) => Self::Rate(Vec::new()),
            Value::Trend(_) => Self::Trend(Vec::new()),
        }
    }

    /// Adds the samples of an interval. A name has one kind in a whole run; another kind is ignored.
    pub(super) fn add(&mut self, interval: usize, value: Value<'_>) {
        match (self, value) {
            (Self::Counter(counts), Value::Counter(count)) => *at(counts, interval) += count,
            (Self::Gauge(values), Value::Gauge(gauge)) => *at(values, interval) = Some(gauge.value),
            (Self::Rate(rates), Value::Rate(rate)) => {
                let known = at(rates, interval);
                *known = sum(*known, rate);
            }
            (Self::Trend(spreads), Value::Trend(histogram)) if !histogram.is_empty() => {
                let known = at(spreads, interval);
                *known = known.merged(&Spread::of(histogram));
            }
            _ => {}
        }
    }

    /// Merges neighbours.
    pub(super) fn halve(&mut self) {
        match self {
            Self::Counter(counts) => halve(counts, |one, other| one + other),
            Self::Gauge(values) => halve(values, |one, other| other.or(*one)),
            Self::Rate(rates) => halve(rates, |one, other| sum(*one, *other)),
            Self::Trend(spreads) => halve(spreads, Spread::merged),
        }
    }

    /// Numbers that its series has in JSON.
    pub(super) fn n_numbers(&self, axis: Axis) -> usize {
        axis.n_intervals
            * match self {
                Self::Counter(_) | Self::Gauge(_) => 1,
                Self::Rate(_) => 2,
                Self::Trend(_) => 7,
            }
    }

    /// Pairs of its heatmap. Both numbers of a pair are short, so it counts as one.
    pub(super) fn n_heat(&self) -> usize {
        match self {
            Self::Trend(spreads) => spreads.iter().map(Spread::n_heat).sum(),
            _ => 0,
        }
    }

    pub(super) fn series(self, axis: Axis) -> Series {
        let n = axis.n_intervals;
        match self {
            Self::Counter(counts) => Series::Counter {
                counts: padded(counts, n),
            },
            Self::Gauge(values) => Series::Gauge {
                values: padded(values, n),
            },
            Self::Rate(rates) => {
                let rates = padded(rates, n);
                Series::Rate {
                    passes: rates.iter().map(|rate| rate.n_true).collect(),
                    totals: rates.iter().map(|rate| rate.n_total).collect(),
                }
            }
            Self::Trend(spreads) => trend(&padded(spreads, n)),
        }
    }
}

fn trend(spreads: &[Spread]) -> Series {
    let quantile = |quantile| spreads.iter().map(|spread| spread.quantile(quantile)).collect();
    Series::Trend {
        counts: spreads.iter().map(Spread::n).collect(),
        means: spreads.iter().map(Spread::mean).collect(),
        p50: quantile(0.5),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        max: spreads.iter().map(Spread::max).collect(),
        heat: spreads.iter().map(Spread::heat).collect(),
    }
}

fn at<T: Clone + Default>(values: &mut Vec<T>, interval: usize) -> &mut T {
    if values.len() <= interval {
        values.resize(interval + 1, T::default());
    }
    &mut values[interval]
}

fn padded<T: Clone + Default>(mut values: Vec<T>, n: usize) -> Vec<T> {
    values.resize(n, T::default());
    values
}

fn sum(one: Rate, other: Rate) -> Rate {
    Rate {
        n_true: one.n_true + other.n_true,
        n_total: one.n_total + other.n_total,
    }
}
