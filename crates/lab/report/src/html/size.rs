//! A bound on the page: the least important data is omitted, and the page says so.

use serde_json::{Map, Value};

use super::data::RunData;
use crate::Highlights;

/// Bytes of all data as JSON. Reason: the page must be below 3 MB, so that it can be mailed and opens at once; the
/// script and the style take 0.1 MB, and the escapes in the JSON of ordinary runs next to nothing.
pub(super) const MOST_BYTES: usize = 2_600_000;

/// Data that can be omitted: its name for people, and a function that removes it. Returns whether there was any.
type Cut = (&'static str, fn(&mut Value, &Highlights) -> bool);

/// The order of omission.
const CUTS: [Cut; 4] = [
    ("heatmaps of other metrics than the first", without_other_heat),
    ("parts of metrics over time", without_parts),
    ("figures by scenario and group", without_breakdown),
    ("other metrics than the first over time", without_other_tracks),
];

/// Omits data until everything fits.
pub(super) fn limit(runs: &mut [RunData]) {
    for (what, cut) in CUTS {
        if bytes(runs) <= MOST_BYTES {
            return;
        }
        for run in &mut *runs {
            if cut(&mut run.summary, &run.highlights) {
                let notice = format!("left out because the page would be too large: {what}");
                run.omitted.push(notice);
            }
        }
    }
}

fn bytes(runs: &[RunData]) -> usize {
    let size = |run: &RunData| serde_json::to_string(run).map_or(0, |json| json.len());
    runs.iter().map(size).sum()
}

fn tracks(summary: &mut Value) -> Option<&mut Map<String, Value>> {
    summary.get_mut("timeline")?.get_mut("metrics")?.as_object_mut()
}

fn without_other_heat(summary: &mut Value, highlights: &Highlights) -> bool {
    let mut has_cut = false;
    for (name, track) in tracks(summary).into_iter().flatten() {
        if highlights.latency.as_ref() != Some(name)
            && let Some(track) = track.as_object_mut()
        {
            has_cut |= track.remove("heat").is_some();
        }
    }
    has_cut
}

fn without_parts(summary: &mut Value, highlights: &Highlights) -> bool {
    keep_tracks(summary, |name| {
        !name.contains('{') || highlights.latency.as_deref() == Some(name)
    })
}

fn without_other_tracks(summary: &mut Value, highlights: &Highlights) -> bool {
    let kept = [&highlights.latency, &highlights.throughput];
    keep_tracks(summary, |name| {
        kept.iter().any(|kept| kept.as_deref() == Some(name))
    })
}

fn keep_tracks(summary: &mut Value, is_kept: impl Fn(&str) -> bool) -> bool {
    tracks(summary).is_some_and(|tracks| {
        let before = tracks.len();
        tracks.retain(|name, _| is_kept(name));
        tracks.len() < before
    })
}

fn without_breakdown(summary: &mut Value, _: &Highlights) -> bool {
    let removed = summary
        .as_object_mut()
        .and_then(|summary| summary.remove("breakdown"));
    removed.is_some()
}
