//! From the verdicts of figures to the verdict of a comparison, its evidence in words, and the advice when there is none.

use super::{
    advice::Series,
    cells,
    judgement::{ABSURD, Difference},
    verdict::Verdict,
};

/// The most figures in a sentence. Reason: it is one line.
const SHOWN: usize = 4;

/// The overall verdict. Worse outweighs better; with obstacles only exact counts count. Equal needs all decisive
/// figures, and at least one that is measured rather than counted.
pub(super) fn overall(differences: &[Difference], is_obstructed: bool) -> Verdict {
    let has = |verdict| differences.iter().any(|difference| difference.verdict == verdict);
    let is_equal = |difference: &Difference| difference.verdict == Verdict::Equal;
    let mut decisive = differences.iter().filter(|difference| difference.decisive);
    let is_measured = differences
        .iter()
        .any(|difference| difference.decisive && difference.interval.is_some());
    if has(Verdict::Worse) {
        Verdict::Worse
    } else if is_obstructed {
        Verdict::Inconclusive
    } else if has(Verdict::Better) {
        Verdict::Better
    } else if is_measured && decisive.all(is_equal) {
        Verdict::Equal
    } else {
        Verdict::Inconclusive
    }
}

/// The figures that a verdict is about, in words; empty if there are none. An equal verdict also names the figures about
/// which the runs say nothing.
pub(super) fn named(verdict: Verdict, differences: &[Difference]) -> String {
    let of = |verdict| {
        differences
            .iter()
            .filter(move |difference| difference.verdict == verdict)
    };
    match verdict {
        Verdict::Worse | Verdict::Better => list(of(verdict), true),
        Verdict::Inconclusive => list(of(verdict).filter(|difference| difference.decisive), false),
        Verdict::Equal => {
            let equal = list(of(verdict).filter(|difference| difference.decisive), false);
            match list(of(Verdict::Inconclusive), false).as_str() {
                "" => equal,
                unknown => format!("{equal}; inconclusive: {unknown}"),
            }
        }
    }
}

/// Names of figures. A metric's name is written before its first figure only.
fn list<'a>(differences: impl Iterator<Item = &'a Difference>, with_change: bool) -> String {
    let differences: Vec<_> = differences.collect();
    let mut words = Vec::new();
    let mut metric = "";
    for difference in differences.iter().take(SHOWN) {
        let figure = &difference.figure;
        let mut word = if figure.metric == metric {
            figure.figure.clone()
        } else {
            format!("{} {}", figure.metric, figure.figure)
        };
        if with_change {
            word.push(' ');
            word.push_str(&cells::change(difference));
        }
        words.push(word);
        metric = &figure.metric;
    }
    let n_more = differences.len().saturating_sub(SHOWN);
    if n_more > 0 {
        words.push(format!("{n_more} more"));
    }
    words.join(", ")
}

/// What to do when the decisive figures are inconclusive.
pub(super) fn advice(differences: &[Difference], is_obstructed: bool) -> Vec<String> {
    if is_obstructed {
        return vec!["repeat the runs with equal plans, on one machine, to their end".to_owned()];
    }
    let open = || {
        differences
            .iter()
            .filter(|difference| difference.decisive && difference.verdict == Verdict::Inconclusive)
    };
    let solvable = open().filter_map(|difference| difference.suffices);
    let enough = solvable.reduce(|one, other| Series {
        runs: one.runs.max(other.runs),
        seconds: one.seconds.max(other.seconds),
    });
    let mut advice = Vec::new();
    if let Some(series) = enough {
        let figures = list(open().filter(|difference| difference.suffices.is_some()), false);
        advice.push(format!(
            "{}, in turn, would decide {figures}, if the noise and the change stay as they are",
            series.text()
        ));
    }
    let is_hopeless = |difference: &&Difference| {
        let is_noisy = difference.interval.is_some() || difference.reason.as_deref() == Some(ABSURD);
        is_noisy && difference.suffices.is_none()
    };
    let hopeless = list(open().filter(is_hopeless), false);
    if !hopeless.is_empty() {
        advice.push(format!(
            "at this noise not even {} would decide {hopeless}; run nothing else on the machine, or load it for longer \
             latencies",
            Series::LONGEST.text()
        ));
    }
    advice
}

#[cfg(test)]
mod tests;
