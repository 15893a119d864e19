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
            sheet.push(round(plan, n_connections)?);
        }
        let verdict = budget::IDLE.judge(
            format!("{n_connections} connections"),
            sheet.median(PER_CONNECTION),
        );
        outcome.add(&sheet, &[verdict], &[]);
    }
    Ok(outcome)
}

/// Server memory in bytes.
pub(super) struct Readings {
    /// Before the first connection.
    empty: u64,
    /// With the first of every [`FIRST`] connections: what the server needs once, it has by then.
    first: u64,
    /// When everybody has subscribed.
    subscribed: u64,
    /// When everybody has had a ping.
    pinged: u64,
    n_connections: usize,
}

/// So many connections have one among the first.
const FIRST: usize = 20;

impl Readings {
    pub(super) fn take(plan: &Plan, n_connections: usize) -> Result<Self, Error> {
        let server = Server::start(&plan.binary)?;
        let empty = server.rss_bytes()?;
        let n_first = n_connections / FIRST;
        let mut members = swarm::gather(server.address(), n_first).map_err(Error::Swarm)?;
        let first = server.rss_bytes()?;
        let others = swarm::gather(server.address(), n_connections - n_first);
        members.extend(others.map_err(Error::Swarm)?);
        let subscribed = server.rss_bytes()?;
        for member in &mut members {
            member.wait_for(r#""type":"ping""#).map_err(Error::Swarm)?;
        }
        Ok(Self {
            empty,
            first,
            subscribed,
            pinged: server.rss_bytes()?,
            n_connections,
        })
    }

    /// Bytes per connection from an empty server on; the larger of the two later readings counts.
    pub(super) fn each(&self) -> f64 {
        self.grown_since(self.empty) / self.n_connections as f64
    }

    /// The same from the first connections on.
    pub(super) fn each_further(&self) -> f64 {
        self.grown_since(self.first) / (self.n_connections - self.n_connections / FIRST) as f64
    }

    fn grown_since(&self, earlier: u64) -> f64 {
        self.subscribed.max(self.pinged).saturating_sub(earlier) as f64
    }
}

/// Memory before, after everybody has subscribed, and after everybody has had a ping.
fn round(plan: &Plan, n_connections: usize) -> Result<Vec<f64>, Error> {
    let readings = Readings::take(plan, n_connections)?;
    let kilobytes = |bytes: u64| bytes as f64 / 1024.0;
    Ok(vec![
        kilobytes(readings.empty),
        kilobytes(readings.subscribed),
        kilobytes(readings.pinged),
        readings.each(),
    ])
}
