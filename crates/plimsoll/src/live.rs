//! The view of a run in the terminal: its condition, its data, and the receiver of its orders.

use std::{
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use clap::Args;
use plimsoll_live::{Board, Keys, Look, Paper, View};
use plimsoll_load::{
    executor::Executor,
    plan::Plan,
    run::{Control, Progress},
    watch::Sampling,
};

mod orders;
mod page;

use self::orders::RunOrders;
pub(crate) use self::page::{LivePage, PageFlags, PageSetting};
use crate::{exit::Failure, screen::Screen, session::Subject, signals::Signals, terminal};

/// Columns and lines from which on a terminal has the view without being asked.
const WIDE: (usize, usize) = (100, 24);

/// A run that is planned to last longer has it. Reason: of a shorter one, people read the summary.
const LONG: Duration = Duration::from_secs(10);

/// Whether there is a view.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct LiveFlags {
    /// Show figures and charts in the terminal during the run. Default: on, when the terminal has at least 100
    /// columns and 24 lines and the run is planned to last over 10 s.
    #[arg(long, overrides_with = "no_tui", help_heading = "Progress and control")]
    tui: bool,
    /// Show plain progress instead.
    #[arg(long, overrides_with = "tui", help_heading = "Progress and control")]
    no_tui: bool,
}

/// The subject and the place of a view.
pub(crate) struct Setting<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) control: Control,
    pub(crate) signals: Signals,
    /// The readings of the watched targets; `None` without targets.
    pub(crate) sampling: Option<Arc<Sampling>>,
    pub(crate) screen: Arc<Screen<io::Stderr>>,
    /// Whether standard error is a terminal that can be drawn on.
    pub(crate) is_drawable: bool,
    pub(crate) is_quiet: bool,
    pub(crate) has_colour: bool,
    /// Removes secrets from a text.
    pub(crate) redact: Box<dyn Fn(&str) -> String + Send>,
}

/// A view in progress. Dropping it ends it and gives the terminal back.
pub(crate) struct Live {
    board: Arc<Mutex<Board>>,
    sampling: Option<Arc<Sampling>>,
    /// The view; `None` after its end.
    view: Option<View>,
    screen: Arc<Screen<io::Stderr>>,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("view", &self.view)
            .finish_non_exhaustive()
    }
}

impl LiveFlags {
    /// Whether a flag asks for a view.
    pub(crate) fn is_wanted(self) -> bool {
        self.tui
    }

    /// Starts the view, if there is to be one.
    ///
    /// # Errors
    /// When a flag asks for a view and the terminal cannot show it.
    pub(crate) fn start(self, setting: Setting<'_>) -> Result<Option<Live>, Failure> {
        if !self.wants(&setting) {
            return Ok(None);
        }
        if self.tui && !setting.is_drawable {
            return Err(Failure::Usage(
                "--tui: standard error is not a terminal with cursor control; remove --tui, or run it in a terminal \
                 (with a TERM other than dumb)"
                    .to_owned(),
            ));
        }
        match Keys::open() {
            Ok(keys) => Live::start(keys, setting).map(Some),
            Err(reason) if self.tui => Err(Failure::Usage(format!(
                "--tui: {reason}; remove --tui, or run it in the foreground of a terminal"
            ))),
            Err(_) => Ok(None),
        }
    }

    fn wants(self, setting: &Setting<'_>) -> bool {
        let (columns, lines) = terminal::size();
        let has_room = setting.is_drawable && columns >= WIDE.0 && lines >= WIDE.1;
        let by_itself = has_room && !setting.is_quiet && is_long(setting.subject.plan);
        self.tui || (by_itself && !self.no_tui)
    }
}

/// Whether a scenario is planned to last long. A scenario that only counts iterations may end at once.
fn is_long(plan: &Plan) -> bool {
    plan.scenarios.iter().any(|scenario| {
        let duration = match &scenario.executor {
            Executor::SharedIterations { .. } | Executor::PerVuIterations { .. } => Some(Duration::ZERO),
            executor => executor.duration(),
        };
        duration.is_none_or(|duration| scenario.start_time.saturating_add(duration) > LONG)
    })
}

impl Live {
    fn start(keys: Keys, setting: Setting<'_>) -> Result<Self, Failure> {
        let Subject {
            kind,
            name,
            plan,
            leading,
            ..
        } = setting.subject;
        let subject = plimsoll_live::Subject {
            name: name.to_owned(),
            can_pause: setting.control.can_pause(),
            redact: setting.redact,
        };
        let board = Arc::new(Mutex::new(Board::new(subject, plan).led_by(leading)));
        let look = Look {
            has_colour: setting.has_colour,
        };
        let orders = RunOrders {
            control: setting.control,
            signals: setting.signals,
            kind,
        };
        let paper = ScreenPaper(Arc::clone(&setting.screen));
        Ok(Self {
            view: Some(View::start(Arc::clone(&board), keys, look, paper, orders)?),
            board,
            sampling: setting.sampling,
            screen: setting.screen,
        })
    }

    /// Takes in the state of the run.
    pub(crate) fn observe(&self, progress: &Progress<'_>) {
        // A panic during a write leaves at worst a second that is half new.
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let targets = self.sampling.iter().flat_map(|sampling| sampling.latest());
        board.observe(progress, targets);
    }
}

impl Drop for Live {
    /// Makes room for the result.
    fn drop(&mut self) {
        drop(self.view.take());
        self.screen.draw(String::new());
    }
}

struct ScreenPaper(Arc<Screen<io::Stderr>>);

impl Paper for ScreenPaper {
    fn size(&self) -> (u16, u16) {
        let (columns, lines) = terminal::size();
        let narrow = |n| u16::try_from(n).unwrap_or(u16::MAX);
        (narrow(columns), narrow(lines))
    }

    fn show(&self, lines: String) {
        self.0.draw(lines);
    }
}
