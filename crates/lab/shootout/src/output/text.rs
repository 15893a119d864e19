//! A step as lines for people: a line in the form of websocket-bench's, and below it the figures that it does not have.
//!
//! In `broadcast` that line has the times of deliveries to listeners. websocket-bench has the sender's round trip there, which
//! says when the server acknowledges and not when any client has the message.

use std::{fmt::Write, time::Duration};

use plimsoll_load::causes::Causes;
use plimsoll_report::{Distribution, summary::Threshold};

use crate::{
    options::Model,
    outcome::{Connecting, Deliveries, Sampling, Setting, Step},
};

/// All lines of a step, each with its line feed.
pub(super) fn step(step: &Step, setting: &Setting) -> String {
    let mut lines = vec![headline(step)];
    match &step.sampling {
        None => lines.push(format!("    {}", phases(&step.connect))),
        Some(sampling) => {
            lines.push(format!("    {}", latencies(sampling)));
            lines.push(format!("    {}", account(sampling)));
            lines.extend(sampling.deliveries.iter().flat_map(|deliveries| {
                let acknowledgements = acknowledgements(sampling);
                let in_flight = in_flight(deliveries, sampling, setting);
                let nodes = nodes(deliveries, setting);
                nodes
                    .chain([acknowledgements, in_flight])
                    .chain(uncertainty(deliveries))
                    .map(|line| format!("    {line}"))
                    .collect::<Vec<_>>()
            }));
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
            .sentences()
            .into_iter()
            .map(|sentence| format!("    {sentence}")),
    );
    lines.iter().fold(String::new(), |text, line| text + line + "\n")
}

/// One line for each threshold of the run.
pub(crate) fn thresholds(thresholds: &[Threshold]) -> String {
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

/// The line of websocket-bench's older versions (the newer ones put a timestamp in front), byte for byte where there are no
/// deliveries.
fn headline(step: &Step) -> String {
    let Step {
        n_clients,
        limit_percentile,
        ..
    } = step;
    let name = if step.delivery.is_some() {
        "delivery"
    } else {
        "rtt"
    };
    let shown = |time: Duration| {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let mark = step.deliveries().map_or("", |it| it.listener.mark(us));
        format!("{}{}", mark.trim_end(), millis(time))
    };
    match step.headline() {
        None => format!("clients: {n_clients:5}    no samples"),
        Some(it) => {
            let [percentile, min, median, max] = [it.percentile, it.min, it.median, it.max].map(shown);
            format!(
                "clients: {n_clients:5}    {limit_percentile}per-{name}: {percentile:>3}ms    min-{name}: {min:>3}ms    \
                 median-{name}: {median:>3}ms    max-{name}: {max:>3}ms"
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

/// A line for each server of a cluster.
fn nodes(deliveries: &Deliveries, setting: &Setting) -> impl Iterator<Item = String> {
    let urls = [&setting.target].into_iter().chain(&setting.nodes);
    urls.zip(&deliveries.by_node).map(|(url, it)| {
        format!(
            "{url}: {} of {} delivered, {} lost; listeners {}",
            it.n_delivered,
            it.n_expected,
            it.n_expected.saturating_sub(it.n_delivered),
            distribution(&it.listener)
        )
    })
}

/// How well times are known at listeners of other agents than the sender's.
fn uncertainty(deliveries: &Deliveries) -> Option<String> {
    let uncertainty = deliveries.uncertainty.filter(|_| deliveries.has_times())?;
    let us = u64::try_from(uncertainty.as_micros()).unwrap_or(u64::MAX);
    Some(format!(
        "times of deliveries are known to ± {}, as well as the clocks of the agents",
        micros(us)
    ))
}

/// The sender's round trip.
fn acknowledgements(sampling: &Sampling) -> String {
    let late = sampling.lateness.as_ref().filter(|it| it.count > 0).map(|it| {
        format!(
            "; sent at most {} later than scheduled (p95 {})",
            micros(it.max),
            micros(it.p95)
        )
    });
    let answers = distribution(&sampling.answer);
    format!(
        "acknowledgement (sender's rtt) {answers}{}",
        late.unwrap_or_default()
    )
}

/// How many broadcasts were in flight, and how many the user asked for.
fn in_flight(deliveries: &Deliveries, sampling: &Sampling, setting: &Setting) -> String {
    let it = deliveries.in_flight;
    let asked = match &setting.model {
        Some(Model::Closed { width, .. }) => {
            // The target's acknowledgements let more through than its deliveries would.
            let early = if it.max > *width as u64 {
                ", because the target acknowledged before it had delivered"
            } else {
                ""
            };
            format!("--concurrent {width}{early}")
        }
        Some(Model::Open(schedule)) => format!("--rate {}", schedule.rate()),
        None => format!("{} sent", sampling.n_sent),
    };
    format!(
        "in flight: {} broadcasts at most, {:.1} on average ({asked})",
        it.max, it.mean
    )
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
        .by_count()
        .iter()
        .map(|(cause, n)| format!("{cause} ({n})"))
        .collect();
    let n = causes.total();
    (n > 0).then(|| format!("    {n} {what}: {}", groups.join(", ")))
}

/// Figures that are lower bounds have a `>`.
fn distribution(it: &Distribution) -> String {
    if it.count == 0 {
        return "none".to_owned();
    }
    let shown = |us| format!("{}{}", it.mark(us), micros(us));
    let [p50, p95, p99, max] = [it.p50, it.p95, it.p99, it.max].map(shown);
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
