//! Scripts: memory of a virtual user, the start of thousands, and CPU of the load client per round trip of a script.
//!
//! The scripts are in `benchmarks/js`. The real k6 runs those that it can, in the same rounds; it has no `k6/x/cable`
//! without a build of its own (xk6), so there is nothing to compare the chat and the cable echo with.

mod chat;
mod cost;
mod memory;
mod runner;
mod start;

use super::{Error, Outcome, Plan};
use runner::Runner;

/// Measures the chat at every number of virtual users, then the memory of other users, the start of many, and the cost of each kind
/// of round trip.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let (plimsoll, k6) = (Runner::plimsoll(plan), Runner::k6(plan)?);
    let mut outcome = Outcome::default();
    chat::measure(plan, &plimsoll, &mut outcome)?;
    memory::measure(plan, &plimsoll, &mut outcome)?;
    start::measure(plan, &plimsoll, &mut outcome)?;
    cost::measure(plan, &plimsoll, &k6, &mut outcome)?;
    Ok(outcome)
}
