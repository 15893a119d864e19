//! Thresholds and their actual values: the first section of k6's newer layouts.

use std::collections::BTreeSet;

use super::{columns, title};
use crate::{
    Style, Summary,
    quantity::TimeUnit,
    summary::{Entry, Threshold},
};

/// One block per metric with thresholds; a sub-metric is below its parent if that has thresholds, too. Empty without
/// thresholds.
pub(super) fn section(summary: &Summary, unit: Option<TimeUnit>, style: Style) -> String {
    let entries = summary.listing();
    let watched: Vec<_> = entries
        .iter()
        .filter(|entry| !entry.thresholds.is_empty())
        .collect();
    if watched.is_empty() {
        return String::new();
    }
    let wholes: BTreeSet<_> = watched
        .iter()
        .filter(|entry| entry.selector().is_none())
        .map(|entry| entry.whole())
        .collect();
    let blocks: Vec<_> = watched
        .iter()
        .map(|entry| match entry.selector() {
            Some(selector) if wholes.contains(entry.whole()) => {
                block(&format!("{{{selector}}}"), entry, 6, unit, style)
            }
            _ => block(entry.name, entry, 4, unit, style),
        })
        .collect();
    format!("{}\n{}", title("THRESHOLDS", style), blocks.join("\n"))
}

fn block(name: &str, entry: &Entry<'_>, indent: usize, unit: Option<TimeUnit>, style: Style) -> String {
    let indent = " ".repeat(indent);
    let lines = entry.thresholds.iter().map(|threshold| {
        let Threshold {
            expression,
            aggregation,
            ..
        } = threshold;
        let mark = match threshold.holds() {
            Some(true) => style.good("✓"),
            Some(false) => style.bad("✗"),
            None => "–".to_owned(),
        };
        let found = threshold.value.map_or_else(
            || "no data".to_owned(),
            |value| {
                let found = columns::compared(aggregation, entry.metric, value, unit);
                format!("{aggregation}={}", style.value(&found))
            },
        );
        format!("{indent}{mark} '{expression}' {found}\n")
    });
    format!("{indent}{name}\n{}", lines.collect::<String>())
}
