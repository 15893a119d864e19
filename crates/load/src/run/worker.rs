//! One worker: a thread, its event loop, and the virtual users that live on it.

use std::{io, rc::Rc, sync::Arc, thread, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    task::{JoinSet, LocalSet},
    time::{Instant, MissedTickBehavior},
};

use super::{
    BuiltIn, RunError,
    account::{Account, Delta},
    virtual_user,
};
use crate::{
    executor::RampingVus,
    generator::Monitor,
    metrics::MetricSet,
    vu::{Vu, VuFactory, VuId},
};

/// Time between two deltas of a worker.
pub(super) const REPORT_EVERY: Duration = Duration::from_secs(1);

/// What the run loop tells all workers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Command {
    /// Make the virtual users and wait.
    Prepare,
    /// Follow the schedule, whose time zero is this moment.
    Start(Instant),
    /// Interrupt all iterations and end.
    Stop,
}

/// What a worker tells the run loop. The channel closes when all workers have ended.
#[derive(Debug)]
pub(super) enum Report {
    /// All virtual users of the worker are made.
    Ready,
    /// The worker cannot take part.
    Failed(RunError),
    /// What happened since the worker's last delta.
    Delta(Delta),
}

/// A virtual user and its index in the whole run, from 0.
struct Placed {
    index: u32,
    vu: Box<dyn Vu>,
}

/// A worker before it starts.
pub(super) struct Worker {
    pub(super) number: usize,
    pub(super) n_workers: usize,
    pub(super) plan: RampingVus,
    pub(super) metrics: MetricSet,
    pub(super) built_in: BuiltIn,
    pub(super) monitor: Monitor,
}

impl Worker {
    /// Runs on a thread of its own until the schedule or the commands end.
    pub(super) fn spawn(
        self,
        factory: Arc<dyn VuFactory>,
        commands: watch::Receiver<Command>,
        reports: mpsc::Sender<Report>,
    ) -> io::Result<thread::JoinHandle<()>> {
        let name = format!("load-worker-{}", self.number);
        thread::Builder::new().name(name).spawn(move || {
            match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => LocalSet::new().block_on(&runtime, self.run(&*factory, commands, &reports)),
                Err(error) => drop(reports.blocking_send(Report::Failed(error.into()))),
            }
        })
    }

    /// The whole life of a worker; must be called within a [`LocalSet`].
    ///
    /// A report that cannot be delivered means that the run loop has given up; the commands end then, too.
    pub(super) async fn run(
        self,
        factory: &dyn VuFactory,
        mut commands: watch::Receiver<Command>,
        reports: &mpsc::Sender<Report>,
    ) {
        let vus = match self.make_vus(factory) {
            Ok(vus) => vus,
            Err(error) => return drop(reports.send(Report::Failed(error)).await),
        };
        let account = Rc::new(Account::new(self.number, self.metrics, self.built_in));
        let health = tokio::task::spawn_local(async move { self.monitor.watch_worker().await });
        drop(reports.send(Report::Ready).await);
        if let Some(start) = wait_for_start(&mut commands).await {
            let mut tasks = JoinSet::new();
            for Placed { index, vu } in vus {
                let windows = self.plan.windows(index);
                tasks.spawn_local(virtual_user::drive(
                    vu,
                    index,
                    windows,
                    start,
                    Rc::clone(&account),
                ));
            }
            attend(tasks, &account, start, commands, reports).await;
        }
        health.abort();
        drop(reports.send(Report::Delta(account.take())).await);
    }

    /// Every `n_workers`-th user by index, so that all workers ramp up and down alike.
    fn make_vus(&self, factory: &dyn VuFactory) -> Result<Vec<Placed>, RunError> {
        (0..self.plan.max_vus())
            .skip(self.number)
            .step_by(self.n_workers)
            .map(|index| {
                let id = VuId::from_index(index);
                let vu = factory
                    .create(id)
                    .map_err(|reason| RunError::Vu { vu: id, reason })?;
                Ok(Placed { index, vu })
            })
            .collect()
    }
}

/// The moment to start at; `None` when the run ends before it starts.
async fn wait_for_start(commands: &mut watch::Receiver<Command>) -> Option<Instant> {
    let command = commands
        .wait_for(|command| !matches!(command, Command::Prepare))
        .await
        .ok()?;
    match *command {
        Command::Start(start) => Some(start),
        Command::Prepare | Command::Stop => None,
    }
}

/// Returns when the run is to stop, also when nobody is left to command it.
async fn wait_for_stop(commands: &mut watch::Receiver<Command>) {
    drop(
        commands
            .wait_for(|command| matches!(command, Command::Stop))
            .await,
    );
}

/// Reports each second until all virtual users have ended; ends them when the run is to stop.
async fn attend(
    mut tasks: JoinSet<()>,
    account: &Account,
    start: Instant,
    mut commands: watch::Receiver<Command>,
    reports: &mpsc::Sender<Report>,
) {
    let mut seconds = tokio::time::interval_at(start + REPORT_EVERY, REPORT_EVERY);
    seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            ended = tasks.join_next() => match ended {
                Some(Err(error)) if error.is_panic() => account.fail("the virtual user panicked (a defect of its code)"),
                Some(_) => {}
                None => return,
            },
            _ = seconds.tick() => {
                // When the queue is full, the delta stays here and grows until there is room again.
                if let Ok(room) = reports.try_reserve() {
                    room.send(Report::Delta(account.take()));
                }
            }
            () = wait_for_stop(&mut commands) => return tasks.shutdown().await,
        }
    }
}

#[cfg(test)]
mod tests;
