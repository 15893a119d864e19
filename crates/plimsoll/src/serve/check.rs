//! `--check`, and `plimsoll doctor`: what the server does before it serves, with the result in words.

use std::time::Duration;

use plimsoll_server::Listeners;
use plimsoll_telemetry::{DependencyStatus, Registry};
use tokio::time::{Instant, sleep};

use super::{Options, RESERVED_FILES, Shared};
use crate::{
    doctor::{Check, Diagnosis, Machine},
    exit::Failure,
};

/// How long the application, Redis and NATS may take to answer. The connections to Redis and NATS give up after 5 s, and
/// then say why.
const PATIENCE: Duration = Duration::from_secs(6);

/// The states of dependencies announce no changes, so they are looked at so often.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

impl Options {
    /// Checks the machine, the ports and the dependencies. `warnings` come from reading the settings.
    ///
    /// # Errors
    /// The settings contradict each other: the server would not start.
    pub(crate) fn diagnose(self, warnings: &[String], n_clients: Option<u64>) -> Result<Diagnosis, Failure> {
        let mut checks: Vec<Check> = warnings
            .iter()
            .map(|warning| Check::warning("settings", warning.as_str(), None))
            .collect();
        checks.extend(Machine::read(RESERVED_FILES).checks(n_clients));
        checks.extend(self.check_own_limit(n_clients));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        checks.extend(runtime.block_on(self.check_surroundings())?);
        Ok(Diagnosis { checks })
    }

    /// None if the settings limit nothing.
    fn check_own_limit(&self, n_clients: Option<u64>) -> Option<Check> {
        let most = self.max_conn;
        let n_clients = n_clients.filter(|_| most > 0)?;
        let finding = format!("at most {most} clients; further ones are answered 503");
        Some(if n_clients > most {
            Check::problem(
                "--max_conn",
                finding,
                Some(format!("--max_conn {n_clients}, or 0 for no limit")),
            )
        } else {
            Check::ok("--max_conn", finding)
        })
    }

    async fn check_surroundings(&self) -> Result<Vec<Check>, Failure> {
        let registry = Registry::default();
        let _front = self
            .identification
            .prepare(&self.secrets, &registry, &self.keeping)
            .await?;
        let sources = self.ingest.sources(self.keeping.name(), &registry)?;
        let broker = self.shared_broker(&sources, &registry)?;
        let (clients, mut checks) = match Listeners::bind(&self.host, self.port, self.n_shards()) {
            Ok(clients) => (clients, Vec::new()),
            // The other checks need addresses of this host.
            Err(error) => (
                Listeners::bind(&self.host, 0, 1)?,
                vec![Check::problem("port", error.to_string(), None)],
            ),
        };
        let open_files = plimsoll_load::preflight::raise_open_file_limit();
        let config = self.config(
            &open_files,
            clients.addresses(),
            registry.clone(),
            Shared::default(),
        )?;
        let is_port_free = checks.is_empty();
        match self.bind(clients, &config) {
            // Dropped at once, so that no client connects to a server that does not serve.
            Ok(ports) => {
                let addresses = ports.clients.addresses().iter().map(ToString::to_string);
                let list = addresses.collect::<Vec<_>>().join(", ");
                checks.extend(is_port_free.then(|| Check::ok("port", format!("{list} free"))));
            }
            Err(error) => checks.push(Check::problem("further ports", error.message(), None)),
        }
        let _remote = self.remote_application(&config)?;
        let _broker = broker.map(|broker| broker.reach(&registry));
        let _ingest = self.ingest.reach(sources, &registry);
        let statuses = settled(&registry).await;
        checks.extend(statuses.into_iter().map(|status| self.check_dependency(status)));
        Ok(checks)
    }

    fn check_dependency(&self, status: DependencyStatus) -> Check {
        let (name, fix) = match status.name {
            "rpc" => (
                "application",
                Some(
                    "start the application, for Rails bundle exec anycable, or name its address with --rpc_host",
                ),
            ),
            name => (name, self.ingest.remedy(name)),
        };
        match status.down_because {
            None => Check::ok(name, "reachable"),
            Some(reason) => Check::problem(name, format!("cannot be used: {reason}"), fix.map(str::to_owned)),
        }
    }
}

/// The states of the dependencies, as soon as all are up, or the time is over.
async fn settled(registry: &Registry) -> Vec<DependencyStatus> {
    let started = Instant::now();
    while registry.dependencies().iter().any(|status| !status.is_up()) && started.elapsed() < PATIENCE {
        sleep(LOOK_INTERVAL).await;
    }
    registry.dependencies()
}
