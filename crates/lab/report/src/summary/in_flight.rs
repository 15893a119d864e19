//! How much was in flight in the steps of `bench broadcast`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of broadcasts in flight in one step: sent, and not at all their listeners.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepInFlight {
    /// Clients of the step.
    pub clients: u64,
    /// The largest number at the same time.
    pub max: u64,
    /// The mean from the first send to the last arrival.
    pub mean: f64,
}
