//! `plimsoll inspect`: prints the options of a script without running it.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{Parser, ValueHint};
use plimsoll_load::{
    plan::{Options as LoadOptions, Plan},
    run,
};
use plimsoll_report::quantity;
use plimsoll_script::Redaction;
use serde_json::{Value, json};

use super::{config_file::ConfigFile, flags::OptionFlags, layers::Layers, options::ReadingFlags, script};
use crate::{
    exit::{Failure, Status, TestFailure},
    runtime::run_local,
    session::{Basis, LogSettings},
    surroundings::Surroundings,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll inspect chat.js                             the options that the script exports
  plimsoll inspect --execution-requirements chat.js    options of all layers, duration and largest number of users";

/// Print the options of a script as JSON.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The script, JavaScript or TypeScript; - is standard input.
    #[arg(value_name = "SCRIPT", value_hint = ValueHint::FilePath)]
    script: PathBuf,
    /// Take the configuration file and K6_* variables into account, and add totalDuration and maxVUs.
    #[arg(long)]
    execution_requirements: bool,
    #[command(flatten)]
    reading: ReadingFlags,
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let redaction = Redaction::default();
        Basis::begin(LogSettings::plain(false), redaction.clone(), false)?;
        let reading = script::read(&self.script, &self.reading, false, surroundings, &redaction);
        let script = run_local(reading)?;
        let of_script = script::options(&script).map_err(invalid)?;
        let document = self.document(&of_script, surroundings)?;
        writeln!(io::stdout(), "{document:#}")?;
        Ok(Status::Success)
    }

    fn document(&self, of_script: &Value, surroundings: &Surroundings<'_>) -> Result<Value, Failure> {
        let name = self.script.display().to_string();
        let layers = if self.execution_requirements {
            let file = ConfigFile::find(self.reading.config.as_deref(), surroundings).map_err(invalid)?;
            Layers::read(file, surroundings, &OptionFlags::default()).map_err(invalid)?
        } else {
            Layers::default()
        };
        let consolidated = layers.consolidate(&name, of_script).map_err(invalid)?;
        for warning in &consolidated.warnings {
            tracing::warn!("{warning}");
        }
        Ok(if self.execution_requirements {
            with_requirements(&consolidated.options, &consolidated.plan)
        } else {
            json!(consolidated.options)
        })
    }
}

fn invalid(reason: impl std::fmt::Display) -> Failure {
    TestFailure::InvalidOptions.because(reason)
}

/// The options as k6 prints them; a run without an end has no `totalDuration`.
fn with_requirements(options: &LoadOptions, plan: &Plan) -> Value {
    let mut document = json!(options);
    document["scenarios"] = options.consolidated(plan)["scenarios"].take();
    document["totalDuration"] = plan.max_duration().map(quantity::duration).into();
    document["maxVUs"] = run::max_vus(plan).into();
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_stand_beside_the_options() {
        for (options, expected) in [
            (
                json!({}),
                json!({ "scenarios": { "default": { "executor": "per-vu-iterations" } }, "totalDuration": "10m30s",
                        "maxVUs": 1 }),
            ),
            (
                json!({ "vus": 5, "duration": "1m" }),
                json!({ "vus": 5, "duration": "1m",
                        "scenarios": { "default": { "executor": "constant-vus", "vus": 5, "duration": "1m" } },
                        "totalDuration": "1m30s", "maxVUs": 5 }),
            ),
        ] {
            let options = LoadOptions::from_json(&options).unwrap().options;
            let plan = Plan::from_options(&options).unwrap();
            assert_eq!(with_requirements(&options, &plan), expected);
        }
    }
}
