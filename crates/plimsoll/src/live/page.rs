//! The page of a run: whether there is one, and what it shows while the run goes on and at its end.

use std::{io, sync::Arc, time::SystemTime};

use clap::Args;
use plimsoll_live::page::{Page, Subject};
use plimsoll_load::{
    generator::{Evidence, Health},
    machine::Machine,
    plan::Plan,
    run::{Control, Iterations, Progress, RunEnd, RunResult, Stretch},
    watch::Sampling,
};
use plimsoll_report::{
    Summary, html,
    summary::{Kind, Parts},
    timeline::Recorder,
};

use super::RunOrders;
use crate::{exit::Failure, origin::origin, screen::Screen, session, signals::Signals};

/// Whether there is a page, and where.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PageFlags {
    /// Serve a page with charts while the run goes on, with buttons to stop it and, where it can be, to pause it, and with its report at the end.
    /// Only for this machine. Default port: a free one.
    #[arg(
        long,
        value_name = "HOST:PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:0",
        help_heading = "Progress and control"
    )]
    pub(super) ui: Option<String>,
}

/// What a page is about.
pub(crate) struct PageSetting<'a> {
    pub(crate) subject: session::Subject<'a>,
    pub(crate) control: Control,
    pub(crate) signals: Signals,
    pub(crate) sampling: Option<Arc<Sampling>>,
    /// Leaves out what no text shows.
    pub(crate) redact: Box<dyn Fn(&str) -> String>,
}

/// The page of a run that goes on.
pub(crate) struct LivePage {
    page: Page,
    kind: Kind,
    name: String,
    plan: Plan,
    sampling: Option<Arc<Sampling>>,
    redact: Box<dyn Fn(&str) -> String>,
    machine: Machine,
}

impl PageFlags {
    /// Serves the page, if there is to be one, and says where.
    ///
    /// # Errors
    /// When it cannot be where it was wanted.
    pub(crate) fn serve(
        &self,
        setting: PageSetting<'_>,
        screen: &Screen<io::Stderr>,
    ) -> Result<Option<LivePage>, Failure> {
        let Some(address) = &self.ui else {
            return Ok(None);
        };
        let session::Subject {
            kind,
            name,
            plan,
            link,
            ..
        } = setting.subject;
        let subject = Subject {
            name: name.to_owned(),
            can_pause: setting.control.can_pause(),
            link: link.map(|(url, name)| (url.to_owned(), name.to_owned())),
        };
        let orders = RunOrders {
            control: setting.control,
            signals: setting.signals,
        };
        let page =
            Page::serve(address, subject, orders).map_err(|error| Failure::Usage(error.to_string()))?;
        screen.print(&format!("Live page: {}\n", page.url()));
        Ok(Some(LivePage {
            page,
            kind,
            name: name.to_owned(),
            plan: plan.clone(),
            sampling: setting.sampling,
            redact: setting.redact,
            machine: Machine::read(),
        }))
    }
}

impl LivePage {
    /// Shows the state of the run, if anybody looks.
    pub(crate) fn observe(&self, progress: &Progress<'_>, recorder: &Recorder) {
        if self.page.has_tabs() {
            self.page.show(&html::data(&self.so_far(progress, recorder)));
        }
    }

    /// Shows the report of the run that is over, until all tabs have it.
    pub(crate) async fn finish(self, summary: &Summary) {
        self.page.finish(html::page(&[summary], &[])).await;
    }

    /// The summary of what happened up to now. What is judged only at the end, the end itself and the generator, is as if
    /// nothing had happened; the page does not show it.
    fn so_far(&self, progress: &Progress<'_>, recorder: &Recorder) -> Summary {
        let run = run_so_far(progress);
        let accounts = self.sampling.as_ref().map(|sampling| sampling.so_far());
        let mut summary = Summary::new(Parts {
            origin: origin(self.kind, &self.name, &self.machine),
            plan: &self.plan,
            n_workers: 1,
            run: &run,
            recorder: recorder.clone(),
            health: &Health::default(),
            losses: None,
            accounts: &accounts.unwrap_or_default(),
            trend_stats: &self.plan.summary_trend_stats,
        });
        summary.edit_sentences(&*self.redact);
        summary
    }
}

fn run_so_far(progress: &Progress<'_>) -> RunResult {
    RunResult {
        metrics: progress.metrics.clone(),
        rest: Stretch {
            // Within the last second that was recorded, so that it adds no other.
            start: progress.recent.start,
            end: progress.recent.end,
            ..Stretch::empty(progress.metrics)
        },
        started_at: SystemTime::now() - progress.elapsed,
        duration: progress.recent.end,
        end: RunEnd::Complete,
        iterations: Iterations {
            n_complete: progress.n_iterations_complete,
            n_interrupted: progress.n_interrupted,
        },
        max_vus: progress.max_vus,
        failures: progress.failures.clone(),
        thresholds: progress.thresholds.clone(),
        marked_failed: None,
        teardown_failure: None,
        notices: progress.notices.to_vec(),
        generator: Evidence {
            elapsed: progress.elapsed,
            ..Evidence::nothing()
        },
        schedule: progress.schedule,
    }
}
