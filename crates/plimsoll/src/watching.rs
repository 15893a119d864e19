//! What was watched beside a run, for its summary.

use plimsoll_load::{run::RunResult, watch::Account};
use plimsoll_report::summary::{Load, Target};

/// What these targets used, and what comes with each user. Says at once which of them did not live to see the end.
pub(crate) fn targets(accounts: &[Account], run: &RunResult) -> Vec<Target> {
    let load = Load {
        vus: &[run.max_vus],
        ..Load::unknown(run.duration)
    };
    let targets: Vec<_> = accounts
        .iter()
        .map(|account| Target::new(account, &load))
        .collect();
    tell_ended(&targets);
    targets
}

/// Says which of these targets did not live to see the end.
pub(crate) fn tell_ended(targets: &[Target]) {
    for target in targets {
        if let Some(ended) = &target.ended {
            tracing::warn!(
                "{} ({}), which was watched, ended after {:.1} s: {}",
                target.name,
                target.what,
                ended.seconds,
                ended.reason
            );
        }
    }
}
