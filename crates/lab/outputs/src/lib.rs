//! Outputs for the samples of a load run besides its summary: files and databases (k6's `--out`).
//!
//! [`Outputs`] is the user's request, checked before the run. [`Running`] are the outputs at work, each on a thread of
//! its own behind a bounded queue: a slow or broken output loses samples and reports how many, and does not affect the
//! run. The [reference](../../../../docs/reference/outputs.md) describes each output.

mod csv;
mod distribution;
mod error;
mod file;
mod influxdb;
mod json;
mod opentelemetry;
mod outputs;
mod passing;
mod post;
mod prometheus;
mod push;
mod pushgateway;
mod report;
mod running;
mod series;
mod settings;
mod statsd;
mod tag_cache;
mod tls;
mod webhook;

pub use self::{
    error::OutputError,
    outputs::{DASHBOARDS, Outputs, catalog},
    pushgateway::{Exposition, Pushgateway, PushgatewayAddress, Pushing},
    report::{Outcome, OutputReport},
    running::Running,
    webhook::Webhook,
};

#[cfg(test)]
mod samples;
