//! What the target of a load run costs, beside the load: CPU time, memory, threads, open files, or what it says itself.
//!
//! A [`Target`] is what was typed: a process, a port, a control group or a page of metrics. [`Sampling`] looks at all of
//! them once per second, each on a thread of its own, and comes to one [`Account`] for each. A [`Watch`] is for who
//! wants to know a cost between two moments of its own choice. Processes are found and read in `tree`, groups in
//! `cgroup`, pages in `endpoint`; what is read is added to a [`Record`], whose memory is bounded.

mod cgroup;
mod choice;
mod endpoint;
mod error;
mod exposition;
pub mod figure;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod latest;
mod paced;
mod record;
mod sample;
mod sampler;
mod sampling;
mod target;
mod tree;

use self::{
    cgroup::Cgroup,
    tree::{ProcessTree, Root},
};
pub use self::{
    cgroup::MEMORY_CURRENT_BYTES,
    choice::MAX_SERIES,
    endpoint::{Fetch, OpenPage},
    error::{CgroupError, WatchError},
    latest::Latest,
    record::Record,
    sample::{Sample, Usage},
    sampler::{Account, Ended},
    sampling::{MAX_TARGETS, Sampling, SamplingError},
    target::{Page, ParseTargetError, Place, Target},
    tree::own_rss_bytes,
};

/// Looks at the processes of one target whenever it is asked to.
#[derive(Debug)]
pub struct Watch(Local);

/// What can be had at any moment.
#[derive(Debug)]
enum Local {
    Tree(ProcessTree),
    Cgroup(Cgroup),
}

impl Watch {
    /// Finds what is at `place` now; `None` for a page of metrics, which cannot be had at a given moment.
    ///
    /// # Errors
    /// When there is nothing at this place.
    pub fn attach(place: &Place) -> Result<Option<Self>, WatchError> {
        let local = match place {
            Place::Process(pid) => Local::Tree(ProcessTree::attach(Root::Process(*pid))?),
            Place::Port(port) => Local::Tree(ProcessTree::attach(Root::Port(*port))?),
            Place::Cgroup(path) => Local::Cgroup(Cgroup::attach(path)?),
            Place::Metrics(_) => return Ok(None),
        };
        Ok(Some(Self(local)))
    }

    /// Measures now, in a few milliseconds.
    ///
    /// # Errors
    /// [`WatchError::Ended`] when what the watch began with is gone.
    pub fn sample(&mut self) -> Result<Sample, WatchError> {
        match &mut self.0 {
            Local::Tree(tree) => tree.sample(),
            Local::Cgroup(group) => group.sample(),
        }
    }
}
