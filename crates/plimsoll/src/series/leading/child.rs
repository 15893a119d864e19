//! A run as a process: started with the arguments of this process, and ended with it.

use std::{
    io,
    io::IsTerminal,
    os::fd::AsFd,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

use super::super::member::{Member, VARIABLE};
use crate::{
    exit::Failure,
    signals::{is_hangup_ignored, received},
};

/// A process that has ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// Whether a signal told this process to end the series.
    pub(super) is_stopped: bool,
}

/// What becomes of the result that a run prints. Its errors are always shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum RunOutput {
    /// It goes to standard error: standard output is for the result of the series.
    Shown,
    /// Only the result of the series is asked for.
    Dropped,
}

/// Starts a run and waits for its end.
///
/// # Errors
/// The system does not start it.
pub(super) async fn run(member: &Member, output: RunOutput) -> Result<Ended, Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = if is_hangup_ignored() {
        None
    } else {
        Some(signal(SignalKind::hangup())?)
    };
    // A terminal sends Ctrl-C and its own end to all processes of the command, so this run has them, too.
    let is_passed_on = !io::stdin().is_terminal();
    let mut child = start(member, output)?;
    let pid = Pid::from_child(&child);
    let (tell, mut told) = oneshot::channel();
    thread::Builder::new().spawn(move || tell.send(child.wait()).is_ok())?;
    let mut is_stopped = false;
    loop {
        let order = tokio::select! {
            status = &mut told => {
                let status = status.map_err(io::Error::other)??;
                return Ok(Ended { status, is_stopped });
            }
            _ = terminate.recv() => Some(Signal::TERM),
            _ = interrupt.recv() => is_passed_on.then_some(Signal::INT),
            () = received(&mut hangup) => is_passed_on.then_some(Signal::HUP),
        };
        is_stopped = true;
        if let Some(order) = order {
            let _it_may_have_ended = kill_process(pid, order);
        }
    }
}

fn start(member: &Member, output: RunOutput) -> Result<Child, Failure> {
    let stdout = match output {
        RunOutput::Shown => io::stderr().as_fd().try_clone_to_owned()?.into(),
        RunOutput::Dropped => Stdio::null(),
    };
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(std::env::args_os().skip(1))
        .env(VARIABLE, member.variable()?)
        .stdout(stdout);
    Ok(command.spawn()?)
}
