//! A program that runs to its end: what it printed, its CPU time, its memory.

use std::{
    io,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use super::{Error, memory, usage::measured};
use crate::command;

/// A run that has ended well.
pub(super) struct Finished {
    /// As a person would type it.
    pub(super) command: String,
    pub(super) stdout: Vec<u8>,
    /// CPU microseconds of the process, and of those that it started and waited for, from its start to its end.
    pub(super) cpu_us: f64,
    /// The most resident memory that it was seen with.
    pub(super) max_rss_bytes: u64,
}

/// Between two looks at the memory of a run, which changes within seconds.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Finished {
    /// Runs a program to its end. One that fails has no figures.
    pub(super) fn of(mut command: Command) -> Result<Self, Error> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
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
        Ok(Self {
            command: line,
            stdout: output.stdout,
            cpu_us,
            max_rss_bytes,
        })
    }
}

/// Waits for the end of a process, and looks at its memory meanwhile.
fn watch(child: Child) -> (io::Result<Output>, u64) {
    let pid = child.id();
    let (ended, end) = mpsc::sync_channel(1);
    let waiting = thread::spawn(move || {
        let output = child.wait_with_output();
        // Fails only when the receiver is gone.
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
}
