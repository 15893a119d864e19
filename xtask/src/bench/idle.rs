//! Server memory per subscribed connection that does nothing but receive pings.
//!
//! There is no loop to compare with: a bare socket costs a process no resident memory at all. The kernel's own memory
//! for sockets is not part of the figure, as it is not part of any server's.

use super::{Error, Outcome, Plan, budget, server::Server, sheet::Sheet, swarm};

/// What peers publish their figures for.
const CONNECTIONS: [usize; 1] = [10_000];

/// This process holds one end of each connection, the server the other; 20,000 open files each, with some to spare.
const MAX_CONNECTIONS: usize = 19_000;

const EMPTY: &str = "empty KB";
const SUBSCRIBED: &str = "subscribed KB";
const PINGED: &str = "pinged KB";
const PER_CONNECTION: &str = "bytes each";

/// Measures at every connection count.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    for n_connections in plan.connections(&CONNECTIONS, MAX_CONNECTIONS)? {
        let title = format!("idle: server RSS, {n_connections} subscribed connections");
        let mut sheet = Sheet::new(title, &[EMPTY, SUBSCRIBED, PINGED, PER_CONNECTION]);
        for _ in 0..plan.rounds {
            sheet.push(round(plan, n_connections)?.to_vec());
        }
        let verdict = budget::IDLE.judge(
            format!("{n_connections} connections"),
            sheet.median(PER_CONNECTION),
        );
        outcome.add(&sheet, &[verdict], &[]);
    }
    Ok(outcome)
}

/// What one round says of a connection.
pub(super) fn bytes_each(plan: &Plan, n_connections: usize) -> Result<f64, Error> {
    let [.., bytes] = round(plan, n_connections)?;
    Ok(bytes)
}

/// Memory before, after everybody has subscribed, and after everybody has had a ping; the larger one counts.
fn round(plan: &Plan, n_connections: usize) -> Result<[f64; 4], Error> {
    let server = Server::start(&plan.binary)?;
    let empty = server.rss_bytes()?;
    let mut members = swarm::gather(server.address(), n_connections).map_err(Error::Swarm)?;
    let subscribed = server.rss_bytes()?;
    for member in &mut members {
        member.wait_for(r#""type":"ping""#).map_err(Error::Swarm)?;
    }
    let pinged = server.rss_bytes()?;
    let grown = subscribed.max(pinged).saturating_sub(empty);
    let kilobytes = |bytes: u64| bytes as f64 / 1024.0;
    Ok([
        kilobytes(empty),
        kilobytes(subscribed),
        kilobytes(pinged),
        grown as f64 / n_connections as f64,
    ])
}
