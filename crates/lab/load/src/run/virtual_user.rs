//! One virtual user on its way through its leases.

use std::{future::poll_fn, pin::pin, rc::Rc, task::Poll, time::Duration};

use tokio::{
    sync::watch,
    task::coop,
    time::{Instant, sleep_until},
};

use super::{
    account::Timing,
    control::State,
    roster::Lease,
    scene::{Scene, Work},
    shift::Shift,
    slots::{Slots, TIMER_TOLERANCE},
};
use crate::vu::{Cancellation, IterationContext, Vu, VuId};

/// A virtual user and its state so far.
pub(super) struct VirtualUser {
    pub(super) id: VuId,
    pub(super) vu: Box<dyn Vu>,
    pub(super) shift: Rc<Shift>,
    iteration: u64,
    /// By position of the scenario.
    iterations_in: Vec<u64>,
    cancellation: Cancellation,
}

/// A lease with its times on the clock.
struct Part<'a> {
    lease: Lease,
    scene: &'a Scene,
    /// When the scenario starts.
    zero: Instant,
    stop: Instant,
    interrupt: Instant,
}

/// The scheduled start of an iteration.
#[derive(Clone, Copy)]
enum Schedule {
    /// As soon as the previous one has ended.
    Closed,
    /// At this moment.
    Open(Instant),
}

impl VirtualUser {
    pub(super) fn new(id: VuId, vu: Box<dyn Vu>, shift: Rc<Shift>) -> Self {
        Self {
            id,
            vu,
            iteration: 0,
            iterations_in: vec![0; shift.scenes.len()],
            cancellation: Cancellation::default(),
            shift,
        }
    }

    /// Iterates in each lease; ends early when the worker stops.
    pub(super) async fn drive(mut self, leases: Vec<Lease>) {
        let shift = Rc::clone(&self.shift);
        tokio::select! {
            // The user first, so that a running iteration is cancelled before it is dropped.
            biased;
            () = self.work(leases) => {}
            () = shift.stop.wait() => {}
        }
    }

    async fn work(&mut self, leases: Vec<Lease>) {
        let shift = Rc::clone(&self.shift);
        for lease in leases {
            let scene = &shift.scenes[lease.scene];
            let part = Part {
                lease,
                scene,
                zero: shift.start + scene.scenario.start_time,
                stop: shift.start + lease.window.stop,
                interrupt: shift.start + lease.window.interrupt,
            };
            sleep_until(shift.start + lease.window.start).await;
            if shift.stop.is_set() {
                return;
            }
            match &scene.work {
                Work::Endless => self.iterate_while(&part, || true).await,
                Work::Shared { left } => self.iterate_while(&part, || Scene::take_shared(left)).await,
                Work::Each { iterations } => self.iterate_each(&part, *iterations).await,
                Work::Open(slots) => self.iterate_on_time(&part, slots).await,
                Work::Controlled(control) => self.iterate_as_told(&part, control.clone()).await,
            }
        }
    }

    /// One iteration after another until the window closes or the store is empty.
    async fn iterate_while(&mut self, part: &Part<'_>, mut take: impl FnMut() -> bool) {
        let shift = Rc::clone(&self.shift);
        let _active = shift.account.activate();
        while Instant::now() < part.stop && take() {
            if !self.iterate(part, Schedule::Closed, std::future::pending()).await {
                return;
            }
        }
    }

    async fn iterate_each(&mut self, part: &Part<'_>, iterations: u64) {
        let mut n_left = iterations;
        self.iterate_while(part, || match n_left.checked_sub(1) {
            Some(left) => {
                n_left = left;
                true
            }
            None => false,
        })
        .await;
        // A run that was ended drops nothing, as in k6.
        if !self.shift.stop.is_set() && !self.shift.run.is_aborted() {
            part.scene.drop_iterations(n_left);
        }
    }

    /// Claims a slot, waits for its time, iterates, and so on.
    async fn iterate_on_time(&mut self, part: &Part<'_>, slots: &Slots) {
        let shift = Rc::clone(&self.shift);
        // The user was there from the start of its window, also when its timer woke it a little later.
        let mut free_at = (shift.start + part.lease.window.start).saturating_duration_since(part.zero);
        loop {
            let claim = slots.claim(free_at);
            part.scene.drop_iterations(claim.n_dropped);
            let Some(start) = claim.start else { return };
            let intended = part.zero + start;
            shift.clock.until(intended).await;
            let lateness = intended.elapsed();
            if Instant::now() >= part.interrupt {
                return part.scene.drop_iterations(1);
            }
            // Who waits for an arrival is not active, as in k6.
            let _active = shift.account.activate();
            if !self
                .iterate(part, Schedule::Open(intended), std::future::pending())
                .await
            {
                return;
            }
            free_at = part.zero.elapsed().saturating_sub(lateness.min(TIMER_TOLERANCE));
        }
    }

    /// Iterates while the controller allows it.
    async fn iterate_as_told(&mut self, part: &Part<'_>, mut control: watch::Receiver<State>) {
        let shift = Rc::clone(&self.shift);
        let position = part.lease.position;
        while !shift.stop.is_set() {
            tokio::select! {
                biased;
                () = sleep_until(part.stop) => return,
                wanted = control.wait_for(|state| state.wants(position)) => if wanted.is_err() { return },
            }
            let _active = shift.account.activate();
            let is_wanted = |control: &watch::Receiver<State>| control.borrow().wants(position);
            while Instant::now() < part.stop && is_wanted(&control) {
                let mut state = control.clone();
                // A pause lets the iteration end normally; a lower number of users does not.
                let revoked = async move { drop(state.wait_for(|state| position >= state.vus).await) };
                if !self.iterate(part, Schedule::Closed, revoked).await {
                    break;
                }
            }
        }
    }

    /// Runs one iteration. Returns false if it was interrupted by the end of its window, by `revoked`, or by the end of
    /// the run, or if it ended the run itself.
    async fn iterate(
        &mut self,
        part: &Part<'_>,
        schedule: Schedule,
        revoked: impl Future<Output = ()>,
    ) -> bool {
        let shift = Rc::clone(&self.shift);
        let begin = Instant::now();
        let mut context = self.context(part, schedule, begin);
        let open = shift.account.begin_iteration();
        let under_way = part.scene.under_way();
        let outcome = {
            let mut iteration = self.vu.iterate(&mut context);
            let (mut revoked, mut interrupt) = (pin!(revoked), pin!(sleep_until(part.interrupt)));
            let cancellation = &self.cancellation;
            poll_fn(|cx| {
                if let Poll::Ready(result) = iteration.as_mut().poll(cx) {
                    return Poll::Ready(Some(result));
                }
                let has_to_end = shift.stop.is_set()
                    || interrupt.as_mut().poll(cx).is_ready()
                    || revoked.as_mut().poll(cx).is_ready();
                if !has_to_end {
                    return Poll::Pending;
                }
                cancellation.set(true);
                // The last poll, so that the iteration can end in its own way. Its result is ignored.
                let _ended: Poll<_> = iteration.as_mut().poll(cx);
                Poll::Ready(None)
            })
            .await
        };
        let Some(result) = outcome else { return false };
        let timing = Timing {
            duration: begin.elapsed(),
            lateness: match schedule {
                Schedule::Closed => None,
                Schedule::Open(intended) => Some(begin.saturating_duration_since(intended)),
            },
        };
        open.complete(timing, result, &context.metrics);
        under_way.complete();
        if shift.run.is_aborted() {
            return false;
        }
        self.pause_after(begin, part.interrupt).await;
        // Iterations that never wait (for example with a refused connection) must not hold up the worker's other users.
        coop::consume_budget().await;
        true
    }

    /// Waits out the plan's shortest iteration.
    async fn pause_after(&self, begin: Instant, interrupt: Instant) {
        let shortest = self.shift.min_iteration_duration;
        if shortest > Duration::ZERO {
            sleep_until((begin + shortest).min(interrupt)).await;
        }
    }

    fn context(&mut self, part: &Part<'_>, schedule: Schedule, begin: Instant) -> IterationContext {
        let scene = part.lease.scene;
        let in_scenario = &mut self.iterations_in[scene];
        self.cancellation.set(false);
        let scenario_iteration = part.scene.begin_iteration();
        let stripe = part.scene.scenario.stripe.as_ref();
        let context = IterationContext {
            vu: self.id,
            iteration: self.iteration,
            iteration_in_scenario: *in_scenario,
            scenario_iteration,
            scenario_iteration_in_test: stripe
                .map_or(scenario_iteration, |stripe| stripe.index(scenario_iteration)),
            scenario: part.scene.scenario.clone(),
            intended_start: match schedule {
                Schedule::Closed => begin,
                Schedule::Open(intended) => intended,
            },
            start: begin,
            cancellation: self.cancellation.clone(),
            metrics: self.shift.recorder(scene, self.id, self.iteration),
            run: self.shift.run.clone(),
        };
        self.iteration += 1;
        *in_scenario += 1;
        context
    }
}
