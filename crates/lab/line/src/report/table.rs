//! The steps as a table, printed row by row.

use plimsoll_report::{Style, quantity};

use super::{Unit, grouped};
use crate::{
    objective::Objective,
    search::Vote,
    step::{Step, TargetUse},
};

/// Columns of the step's number and of its load.
const NUMBER: usize = 4;
const LOAD: usize = 12;

/// The least width of an objective's column, so that values such as `123.45ms` fit.
const LEAST: usize = 9;

/// Columns of a target's CPU and memory.
const TARGET: usize = 21;

/// The head of the table.
pub fn header(unit: Unit, objectives: &[Objective], n_targets: usize) -> String {
    let titles: String = objectives
        .iter()
        .map(|objective| {
            let (title, width) = (objective.title(), width(objective));
            format!("  {title:>width$}")
        })
        .collect();
    let targets = format!("  {:>TARGET$}", "target CPU, memory").repeat(n_targets);
    format!("{:>NUMBER$}{:>LOAD$}{titles}{targets}", "step", unit.title())
}

/// One step, the `number`-th from 1.
pub fn row(number: usize, step: &Step, objectives: &[Objective], style: Style) -> String {
    let values = objectives.iter().enumerate().map(|(at, objective)| {
        let (judged, width) = (step.objectives.get(at), width(objective));
        let text = format!("{:>width$}", judged.map_or("–", |judged| judged.shown.as_str()));
        if judged.is_some_and(|judged| !judged.held) {
            format!("  {}", style.bad(&text))
        } else {
            format!("  {text}")
        }
    });
    let values: String = values.collect();
    let targets = step
        .targets
        .iter()
        .map(|target| format!("  {:>TARGET$}", used(target)));
    let verdict = match step.verdict {
        Vote::Held => style.good("held"),
        Vote::Broke => format!("{}: {}", style.bad("broke"), step.reasons.join("; ")),
        Vote::Generator => format!("{}: {}", style.bad("generator"), step.reasons.join("; ")),
    };
    let cause = step.likely_cause.as_ref().filter(|cause| cause.is_specific());
    let cause = cause.map(|cause| format!("; {cause}"));
    format!(
        "{number:>NUMBER$}{:>LOAD$}{values}{}  {verdict}{}",
        grouped(step.load),
        targets.collect::<String>(),
        cause.unwrap_or_default()
    )
}

fn used(target: &TargetUse) -> String {
    format!(
        "{:.2} cores, {}",
        target.cpu_cores,
        quantity::bytes(target.rss_bytes as f64)
    )
}

fn width(objective: &Objective) -> usize {
    objective.title().chars().count().max(LEAST)
}
