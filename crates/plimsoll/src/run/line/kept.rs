//! A search in the history of runs.

use std::time::{Duration, SystemTime};

use plimsoll_history::Run;
use plimsoll_line::{
    report::{Report, Unit},
    search::End,
};
use plimsoll_report::{rfc3339, summary::run_id};

use crate::runs;

/// The columns of a search.
pub(super) fn entry(report: &Report, began: SystemTime, took: Duration) -> Run {
    Run {
        id: run_id(began, fastrand::u32(..)),
        started_at: rfc3339(began),
        name: report.name.clone(),
        kind: runs::LINE.to_owned(),
        command: report.command.join(" "),
        duration_seconds: took.as_secs_f64(),
        vus_max: most_users(report),
        verdict: report.verdict().name().to_owned(),
        doubtful: report.line.end == End::Generator,
        figures: report.headline(),
        note: None,
        tags: Vec::new(),
    }
}

/// The most users of a step, where a load counts users.
fn most_users(report: &Report) -> u32 {
    let loads = report.steps.iter().map(|step| step.load);
    match report.unit {
        Unit::Users | Unit::Clients => u32::try_from(loads.max().unwrap_or(0)).unwrap_or(u32::MAX),
        Unit::Rate | Unit::Scale => 0,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_line::{
        search::{Budget, Interval, Line, Vote},
        step::Step,
    };

    use super::*;

    fn report(end: End, unit: Unit, loads: &[u64], interval: Option<(u64, Option<u64>)>) -> Report {
        Report {
            plimsoll: "0",
            command: ["plimsoll", "line", "chat.js"].map(str::to_owned).to_vec(),
            started_at: "2026-11-22T10:03:04Z".to_owned(),
            name: "chat.js".to_owned(),
            unit,
            objectives: Vec::new(),
            are_defaults: true,
            precision: 0.05,
            expected: None,
            line: Line {
                end,
                interval: interval.map(|(low, high)| Interval { low, high }),
                fit: None,
                holds: None,
                breaks: None,
            },
            steps: loads
                .iter()
                .map(|load| Step {
                    verdict: Vote::Held,
                    ..Step::impossible(*load, String::new())
                })
                .collect(),
            notices: Vec::new(),
        }
    }

    #[test]
    fn a_search_is_listed_by_what_it_found() {
        let found = Some((1240, Some(1280)));
        for (end, unit, loads, interval, users, verdict, figures) in [
            (
                End::Found,
                Unit::Users,
                &[1240, 1290][..],
                found,
                1290,
                "pass",
                "Holds 1,240 to 1,280 users (90 %)",
            ),
            (
                End::Max,
                Unit::Rate,
                &[35],
                Some((35, None)),
                0,
                "pass",
                "Holds 35 iterations/s or more",
            ),
            (
                End::Inconclusive(Budget::Time),
                Unit::Clients,
                &[10],
                found,
                10,
                "inconclusive",
                "Inconclusive: 1,240 to 1,280 clients (90 %)",
            ),
            (
                End::Interrupted,
                Unit::Clients,
                &[],
                None,
                0,
                "incomplete",
                "Ended before the first step was complete",
            ),
        ] {
            let run = entry(
                &report(end, unit, loads, interval),
                SystemTime::UNIX_EPOCH,
                Duration::from_secs(9),
            );
            assert_eq!(
                (run.vus_max, run.verdict.as_str(), run.figures.as_str()),
                (users, verdict, figures)
            );
            assert_eq!(
                (run.kind.as_str(), run.command.as_str()),
                ("line", "plimsoll line chat.js")
            );
            assert!(run.id.starts_with("19700101T000000.000Z-"), "{}", run.id);
        }
    }
}
