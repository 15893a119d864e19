//! The results of a run in k6's forms for programs: for a script's `handleSummary`, and in two kinds of files
//! (docs/reference/summary.md, As data).

use serde_json::{Map, Value, json};

use crate::{
    Summary, quantity,
    summary::{Contains, Entry, Metric, Values},
};

mod export;
mod groups;
mod machine_readable;

pub use self::groups::path_id;

/// Further data for a script or a file.
#[derive(Clone, Debug, Default)]
pub struct ScriptOptions<'a> {
    /// The option `summaryTrendStats`: the figures that trends have.
    pub trend_stats: &'a [String],
    /// The option `summaryTimeUnit` as it was written. Empty if it was not set.
    pub time_unit: &'a str,
    /// Whether text should have no colours.
    pub no_color: bool,
    /// Whether the standard output is a terminal.
    pub is_stdout_terminal: bool,
    /// Whether the standard error is a terminal.
    pub is_stderr_terminal: bool,
    /// The result of `setup`, if there was one.
    pub setup_data: Option<&'a Value>,
}

impl Summary {
    /// The argument of `handleSummary`.
    pub fn script_data(&self, options: &ScriptOptions<'_>) -> Value {
        let mut data = json!({
            "root_group": groups::lists(&self.root_group()),
            "options": {
                "summaryTrendStats": options.trend_stats,
                "summaryTimeUnit": options.time_unit,
                "noColor": options.no_color,
            },
            "state": {
                "isStdOutTTY": options.is_stdout_terminal,
                "isStdErrTTY": options.is_stderr_terminal,
                "testRunDurationMs": number(self.metadata.duration_seconds * 1e3),
            },
            "metrics": self.listing().iter().map(metric).collect::<Map<_, _>>(),
            "generator": self.health(),
        });
        if let Some(setup_data) = options.setup_data {
            data["setup_data"] = setup_data.clone();
        }
        data
    }

    /// The file of `--summary-export`, in its older shape: a threshold is true when it was **crossed**.
    pub fn export(&self, setup_data: Option<&Value>) -> String {
        export::file(self, setup_data)
    }

    /// The file of `--summary-export` with `--new-machine-readable-summary`. `script` is the source of the script.
    pub fn machine_readable(&self, script: &str) -> String {
        machine_readable::file(self, script)
    }
}

impl Summary {
    /// The generator's health. k6 has no such field.
    fn health(&self) -> Value {
        json!({ "doubtful": self.generator.doubtful, "reasons": self.generator.reasons })
    }
}

/// A metric in the form of `handleSummary`.
fn metric(entry: &Entry<'_>) -> (String, Value) {
    let mut metric = json!({
        "type": kind(entry.metric),
        "contains": contains(entry.metric),
        "values": values(entry.metric),
    });
    if !entry.thresholds.is_empty() {
        let thresholds = entry.thresholds.iter();
        let thresholds =
            thresholds.map(|threshold| (threshold.expression.clone(), json!({ "ok": threshold.passed })));
        metric["thresholds"] = thresholds.collect::<Map<_, _>>().into();
    }
    (entry.name.to_owned(), metric)
}

fn kind(metric: &Metric) -> &'static str {
    match metric.values {
        Values::Counter { .. } => "counter",
        Values::Gauge { .. } => "gauge",
        Values::Rate { .. } => "rate",
        Values::Trend(_) => "trend",
    }
}

fn contains(metric: &Metric) -> &'static str {
    match metric.contains {
        Contains::Default => "default",
        Contains::Time => "time",
        Contains::Data => "data",
    }
}

/// The figures of a metric: milliseconds, bytes, plain numbers or shares.
fn values(metric: &Metric) -> Map<String, Value> {
    let named = |name: &str, value| (name.to_owned(), value);
    match metric.values {
        Values::Counter { count, rate } => [named("count", number(count)), named("rate", number(rate))]
            .into_iter()
            .collect(),
        Values::Gauge { value, min, max } => [
            named("value", number(value)),
            named("min", number(min)),
            named("max", number(max)),
        ]
        .into_iter()
        .collect(),
        Values::Rate { rate, passes, fails } => [
            named("rate", number(rate)),
            named("passes", passes.into()),
            named("fails", fails.into()),
        ]
        .into_iter()
        .collect(),
        Values::Trend(_) => {
            let figures = metric.figures.iter();
            figures
                .map(|figure| named(&figure.stat, number(figure.value)))
                .collect()
        }
    }
}

/// A number in k6's form: whole numbers without a fraction, and `null` for a value that JSON cannot represent.
fn number(number: f64) -> Value {
    match quantity::integer(number) {
        Some(integer) => integer.into(),
        None => number.into(),
    }
}

/// JSON with four spaces per level, as k6 indents its files.
fn indented(value: &Value) -> String {
    use serde::Serialize;
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    value
        .serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter))
        .expect("a `Value` has text as keys, and a vector takes all bytes");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

#[cfg(test)]
mod tests;
