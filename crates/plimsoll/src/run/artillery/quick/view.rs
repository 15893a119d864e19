//! The view of a quick look: it is redrawn during the run, and prints one screen at the end.

use std::{cell::Cell, cmp::Reverse, collections::BTreeMap, io, sync::Arc};

use plimsoll_load::{
    histogram::Histogram,
    metrics::{MetricSet, Value},
    run::{Progress, RunResult},
};
use plimsoll_report::{Style, Summary};

use super::{
    load::Load,
    look::Look,
    screen::{Ending, Figures},
};
use crate::{screen::Screen, terminal};

/// Artillery's counters by their names.
type Counters = BTreeMap<String, u64>;

/// The counters of answers; a status follows.
const STATUSES: &str = "http.codes.";

/// The first status that says that a request failed.
const FIRST_ERROR: u16 = 400;

/// A failed match or capture as the engine names it. Only the answer to a subscription has one.
const REJECTED: &str = "Failed capture or match";

/// The statuses of answers that are errors, the most frequent first.
fn error_statuses(counters: &Counters) -> Vec<(u64, u16)> {
    let statuses = statuses(counters).filter(|(_, status)| *status >= FIRST_ERROR);
    let mut statuses: Vec<_> = statuses.collect();
    statuses.sort_by_key(|&(count, status)| (Reverse(count), status));
    statuses
}

fn statuses(counters: &Counters) -> impl Iterator<Item = (u64, u16)> {
    counters
        .iter()
        .filter_map(|(name, &count)| Some((count, name.strip_prefix(STATUSES)?.parse().ok()?)))
}

/// Why a run failed in which every request was answered, and each answer is an error. None if one is not.
pub(in super::super) fn refusal_of_all(counters: &Counters) -> Option<String> {
    let n: u64 = statuses(counters).map(|(count, _)| count).sum();
    let errors = error_statuses(counters);
    let n_errors: u64 = errors.iter().map(|(count, _)| count).sum();
    let (_, status) = errors.first()?;
    (n == n_errors).then(|| {
        format!(
            "every answer is an error, most often status {status} (for exit code 0: --fail-on-errors=never)"
        )
    })
}

/// A look that is shown.
#[derive(Debug)]
pub(in super::super) struct View {
    look: Look,
    screen: Arc<Screen<io::Stderr>>,
    /// Whether the run is drawn while it goes on.
    is_live: Cell<bool>,
}

impl View {
    pub(in super::super) fn new(look: Look, screen: Arc<Screen<io::Stderr>>, is_live: bool) -> Self {
        let view = Self {
            look,
            screen,
            is_live: Cell::new(is_live),
        };
        view.draw(&Figures {
            seconds: 0.0,
            n_arrived: 0,
            n_done: 0,
            latencies: None,
        });
        view
    }

    /// Draws the state of the run.
    pub(in super::super) fn observe(&self, progress: &Progress<'_>) {
        self.draw(&self.figures(progress.metrics, progress.elapsed.as_secs_f64()));
    }

    /// Clears the drawing for the result.
    pub(in super::super) fn clear(&self) {
        if self.is_live.replace(false) {
            self.screen.draw(String::new());
        }
    }

    /// Names the causes of failures in the words of the load.
    pub(in super::super) fn name_causes(&self, summary: &mut Summary) {
        if !matches!(self.look.load, Load::Cable(Some(_))) {
            return;
        }
        for group in summary.errors.iter_mut().filter(|group| group.cause == REJECTED) {
            "the subscription was rejected: check --channel and --channel-params"
                .clone_into(&mut group.cause);
        }
    }

    /// The one screen with the result; `counters` are those of Artillery.
    pub(in super::super) fn text(
        &self,
        result: &RunResult,
        summary: &Summary,
        counters: &Counters,
        style: Style,
    ) -> String {
        let causes = summary.errors.iter();
        let causes = causes.map(|group| (group.count, group.cause.clone()));
        let statuses = error_statuses(counters).into_iter();
        let statuses = statuses.map(|(count, status)| (count, format!("status {status}")));
        let ending = Ending {
            figures: self.figures(&result.metrics, result.duration.as_secs_f64()),
            causes: causes.chain(statuses).collect(),
        };
        self.look.screen(&ending, style)
    }

    fn draw(&self, figures: &Figures<'_>) {
        if self.is_live.get() {
            self.screen.draw(self.look.frame(figures, terminal::size().0));
        }
    }

    fn figures<'a>(&self, metrics: &'a MetricSet, seconds: f64) -> Figures<'a> {
        let value = |name: &str| metrics.iter().find(|(definition, _)| definition.name == name);
        let count = |name: &str| match value(name) {
            Some((_, Value::Counter(sum))) => sum as u64,
            _ => 0,
        };
        let latencies = match value(self.look.load.latency()) {
            Some((_, Value::Trend(latencies))) => Some(latencies),
            _ => None,
        };
        Figures {
            seconds,
            n_arrived: count("vusers_created"),
            n_done: match self.look.load {
                Load::Http => count("http_responses"),
                Load::Websocket => count("ws_msgs_sent"),
                Load::Echo | Load::Cable(_) => latencies.map_or(0, Histogram::count),
            },
            latencies,
        }
    }
}
