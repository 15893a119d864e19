//! Server CPU per delivery, next to a bare `send` loop with frames of the same size.

use serde_json::{Value, json};

use super::{
    Error, Outcome, Plan,
    broadcast::{self, Broadcast},
    budget,
    limit::{self, exchange},
    sheet::Sheet,
};

/// Enough for five seconds of sampling when server and load client share two cores.
const N_DELIVERIES: usize = 2_000_000;
/// Several messages leave in one system call, so they are cheaper, and it takes more of them.
const N_DELIVERIES_8: usize = 6_000_000;

const LIMIT: &str = "send µs";
const RING: &str = "through io_uring";
const RING_RATIO: &str = "io_uring: × limit";
const ONE: &str = "1 in flight µs";
const ONE_RATIO: &str = "1: × limit";
const EIGHT: &str = "8 in flight µs";
const EIGHT_RATIO: &str = "8: × limit";

/// Measures at every connection count.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let frame_bytes = broadcast::frame_bytes(plan)?;
    let mut outcome = Outcome::default();
    for n_connections in plan.connections(&exchange::CONNECTIONS, limit::MAX_CONNECTIONS)? {
        let title = format!(
            "fanout: server CPU per delivery, {n_connections} connections, {frame_bytes}-byte frames"
        );
        let mut sheet = Sheet::new(
            title,
            &[LIMIT, RING, RING_RATIO, ONE, ONE_RATIO, EIGHT, EIGHT_RATIO],
        );
        let reports = (0..plan.rounds)
            .map(|_| round(plan, n_connections, frame_bytes, &mut sheet))
            .collect::<Result<Vec<_>, _>>()?;
        let circumstances = format!("{n_connections} connections");
        let verdicts = [
            budget::FANOUT_1.judge(circumstances.clone(), sheet.median(ONE_RATIO)),
            budget::FANOUT_8.judge(circumstances, sheet.median(EIGHT_RATIO)),
        ];
        outcome.add(&sheet, &verdicts, &reports);
    }
    Ok(outcome)
}

/// The limit, with system calls and through `io_uring`, then one broadcast in flight, then eight.
fn round(plan: &Plan, n_clients: usize, frame_bytes: usize, sheet: &mut Sheet) -> Result<Value, Error> {
    let limit = exchange::measure(n_clients, frame_bytes)
        .map_err(Error::Limit)?
        .send
        .us_per_operation();
    let ring = exchange::measure_ring(n_clients, frame_bytes)
        .map_err(Error::Limit)?
        .map_or(f64::NAN, |cost| cost.us_per_operation());
    let one = Broadcast {
        n_clients,
        n_in_flight: 1,
        n_deliveries: N_DELIVERIES,
    }
    .run(plan)?;
    let eight = Broadcast {
        n_clients,
        n_in_flight: 8,
        n_deliveries: N_DELIVERIES_8,
    }
    .run(plan)?;
    let (one_us, eight_us) = (broadcast::server_us(&one)?, broadcast::server_us(&eight)?);
    sheet.push(vec![
        limit,
        ring,
        ring / limit,
        one_us,
        one_us / limit,
        eight_us,
        eight_us / limit,
    ]);
    Ok(json!({ "in_flight_1": one.into_json(), "in_flight_8": eight.into_json() }))
}
