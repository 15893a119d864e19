//! The page of a bench. What the bench hands over every second becomes charts on a thread of its own, so that the closed
//! loop does not wait for them.

use std::{
    io::Write,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use plimsoll_live::{
    Mood, Orders,
    page::{Page, Subject},
};
use plimsoll_load::machine::Machine;
use plimsoll_report::{Summary, html, summary::Kind};
use plimsoll_shootout::{Onlooker, SoFar};
use rustix::process::{Signal, getpid, kill_process};

use super::PageFlags;
use crate::{exit::Failure, origin::origin, signals::Signals};

/// Seconds that wait for the thread. Reason: the next one has all of it again.
const N_WAITING: usize = 1;

/// The page of a bench that goes on.
pub(crate) struct BenchPage {
    screen: Onlookers,
    charts: JoinHandle<()>,
}

/// The tabs that are open.
struct Onlookers {
    page: Arc<Page>,
    states: SyncSender<SoFar>,
}

impl PageFlags {
    /// Serves the page of a bench with this name, if there is to be one, and says where. Its stop button is as good as a
    /// signal.
    ///
    /// # Errors
    /// When it cannot be where it was wanted.
    pub(crate) fn serve_bench(
        &self,
        name: &str,
        signals: &Signals,
        stderr: &mut dyn Write,
    ) -> Result<Option<BenchPage>, Failure> {
        let Some(address) = &self.ui else {
            return Ok(None);
        };
        let subject = Subject {
            name: name.to_owned(),
            can_pause: false,
            link: None,
        };
        let orders = BenchOrders {
            signals: signals.clone(),
        };
        let page =
            Page::serve(address, subject, orders).map_err(|error| Failure::Usage(error.to_string()))?;
        let page = Arc::new(page);
        let (states, waiting) = sync_channel(N_WAITING);
        let charts = {
            let (page, name) = (Arc::clone(&page), name.to_owned());
            let draw = move || draw(&page, &name, &waiting);
            thread::Builder::new().name("charts".to_owned()).spawn(draw)?
        };
        writeln!(stderr, "Live page: {}", page.url())?;
        let screen = Onlookers { page, states };
        Ok(Some(BenchPage { screen, charts }))
    }
}

fn draw(page: &Page, name: &str, states: &Receiver<SoFar>) {
    let machine = Machine::read();
    for so_far in states {
        let summary = so_far.summarize(origin(Kind::Bench, name, &machine));
        page.show(&html::data(&summary));
    }
}

impl BenchPage {
    /// Who looks on at the bench.
    pub(crate) fn onlooker(&self) -> &dyn Onlooker {
        &self.screen
    }

    /// Shows the report of the bench that is over, until all tabs have it.
    pub(crate) async fn finish(self, summary: &Summary) {
        let Self { screen, charts } = self;
        let Onlookers { page, states } = screen;
        drop(states);
        // A panic there has been told, and the report needs no charts of it.
        let _ended = charts.join();
        if let Some(page) = Arc::into_inner(page) {
            page.finish(html::page(&[summary], &[])).await;
        }
    }
}

impl Onlooker for Onlookers {
    fn is_looking(&self) -> bool {
        self.page.has_tabs()
    }

    fn show(&self, so_far: SoFar) {
        // While the thread is busy, tabs miss a second.
        let _missed = self.states.try_send(so_far);
    }
}

/// Orders that a person gives on the page.
struct BenchOrders {
    signals: Signals,
}

impl Orders for BenchOrders {
    fn end(&self) {
        // As Ctrl-C, but only as the first one: the second does not wait for what is in flight.
        if self.signals.count() == 0 {
            // There is this process, and a signal of that name.
            let _sent = kill_process(getpid(), Signal::INT);
        }
    }

    fn pause_or_resume(&self) -> Result<(), String> {
        Err("a bench cannot be paused; end it with Stop".to_owned())
    }

    fn mood(&self) -> Mood {
        Mood {
            is_paused: false,
            is_ending: self.signals.count() > 0,
        }
    }
}
