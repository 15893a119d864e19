//! `plimsoll agent`: a machine that makes load for others.

use std::{fs, process};

use clap::{Parser, ValueHint};
use plimsoll_fleet::{Agent, FleetAddress, Link, Observer, PROTOCOL, Profile};
use plimsoll_load::{
    preflight::{Memory, raise_open_file_limit},
    run::default_workers,
    watch::Target,
};
use plimsoll_script::Redaction;

use super::{flags::KeyFlag, runner::Runner, version};
use crate::{
    exit::{Failure, Status},
    runtime::run_local,
    session::{Basis, LogSettings},
    signals::Signals,
    surroundings::Surroundings,
    watching,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll agent --fleet nats://localhost:4222
  plimsoll agent --fleet tls://load:secret@nats.example.com:4222/staging --fleet-key key.txt --name zurich-1
  plimsoll agent --fleet nats://localhost:4222 --watch :8080

Then, on one machine: plimsoll run --fleet nats://localhost:4222 --agents 1 chat.js

An agent runs the code that it is given. So where other machines can reach the NATS server, it asks for a user or TLS,
and for a key that the coordinator signs its packages with. With --watch it runs no code, and asks for the same.";

/// Wait for the runs of a fleet, and carry out a part of each.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The NATS server where the fleet meets; a path names the fleet.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    fleet: FleetAddress,
    /// The name of this agent. Default: the name of the machine.
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// Make no load; measure the resource use of this program during each run of the fleet, as --watch of a run does: a
    /// process id, :PORT that it listens on, cgroup:PATH, or http://HOST/metrics#NAME,START*; with an optional NAME= in
    /// front; may be given several times
    #[arg(long = "watch", value_name = "TARGET")]
    targets: Vec<Target>,
    /// End after one run.
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    key: KeyFlag,
    /// Log debug messages, too.
    #[arg(long, short)]
    verbose: bool,
}

/// The longest name of an agent, in characters.
const MAX_NAME: usize = 64;

fn name(text: &str) -> Result<String, String> {
    let is_printable = !text.is_empty() && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    if is_printable && text.chars().count() <= MAX_NAME {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "expected a word of at most {MAX_NAME} characters, for example zurich-1"
        ))
    }
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let redaction = Redaction::default();
        Basis::begin(LogSettings::plain(self.verbose), redaction.clone(), false)?;
        let key = self.key.of(&self.fleet, surroundings)?;
        let observer = match self.targets {
            targets if targets.is_empty() => None,
            targets => Some(Observer::new(targets, watching::open_page())?),
        };
        let watches = observer.as_ref().map(Observer::labels).unwrap_or_default();
        let profile = Profile {
            watches,
            is_private: self.fleet.is_private(),
            ..profile(self.name)
        };
        run_local(async {
            let signals = Signals::listen()?;
            let link = Link::connect(&self.fleet).await?;
            let task = match profile.watches.as_slice() {
                [] => "waits for runs".to_owned(),
                watches => format!("waits for runs, to watch {},", watches.join(", ")),
            };
            tracing::info!(
                "Agent {} {task} in the fleet `{}` at {}.",
                profile.name,
                self.fleet.name(),
                self.fleet
            );
            let agent = Agent {
                link,
                profile,
                key,
                once: self.once,
            };
            let stop = signals.received(1);
            match observer {
                None => agent.serve(Runner { redaction }, stop).await?,
                Some(observer) => agent.serve(observer, stop).await?,
            }
            Ok(Status::Success)
        })
    }
}

fn profile(name: Option<String>) -> Profile {
    Profile {
        id: format!("{:016x}", fastrand::u64(..)),
        name: name.unwrap_or_else(machine_name),
        version: version(),
        protocol: PROTOCOL,
        cores: default_workers().get(),
        memory_bytes: Some(Memory::read().total_bytes),
        open_files: Some(raise_open_file_limit().soft),
        busy_with: None,
        watches: Vec::new(),
        is_private: false,
    }
}

/// The name of this machine, or else the number of this process.
fn machine_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => format!("agent-{}", process::id()),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        for (text, is_name) in [
            ("zurich-1", true),
            ("größe", true),
            ("", false),
            ("a b", false),
            ("a\n", false),
        ] {
            assert_eq!(name(text).is_ok(), is_name, "{text:?}");
        }
        assert!(name(&"x".repeat(65)).is_err());
    }
}
