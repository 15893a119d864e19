//! A bound on the JSON of a summary: the least important data is omitted, and a notice says so.

use super::{Breakdown, Metric, Summary};
use crate::{Highlights, json};

/// Bytes of a summary as JSON. Reason: it is stored, mailed and read as a whole, and ordinary ones have a tenth of it;
/// only scripts that register thousands of metrics come near.
const MOST_BYTES: usize = 2_900_000;

/// Metrics that are left if all of them would be too many. Reason: half a megabyte, and more than a person reads.
const MOST_METRICS: usize = 1_000;

/// Data that can be omitted: removes it, and returns its name if there was any.
type Cut = fn(&mut Summary) -> Option<String>;

/// The order of omission.
const CUTS: [Cut; 4] = [
    without_histograms,
    without_breakdown,
    without_other_tracks,
    without_other_metrics,
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
