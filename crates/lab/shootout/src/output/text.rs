//! A step as lines for people: websocket-bench's line, byte for byte, and below it the figures that it does not have.

use std::{fmt::Write, time::Duration};

use plimsoll_report::{Distribution, summary::Threshold};

use crate::{
    causes::Causes,
    outcome::{Connecting, Deliveries, Sampling, Step},
};

/// All lines of a step, each with its line feed.
pub(super) fn step(step: &Step) -> String {
    let mut lines = vec![headline(step)];
    match &step.sampling {
        None => lines.push(format!("    {}", phases(&step.connect))),
        Some(sampling) => {
            lines.push(format!("    {}", latencies(sampling)));
            lines.push(format!("    {}", account(sampling)));
        }
    }
    let period = step
        .sampling
        .as_ref()
        .map_or(&step.connect.period, |it| &it.period);
    lines.push(format!("    in {period}"));
    lines.extend(failures("failed", &step.connect.failures));
    lines.extend(failures("dropped", &step.drops));
    lines.extend(
        step.health
            .reasons
            .iter()
            .map(|reason| format!("    GENERATOR WAS THE BOTTLENECK: {reason}")),
    );
    lines.iter().fold(String::new(), |text, line| text + line + "\n")
}

/// One line for each threshold of the run.
pub(super) fn thresholds(thresholds: &[Threshold]) -> String {
    thresholds.iter().fold(String::new(), |mut text, threshold| {
        let word = if threshold.passed { "passed" } else { "FAILED" };
        let found = threshold.value.map_or_else(
            || "nothing was measured".to_owned(),
            |value| format!("the value is {}", (value * 1e4).round() / 1e4),
        );
        let (metric, expression) = (&threshold.metric, &threshold.expression);
        // A String takes everything.
        let _ = writeln!(text, "Threshold {metric}:{expression}: {word}, {found}");
        text
    })
}

/// The line of websocket-bench's older versions (the newer ones put a timestamp in front).
fn headline(step: &Step) -> String {
    let Step {
        n_clients,
        limit_percentile,
        rtt,
        ..
    } = step;
    match rtt {
        None => format!("clients: {n_clients:5}    no samples"),
        Some(rtt) => {
            let [percentile, min, median, max] = [rtt.percentile, rtt.min, rtt.median, rtt.max].map(millis);
            format!(
                "clients: {n_clients:5}    {limit_percentile}per-rtt: {percentile:3}ms    min-rtt: {min:3}ms    \
                 median-rtt: {median:3}ms    max-rtt: {max:3}ms"
            )
        }
    }
}

fn latencies(sampling: &Sampling) -> String {
    match &sampling.deliveries {
        None => format!("round trip {}", distribution(&sampling.answer)),
        Some(Deliveries {
            listener,
            last_delivery,
            ..
        }) => {
            format!(
                "last delivery {}; listeners {}",
                distribution(last_delivery),
                distribution(listener)
            )
        }
    }
}

fn account(sampling: &Sampling) -> String {
    let Sampling {
        n_sent,
        n_unanswered,
        deliveries,
        ..
    } = sampling;
    match deliveries {
        None => format!("{n_sent} sent, {n_unanswered} unanswered"),
        Some(Deliveries { counts: it, .. }) => {
            let (n_lost, n_late) = (it.n_lost(), it.n_late);
            let late = if n_late > 0 {
                format!(" ({n_late} late)")
            } else {
                String::new()
            };
            format!(
                "{n_sent} sent, {n_unanswered} unacknowledged; {} of {} delivered{late}, {n_lost} lost, \
                 {} duplicated, {} out of order",
                it.n_delivered, it.n_expected, it.n_duplicated, it.n_out_of_order
            )
        }
    }
}

fn phases(connect: &Connecting) -> String {
    let Connecting {
        n_connected,
        total,
        tcp_connect,
        upgrade,
        welcome,
        subscribe,
        ..
    } = connect;
    let mut text = format!("{n_connected} ready in this step: {}", distribution(total));
    for (name, phase) in [
        ("TCP", tcp_connect),
        ("upgrade", upgrade),
        ("welcome", welcome),
        ("subscribe", subscribe),
    ] {
        if phase.count > 0 {
            let _ = write!(text, "; {name} p95 {}", micros(phase.p95));
        }
    }
    text
}

fn failures(what: &str, causes: &Causes) -> Option<String> {
    let groups: Vec<_> = causes
        .groups()
        .iter()
        .map(|(cause, n)| format!("{cause} ({n})"))
        .collect();
    let n = causes.total();
    (n > 0).then(|| format!("    {n} {what}: {}", groups.join(", ")))
}

fn distribution(it: &Distribution) -> String {
    if it.count == 0 {
        return "none".to_owned();
    }
    let [p50, p95, p99, max] = [it.p50, it.p95, it.p99, it.max].map(micros);
    format!("p50 {p50}, p95 {p95}, p99 {p99}, max {max}")
}

/// Three significant digits.
fn micros(us: u64) -> String {
    let ms = us as f64 / 1e3;
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..10_000 => format!("{ms:.2} ms"),
        10_000..100_000 => format!("{ms:.1} ms"),
        100_000..1_000_000 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1e3),
    }
}

/// Rounded half up, as websocket-bench does.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from((duration.as_micros() + 500) / 1000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
