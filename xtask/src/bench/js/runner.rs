//! A program that runs k6's scripts, as a process per run: what it printed, its CPU time, its memory.

use std::{
    env, io,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeVal,
};

use crate::{
    bench::{Error, Plan, memory},
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
    /// CPU time of the process from its start to its end, of all threads, in user mode and in the kernel.
    pub(super) cpu: Duration,
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
        let before = cpu_of_ended_processes()?;
        let child = command.spawn().map_err(start)?;
        let (output, max_rss_bytes) = watch(child);
        let output = output.map_err(start)?;
        let cpu = cpu_of_ended_processes()?.saturating_sub(before);
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
            cpu,
            max_rss_bytes,
        })
    }

    /// Without what the environment says about load tests.
    fn command(&self, script: &Script<'_>) -> Command {
        let mut command = repository::command(&self.program);
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
    while end.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
        // In the moment in which it ends, there is none to be seen.
        max_rss_bytes = max_rss_bytes.max(memory::rss_bytes(pid).unwrap_or_default());
    }
    let output = waiting.join().expect("the waiting thread does not panic");
    (output, max_rss_bytes)
}

/// CPU time of all processes that this one has started and waited for. It grows by that of the run in between, because
/// runs follow each other and servers are stopped between rounds.
fn cpu_of_ended_processes() -> Result<Duration, Error> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|errno| Error::Usage(errno.into()))?;
    Ok(duration(usage.user_time()) + duration(usage.system_time()))
}

fn duration(time: TimeVal) -> Duration {
    let seconds = Duration::from_secs(time.tv_sec().unsigned_abs());
    seconds + Duration::from_micros(time.tv_usec().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_an_ended_process_is_counted_once() {
        let before = cpu_of_ended_processes().unwrap();
        let spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let child = Command::new("sh").args(["-c", spin]).spawn().unwrap();
        let (output, max_rss_bytes) = watch(child);
        assert!(output.unwrap().status.success() && max_rss_bytes > 0);
        let cpu = cpu_of_ended_processes().unwrap() - before;
        assert!(cpu > Duration::from_millis(1), "{cpu:?}");
    }
}
