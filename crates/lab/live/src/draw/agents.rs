//! The agents of a fleet side by side.

use std::time::Duration;

use plimsoll_load::{
    generator::{Glance, LATENESS},
    run::{AgentProgress, ClockOffset},
};
use plimsoll_report::quantity;
use ratatui::text::{Line, Span};

use super::{
    Look, line,
    side::{is_near_limit, warned, warned_of},
};

/// The longest name after which all lines go on in the same column. A longer one is not cut: names may differ at their ends.
const MAX_NAME: usize = 20;

/// A line for each agent, the first `n` of which are shown: first those that were lost and, if some are not shown, those that
/// are near a limit. What matters most in a run is on the left, as a narrow terminal cuts the rest.
pub(super) fn lines_of(agents: &[AgentProgress], n: usize, look: Look) -> Vec<Line<'static>> {
    let names = agents.iter().map(|agent| agent.name.chars().count());
    let width = names.max().unwrap_or_default().min(MAX_NAME);
    let is_cut = agents.len() > n;
    let mut agents: Vec<_> = agents.iter().collect();
    // Lines that change places each second are hard to read.
    agents.sort_by_key(|agent| (agent.lost_at.is_none(), is_cut && !is_pressed(agent)));
    let lines = agents.into_iter().map(|agent| agent_line(agent, width, look));
    lines.collect()
}

/// Whether it is near one of its limits.
fn is_pressed(agent: &AgentProgress) -> bool {
    let Glance { lateness_max, .. } = agent.generator.recent;
    let cores = agent.generator.recent.cores();
    cores.is_some_and(|cores| is_near_limit(cores, agent.n_cores as f64))
        || lateness_max.is_some_and(|lateness| lateness >= LATENESS)
}

fn agent_line(agent: &AgentProgress, width: usize, look: Look) -> Line<'static> {
    let name = Span::styled(format!("   {:<width$}", agent.name), look.dim());
    if let Some(at) = agent.lost_at {
        let text = format!(
            "  lost at {}",
            quantity::duration(Duration::from_secs(at.as_secs()))
        );
        return line([name, Span::styled(text, look.bad())]);
    }
    let n_cores = agent.n_cores;
    let cores = agent.generator.recent.cores().map(|cores| {
        let text = format!("  {cores:.2} of {n_cores} cores");
        Span::styled(text, warned(cores, n_cores as f64, look))
    });
    let lateness = agent.generator.recent.lateness_max.map(|lateness| {
        let text = format!("  {} late", quantity::duration(lateness));
        Span::styled(text, warned_of(lateness, look))
    });
    let share = Span::raw(format!("  {:.0} %", agent.share * 100.0));
    let clock = agent
        .clock
        .map(|clock| Span::raw(format!("  clock {}", offset(clock))));
    line(
        [Some(name), cores, lateness, Some(share), clock]
            .into_iter()
            .flatten(),
    )
}

/// By how much a clock is ahead, and how well that is known.
fn offset(clock: ClockOffset) -> String {
    let duration = |ns| quantity::duration(Duration::from_nanos(ns));
    let sign = if clock.ns < 0 { '−' } else { '+' };
    format!(
        "{sign}{} ± {}",
        duration(clock.ns.unsigned_abs()),
        duration(clock.uncertainty_ns)
    )
}
