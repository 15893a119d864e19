//! The agents of a fleet side by side, in the cells of a table: for the terminal and for Markdown. The page formats its
//! table in `web/src/section/agents.ts`.

use crate::{readable, summary::Agent};

/// The most agents that a table has. Reason: a terminal shows that many at once; the JSON has all of them.
pub(crate) const MOST_SHOWN: usize = 50;

/// The figures of an agent.
pub(crate) const N_FIGURES: usize = 8;

/// One agent in short texts. Times are in milliseconds, unless a unit follows.
#[derive(Debug)]
pub(crate) struct Line {
    share: String,
    users: String,
    iterations: String,
    /// Cores used, of those of its machine: `1.5/4`.
    cores: String,
    /// Of the worker, as a share of one core.
    busiest: String,
    late: String,
    /// Ahead of the coordinator's: `+12 ± 0.85`.
    clock: String,
    /// After the common start: `-1.2`.
    start: String,
    /// `lost at 12 s`; `None` if it stayed.
    pub(crate) lost: Option<String>,
}

impl Line {
    /// The figures in the order of the columns.
    pub(crate) fn figures(self) -> [String; N_FIGURES] {
        [
            self.share,
            self.users,
            self.iterations,
            self.cores,
            self.busiest,
            self.late,
            self.clock,
            self.start,
        ]
    }

    pub(crate) fn of(agent: &Agent) -> Self {
        const NONE: &str = "–";
        let known = |value: Option<f64>, of: fn(f64) -> String| value.map_or_else(|| NONE.to_owned(), of);
        let clock = &agent.clock;
        // An error is never told as none.
        let uncertainty = clock.uncertainty_ms.max(0.01);
        Self {
            share: percent(agent.share),
            users: count(u64::from(agent.vus_max)),
            iterations: count(agent.iterations),
            cores: format!("{}/{}", short(agent.cores), agent.machine_cores),
            busiest: percent(agent.busiest_worker_share),
            late: known(agent.lateness_bound_ms, ms),
            clock: format!("{} ± {}", signed(clock.offset_ms), ms(uncertainty)),
            start: known(clock.start_skew_ms, signed),
            lost: agent
                .lost_at_seconds
                .map(|at| format!("lost at {}", readable::seconds(at.round()))),
        }
    }
}

/// `and 3 more agents`. `None` if the table has all of them.
pub(crate) fn further(n_agents: usize) -> Option<String> {
    let n_further = n_agents.checked_sub(MOST_SHOWN).filter(|&n| n > 0)?;
    let noun = if n_further == 1 { "agent" } else { "agents" };
    Some(format!("and {n_further} more {noun}, which the JSON has"))
}

/// Whole percents.
fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.01 {
        return "< 1 %".to_owned();
    }
    format!("{:.0} %", share * 100.0)
}

/// In full up to six digits: `12,345`, `1.23M`, `4.5G`.
fn count(n: u64) -> String {
    match n {
        0..=999_999 => readable::count(n),
        1_000_000..=999_999_999 => format!("{}M", readable::digits(n as f64 / 1e6)),
        _ => format!("{}G", readable::digits(n as f64 / 1e9)),
    }
}

/// Two digits that matter, and all of the whole part.
fn short(value: f64) -> String {
    let n_decimals = match value.abs() {
        0.0 => 0,
        ..0.995 => 2,
        ..9.95 => 1,
        _ => 0,
    };
    format!("{value:.n_decimals$}")
}

/// Milliseconds; seconds and hours of clocks that are far apart have their unit.
fn ms(ms: f64) -> String {
    match ms.abs() {
        ..9_999.5 => short(ms),
        ..99_999_500.0 => format!("{:.0}s", ms / 1e3),
        _ => format!("{:.0}h", ms / 3.6e6),
    }
}

/// With its sign, unless it is nothing.
fn signed(value: f64) -> String {
    if value.abs() < 0.005 {
        return "0".to_owned();
    }
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", ms(value))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::summary::AgentClock;

    /// Three agents: the second was lost, the third is doubtful.
    pub(crate) fn three() -> Vec<Agent> {
        let first = Agent {
            name: "a1".to_owned(),
            version: "0.1.0".to_owned(),
            machine_cores: 4,
            share: 0.34,
            vus_max: 34,
            iterations: 12_345,
            cpu_seconds: 67.5,
            cores: 1.52,
            busiest_worker_share: 0.62,
            lateness_bound_ms: Some(0.81),
            lateness_max_ms: Some(12.5),
            waiting_share: Some(0.01),
            rss_bytes: Some(120_000_000),
            clock: AgentClock {
                offset_ms: 12.4,
                uncertainty_ms: 0.85,
                start_skew_ms: Some(1.2),
            },
            lost_at_seconds: None,
            doubtful: false,
            reasons: Vec::new(),
        };
        let lost = Agent {
            name: "loadtest-eu-west-1-b".to_owned(),
            share: 0.33,
            vus_max: 33,
            iterations: 4_120,
            lost_at_seconds: Some(12.3),
            rss_bytes: None,
            ..first.clone()
        };
        let doubtful = Agent {
            name: "a3".to_owned(),
            machine_cores: 2,
            share: 0.33,
            vus_max: 33,
            iterations: 12_290,
            cores: 1.97,
            busiest_worker_share: 1.0,
            lateness_bound_ms: Some(45.4),
            clock: AgentClock {
                offset_ms: -3.41,
                uncertainty_ms: 0.0,
                start_skew_ms: Some(-0.43),
            },
            doubtful: true,
            reasons: vec!["a worker was 90 % busy or more for 40 % of the time".to_owned()],
            ..first.clone()
        };
        vec![first, lost, doubtful]
    }

    fn check(of: impl Fn(f64) -> String, cases: &[(f64, &str)]) {
        for &(value, expected) in cases {
            assert_eq!(of(value), expected, "{value}");
        }
    }

    #[test]
    fn figures_are_short() {
        check(
            percent,
            &[(0.0, "0 %"), (0.004, "< 1 %"), (0.333, "33 %"), (1.0, "100 %")],
        );
        check(
            |n| count(n as u64),
            &[
                (0.0, "0"),
                (999_999.0, "999,999"),
                (1_234_567.0, "1.23M"),
                (4.5e9, "4.5G"),
            ],
        );
        check(
            ms,
            &[
                (0.0, "0"),
                (0.123, "0.12"),
                (0.996, "1.0"),
                (1.25, "1.2"),
                (9.96, "10"),
                (9_999.0, "9999"),
                (12_345.0, "12s"),
                (360_000_000.0, "100h"),
            ],
        );
        check(
            signed,
            &[(0.0, "0"), (-0.001, "0"), (12.4, "+12"), (-3.41, "-3.4")],
        );
    }

    #[test]
    fn an_agent_has_the_figures_of_its_machine() {
        let lines: Vec<_> = three().iter().map(Line::of).collect();
        let clocks = lines
            .iter()
            .map(|line| (line.clock.as_str(), line.start.as_str()));
        assert_eq!(
            clocks.collect::<Vec<_>>(),
            [
                ("+12 ± 0.85", "+1.2"),
                ("+12 ± 0.85", "+1.2"),
                ("-3.4 ± 0.01", "-0.43")
            ]
        );
        let lost = lines.iter().map(|line| line.lost.as_deref());
        assert_eq!(lost.collect::<Vec<_>>(), [None, Some("lost at 12 s"), None]);
        let never_began = Agent {
            lateness_bound_ms: None,
            clock: AgentClock::default(),
            ..three().remove(0)
        };
        let line = Line::of(&never_began);
        assert_eq!((line.late, line.start), ("–".to_owned(), "–".to_owned()));
    }

    #[test]
    fn what_a_table_leaves_out_is_told() {
        for (n_agents, expected) in [
            (3, None),
            (50, None),
            (51, Some("and 1 more agent, which the JSON has")),
            (60, Some("and 10 more agents, which the JSON has")),
        ] {
            assert_eq!(further(n_agents).as_deref(), expected);
        }
    }
}
