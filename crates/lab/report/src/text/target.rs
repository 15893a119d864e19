//! The resource use of a watched target, in words.

use std::time::Duration;

use plimsoll_load::watch::figure::{CPU_CORES, RSS_BYTES};

use crate::{
    Style,
    fit::Fit,
    quantity,
    summary::{Target, TargetEnded},
};

/// The most series of a page of metrics that are listed; all of them are in the JSON.
const LISTED_SERIES: usize = 8;

/// The most important figures, in one line.
pub(super) fn line(target: &Target, style: Style) -> String {
    let cpu = target.cpu_seconds.zip(target.cores).map(|(seconds, cores)| {
        let time = duration(seconds);
        let peak = target.cores_max.map(|cores| format!(", up to {cores:.2}"));
        format!(
            "CPU {} ({cores:.2} cores{})",
            style.value(&time),
            peak.unwrap_or_default()
        )
    });
    let memory = |name: &str, bytes: Option<u64>| {
        bytes.map(|bytes| format!("{name} up to {}", style.value(&quantity::bytes(bytes as f64))))
    };
    let figures = [
        cpu,
        memory("RSS", target.rss_max_bytes),
        memory("PSS", target.pss_max_bytes),
    ];
    let figures = figures.into_iter().flatten();
    let what = if target.name == target.what {
        target.name.clone()
    } else {
        format!("{} ({})", target.name, target.what)
    };
    [what].into_iter().chain(figures).collect::<Vec<_>>().join(", ")
}

/// What else there is, in sentences.
pub(super) fn details(target: &Target) -> Vec<String> {
    let fits = target.fits.iter().filter_map(fitted);
    let memory = memory_per_user(target);
    let ended = target.ended.as_ref().map(ended);
    let counts = counts(target);
    let missed =
        (target.missed > 0).then(|| format!("the metrics page was not available {} times", target.missed));
    let left_out = target.series_left_out;
    let left_out = (left_out > 0)
        .then(|| format!("{left_out} more series were not recorded; name the series that matter"));
    ended
        .into_iter()
        .chain(counts)
        .chain(fits)
        .chain(memory)
        .chain(metrics(target))
        .chain(missed)
        .chain(left_out)
        .collect()
}

fn ended(ended: &TargetEnded) -> String {
    let after = duration(ended.seconds);
    format!("it ended after {after}: {}; its figures end there", ended.reason)
}

fn counts(target: &Target) -> Option<String> {
    let counts = [
        (target.processes_max, "process", "processes"),
        (target.threads_max, "thread", "threads"),
        (target.open_files_max, "open file", "open files"),
        (target.sockets_max, "socket", "sockets"),
    ];
    let counts = counts.into_iter().filter_map(|(n, one, many)| match n? {
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    (!counts.is_empty()).then(|| format!("at most {counts}"))
}

/// `None` for a line that is only meaningful as a picture.
fn fitted(fit: &Fit) -> Option<String> {
    let Fit {
        of,
        against,
        slope,
        slope_error,
        n,
        ..
    } = fit;
    let what = match (of.as_str(), against.as_str()) {
        (CPU_CORES, "vus") => "of CPU per user and second",
        (CPU_CORES, "iterations_per_second") => "of CPU per iteration",
        _ => return None,
    };
    let error = seconds(*slope_error);
    // Without any effect, 95 % of fitted slopes lie within two standard errors.
    if slope.abs() < 2.0 * slope_error {
        return Some(format!("no significant amount {what} (± {error}), {n} intervals"));
    }
    Some(format!(
        "about {} {what} (± {error}), {n} intervals",
        seconds(*slope)
    ))
}

fn memory_per_user(target: &Target) -> Option<String> {
    let why_not = || Some(format!("no RSS per user: {}", target.no_rss_per_user.as_ref()?));
    let Some(found) = target.rss_per_user else {
        return why_not();
    };
    Some(format!(
        "{} of RSS per user ({} to {} with 95 % confidence, from {} loads that were held)",
        bytes(found.bytes),
        bytes(found.low),
        bytes(found.high),
        found.plateaus
    ))
}

/// Mean and peak of series that only pages of metrics have.
fn metrics(target: &Target) -> Vec<String> {
    if !target.what.starts_with("metrics ") {
        return Vec::new();
    }
    let of_processes = [CPU_CORES, RSS_BYTES];
    let series = || {
        target
            .series
            .iter()
            .filter(|(name, _)| !of_processes.contains(&name.as_str()))
    };
    let lines = series().take(LISTED_SERIES).map(|(name, values)| {
        let values: Vec<f64> = values.iter().flatten().copied().collect();
        match values.iter().copied().reduce(f64::max) {
            Some(highest) => {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                format!("{name}: mean {}, up to {}", number(mean), number(highest))
            }
            None => format!("{name}: nothing in this time"),
        }
    });
    let n_more = series().count().saturating_sub(LISTED_SERIES);
    let more = (n_more > 0).then(|| format!("{n_more} more series are in the JSON"));
    lines.chain(more).collect()
}

fn bytes(bytes: f64) -> String {
    signed(bytes, quantity::bytes)
}

fn seconds(seconds: f64) -> String {
    signed(seconds, duration)
}

fn number(number: f64) -> String {
    if number.abs() < 100.0 {
        quantity::number((number * 1e3).round() / 1e3)
    } else {
        quantity::number(number.round())
    }
}

fn signed(value: f64, of: impl Fn(f64) -> String) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", of(value.abs()))
}

fn duration(seconds: f64) -> String {
    quantity::duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}
