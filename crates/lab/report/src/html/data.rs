//! The page's data: its own copy of each summary, with decided and decoded parts.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{
    curve::{self, Point},
    size,
};
use crate::{Highlights, Summary, Verdict, comparison::Comparison, readable};

/// Everything that a page shows.
#[derive(Debug, Serialize)]
pub(super) struct PageData {
    runs: Vec<RunData>,
    comparisons: Vec<Judgement>,
}

/// A run compared with the first.
#[derive(Debug, Serialize)]
struct Judgement {
    headline: String,
    #[serde(flatten)]
    comparison: Comparison,
}

/// One run.
#[derive(Debug, Serialize)]
pub(super) struct RunData {
    /// The summary without its histograms.
    pub(super) summary: Value,
    verdict: Verdict,
    pub(super) highlights: Highlights,
    /// By name of the metric.
    curves: BTreeMap<String, Vec<Point>>,
    /// Data that was omitted to bound the size of the page.
    pub(super) omitted: Vec<String>,
    #[serde(skip)]
    name: String,
}

impl PageData {
    pub(super) fn of(summaries: &[&Summary], comparisons: &[Comparison]) -> Self {
        let mut runs: Vec<_> = summaries.iter().map(|summary| RunData::of(summary)).collect();
        size::limit(&mut runs);
        let judgements = comparisons.iter().map(|comparison| Judgement {
            headline: comparison.headline(),
            comparison: comparison.clone(),
        });
        Self {
            comparisons: judgements.collect(),
            runs,
        }
    }

    /// The title of the browser's tab.
    pub(super) fn title(&self) -> String {
        match self.runs.as_slice() {
            [run] => format!("{}: {} · Plimsoll", run.name, run.verdict.word.to_lowercase()),
            runs => format!("Comparison of {} runs · Plimsoll", runs.len()),
        }
    }

    /// What the page comes to.
    pub(super) fn sentence(&self) -> String {
        match self.runs.as_slice() {
            [run] => run.verdict.sentence.clone(),
            runs => format!("Comparison of {} runs", readable::count(runs.len() as u64)),
        }
    }

    pub(super) fn into_json(self) -> String {
        serde_json::to_string(&self).expect("all keys are text, and nothing fails to be serialized")
    }
}

impl RunData {
    fn of(summary: &Summary) -> Self {
        Self {
            summary: without_histograms(summary),
            verdict: Verdict::of(summary),
            highlights: Highlights::of(summary),
            curves: curves(summary),
            omitted: Vec::new(),
            name: summary.metadata.name.clone(),
        }
    }
}

/// The summary as JSON, without the data that the page has as curves.
fn without_histograms(summary: &Summary) -> Value {
    let mut value =
        serde_json::to_value(summary).expect("all keys are text, and nothing fails to be serialized");
    let metrics = value.get_mut("metrics").and_then(Value::as_object_mut);
    for metric in metrics.into_iter().flat_map(|metrics| metrics.values_mut()) {
        if let Some(metric) = metric.as_object_mut() {
            metric.remove("histogram");
        }
    }
    value
}

/// The curve of each trend. An unreadable histogram counts as missing.
fn curves(summary: &Summary) -> BTreeMap<String, Vec<Point>> {
    let samples = summary.metrics.iter().filter_map(|(name, metric)| {
        let histogram = metric.samples().ok().flatten()?;
        Some((name.clone(), curve::points(&histogram)))
    });
    samples.collect()
}
