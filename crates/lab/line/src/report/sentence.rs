//! The line in words.

use plimsoll_report::Style;

use super::{Report, grouped};
use crate::search::{Ballot, Budget, CONFIDENCE, End, Expectation, Fit, Interval, Level, Line};

/// Objectives in a headline; further ones are counted.
const MOST_OBJECTIVES: usize = 2;

/// From this share of steps that fail by mistake on, something disturbs the search. Reason: on a quiet machine the fit
/// finds 1 to 4 percent.
const DISTURBED: f64 = 0.1;

/// What was found, why it is not more, and how sure that is.
pub(super) fn sentence(report: &Report, style: Style) -> String {
    style.strong(&headline(report)) + &conditions(report) + &expectation(report)
}

/// The sentence as it stands after the word of the verdict, which it does not repeat.
pub(super) fn after_verdict(sentence: &str) -> String {
    sentence.replacen(INCONCLUSIVE, "", 1)
}

/// The beginning of a headline without a line.
const INCONCLUSIVE: &str = "Inconclusive: ";

/// What was found, with its objectives.
pub(super) fn headline(report: &Report) -> String {
    let Line {
        end,
        interval,
        holds,
        breaks,
        ..
    } = report.line;
    let of = |load| report.unit.of(load);
    let at = objectives(report);
    match (end, interval) {
        (End::Found, Some(interval)) => format!("Holds {}{at} ({})", range(report, interval), confidence()),
        (End::Max, Some(interval)) => format!("Holds {} or more{at}", of(interval.low)),
        (End::Generator, Some(interval)) if holds.is_some() => {
            format!("Holds at least {}{at}", of(interval.low))
        }
        (End::Generator, _) => "The search says nothing about the target".to_owned(),
        (End::NothingHolds, _) => match breaks {
            Some(breaks) => format!("Not even {} holds{at}", of(breaks.load)),
            None => format!("Nothing holds{at}"),
        },
        (End::Inconclusive(_), Some(interval)) => {
            format!("{INCONCLUSIVE}{}{at} ({})", range(report, interval), confidence())
        }
        (End::Degraded, _) => "The target got worse during the search".to_owned(),
        (_, None) => "Ended before the first step was complete".to_owned(),
        _ => "Ended before the line was found".to_owned(),
    }
}

/// An interval with its unit: `450 to 520 users`, `37 users`, `1,000 users or more`.
pub(super) fn range(report: &Report, Interval { low, high }: Interval) -> String {
    match high {
        Some(high) if high == low => report.unit.of(low),
        Some(high) => report.unit.of_range(low, high),
        None => format!("{} or more", report.unit.of(low)),
    }
}

/// The objectives that were measured, the first ones by name.
fn objectives(report: &Report) -> String {
    let is_measured = |at: usize| {
        let mut steps = report.steps.iter();
        steps.any(|step| {
            step.objectives
                .get(at)
                .is_some_and(|judged| judged.value.is_some())
        })
    };
    let objectives = report.objectives.iter().enumerate();
    let texts: Vec<_> = objectives
        .filter(|(at, _)| is_measured(*at))
        .map(|(_, objective)| objective.text())
        .collect();
    let named = texts
        .iter()
        .take(MOST_OBJECTIVES)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    match texts.len() {
        0 => String::new(),
        n if n <= MOST_OBJECTIVES => format!(" at {named}"),
        n => format!(" at {named} and {} more", n - MOST_OBJECTIVES),
    }
}

fn confidence() -> String {
    format!("{:.0} %", CONFIDENCE * 100.0)
}

/// Behind the headline: how narrow it is, what held and what failed, and what to do next.
fn conditions(report: &Report) -> String {
    let line = &report.line;
    let of = |level: Level| report.unit.of(level.load);
    let why = why(report);
    match (line.end, line.holds, line.breaks) {
        (End::Found, holds, breaks) => {
            let known: Vec<_> = [
                holds.map(|holds| format!("{} held in {}", of(holds), n_held(holds.ballot))),
                breaks.map(|breaks| format!("{} failed in {}{why}", of(breaks), n_broke(breaks.ballot))),
            ]
            .into_iter()
            .flatten()
            .collect();
            format!("{}. {}.", precision(report), known.join("; "))
        }
        (End::Max, Some(holds), _) => {
            format!(
                " ({} held), the largest load to try; raise it with --max.",
                n_held(holds.ballot)
            )
        }
        (End::Generator, Some(holds), breaks) => {
            let breaks =
                breaks.map(|breaks| format!("; the generator was the bottleneck at {}{why}", of(breaks)));
            format!(
                " ({} held at {}){}.",
                n_held(holds.ballot),
                of(holds),
                breaks.unwrap_or_default()
            )
        }
        (End::Generator, _, Some(breaks)) => {
            format!(": the generator itself is the bottleneck at {}{why}.", of(breaks))
        }
        (End::NothingHolds, _, Some(breaks)) => format!(" (failed in {}){why}.", n_broke(breaks.ballot)),
        (End::Inconclusive(budget), ..) => inconclusive(report, budget),
        (End::Degraded, Some(holds), Some(breaks)) => format!(
            ": {} held at first, but later not even {} did{why}. Is the target still running? It may not recover \
             from overload; read its log, and search again after a restart with a lower --max.",
            of(holds),
            of(breaks),
        ),
        (_, Some(holds), Some(breaks)) => format!(
            ": {} held in {}; {} failed in {}{why}.",
            of(holds),
            n_held(holds.ballot),
            of(breaks),
            n_broke(breaks.ballot),
        ),
        (_, Some(holds), None) => {
            format!(
                ": {} held in {}, and no load above it failed.",
                of(holds),
                n_held(holds.ballot)
            )
        }
        (_, None, Some(breaks)) => {
            format!(": {} failed in {}{why}.", of(breaks), n_broke(breaks.ballot))
        }
        (_, None, None) => ".".to_owned(),
    }
}

/// What was spent, and what would help.
fn inconclusive(report: &Report, budget: Budget) -> String {
    let n_steps = report.steps.len();
    let spent = match budget {
        Budget::Steps => format!("all {n_steps} steps are spent (--max-steps)"),
        Budget::Time => format!("the time is spent (--max-time) after {n_steps} steps"),
    };
    let advice = match report.line.fit {
        Some(Fit { spurious, .. }) if spurious >= DISTURBED => {
            "Steps failed far below the line, as if something else used the machine or the target: close other programs, \
             or run the target on another machine."
        }
        Some(Fit { spread, .. }) if spread >= report.precision => {
            "Steps at one load end differently: make them longer (--step-duration, or --sample-size of a bench), or accept a \
             wider interval, for example --precision 15%."
        }
        _ => "Search again with more of it, or with a --start near the line.",
    };
    let percent = report.precision * 100.0;
    // The last step that other programs disturbed, for example.
    let mut steps = report.steps.iter().rev();
    let others = steps.find_map(|step| step.other_programs.as_ref());
    let others = others
        .map(|others| format!(" In some steps, {others}."))
        .unwrap_or_default();
    format!("; {spent} before the interval was within ±{percent:.0} %. {advice}{others}")
}

/// The reasons of the upper end, after a colon.
fn why(report: &Report) -> String {
    let Some(step) = report.breaking_step() else {
        return String::new();
    };
    let cause = step
        .likely_cause
        .as_ref()
        .map(|cause| format!("; likely cause: {cause}"));
    let reasons = step.reasons.join("; ");
    // A generator that waited for a CPU names them itself.
    let others = step
        .other_programs
        .as_ref()
        .filter(|others| !reasons.contains(others.as_str()));
    let others = others.map(|others| format!("; {others}"));
    format!(
        ": {reasons}{}{}",
        cause.unwrap_or_default(),
        others.unwrap_or_default()
    )
}

/// Whether the expected load holds, as a last sentence.
fn expectation(report: &Report) -> String {
    let Some((expected, expectation)) = report.expectation() else {
        return String::new();
    };
    let words = match expectation {
        Expectation::Met => "reached",
        Expectation::Missed => "not reached",
        Expectation::Undecided => "undecided, because the interval is on both sides of it",
    };
    format!(" Expected: {} or more ({words}).", grouped(expected))
}

fn n_held(ballot: Ballot) -> String {
    format!("{} of {} steps", ballot.held, ballot.n_counted())
}

/// Steps that failed, also those in which the generator was the bottleneck.
fn n_broke(ballot: Ballot) -> String {
    format!(
        "{} of {} steps",
        ballot.broke + ballot.generator,
        ballot.n_steps()
    )
}

fn precision(report: &Report) -> String {
    let within = report.line.interval.and_then(|interval| interval.within());
    let n_steps = report.steps.len();
    match within {
        Some(within) if within > 0.0 => format!(": within ±{:.1} % after {n_steps} steps", within * 100.0),
        _ => format!(": exact after {n_steps} steps"),
    }
}
