//! The state of a run in progress as the JSON:API documents of k6's interface (docs/reference/run.md, REST interface).

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use plimsoll_load::{
    metrics::{Check, CheckName, Contains, Definition, Value as Sample},
    plan::Plan,
    run::{Progress, State},
};
use plimsoll_report::{path_id, quantity, trend_figure};
use serde_json::{Map, Value, json};

/// Between the names of groups in a path.
const SEPARATOR: &str = "::";

/// k6's numbers of the phases of a run that a controller can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Virtual users are made, or the run waits to be resumed.
    BeforeStart = 4,
    Running = 7,
    /// The interface is open longer than the run (`--linger`).
    Ended = 9,
}

/// The state of a run, as of its last second.
#[derive(Debug)]
pub(in crate::session) struct Snapshot {
    trend_stats: Vec<String>,
    phase: Phase,
    vus: u32,
    max_vus: u32,
    /// Documents, by name.
    metrics: BTreeMap<String, Value>,
    checks: Vec<(CheckName, Check)>,
    is_tainted: bool,
}

impl Snapshot {
    /// Before the first second.
    pub(in crate::session) fn new(plan: &Plan) -> Self {
        Self {
            trend_stats: plan.summary_trend_stats.clone(),
            phase: Phase::BeforeStart,
            vus: 0,
            max_vus: 0,
            metrics: BTreeMap::new(),
            checks: Vec::new(),
            is_tainted: false,
        }
    }

    pub(super) fn update(&mut self, progress: &Progress<'_>) {
        self.phase = Phase::Running;
        (self.vus, self.max_vus) = (progress.active_vus, progress.max_vus);
        self.is_tainted = progress.thresholds.iter().any(|finding| !finding.passed);
        let samples = progress.metrics.iter();
        let documents = samples.map(|(definition, sample)| {
            let attributes = json!({
                "type": definition.kind.to_string(),
                "contains": contains(definition),
                "tainted": tainted(&definition.name, progress),
                "sample": self.sample(&sample, progress.elapsed),
            });
            (
                definition.name.clone(),
                resource("metrics", &definition.name, attributes),
            )
        });
        self.metrics = documents.collect();
        let checks = progress.metrics.checks();
        self.checks = checks.map(|(name, check)| (name.clone(), check)).collect();
    }

    /// The run is over.
    pub(super) fn end(&mut self) {
        (self.phase, self.vus) = (Phase::Ended, 0);
    }

    fn sample(&self, sample: &Sample<'_>, elapsed: Duration) -> Value {
        match sample {
            Sample::Counter(sum) => {
                let rate = sum / elapsed.as_secs_f64().max(1e-9);
                json!({ "count": number(*sum), "rate": number(rate) })
            }
            Sample::Gauge(gauge) => json!({ "value": number(gauge.value) }),
            Sample::Rate(rate) => json!({ "rate": rate.share() }),
            Sample::Trend(histogram) => {
                let figures = self
                    .trend_stats
                    .iter()
                    .filter_map(|stat| Some((stat.clone(), trend_figure(histogram, stat)?.into())));
                figures.collect::<Map<_, _>>().into()
            }
        }
    }

    /// `/v1/status`. What a controller has ordered counts before what came of it so far.
    pub(super) fn status(&self, ordered: State, is_stopped: bool) -> Value {
        let is_controlled = ordered.max_vus > 0;
        let attributes = json!({
            "status": self.phase as u8,
            "paused": ordered.is_paused,
            "vus": if is_controlled { ordered.vus } else { self.vus },
            "vus-max": if is_controlled { ordered.max_vus } else { self.max_vus },
            "stopped": is_stopped,
            "running": self.phase == Phase::Running,
            "tainted": self.is_tainted,
        });
        resource("status", "default", attributes)
    }

    /// `/v1/metrics`: those that have samples.
    pub(super) fn metrics(&self) -> Value {
        self.metrics.values().cloned().collect()
    }

    /// `/v1/metrics/{id}`.
    pub(super) fn metric(&self, name: &str) -> Option<Value> {
        self.metrics.get(name).cloned()
    }

    /// `/v1/groups`: those with checks in them, and those around them.
    pub(super) fn groups(&self) -> Value {
        self.paths().iter().map(|path| self.group_at(path)).collect()
    }

    /// `/v1/groups/{id}`.
    pub(super) fn group(&self, id: &str) -> Option<Value> {
        let paths = self.paths();
        let path = paths.iter().find(|path| path_id(path) == id)?;
        Some(self.group_at(path))
    }

    /// The paths of all groups; that of the root is empty.
    fn paths(&self) -> BTreeSet<&str> {
        let mut paths = BTreeSet::from([""]);
        for (name, _) in &self.checks {
            let mut path = name.group.as_str();
            while paths.insert(path) {
                path = outer(path).unwrap_or_default();
            }
        }
        paths
    }

    fn group_at(&self, path: &str) -> Value {
        let checks = self.checks.iter().filter(|(name, _)| name.group == path);
        let checks = checks.map(|(name, check)| {
            let path = format!("{path}{SEPARATOR}{}", name.name);
            json!({ "id": path_id(&path), "path": path, "name": name.name, "passes": check.passes, "fails": check.fails })
        });
        let paths = self.paths();
        let inner = paths.iter().filter(|inner| outer(inner) == Some(path));
        let mut group = resource(
            "groups",
            &path_id(path),
            json!({
                "path": path,
                "name": path.rsplit(SEPARATOR).next().unwrap_or_default(),
                "checks": checks.collect::<Vec<_>>(),
            }),
        );
        group["relationships"] = json!({
            "groups": { "data": inner.map(|inner| reference(inner)).collect::<Vec<_>>() },
            "parent": { "data": outer(path).map(reference) },
        });
        group
    }
}

/// Whole numbers without a fraction.
fn number(number: f64) -> Value {
    quantity::integer(number).map_or_else(|| number.into(), Value::from)
}

/// The path of the group around the one at `path`; the root has none.
fn outer(path: &str) -> Option<&str> {
    path.rsplit_once(SEPARATOR).map(|(outer, _)| outer)
}

fn reference(path: &str) -> Value {
    json!({ "type": "groups", "id": path_id(path) })
}

fn resource(kind: &str, id: &str, attributes: Value) -> Value {
    let fields = [
        ("type", kind.into()),
        ("id", id.into()),
        ("attributes", attributes),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    Map::from_iter(fields).into()
}

fn contains(definition: &Definition) -> &'static str {
    match definition.contains {
        Contains::Default => "default",
        Contains::Time => "time",
        Contains::Data => "data",
    }
}

/// Whether a threshold on the metric does not hold; null when it has none.
fn tainted(metric: &str, progress: &Progress<'_>) -> Option<bool> {
    let of_metric = progress.thresholds.iter().filter(|finding| {
        let definition = progress.metrics.registry().definition(finding.id);
        definition.name == metric
    });
    of_metric
        .map(|finding| !finding.passed)
        .reduce(|one, other| one || other)
}
