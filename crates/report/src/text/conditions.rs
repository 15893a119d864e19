//! What stands below the metrics: failed iterations, losses, what the target used, and whether the generator was
//! the bottleneck.

use std::time::Duration;

use super::{LEAST_DOTS, dotted, wrap::wrap};
use crate::{
    Style, Summary, quantity,
    summary::{End, Generator, Iterations, Losses, Target, Threshold},
};

/// A name, a line about it, and sentences below that line.
struct Condition {
    name: &'static str,
    line: String,
    details: Vec<String>,
}

/// One block per condition that applies; the generator's always does.
pub(super) fn render(summary: &Summary, style: Style) -> String {
    let conditions: Vec<Condition> = [
        thresholds(&summary.thresholds, style),
        end(&summary.end, style),
        notices(&summary.notices, style),
        failures(&summary.iterations, style),
        summary.losses.as_ref().map(|losses| deliveries(losses, style)),
        summary.target.as_ref().map(|found| target(found, style)),
        Some(generator(&summary.generator, style)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let width = conditions
        .iter()
        .map(|condition| condition.name.len())
        .max()
        .unwrap_or(0)
        + LEAST_DOTS;
    conditions
        .iter()
        .map(|condition| condition.render(width, style))
        .collect()
}

impl Condition {
    fn render(&self, width: usize, style: Style) -> String {
        let details = self
            .details
            .iter()
            .flat_map(|detail| wrap(detail, "    - ", "      ", style.width));
        let details: String = details.map(|line| line + "\n").collect();
        format!("  {} {}\n{details}", dotted(self.name, width, style), self.line)
    }
}

fn thresholds(thresholds: &[Threshold], style: Style) -> Option<Condition> {
    let crossed: Vec<_> = thresholds.iter().filter(|threshold| !threshold.passed).collect();
    (!crossed.is_empty()).then(|| Condition {
        name: "thresholds",
        line: style.bad(&format!("✗ {} of {} crossed", crossed.len(), thresholds.len())),
        details: crossed.into_iter().map(crossed_line).collect(),
    })
}

fn crossed_line(threshold: &Threshold) -> String {
    let Threshold {
        metric, expression, ..
    } = threshold;
    match threshold.value {
        Some(value) => format!("{metric}: {expression}, found {}", quantity::number(value)),
        None => format!("{metric}: {expression}, found no samples"),
    }
}

/// Only what is not the plan's own end is worth a line.
fn end(end: &End, style: Style) -> Option<Condition> {
    let line = match end {
        End::Complete => return None,
        End::Shutdown => "ended from outside before its time".to_owned(),
        End::ThresholdsCrossed => "ended by a crossed threshold".to_owned(),
        End::Aborted { reason } => format!("aborted: {reason}"),
        End::SetupFailed { reason } => format!("not begun, setup failed: {reason}"),
    };
    Some(Condition {
        name: "run",
        line: style.bad(&line),
        details: Vec::new(),
    })
}

fn notices(notices: &[String], style: Style) -> Option<Condition> {
    (!notices.is_empty()).then(|| Condition {
        name: "notices",
        line: style.bad(&notices.len().to_string()),
        details: notices.to_vec(),
    })
}

fn failures(iterations: &Iterations, style: Style) -> Option<Condition> {
    (iterations.failed > 0).then(|| Condition {
        name: "failed iterations",
        line: style.bad(&iterations.failed.to_string()),
        details: iterations
            .failures
            .iter()
            .map(|failure| format!("{} × {}", failure.count, failure.reason))
            .collect(),
    })
}

fn deliveries(losses: &Losses, style: Style) -> Condition {
    let count = |n: u64, what: &str| {
        let text = format!("{n} {what}");
        if n == 0 { text } else { style.bad(&text) }
    };
    let line = format!(
        "{} of {} received, {}, {}, {}",
        style.value(&losses.received.to_string()),
        losses.expected,
        count(losses.lost, "lost"),
        count(losses.duplicated, "duplicated"),
        count(losses.out_of_order, "out of order"),
    );
    Condition {
        name: "deliveries",
        line,
        details: Vec::new(),
    }
}

fn target(target: &Target, style: Style) -> Condition {
    let line = format!(
        "{}, CPU {}, RSS up to {} ({} per user)",
        target.name,
        cpu(target.cpu_seconds, target.cores, style),
        style.value(&quantity::bytes(target.rss_max_bytes as f64)),
        quantity::bytes(target.rss_per_user_bytes as f64),
    );
    Condition {
        name: "target",
        line,
        details: Vec::new(),
    }
}

fn generator(generator: &Generator, style: Style) -> Condition {
    let verdict = if generator.saturated {
        style.bad("✗ was the bottleneck: these figures are not the target's alone")
    } else {
        style.good("✓ was not the bottleneck")
    };
    let line = format!(
        "{verdict}, CPU {}",
        cpu(generator.cpu_seconds, generator.cores, style)
    );
    Condition {
        name: "generator",
        line,
        details: generator.reasons.clone(),
    }
}

fn cpu(seconds: f64, cores: f64, style: Style) -> String {
    let time = quantity::duration(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    format!("{} ({cores:.2} cores)", style.value(&time))
}
