//! A bound on the JSON of a summary: the least important data is omitted, and a notice says so.

use super::{Breakdown, Metric, Summary};
use crate::{Highlights, json};

/// Bytes of a summary as JSON. Reason: it is stored, mailed and read as a whole, and ordinary ones have a tenth of it;
/// only scripts that register thousands of metrics come near.
const MOST_BYTES: usize = 2_900_000;

/// Metrics that are left if all of them would be too many. Reason: half a megabyte, and more than a person reads.
const MOST_METRICS: usize = 1_000;

/// Agents that are left if all of them would be too many, and reasons of the generator. Reason: about a megabyte
/// together.
const MOST_AGENTS: usize = 1_000;

/// Data that can be omitted: removes it, and returns its name if there was any.
type Cut = fn(&mut Summary) -> Option<String>;

/// The order of omission.
const CUTS: [Cut; 6] = [
    without_histograms,
    without_breakdown,
    without_other_tracks,
    without_other_metrics,
    without_reasons_of_agents,
    without_other_agents,
];

/// Omits data until everything fits.
pub(super) fn limit(summary: &mut Summary) {
    for cut in CUTS {
        if json(summary).is_ok_and(|json| json.len() <= MOST_BYTES) {
            return;
        }
        if let Some(what) = cut(summary) {
            let notice = format!("left out because the summary would be too large: {what}");
            summary.notices.push(notice);
        }
    }
}

fn without_histograms(summary: &mut Summary) -> Option<String> {
    let metrics = summary.metrics.values_mut().map(Metric::omit_samples);
    let n = metrics.filter(|&had_samples| had_samples).count();
    (n > 0).then(|| "all samples of trends".to_owned())
}

fn without_breakdown(summary: &mut Summary) -> Option<String> {
    let cut = std::mem::take(&mut summary.breakdown);
    (cut != Breakdown::default()).then(|| "figures by scenario and group".to_owned())
}

fn without_other_tracks(summary: &mut Summary) -> Option<String> {
    let highlights = Highlights::of(summary);
    let kept = [highlights.latency, highlights.throughput];
    let tracks = &mut summary.timeline.metrics;
    let n_before = tracks.len();
    tracks.retain(|name, _| kept.iter().flatten().any(|kept| kept == name));
    (tracks.len() < n_before).then(|| "other metrics than the first over time".to_owned())
}

/// Keeps those with thresholds and the first ones by name.
fn without_other_metrics(summary: &mut Summary) -> Option<String> {
    let judged = |name: &String| summary.thresholds.iter().any(|threshold| threshold.key == *name);
    let metrics = &mut summary.metrics;
    let mut room = MOST_METRICS;
    let n_before = metrics.len();
    metrics.retain(|name, _| {
        let has_room = room > 0;
        room = room.saturating_sub(1);
        has_room || judged(name)
    });
    let n_cut = n_before - metrics.len();
    (n_cut > 0).then(|| format!("{n_cut} of {n_before} metrics"))
}

/// The generator has the same reasons.
fn without_reasons_of_agents(summary: &mut Summary) -> Option<String> {
    let reasons = summary.agents.iter_mut().map(|agent| &mut agent.reasons);
    let n = reasons
        .map(|reasons| std::mem::take(reasons).len())
        .sum::<usize>();
    (n > 0).then(|| "the reasons of each agent".to_owned())
}

/// Keeps the first ones, and the reasons of the worst ones.
fn without_other_agents(summary: &mut Summary) -> Option<String> {
    let n_before = summary.agents.len();
    if n_before <= MOST_AGENTS {
        return None;
    }
    summary.agents.truncate(MOST_AGENTS);
    summary.generator.reasons.truncate(MOST_AGENTS);
    Some(format!("{} of {n_before} agents", n_before - MOST_AGENTS))
}
