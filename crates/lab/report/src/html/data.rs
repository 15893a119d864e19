//! The page's data: its own copy of each summary, with decided and decoded parts.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{
    curve::{self, Point},
    size,
};
use crate::{Headline, Highlights, Summary, comparison::Comparison, readable};

/// Everything that a page shows.
#[derive(Debug, Serialize)]
pub(super) struct PageData {
    runs: Vec<RunData>,
    comparisons: Vec<Judgement>,
}

/// Two sides compared.
#[derive(Debug, Serialize)]
struct Judgement {
    headline: String,
    /// The verdict in words.
    words: String,
    /// How to read the table.
    legend: String,
    #[serde(flatten)]
    comparison: Comparison,
}

/// One run.
#[derive(Debug, Serialize)]
pub(super) struct RunData {
    /// The name of the run beside others: that of its side, with a number if the side has several runs. Empty for a run
    /// that is compared with none.
    label: String,
    /// The summary without its histograms.
    pub(super) summary: Value,
    headline: Headline,
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
        for (run, label) in runs.iter_mut().zip(labels(summaries, comparisons)) {
            run.label = label;
        }
        size::limit(&mut runs);
        let judgements = comparisons.iter().map(|comparison| Judgement {
            headline: comparison.headline(),
            words: comparison.verdict_text(),
            legend: comparison.legend(),
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
            [run] => format!("{}: {} · Plimsoll", run.name, run.headline.verdict.name()),
            runs => format!("Comparison of {} runs · Plimsoll", runs.len()),
        }
    }

    /// What the page comes to.
    pub(super) fn sentence(&self) -> String {
        match self.runs.as_slice() {
            [run] => run.headline.sentence.clone(),
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
            headline: Headline::of(summary),
            highlights: Highlights::of(summary),
            curves: curves(summary),
            omitted: Vec::new(),
            name: summary.metadata.name.clone(),
            label: String::new(),
        }
    }
}

/// The label of each run. The sides name runs by their ids, in the order of the runs.
fn labels(summaries: &[&Summary], comparisons: &[Comparison]) -> Vec<String> {
    let baseline = comparisons.first().map(|comparison| &comparison.baseline);
    let candidates = comparisons.iter().map(|comparison| &comparison.candidate);
    let labelled = baseline.into_iter().chain(candidates).flat_map(|side| {
        let n_runs = side.ids.len();
        side.ids.iter().enumerate().map(move |(at, id)| match n_runs {
            1 => (id, side.label.clone()),
            _ => (id, format!("{} {}", side.label, at + 1)),
        })
    });
    let mut labelled: Vec<_> = labelled.collect();
    let mut label = |summary: &&Summary| {
        // One file may be compared with itself: each label is used once.
        let at = labelled.iter().position(|(id, _)| **id == summary.metadata.id)?;
        Some(labelled.remove(at).1)
    };
    summaries
        .iter()
        .map(|summary| label(summary).unwrap_or_default())
        .collect()
}

/// The summary as JSON, without the data that the page has as curves.
fn without_histograms(summary: &Summary) -> Value {
    let mut value =
        serde_json::to_value(summary).expect("all keys are text, and nothing fails to be serialized");
    let metrics = value.get_mut("metrics").and_then(Value::as_object_mut);
    for metric in metrics.into_iter().flat_map(|metrics| metrics.values_mut()) {
        if let Some(metric) = metric.as_object_mut() {
            metric.remove("histogram");
            metric.remove("exact");
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
