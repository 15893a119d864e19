//! What an agent must know to carry clients of a bench.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use plimsoll_cable::subprotocol::Dialect;
use plimsoll_clients::{
    target::Target,
    tls::{Believe, Tls, TlsOptions},
};
use serde::{Deserialize, Serialize};

use crate::{
    options::{Common, Pacing, Steps},
    pause::BetweenSteps,
    wire,
};

/// The clients of a bench, for its agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The URLs of all servers.
    urls: Vec<String>,
    server_type: String,
    /// The dialect of Action Cable messages, as its sub-protocol.
    dialect: String,
    channel: String,
    origin: String,
    sub_protocol: Option<String>,
    headers: Vec<(String, String)>,
    /// Whether certificates are not verified.
    is_insecure: bool,
    connect_timeout: Duration,
    /// Threads of each agent.
    n_workers: usize,
    n_padding_bytes: usize,
    /// The marks of the run's messages.
    run: wire::Run,
    /// Clients of the first step, on all agents together.
    n_first: usize,
    /// The final number of clients, on all agents together; `None` without a planned end.
    n_clients: Option<usize>,
}

impl Job {
    pub(crate) fn new(common: &Common, steps: &Steps, n_padding_bytes: usize) -> Self {
        Self {
            urls: [&common.target]
                .into_iter()
                .chain(&common.nodes)
                .map(Target::url)
                .collect(),
            server_type: common.server_type.to_string(),
            dialect: common.dialect.subprotocol().to_owned(),
            channel: common.channel.clone(),
            origin: common.origin.clone(),
            sub_protocol: common.sub_protocol.clone(),
            headers: common.headers.clone(),
            // A bench has no other options of TLS.
            is_insecure: common.tls.is_some(),
            connect_timeout: common.connect_timeout,
            n_workers: common.n_workers,
            n_padding_bytes,
            run: wire::Run::unique(SystemTime::now()),
            n_first: steps.n_first,
            n_clients: steps.n_clients(),
        }
    }

    /// The number of clients of the first step and the largest planned number, on all agents together.
    pub(crate) fn n_clients(&self) -> (usize, usize) {
        (self.n_first, self.n_clients.unwrap_or(self.n_first))
    }

    pub(super) fn n_workers(&self) -> usize {
        self.n_workers
    }

    pub(super) fn n_padding_bytes(&self) -> usize {
        self.n_padding_bytes
    }

    pub(super) fn run(&self) -> wire::Run {
        self.run
    }

    /// The final number of clients; `None` without a planned end.
    pub(super) fn n_planned(&self) -> Option<usize> {
        self.n_clients
    }

    /// The options of the clients.
    pub(super) fn common(&self) -> Result<Common, String> {
        let targets = self.urls.iter().map(|url| Target::parse(url));
        let mut targets = targets
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| error.to_string())?;
        if targets.is_empty() {
            return Err("there is no server".to_owned());
        }
        let target = targets.remove(0);
        let unverified = || {
            Tls::new(TlsOptions {
                believe: Believe::Anybody,
                ..TlsOptions::default()
            })
        };
        let tls = self.is_insecure.then(unverified).transpose();
        Ok(Common {
            target,
            nodes: targets,
            server_type: self
                .server_type
                .parse()
                .map_err(|error: crate::ServerTypeError| error.to_string())?,
            dialect: Dialect::named(&self.dialect)
                .ok_or_else(|| format!("the sub-protocol {:?} is unknown", self.dialect))?,
            channel: self.channel.clone(),
            origin: self.origin.clone(),
            sub_protocol: self.sub_protocol.clone(),
            headers: self.headers.clone(),
            tls: tls.map_err(|error| error.to_string())?.map(Arc::new),
            local_addresses: Vec::new(),
            connect_timeout: self.connect_timeout,
            n_workers: self.n_workers,
            // The coordinator chooses the senders, watches the targets and waits between steps.
            seed: 0,
            watched: Vec::new(),
            limits: Vec::new(),
            pacing: Pacing {
                delay: Duration::ZERO,
                chance_percent: 0,
            },
            between_steps: BetweenSteps {
                go_ahead: None,
                delay: Duration::ZERO,
            },
        })
    }
}
