//! Pausing, resuming and scaling a run from outside (k6's `pause`, `resume` and `scale`).

use std::sync::Arc;

use tokio::sync::watch;

use crate::{
    executor::{Executor, MAX_VUS},
    plan::Plan,
};

/// What an externally controlled scenario is told. Clones control the same run.
#[derive(Clone, Debug)]
pub struct Control {
    state: Arc<watch::Sender<State>>,
    is_controlled: bool,
}

/// What the controller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether no iteration begins. Running ones end by themselves.
    pub is_paused: bool,
    /// Virtual users that run iterations. What a smaller number takes away is interrupted.
    pub vus: u32,
    /// Virtual users that may run. Users beyond a smaller number stay idle until it grows again.
    pub max_vus: u32,
}

/// Why the controller's wish cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// The plan has no scenario that can be scaled, or paused once it runs.
    #[error("no scenario of this run is `externally-controlled`, so it can neither be paused nor scaled")]
    NotControlled,
    /// The numbers contradict each other.
    #[error(
        "{vus} of {max_vus} virtual users cannot be; expected vus up to max, and max from 1 to {MAX_VUS}"
    )]
    OutOfRange {
        /// Users that would run.
        vus: u32,
        /// Users that would exist.
        max_vus: u32,
    },
}

impl Control {
    /// The control of a run of this plan, with what its externally controlled scenario says at first. When there are
    /// several, all are told the same, from what the first one says.
    pub fn of(plan: &Plan) -> Self {
        let controlled = plan
            .scenarios
            .iter()
            .find_map(|scenario| match scenario.executor {
                Executor::ExternallyControlled { vus, max_vus, .. } => Some((vus, max_vus)),
                _ => None,
            });
        let (vus, max_vus) = controlled.unwrap_or_default();
        let state = State {
            is_paused: plan.paused,
            vus,
            max_vus,
        };
        Self {
            state: Arc::new(watch::Sender::new(state)),
            is_controlled: controlled.is_some(),
        }
    }

    /// What is wanted now.
    pub fn state(&self) -> State {
        *self.state.borrow()
    }

    /// Whether [`Self::pause`] is possible while the run goes on.
    pub fn can_pause(&self) -> bool {
        self.is_controlled
    }

    /// No iteration begins until [`Self::resume`].
    ///
    /// # Errors
    /// When the plan cannot be paused.
    pub fn pause(&self) -> Result<(), ControlError> {
        if !self.is_controlled {
            return Err(ControlError::NotControlled);
        }
        self.state.send_modify(|state| state.is_paused = true);
        Ok(())
    }

    /// Iterations begin again; starts a run that waits for it.
    pub fn resume(&self) {
        self.state.send_modify(|state| state.is_paused = false);
    }

    /// Sets how many virtual users run and exist; `None` keeps the number.
    ///
    /// # Errors
    /// When the plan cannot be scaled, or the numbers contradict each other.
    pub fn scale(&self, vus: Option<u32>, max_vus: Option<u32>) -> Result<(), ControlError> {
        if !self.is_controlled {
            return Err(ControlError::NotControlled);
        }
        let now = self.state();
        let (vus, max_vus) = (vus.unwrap_or(now.vus), max_vus.unwrap_or(now.max_vus));
        if vus > max_vus || !(1..=MAX_VUS).contains(&max_vus) {
            return Err(ControlError::OutOfRange { vus, max_vus });
        }
        self.state
            .send_modify(|state| (state.vus, state.max_vus) = (vus, max_vus));
        Ok(())
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }
}

impl State {
    /// Whether the scenario's virtual user number `position` (from 0) begins iterations.
    pub(super) fn wants(&self, position: u32) -> bool {
        !self.is_paused && position < self.vus
    }
}
