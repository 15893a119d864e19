//! What is told of a run that is over: the summary, `handleSummary`, and the files that were asked for.

use std::{
    fs, io,
    io::{IsTerminal, Write},
    num::NonZeroUsize,
    path::Path,
    time::Duration,
};

use plimsoll_load::{
    generator::{self, Health},
    machine::Machine,
    metrics::{Contains, MetricSet, Value as Sample},
    plan::Plan,
    run::RunResult,
    watch::Account,
};
use plimsoll_report::{
    Layout, ScriptOptions, Style, Summary, SummaryMode, json, percentile,
    summary::{Kind, Parts},
    timeline::Recorder,
};
use plimsoll_script::{Redaction, Stages};
use serde_json::Value;
use tokio::time::timeout;

use super::options::{Format, ResultFlags};
use crate::{origin::origin, watching};

/// What people have to know before they believe a figure.
pub(super) const SATURATED: &str =
    "the load generator was the bottleneck, so the figures of this run are not the target's alone";

/// What is known of a run besides its result.
#[derive(Debug)]
pub(super) struct Course<'a> {
    pub(super) kind: Kind,
    /// What was run, as the user named it.
    pub(super) name: &'a str,
    pub(super) plan: &'a Plan,
    pub(super) n_workers: NonZeroUsize,
    /// Has observed the run.
    pub(super) recorder: Recorder,
    /// Whether the generator was the bottleneck.
    pub(super) health: Health,
    /// What was watched.
    pub(super) accounts: Vec<Account>,
    /// What people should know of its outputs.
    pub(super) notices: Vec<String>,
}

/// What a run came to.
pub(super) fn summarize(run: &RunResult, course: Course<'_>) -> Summary {
    let mut summary = Summary::new(Parts {
        origin: origin(course.kind, course.name, &Machine::read()),
        plan: course.plan,
        n_workers: course.n_workers.get(),
        run,
        recorder: course.recorder,
        health: &course.health,
        losses: None,
        accounts: &course.accounts,
        trend_stats: &course.plan.summary_trend_stats,
    });
    watching::tell_ended(&summary.targets);
    summary.notices.extend(course.notices);
    summary
}

/// Tells results in the forms that were asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results<'a> {
    pub(super) flags: &'a ResultFlags,
    pub(super) plan: &'a Plan,
    /// The script as the user named it.
    pub(super) script: &'a str,
    pub(super) style: Style,
    /// What no text shows.
    pub(super) redaction: &'a Redaction,
    /// Whether somebody asked for text without colours.
    pub(super) no_color: bool,
}

impl Results<'_> {
    /// What is to be told.
    pub(super) fn summary(&self, run: &RunResult, course: Course<'_>) -> Summary {
        let mut summary = summarize(run, course);
        summary.edit_sentences(|text| self.redaction.redact(text).into_owned());
        summary
    }

    /// Prints and writes everything.
    pub(super) async fn tell(&self, summary: &Summary, stages: &Stages) -> io::Result<()> {
        let setup_data = stages
            .setup_data()
            .and_then(|data| serde_json::from_str(&data).ok());
        if let Some(path) = &self.flags.summary_export {
            let text = match self.flags.new_machine_readable_summary {
                true => summary.machine_readable(self.script),
                false => summary.export(setup_data.as_ref()),
            };
            lament(write_file(path, text.as_bytes()));
        }
        if self.flags.format == Format::Json {
            return print(&format!("{}\n", json(summary)?));
        }
        if self.is_disabled() {
            return Ok(());
        }
        match self.of_script(summary, stages, setup_data.as_ref()).await {
            Some(files) => {
                for (name, text) in files {
                    lament(write(&name, &text));
                }
                Ok(())
            }
            None => print(&summary.end_of_test(self.layout(), self.style)),
        }
    }

    fn is_disabled(&self) -> bool {
        self.flags.no_summary || self.flags.summary_mode == SummaryMode::Disabled
    }

    fn layout(&self) -> Layout {
        Layout {
            mode: self.flags.summary_mode,
            time_unit: self
                .plan
                .summary_time_unit
                .as_deref()
                .and_then(|unit| unit.parse().ok()),
        }
    }

    /// What the script makes of the results; `None` when it makes nothing, or cannot.
    async fn of_script(
        &self,
        summary: &Summary,
        stages: &Stages,
        setup_data: Option<&Value>,
    ) -> Option<Vec<(String, Vec<u8>)>> {
        let data = summary.script_data(&ScriptOptions {
            trend_stats: &self.plan.summary_trend_stats,
            time_unit: self.plan.summary_time_unit.as_deref().unwrap_or_default(),
            no_color: self.no_color,
            is_stdout_terminal: io::stdout().is_terminal(),
            is_stderr_terminal: io::stderr().is_terminal(),
            setup_data,
        });
        let limit = self.plan.handle_summary_timeout;
        match timeout(limit, stages.handle_summary(&data)).await {
            Ok(Ok(files)) => files,
            Ok(Err(error)) => {
                tracing::error!("handleSummary() failed, so this is the usual summary: {error}");
                None
            }
            Err(_) => {
                tracing::error!("handleSummary() took longer than {limit:?}, so this is the usual summary.");
                None
            }
        }
    }
}

/// Whether the generator was the bottleneck of a run whose users measure what scripts and wsdirector's clients do.
pub(super) fn judge(run: &RunResult) -> Health {
    generator::judge(&run.generator, run.schedule, shortest_latency(&run.metrics))
}

/// The latency against which the generator's own lateness is judged: the shortest that the users measure.
fn shortest_latency(metrics: &MetricSet) -> Option<Duration> {
    let latencies = metrics.iter().filter_map(|(definition, sample)| match sample {
        Sample::Trend(histogram) if definition.contains == Contains::Time && is_latency(&definition.name) => {
            Some(percentile(histogram, 95.0))
        }
        _ => None,
    });
    latencies.min()
}

/// Whether a trend says how long the target took.
fn is_latency(name: &str) -> bool {
    ["http_req_duration", "ws_connecting", "ws_ping", "rtt"].contains(&name)
}

/// A file that cannot be written takes nothing from the other results, and the run was as it was; so it is in k6.
fn lament(written: io::Result<()>) {
    if let Err(error) = written {
        tracing::error!("{error}");
    }
}

fn write(name: &str, text: &[u8]) -> io::Result<()> {
    match name {
        "stdout" => {
            let written = io::stdout().write_all(text).and_then(|()| io::stdout().flush());
            written.map_err(|error| {
                io::Error::new(error.kind(), format!("cannot write to standard output: {error}"))
            })
        }
        "stderr" => io::stderr().write_all(text),
        path => write_file(Path::new(path), text),
    }
}

pub(super) fn write_file(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::write(path, text)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())))
}

fn print(text: &str) -> io::Result<()> {
    write("stdout", text.as_bytes())
}
