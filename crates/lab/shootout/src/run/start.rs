//! The beginning of a run: its checks, and its workers.

use std::{
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
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
    sink::Sink,
    staff::Staff,
    wire::{self, Wire},
    worker::Setup,
};

impl<'a> Run<'a> {
    /// Makes all checks that need no connection, and starts the workers.
    pub(crate) async fn start(
        (workload, plan): (Workload, Plan),
        common: &Common,
        steps: &Steps,
        (n_padding_bytes, model): (usize, Option<&Model>),
        mut interrupt: Interrupt,
        sink: &'a mut dyn Sink,
    ) -> Result<Self, RunError> {
        let servers = tokio::select! {
            biased;
            () = interrupt.next() => return Err(RunError::Interrupted),
            servers = servers::resolve(common) => servers?,
        };
        let addresses: Vec<_> = servers.iter().map(|(_, addresses)| addresses[0]).collect();
        // The limits towards the first server stand for all: they are of this machine.
        let preflight = Preflight::new(addresses[0].ip(), &common.local_addresses);
        preflight.check(steps.n_clients().unwrap_or(steps.n_first))?;
        let routes = servers::routes(servers, common, steps.n_clients(), n_padding_bytes);
        let monitor = Monitor::new();
        let meter = Meter::attach(monitor.clone(), &addresses, &common.watched, sink.sampling())?;
        let wire = Wire::new(
            common.server_type,
            common.dialect,
            &common.channel,
            n_padding_bytes,
            wire_run(SystemTime::now()),
        );
        let (measures, metrics) = Measures::new();
        let target = common.target.to_string();
        let singles = Singles::new(measures, &metrics, sink.samples(), workload, &target);
        let setup = Setup {
            wire: Arc::new(wire),
            routes,
            subscribe_limit: common.connect_timeout,
            monitor: monitor.clone(),
        };
        let n_routes = setup.routes.iter().map(Vec::len).collect();
        let staff = Staff::threads(common.n_workers, &Arc::new(setup)).map_err(RunError::Start)?;
        let fleet = Fleet::new(staff, n_routes, common.seed);
        meter.prepare();
        let started = Instant::now();
        meter.start(started);
        Ok(Self {
            workload,
            plan,
            journal: Journal::new(metrics, monitor),
            measures,
            singles,
            collect_at: started + COLLECT_EVERY,
            show_at: started + COLLECT_EVERY + LAG,
            fleet,
            meter,
            interrupt,
            sink,
            setting: Setting {
                target,
                nodes: common.nodes.iter().map(ToString::to_string).collect(),
                server_type: common.server_type,
                n_workers: common.n_workers,
                seed: common.seed,
                model: model.cloned(),
            },
            started,
            preflight,
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

/// A token and a start that no other run on the same channel has.
fn wire_run(now: SystemTime) -> wire::Run {
    let start = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    wire::Run {
        token: fastrand::u32(..),
        start_ns: i64::try_from(start.as_nanos()).unwrap_or_default(),
    }
}
