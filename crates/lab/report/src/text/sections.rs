//! The parts of a run, by scenario and by group: the additions of k6's full layout.

use super::{joined, results::Results, title};
use crate::{
    Style, Summary,
    quantity::TimeUnit,
    summary::{Breakdown, Section},
};

/// One section per group of the run and per scenario.
pub(super) fn sections(summary: &Summary, unit: Option<TimeUnit>, style: Style) -> Vec<String> {
    let Breakdown { groups, scenarios } = &summary.breakdown;
    let seconds = summary.metadata.duration_seconds;
    let groups = groups.iter().map(|group| ("GROUP", group));
    let scenarios = scenarios.iter().map(|scenario| ("SCENARIO", scenario));
    groups
        .chain(scenarios)
        .map(|(kind, section)| {
            let head = title(&format!("{kind}: {}", section.name), style);
            joined([head, body(section, seconds, 4, unit, style)], "\n")
        })
        .collect()
}

/// The results of a section, and below them those of the groups inside it, each indented more.
fn body(section: &Section, seconds: f64, indent: usize, unit: Option<TimeUnit>, style: Style) -> String {
    let results = Results::of_section(section, seconds).render(indent, unit, style);
    let groups = section.groups.iter().map(|group| {
        let name = style.strong(&format!("GROUP: {}", group.name));
        let head = format!("{}↳ {name}\n", " ".repeat(indent));
        joined([head, body(group, seconds, indent + 2, unit, style)], "\n")
    });
    joined(std::iter::once(results).chain(groups), "\n")
}
