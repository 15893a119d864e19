//! The options that users write: one object per layer, and how layers are combined.
//!
//! An option stays the JSON that it was written as, so that scripts see what their author wrote. Each is checked where
//! it is read; [`Plan::from_options`](super::Plan::from_options) computes their common meaning.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    OptionsError, Scenario,
    fields::{Fields, FromJson, found},
};
use crate::{
    executor::Stage,
    parity::Parity,
    threshold::{Rule, Rules},
};

/// Options of one layer, or of several combined layers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Options {
    values: Map<String, Value>,
}

/// A layer, and its options without a meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// The known options.
    pub options: Options,
    /// Keys that no option has, for a warning; k6 ignores them, too.
    pub unknown: Vec<String>,
    /// Further warnings, for people.
    pub notices: Vec<String>,
}

/// The form of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Count,
    Number,
    Switch,
    Time,
    Text,
    Texts,
    Pairs,
    Stages,
    Scenarios,
    Thresholds,
    /// Any form; the code of the protocol reads it.
    Any,
}

/// The options that define the schedule. A layer with one of these replaces all four from the layers below.
const EXECUTION: [&str; 4] = ["duration", "iterations", "stages", "scenarios"];

/// The fields of a threshold that is an object.
const RULE_FIELDS: [&str; 3] = ["threshold", "abortOnFail", "delayAbortEval"];

/// Every option of k6 with its form and its environment variable, if it has one.
const OPTIONS: &[(&str, Form, &str)] = &[
    ("vus", Form::Count, "K6_VUS"),
    ("duration", Form::Time, "K6_DURATION"),
    ("iterations", Form::Count, "K6_ITERATIONS"),
    ("stages", Form::Stages, "K6_STAGES"),
    ("scenarios", Form::Scenarios, ""),
    ("executionSegment", Form::Text, "K6_EXECUTION_SEGMENT"),
    (
        "executionSegmentSequence",
        Form::Text,
        "K6_EXECUTION_SEGMENT_SEQUENCE",
    ),
    ("paused", Form::Switch, "K6_PAUSED"),
    ("noSetup", Form::Switch, "K6_NO_SETUP"),
    ("noTeardown", Form::Switch, "K6_NO_TEARDOWN"),
    ("setupTimeout", Form::Time, "K6_SETUP_TIMEOUT"),
    ("teardownTimeout", Form::Time, "K6_TEARDOWN_TIMEOUT"),
    ("handleSummaryTimeout", Form::Time, "K6_HANDLE_SUMMARY_TIMEOUT"),
    ("rps", Form::Count, "K6_RPS"),
    ("dns", Form::Any, "K6_DNS"),
    ("maxRedirects", Form::Count, "K6_MAX_REDIRECTS"),
    ("userAgent", Form::Text, "K6_USER_AGENT"),
    ("batch", Form::Count, "K6_BATCH"),
    ("batchPerHost", Form::Count, "K6_BATCH_PER_HOST"),
    ("httpDebug", Form::Text, "K6_HTTP_DEBUG"),
    // Not in k6.
    ("websocketDebug", Form::Text, "K6_WEBSOCKET_DEBUG"),
    (
        "insecureSkipTLSVerify",
        Form::Switch,
        "K6_INSECURE_SKIP_TLS_VERIFY",
    ),
    ("tlsCipherSuites", Form::Texts, "K6_TLS_CIPHER_SUITES"),
    ("tlsVersion", Form::Any, ""),
    ("tlsAuth", Form::Any, ""),
    ("throw", Form::Switch, "K6_THROW"),
    ("thresholds", Form::Thresholds, "K6_THRESHOLDS"),
    ("blacklistIPs", Form::Texts, "K6_BLACKLIST_IPS"),
    ("blockHostnames", Form::Texts, "K6_BLOCK_HOSTNAMES"),
    ("hosts", Form::Pairs, "K6_HOSTS"),
    ("noConnectionReuse", Form::Switch, "K6_NO_CONNECTION_REUSE"),
    ("noVUConnectionReuse", Form::Switch, "K6_NO_VU_CONNECTION_REUSE"),
    ("minIterationDuration", Form::Time, "K6_MIN_ITERATION_DURATION"),
    ("cloud", Form::Any, ""),
    ("ext", Form::Any, ""),
    ("summaryTrendStats", Form::Texts, "K6_SUMMARY_TREND_STATS"),
    ("summaryTimeUnit", Form::Text, "K6_SUMMARY_TIME_UNIT"),
    ("systemTags", Form::Texts, "K6_SYSTEM_TAGS"),
    ("tags", Form::Pairs, "K6_TAGS"),
    (
        "metricSamplesBufferSize",
        Form::Number,
        "K6_METRIC_SAMPLES_BUFFER_SIZE",
    ),
    ("noCookiesReset", Form::Switch, "K6_NO_COOKIES_RESET"),
    (
        "discardResponseBodies",
        Form::Switch,
        "K6_DISCARD_RESPONSE_BODIES",
    ),
    ("localIPs", Form::Text, "K6_LOCAL_IPS"),
    ("consoleOutput", Form::Text, "K6_CONSOLE_OUTPUT"),
];

impl Options {
    /// Reads a layer that is an object: the script's `options`, or a configuration file.
    ///
    /// # Errors
    /// An option is invalid. Unknown ones are not errors.
    pub fn from_json(value: &Value) -> Result<Read, OptionsError> {
        let values = value.as_object().ok_or_else(|| {
            OptionsError::new("options", format!("expected an object, found {}", found(value)))
        })?;
        let mut read = Read::default();
        for (key, value) in values {
            match form_of(key) {
                Some(form) => {
                    read.options.set(key, value.clone())?;
                    read.notices.extend(form.notices(value));
                }
                None => read.unknown.push(key.clone()),
            }
        }
        Ok(read)
    }

    /// Reads the layer of `K6_*` variables.
    ///
    /// # Errors
    /// A variable is invalid for its option.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        for &(key, _, name) in OPTIONS.iter().filter(|(_, _, name)| !name.is_empty()) {
            if let Some(text) = variable(name).filter(|text| !text.is_empty()) {
                options
                    .set_text(key, &text)
                    .map_err(|error| error.at(key, name))?;
            }
        }
        Ok(options)
    }

    /// Sets an option; null removes it.
    ///
    /// # Errors
    /// The option is invalid or does not exist.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), OptionsError> {
        let form = form_of(key).ok_or_else(|| OptionsError::new(key, "is not an option"))?;
        if form.is_absent(&value) {
            self.values.remove(key);
            return Ok(());
        }
        form.check(key, &value)?;
        self.values.insert(key.to_owned(), form.converted(value));
        Ok(())
    }

    /// Sets an option from the text of a flag or a variable: lists with commas, `stages` as `10s:5,1m:20`.
    ///
    /// # Errors
    /// As for [`Self::set`].
    pub fn set_text(&mut self, key: &str, text: &str) -> Result<(), OptionsError> {
        let form = form_of(key).ok_or_else(|| OptionsError::new(key, "is not an option"))?;
        let value = form
            .of_text(text)
            .ok_or_else(|| OptionsError::new(key, format!("expected {}, found `{text}`", form.expected())))?;
        self.set(key, value)
    }

    /// These options, overridden by those of a higher layer.
    #[must_use]
    pub fn under(mut self, higher: Self) -> Self {
        if EXECUTION.iter().any(|key| higher.values.contains_key(*key)) {
            for key in EXECUTION {
                self.values.remove(key);
            }
        } else if higher.values.contains_key("vus") {
            // A number of users alone is a shortcut, too, and shortcuts and scenarios exclude each other.
            self.values.remove("scenarios");
        }
        self.values.extend(higher.values);
        self
    }

    /// The names of all options that there are.
    pub fn names() -> impl Iterator<Item = &'static str> {
        OPTIONS.iter().map(|&(name, ..)| name)
    }

    /// The comparison of an option with k6's.
    pub fn parity(name: &str) -> Parity {
        match name {
            "websocketDebug" => Parity::Beyond("as `httpDebug`, for WebSockets"),
            "cloud" | "ext" => Parity::Differs("without effect: there is no cloud service"),
            "metricSamplesBufferSize" => {
                Parity::Differs("without effect: the queues of outputs have a fixed size")
            }
            "tlsVersion" => Parity::Differs("TLS 1.2 and 1.3; older versions are refused"),
            "tlsCipherSuites" => {
                Parity::Differs("suites with forward secrecy and authentication; others are refused")
            }
            "userAgent" => Parity::Differs("the default is `plimsoll/<version>`"),
            _ => Parity::Same,
        }
    }

    /// The environment variable of an option. `None` if it has none, or does not exist.
    pub fn variable(name: &str) -> Option<&'static str> {
        let (.., variable) = OPTIONS.iter().find(|(known, ..)| *known == name)?;
        (!variable.is_empty()).then_some(variable)
    }

    /// An option as it was written.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// An option, parsed. It was checked when it was set.
    pub(super) fn read<T: FromJson>(&self, key: &str) -> Result<Option<T>, OptionsError> {
        self.get(key).map(|value| T::from_json(value, key)).transpose()
    }
}

fn form_of(key: &str) -> Option<Form> {
    OPTIONS
        .iter()
        .find(|(known, ..)| *known == key)
        .map(|&(_, form, _)| form)
}

impl Form {
    /// Refuses invalid values of this option.
    fn check(self, key: &str, value: &Value) -> Result<(), OptionsError> {
        match self {
            Self::Count => u64::from_json(value, key).map(drop),
            Self::Number => f64::from_json(value, key).map(drop),
            Self::Switch => bool::from_json(value, key).map(drop),
            Self::Time => Duration::from_json(value, key).map(drop),
            Self::Text => String::from_json(value, key).map(drop),
            Self::Texts => Vec::<String>::from_json(value, key).map(drop),
            Self::Pairs => BTreeMap::<String, String>::from_json(value, key).map(drop),
            Self::Stages => Vec::<Stage>::from_json(value, key).map(drop),
            Self::Scenarios => scenarios(value).map(drop),
            Self::Thresholds => Rules::from_json(value, key).map(drop),
            Self::Any => Ok(()),
        }
    }

    /// What has no effect in a valid value.
    fn notices(self, value: &Value) -> Vec<String> {
        match (self, value) {
            (Self::Scenarios, Value::Object(scenarios)) if scenarios.is_empty() => {
                vec!["`scenarios` is empty, so one virtual user runs one iteration".to_owned()]
            }
            (Self::Thresholds, Value::Object(metrics)) => {
                let lists = metrics
                    .iter()
                    .filter_map(|(metric, rules)| Some((metric, rules.as_array()?)));
                let unknown = lists.flat_map(|(metric, rules)| {
                    let keys = rules.iter().filter_map(Value::as_object).flat_map(Map::keys);
                    let unknown = keys.filter(|key| !RULE_FIELDS.contains(&key.as_str()));
                    unknown.map(move |key| {
                        format!(
                            "thresholds.{metric}: unknown field `{key}`, which has no effect; the fields are {}",
                            RULE_FIELDS.join(", ")
                        )
                    })
                });
                unknown.collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a value stands for none: null, the text of a variable that is not set, no scenarios.
    fn is_absent(self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null) => true,
            (Self::Count | Self::Number, Value::String(text)) => text.is_empty(),
            (Self::Scenarios, Value::Object(scenarios)) => scenarios.is_empty(),
            _ => false,
        }
    }

    /// A valid value of this option, with a number for the text of a number, so that all readers find one.
    fn converted(self, value: Value) -> Value {
        match self {
            Self::Count => u64::read(&value).map_or(value, Value::from),
            Self::Number => f64::read(&value).map_or(value, Value::from),
            _ => value,
        }
    }

    /// What to write as text.
    fn expected(self) -> &'static str {
        match self {
            Self::Count => u64::EXPECTED,
            Self::Number => f64::EXPECTED,
            Self::Switch => bool::EXPECTED,
            Self::Time => "a duration, for example 1m30s, or a number of milliseconds",
            Self::Text => String::EXPECTED,
            Self::Texts => "comma-separated names",
            Self::Pairs => "comma-separated pairs, for example team=chat,stage=test",
            Self::Stages => "stages as duration:target, for example 30s:10,1m:50",
            Self::Scenarios | Self::Thresholds | Self::Any => "JSON",
        }
    }

    /// The JSON of an option that was written as text.
    fn of_text(self, text: &str) -> Option<Value> {
        let items = || text.split(',').map(str::trim).filter(|item| !item.is_empty());
        Some(match self {
            Self::Count => json!(text.trim().parse::<u64>().ok()?),
            Self::Number => json!(text.trim().parse::<f64>().ok()?),
            Self::Switch => json!(switch(text.trim())?),
            Self::Time | Self::Text => json!(text),
            Self::Texts => items().collect(),
            Self::Pairs => {
                // Flags of k6 have an equals sign, its variables a colon.
                let pairs = items().map(|pair| pair.split_once('=').or_else(|| pair.split_once(':')));
                pairs
                    .map(|pair| pair.map(|(name, value)| (name.to_owned(), json!(value))))
                    .collect::<Option<Map<_, _>>>()?
                    .into()
            }
            Self::Stages => {
                let stages = items().map(|stage| {
                    let (duration, target) = stage.split_once(':')?;
                    Some(json!({ "duration": duration, "target": target.parse::<u32>().ok()? }))
                });
                stages.collect::<Option<Vec<_>>>()?.into()
            }
            Self::Scenarios | Self::Thresholds => serde_json::from_str(text).ok()?,
            // What is not JSON stays the text that it is.
            Self::Any => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        })
    }
}

/// The spellings of yes and no that Go reads.
fn switch(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// All scenarios of `options.scenarios`, in the order of their names.
pub(super) fn scenarios(value: &Value) -> Result<Vec<Scenario>, OptionsError> {
    let entries = value.as_object().filter(|entries| !entries.is_empty()).ok_or_else(|| {
        let problem = format!(
            "expected an object of scenarios, for example {{\"chat\": {{\"executor\": \"constant-vus\", \"vus\": 5, \
             \"duration\": \"30s\"}}}}, found {}",
            found(value)
        );
        OptionsError::new("scenarios", problem)
    })?;
    let scenarios = entries.iter();
    scenarios
        .map(|(name, value)| Scenario::from_json(name, value))
        .collect()
}

impl FromJson for Rules {
    const EXPECTED: &'static str = "an object of lists, for example {\"checks\": [\"rate>0.9\"]}";

    fn from_json(value: &Value, path: &str) -> Result<Self, OptionsError> {
        let metrics = value.as_object().ok_or_else(|| {
            OptionsError::new(
                path,
                format!("expected {}, found {}", Self::EXPECTED, found(value)),
            )
        })?;
        metrics
            .iter()
            .filter(|(_, rules)| !rules.is_null())
            .map(|(metric, rules)| {
                Ok((
                    metric.clone(),
                    Vec::from_json(rules, &format!("{path}.{metric}"))?,
                ))
            })
            .collect()
    }

    fn read(value: &Value) -> Option<Self> {
        Self::from_json(value, "").ok()
    }
}

impl FromJson for Rule {
    const EXPECTED: &'static str = "a threshold, for example \"p(95)<500\" or {\"threshold\": \"p(95)<500\", \
                                    \"abortOnFail\": true, \"delayAbortEval\": \"10s\"}";

    fn from_json(value: &Value, path: &str) -> Result<Self, OptionsError> {
        let (text, abort_on_fail, delay_abort_eval) = match value {
            Value::String(text) => (text.clone(), None, None),
            Value::Object(_) => {
                let mut fields = Fields::of(value, path)?;
                // Unknown fields are notices, as in k6.
                (
                    fields.require("threshold")?,
                    fields.get("abortOnFail")?,
                    fields.get("delayAbortEval")?,
                )
            }
            _ => {
                let problem = format!("expected {}, found {}", Self::EXPECTED, found(value));
                return Err(OptionsError::new(path, problem));
            }
        };
        let expression = text
            .parse()
            .map_err(|error: crate::threshold::ThresholdError| OptionsError::new(path, error.to_string()))?;
        Ok(Self {
            expression,
            abort_on_fail: abort_on_fail.unwrap_or(false),
            delay_abort_eval: delay_abort_eval.unwrap_or_default(),
        })
    }

    fn read(value: &Value) -> Option<Self> {
        Self::from_json(value, "").ok()
    }
}

impl FromJson for BTreeSet<String> {
    const EXPECTED: &'static str = "a list of names";

    fn read(value: &Value) -> Option<Self> {
        Vec::read(value).map(Self::from_iter)
    }
}

#[cfg(test)]
mod tests;
