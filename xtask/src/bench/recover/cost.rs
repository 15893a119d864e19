//! Server CPU per delivery with a memory broker, next to the same server without one. They take turns, and each round
//! begins with the other.

use serde_json::{Value, json};

use crate::bench::{
    Error, Outcome, Plan,
    broadcast::{self, Broadcast},
    budget,
    generator::Report,
    sheet::Sheet,
};

const CONNECTIONS: [usize; 1] = [1000];

/// Half of those of `fanout`, which has no second server.
const N_DELIVERIES: usize = 1_000_000;
const N_DELIVERIES_8: usize = 3_000_000;

const WITH: [&str; 2] = ["--broker", "memory"];

const OFF_1: &str = "1: without µs";
const ON_1: &str = "1: with µs";
const RATIO_1: &str = "1: × without";
const OFF_8: &str = "8: without µs";
const ON_8: &str = "8: with µs";
const RATIO_8: &str = "8: × without";

/// The largest number of connections, as for `fanout`.
const MAX_CONNECTIONS: usize = crate::bench::limit::MAX_CONNECTIONS;

/// Measures at every connection count.
pub(super) fn measure(plan: &Plan, outcome: &mut Outcome) -> Result<(), Error> {
    for n_connections in plan.connections(&CONNECTIONS, MAX_CONNECTIONS)? {
        let title =
            format!("recover: server CPU per delivery with a memory broker, {n_connections} connections");
        let mut sheet = Sheet::new(title, &[OFF_1, ON_1, RATIO_1, OFF_8, ON_8, RATIO_8]);
        let mut reports: Vec<Value> = Vec::new();
        for round in 0..plan.rounds {
            let is_turned = round % 2 == 1;
            let one = pair(plan, n_connections, 1, N_DELIVERIES, is_turned)?;
            let eight = pair(plan, n_connections, 8, N_DELIVERIES_8, is_turned)?;
            let [off_1, on_1] = costs(&one)?;
            let [off_8, on_8] = costs(&eight)?;
            sheet.push(vec![off_1, on_1, on_1 / off_1, off_8, on_8, on_8 / off_8]);
            reports.extend(
                [one, eight].map(|[off, on]| json!({ "without": off.into_json(), "with": on.into_json() })),
            );
        }
        let circumstances = format!("{n_connections} connections");
        let verdicts = [
            budget::KEPT_1.judge(circumstances.clone(), sheet.median(RATIO_1)),
            budget::KEPT_8.judge(circumstances, sheet.median(RATIO_8)),
        ];
        outcome.add(&sheet, &verdicts, &reports);
    }
    Ok(())
}

/// The reports without and with a broker.
fn pair(
    plan: &Plan,
    n_clients: usize,
    n_in_flight: usize,
    n_deliveries: usize,
    is_turned: bool,
) -> Result<[Report; 2], Error> {
    let broadcast = Broadcast {
        n_clients,
        n_in_flight,
        n_deliveries,
    };
    if is_turned {
        let with = broadcast.run_with(plan, &WITH)?;
        return Ok([broadcast.run(plan)?, with]);
    }
    Ok([broadcast.run(plan)?, broadcast.run_with(plan, &WITH)?])
}

fn costs([off, on]: &[Report; 2]) -> Result<[f64; 2], Error> {
    Ok([broadcast::server_us(off)?, broadcast::server_us(on)?])
}
