//! One worker: a thread, its event loop, and the virtual users that live on it.

use std::{
    io,
    rc::Rc,
    sync::{Arc, atomic::Ordering::Relaxed},
    thread,
    time::Duration,
};

use tokio::{
    runtime::{Builder, Runtime},
    sync::{mpsc, watch},
    task::{JoinSet, LocalSet},
    time::{Instant, MissedTickBehavior, sleep_until},
};

use super::{
    RunError, RunHandle,
    account::{Account, Delta},
    clock::Clock,
    roster::Lease,
    scene::{Scene, Work},
    shift::Shift,
    virtual_user::VirtualUser,
};
use crate::{
    generator::Monitor,
    metrics::{MetricSet, Recorder, SampleSender, built_in::Execution},
    pacer::Pacer,
    plan::Plan,
    vu::{Vu, VuFactory, VuId},
};

/// Time between two deltas of a worker.
pub(super) const REPORT_EVERY: Duration = Duration::from_secs(1);

/// A command of the run loop to all workers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Command {
    /// Make the virtual users and wait.
    Prepare,
    /// Follow the schedule, whose time zero is this moment.
    Start(Instant),
    /// Interrupt all iterations and end.
    Stop,
}

/// A worker's report to the run loop. The channel closes when all workers have ended.
#[derive(Debug)]
pub(super) enum Report {
    /// All virtual users of the worker exist.
    Ready,
    /// The worker cannot take part.
    Failed(RunError),
    /// What happened since the worker's last delta.
    Delta(Box<Delta>),
}

/// An order to create another virtual user during the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    /// Its id.
    pub(super) vu: VuId,
    /// What it is for.
    pub(super) lease: Lease,
}

/// A virtual user before the start.
struct Placed {
    id: VuId,
    vu: Box<dyn Vu>,
    leases: Vec<Lease>,
}

/// A worker before it starts.
pub(super) struct Worker {
    pub(super) number: usize,
    pub(super) n_workers: usize,
    pub(super) plan: Arc<Plan>,
    /// The leases of all virtual users of the run, by index.
    pub(super) roster: Arc<[Vec<Lease>]>,
    pub(super) scenes: Arc<[Scene]>,
    pub(super) metrics: MetricSet,
    pub(super) samples: Vec<SampleSender>,
    pub(super) execution: Execution,
    pub(super) run: RunHandle,
    pub(super) monitor: Monitor,
}

/// The channels of a worker.
pub(super) struct Wires {
    pub(super) commands: watch::Receiver<Command>,
    pub(super) orders: mpsc::Receiver<Order>,
    pub(super) reports: mpsc::Sender<Report>,
}

impl Worker {
    /// Runs on a thread of its own until the schedule or the commands end.
    pub(super) fn spawn(
        self,
        factory: Arc<dyn VuFactory>,
        wires: Wires,
    ) -> io::Result<thread::JoinHandle<()>> {
        let name = format!("load-worker-{}", self.number);
        thread::Builder::new()
            .name(name)
            .spawn(move || match event_loop() {
                Ok((runtime, clock)) => LocalSet::new().block_on(&runtime, self.run(&*factory, wires, clock)),
                Err(error) => drop(wires.reports.blocking_send(Report::Failed(error.into()))),
            })
    }

    /// The whole life of a worker. Must be called within a [`LocalSet`].
    ///
    /// A report that cannot be delivered means that the run loop has given up; the commands end then, too.
    pub(super) async fn run(self, factory: &dyn VuFactory, mut wires: Wires, clock: Clock) {
        let vus = match self.make_vus(factory, &wires.commands) {
            Ok(vus) => vus,
            Err(error) => return drop(wires.reports.send(Report::Failed(error)).await),
        };
        let monitor = self.monitor;
        let health = tokio::task::spawn_local(async move { monitor.watch_worker().await });
        drop(wires.reports.send(Report::Ready).await);
        let recorder = Recorder::with_queues(self.metrics, self.samples);
        let account = Account::new(recorder, self.execution, self.run.clone());
        let reports = wires.reports.clone();
        let delta = match wait_for_start(&mut wires.commands).await {
            Some(start) => {
                account.recorder().start(start);
                let run = self.run.clone();
                let begin = tokio::task::spawn_local(async move {
                    sleep_until(start).await;
                    run.begin();
                });
                let shift = Rc::new(Shift::new(
                    start,
                    self.scenes,
                    account,
                    self.run,
                    &self.plan,
                    clock,
                ));
                let ticking = Rc::clone(&shift);
                let ticking = tokio::task::spawn_local(async move { ticking.clock.run().await });
                let mut tasks = JoinSet::new();
                for Placed { id, vu, leases } in vus {
                    tasks.spawn_local(VirtualUser::new(id, vu, Rc::clone(&shift)).drive(leases));
                }
                attend(tasks, &shift, factory, wires).await;
                ticking.abort();
                begin.abort();
                shift.account.take()
            }
            None => account.take(),
        };
        health.abort();
        drop(reports.send(Report::Delta(Box::new(delta))).await);
    }

    /// Every `n_workers`-th user by index, so that all workers ramp up and down alike; fewer when the run is to stop.
    fn make_vus(
        &self,
        factory: &dyn VuFactory,
        commands: &watch::Receiver<Command>,
    ) -> Result<Vec<Placed>, RunError> {
        let own = self
            .roster
            .iter()
            .enumerate()
            .skip(self.number)
            .step_by(self.n_workers);
        let wanted = own.take_while(|_| !matches!(*commands.borrow(), Command::Stop));
        wanted
            .map(|(index, leases)| {
                // The length of a roster is a number of virtual users, which is a u32.
                let id = VuId::from_index(u32::try_from(index).unwrap_or(u32::MAX));
                let mut vu = factory
                    .create(id)
                    .map_err(|reason| RunError::Vu { vu: id, reason })?;
                if !leases.first().is_some_and(|lease| self.begins_at_once(lease)) {
                    vu.rest();
                }
                self.run.counts().n_vus.fetch_add(1, Relaxed);
                Ok(Placed {
                    id,
                    vu,
                    leases: leases.clone(),
                })
            })
            .collect()
    }

    /// Whether a user with this lease iterates as soon as the run begins.
    fn begins_at_once(&self, lease: &Lease) -> bool {
        let work = &self.scenes[lease.scene].work;
        lease.window.start.is_zero()
            && matches!(work, Work::Endless | Work::Shared { .. } | Work::Each { .. })
    }
}

/// A worker's runtime and clock.
fn event_loop() -> io::Result<(Runtime, Clock)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let pacer = runtime.block_on(async { Pacer::new() })?;
    Ok((runtime, Clock::Kernel(pacer)))
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

/// Returns when the run has to stop, or when the run loop is gone.
async fn wait_for_stop(commands: &mut watch::Receiver<Command>) {
    drop(
        commands
            .wait_for(|command| matches!(command, Command::Stop))
            .await,
    );
}

/// Reports each second and creates ordered users, until all users have ended and no more can be ordered. Ends them when
/// the run has to stop.
async fn attend(mut tasks: JoinSet<()>, shift: &Rc<Shift>, factory: &dyn VuFactory, mut wires: Wires) {
    let mut seconds = tokio::time::interval_at(shift.start + REPORT_EVERY, REPORT_EVERY);
    seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut may_grow = true;
    while may_grow || !tasks.is_empty() {
        tokio::select! {
            Some(ended) = tasks.join_next() => if ended.is_err_and(|error| error.is_panic()) {
                shift.account.fail("the virtual user panicked (a defect of its code)");
            },
            order = wires.orders.recv(), if may_grow => match order {
                Some(order) => grow(&mut tasks, shift, factory, order),
                None => may_grow = false,
            },
            _ = seconds.tick() => {
                // When the queue is full, the delta stays here and grows until there is room again.
                if let Ok(room) = wires.reports.try_reserve() {
                    room.send(Report::Delta(Box::new(shift.account.take())));
                }
            }
            () = wait_for_stop(&mut wires.commands) => {
                shift.stop.set();
                while tasks.join_next().await.is_some() {}
                return;
            }
        }
    }
}

/// Creates one more user. If that fails, its scenario does not grow any more.
fn grow(tasks: &mut JoinSet<()>, shift: &Rc<Shift>, factory: &dyn VuFactory, order: Order) {
    match factory.create(order.vu) {
        Ok(vu) => {
            shift.run.counts().n_vus.fetch_add(1, Relaxed);
            shift.scenes[order.lease.scene].end_growth();
            tasks.spawn_local(VirtualUser::new(order.vu, vu, Rc::clone(shift)).drive(vec![order.lease]));
        }
        Err(reason) => shift
            .account
            .fail(&format!("another virtual user could not be created: {reason}")),
    }
}
