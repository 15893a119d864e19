//! Server memory per subscribed connection that does nothing but receive pings.
//!
//! There is no loop to compare with: a bare socket costs a process no resident memory at all. The kernel's own memory
//! for sockets is not part of the figure, as it is not part of any server's.

use super::{
    Error, Outcome, Plan, budget,
    server::Server,
    sheet::Sheet,
    swarm::{self, Member, Wish},
};

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
    /// Without connections, after [`VISITORS`] have come and gone.
    empty: u64,
    /// After all clients have subscribed.
    subscribed: u64,
    /// After all clients have got a ping.
    pinged: u64,
    n_connections: usize,
}

/// Clients who come, have a ping and go before the first reading. A program's file is resident as far as it has run, 1.5 MB more
/// after the first client than before; that is of the server, not of any connection. Enough for every shard to have one.
const VISITORS: usize = 16;

impl Readings {
    /// Of clients of the benchmark application.
    pub(super) fn take(plan: &Plan, n_connections: usize) -> Result<Self, Error> {
        Self::of(&Server::start(&plan.server)?, n_connections, swarm::BASE)
    }

    /// Of clients of this server with this wish.
    pub(super) fn of(server: &Server, n_connections: usize, wish: Wish) -> Result<Self, Error> {
        let gather = |n| swarm::gather_as(server.address(), n, wish).map_err(Error::Swarm);
        let mut visitors = gather(VISITORS)?;
        wait_for_pings(&mut visitors)?;
        drop(visitors);
        let empty = server.rss_bytes()?;
        let mut members = gather(n_connections)?;
        let subscribed = server.rss_bytes()?;
        wait_for_pings(&mut members)?;
        Ok(Self {
            empty,
            subscribed,
            pinged: server.rss_bytes()?,
            n_connections,
        })
    }

    /// Bytes per connection; the larger of the two later readings counts.
    pub(super) fn each(&self) -> f64 {
        let grown = self.subscribed.max(self.pinged).saturating_sub(self.empty);
        grown as f64 / self.n_connections as f64
    }
}

fn wait_for_pings(members: &mut [Member]) -> Result<(), Error> {
    for member in members {
        member.wait_for(r#""type":"ping""#).map_err(Error::Swarm)?;
    }
    Ok(())
}

/// Memory before, after all clients have subscribed, and after all clients have got a ping.
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
