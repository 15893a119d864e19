//! The end-of-test summary for people, in k6's layout before version 1.0 (k6 spec §4.2, source documents 000 and
//! 004), which the articles about cables show: status line, tree of checks, one alphabetical list of metrics. Below
//! it stands what k6 does not know: losses, the target's resources, the generator's health.

use std::time::Duration;

use crate::{Style, Summary};

mod checks;
mod conditions;
mod metrics;
mod status;
mod wrap;

pub use self::status::status_line;

/// All sections with an empty line between them.
pub(crate) fn render(summary: &Summary, style: Style) -> String {
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
        checks::render(&summary.checks, style),
        metrics::render(&summary.metrics, &summary.thresholds, style),
        conditions::render(summary, style),
    ];
    sections
        .into_iter()
        .filter(|section| !section.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// `text` with spaces after it up to `width` characters; `len` is how wide `text` looks without colour codes.
fn pad(text: &str, len: usize, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(len)))
}

/// A name with dots up to `width` characters, and the colon.
fn dotted(name: &str, width: usize, style: Style) -> String {
    let dots = ".".repeat(width.saturating_sub(name.chars().count()));
    format!("{name}{}", style.faint(&format!("{dots}:")))
}

/// At least this many dots stand after the longest name.
const LEAST_DOTS: usize = 3;

#[cfg(test)]
mod tests;
