//! The way of a message through a cluster: published at one server, heard by the last of 100 clients of another one, next
//! to a bare publication in the engine between the two, which takes turns with it.

use std::{
    io,
    os::fd::AsFd,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    Error, Outcome, Plan, budget, percentile::percentile_ms, poller::Poller, server::Server, sheet::Sheet,
};
use crate::debian::{self, Need};

mod bare;
mod engine;
mod through;

use bare::{Bare, Dialect};
use engine::Engine;
use through::Through;

/// Hops in a row of each kind, one at a time.
const N_HOPS: usize = 2_000;
/// Hops before those that count: connections, scripts and allocators are warm then.
const N_WARM: usize = 200;
/// Clients that hear each message.
const N_EARS: usize = 100;

const ENGINES: [Need; 2] = [
    Need {
        probes: &[&["redis-server", "--version"]],
        packages: &["redis-server"],
    },
    Need {
        probes: &[&["nats-server", "--version"]],
        packages: &["nats-server"],
    },
];

/// What the servers of a cluster share.
struct Cluster {
    name: &'static str,
    dialect: Dialect,
    /// The flags of a server, the URL of the engine excepted.
    flags: &'static [&'static str],
}

const CLUSTERS: [Cluster; 4] = [
    Cluster {
        name: "--pubsub redis",
        dialect: Dialect::Redis,
        flags: &["--pubsub", "redis"],
    },
    Cluster {
        name: "--broker redis",
        dialect: Dialect::Redis,
        flags: &["--broker", "redis"],
    },
    Cluster {
        name: "--pubsub nats",
        dialect: Dialect::Nats,
        flags: &["--pubsub", "nats"],
    },
    Cluster {
        name: "--broker nats",
        dialect: Dialect::Nats,
        flags: &["--broker", "nats"],
    },
];

const BARE_1: &str = "bare, 1: p50 µs";
const BARE: &str = "bare, 100: p50 µs";
const P50: &str = "p50 µs";
const P99: &str = "p99 µs";
const RATIO: &str = "p50: × bare, 100";
const RATE: &str = "publications/s";
const SERVERS: &str = "servers' CPU µs";
const ENGINE: &str = "engine's CPU µs";

/// A subscriber or a client that hears messages.
trait Ear {
    /// Reads what is there, and returns the number of messages that are complete now.
    fn hear(&mut self) -> io::Result<usize>;
}

/// Measures each kind of cluster.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    debian::install(&ENGINES)?;
    let mut outcome = Outcome::default();
    for cluster in &CLUSTERS {
        let title = format!(
            "hop: from a publication at one server to the last of {N_EARS} clients of another one, {}",
            cluster.name
        );
        let columns = [BARE_1, BARE, P50, P99, RATIO, RATE, SERVERS, ENGINE];
        let mut sheet = Sheet::new(title, &columns);
        let reports = (0..plan.rounds)
            .map(|_| round(plan, cluster, &mut sheet))
            .collect::<Result<Vec<_>, _>>()?;
        let verdict = budget::HOP.judge(cluster.name.to_owned(), sheet.median(RATIO));
        outcome.add(&sheet, &[verdict], &reports);
    }
    Ok(outcome)
}

/// The bare engine with one ear, with as many as the cluster has, and then the cluster.
fn round(plan: &Plan, cluster: &Cluster, sheet: &mut Sheet) -> Result<Value, Error> {
    let engine = Engine::start(cluster.dialect)?;
    let bare_of = |n_ears| {
        let mut bare = Bare::connect(cluster.dialect, engine.address(), n_ears)?;
        let (publisher, ears) = bare.parts();
        hops(ears, || publisher.publish())
    };
    let mut one = bare_of(1).map_err(Error::Limit)?;
    let mut bare = bare_of(N_EARS).map_err(Error::Limit)?;

    let url = engine.url();
    let flags = [&["--app", "benchmark"], cluster.flags, &[engine.flag(), &url]].concat();
    let start = || Server::start_with(&plan.server, &flags);
    let servers = [start()?, start()?];
    let [here, there] = servers.each_ref().map(Server::address);
    let mut through = Through::connect(here, there, N_EARS).map_err(Error::Swarm)?;
    let (publisher, ears) = through.parts();
    hops_of(N_WARM, ears, || publisher.publish()).map_err(Error::Swarm)?;
    let cpu = || Ok::<_, Error>((servers[0].cpu()? + servers[1].cpu()?, engine.cpu()?));
    let (before, begin) = (cpu()?, Instant::now());
    let mut through = hops_of(N_HOPS, ears, || publisher.publish()).map_err(Error::Swarm)?;
    let (after, elapsed) = (cpu()?, begin.elapsed());
    let us_per_hop = |cpu: Duration| cpu.as_secs_f64() * 1e6 / N_HOPS as f64;
    let report =
        json!({ "bare_1_us": all_us(&one), "bare_us": all_us(&bare), "through_us": all_us(&through) });
    let us = |times: &mut [Duration], percent| percentile_ms(times, percent) * 1e3;
    let (bare_us, through_us) = (us(&mut bare, 50), us(&mut through, 50));
    sheet.push(vec![
        us(&mut one, 50),
        bare_us,
        through_us,
        us(&mut through, 99),
        through_us / bare_us,
        N_HOPS as f64 / elapsed.as_secs_f64(),
        us_per_hop(after.0 - before.0),
        us_per_hop(after.1 - before.1),
    ]);
    Ok(report)
}

fn all_us(times: &[Duration]) -> Vec<f64> {
    times.iter().map(|time| time.as_secs_f64() * 1e6).collect()
}

/// The times of [`N_HOPS`] hops, after as many as it takes to be warm.
fn hops<E: Ear + AsFd>(
    ears: &mut [E],
    mut publish: impl FnMut() -> io::Result<Instant>,
) -> io::Result<Vec<Duration>> {
    hops_of(N_WARM, ears, &mut publish)?;
    hops_of(N_HOPS, ears, publish)
}

/// The times of hops, one after the other: from right before a publication, which `publish` returns, until
/// every ear has heard it.
fn hops_of<E: Ear + AsFd>(
    n_hops: usize,
    ears: &mut [E],
    mut publish: impl FnMut() -> io::Result<Instant>,
) -> io::Result<Vec<Duration>> {
    let mut poller = Poller::new()?;
    for (index, ear) in ears.iter().enumerate() {
        poller.add(ear, index)?;
    }
    let mut times = Vec::with_capacity(n_hops);
    for _ in 0..n_hops {
        let begin = publish()?;
        let mut n_missing = ears.len();
        while n_missing > 0 {
            for index in poller.wait()? {
                n_missing -= ears[index].hear()?;
            }
        }
        times.push(begin.elapsed());
    }
    Ok(times)
}
