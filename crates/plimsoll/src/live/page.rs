//! The page of a run: its condition, and its content during the run and at the end.

use std::{io, time::Duration};

use clap::Args;
use plimsoll_live::{
    Orders, Planned,
    page::{Page, Subject},
};
use plimsoll_load::{machine::Machine, run::Control};
use plimsoll_report::{
    Summary, html,
    summary::{Kind, Origin},
};

use serde::Serialize;

use super::orders::{RunOrders, SearchOrders};
use crate::{exit::Failure, origin::origin, screen::Screen, session, signals::Signals};

/// Whether there is a page, and where.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PageFlags {
    /// Serve a page with charts during the run, with buttons to stop and, if possible, pause the run, and with the
    /// report at the end. Only this machine can open it. Default port: a free one.
    #[arg(
        long,
        value_name = "HOST:PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:0",
        help_heading = "Progress and control"
    )]
    ui: Option<String>,
}

/// The subject of a page.
pub(crate) struct PageSetting<'a> {
    pub(crate) subject: session::Subject<'a>,
    pub(crate) control: Control,
    pub(crate) signals: Signals,
    /// Removes secrets from a text.
    pub(crate) redact: Box<dyn Fn(&str) -> String + Send + Sync>,
}

/// The page of a run in progress.
pub(crate) struct LivePage {
    page: Page,
    kind: Kind,
    name: String,
    redact: Box<dyn Fn(&str) -> String + Send + Sync>,
    machine: Machine,
    planned: Planned,
}

/// What the plan says about the present moment, and about each interval so far.
#[derive(Serialize)]
struct Plans {
    /// When the last iteration begins. `None`: never, or it is not known.
    end_seconds: Option<f64>,
    users: Option<u32>,
    arrivals_per_second: Option<f64>,
    /// Users in the middle of each interval. Empty if the plan has no number of users.
    users_over_time: Vec<u32>,
}

impl PageFlags {
    /// Serves the page of a run, if there is to be one, and says where.
    ///
    /// # Errors
    /// When it cannot be where it was wanted.
    pub(crate) fn serve(
        &self,
        setting: PageSetting<'_>,
        screen: &Screen<io::Stderr>,
    ) -> Result<Option<LivePage>, Failure> {
        let session::Subject {
            kind,
            name,
            link,
            plan,
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
            kind,
        };
        let page = self.open(subject, orders, screen)?;
        Ok(page.map(|page| LivePage {
            page,
            kind,
            name: name.to_owned(),
            redact: setting.redact,
            machine: Machine::read(),
            planned: Planned::new(plan),
        }))
    }

    /// Serves the page of a search, if there is to be one, and says where.
    ///
    /// # Errors
    /// When it cannot be where it was wanted.
    pub(crate) fn serve_search(
        &self,
        name: &str,
        signals: Signals,
        screen: &Screen<io::Stderr>,
    ) -> Result<Option<Page>, Failure> {
        let subject = Subject {
            name: name.to_owned(),
            can_pause: false,
            link: None,
        };
        self.open(subject, SearchOrders { signals }, screen)
    }

    fn open(
        &self,
        subject: Subject,
        orders: impl Orders + Sync + 'static,
        screen: &Screen<io::Stderr>,
    ) -> Result<Option<Page>, Failure> {
        let Some(address) = &self.ui else {
            return Ok(None);
        };
        let page =
            Page::serve(address, subject, orders).map_err(|error| Failure::Usage(error.to_string()))?;
        screen.print(&format!("Live page: {}\n", page.url()));
        Ok(Some(page))
    }
}

impl LivePage {
    /// Whether a browser shows the page.
    pub(crate) fn has_tabs(&self) -> bool {
        self.page.has_tabs()
    }

    /// Shows the state of the run, if a browser shows the page.
    pub(crate) fn show(&self, so_far: impl FnOnce(Origin<'_>) -> Summary) {
        if self.has_tabs() {
            let mut summary = so_far(origin(self.kind, &self.name, &self.machine));
            summary.edit_sentences(&*self.redact);
            let plans = serde_json::to_string(&self.plans(&summary)).expect("numbers are JSON");
            self.page.show(&html::data(&summary), &plans);
        }
    }

    fn plans(&self, summary: &Summary) -> Plans {
        let now = Duration::from_secs_f64(summary.metadata.duration_seconds.max(0.0));
        let interval = f64::from(summary.timeline.interval_seconds);
        let middles =
            (0..summary.timeline.n_intervals).map(|at| Duration::from_secs_f64((at as f64 + 0.5) * interval));
        let users = middles.map(|middle| self.planned.users(middle));
        Plans {
            end_seconds: self.planned.end.map(|end| end.as_secs_f64()),
            users: self.planned.users(now),
            arrivals_per_second: self.planned.arrivals_per_second(now),
            users_over_time: users.collect::<Option<_>>().unwrap_or_default(),
        }
    }

    /// Shows the report of the run that is over, until all tabs have it.
    pub(crate) async fn finish(self, summary: &Summary) {
        self.page.finish(html::page(&[summary], &[])).await;
    }
}
