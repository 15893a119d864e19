//! The line protocol: `metric,tag=value field="text",value=1 1795290543000000000`.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_load::metrics::{Batch, Tags};

use crate::tag_cache::TagCache;

/// The unit of the times of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Precision {
    #[default]
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

/// The type of a tag that is written as a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Text,
    Truth,
    Float,
    Integer,
}

/// Writes samples as lines.
pub(super) struct Lines {
    precision: Precision,
    /// The tags of a sample, as they stand between the metric and the value.
    tags: TagCache,
}

impl Lines {
    pub(super) fn new(fields: BTreeMap<String, FieldKind>, precision: Precision) -> Self {
        Self {
            precision,
            tags: TagCache::new(move |tags| between(tags, &fields)),
        }
    }

    /// All samples of a batch that are finite, and their number: InfluxDB has no other values.
    pub(super) fn of(&mut self, batch: &Batch) -> (String, u64) {
        let (mut text, mut n_lines) = (String::new(), 0);
        for sample in batch.samples.iter().filter(|sample| sample.value.is_finite()) {
            let name = &batch.registry.definition(sample.metric).name;
            let tags = self.tags.text(&sample.tags);
            let time = self.precision.of(sample.time);
            writeln!(text, "{name}{tags}value={} {time}", sample.value).expect("a string takes all text");
            n_lines += 1;
        }
        (text, n_lines)
    }
}

impl Precision {
    fn of(self, time: SystemTime) -> u128 {
        let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        match self {
            Self::Nanoseconds => since_epoch.as_nanos(),
            Self::Microseconds => since_epoch.as_micros(),
            Self::Milliseconds => since_epoch.as_millis(),
            Self::Seconds => u128::from(since_epoch.as_secs()),
        }
    }

    /// Its name in the query of a request.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "u",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
        }
    }
}

/// Tags, a space, and the fields before `value`. InfluxDB has no tags without a value.
fn between(tags: &Tags, fields: &BTreeMap<String, FieldKind>) -> String {
    let mut text = String::new();
    for (name, value) in tags
        .iter()
        .filter(|(name, value)| !fields.contains_key(*name) && !value.is_empty())
    {
        let _ = write!(text, ",{}={}", escaped(name), escaped(value));
    }
    text.push(' ');
    for (name, kind) in fields {
        if let Some(value) = tags.get(name) {
            let _ = write!(text, "{}={},", escaped(name), field(value, *kind));
        }
    }
    text
}

/// A name, or the value of a tag. A line ends with its point, so there are no line breaks.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            ',' | '=' | ' ' => escaped.extend(['\\', letter]),
            '\n' | '\r' | '\t' => escaped.push_str("\\ "),
            other => escaped.push(other),
        }
    }
    // The next character would be taken for a part of it.
    if escaped.ends_with('\\') {
        escaped.push(' ');
    }
    escaped
}

fn field(text: &str, kind: FieldKind) -> String {
    let typed = match kind {
        FieldKind::Text => None,
        FieldKind::Truth => match text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some("true".to_owned()),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some("false".to_owned()),
            _ => None,
        },
        FieldKind::Float => text
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
            .map(|number| number.to_string()),
        FieldKind::Integer => text.parse::<i64>().ok().map(|number| format!("{number}i")),
    };
    typed.unwrap_or_else(|| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}
