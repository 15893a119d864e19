//! `plimsoll run`: load tests that are written as k6 scripts.

mod config_file;
mod environment;
mod flags;
mod inspect;
mod layers;
mod load_test;
mod log;
mod options;
mod progress;
mod rest;
mod results;
mod script;
mod secret_source;
mod signals;
mod unsupported;
mod variables;
mod verdict;

use tokio::task::LocalSet;

pub(crate) use self::{
    inspect::Options as InspectOptions, options::Options, rest::USUAL_ADDRESS,
    unsupported::command as unsupported, variables::with_variables,
};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        LocalSet::new().block_on(&runtime, load_test::conduct(&self, surroundings))
    }
}

#[cfg(test)]
mod tests;
