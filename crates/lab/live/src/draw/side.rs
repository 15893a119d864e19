//! What may be wrong: thresholds, failures, and the generator itself.

use std::time::Duration;

use plimsoll_load::{generator::LATENESS, watch::Latest};
use plimsoll_report::quantity;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use super::{Look, agents, line, lines};
use crate::board::{Board, Failures, Generator, Threshold};

/// From this share of the cores, or of the open files, on the generator is near its limit. Reason: as
/// [`plimsoll_load::generator::BUSY_SHARE`].
const NEAR_LIMIT: f64 = 0.9;

/// The most agents that have a line. Reason: more push out what may be wrong, and the page has all of them.
const MAX_AGENTS: usize = 8;

/// Lines that there would be to show.
pub(super) fn n_lines(board: &Board) -> u16 {
    let n_costs = generator(&board.generator, Look { has_colour: false }).count() + board.targets.len();
    let n_agents = board.agents.len().min(MAX_AGENTS);
    let n = n_costs + n_agents + board.thresholds.len() + board.errors.len();
    u16::try_from(n).unwrap_or(u16::MAX)
}

pub(super) fn render(board: &Board, area: Rect, look: Look, buffer: &mut Buffer) {
    let generator: Vec<_> = generator(&board.generator, look).collect();
    let targets: Vec<_> = targets(board, look).collect();
    let errors: Vec<_> = board
        .errors
        .iter()
        .map(|failures| error(failures, look))
        .collect();
    // Failed thresholds first.
    let mut thresholds: Vec<_> = board.thresholds.iter().collect();
    thresholds.sort_by_key(|threshold| threshold.has_passed);
    let thresholds: Vec<_> = thresholds
        .into_iter()
        .map(|finding| threshold(finding, look))
        .collect();
    let free = usize::from(area.height).saturating_sub(generator.len() + targets.len());
    let n_agents = free.saturating_sub(errors.len() + thresholds.len()).max(free / 2);
    let agents = agents(board, n_agents, look);
    let free = free - agents.len().min(free);
    let n_thresholds = thresholds
        .len()
        .min(free.saturating_sub(errors.len()).max(free / 2));
    let n_errors = free.saturating_sub(n_thresholds);
    let all = generator
        .into_iter()
        .chain(agents)
        .chain(targets)
        .chain(cut(thresholds, n_thresholds, "thresholds", look))
        .chain(cut(errors, n_errors, "causes of failures", look));
    lines(all, area, buffer);
}

/// At most so many lines for the agents.
pub(super) fn agents(board: &Board, n: usize, look: Look) -> Vec<Line<'static>> {
    let n = n.min(MAX_AGENTS);
    cut(agents::lines_of(&board.agents, n, look), n, "agents", look)
}

/// The first `n` lines, the last of which gives the number of the rest.
fn cut<'a>(lines: Vec<Line<'a>>, n: usize, what: &str, look: Look) -> Vec<Line<'a>> {
    let n_all = lines.len();
    if n_all <= n {
        return lines;
    }
    let n_shown = n.saturating_sub(1);
    let more = Line::styled(format!("   and {} more {what}", n_all - n_shown), look.dim());
    lines
        .into_iter()
        .take(n_shown)
        .chain((n > 0).then_some(more))
        .collect()
}

/// How often, since when and until when, and the cause, which may be cut.
fn error(failures: &Failures, look: Look) -> Line<'static> {
    let Failures { cause, span } = failures;
    let seconds = |time: Duration| format!("{:.1}", time.as_secs_f64());
    let (first, last) = (seconds(span.first), seconds(span.last));
    let time = if first == last {
        format!("{last} s ")
    } else {
        format!("{first}–{last} s ")
    };
    line([
        Span::styled(format!(" ✗ {} × ", span.n), look.bad()),
        Span::styled(time, look.dim()),
        Span::raw(cause.clone()),
    ])
}

fn threshold(finding: &Threshold, look: Look) -> Line<'_> {
    let (rune, style) = if finding.has_passed {
        ('✓', look.good())
    } else {
        ('✗', look.bad())
    };
    let value = finding.value.map(|value| format!("  {}", short(value)));
    line([
        Span::styled(format!(" {rune} "), style),
        Span::raw(finding.text.as_str()),
        Span::styled(value.unwrap_or_default(), look.dim()),
    ])
}

/// A number with few decimals, readable at a glance.
fn short(value: f64) -> String {
    quantity::number((value * 100.0).round() / 100.0)
}

/// The resource use of the targets.
pub(super) fn targets(board: &Board, look: Look) -> impl Iterator<Item = Line<'static>> {
    board
        .targets
        .iter()
        .map(move |(name, latest)| target(name, latest, look))
}

fn target(name: &str, latest: &Latest, look: Look) -> Line<'static> {
    let name = Span::styled(format!(" {name}"), look.dim());
    if latest.has_ended {
        return line([name, Span::styled("  is gone", look.bad())]);
    }
    let cores = latest.cores.map(|cores| format!("  {cores:.2} cores"));
    let rss = latest
        .rss_bytes
        .map(|bytes| format!("  {} RSS", quantity::bytes(bytes)));
    line([
        name,
        Span::raw([cores, rss].into_iter().flatten().collect::<String>()),
    ])
}

/// CPU and lateness; open files.
pub(super) fn generator(generator: &Generator, look: Look) -> impl Iterator<Item = Line<'static>> {
    let mut cpu = vec![Span::styled(" generator", look.dim())];
    if let Some(cores) = generator.glance.cores() {
        let text = format!("  {cores:.2} of {} cores", generator.n_cores);
        cpu.push(Span::styled(text, warned(cores, generator.n_cores as f64, look)));
    }
    if let Some(lateness) = generator.glance.lateness_max {
        let text = format!("  up to {} late", quantity::duration(lateness));
        cpu.push(Span::styled(text, warned_of(lateness, look)));
    }
    let files = generator.n_open_files.zip(generator.open_files_limit);
    let files = files.map(|(n, limit)| {
        let text = format!("            {n} of {limit} open files");
        line([Span::styled(text, warned(n as f64, limit as f64, look))])
    });
    [Some(line(cpu)), files].into_iter().flatten()
}

/// How a part of a limited whole looks.
pub(super) fn warned(part: f64, whole: f64, look: Look) -> Style {
    if is_near_limit(part, whole) {
        look.notable()
    } else {
        Style::new()
    }
}

pub(super) fn is_near_limit(part: f64, whole: f64) -> bool {
    part >= whole * NEAR_LIMIT
}

/// How a lateness looks.
pub(super) fn warned_of(lateness: Duration, look: Look) -> Style {
    if lateness >= LATENESS {
        look.notable()
    } else {
        Style::new()
    }
}
