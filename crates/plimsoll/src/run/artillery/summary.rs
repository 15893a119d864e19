//! The checks of an Artillery file in the summary of its run, of which reports are made.

use plimsoll_report::{Summary, summary::Threshold};
use plimsoll_scenario::artillery::Verdict;

use super::guard::Breach;

/// Adds the checks of `ensure` as thresholds. Those that may fail become notices.
pub(super) fn judge(summary: &mut Summary, verdicts: &[Verdict], breach: Option<&Breach>) {
    let strict = verdicts.iter().filter(|verdict| verdict.is_strict);
    summary.thresholds.extend(strict.map(|verdict| Threshold {
        metric: "ensure".to_owned(),
        key: String::new(),
        expression: verdict.text.clone(),
        aggregation: String::new(),
        value: None,
        passed: verdict.holds,
        aborted: breach.is_some_and(|breach| breach.check == verdict.text),
    }));
    let missed = verdicts
        .iter()
        .filter(|verdict| !verdict.is_strict && !verdict.holds);
    let notices = missed.map(|verdict| format!("an optional check failed: {}", verdict.text));
    summary.notices.extend(notices);
}
