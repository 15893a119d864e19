//! An agent's duty in one run: what it tells, and what it is told to do.

use std::{fmt::Display, sync::Arc};

use serde::Serialize;
use serde_json::value::to_raw_value;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};

use crate::{
    clock::Timepiece,
    message::{Steering, Told},
    post::Letter,
};

/// What an agent was told so far. Each field changes once, but for the steering and the notes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    pub(crate) sets_up: bool,
    /// What the function before the run returned.
    pub(crate) data: Option<Arc<str>>,
    /// The common start of the run.
    pub(crate) start: Option<Instant>,
    pub(crate) steering: Option<Steering>,
    /// The latest notes of other agents' users.
    pub(crate) notes: Option<Arc<[String]>>,
    pub(crate) is_stopped: bool,
    /// Whether this agent runs the function after the run, once all have stopped.
    pub(crate) finish: Option<bool>,
    pub(crate) is_released: bool,
}

/// One agent's duty in one run. All clones are of the same.
#[derive(Clone, Debug)]
pub struct Duty {
    pub(crate) told: mpsc::Sender<Letter>,
    pub(crate) orders: watch::Receiver<Orders>,
    pub(crate) timepiece: Timepiece,
    /// Whether outputs of the coordinator take single samples.
    pub(crate) gives_samples: bool,
}

impl Duty {
    /// Tells the coordinator. Returns false when the coordinator has given up the run.
    pub async fn tell(&self, told: Told) -> bool {
        self.told.send(Letter { told, taken: None }).await.is_ok()
    }

    /// Tells the coordinator, and returns when it knows. False when the coordinator has given up the run.
    pub async fn deliver(&self, told: Told) -> bool {
        let (taken, is_taken) = oneshot::channel();
        let letter = Letter {
            told,
            taken: Some(taken),
        };
        self.told.send(letter).await.is_ok() && is_taken.await.is_ok()
    }

    /// The clock of this agent, as its coordinator knows it.
    pub fn timepiece(&self) -> Timepiece {
        self.timepiece
    }

    /// Tells the coordinator that this agent cannot take part.
    pub async fn refuse(&self, reason: impl Display, is_of_script: bool) {
        let reason = reason.to_string();
        self.tell(Told::Failed { reason, is_of_script }).await;
    }

    /// Tells a part without waiting. Returns false when there is no room: the coordinator has taken nothing for minutes.
    pub(crate) fn tell_part(&self, part: &impl Serialize) -> bool {
        let Ok(part) = to_raw_value(part) else {
            return false;
        };
        let letter = Letter {
            told: Told::Part(part),
            taken: None,
        };
        self.told.try_send(letter).is_ok()
    }

    /// Waits until the orders say something, or until they say that there is nothing to wait for.
    pub(crate) async fn until<T>(&self, said: impl Fn(&Orders) -> Option<T>) -> Option<T> {
        let mut orders = self.orders.clone();
        loop {
            {
                let now = orders.borrow_and_update();
                if let Some(found) = said(&now) {
                    return Some(found);
                }
                if now.is_released {
                    return None;
                }
            }
            if orders.changed().await.is_err() {
                return None;
            }
        }
    }

    /// Returns when this agent has to end its part.
    pub async fn stopped(&self) {
        self.until(|orders| orders.is_stopped.then_some(())).await;
    }
}
