//! Why a run could not be done.

use std::{cmp::Reverse, io};

use plimsoll_clients::target::ResolveError;
use plimsoll_load::{
    causes::{Cause, Causes},
    preflight::Problem,
    watch::WatchError,
};

use crate::fleet::WorkerLost;

/// The run could not be done, or not to its end. Exit code 1.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The host has no address.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// This machine's limits are too low for the run.
    #[error("{}", join(.0))]
    Preflight(Vec<Problem>),
    /// The target of `--watch` cannot be watched.
    #[error("--watch: {0}")]
    Watch(#[from] WatchError),
    /// The system gave no thread or no event queue.
    #[error("start the worker threads: {0}")]
    Start(io::Error),
    /// No client of the first step became ready.
    #[error("none of the {n_clients} clients became ready{}", groups(causes))]
    NobodyReady {
        /// The number of clients that tried.
        n_clients: usize,
        /// Why they failed.
        causes: Causes,
    },
    /// An order stopped the run before it started.
    #[error("the run was stopped before it started")]
    Interrupted,
    /// The server speaks Action Cable, and its type is another one.
    #[error(
        "the target speaks Action Cable: it sent a welcome; add --server-type actioncable, and --channel if its channel \
         is not BenchmarkChannel"
    )]
    SpeaksCable,
    /// The kernel gave no timer.
    #[error("start the timer of the schedule: {0}")]
    Timer(io::Error),
    /// A defect of this program.
    #[error(transparent)]
    WorkerLost(#[from] WorkerLost),
}

fn join(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(Problem::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The most causes that are listed. Reason: a person reads the first few.
const MOST_CAUSES: usize = 10;

/// The only cause on the same line, or several on a line each, the most frequent first; each with an example if that
/// says more.
fn groups(causes: &Causes) -> String {
    let mut known: Vec<_> = causes.iter().collect();
    known.sort_by_key(|(_, cause)| Reverse(cause.span.n));
    let example = |text: &str, cause: &Cause| {
        if cause.example == text {
            String::new()
        } else {
            format!(" ({})", cause.example)
        }
    };
    if let ([(text, cause)], None) = (known.as_slice(), causes.other()) {
        return format!(": {text}{}", example(text, cause));
    }
    let lines = known
        .iter()
        .take(MOST_CAUSES)
        .map(|(text, cause)| format!("\n  {} × {text}{}", cause.span.n, example(text, cause)));
    let lines: String = lines.collect();
    let n_rest: u64 = causes.total()
        - known
            .iter()
            .take(MOST_CAUSES)
            .map(|(_, cause)| cause.span.n)
            .sum::<u64>();
    let rest = (n_rest > 0).then(|| format!("\n  {n_rest} × other causes"));
    lines + &rest.unwrap_or_default()
}
