//! The differences between load tests.

use std::{io, sync::Arc};

use plimsoll_load::{
    metrics::SampleSender,
    run::Control,
    watch::{Sampling, Target},
};
use plimsoll_report::Summary;

use super::{
    ending::{Ender, Ends},
    subject::Subject,
    watchers::Watchers,
};
use crate::{
    exit::{Failure, Status},
    fleet::Outing,
    screen::Screen,
};

/// A load test that has been read: a script, a file of another tool, a bench, or the demo. Tests whose virtual users the
/// engine runs are [`EngineTest`](super::EngineTest)s.
///
/// A [`Session`](super::Session) calls the methods in the order in which they stand here.
pub(crate) trait LoadTest {
    /// The result of the run, in addition to its summary.
    type Result;

    /// Whether the test takes a second signal itself, and ends with the result that it has by then. Other tests have no
    /// result after a second signal.
    const TAKES_SECOND_SIGNAL: bool = false;

    /// Whether all work is done in iterations. Benches connect without any.
    const HAS_ITERATIONS: bool = false;

    /// The subject of the run.
    fn subject(&self) -> Subject<'_>;

    /// The targets that are watched besides those of `--watch`.
    fn targets(&self) -> Vec<Target> {
        Vec::new()
    }

    /// Whether other machines make the load.
    fn is_elsewhere(&self) -> bool {
        false
    }

    /// The lines before the plain progress, where `outputs` describes where samples go; `None` when the test reports its
    /// progress itself.
    fn progress(&self, outputs: &[String]) -> Option<String>;

    /// Runs to the end, or until a person ends the run.
    ///
    /// # Errors
    /// There is no result.
    async fn run(&mut self, company: Company) -> Result<(Self::Result, Summary), Failure>;

    /// The end of the command. Samples that an output lost count after it.
    ///
    /// # Errors
    /// The run did not end well.
    fn verdict(&self, ended: &Ended<'_, Self::Result>) -> Result<Status, Failure>;

    /// Prints the result.
    ///
    /// # Errors
    /// It cannot be written.
    async fn print(&self, ended: &Ended<'_, Self::Result>) -> Result<(), Failure>;

    /// Whether the printed result lists the causes of failures. After other results, the session lists them on standard
    /// error.
    fn lists_causes(&self, ended: &Ended<'_, Self::Result>) -> bool {
        let _ = ended;
        false
    }

    /// Whether failures of attempts are expected, so that they end the command well unless a flag says otherwise.
    fn expects_failures(&self) -> bool {
        false
    }

    /// Whether a page with the result is written although no `--report` asks for one.
    fn reports_unasked(&self) -> bool {
        false
    }

    /// Tells others of the result, after it is printed and kept. It has no effect on the end of the command.
    async fn announce(&self, ended: &Ended<'_, Self::Result>) {
        let _ = ended;
    }
}

/// The surroundings of a run in progress.
pub(crate) struct Company {
    pub(crate) control: Control,
    pub(crate) ends: Ends,
    /// The receivers of single samples.
    pub(crate) samples: Vec<SampleSender>,
    /// The readings of the watched targets; `None` without targets.
    pub(crate) sampling: Option<Arc<Sampling>>,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) screen: Arc<Screen<io::Stderr>>,
    /// What is missing of a run that a fleet carries out.
    pub(crate) outing: Outing,
}

/// A run that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended<'a, R> {
    pub(crate) result: &'a R,
    pub(crate) summary: &'a Summary,
    /// The source of the order that ended the run; `None` when the run ended on its own.
    pub(crate) ender: Ender,
    /// Whether nothing succeeded, and that makes the run a failure. Its result is short.
    pub(crate) is_futile: bool,
}
