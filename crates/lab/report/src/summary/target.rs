//! What a watched target used, over time and against the load.

use std::collections::BTreeMap;

use plimsoll_load::watch::{
    Account, Record,
    figure::{CPU_CORES, OPEN_FILES, PROCESSES, PSS_BYTES, RSS_BYTES, SOCKETS, THREADS},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    by_load::{Level, PerUser, per_user},
    fit::{Course, Fit, NoFit, fit},
    text,
    timeline::Timeline,
};

/// What a watched target used. What was not measured, or cannot be of such a target, is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// A name for people.
    pub name: String,
    /// What was watched: `process 123`, `port 8080`, `cgroup a/b`, `metrics http://localhost:9090/metrics`.
    pub what: String,
    /// CPU time of its whole process tree during the load.
    pub cpu_seconds: Option<f64>,
    /// CPU time per second.
    pub cores: Option<f64>,
    /// The CPU use in its busiest interval.
    pub cores_max: Option<f64>,
    /// Highest sampled resident memory.
    pub rss_max_bytes: Option<u64>,
    /// The resident memory that one more virtual user takes, see [`Self::rss_per_user`].
    pub rss_per_user_bytes: Option<u64>,
    /// The same with its interval, from the loads that were held. `None` if they do not show it.
    #[serde(default)]
    pub rss_per_user: Option<PerUser>,
    /// Why there is no [`Self::rss_per_user`], as the rest of a sentence. `None` if there is, and if nothing was tried.
    #[serde(default)]
    pub no_rss_per_user: Option<String>,
    /// Highest sampled proportional memory.
    pub pss_max_bytes: Option<u64>,
    /// The highest number of threads.
    pub threads_max: Option<u64>,
    /// The highest number of open files.
    pub open_files_max: Option<u64>,
    /// The highest number of sockets.
    pub sockets_max: Option<u64>,
    /// The highest number of processes.
    pub processes_max: Option<u64>,
    /// CPU time that watching it took of the generator.
    pub sampling_cpu_seconds: f64,
    /// Looks at which a page of metrics did not come.
    pub missed: u64,
    /// Series of a page beyond the limit.
    pub series_left_out: u64,
    /// By name, a number for each interval of the timeline: levels at its end, rates and means in it.
    pub series: BTreeMap<String, Vec<Option<f64>>>,
    /// What comes with the load.
    pub fits: Vec<Fit>,
    /// Relations without a fitted line.
    pub no_fits: Vec<NoFit>,
    /// Whether it was gone before the load was over.
    pub ended: Option<TargetEnded>,
}

/// The end of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetEnded {
    /// Since the start of the load, when it was noticed.
    pub seconds: f64,
    /// How that is known.
    pub reason: String,
}

/// What a target had to carry, by the intervals of a timeline.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// Length of an interval, a power of two.
    pub interval_seconds: u32,
    /// The number of intervals.
    pub n_intervals: usize,
    /// The most virtual users active at the same moment in each interval. Empty if unknown.
    pub vus: &'a [u32],
    /// Iterations that ended in each interval. Empty if unknown.
    pub iterations: &'a [u64],
}

impl<'a> Load<'a> {
    /// What a run with this timeline was to its targets.
    pub fn of(timeline: &'a Timeline) -> Self {
        Self {
            interval_seconds: timeline.interval_seconds,
            n_intervals: timeline.n_intervals,
            vus: &timeline.vus,
            iterations: &timeline.iterations,
        }
    }
}

impl Target {
    /// The text for people: a line, and further lines below it.
    pub fn text(&self) -> String {
        text::target(self)
    }

    /// Learns the memory per user from the loads that were held, unless it has learned it before.
    pub fn learn(&mut self, plateaus: &[Level]) {
        let has_learned = self.rss_per_user.is_some() || self.no_rss_per_user.is_some();
        if has_learned || self.rss_max_bytes.is_none() {
            return;
        }
        let found = per_user(plateaus, &self.name);
        self.rss_per_user = found.as_ref().ok().copied();
        self.rss_per_user_bytes = self.rss_per_user.map(|found| found.bytes.round() as u64);
        self.no_rss_per_user = found.err();
    }

    /// The figures of `account`, by load.
    pub fn new(account: &Account, load: &Load<'_>) -> Self {
        let record = &account.record;
        let names = record.names().map(str::to_owned);
        let series: BTreeMap<_, _> = names
            .map(|name| {
                let values = record.series(&name, load.interval_seconds.into(), load.n_intervals);
                (
                    name,
                    values
                        .into_iter()
                        .map(|value| value.map(shown))
                        .collect::<Vec<_>>(),
                )
            })
            .collect();
        let (cpu_seconds, cores) = cpu(record);
        let peak = |name: &str| record.peak(name).map(|value| value as u64);
        let (fits, no_fits) = fits(record, &series, load);
        Self {
            name: account.name.clone(),
            what: account.what.clone(),
            cpu_seconds,
            cores,
            cores_max: highest(series.get(CPU_CORES)),
            rss_max_bytes: peak(RSS_BYTES),
            rss_per_user_bytes: None,
            rss_per_user: None,
            no_rss_per_user: None,
            pss_max_bytes: peak(PSS_BYTES),
            threads_max: peak(THREADS),
            open_files_max: peak(OPEN_FILES),
            sockets_max: peak(SOCKETS),
            processes_max: peak(PROCESSES),
            sampling_cpu_seconds: account.cpu.as_secs_f64(),
            missed: account.n_missed,
            series_left_out: account.n_left_out as u64,
            series,
            fits,
            no_fits,
            ended: account.ended.as_ref().map(|ended| TargetEnded {
                seconds: ended.after.as_secs_f64(),
                reason: ended.reason.clone(),
            }),
        }
    }
}

fn cpu(record: &Record) -> (Option<f64>, Option<f64>) {
    let Some((seconds, time)) = record.growth(CPU_CORES) else {
        return (None, None);
    };
    let time = time.as_secs_f64();
    (Some(seconds), (time > 0.0).then(|| seconds / time))
}

fn highest(series: Option<&Vec<Option<f64>>>) -> Option<f64> {
    series?.iter().flatten().copied().reduce(f64::max)
}

/// CPU by users and by iterations. The last interval is excluded, because the run ended in it.
fn fits(
    record: &Record,
    series: &BTreeMap<String, Vec<Option<f64>>>,
    load: &Load<'_>,
) -> (Vec<Fit>, Vec<NoFit>) {
    let whole = load.n_intervals.saturating_sub(1);
    let vus: Vec<f64> = load.vus.iter().copied().map(f64::from).take(whole).collect();
    let per_second = |n: &u64| *n as f64 / f64::from(load.interval_seconds.max(1));
    let iterations: Vec<f64> = load.iterations.iter().map(per_second).take(whole).collect();
    let course = |name: &str, loads| {
        series.get(name).map(|values| Course {
            values,
            loads,
            base: record.base(name),
        })
    };
    let mut found = Vec::new();
    if !load.vus.is_empty() {
        let cpu = course(CPU_CORES, &vus).map(|course| fit(CPU_CORES, "vus", &course.rising()));
        found.push(cpu);
    }
    if !load.iterations.is_empty() {
        let cpu = course(CPU_CORES, &iterations);
        found.push(cpu.map(|course| fit(CPU_CORES, "iterations_per_second", &course.all())));
    }
    let (mut fits, mut no_fits) = (Vec::new(), Vec::new());
    for result in found.into_iter().flatten() {
        match result {
            Ok(fit) => fits.push(fit),
            Err(no_fit) => no_fits.push(no_fit),
        }
    }
    (fits, no_fits)
}

/// Rounds a fraction to six digits after the first: more say nothing, and fill files.
fn shown(value: f64) -> f64 {
    if value == value.trunc() || !value.is_finite() {
        return value;
    }
    let digits = 6 - value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(digits);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value }
}

#[cfg(test)]
mod tests;
