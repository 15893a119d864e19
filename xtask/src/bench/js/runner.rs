//! A program that runs k6's scripts, as a process per run.

use std::{env, os::unix::process::CommandExt, path::PathBuf, process::Command};

use crate::{
    bench::{Error, Plan, finished::Finished},
    command, repository,
};

/// Plimsoll or the real k6.
pub(super) struct Runner {
    program: PathBuf,
    /// What comes before the variables and the script.
    arguments: &'static [&'static str],
}

/// A script of `benchmarks/js` and its variables.
pub(super) struct Script<'a> {
    pub(super) file: &'static str,
    pub(super) variables: &'a [(&'static str, String)],
}

impl Runner {
    /// The program that is measured; prints its report as JSON.
    pub(super) fn plimsoll(plan: &Plan) -> Self {
        Self {
            program: plan.generator.clone(),
            arguments: &["run", "--quiet", "--format", "json"],
        }
    }

    /// The real k6, built from the Go module that the end-to-end tests build it from, where they build it.
    pub(super) fn k6(plan: &Plan) -> Result<Self, Error> {
        let program = plan.target.join("foreign/k6");
        let mut build = Command::new("go");
        // Without the tables for debuggers: half the size.
        build.args(["build", "-ldflags=-s -w", "-o"]).arg(&program);
        build
            .arg("go.k6.io/k6")
            .current_dir(repository::root().join("tests/foreign/k6"));
        command::run(&mut build).map_err(Error::K6)?;
        Ok(Self {
            program,
            arguments: &["run", "--quiet", "--summary-mode", "disabled"],
        })
    }

    /// Runs a script to its end. One that fails, or misses a threshold, has no figures.
    pub(super) fn run(&self, script: &Script<'_>) -> Result<Finished, Error> {
        Finished::of(self.command(script))
    }

    /// Without what the environment says about load tests.
    fn command(&self, script: &Script<'_>) -> Command {
        let mut command = repository::command(&self.program);
        // A report shows the command line; the folder of this machine's builds does not belong in it.
        command.arg0(self.program.file_name().unwrap_or_default());
        command.args(self.arguments);
        for (name, value) in script.variables {
            command.args(["-e", &format!("{name}={value}")]);
        }
        command.arg(format!("benchmarks/js/{}", script.file));
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("K6_")) {
            command.env_remove(name);
        }
        // No run tells its maker about itself.
        command.env("K6_NO_USAGE_REPORT", "true");
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_does_not_learn_where_it_lies() {
        let runner = Runner {
            program: "/bin/sh".into(),
            arguments: &["-c", "cat /proc/$$/cmdline; true"],
        };
        let script = Script {
            file: "x.js",
            variables: &[],
        };
        let arguments = runner.run(&script).unwrap().stdout;
        assert!(arguments.starts_with(b"sh\0"), "{arguments:?}");
    }

    #[test]
    fn a_run_that_fails_has_no_figures() {
        let runner = Runner {
            program: "false".into(),
            arguments: &[],
        };
        let script = Script {
            file: "x.js",
            variables: &[("VUS", "1".into())],
        };
        let failed = runner.run(&script).err().map(|error| error.to_string());
        assert_eq!(
            failed.as_deref(),
            Some("`false -e VUS=1 benchmarks/js/x.js` failed (exit status: 1): ")
        );
    }
}
