//! What is seen of a target at one look, for others than the one who looks.

use std::{borrow::Cow, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    account::Ended,
    figure::{Figure, Figures},
};

/// What a program saw when it looked at one of its targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// The number of the target among those of the program, from 0.
    pub target: usize,
    /// What it read; `None` if there was nothing to read.
    pub look: Option<Look>,
    /// Whether the target is gone.
    pub ended: Option<Ended>,
    /// CPU time that watching it has taken so far.
    pub cpu: Duration,
    /// Looks so far at which a page of metrics did not come.
    pub n_missed: u64,
    /// Series of a page beyond the limit.
    pub n_left_out: usize,
}

/// One reading of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The second that it ends, since the start of the load; `None` for the state before the load.
    pub second: Option<u64>,
    /// When it was taken, in seconds since the start of the load; negative before it.
    pub at: f64,
    /// By name; no name occurs twice.
    pub figures: Vec<(Cow<'static, str>, Figure)>,
}

/// Is told each look at a target, on the thread that watches it. It must not block.
pub type Report = Arc<dyn Fn(Sighting) + Send + Sync>;

impl Look {
    pub(super) fn new(second: Option<u64>, at: f64, figures: &Figures) -> Self {
        Self {
            second,
            at,
            figures: figures.to_vec(),
        }
    }
}
