//! Server CPU of subscriptions whose identifiers or streams have colliding names, next to ordinary names of the same
//! length, all within the limits of one address.

mod names;

use std::io;

use serde_json::json;

use super::{Error, Outcome, Plan, budget, server::Server, sheet::Sheet, swarm::Member};
use names::Names;

/// What one address may have without further flags.
const CONNECTIONS: [usize; 1] = [60];
const MAX_CONNECTIONS: usize = 100;

/// What one connection may have, without the first one that every client of the swarm begins with.
const N_SUBSCRIPTIONS: usize = 999;

/// Commands in progress of one connection: answers must not wait until all commands are sent.
const BATCH: usize = 111;

const ORDINARY: &str = "ordinary s";
const COLLIDING: &str = "colliding s";
const RATIO: &str = "× ordinary";

/// What outsiders name.
struct Target {
    what: &'static str,
    /// How identifiers begin and end around a name.
    identifier: [&'static str; 2],
    /// Whether the beginning is a part of what is hashed.
    hashes_identifier: bool,
}

const TARGETS: [Target; 2] = [
    Target {
        what: "identifiers",
        identifier: [r#"{"channel":"BenchmarkChannel","key":""#, r#""}"#],
        hashes_identifier: true,
    },
    Target {
        what: "streams",
        identifier: [r#"{"channel":"$pubsub","stream_name":""#, r#""}"#],
        hashes_identifier: false,
    },
];

/// Measures both kinds of names at every connection count.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    for n_connections in plan.connections(&CONNECTIONS, MAX_CONNECTIONS)? {
        for target in &TARGETS {
            let what = target.what;
            let title = format!(
                "collisions: server CPU of {n_connections} connections with {N_SUBSCRIPTIONS} subscriptions each, {what}"
            );
            let mut sheet = Sheet::new(title, &[ORDINARY, COLLIDING, RATIO]);
            for _ in 0..plan.rounds {
                let ordinary = target.cpu_seconds(plan, n_connections, Names::ordinary)?;
                let colliding = target.cpu_seconds(plan, n_connections, Names::colliding)?;
                sheet.push(vec![ordinary, colliding, colliding / ordinary]);
            }
            let circumstances = format!("{what}, {n_connections} connections");
            let verdict = budget::COLLISIONS.judge(circumstances, sheet.median(RATIO));
            outcome.add(&sheet, &[verdict], &[]);
        }
    }
    Ok(outcome)
}

impl Target {
    /// CPU of a new server while the connections subscribe one after the other.
    fn cpu_seconds(
        &self,
        plan: &Plan,
        n_connections: usize,
        name: fn(&Names, usize) -> String,
    ) -> Result<f64, Error> {
        let [beginning, end] = self.identifier;
        let names = Names::beginning_with(if self.hashes_identifier { beginning } else { "" });
        let identifier = |n: usize| {
            if self.hashes_identifier {
                format!("{}{end}", name(&names, n))
            } else {
                format!("{beginning}{}{end}", name(&names, n))
            }
        };
        let server = Server::start_with(&plan.server, &["--app", "benchmark", "--public_streams"])?;
        let before = server.cpu()?;
        // No member leaves before all members have joined.
        let mut members = Vec::new();
        for connection in 0..n_connections {
            let mut member = Member::subscribe(server.address()).map_err(Error::Swarm)?;
            let first = connection * N_SUBSCRIPTIONS;
            for n in (first..first + N_SUBSCRIPTIONS).step_by(BATCH) {
                let identifiers = (n..n + BATCH).map(identifier);
                subscribe(&mut member, identifiers).map_err(Error::Swarm)?;
            }
            members.push(member);
        }
        Ok((server.cpu()? - before).as_secs_f64())
    }
}

/// Sends all commands, and waits for all answers.
fn subscribe(member: &mut Member, identifiers: impl ExactSizeIterator<Item = String>) -> io::Result<()> {
    let mut n_awaited = identifiers.len();
    for identifier in identifiers {
        member.send(&json!({ "command": "subscribe", "identifier": identifier }).to_string())?;
    }
    while n_awaited > 0 {
        for answer in member.read_frames()? {
            let answer = String::from_utf8_lossy(&answer);
            if answer.contains("reject_subscription") {
                return Err(io::Error::other(format!(
                    "the server rejected a subscription: {answer}"
                )));
            }
            n_awaited -= usize::from(answer.contains("confirm_subscription"));
        }
    }
    Ok(())
}
