//! The beginning of a run: its checks, and its workers.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Instant, SystemTime},
};

use plimsoll_load::{causes::Causes, generator::Monitor};
use plimsoll_report::summary::Plan;

use super::{COLLECT_EVERY, Preflight, Run, RunError, Survey, servers};
use crate::{
    fleet::Fleet,
    interrupt::Interrupt,
    journal::Journal,
    measures::{Measures, Singles},
    meter::Meter,
    onlooker::LAG,
    options::{Common, Model, Steps},
    outcome::{Setting, Workload},
    remote::{Agents, Hub},
    sink::Sink,
    staff::Staff,
    wire::{self, Wire},
    worker::Setup,
};

impl<'a> Run<'a> {
    /// Makes all checks that need no connection, and starts the workers, or takes those of `agents`.
    pub(crate) async fn start(
        (workload, plan): (Workload, Plan),
        common: &Common,
        steps: &Steps,
        (n_padding_bytes, model): (usize, Option<&Model>),
        (mut interrupt, agents): (Interrupt, Option<Agents>),
        sink: &'a mut dyn Sink,
    ) -> Result<Self, RunError> {
        let monitor = Monitor::new();
        let (measures, metrics) = Measures::new();
        let mut journal = Journal::new(metrics.clone(), monitor.clone());
        let base = match agents {
            Some(agents) => Base::of_agents(agents, workload, common),
            None => tokio::select! {
                biased;
                () = interrupt.next() => return Err(RunError::Interrupted),
                base = Base::here(common, steps, n_padding_bytes, &monitor) => base?,
            },
        };
        let mut meter = Meter::attach(monitor, &base.addresses, &common.watched, sink.sampling())?;
        let target = common.target.to_string();
        let singles = Singles::new(measures, &metrics, sink.samples(), workload, &target);
        let fleet = Fleet::new(
            base.staff,
            base.n_routes,
            common.seed,
            workload == Workload::Broadcast,
        );
        if let Some(hub) = fleet.hub() {
            journal.set_agents(hub.n_agents());
            meter.set_agents((0..hub.n_agents()).map(|agent| hub.name(agent).into()));
        }
        meter.prepare();
        let started = Instant::now();
        meter.start(started);
        Ok(Self {
            workload,
            plan,
            journal,
            measures,
            singles,
            collect_at: started + COLLECT_EVERY,
            show_at: started + COLLECT_EVERY + LAG,
            meter,
            interrupt,
            sink,
            setting: Setting {
                target,
                nodes: common.nodes.iter().map(ToString::to_string).collect(),
                server_type: common.server_type,
                n_workers: fleet.n_workers(),
                seed: common.seed,
                model: model.cloned(),
            },
            fleet,
            started,
            preflight: base.preflight,
            missing: None,
            pacing: common.pacing,
            limits: common.limits.clone(),
            steps: Vec::new(),
            drops: Causes::default(),
            messages: Vec::new(),
            survey: Survey::default(),
            speaks_cable: false,
        })
    }
}

/// The workers of a run, and what is known of the way to the servers.
struct Base {
    staff: Staff,
    /// The number of routes to each server.
    n_routes: Vec<usize>,
    /// The first address of each server. Empty if agents connect.
    addresses: Vec<SocketAddr>,
    /// The limits of this machine; `None` if agents connect.
    preflight: Option<Preflight>,
}

impl Base {
    /// Workers of this process.
    async fn here(
        common: &Common,
        steps: &Steps,
        n_padding_bytes: usize,
        monitor: &Monitor,
    ) -> Result<Self, RunError> {
        let servers = servers::resolve(common).await?;
        let addresses: Vec<_> = servers.iter().map(|(_, addresses)| addresses[0]).collect();
        // The limits towards the first server stand for all: they are of this machine.
        let preflight = Preflight::new(addresses[0].ip(), &common.local_addresses);
        preflight.check(steps.n_clients().unwrap_or(steps.n_first))?;
        let routes = servers::routes(servers, common, steps.n_clients(), n_padding_bytes);
        let wire = Wire::new(
            common.server_type,
            common.dialect,
            &common.channel,
            n_padding_bytes,
            wire::Run::unique(SystemTime::now()),
        );
        let n_routes = routes.iter().map(Vec::len).collect();
        let setup = Setup {
            wire: Arc::new(wire),
            routes,
            subscribe_limit: common.connect_timeout,
            monitor: monitor.clone(),
            is_remote: false,
        };
        let staff = Staff::threads(0..common.n_workers, &Arc::new(setup)).map_err(RunError::Start)?;
        Ok(Self {
            staff,
            n_routes,
            addresses,
            preflight: Some(preflight),
        })
    }

    /// Workers of agents, which have made their checks.
    fn of_agents(agents: Agents, workload: Workload, common: &Common) -> Self {
        let n_nodes = 1 + common.nodes.len();
        Self {
            staff: Hub::staff(agents, n_nodes, workload == Workload::Connect),
            // Each agent has its own ones, and reduces the number of the route to them.
            n_routes: vec![usize::MAX; n_nodes],
            addresses: Vec::new(),
            preflight: None,
        }
    }
}
