//! The line in words.

use plimsoll_report::Style;

use super::Report;
use crate::search::{Ballot, End, Level, Line};

/// What was found, why it is not more, and how sure that is.
pub(super) fn sentence(report: &Report, style: Style) -> String {
    style.strong(&headline(report)) + &conditions(report)
}

/// What was found.
pub(super) fn headline(report: &Report) -> String {
    let Line { end, holds, breaks } = report.line;
    let of = |level: Level| report.unit.of(level.load);
    match (end, holds, breaks) {
        (End::Found, Some(holds), Some(_)) => format!("Holds {}", of(holds)),
        (End::Max, Some(holds), _) => format!("Holds {} or more", of(holds)),
        (End::Generator, Some(holds), Some(_)) => format!("Holds at least {}", of(holds)),
        (End::Generator, _, Some(_)) => "The search says nothing about the target".to_owned(),
        (End::NothingHolds, _, Some(breaks)) => format!("Not even {} holds", of(breaks)),
        (End::Degraded, Some(_), Some(_)) => "The target got worse during the search".to_owned(),
        (_, None, None) => "Ended before the first step was complete".to_owned(),
        _ => "Ended before the line was found".to_owned(),
    }
}

/// Behind the headline: how much was tried, why it is not more, and how sure that is.
fn conditions(report: &Report) -> String {
    let line = &report.line;
    let of = |level: Level| report.unit.of(level.load);
    let why = why(report);
    match (line.end, line.holds, line.breaks) {
        (End::Found, Some(holds), Some(breaks)) => format!(
            " ({}); broke at {} ({}){why}. {}",
            n_held(holds.ballot),
            of(breaks),
            n_broke(breaks.ballot),
            precision(line),
        ),
        (End::Max, Some(holds), _) => format!(
            " ({}), the largest load to try; raise it with --max.",
            n_held(holds.ballot)
        ),
        (End::Generator, Some(holds), Some(breaks)) => format!(
            " ({}); the generator ended the search at {}{why}.",
            n_held(holds.ballot),
            of(breaks),
        ),
        (End::Generator, _, Some(breaks)) => {
            format!(": the generator itself is the bottleneck at {}{why}.", of(breaks))
        }
        (End::NothingHolds, _, Some(breaks)) => format!(" ({}){why}.", n_broke(breaks.ballot)),
        (End::Degraded, Some(holds), Some(breaks)) => format!(
            ": {} held at first, but later not even {} did{why}. Is the target still running? It may not recover \
             from overload; read its log, and search again after a restart with a lower --max.",
            of(holds),
            of(breaks),
        ),
        (_, Some(holds), Some(breaks)) => format!(
            ": {} held ({}), {} did not ({}){why}.",
            of(holds),
            n_held(holds.ballot),
            of(breaks),
            n_broke(breaks.ballot),
        ),
        (_, Some(holds), None) => format!(
            ": {} held ({}), and no other load was tried.",
            of(holds),
            n_held(holds.ballot)
        ),
        (_, None, Some(breaks)) => {
            format!(": {} did not hold ({}){why}.", of(breaks), n_broke(breaks.ballot))
        }
        (_, None, None) => ".".to_owned(),
    }
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
    format!(": {}{}", step.reasons.join("; "), cause.unwrap_or_default())
}

fn n_held(ballot: Ballot) -> String {
    format!("{} of {} steps held", ballot.held, ballot.n_counted())
}

fn n_broke(ballot: Ballot) -> String {
    format!("{} of {} steps", ballot.broke, ballot.n_counted())
}

fn precision(line: &Line) -> String {
    let width = width(line).map(|width| format!("within {:.1} %", width * 100.0));
    let confidence = confidence(line).map(|confidence| format!("confidence {:.0} %", confidence * 100.0));
    let words: Vec<_> = width.into_iter().chain(confidence).collect();
    let mut text = words.join(", ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{text}.")
}

/// The distance of the ends, as a share of the lower one.
pub(super) fn width(line: &Line) -> Option<f64> {
    let (holds, breaks) = (line.holds?, line.breaks?);
    (line.end == End::Found).then(|| (breaks.load - holds.load) as f64 / holds.load as f64)
}

/// The confidence (0 to 1) that steps at the lower end hold more often than not, and at the upper one do not: the
/// probabilities of an error at either end, added up.
pub(super) fn confidence(line: &Line) -> Option<f64> {
    let holds = line.holds?.ballot.confidence_that_it_holds();
    match line.end {
        End::Found => {
            let breaks = line.breaks?.ballot.confidence_that_it_breaks();
            Some((holds + breaks - 1.0).max(0.0))
        }
        End::Max | End::Generator => Some(holds),
        End::NothingHolds | End::Degraded | End::Interrupted => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(load: u64, held: u32, broke: u32) -> Level {
        let generator = 0;
        let ballot = Ballot {
            held,
            broke,
            generator,
        };
        Level { load, ballot }
    }

    #[test]
    fn width_and_confidence_are_those_of_the_ends() {
        use End::{Degraded, Found, Generator, Interrupted, Max, NothingHolds};
        let (holds, breaks) = (Some(level(100, 3, 0)), Some(level(110, 0, 2)));
        let (unsure, none) = (Some(level(100, 1, 1)), None);
        for (end, holds, breaks, expected_width, expected_confidence) in [
            (Found, holds, breaks, Some(0.1), Some(0.625)),
            // A confidence below zero is shown as unknown.
            (Found, unsure, Some(level(110, 1, 1)), Some(0.1), Some(0.0)),
            (Found, holds, none, None, None),
            (Max, holds, none, None, Some(0.875)),
            (Generator, holds, breaks, None, Some(0.875)),
            (Generator, none, breaks, None, None),
            (NothingHolds, holds, breaks, None, None),
            (Degraded, holds, breaks, None, None),
            (Interrupted, holds, breaks, None, None),
        ] {
            let line = Line { end, holds, breaks };
            assert_eq!(
                (width(&line), confidence(&line)),
                (expected_width, expected_confidence),
                "{line:?}"
            );
        }
    }
}
