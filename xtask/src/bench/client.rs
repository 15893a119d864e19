//! Load client CPU per received delivery, next to a bare epoll and `recv` loop with frames of the same size.
//!
//! The client's sends, its clocks and its accounting are in its figure; the limit only reads.

use serde_json::Value;

use super::{
    Error, Outcome, Plan,
    broadcast::{self, Broadcast},
    budget,
    limit::{self, exchange},
    sheet::Sheet,
};

/// Enough for five seconds of sampling when server and load client share two cores.
const N_DELIVERIES: usize = 2_000_000;

const LIMIT: &str = "recv µs";
const CLIENT: &str = "load client µs";
const RATIO: &str = "× limit";

/// Measures at every connection count.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let frame_bytes = broadcast::frame_bytes(plan)?;
    let mut outcome = Outcome::default();
    for n_connections in plan.connections(&exchange::CONNECTIONS, limit::MAX_CONNECTIONS)? {
        let title = format!(
            "client: load client CPU per delivery, {n_connections} connections, {frame_bytes}-byte frames"
        );
        let mut sheet = Sheet::new(title, &[LIMIT, CLIENT, RATIO]);
        let reports = (0..plan.rounds)
            .map(|_| round(plan, n_connections, frame_bytes, &mut sheet))
            .collect::<Result<Vec<_>, _>>()?;
        let verdict = budget::CLIENT.judge(format!("{n_connections} connections"), sheet.median(RATIO));
        outcome.add(&sheet, &[verdict], &reports);
    }
    Ok(outcome)
}

/// The limit, then the load client.
fn round(plan: &Plan, n_clients: usize, frame_bytes: usize, sheet: &mut Sheet) -> Result<Value, Error> {
    let limit = exchange::measure(n_clients, frame_bytes)
        .map_err(Error::Limit)?
        .recv
        .us_per_operation();
    let report = Broadcast {
        n_clients,
        n_in_flight: 1,
        n_deliveries: N_DELIVERIES,
    }
    .run(plan)?;
    let client = broadcast::generator_us(&report)?;
    sheet.push(vec![limit, client, client / limit]);
    Ok(report.into_json())
}
