//! Options of benches against the server of these tests.

use std::time::Duration;

use plimsoll_cable::subprotocol::Dialect;
use plimsoll_clients::target::Target;

use super::server::Server;
use crate::{BetweenSteps, Command, Common, Connect, Exchange, Model, Pacing, Schedule, Steps, Waits};

fn common(server: &Server) -> Common {
    Common {
        target: Target::parse(&server.url()).unwrap(),
        nodes: Vec::new(),
        server_type: server.server_type(),
        dialect: Dialect::default(),
        channel: r#"{"channel":"BenchmarkChannel"}"#.to_owned(),
        origin: "http://localhost".to_owned(),
        sub_protocol: None,
        headers: Vec::new(),
        tls: None,
        local_addresses: Vec::new(),
        connect_timeout: Duration::from_secs(60),
        n_workers: 2,
        seed: 1,
        watched: Vec::new(),
        limits: Vec::new(),
        pacing: Pacing {
            delay: Duration::ZERO,
            chance_percent: 100,
        },
        between_steps: BetweenSteps {
            go_ahead: None,
            delay: Duration::ZERO,
        },
    }
}

fn steps(n_clients: usize, n_steps: usize, connect_width: usize) -> Steps {
    Steps {
        n_first: n_clients,
        n_more: n_clients,
        n_steps: Some(n_steps),
        connect_width,
    }
}

/// Ten broadcasts in each step, to six more clients on two workers.
pub(super) fn broadcast(server: &Server, n_steps: usize, width: usize) -> Exchange {
    Exchange {
        common: common(server),
        steps: steps(6, n_steps, 1),
        command: Command::Broadcast,
        model: Model::Closed { n_samples: 10, width },
        limit_percentile: 95,
        limit_rtt: Duration::from_millis(500),
        n_padding_bytes: 0,
        waits: Waits {
            quiet: Duration::from_secs(1),
            drain: Duration::from_secs(60),
            answer: Duration::from_secs(60),
        },
    }
}

/// Ten broadcasts in each step, one every 10 ms, to six more clients on two workers.
pub(super) fn scheduled(server: &Server, n_steps: usize) -> Exchange {
    let rate = "100/s".parse().unwrap();
    Exchange {
        model: Model::Open(Schedule::new(rate, Duration::from_millis(100)).unwrap()),
        ..broadcast(server, n_steps, 1)
    }
}

/// The options with this silence at the end of a step.
pub(super) fn quiet(ms: u64, options: Exchange) -> Exchange {
    Exchange {
        waits: Waits {
            quiet: Duration::from_millis(ms),
            ..options.waits
        },
        ..options
    }
}

/// So many echoes in each step, seven of them in flight.
pub(super) fn echo(server: &Server, n_clients: usize, n_steps: usize, n_samples: usize) -> Exchange {
    Exchange {
        steps: steps(n_clients, n_steps, 100),
        command: Command::Echo,
        model: Model::Closed { n_samples, width: 7 },
        ..broadcast(server, n_steps, 7)
    }
}

/// So many clients in each step, as many of them at a time.
pub(super) fn connect(server: &Server, n_clients: usize, n_steps: usize) -> Connect {
    Connect {
        common: common(server),
        steps: steps(n_clients, n_steps, 50),
    }
}
