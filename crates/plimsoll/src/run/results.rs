//! The output at the end of a run: the summary, `handleSummary`, and the requested files.

use std::{
    fs, io,
    io::{IsTerminal, Write},
    path::Path,
};

use plimsoll_load::plan::Plan;
use plimsoll_report::{Layout, ScriptOptions, Style, Summary, SummaryMode, json};
use plimsoll_script::Stages;
use serde_json::Value;
use tokio::time::timeout;

use super::options::ResultFlags;
use crate::session::{self, Finished, Format};

/// Where all figures are when nothing succeeded.
const ELSEWHERE: &str = "--summary-mode full, --format json, or --report FILE.html";

/// Tells results in the forms that were asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results<'a> {
    pub(super) flags: &'a ResultFlags,
    pub(super) format: Format,
    pub(super) plan: &'a Plan,
    /// The script as the user named it.
    pub(super) script: &'a str,
    pub(super) style: Style,
    /// Whether a flag asks for text without colours.
    pub(super) no_color: bool,
}

impl Results<'_> {
    /// Prints and writes everything.
    pub(super) async fn tell(&self, finished: &Finished<'_>, stages: &Stages) -> io::Result<()> {
        let summary = finished.summary;
        let setup_data = stages
            .setup_data()
            .and_then(|data| serde_json::from_str(&data).ok());
        if let Some(path) = &self.flags.summary_export {
            let text = if self.flags.new_machine_readable_summary {
                summary.machine_readable(self.script)
            } else {
                summary.export(setup_data.as_ref())
            };
            lament(write_file(path, text.as_bytes()));
        }
        if self.format == Format::Json {
            return session::print(&format!("{}\n", json(summary)?));
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
            None if finished.is_futile && self.flags.summary_mode == SummaryMode::Compact => {
                session::print(&summary.futility(ELSEWHERE, self.style))
            }
            None => session::print(&summary.end_of_test(self.layout(), self.style)),
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

    /// The output of the script's `handleSummary`; `None` without output, or when it fails.
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
                tracing::error!("handleSummary() failed, so this is the default summary: {error}");
                None
            }
            Err(_) => {
                tracing::error!(
                    "handleSummary() took longer than {limit:?}, so this is the default summary."
                );
                None
            }
        }
    }
}

/// A file that cannot be written takes nothing from the other results, and the run was as it was; so it is in k6.
fn lament(written: io::Result<()>) {
    if let Err(error) = written {
        tracing::error!("{error}");
    }
}

fn write(name: &str, text: &[u8]) -> io::Result<()> {
    match name {
        "stdout" => session::print_bytes(text),
        "stderr" => io::stderr().write_all(text),
        path => write_file(Path::new(path), text),
    }
}

pub(super) fn write_file(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::write(path, text)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())))
}
