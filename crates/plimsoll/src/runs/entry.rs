//! The entry of a run in the history, from its summary.

use plimsoll_history::Run;
use plimsoll_report::{Highlights, Summary, quantity, summary::Values};

/// The columns of a run.
pub(super) fn of(summary: &Summary) -> Run {
    let metadata = &summary.metadata;
    Run {
        id: metadata.id.clone(),
        started_at: metadata.started_at.clone(),
        name: metadata.name.clone(),
        kind: metadata.kind.name().to_owned(),
        command: metadata.command.join(" "),
        duration_seconds: metadata.duration_seconds,
        vus_max: summary.vus_max,
        verdict: summary.verdict().name().to_owned(),
        doubtful: summary.generator.doubtful,
        figures: figures(summary),
        note: None,
        tags: Vec::new(),
    }
}

/// The figures of a run: latency and throughput.
fn figures(summary: &Summary) -> String {
    let latency = Highlights::of(summary).latency.and_then(|name| {
        let metric = summary.metrics.get(&name)?;
        let Values::Trend(distribution) = metric.values else {
            return None;
        };
        let p95 = quantity::figure(metric.contains, distribution.p95 as f64 / 1e3, None);
        Some(format!("{name} p95={p95}"))
    });
    let seconds = summary.metadata.duration_seconds;
    let n_iterations = summary.iterations.complete;
    let rate = (seconds > 0.0 && n_iterations > 0)
        .then(|| format!("{:.1} iterations/s", n_iterations as f64 / seconds));
    let figures: Vec<_> = latency.into_iter().chain(rate).collect();
    figures.join(", ")
}
