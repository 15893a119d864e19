//! The curve: the values of one objective at each load, as bars. It is the first objective about a latency, or else the
//! first.

use std::collections::BTreeMap;

use plimsoll_report::bar;

use super::{Report, grouped};
use crate::{
    objective::{Concern, Objective},
    search::Vote,
};

/// The longest bar, in columns.
const LONGEST: usize = 40;

/// One load of the curve.
struct Point<'a> {
    value: f64,
    shown: &'a str,
    n_held: usize,
    n_steps: usize,
}

/// A line per load. Empty with fewer than two loads, or without samples.
pub(super) fn curve(report: &Report) -> String {
    let mut objectives = report.objectives.iter();
    let latency = objectives.position(|objective| objective.concern() == Concern::Latency);
    let at = latency.unwrap_or(0);
    let points = points(report, at);
    if points.len() < 2 {
        return String::new();
    }
    let highest = points.values().map(|point| point.value).fold(0.0, f64::max);
    let n_digits = points.keys().map(|&load| grouped(load).len()).max().unwrap_or(0);
    let n_shown = points.values().map(|point| point.shown.chars().count()).max();
    let n_shown = n_shown.unwrap_or(0);
    let lines = points.iter().map(|(&load, point)| {
        let Point {
            value,
            shown,
            n_held,
            n_steps,
        } = point;
        let share = if highest == 0.0 { 0.0 } else { value / highest };
        let mark = if n_held * 2 > *n_steps { ' ' } else { '✗' };
        let line = format!(
            "{:>n_digits$}  {shown:>n_shown$} {mark} {}",
            grouped(load),
            bar(share, LONGEST)
        );
        format!("  {}\n", line.trim_end())
    });
    let title = report.objectives.get(at).map_or("", Objective::text);
    format!(
        "\n{}, {title}\n{}\n",
        report.unit.title(),
        lines.collect::<String>()
    )
}

/// The median value of the steps at each load.
fn points(report: &Report, at: usize) -> BTreeMap<u64, Point<'_>> {
    let mut by_load: BTreeMap<u64, Vec<(f64, &str, Vote)>> = BTreeMap::new();
    for step in &report.steps {
        let judged = step.objectives.get(at);
        if let Some((judged, value)) = judged.and_then(|judged| Some((judged, judged.value?))) {
            let values = by_load.entry(step.load).or_default();
            values.push((value, &judged.shown, step.verdict));
        }
    }
    let points = by_load.into_iter().map(|(load, mut values)| {
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (value, shown, _) = values[values.len() / 2];
        let n_held = values.iter().filter(|(.., vote)| *vote == Vote::Held).count();
        let n_steps = values.len();
        let point = Point {
            value,
            shown,
            n_held,
            n_steps,
        };
        (load, point)
    });
    points.collect()
}

#[cfg(test)]
mod tests;
