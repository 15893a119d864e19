//! `plimsoll line bench`: the flags of the bench workloads together with those of the search. They have a separate
//! parser, because some names are also flags for scripts.

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};
use plimsoll_shootout::Trials;

use super::options::{HuntFlags, NO_LOSSES, ResultFlags};
use crate::{
    bench::{self, BroadcastArgs, ConnectArgs, EchoArgs, Searched, Typed, UsageError},
    exit::Failure,
    fleet::FleetFlags,
    numbers,
    surroundings::Surroundings,
    watching,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll line bench broadcast ws://127.0.0.1:8080/cable --server-type actioncable \\
      --sample-size 100 --slo 'listener_delivery p(95)<500' --slo lost==0 --start 1000 --watch :8080
  plimsoll line bench connect ws://127.0.0.1:8080/cable --server-type actioncable-connect \\
      --slo 'connect p(95)<1000' --slo errors==0
  plimsoll line bench echo ws://127.0.0.1:9001/ws --server-type echo --slo 'rtt p(99)<50'

  plimsoll line bench echo ws://127.0.0.1:9001/ws --server-type echo --expect 2000      a CI gate
  plimsoll line bench echo ws://10.0.0.7:9001/ws --server-type echo \
      --fleet nats://localhost:4222 --agents 3       with clients on three agents (plimsoll agent)

Objectives may be about listener_delivery (a broadcast until each listener has it), delivery (until the
last listener has it), rtt (a send until its sender's answer), connect, lost and errors. Exit codes are those of plimsoll line.";

/// Find the largest number of clients at which a server meets its objectives.
#[derive(Debug, Parser)]
#[command(name = "plimsoll line bench", after_help = EXAMPLES, max_term_width = 110)]
struct Options {
    #[command(subcommand)]
    workload: Workload,
}

#[derive(Debug, Subcommand)]
enum Workload {
    /// How fast a message from one client reaches all clients
    Broadcast(Box<Search<BroadcastArgs>>),
    /// How fast clients become ready
    Connect(Box<Search<ConnectArgs>>),
    /// How fast a message comes back to its sender
    Echo(Box<Search<EchoArgs>>),
}

/// A workload with the flags of the search. websocket-bench has -f, too.
#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| arg.short('f')))]
struct Search<A: Args> {
    #[command(flatten)]
    search: BenchFlags,
    #[command(flatten)]
    workload: A,
}

/// The flags of the search.
#[derive(Debug, Args)]
pub(super) struct BenchFlags {
    #[command(flatten)]
    pub(super) hunt: HuntFlags,
    #[command(flatten)]
    pub(super) fleet: FleetFlags,
    #[command(flatten)]
    pub(super) results: ResultFlags,
}

/// A search of a bench.
pub(super) struct BenchSearch {
    pub(super) flags: BenchFlags,
    pub(super) bench: Searched,
}

/// Reads the command line, whose first three words are the program, `line` and `bench`.
///
/// # Errors
/// When it asks for what cannot be.
pub(super) fn read(arguments: &[OsString], surroundings: &Surroundings<'_>) -> Result<BenchSearch, Failure> {
    let own = arguments.iter().skip(3).cloned();
    let options: Options = numbers::parse([OsString::from("plimsoll line bench")].into_iter().chain(own));
    match options.workload {
        Workload::Broadcast(it) => it.read(surroundings),
        Workload::Connect(it) => it.read(surroundings),
        Workload::Echo(it) => it.read(surroundings),
    }
}

impl<A> Search<A>
where
    A: Typed<Mistake = UsageError>,
    Trials: TryFrom<A, Error = UsageError>,
{
    fn read(self, surroundings: &Surroundings<'_>) -> Result<BenchSearch, Failure> {
        let flags = self.search;
        flags.fleet.refuse_losses(NO_LOSSES)?;
        let wanted = flags.fleet.wanted(surroundings)?;
        let results = &flags.results;
        results.check()?;
        watching::check(&results.watch)?;
        let bench = bench::searched(self.workload, &results.watch, wanted, results.quiet)?;
        Ok(BenchSearch { flags, bench })
    }
}

/// The flags of a search of broadcasts.
#[cfg(test)]
pub(super) fn command_line() -> clap::Command {
    use clap::CommandFactory;

    let command = Options::command();
    let broadcast = command.find_subcommand("broadcast");
    broadcast.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn what_the_search_decides_is_no_flag() {
        let check = |arguments: &str, expected: Result<(), &str>| {
            let words = ["plimsoll", "line", "bench"].into_iter();
            let arguments: Vec<_> = words.chain(arguments.split(' ')).map(OsString::from).collect();
            match (read(&arguments, &Surroundings::of_variables(&[])), expected) {
                (Ok(_), Ok(())) => {}
                (Err(failure), Err(expected)) => assert!(failure.message().contains(expected)),
                (found, expected) => panic!("{:?} instead of {expected:?}", found.err()),
            }
        };
        check("echo ws://127.0.0.1:1/ --server-type echo --slo rtt<5", Ok(()));
        check(
            "broadcast ws://127.0.0.1:1/ --total-steps 3",
            Err("--total-steps: a search chooses the number of clients"),
        );
        check(
            "connect ws://127.0.0.1:1/ --step-size 9",
            Err("--step-size: a search chooses the number of clients"),
        );
        check(
            "echo ws://127.0.0.1:1/ --threshold rtt:p(95)<5",
            Err("write --slo 'rtt p(95)<200'"),
        );
        check("echo http://x", Err("ws"));
        let fleet = "echo ws://127.0.0.1:1/ --server-type echo --fleet nats://localhost";
        check(&format!("{fleet} --agents 3"), Ok(()));
        check(fleet, Err("for example --agents 3"));
        check(
            &format!("{fleet} --agents 3 --on-agent-loss continue"),
            Err("a step without the load of one agent says nothing about the target"),
        );
        check(
            &format!("{fleet} --agents 3 --local-addr 127.0.0.2"),
            Err("agents connect from their own addresses"),
        );
    }
}
