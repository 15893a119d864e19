//! The file of `--summary-export` in its older shape, which tools of k6 users read.

use serde_json::{Map, Value, json};

use super::{groups, indented, values};
use crate::{Summary, summary::Entry};

pub(super) fn file(summary: &Summary, setup_data: Option<&Value>) -> String {
    let mut file = json!({
        "root_group": groups::objects(&summary.root_group()),
        "metrics": summary.listing().iter().map(metric).collect::<Map<_, _>>(),
        "generator": summary.health(),
    });
    if let Some(setup_data) = setup_data {
        file["setup_data"] = setup_data.clone();
    }
    indented(&file)
}

/// The figures are beside the thresholds, and the share of a rate is its `value`.
fn metric(entry: &Entry<'_>) -> (String, Value) {
    let mut metric = values(entry.metric);
    if super::kind(entry.metric) == "rate" {
        let share = metric.remove("rate");
        metric.extend(share.map(|share| ("value".to_owned(), share)));
    }
    if !entry.thresholds.is_empty() {
        let thresholds = entry.thresholds.iter();
        let crossed =
            thresholds.map(|threshold| (threshold.expression.clone(), Value::from(!threshold.passed)));
        metric.insert("thresholds".to_owned(), crossed.collect::<Map<_, _>>().into());
    }
    (entry.name.to_owned(), metric.into())
}
