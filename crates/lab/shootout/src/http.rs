//! The HTTP workload: one request, many times, as ab makes it, and beyond ab in an open model, over HTTP/2, and with
//! figures that can be trusted.
//!
//! From the outside in: [`HttpOptions`] is what is to be done; `run` watches who makes the `load`, a `squad` of one `worker`
//! per core or the squads of agents (`remote`); a worker's lanes claim requests from the one `schedule` that all share, and
//! note in its `tally` what became of them. An [`HttpOutcome`] comes out, and `report` writes it.

mod backoff;
mod board;
mod document;
mod error;
mod execute;
mod failures;
mod load;
mod measures;
mod options;
mod outcome;
mod phase;
mod progress;
mod remote;
mod report;
mod run;
mod samples;
mod schedule;
mod spread;
mod squad;
mod tally;
mod threshold;
mod transcript;
mod trouble;
mod worker;

pub use self::{
    document::Document,
    error::HttpRunError,
    execute::HttpResults,
    failures::{Failures, Kind},
    options::HttpOptions,
    outcome::HttpOutcome,
    report::{HtmlAttributes, Layout},
    schedule::Extent,
    threshold::{Finding, Measure, Threshold},
    transcript::Detail,
};
pub(crate) use self::{
    execute::execute,
    remote::{Deputy, Job},
    squad::check,
};

pub use crate::rate::Rate;

/// The title of the run for people: the command and its target.
pub(crate) fn name(url: &plimsoll_clients::http::Url) -> String {
    format!("bench http {url}")
}
