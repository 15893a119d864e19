//! One line per scenario: its progress, its users, and its time or iterations, as in k6.

use std::time::Duration;

use plimsoll_load::{executor::Executor, run::ScenarioProgress};

/// Runes of the bar where there is room (k6's).
const BAR_WIDTH: usize = 40;

/// The line is cut to the bar's share in percent when fewer columns are free for the bar.
const LEAST_BAR_WIDTH: usize = 10;

/// The state of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The scenario has not started.
    Waiting,
    Running,
    /// No iteration begins any more; some may still run.
    Stopping,
    Done,
}

/// The lines of all scenarios `elapsed` after the start, one each, no longer than `width` columns.
pub(super) fn lines(scenarios: &[ScenarioProgress<'_>], elapsed: Duration, width: usize) -> String {
    let rows: Vec<_> = scenarios
        .iter()
        .map(|scenario| Row::new(scenario, elapsed))
        .collect();
    let widest = |of: fn(&Row<'_>) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let widths = Widths {
        name: widest(|row| row.name.chars().count()),
        right: widest(|row| row.right.chars().count()),
        all: width,
    };
    rows.iter().map(|row| row.render(widths)).collect()
}

#[derive(Clone, Copy)]
struct Widths {
    name: usize,
    right: usize,
    all: usize,
}

struct Row<'a> {
    name: &'a str,
    state: State,
    /// 0 to 1.
    share: f64,
    right: String,
}

impl<'a> Row<'a> {
    fn new(progress: &ScenarioProgress<'a>, elapsed: Duration) -> Self {
        let scenario = progress.scenario;
        let name = &scenario.name;
        if let Some(to_go) = scenario
            .start_time
            .checked_sub(elapsed)
            .filter(|time| !time.is_zero())
        {
            return Self {
                name,
                state: State::Waiting,
                share: 0.0,
                right: format!("waiting {}", clock(to_go, to_go)),
            };
        }
        let own = elapsed.saturating_sub(scenario.start_time);
        let (share, right) = figures(progress, own);
        let is_over = share >= 1.0;
        Self {
            name,
            state: match (is_over, progress.n_under_way) {
                (false, _) => State::Running,
                (true, 0) => State::Done,
                (true, _) => State::Stopping,
            },
            share,
            right,
        }
    }

    fn render(&self, widths: Widths) -> String {
        let rune = match self.state {
            State::Waiting => '•',
            State::Running => ' ',
            State::Stopping => '↓',
            State::Done => '✓',
        };
        let left = format!("{:<name$} {rune} ", self.name, name = widths.name);
        let free = widths
            .all
            // Brackets and spaces.
            .saturating_sub(left.chars().count() + 2 + 2 + widths.right);
        let bar = match free {
            LEAST_BAR_WIDTH.. => bar(self.share, free.min(BAR_WIDTH)),
            _ => format!("[{:3.0}%]", (self.share * 100.0).floor()),
        };
        let line = format!("{left}{bar}  {}", self.right);
        line.chars().take(widths.all).chain(['\n']).collect()
    }
}

fn bar(share: f64, width: usize) -> String {
    let filled = ((share * width as f64) as usize).min(width);
    let head = if filled < width && filled > 0 { ">" } else { "" };
    let dashes = width - filled;
    format!(
        "[{}{head}{}]",
        "=".repeat(filled - head.len()),
        "-".repeat(dashes)
    )
}

/// The completed share, and the text to the right of the bar, `own` after the scenario's start.
fn figures(progress: &ScenarioProgress<'_>, own: Duration) -> (f64, String) {
    let executor = &progress.scenario.executor;
    let of_time = match executor.duration() {
        Some(duration) if duration > Duration::ZERO => (own.as_secs_f64() / duration.as_secs_f64()).min(1.0),
        _ => 0.0,
    };
    let time = match executor.duration() {
        Some(duration) => format!(
            "{}/{}",
            clock(own.min(duration), duration),
            clock(duration, duration)
        ),
        None => clock(own, own),
    };
    let n_vus = progress.vus;
    let busy = format!(
        "{:0width$}/{n_vus} VUs",
        progress.n_under_way,
        width = digits(n_vus)
    );
    let n_done = progress.n_complete.saturating_add(progress.n_dropped);
    let of_all = |n_all: u64| match n_all {
        0 => 1.0,
        // As in k6, iterations that can no longer begin are done with when the time is over.
        n_all => (n_done as f64 / n_all as f64)
            .max(if of_time >= 1.0 { 1.0 } else { 0.0 })
            .min(1.0),
    };
    match executor {
        Executor::SharedIterations { vus, iterations, .. } => {
            let n = format!(
                "{:0width$}/{iterations}",
                progress.n_complete,
                width = digits(*iterations)
            );
            (
                of_all(*iterations),
                format!("{vus} VUs  {time}  {n} shared iters"),
            )
        }
        Executor::PerVuIterations { vus, iterations, .. } => {
            let n_all = iterations.saturating_mul(u64::from(*vus));
            let n = format!("{:0width$}/{n_all}", progress.n_complete, width = digits(n_all));
            (
                of_all(n_all),
                format!("{vus} VUs  {time}  {n} iters, {iterations} per VU"),
            )
        }
        Executor::ConstantVus { vus, .. } => (of_time, format!("{vus} VUs  {time}")),
        Executor::RampingVus(_) | Executor::ExternallyControlled { .. } => {
            (of_time, format!("{busy}  {time}"))
        }
        Executor::ConstantArrivalRate(open) => {
            let rate = open.arrivals.peak_per_second();
            (of_time, format!("{busy}  {time}  {rate:.2} iters/s"))
        }
        Executor::RampingArrivalRate(open) => {
            let rate = open.arrivals.per_second(own.min(open.arrivals.duration()));
            (of_time, format!("{busy}  {time}  {rate:.2} iters/s"))
        }
    }
}

fn digits(n: impl Into<u64>) -> usize {
    let n: u64 = n.into();
    n.to_string().len()
}

/// A time with the parts that `longest` needs: `09.1s`, `1m09.1s`, `0h01m09s`.
fn clock(time: Duration, longest: Duration) -> String {
    let (secs, tenths) = (time.as_secs(), time.subsec_millis() / 100);
    let (hours, minutes, rest) = (secs / 3600, secs / 60 % 60, secs % 60);
    match longest.as_secs() {
        0..60 => format!("{rest:02}.{tenths}s"),
        60..3600 => format!("{minutes:02}m{rest:02}.{tenths}s"),
        _ => format!("{hours}h{minutes:02}m{rest:02}s"),
    }
}

#[cfg(test)]
mod tests;
