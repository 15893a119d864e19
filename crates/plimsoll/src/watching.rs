//! `--watch`, which all commands have that put load on something: what is typed, and what is said of targets that ended.

use std::sync::Arc;

use clap::Args;
use plimsoll_load::watch::{OpenPage, Place, Sampling, SamplingError, Target};
use plimsoll_report::summary;

mod page;

use self::page::Page;

/// What is watched beside the load.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WatchArgs {
    /// Also measure the target's resource use, second by second: a process id, :PORT that it listens on, cgroup:PATH,
    /// or its metrics, http://HOST/metrics#NAME,START*; with an optional NAME= in front; may be given several times
    #[arg(long = "watch", value_name = "TARGET")]
    pub(crate) targets: Vec<Target>,
}

impl WatchArgs {
    /// Finds all targets; `None` when there are none.
    ///
    /// # Errors
    /// When one is not there.
    pub(crate) fn attach(&self) -> Result<Option<Arc<Sampling>>, SamplingError> {
        if self.targets.is_empty() {
            return Ok(None);
        }
        Sampling::attach(&self.targets, &open_page())
            .map(Arc::new)
            .map(Some)
    }
}

/// Checks that the targets on this machine are there. Pages of metrics are not fetched for it.
///
/// # Errors
/// One is not there.
pub(crate) fn check(targets: &[Target]) -> Result<(), SamplingError> {
    let local = targets
        .iter()
        .filter(|target| !matches!(target.place, Place::Metrics(_)));
    let local: Vec<_> = local.cloned().collect();
    Sampling::attach(&local, &open_page()).map(drop)
}

/// What fetches pages of metrics.
pub(crate) fn open_page() -> OpenPage {
    Arc::new(|url| Ok(Box::new(Page::open(url)?)))
}

/// Says which of these targets did not live to see the end.
pub(crate) fn tell_ended(targets: &[summary::Target]) {
    for target in targets {
        if let Some(ended) = &target.ended {
            tracing::warn!(
                "the watch target {} ({}) ended after {:.1} s: {}",
                target.name,
                target.what,
                ended.seconds,
                ended.reason
            );
        }
    }
}
