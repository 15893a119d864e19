//! A program that runs k6's scripts, as a process per run: what it printed, its CPU time, its memory.

use std::{
    env, io,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use crate::{
    bench::{Error, Plan, memory, usage::measured},
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

/// A run that has ended well.
pub(super) struct Finished {
    /// As a person would type it.
    pub(super) command: String,
    pub(super) stdout: Vec<u8>,
    /// CPU microseconds of the process from its start to its end.
    pub(super) cpu_us: f64,
    /// The most resident memory that it was seen with.
    pub(super) max_rss_bytes: u64,
}

/// Between two looks at the memory of a run, which changes within seconds.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Runner {
    /// The program that is measured; prints its report as JSON.
    pub(super) fn plimsoll(plan: &Plan) -> Self {
        Self {
            program: plan.binary.clone(),
            arguments: &["run", "--quiet", "--format", "json"],
        }
    }

    /// The real k6, built from the Go module that the end-to-end tests build it from, where they build it.
    pub(super) fn k6(plan: &Plan) -> Result<Self, Error> {
        let profile = plan.binary.parent().and_then(|folder| folder.parent());
        let program = profile
            .expect("a release binary lies in a folder of the target folder")
            .join("foreign/k6");
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
        let mut command = self.command(script);
        let line = command::line(&command);
        let start = |source| Error::Start {
            program: line.clone(),
            source,
        };
        let run = || {
            let (output, max_rss_bytes) = watch(command.spawn().map_err(start)?);
            Ok((output.map_err(start)?, max_rss_bytes))
        };
        let ((output, max_rss_bytes), cpu_us) = measured(run)?;
        if !output.status.success() {
            return Err(Error::Script {
                line,
                status: output.status,
                said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            });
        }
        Ok(Finished {
            command: line,
            stdout: output.stdout,
            cpu_us,
            max_rss_bytes,
        })
    }

    /// Without what the environment says about load tests.
    fn command(&self, script: &Script<'_>) -> Command {
        let mut command = repository::command(&self.program);
        // A report has its command line; where this machine has its builds is nobody's business.
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
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Waits for the end of a process, and looks at its memory meanwhile.
fn watch(child: Child) -> (io::Result<Output>, u64) {
    let pid = child.id();
    let (ended, end) = mpsc::sync_channel(1);
    let waiting = thread::spawn(move || {
        let output = child.wait_with_output();
        // Only fails when nobody looks any more.
        let _ = ended.send(());
        output
    });
    let mut max_rss_bytes = 0;
    loop {
        // In the moment in which it ends, there is none to be seen.
        max_rss_bytes = max_rss_bytes.max(memory::rss_bytes(pid).unwrap_or_default());
        if end.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    let output = waiting.join().expect("the waiting thread does not panic");
    (output, max_rss_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_process_is_seen() {
        let child = Command::new("sleep").arg("1").spawn().unwrap();
        let (output, max_rss_bytes) = watch(child);
        assert!(output.unwrap().status.success() && max_rss_bytes > 0);
    }

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
