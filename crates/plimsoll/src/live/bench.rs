//! The page of a bench. What the bench hands over every second becomes charts on a thread of its own, so that the closed
//! loop does not wait for them.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
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
use plimsoll_shootout::{Audience, Onlooker, SoFar};
use tokio::sync::mpsc;

use super::PageFlags;
use crate::{exit::Failure, origin::origin};

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
    is_ending: Arc<AtomicBool>,
}

impl PageFlags {
    /// Serves the page of a bench with this name, if there is to be one, and says where. What is received are the stops that
    /// the page orders.
    ///
    /// # Errors
    /// When it cannot be where it was wanted.
    pub(crate) fn serve_bench(
        &self,
        name: &str,
        stderr: &mut dyn Write,
    ) -> Result<Option<(BenchPage, mpsc::Receiver<()>)>, Failure> {
        let Some(address) = &self.ui else {
            return Ok(None);
        };
        let subject = Subject {
            name: name.to_owned(),
            can_pause: false,
            link: None,
        };
        // One stop is all that a page can order.
        let (stop, stops) = mpsc::channel(1);
        let is_ending = Arc::new(AtomicBool::new(false));
        let orders = BenchOrders {
            stop,
            is_ending: Arc::clone(&is_ending),
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
        let screen = Onlookers {
            page,
            states,
            is_ending,
        };
        Ok(Some((BenchPage { screen, charts }, stops)))
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
    /// For the bench; what is left shows the report when it is over.
    pub(crate) fn audience(&self, stops: mpsc::Receiver<()>) -> Audience<'_> {
        Audience {
            onlooker: &self.screen,
            stops,
        }
    }

    /// Shows the report of the bench that is over, until all tabs have it.
    ///
    /// # Errors
    /// When the system gives no event loop.
    pub(crate) fn finish(self, summary: &Summary) -> Result<(), Failure> {
        let Self { screen, charts } = self;
        let Onlookers { page, states, .. } = screen;
        drop(states);
        // A panic there has been told, and the report needs no charts of it.
        let _ended = charts.join();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        if let Some(page) = Arc::into_inner(page) {
            runtime.block_on(page.finish(html::page(&[summary], &[])));
        }
        Ok(())
    }
}

impl Onlooker for Onlookers {
    fn is_looking(&self) -> bool {
        self.page.has_tabs()
    }

    fn show(&self, so_far: SoFar) {
        self.is_ending.fetch_or(so_far.is_ending(), Relaxed);
        // While the thread is busy, tabs miss a second.
        let _missed = self.states.try_send(so_far);
    }
}

/// Orders that a person gives on the page.
struct BenchOrders {
    stop: mpsc::Sender<()>,
    is_ending: Arc<AtomicBool>,
}

impl Orders for BenchOrders {
    fn end(&self) {
        // As Ctrl-C, but only as the first one: the second does not wait for what is in flight.
        if !self.is_ending.swap(true, Relaxed) {
            // There is room for the only one.
            let _sent = self.stop.try_send(());
        }
    }

    fn pause_or_resume(&self) -> Result<(), String> {
        Err("a bench cannot be paused; end it with Stop".to_owned())
    }

    fn mood(&self) -> Mood {
        Mood {
            is_paused: false,
            is_ending: self.is_ending.load(Relaxed),
        }
    }
}
