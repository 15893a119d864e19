//! One `plimsoll bench broadcast` against a fresh server, and what it cost either of them per delivery.

use std::path::Path;

use super::{
    Error, Plan,
    generator::{self, Report},
    server::Server,
    swarm::Member,
};

/// The padding with which a broadcast frame has about the 350 bytes that the budgets were set with; [`frame_bytes`] asks
/// the server for the exact size.
const PAYLOAD_PADDING: &str = "184";

/// How much to broadcast, to how many.
pub(super) struct Broadcast {
    pub(super) n_clients: usize,
    pub(super) n_in_flight: usize,
    /// Rounded down to whole broadcasts, of which there is at least one per place in flight.
    pub(super) n_deliveries: usize,
}

impl Broadcast {
    /// Starts a server, runs the workload, stops the server.
    pub(super) fn run(&self, plan: &Plan) -> Result<Report, Error> {
        self.run_with(plan, &[])
    }

    /// The same with further flags of the server.
    pub(super) fn run_with(&self, plan: &Plan, flags: &[&str]) -> Result<Report, Error> {
        let flags = [&["--app", "benchmark"], flags].concat();
        self.run_against(&plan.generator, &Server::start_with(&plan.server, &flags)?)
    }

    fn run_against(&self, binary: &Path, server: &Server) -> Result<Report, Error> {
        let clients = self.n_clients.to_string();
        let n_samples = (self.n_deliveries / self.n_clients)
            .max(self.n_in_flight)
            .to_string();
        let (url, pid, in_flight) = (
            server.cable_url(),
            server.pid().to_string(),
            self.n_in_flight.to_string(),
        );
        generator::run(
            binary,
            &[
                "broadcast",
                &url,
                "--server-type",
                "actioncable",
                "--watch",
                &pid,
                "--initial-clients",
                &clients,
                "--step-size",
                &clients,
                "--total-steps",
                "1",
                "--concurrent",
                &in_flight,
                "--sample-size",
                &n_samples,
                "--payload-padding",
                PAYLOAD_PADDING,
            ],
        )
    }
}

/// Server CPU microseconds per delivery.
pub(super) fn server_us(report: &Report) -> Result<f64, Error> {
    us_per_delivery(report, "/steps/0/plimsoll/sampling/watch/cpu_seconds")
}

/// Load client CPU microseconds per delivery.
pub(super) fn generator_us(report: &Report) -> Result<f64, Error> {
    us_per_delivery(report, "/steps/0/plimsoll/sampling/generator_cpu_seconds")
}

fn us_per_delivery(report: &Report, cpu_seconds: &str) -> Result<f64, Error> {
    Ok(report.number(cpu_seconds)? * 1e6 / report.number("/steps/0/plimsoll/n_deliveries")?)
}

/// Size of one broadcast on the wire, measured by a subscriber that does not belong to the load client.
pub(super) fn frame_bytes(plan: &Plan) -> Result<usize, Error> {
    let server = Server::start(&plan.server)?;
    let mut listener = Member::subscribe(server.address()).map_err(Error::Swarm)?;
    Broadcast {
        n_clients: 1,
        n_in_flight: 1,
        n_deliveries: 1,
    }
    .run_against(&plan.generator, &server)?;
    listener.wait_for(r#""action":"broadcast""#).map_err(Error::Swarm)
}
