//! A program that runs Artillery's files, as a process per run with a report.

use std::{fs, io, os::unix::process::CommandExt, path::PathBuf, process::Command};

use serde_json::Value;

use crate::{
    bench::{Error, Plan, finished::Finished},
    command, repository,
};

/// The release that is compared with: the last one of October 2026.
const ARTILLERY: &str = "artillery@2.0.34";

/// Where npm puts its program, relative to the folder that it is installed in.
const ARTILLERY_PROGRAM: &str = "node_modules/artillery/bin/run";

/// Both write their reports to a file of this name.
const REPORT: &str = "report.json";

/// Plimsoll or the real Artillery.
pub(super) struct Tool {
    program: PathBuf,
    /// What comes before the arguments of a run.
    arguments: &'static [&'static str],
    /// Where it runs, with the files: so that no command line has a path of this machine.
    folder: PathBuf,
}

/// What a run is to do.
pub(super) struct Job {
    /// In `benchmarks/artillery`.
    pub(super) file: &'static str,
    pub(super) url: String,
    pub(super) users: usize,
    /// Of each user, or seconds in which they come.
    pub(super) rounds: usize,
    /// Messages or requests of each user in all, with the counter that has them.
    pub(super) expected: (&'static str, usize),
}

/// A run in which every user ran every step.
pub(super) struct Done {
    pub(super) run: Finished,
    pub(super) report: Value,
}

impl Tool {
    /// The program that is measured.
    pub(super) fn plimsoll(plan: &Plan) -> Result<Self, Error> {
        Ok(Self {
            program: plan.generator.clone(),
            arguments: &[],
            folder: folder(plan)?,
        })
    }

    /// The real Artillery, which npm installs into the target folder, where it is missing: 590 MB. It asks for a newer
    /// Node.js than Debian's, and runs with that.
    pub(super) fn artillery(plan: &Plan) -> Result<Self, Error> {
        let folder = folder(plan)?;
        if !folder.join(ARTILLERY_PROGRAM).exists() {
            let mut npm = repository::command("npm");
            // No install script is needed, and none may fetch a browser.
            npm.args([
                "install",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--prefix",
                ".",
            ]);
            npm.arg(ARTILLERY).current_dir(&folder);
            command::run(&mut npm).map_err(Error::Artillery)?;
        }
        Ok(Self {
            program: "node".into(),
            arguments: &[ARTILLERY_PROGRAM],
            folder,
        })
    }

    /// Runs a file to its end. A run with a failed virtual user or a missing value has no figures.
    pub(super) fn run(&self, job: &Job) -> Result<Done, Error> {
        let report = self.folder.join(REPORT);
        match fs::remove_file(&report) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::Folder(error)),
            _ => {}
        }
        let mut command = self.command(job.file)?;
        command.args(["run", "--quiet", "--output", REPORT, job.file]);
        command.env("URL", &job.url);
        command.env("USERS", job.users.to_string());
        command.env("ROUNDS", job.rounds.to_string());
        let run = Finished::of(command)?;
        let report: Value = serde_json::from_slice(&fs::read(report).map_err(Error::Folder)?)?;
        let (counter, each) = job.expected;
        for (counter, expected) in [("vusers.completed", job.users), (counter, job.users * each)] {
            let found = report["aggregate"]["counters"][counter]
                .as_u64()
                .unwrap_or_default();
            if found != expected as u64 {
                return Err(Error::Incomplete {
                    line: run.command,
                    counter,
                    expected: expected as u64,
                    found,
                });
            }
        }
        Ok(Done { run, report })
    }

    /// Runs a scenario of wsdirector's, which has no report.
    pub(super) fn run_scenario(
        &self,
        file: &'static str,
        url: &str,
        scale: usize,
    ) -> Result<Finished, Error> {
        let mut command = self.command(file)?;
        command.args(["run", file, "--url", url, "--scale", &scale.to_string()]);
        Finished::of(command)
    }

    /// In the folder, with the file there.
    fn command(&self, file: &str) -> Result<Command, Error> {
        let original = repository::root().join("benchmarks/artillery").join(file);
        fs::copy(original, self.folder.join(file)).map_err(Error::Folder)?;
        let mut command = Command::new(&self.program);
        command.arg0(self.program.file_name().unwrap_or_default());
        command.args(self.arguments).current_dir(&self.folder);
        // No run tells its maker about itself.
        command.env("ARTILLERY_DISABLE_TELEMETRY", "true");
        Ok(command)
    }
}

/// Beside what the end-to-end tests build.
fn folder(plan: &Plan) -> Result<PathBuf, Error> {
    let folder = plan.target.join("foreign/artillery");
    fs::create_dir_all(&folder).map_err(Error::Folder)?;
    Ok(folder)
}
