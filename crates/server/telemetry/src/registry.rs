//! The registry: all metrics of a process. New ones are created here.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{Counter, Dependency, DependencyStatus, Gauge, Histogram, Kind, Metric, Series, Snapshot, Value};

/// Name of the gauge that shows the dependencies.
const DEPENDENCY_UP: &str = "dependency_up";

/// The metrics of one process. A clone is the same registry.
///
/// Metrics are created when the server starts, and are never removed. Memory grows with the number of cells, so no
/// metric may be created per connection, per stream, or per anything else that clients choose.
#[derive(Clone, Default)]
pub struct Registry(Arc<Mutex<Contents>>);

#[derive(Default)]
struct Contents {
    metrics: BTreeMap<&'static str, Family>,
    dependencies: Vec<(&'static str, Dependency)>,
}

/// A metric and its cells.
struct Family {
    help: &'static str,
    kind: Kind,
    cells: Vec<Cell>,
}

struct Cell {
    labels: Vec<(&'static str, String)>,
    source: Source,
}

/// The source of a value.
enum Source {
    Counter(Counter),
    Gauge(Gauge),
    Function(Box<dyn Fn() -> f64 + Send + Sync>),
    Histogram(Histogram),
}

impl Registry {
    /// Creates a cell of a counter. A second call with the same name creates another cell; the metric is the sum of all
    /// cells.
    ///
    /// # Panics
    /// This and the other methods panic if the name is in use for another kind of metric. That is a bug of the program,
    /// which shows at its start.
    pub fn counter(&self, name: &'static str, help: &'static str) -> Counter {
        self.labelled_counter(name, help, &[])
    }

    /// Like [`Registry::counter`], for one of several series of a metric with different labels.
    pub fn labelled_counter(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, &str)],
    ) -> Counter {
        let counter = Counter::default();
        self.add(name, help, labels, Source::Counter(counter.clone()));
        counter
    }

    /// Creates a cell of a gauge.
    pub fn gauge(&self, name: &'static str, help: &'static str) -> Gauge {
        let gauge = Gauge::default();
        self.add(name, help, &[], Source::Gauge(gauge.clone()));
        gauge
    }

    /// Creates a cell of a gauge whose value is computed at each read. `f` must be quick and must not use the registry.
    pub fn gauge_fn(
        &self,
        name: &'static str,
        help: &'static str,
        f: impl Fn() -> f64 + Send + Sync + 'static,
    ) {
        self.add(name, help, &[], Source::Function(Box::new(f)));
    }

    /// Creates a cell of a histogram of durations. The name ends with `_seconds`, Prometheus' unit of time.
    pub fn histogram(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, &str)],
    ) -> Histogram {
        let histogram = Histogram::default();
        self.add(name, help, labels, Source::Histogram(histogram.clone()));
        histogram
    }

    /// Creates a dependency. A second call with the same name creates another part of it. The whole is up if all parts
    /// are.
    pub fn dependency(&self, name: &'static str) -> Dependency {
        let dependency = Dependency::new();
        self.contents().dependencies.push((name, dependency.clone()));
        dependency
    }

    /// The states of all dependencies, in the order of their names.
    pub fn dependencies(&self) -> Vec<DependencyStatus> {
        self.contents().dependencies()
    }

    /// All metrics with their current values.
    pub fn snapshot(&self) -> Snapshot {
        let contents = self.contents();
        let mut metrics: Vec<_> = contents
            .metrics
            .iter()
            .map(|(name, family)| family.read(name))
            .collect();
        metrics.extend(dependency_metric(&contents.dependencies()));
        metrics.sort_by_key(|metric| metric.name);
        Snapshot { metrics }
    }

    /// The current value of a metric. `None`: there is no such metric, or it has labels.
    pub fn value(&self, name: &str) -> Option<Value> {
        let series = self.contents().metrics.get(name)?.read_series();
        let unlabelled = series.into_iter().find(|series| series.labels.is_empty())?;
        Some(unlabelled.value)
    }

    fn add(&self, name: &'static str, help: &'static str, labels: &[(&'static str, &str)], source: Source) {
        let kind = source.kind();
        let mut contents = self.contents();
        let family = contents.metrics.entry(name).or_insert_with(|| Family {
            help,
            kind,
            cells: Vec::new(),
        });
        assert_eq!(family.kind, kind, "the metric {name} is of two kinds");
        let labels = labels
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        family.cells.push(Cell { labels, source });
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        // The registry is consistent after any panic, because every change is one insertion.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    fn dependencies(&self) -> Vec<DependencyStatus> {
        let mut by_name = BTreeMap::<_, DependencyStatus>::new();
        for (name, dependency) in &self.dependencies {
            let mut status = dependency.status(name);
            if let Some(other) = by_name.remove(name) {
                status = other.join(status);
            }
            by_name.insert(*name, status);
        }
        by_name.into_values().collect()
    }
}

impl Family {
    fn read(&self, name: &'static str) -> Metric {
        Metric {
            name,
            help: self.help,
            kind: self.kind,
            series: self.read_series(),
        }
    }

    fn read_series(&self) -> Vec<Series> {
        let mut series = Vec::<Series>::new();
        for cell in &self.cells {
            let value = cell.source.read();
            match series.iter_mut().find(|series| series.labels == cell.labels) {
                Some(series) => series.value.add(&value),
                None => series.push(Series {
                    labels: cell.labels.clone(),
                    value,
                }),
            }
        }
        series
    }
}

impl Source {
    fn kind(&self) -> Kind {
        match self {
            Self::Counter(_) => Kind::Counter,
            Self::Gauge(_) | Self::Function(_) => Kind::Gauge,
            Self::Histogram(_) => Kind::Histogram,
        }
    }

    fn read(&self) -> Value {
        match self {
            Self::Counter(counter) => Value::Counter(counter.get()),
            Self::Gauge(gauge) => Value::Gauge(gauge.get() as f64),
            Self::Function(f) => Value::Gauge(f()),
            Self::Histogram(histogram) => Value::Histogram(histogram.value()),
        }
    }
}

fn dependency_metric(dependencies: &[DependencyStatus]) -> Option<Metric> {
    let series: Vec<_> = dependencies
        .iter()
        .map(|status| Series {
            labels: vec![("dependency", status.name.to_owned())],
            value: Value::Gauge(if status.is_up() { 1.0 } else { 0.0 }),
        })
        .collect();
    (!series.is_empty()).then_some(Metric {
        name: DEPENDENCY_UP,
        help: "Whether a dependency of the server is available (1) or not (0)",
        kind: Kind::Gauge,
        series,
    })
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.contents().metrics.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;

    fn value(registry: &Registry, name: &str) -> Value {
        let snapshot = registry.snapshot();
        let metric = snapshot.metric(name).expect("registered");
        assert_eq!(metric.series.len(), 1, "{metric:?}");
        metric.series[0].value.clone()
    }

    #[test]
    fn cells_of_a_metric_are_added() {
        let registry = Registry::default();
        let counters: Vec<_> = (0..4).map(|_| registry.counter("a_total", "A")).collect();
        thread::scope(|scope| {
            for counter in &counters {
                scope.spawn(|| (0..1_000).for_each(|_| counter.increment()));
            }
        });
        assert_eq!(value(&registry, "a_total"), Value::Counter(4_000));

        let (one, other) = (registry.gauge("b_num", "B"), registry.gauge("b_num", "B"));
        registry.gauge_fn("b_num", "B", || 0.5);
        one.add(5);
        one.sub(2);
        other.set(-1);
        assert_eq!(value(&registry, "b_num"), Value::Gauge(2.5));
    }

    #[test]
    fn a_metric_without_labels_has_a_value() {
        let registry = Registry::default();
        for n in [2, 3] {
            registry.counter("a_total", "A").add(n);
            registry
                .labelled_counter("b_total", "B", &[("reason", "tls")])
                .add(n);
        }
        for (name, expected) in [
            ("a_total", Some(Value::Counter(5))),
            ("b_total", None),
            ("c_total", None),
        ] {
            assert_eq!(registry.value(name), expected, "{name}");
        }
    }

    #[test]
    fn cells_with_the_same_labels_are_one_series() {
        let registry = Registry::default();
        for command in ["connect", "command", "connect"] {
            let histogram = registry.histogram("c_seconds", "C", &[("method", command)]);
            histogram.observe(Duration::from_micros(100));
        }
        let snapshot = registry.snapshot();
        let found: Vec<_> = snapshot.metrics[0]
            .series
            .iter()
            .map(|series| match &series.value {
                Value::Histogram(value) => (series.labels[0].1.as_str(), value.count(), value.sum),
                other => panic!("{other:?}"),
            })
            .collect();
        let micros = Duration::from_micros;
        assert_eq!(found, [("connect", 2, micros(200)), ("command", 1, micros(100))]);
    }

    #[test]
    fn dependencies_are_a_gauge() {
        let registry = Registry::default();
        assert_eq!(registry.snapshot().metrics, []);
        let (one, other) = (registry.dependency("redis"), registry.dependency("redis"));
        one.up();
        assert_eq!(value(&registry, DEPENDENCY_UP), Value::Gauge(0.0));
        other.up();
        assert_eq!(value(&registry, DEPENDENCY_UP), Value::Gauge(1.0));
        assert_eq!(registry.dependencies().len(), 1);
    }

    #[test]
    fn logs_show_the_names_alone() {
        let registry = Registry::default();
        registry.counter("b_total", "B").add(7);
        let _gauge = registry.gauge("a_num", "A");
        assert_eq!(format!("{registry:?}"), r#"["a_num", "b_total"]"#);
    }

    #[test]
    fn metrics_come_in_the_order_of_their_names() {
        let registry = Registry::default();
        registry.dependency("redis").up();
        registry.dependency("app").down("refused");
        for name in ["e_total", "d_total"] {
            registry.counter(name, "C").increment();
        }
        let snapshot = registry.snapshot();
        let names: Vec<_> = snapshot.metrics.iter().map(|metric| metric.name).collect();
        assert_eq!(names, ["d_total", DEPENDENCY_UP, "e_total"]);
        assert_eq!(snapshot.metric("unknown"), None);
        let found = registry.dependencies();
        let states: Vec<_> = found.iter().map(|status| (status.name, status.is_up())).collect();
        assert_eq!(states, [("app", false), ("redis", true)]);
    }

    #[test]
    #[should_panic(expected = "the metric a is of two kinds")]
    fn a_metric_has_one_kind() {
        let registry = Registry::default();
        let _counter = registry.counter("a", "A");
        let _gauge = registry.gauge("a", "A");
    }
}
