//! What differs between load tests.

use std::{future::pending, sync::Arc, time::Duration};

use plimsoll_load::{
    metrics::Registry,
    plan::Plan,
    preflight::UserKind,
    run::{Progress, RunResult},
    vu::{Lifecycle, VuFactory},
    watch::Target,
};
use plimsoll_report::{Summary, summary::Kind};

use super::course::shortest_latency;
use crate::exit::{Failure, Status};

/// A load test that has been read: a script, a file of another tool, or the demo.
///
/// A [`Session`](super::Session) calls the methods in the order in which they stand here.
pub(crate) trait LoadTest {
    /// What is done around the run.
    type Stages: Lifecycle;

    /// What the run is about.
    fn subject(&self) -> Subject<'_>;

    /// What is watched besides the targets of `--watch`.
    fn targets(&self) -> Vec<Target> {
        Vec::new()
    }

    /// What is printed before the first user starts; `outputs` describes where samples go.
    fn header(&self, outputs: &[String]) -> Option<String> {
        let _ = outputs;
        None
    }

    /// Whether the plain progress is shown. A test that prints reports of its own needs none.
    fn has_progress(&self) -> bool {
        true
    }

    /// Takes in the state of the run, about once a second.
    fn observe(&self, progress: &Progress<'_>) {
        let _ = progress;
    }

    /// Returns when the test itself ends the run.
    async fn breached(&self) {
        pending::<()>().await;
    }

    /// Takes in the result.
    fn finish(&mut self, result: &RunResult) {
        let _ = result;
    }

    /// The latency against which the generator's own lateness is judged.
    fn latency(&self, result: &RunResult) -> Option<Duration> {
        shortest_latency(&result.metrics)
    }

    /// Adds to the summary what only this test knows.
    fn complete(&self, summary: &mut Summary) {
        let _ = summary;
    }

    /// Prints the result.
    async fn print(&self, finished: &Finished<'_>, stages: &Self::Stages) -> Result<(), Failure>;

    /// Whether a page with the result is written although no `--report` asks for one.
    fn reports_unasked(&self) -> bool {
        false
    }

    /// How the command ends; what an output lost counts after it.
    ///
    /// # Errors
    /// When the run did not end well.
    fn verdict(&self, finished: &Finished<'_>) -> Result<Status, Failure>;
}

/// What a run is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) kind: Kind,
    /// What runs, as the user named it.
    pub(crate) name: &'a str,
    pub(crate) plan: &'a Plan,
    /// What a virtual user is, for the memory that it takes.
    pub(crate) user_kind: UserKind,
    /// Another page that belongs to the run, with its name.
    pub(crate) link: Option<(&'a str, &'a str)>,
}

/// The virtual users of a run, and what is done around it.
pub(crate) struct Users<S> {
    /// All metrics.
    pub(crate) registry: Registry,
    /// Makes the users.
    pub(crate) factory: Arc<dyn VuFactory>,
    pub(crate) stages: S,
}

/// A run that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished<'a> {
    pub(crate) result: &'a RunResult,
    pub(crate) summary: &'a Summary,
    /// Whether it was stopped through the REST interface.
    pub(crate) was_stopped: bool,
}
