//! Where the samples of a load run go besides its summary: files, and databases that others look at (k6's `--out`).
//!
//! [`Outputs`] is what the user asked for, checked before the run. [`Running`] are the same outputs at work, each on a
//! thread of its own behind a bounded queue: an output that is slow or broken loses samples and says how many, and
//! changes nothing about the run. What each output writes is in the [reference](../../../../docs/reference/outputs.md).

mod csv;
mod distribution;
mod error;
mod file;
mod json;
mod opentelemetry;
mod outputs;
mod post;
mod prometheus;
mod push;
mod report;
mod running;
mod series;
mod settings;
mod tag_cache;
mod tls;

pub use self::{
    error::OutputError,
    outputs::Outputs,
    report::{Outcome, OutputReport},
    running::Running,
};

#[cfg(test)]
mod samples;
