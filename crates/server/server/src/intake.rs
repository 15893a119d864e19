//! The gate for broadcasts of backends. It closes once, when the server stops, for all shards at the same moment. A
//! broadcast that is inside by then is delivered; the backend of a later one is told to use another server.

use std::sync::Arc;

use tokio::sync::watch;

/// The gate of one server. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Intake(Arc<watch::Sender<State>>);

#[derive(Debug, Default)]
struct State {
    is_closed: bool,
    /// The number of broadcasts that are being handed to the shards.
    n_inside: usize,
}

/// One broadcast that is being handed to the shards, until it is dropped.
#[derive(Debug)]
pub(crate) struct Pass<'a>(&'a Intake);

impl Intake {
    /// Lets a broadcast in; `None` once the gate is closed.
    pub(crate) fn enter(&self) -> Option<Pass<'_>> {
        let mut is_open = false;
        // Only closing is waited for, so an entering broadcast wakes no task.
        self.0.send_if_modified(|state| {
            is_open = !state.is_closed;
            state.n_inside += usize::from(is_open);
            false
        });
        is_open.then(|| Pass(self))
    }

    /// Lets no more broadcasts in, and waits until those inside are through.
    pub(crate) async fn close(&self) {
        self.0.send_modify(|state| state.is_closed = true);
        self.reached(|state| state.n_inside == 0).await;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.borrow().is_closed
    }

    /// Completes when the gate is closed.
    pub(crate) async fn closed(&self) {
        self.reached(|state| state.is_closed).await;
    }

    async fn reached(&self, condition: impl FnMut(&State) -> bool) {
        let mut states = self.0.subscribe();
        let waited = states.wait_for(condition).await;
        waited.expect("the sender is a part of this value");
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.0.send_if_modified(|state| {
            state.n_inside -= 1;
            state.is_closed && state.n_inside == 0
        });
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use super::*;

    #[test]
    fn the_gate_is_closed_when_those_inside_are_through() {
        let gate = Intake::default();
        let other = gate.clone();
        let mut context = Context::from_waker(Waker::noop());
        let (first, second) = (gate.enter().expect("it is open"), other.enter());
        let (mut closing, mut told) = (pin!(gate.close()), pin!(other.closed()));
        assert!(told.as_mut().poll(&mut context).is_pending());
        assert!(closing.as_mut().poll(&mut context).is_pending());
        assert!(told.as_mut().poll(&mut context).is_ready());
        assert!(other.is_closed() && other.enter().is_none());
        drop(first);
        assert!(closing.as_mut().poll(&mut context).is_pending());
        drop(second);
        assert!(closing.as_mut().poll(&mut context).is_ready());
    }
}
