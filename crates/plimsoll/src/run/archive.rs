//! `plimsoll archive`: one file with a script and everything that it needs, in k6's format.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::PathBuf,
};

use clap::{Parser, ValueHint};
use plimsoll_script::Redaction;
use serde_json::json;

use super::{config_file::ConfigFile, flags::OptionFlags, layers::Layers, options::ReadingFlags, script};
use crate::{
    exit::{Failure, Status, TestFailure},
    runtime::run_local,
    session::{Basis, LogSettings},
    surroundings::Surroundings,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll archive -u 10 -d 10s -O chat.tar chat.js
  plimsoll run chat.tar                             also: k6 run chat.tar";

/// Write a script, its modules, the files that it opens and its options into one file.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The script, JavaScript or TypeScript; - is standard input.
    #[arg(value_name = "SCRIPT", value_hint = ValueHint::FilePath)]
    script: PathBuf,
    /// The file to write.
    #[arg(long, short = 'O', value_name = "FILE", default_value = "archive.tar", value_hint = ValueHint::FilePath)]
    archive_out: PathBuf,
    /// Leave the variables of __ENV out of the archive.
    #[arg(long)]
    exclude_env_vars: bool,
    #[command(flatten)]
    options: OptionFlags,
    #[command(flatten)]
    reading: ReadingFlags,
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let redaction = Redaction::default();
        Basis::begin(LogSettings::plain(false), redaction.clone(), false)?;
        let file = ConfigFile::find(self.reading.config.as_deref(), surroundings).map_err(invalid)?;
        let layers = Layers::read(file, surroundings, &self.options).map_err(invalid)?;
        let reading = script::read(&self.script, &self.reading, false, surroundings, &redaction);
        let script = run_local(reading)?;
        let of_script = script::options(&script).map_err(invalid)?;
        let name = self.script.display().to_string();
        let consolidated = layers.consolidate(&name, &of_script).map_err(invalid)?;
        for warning in &consolidated.warnings {
            tracing::warn!("{warning}");
        }
        // A segment belongs to an instance, and an archive to all of them; but k6 keeps what it was told.
        let options = json!(consolidated.options);
        let failed = |error| {
            let path = self.archive_out.display();
            TestFailure::NoFile.because(format!("cannot write {path}: {error}"))
        };
        let mut out = BufWriter::new(File::create(&self.archive_out).map_err(failed)?);
        script
            .write_archive(&options, !self.exclude_env_vars, &mut out)
            .and_then(|()| out.flush())
            .map_err(failed)?;
        Ok(Status::Success)
    }
}

fn invalid(reason: impl std::fmt::Display) -> Failure {
    TestFailure::InvalidOptions.because(reason)
}
