//! Every sample as a line of JSON (docs/reference/outputs.md, `json`): a line `Metric` before the first sample of each
//! metric, then a line `Point` for each sample.

use std::{
    collections::{BTreeSet, HashSet},
    fmt::Write as _,
};

use plimsoll_load::{
    metrics::{Batch, Contains, MetricId, Registry, Sample, Tags},
    plan::Plan,
    threshold::Rules,
};
use plimsoll_report::rfc3339_nanos;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{file::Format, tag_cache::TagCache};

/// Lines of JSON.
pub(crate) struct Json {
    thresholds: Rules,
    introduced: HashSet<MetricId>,
    tags: TagCache,
}

impl Json {
    pub(crate) fn new(plan: &Plan) -> Self {
        let metadata = crate::file::metadata_names(&plan.system_tags);
        Self {
            thresholds: plan.thresholds.clone(),
            introduced: HashSet::new(),
            tags: TagCache::new(move |tags| tags_and_metadata(tags, &metadata)),
        }
    }

    /// The line that introduces a metric, with its thresholds and sub-metrics.
    fn introduction(&self, registry: &Registry, id: MetricId) -> String {
        let definition = registry.definition(id);
        let rules = self.thresholds.get(&definition.name).into_iter().flatten();
        let parts = registry.definitions().iter().filter_map(|part| {
            let (parent, selector) = part.selection.as_ref()?;
            (*parent == id).then(|| Part {
                name: &part.name,
                suffix: part
                    .name
                    .trim_start_matches(&definition.name)
                    .trim_matches(['{', '}']),
                tags: selector.tags(),
            })
        });
        let parts: Vec<_> = parts.collect();
        let line = Introduction {
            line: "Metric",
            data: Metric {
                name: &definition.name,
                kind: definition.kind.to_string(),
                contains: contains(definition.contains),
                thresholds: rules.map(|rule| rule.expression.to_string()).collect(),
                submetrics: (!parts.is_empty()).then_some(parts),
            },
            metric: &definition.name,
        };
        serde_json::to_string(&line).expect("texts and lists of them are always JSON")
    }
}

/// A line about a metric.
#[derive(Serialize)]
struct Introduction<'a> {
    #[serde(rename = "type")]
    line: &'static str,
    data: Metric<'a>,
    metric: &'a str,
}

#[derive(Serialize)]
struct Metric<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: String,
    contains: &'static str,
    thresholds: Vec<String>,
    submetrics: Option<Vec<Part<'a>>>,
}

/// A sub-metric.
#[derive(Serialize)]
struct Part<'a> {
    name: &'a str,
    suffix: &'a str,
    tags: &'a Tags,
}

impl Format for Json {
    fn header(&self) -> String {
        String::new()
    }

    fn sample(&mut self, batch: &Batch, sample: &Sample, out: &mut String) {
        if self.introduced.insert(sample.metric) {
            out.push_str(&self.introduction(&batch.registry, sample.metric));
            out.push('\n');
        }
        // Names of metrics are letters, digits and underscores.
        let name = &batch.registry.definition(sample.metric).name;
        let time = rfc3339_nanos(sample.time);
        let tags = self.tags.text(&sample.tags);
        let value = Number(sample.value);
        let line = writeln!(
            out,
            r#"{{"metric":"{name}","type":"Point","data":{{"time":"{time}","value":{value},{tags}}}}}"#
        );
        line.expect("a string takes all text");
    }
}

/// k6's word for it.
fn contains(contains: Contains) -> &'static str {
    match contains {
        Contains::Default => "default",
        Contains::Time => "time",
        Contains::Data => "data",
    }
}

/// `"tags":{…}`, and `,"metadata":{…}` if there is any.
fn tags_and_metadata(tags: &Tags, metadata: &BTreeSet<String>) -> String {
    let (metadata, tags): (Map<_, _>, Map<_, _>) = tags
        .iter()
        .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
        .partition(|(name, _)| metadata.contains(name));
    let mut text = format!(r#""tags":{}"#, Value::Object(tags));
    if !metadata.is_empty() {
        write!(text, r#","metadata":{}"#, Value::Object(metadata)).expect("a string takes all text");
    }
    text
}

/// A JSON number: without an exponent, and `null` for values that JSON cannot represent.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_finite() {
            self.0.fmt(f)
        } else {
            f.write_str("null")
        }
    }
}
