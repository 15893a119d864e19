//! What people see of a bench while it goes on: a page, and a view in the terminal. What the bench hands over every second
//! becomes pictures on a thread of its own, so that the closed loop does not wait for them.

use std::{
    io::{self, Write},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use plimsoll_live::{
    Board, Keys, Look, Mood, Orders, Subject, View,
    page::{self, Page},
};
use plimsoll_load::{executor::Executor, machine::Machine, plan::Plan};
use plimsoll_report::{Summary, html, summary::Kind};
use plimsoll_shootout::{Onlooker, SoFar};
use rustix::process::{Signal, getpid, kill_process};

use super::{PageFlags, ScreenPaper};
use crate::{exit::Failure, origin::origin, screen::Screen, signals::Signals};

/// Seconds that wait for the thread. Reason: the next one has all of it again.
const N_WAITING: usize = 1;

/// Metrics that come before all others: what the workloads are about.
const LEADING: [&str; 5] = ["latency", "rtt", "delivery", "listener_delivery", "connect"];

/// What shows a bench that goes on.
pub(crate) struct BenchScreens {
    onlookers: Onlookers,
    pictures: JoinHandle<()>,
    /// Until it is closed.
    view: Option<View>,
    screen: Arc<Screen<io::Stderr>>,
}

/// Who looks at them.
struct Onlookers {
    page: Option<Arc<Page>>,
    has_view: bool,
    states: SyncSender<SoFar>,
}

/// Where pictures are made.
struct Studio {
    name: String,
    page: Option<Arc<Page>>,
    board: Option<Arc<Mutex<Board>>>,
}

impl PageFlags {
    /// Shows a bench with this name on a page, if these flags want one, and in the terminal, if `wants_view`. A button or a
    /// key that ends the bench is as good as a signal. `None` when neither is wanted.
    ///
    /// # Errors
    /// When one of them cannot be.
    pub(crate) fn show_bench(
        &self,
        name: &str,
        wants_view: bool,
        has_colour: bool,
        signals: &Signals,
        (screen, is_drawable): (Arc<Screen<io::Stderr>>, bool),
    ) -> Result<Option<BenchScreens>, Failure> {
        let page = self.page_of_bench(name, signals)?;
        if let Some(page) = &page {
            screen.print(&format!("Live page: {}\n", page.url()));
        }
        if page.is_none() && !wants_view {
            return Ok(None);
        }
        let board = wants_view.then(|| Arc::new(Mutex::new(board(name))));
        let view = match &board {
            None => None,
            Some(_) if !is_drawable => {
                return Err(Failure::Usage(
                    "--tui: standard error is no terminal that can be drawn on; leave --tui out, or run it in one (and \
                     with a TERM other than dumb)"
                        .to_owned(),
                ));
            }
            Some(board) => {
                let keys = Keys::open().map_err(|reason| {
                    Failure::Usage(format!(
                        "--tui: {reason}; leave --tui out, or run it in the foreground of a terminal"
                    ))
                })?;
                let paper = ScreenPaper(Arc::clone(&screen));
                let orders = BenchOrders {
                    signals: signals.clone(),
                };
                Some(View::start(
                    Arc::clone(board),
                    keys,
                    Look { has_colour },
                    paper,
                    orders,
                )?)
            }
        };
        let (states, waiting) = sync_channel(N_WAITING);
        let studio = Studio {
            name: name.to_owned(),
            page: page.clone(),
            board,
        };
        let thread = thread::Builder::new().name("pictures".to_owned());
        Ok(Some(BenchScreens {
            pictures: thread.spawn(move || studio.work(&waiting))?,
            onlookers: Onlookers {
                page,
                has_view: view.is_some(),
                states,
            },
            view,
            screen,
        }))
    }

    fn page_of_bench(&self, name: &str, signals: &Signals) -> Result<Option<Arc<Page>>, Failure> {
        let Some(address) = &self.ui else {
            return Ok(None);
        };
        let subject = page::Subject {
            name: name.to_owned(),
            can_pause: false,
            link: None,
        };
        let orders = BenchOrders {
            signals: signals.clone(),
        };
        let page = Page::serve(address, subject, orders);
        let page = page.map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Some(Arc::new(page)))
    }
}

/// Of a bench that has not begun. Nobody has planned how many clients it has when.
fn board(name: &str) -> Board {
    let subject = Subject {
        name: name.to_owned(),
        can_pause: false,
        // Names of benches and causes of failures have no secrets.
        redact: Box::new(str::to_owned),
    };
    let unplanned = Executor::ExternallyControlled {
        vus: 0,
        max_vus: 0,
        duration: None,
    };
    Board::new(subject, &Plan::single(unplanned)).led_by(&LEADING)
}

impl Studio {
    fn work(self, states: &Receiver<SoFar>) {
        let machine = Machine::read();
        for so_far in states {
            if let Some(board) = &self.board {
                // A panic while somebody wrote leaves at worst a second that is half new.
                let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
                so_far.observe(|progress, targets| board.observe(progress, targets));
            }
            if let Some(page) = self.page.as_ref().filter(|page| page.has_tabs()) {
                let summary = so_far.summarize(origin(Kind::Bench, &self.name, &machine));
                page.show(&html::data(&summary));
            }
        }
    }
}

impl BenchScreens {
    /// Who looks on at the bench.
    pub(crate) fn onlooker(&self) -> &dyn Onlooker {
        &self.onlookers
    }

    /// Where results and where remarks go while there is a view, which stays below them; `None` without one.
    pub(crate) fn streams(&self) -> Option<(Box<dyn Write>, Box<dyn Write>)> {
        self.view.as_ref()?;
        let screen = || Arc::clone(&self.screen);
        Some((Box::new(Results(screen())), Box::new(Remarks(screen()))))
    }

    /// Makes room for what is said when the bench is over.
    pub(crate) fn close_view(&mut self) {
        if let Some(view) = self.view.take() {
            drop(view);
            self.screen.draw(String::new());
        }
    }

    /// Shows the report of the bench that is over, until all tabs have it.
    pub(crate) async fn finish(mut self, summary: &Summary) {
        self.close_view();
        let Onlookers { page, states, .. } = self.onlookers;
        drop(states);
        // A panic there has been told, and the report needs no pictures of it.
        let _ended = self.pictures.join();
        if let Some(page) = page.and_then(Arc::into_inner) {
            page.finish(html::page(&[summary], &[])).await;
        }
    }
}

impl Onlooker for Onlookers {
    fn is_looking(&self) -> bool {
        self.has_view || self.page.as_ref().is_some_and(|page| page.has_tabs())
    }

    fn show(&self, so_far: SoFar) {
        // While the thread is busy, people miss a second.
        let _missed = self.states.try_send(so_far);
    }
}

/// Standard output, which may be the terminal that the view is drawn on.
struct Results(Arc<Screen<io::Stderr>>);

impl Write for Results {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.beside(|| {
            let mut stdout = io::stdout();
            stdout.write_all(text).and_then(|()| stdout.flush())
        })?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lines above the view.
struct Remarks(Arc<Screen<io::Stderr>>);

impl Write for Remarks {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.print(&String::from_utf8_lossy(text));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Orders that a person gives on the page or with keys.
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
        Err("a bench cannot be paused; end it with Stop, or with q".to_owned())
    }

    fn mood(&self) -> Mood {
        Mood {
            is_paused: false,
            is_ending: self.signals.count() > 0,
        }
    }
}
