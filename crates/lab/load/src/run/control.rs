//! Pausing, resuming and scaling a run from outside (k6's `pause`, `resume` and `scale`).

use std::sync::Arc;

use tokio::{sync::watch, time::Instant};

use crate::{
    executor::{Executor, MAX_VUS},
    plan::Plan,
};

/// Orders to an externally controlled scenario. All clones control the same run.
#[derive(Clone, Debug)]
pub struct Control {
    state: Arc<watch::Sender<State>>,
    start: Arc<watch::Sender<Option<Instant>>>,
    is_controlled: bool,
}

/// The controller's orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether no iteration begins. Running ones end normally.
    pub is_paused: bool,
    /// The number of virtual users that run iterations. When it is lowered, iterations of the removed users are
    /// interrupted.
    pub vus: u32,
    /// Virtual users that may run. Users beyond a smaller number stay idle until it grows again.
    pub max_vus: u32,
}

/// Why an order is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// The plan has no scenario that can be scaled, or paused once it runs.
    #[error("this run has no `externally-controlled` scenario, so it can be neither paused nor scaled")]
    NotControlled,
    /// The numbers contradict each other.
    #[error(
        "{vus} of {max_vus} virtual users are not possible; expected vus up to max, and max from 1 to {MAX_VUS}"
    )]
    OutOfRange {
        /// Users that would run.
        vus: u32,
        /// Users that would exist.
        max_vus: u32,
    },
}

impl Control {
    /// The control of a run of this plan, with the initial state of its externally controlled scenario. If there are
    /// several, all get the same orders, and the first one's initial state.
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
            start: Arc::default(),
            is_controlled: controlled.is_some(),
        }
    }

    /// The current orders.
    pub fn state(&self) -> State {
        *self.state.borrow()
    }

    /// Whether [`Self::pause`] is possible during the run.
    pub fn can_pause(&self) -> bool {
        self.is_controlled
    }

    /// Begins no more iterations until [`Self::resume`].
    ///
    /// # Errors
    /// The plan cannot be paused.
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

    /// Sets the number of running and of existing virtual users. `None` leaves it unchanged.
    ///
    /// # Errors
    /// The plan cannot be scaled, or the numbers contradict each other.
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

    /// The load begins at this time. The first call counts.
    pub fn begin(&self, at: Instant) {
        self.start.send_if_modified(|start| {
            let is_first = start.is_none();
            start.get_or_insert(at);
            is_first
        });
    }

    /// Returns the time at which the load began, as soon as it has.
    pub async fn began(&self) -> Instant {
        let mut start = self.start.subscribe();
        // This has the sender.
        let began = start.wait_for(Option::is_some).await;
        began.ok().and_then(|start| *start).unwrap_or_else(Instant::now)
    }

    /// Returns when iterations may begin: at once, unless the run is paused.
    pub async fn resumed(&self) {
        // This has the sender.
        drop(self.subscribe().wait_for(|state| !state.is_paused).await);
    }

    /// Returns the orders as soon as they differ from `known`.
    pub async fn changed_from(&self, known: State) -> State {
        // This has the sender.
        let mut orders = self.subscribe();
        let changed = orders.wait_for(|state| *state != known).await;
        changed.map_or(known, |state| *state)
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
