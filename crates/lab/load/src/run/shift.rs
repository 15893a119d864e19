//! The common state of all virtual users of one worker during the run.

use std::{cell::Cell, sync::Arc, time::Duration};

use tokio::{sync::Notify, time::Instant};

use super::{RunHandle, account::Account, clock::Clock, scene::Scene};
use crate::{
    metrics::{Recorder, Tags},
    plan::Plan,
    vu::VuId,
};

/// The working time of one worker.
pub(super) struct Shift {
    /// Time zero of all leases.
    pub(super) start: Instant,
    pub(super) scenes: Arc<[Scene]>,
    pub(super) account: Account,
    pub(super) run: RunHandle,
    pub(super) min_iteration_duration: Duration,
    pub(super) stop: StopSignal,
    pub(super) clock: Clock,
    /// By position of the scenario.
    recorders: Vec<Recorder>,
    marks: Marks,
}

/// Which of the tags that change with each iteration are enabled.
#[derive(Clone, Copy)]
struct Marks {
    vu: bool,
    iter: bool,
}

impl Shift {
    pub(super) fn new(
        start: Instant,
        scenes: Arc<[Scene]>,
        account: Account,
        run: RunHandle,
        plan: &Plan,
        clock: Clock,
    ) -> Self {
        let recorder = account.recorder();
        let root_group = plan.system_tags.contains("group").then_some(("group", ""));
        let recorders = scenes
            .iter()
            .map(|scene| scene_recorder(&recorder, plan, scene).with_tags(root_group));
        Self {
            start,
            marks: Marks {
                vu: plan.system_tags.contains("vu"),
                iter: plan.system_tags.contains("iter"),
            },
            recorders: recorders.collect(),
            scenes,
            account,
            run,
            min_iteration_duration: plan.min_iteration_duration,
            stop: StopSignal::default(),
            clock,
        }
    }

    /// A handle with the tags of this scenario, for the `iteration`-th iteration of a virtual user.
    pub(super) fn recorder(&self, scene: usize, vu: VuId, iteration: u64) -> Recorder {
        let recorder = &self.recorders[scene];
        let Marks {
            vu: with_vu,
            iter: with_iter,
        } = self.marks;
        if !(with_vu || with_iter) || !recorder.reads_tags() {
            return recorder.clone();
        }
        let [vu, iteration] = [vu.to_string(), iteration.to_string()];
        let vu = with_vu.then_some(("vu", vu.as_str()));
        let iteration = with_iter.then_some(("iter", iteration.as_str()));
        recorder.with_tags(vu.into_iter().chain(iteration))
    }
}

/// Tags of the run, then those of the scenario, then its name.
pub(super) fn scene_recorder(recorder: &Recorder, plan: &Plan, scene: &Scene) -> Recorder {
    let scenario = &scene.scenario;
    let named = plan.system_tags.contains("scenario");
    let name = named.then_some(("scenario", scenario.name.as_str()));
    recorder
        .with_tags(pairs(&plan.tags))
        .with_tags(pairs(&scenario.tags))
        .with_tags(name)
}

pub(super) fn pairs(tags: &Tags) -> impl Iterator<Item = (&str, &str)> {
    tags.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

/// Tells all virtual users of a worker that the run is over.
#[derive(Default)]
pub(super) struct StopSignal {
    is_set: Cell<bool>,
    waiting: Notify,
}

impl StopSignal {
    pub(super) fn set(&self) {
        self.is_set.set(true);
        self.waiting.notify_waiters();
    }

    pub(super) fn is_set(&self) -> bool {
        self.is_set.get()
    }

    /// Returns when the signal is set.
    pub(super) async fn wait(&self) {
        let notified = self.waiting.notified();
        if !self.is_set() {
            notified.await;
        }
    }
}
