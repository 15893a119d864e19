//! The way of a message through a cluster: published at one server, heard by the last of 100 clients of another one, next
//! to a bare publication in the engine between the two, which takes turns with it.

use std::{io, os::fd::AsFd, time::Instant};

use serde_json::{Value, json};

use super::{Error, Outcome, Plan, budget, poller::Poller, server::Server, sheet::Sheet};
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
    let one = bare_of(1).map_err(Error::Limit)?;
    let bare = bare_of(N_EARS).map_err(Error::Limit)?;

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
    let through = hops_of(N_HOPS, ears, || publisher.publish()).map_err(Error::Swarm)?;
    let (after, elapsed) = (cpu()?, begin.elapsed());
    let us_per_hop = |cpu: std::time::Duration| cpu.as_secs_f64() * 1e6 / N_HOPS as f64;
    let rate = N_HOPS as f64 / elapsed.as_secs_f64();
    let figures = (percentile(&bare, 0.5), percentile(&through, 0.5));
    sheet.push(vec![
        percentile(&one, 0.5),
        figures.0,
        figures.1,
        percentile(&through, 0.99),
        figures.1 / figures.0,
        rate,
        us_per_hop(after.0 - before.0),
        us_per_hop(after.1 - before.1),
    ]);
    Ok(json!({ "bare_1_us": one, "bare_us": bare, "through_us": through }))
}

/// The times of [`N_HOPS`] hops, after as many as it takes to be warm.
fn hops<E: Ear + AsFd>(
    ears: &mut [E],
    mut publish: impl FnMut() -> io::Result<Instant>,
) -> io::Result<Vec<f64>> {
    hops_of(N_WARM, ears, &mut publish)?;
    hops_of(N_HOPS, ears, publish)
}

/// The times of hops, one after the other, in microseconds: from right before a publication, which `publish` returns, until
/// every ear has heard it.
fn hops_of<E: Ear + AsFd>(
    n_hops: usize,
    ears: &mut [E],
    mut publish: impl FnMut() -> io::Result<Instant>,
) -> io::Result<Vec<f64>> {
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
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    Ok(times)
}

/// The least time that at least this share of all is not above.
fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles() {
        let times: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        for (share, expected) in [(0.5, 100.0), (0.99, 198.0), (1.0, 200.0), (0.0, 1.0)] {
            assert!((percentile(&times, share) - expected).abs() < 1e-9, "{share}");
        }
    }
}
