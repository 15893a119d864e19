//! Attends scenarios whose number of virtual users changes: gives up the slots without a free user, and orders more
//! users if the plan or the controller allows it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, sleep_until},
};

use super::{
    control::State,
    roster::Lease,
    scene::{Scene, Work},
    slots::{Slots, TIMER_TOLERANCE},
    worker::Order,
};
use crate::{executor::Window, vu::VuId};

/// Attends one scenario.
pub(super) struct Steward {
    /// Position of the scenario.
    pub(super) scene: usize,
    pub(super) scenes: Arc<[Scene]>,
    /// Time zero of the run.
    pub(super) start: Instant,
    /// By worker.
    pub(super) orders: Vec<mpsc::Sender<Order>>,
    /// Index of the next virtual user that is created during the run.
    pub(super) next_index: Arc<AtomicU32>,
    /// The queue for notices to people.
    pub(super) notices: mpsc::Sender<String>,
}

impl Steward {
    /// Returns when no more changes are possible.
    pub(super) async fn attend(self) {
        match &self.scene().work {
            Work::Open(slots) => self.watch_slots(slots).await,
            Work::Controlled(control) => self.follow(control.clone()).await,
            Work::Endless | Work::Shared { .. } | Work::Each { .. } => {}
        }
    }

    async fn watch_slots(&self, slots: &Slots) {
        let scene = self.scene();
        let zero = self.start + scene.scenario.start_time;
        let (mut n_dropped_before, mut has_warned) = (0, false);
        while let Some(next) = slots.next_start() {
            sleep_until(zero + next + TIMER_TOLERANCE).await;
            if slots.are_kept() {
                if zero.elapsed() >= scene.scenario.executor.whole().interrupt {
                    return scene.drop_iterations(slots.give_up_all());
                }
                self.relieve(slots, zero.elapsed()).await;
                continue;
            }
            let n_given_up = slots.give_up_to(zero.elapsed().saturating_sub(TIMER_TOLERANCE));
            scene.drop_iterations(n_given_up);
            let n_dropped = scene.n_dropped();
            if n_dropped == n_dropped_before {
                continue;
            }
            n_dropped_before = n_dropped;
            if scene.n_vus() < scene.scenario.executor.max_vus() {
                if scene.begin_growth() {
                    self.order(scene.n_vus()).await;
                }
            } else if !has_warned {
                has_warned = true;
                self.warn();
            }
        }
    }

    /// Orders a user for a slot that still waits at `elapsed`, when there may be more users; then gives them all a
    /// moment.
    async fn relieve(&self, slots: &Slots, elapsed: Duration) {
        let scene = self.scene();
        let is_overdue = slots
            .next_start()
            .is_some_and(|next| next + TIMER_TOLERANCE <= elapsed);
        if is_overdue && scene.n_vus() < scene.scenario.executor.max_vus() && scene.begin_growth() {
            self.order(scene.n_vus()).await;
        }
        sleep(TIMER_TOLERANCE).await;
    }

    /// k6's words, which people search for.
    fn warn(&self) {
        let scene = self.scene();
        let (name, n_vus) = (&scene.scenario.name, scene.n_vus());
        let text = format!(
            "scenario `{name}`: insufficient VUs, reached {n_vus} active VUs and cannot initialize more; iterations \
             are dropped. Raise maxVUs, or find out why iterations take so long"
        );
        // A full queue has many notices already.
        drop(self.notices.try_send(text));
    }

    async fn follow(&self, mut control: watch::Receiver<State>) {
        let scene = self.scene();
        let Window { stop, .. } = scene.scenario.executor.whole();
        let end = self.start + scene.scenario.start_time + stop;
        let mut n_ordered = scene.n_vus();
        loop {
            tokio::select! {
                () = sleep_until(end) => return,
                changed = control.wait_for(|state| state.max_vus > n_ordered) => if changed.is_err() { return },
            }
            let max_vus = control.borrow().max_vus;
            for position in n_ordered..max_vus {
                self.order(position).await;
            }
            n_ordered = max_vus;
        }
    }

    /// Orders the scenario's user number `position`.
    async fn order(&self, position: u32) {
        let index = self.next_index.fetch_add(1, Relaxed);
        let scene = self.scene();
        let shift = |time: Duration| time.saturating_add(scene.scenario.start_time);
        let whole = scene.scenario.executor.whole();
        let order = Order {
            vu: VuId::from_index(index),
            lease: Lease {
                scene: self.scene,
                position,
                window: Window {
                    start: self.start.elapsed().max(shift(whole.start)),
                    stop: shift(whole.stop),
                    interrupt: shift(whole.interrupt),
                },
            },
        };
        let worker = &self.orders[index as usize % self.orders.len()];
        // A worker that has ended needs no more users.
        let _has_ended = worker.send(order).await.is_err();
    }

    fn scene(&self) -> &Scene {
        &self.scenes[self.scene]
    }
}
