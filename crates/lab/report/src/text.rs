//! The end of a run for people, in k6's layouts (docs/reference/summary.md). Below it are losses, the target's resource
//! use and the generator's health, which k6 does not have.

use std::time::Duration;

use crate::{Layout, Style, Summary, SummaryMode, quantity::TimeUnit};

mod agents;
mod causes;
mod checks;
mod columns;
mod conditions;
mod futility;
mod legacy;
mod results;
mod sections;
mod status;
mod target;
mod thresholds;
mod wrap;

pub(crate) use self::futility::futility;
pub use self::status::status_line;
pub use self::wrap::wrap;
use self::{conditions::Conditions, results::Results};

/// The text of a native workload: its progress, and the legacy layout.
pub(crate) fn native(summary: &Summary, style: Style) -> String {
    let duration = Duration::try_from_secs_f64(summary.metadata.duration_seconds).unwrap_or_default();
    let status = status_line(
        duration,
        0,
        summary.vus_max,
        summary.iterations.complete,
        summary.iterations.interrupted,
    );
    let sections = [
        format!("{status}\n"),
        checks::tree(&summary.root_group(), style),
        legacy::list(summary, None, style),
        Conditions::of_native(summary, style).render(2, style),
        agents::table(&summary.agents, 2, style),
    ];
    joined(sections, "\n")
}

/// The text of a script: k6's output, and below it the figures that k6 does not have.
pub(crate) fn end_of_test(summary: &Summary, layout: Layout, style: Style) -> String {
    let unit = layout.time_unit;
    match layout.mode {
        SummaryMode::Disabled => String::new(),
        SummaryMode::Legacy => {
            let sections = [
                checks::tree(&summary.root_group(), style),
                legacy::list(summary, unit, style),
                Conditions::of_script(summary, unit, style).render(2, style),
                agents::table(&summary.agents, 2, style),
            ];
            joined(sections, "\n")
        }
        SummaryMode::Compact => in_sections(
            summary,
            &Results::of_run(summary).compact(),
            Vec::new(),
            unit,
            style,
        ),
        SummaryMode::Full => {
            let parts = sections::sections(summary, unit, style);
            in_sections(summary, &Results::of_run(summary), parts, unit, style)
        }
    }
}

/// k6's newer layouts; `parts` are the sections between its own and ours.
fn in_sections(
    summary: &Summary,
    results: &Results<'_>,
    parts: Vec<String>,
    unit: Option<TimeUnit>,
    style: Style,
) -> String {
    const INDENT: usize = 4;
    let total = results.render(INDENT, unit, style);
    let conditions = Conditions::of_script(summary, unit, style).render(INDENT, style);
    let before = [
        thresholds::section(summary, unit, style),
        format!("{}\n{total}", title("TOTAL RESULTS", style)),
    ];
    let ours = format!("{}\n{conditions}", title("PLIMSOLL", style));
    let agents = agents::table(&summary.agents, INDENT, style);
    let ours = joined([ours, agents], "\n");
    joined(before.into_iter().chain(parts).chain([ours]), "\n\n")
}

/// Joins the sections that are not empty.
fn joined(sections: impl IntoIterator<Item = String>, separator: &str) -> String {
    let sections = sections.into_iter().filter(|section| !section.is_empty());
    sections.collect::<Vec<_>>().join(separator)
}

/// The headline of a section.
fn title(text: &str, style: Style) -> String {
    format!("  █ {}\n", style.strong(text))
}

/// `text` with spaces after it up to `width` characters. `len` is the width of `text` without colour codes.
fn pad(text: &str, len: usize, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(len)))
}

/// A name with dots up to `width` characters, and the colon.
fn dotted(name: &str, width: usize, style: Style) -> String {
    let dots = ".".repeat(width.saturating_sub(name.chars().count()));
    format!("{name}{}", style.faint(&format!("{dots}:")))
}

/// All failures by cause.
pub(crate) fn causes(errors: &[crate::summary::ErrorGroup], style: Style) -> String {
    causes::block(errors, style)
}

/// The text of a target's resource use.
pub(crate) fn target(target: &crate::summary::Target) -> String {
    conditions::of_target(target)
}

/// The least number of dots after the longest name.
const LEAST_DOTS: usize = 3;

#[cfg(test)]
mod tests;
