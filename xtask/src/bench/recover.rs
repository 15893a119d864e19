//! Reliable streams: what clients lose that are cut, what it costs the server when all of them come back at once, and
//! what a broker costs while no client is away.

mod cost;
mod herd;
mod jitter;
mod memory;
mod page;

use super::{Error, Outcome, Plan, server::Server};

/// The key for broadcasts.
const KEY: &str = "benchmark";

/// Measures all of them.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    cost::measure(plan, &mut outcome)?;
    memory::measure(plan, &mut outcome)?;
    herd::measure(plan, &mut outcome)?;
    jitter::measure(plan, &mut outcome)?;
    Ok(outcome)
}

/// Starts a server with public streams and a memory broker, and with these flags.
fn start(plan: &Plan, flags: &[&str]) -> Result<Server, Error> {
    start_for(plan, &["--public", "--norpc"], flags)
}

/// Starts a server with a memory broker, these flags for its application, and others.
fn start_for(plan: &Plan, application: &[&str], flags: &[&str]) -> Result<Server, Error> {
    let usual = [
        "--broker",
        "memory",
        "--broadcast_key",
        KEY,
        "--metrics_http",
        page::PATH,
    ];
    Server::start_with(&plan.server, &[application, &usual, flags].concat())
}
