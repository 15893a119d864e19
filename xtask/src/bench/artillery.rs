//! Artillery's files under `plimsoll run` and under the real Artillery: CPU per message, and memory per user that stays.
//!
//! The files are in `benchmarks/artillery`; both programs run the same ones against one server, in turn. wsdirector's
//! scenarios are held to the same budget of memory.

mod cost;
mod memory;
mod tool;

use super::{Error, Outcome, Plan};
use tool::Tool;

/// Measures the cost of each kind of message, then the memory.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let tools = Tools {
        plimsoll: Tool::plimsoll(plan)?,
        artillery: Tool::artillery(plan)?,
    };
    let mut outcome = Outcome::default();
    cost::measure(plan, &tools, &mut outcome)?;
    memory::measure(plan, &tools, &mut outcome)?;
    Ok(outcome)
}

/// Who is compared.
struct Tools {
    plimsoll: Tool,
    artillery: Tool,
}
