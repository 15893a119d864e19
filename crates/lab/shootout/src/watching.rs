//! What is watched beside the load.

use std::{fmt, sync::Arc};

use plimsoll_load::watch::{OpenPage, Sampling, SamplingError, Target};

/// Targets, and who fetches the pages of metrics among them.
#[derive(Clone)]
pub struct Watching {
    /// What is watched, in the order in which reports have it.
    pub targets: Vec<Target>,
    /// Opens a page of metrics.
    pub open: OpenPage,
}

impl Watching {
    /// Finds all targets; `None` when there are none.
    ///
    /// # Errors
    /// When one is not there.
    pub(crate) fn attach(&self) -> Result<Option<Arc<Sampling>>, SamplingError> {
        if self.targets.is_empty() {
            return Ok(None);
        }
        Sampling::attach(&self.targets, &self.open)
            .map(Arc::new)
            .map(Some)
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watching")
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Watching {
    /// These targets, none of which is a page.
    pub(crate) fn processes(targets: Vec<Target>) -> Self {
        Self {
            targets,
            open: Arc::new(|url| Err(format!("{url} is not opened in this test"))),
        }
    }
}
