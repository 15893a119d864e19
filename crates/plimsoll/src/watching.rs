//! What is said of targets that were watched beside a run.

use plimsoll_report::summary::Target;

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
