//! A run as Markdown, for a pull request or a chat: its sentence, its figures, failed thresholds, errors, agents.

use std::fmt::Write as _;

use crate::{
    Distribution, Headline, Highlights, Summary, Verdict,
    agents::{self, Line},
    headline, readable,
    summary::{Agent, CheckResult, ErrorGroup, Threshold, Values},
};

/// The most errors shown. Reason: people want to read the rest of a pull request, too.
const MOST_ERRORS: usize = 5;

/// The most reasons of a fleet that are shown. Reason: the same; the table of its agents marks all doubtful ones.
const MOST_REASONS: usize = 5;

/// The run as a short Markdown document.
pub fn page(summary: &Summary) -> String {
    let headline = Headline::of(summary);
    let mark = match headline.verdict {
        Verdict::Pass => "✅",
        Verdict::Fail => "❌",
        Verdict::Doubtful | Verdict::Incomplete => "⚠️",
    };
    let mut text = format!(
        "### {mark} {}: {}\n\n{}\n\n",
        cell(&summary.metadata.name),
        headline.verdict.name(),
        cell(&headline.sentence)
    );
    let n_reasons = if summary.agents.is_empty() {
        usize::MAX
    } else {
        MOST_REASONS
    };
    for reason in summary.generator.reasons.iter().take(n_reasons) {
        // Writing to a string cannot fail; so also below.
        let _ = writeln!(
            text,
            "> {}: {}\n",
            headline::capitalized(summary.generator.doubt().unwrap_or_default()),
            cell(reason)
        );
    }
    rows(&mut text, ["figure", "value"], &figures(summary));
    let thresholds: Vec<_> = summary.thresholds.iter().map(threshold).collect();
    rows(&mut text, ["threshold", "value"], &thresholds);
    let errors: Vec<_> = summary.errors.iter().take(MOST_ERRORS).map(error).collect();
    rows(&mut text, ["error", "count"], &errors);
    if let Some(further) = summary.errors.len().checked_sub(MOST_ERRORS).filter(|&n| n > 0) {
        let _ = writeln!(text, "… and {further} more kinds of errors.\n");
    }
    fleet(&mut text, &summary.agents);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// A table with a column of numbers. Empty without rows.
fn rows(text: &mut String, [left, right]: [&str; 2], rows: &[(String, String)]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "| {left} | {right} |\n|---|---:|");
    for (name, value) in rows {
        let _ = writeln!(text, "| {} | {} |", cell(name), cell(value));
    }
    text.push('\n');
}

fn figures(summary: &Summary) -> Vec<(String, String)> {
    let highlights = Highlights::of(summary);
    let mut figures = vec![
        ("users at the peak".to_owned(), readable::count(highlights.users)),
        (
            "duration".to_owned(),
            readable::seconds(summary.metadata.duration_seconds),
        ),
    ];
    let mut add = |name: String, value: String| figures.push((name, value));
    if let Some((name, distribution)) = highlights.latency_of(summary) {
        add(
            format!("`{name}` median / p95 / p99 / max"),
            latency(distribution),
        );
    }
    if let Some((name, rate)) = throughput(summary, &highlights) {
        add(format!("`{name}`"), rate);
    }
    let iterations = &summary.iterations;
    add(
        "iterations (failed)".to_owned(),
        format!(
            "{} ({})",
            readable::count(iterations.complete),
            readable::count(iterations.failed)
        ),
    );
    let (passes, fails) = CheckResult::answers(&summary.checks);
    if passes + fails > 0 {
        add(
            "checks passed".to_owned(),
            readable::share(passes as f64 / (passes + fails) as f64),
        );
    }
    if let Some(losses) = summary.losses {
        let of = format!(
            "{} of {}",
            readable::count(losses.lost),
            readable::count(losses.expected)
        );
        add("messages lost".to_owned(), of);
    }
    for target in &summary.targets {
        if let Some(usage) = headline::usage(target) {
            add(target.name.clone(), usage);
        }
    }
    figures
}

/// The agents side by side. Nothing for a run of one machine.
fn fleet(text: &mut String, agents: &[Agent]) {
    if agents.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "| agent | share | users | iterations | cores | busiest worker | late by (p99), ms | clock, ms | start, ms |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    for agent in agents.iter().take(agents::MOST_SHOWN) {
        let _ = writeln!(text, "{}", row(agent));
    }
    text.push('\n');
    if let Some(further) = agents::further(agents.len()) {
        let _ = writeln!(text, "… {further}.\n");
    }
}

fn row(agent: &Agent) -> String {
    let mut line = Line::of(agent);
    let lost = line.lost.take();
    let name = cell(&agent.name);
    let name = match lost {
        Some(lost) => format!("❌ {name}, {lost}"),
        None if agent.doubtful => format!("⚠️ {name}"),
        None => name,
    };
    let figures = line.figures().map(|figure| cell(&figure)).join(" | ");
    format!("| {name} | {figures} |")
}

fn latency(distribution: &Distribution) -> String {
    let figures = [
        distribution.p50,
        distribution.p95,
        distribution.p99,
        distribution.max,
    ];
    let shown = |us| format!("{}{}", distribution.mark(us), readable::duration(us as f64));
    figures.map(shown).join(" / ")
}

fn throughput<'a>(summary: &Summary, highlights: &'a Highlights) -> Option<(&'a str, String)> {
    let name = highlights.throughput.as_deref()?;
    match summary.metrics.get(name)?.values {
        Values::Counter { rate, .. } => Some((name, readable::per_second(rate))),
        _ => None,
    }
}

fn threshold(threshold: &Threshold) -> (String, String) {
    let mark = match threshold.holds() {
        Some(true) => "✅",
        Some(false) => "❌",
        None => "–",
    };
    let value = threshold
        .value
        .map_or_else(|| "no data".to_owned(), readable::digits);
    (
        format!("{mark} `{}: {}`", threshold.metric, threshold.expression),
        value,
    )
}

fn error(error: &ErrorGroup) -> (String, String) {
    (error.cause.clone(), readable::count(error.count))
}

/// Text that stays inside its cell, and that is not read as HTML.
fn cell(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' => escaped.push_str("\\|"),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
