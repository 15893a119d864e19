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
        verdict: report.line.end.name().to_owned(),
        saturated: report.line.end == End::Generator,
        figures: figures(report),
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

/// The line in a few words.
fn figures(report: &Report) -> String {
    let of = |load| report.unit.of(load);
    let known = [
        report.line.holds.map(|level| format!("{} held", of(level.load))),
        report
            .line
            .breaks
            .map(|level| format!("{} broke", of(level.load))),
    ];
    known.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use plimsoll_line::search::{Ballot, Level, Line, Vote};
    use plimsoll_line::step::Step;

    use super::*;

    fn report(end: End, unit: Unit, loads: &[u64]) -> Report {
        let level = |load: &u64| Level {
            load: *load,
            ballot: Ballot::default(),
        };
        Report {
            plimsoll: "0",
            command: ["plimsoll", "line", "chat.js"].map(str::to_owned).to_vec(),
            started_at: "2026-11-22T10:03:04Z".to_owned(),
            name: "chat.js".to_owned(),
            unit,
            objectives: Vec::new(),
            are_defaults: true,
            line: Line {
                end,
                holds: loads.first().map(level),
                breaks: loads.get(1).map(level),
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
        for (end, unit, loads, users, verdict, figures) in [
            (
                End::Found,
                Unit::Users,
                &[1240, 1280][..],
                1280,
                "found",
                "1,240 users held, 1,280 users broke",
            ),
            (End::Max, Unit::Rate, &[35], 0, "max", "35 iterations/s held"),
            (
                End::Interrupted,
                Unit::Clients,
                &[10],
                10,
                "interrupted",
                "10 clients held",
            ),
            (End::Interrupted, Unit::Clients, &[], 0, "interrupted", ""),
        ] {
            let run = entry(
                &report(end, unit, loads),
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
