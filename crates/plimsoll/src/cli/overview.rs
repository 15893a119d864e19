//! The commands in groups, and what to try first: the help of `plimsoll` alone.

/// The order of the parts.
pub(super) const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{after-help}\n\nOptions:\n{options}";

/// All commands by purpose. One line each, so that the page fits on a screen of 80 columns.
pub(super) const COMMANDS: &str = "\
Start here:
  demo        A server, a chat, 200 users and a report, in one command
  probe       What a running server is, what it demands, and a script for it
  quick       A few users, over HTTP or a WebSocket, without a file

Load tests:
  run         A k6 script, an Artillery file or a wsdirector file
  line        The largest load at which a target meets its objectives
  bench       Workloads of websocket-bench, and clients that come back
  ab          One HTTP request many times: ab's flags and report, and more
  new         Write a load test as a starting point
  check       Find the mistakes of a script or file without running it
  inspect     Print the options of a script as JSON
  archive     A script and all that it needs, in one file
  schema      JSON Schemas of test files and summaries, for editors

Results:
  report      A page of a saved run, or a comparison of several
  runs        The history of runs: list, show, compare
  ui          The history in a browser

The server:
  serve       Serve Action Cable and AnyCable clients
  doctor      Whether serve can work here, and what breaks at N clients
  conform     Test servers and clients against the protocols, case by case

A run with --address:
  status      Its status
  stats       Its metrics
  pause       Start no new iterations
  resume      Go on
  scale       Change the number of its users

Load from several machines:
  agent       A machine that makes load for others
  agents      The agents of a fleet

This program:
  completion  A completion script for a shell
  man         Manual pages
  help        The help of a command

Try:
  plimsoll demo                                 needs nothing else
  plimsoll probe ws://localhost:8080/cable      a server that is running
  plimsoll quick http://localhost:3000/         ten users for a second";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::super::CommandLine;
    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let (groups, _) = COMMANDS.split_once("\nTry:").unwrap();
        let listed = groups.lines().filter_map(|line| line.strip_prefix("  "));
        let listed: Vec<_> = listed.filter_map(|line| line.split_whitespace().next()).collect();
        let mut command = CommandLine::command();
        command.build();
        let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
        let commands: BTreeSet<_> = commands.map(clap::Command::get_name).collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), commands);
        assert_eq!(listed.len(), commands.len(), "a command stands twice");
    }

    #[test]
    fn the_page_is_not_wrapped_on_a_usual_terminal() {
        assert!(COMMANDS.lines().all(|line| line.chars().count() <= 80));
        assert!(COMMANDS.lines().count() < 50);
    }
}
