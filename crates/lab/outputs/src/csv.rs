//! Every sample as a line of comma-separated values (RFC 4180; docs/reference/outputs.md, `csv`): a column for each
//! system tag, one for all other tags, and one for metadata.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_load::{
    metrics::{Batch, Sample, Tags},
    plan::Plan,
};
use plimsoll_report::{rfc3339_nanos, rfc3339_secs};

use crate::{
    file::{Format, metadata_names},
    tag_cache::TagCache,
};

/// The format of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TimeFormat {
    #[default]
    Unix,
    UnixMilli,
    UnixMicro,
    UnixNano,
    Rfc3339,
    Rfc3339Nano,
}

impl TimeFormat {
    /// Names as users write them.
    pub(crate) const ALL: [(&'static str, Self); 6] = [
        ("unix", Self::Unix),
        ("unix_milli", Self::UnixMilli),
        ("unix_micro", Self::UnixMicro),
        ("unix_nano", Self::UnixNano),
        ("rfc3339", Self::Rfc3339),
        ("rfc3339_nano", Self::Rfc3339Nano),
    ];

    fn text(self, time: SystemTime) -> String {
        let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        match self {
            Self::Unix => since_epoch.as_secs().to_string(),
            Self::UnixMilli => since_epoch.as_millis().to_string(),
            Self::UnixMicro => since_epoch.as_micros().to_string(),
            Self::UnixNano => since_epoch.as_nanos().to_string(),
            Self::Rfc3339 => rfc3339_secs(time),
            Self::Rfc3339Nano => rfc3339_nanos(time),
        }
    }
}

/// Comma-separated values.
pub(crate) struct Csv {
    time_format: TimeFormat,
    /// System tags with a column of their own, in its order.
    columns: BTreeSet<String>,
    tags: TagCache,
}

impl Csv {
    pub(crate) fn new(plan: &Plan, time_format: TimeFormat) -> Self {
        let metadata = metadata_names(&plan.system_tags);
        let columns: BTreeSet<_> = plan.system_tags.difference(&metadata).cloned().collect();
        Self {
            time_format,
            columns: columns.clone(),
            tags: TagCache::new(move |tags| fields(tags, &columns, &metadata)),
        }
    }
}

impl Format for Csv {
    fn header(&self) -> String {
        let first = ["metric_name", "timestamp", "metric_value"].map(str::to_owned);
        let last = ["extra_tags", "metadata"].map(str::to_owned);
        let names: Vec<_> = first
            .into_iter()
            .chain(self.columns.clone())
            .chain(last)
            .collect();
        format!("{}\n", names.join(","))
    }

    fn sample(&mut self, batch: &Batch, sample: &Sample, out: &mut String) {
        // Names of metrics are letters, digits and underscores.
        let name = &batch.registry.definition(sample.metric).name;
        let time = self.time_format.text(sample.time);
        let tags = self.tags.text(&sample.tags);
        writeln!(out, "{name},{time},{:.6},{tags}", sample.value).expect("a string takes all text");
    }
}

/// The columns that come from tags.
fn fields(tags: &Tags, columns: &BTreeSet<String>, metadata: &BTreeSet<String>) -> String {
    let of = |name| tags.get(name).map_or("", String::as_str);
    let mut fields: Vec<_> = columns.iter().map(|name| quoted(of(name))).collect();
    let extra = |name: &String| !columns.contains(name) && !metadata.contains(name);
    fields.push(quoted(&pairs(tags, extra)));
    fields.push(quoted(&pairs(tags, |name| metadata.contains(name))));
    fields.join(",")
}

/// `a=1&b=2`.
fn pairs(tags: &Tags, is_wanted: impl Fn(&String) -> bool) -> String {
    let wanted = tags.iter().filter(|(name, _)| is_wanted(name));
    let pairs: Vec<_> = wanted.map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

/// A field as in RFC 4180: in quotes if its text would end the field, or look like the beginning of a quoted one.
fn quoted(text: &str) -> String {
    let is_plain = !text.contains([',', '"', '\n', '\r']) && !text.starts_with([' ', '\t']);
    if is_plain {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('"', "\"\""))
    }
}
