//! An agent's side: passes the coordinator's orders to its workers, and tells what they do.

use std::{
    collections::VecDeque,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_load::{
    generator::{Evidence, Monitor},
    pacer::Pacer,
};
use serde_json::value::{RawValue, to_raw_value};
use tokio::{sync::mpsc, task::JoinSet};

use super::{
    Clock, Job, Numbering,
    floor::Floor,
    letter::{Account, Letter, Sending, ns},
    of_clients,
};
use crate::{
    ledger::SendTable,
    meter,
    run::{Preflight, servers},
    staff::Staff,
    wire::{Command, Wire},
    worker::{Event, Order, SendOrder, Setup, Way},
};

/// The most that waits to be told. When it is full, events stay with the workers.
const MAX_ACCOUNTS: usize = 10_000;

/// The most messages of a step: what the coordinator may order is bounded by its own memory, and this only keeps a wrong
/// number from ending the process.
const MAX_IDS: usize = 1 << 30;

/// The way to the coordinator.
#[derive(Debug)]
pub struct Post {
    /// Its orders.
    pub orders: mpsc::Receiver<Box<RawValue>>,
    /// What it is told. It takes the next part when the coordinator has the part before.
    pub told: mpsc::Sender<Box<RawValue>>,
    /// The clock that the coordinator knows.
    pub clock: Rc<dyn Clock>,
}

/// The workers of an agent.
#[derive(Debug)]
pub(crate) struct Deputy {
    /// `None` once they have been told to end.
    staff: Option<Staff>,
    n_workers: usize,
    numbering: Numbering,
    monitor: Monitor,
    preflight: Preflight,
    /// The number of routes to each server.
    n_routes: Vec<usize>,
    epoch: Instant,
    tables: Vec<Arc<SendTable>>,
    floor: Floor,
    /// Messages of a schedule, the next one first.
    scheduled: VecDeque<(Instant, Sending)>,
    accounts: Vec<Account>,
    /// Evidence that is being taken: the sockets of the machine are read for it, which takes seconds where there are many.
    laps: JoinSet<Evidence>,
}

impl Deputy {
    /// Makes all checks that need no connection, and starts the workers of the agent number `instance` of `n_instances`.
    ///
    /// # Errors
    /// The agent has no room for its clients, or cannot reach the servers, in words.
    pub(crate) async fn prepare(job: &Job, instance: usize, n_instances: usize) -> Result<Self, String> {
        let common = job.common()?;
        let located = servers::resolve(&common)
            .await
            .map_err(|error| error.to_string())?;
        let addresses: Vec<_> = located.iter().map(|(_, addresses)| addresses[0]).collect();
        let preflight = Preflight::new(addresses[0].ip(), &[]);
        let (n_first, _) = job.n_clients();
        let n_own = of_clients(job.n_planned().unwrap_or(n_first), instance, n_instances);
        preflight.check(n_own).map_err(|error| error.to_string())?;
        // Agents on one machine share its ports, so the ways are those of all clients together.
        let routes = servers::routes(located, &common, job.n_planned(), job.n_padding_bytes());
        let n_routes = routes.iter().map(Vec::len).collect();
        let monitor = Monitor::new();
        meter::leave_out(&monitor, &addresses, &[]);
        let wire = Wire::new(
            common.server_type,
            common.dialect,
            &common.channel,
            job.n_padding_bytes(),
            job.run(),
        );
        let setup = Arc::new(Setup {
            wire: Arc::new(wire),
            routes,
            subscribe_limit: common.connect_timeout,
            monitor: monitor.clone(),
            is_remote: true,
        });
        let numbering = Numbering {
            n_agents: n_instances,
        };
        let numbers = (0..job.n_workers()).map(|own| numbering.worker(instance, own));
        let staff =
            Staff::threads(numbers, &setup).map_err(|error| format!("start the worker threads: {error}"))?;
        Ok(Self {
            staff: Some(staff),
            n_workers: job.n_workers(),
            numbering,
            monitor,
            preflight,
            n_routes,
            epoch: Instant::now(),
            tables: Vec::new(),
            floor: Floor::default(),
            scheduled: VecDeque::new(),
            accounts: Vec::new(),
            laps: JoinSet::new(),
        })
    }

    /// Works until the coordinator orders the end, and all connections are closed. Returns early when the coordinator is
    /// gone.
    ///
    /// # Errors
    /// An order that makes no sense, or a worker that is gone, in words.
    pub(crate) async fn serve(mut self, mut post: Post) -> Result<(), String> {
        let pacer = Pacer::new().map_err(|error| format!("start the timer of the schedule: {error}"))?;
        self.monitor.take();
        while let Some(staff) = &mut self.staff {
            let due = self.scheduled.front().map(|(due, _)| *due);
            tokio::select! {
                batch = post.orders.recv() => match batch {
                    Some(batch) => self.obey_all(&batch, &*post.clock).await?,
                    None => return Ok(()),
                },
                event = staff.next_event(), if self.accounts.len() < MAX_ACCOUNTS => {
                    let event = event.map_err(|error| error.to_string())?;
                    self.note(event, &*post.clock);
                }
                permit = post.told.reserve(), if !self.accounts.is_empty() => match permit {
                    Ok(permit) => permit.send(self.part(&*post.clock)),
                    Err(_) => return Ok(()),
                },
                Some(evidence) = self.laps.join_next() => {
                    let evidence = evidence.map_err(|error| format!("the evidence cannot be taken: {error}"))?;
                    self.accounts.push(Account::Lapped(Box::new(evidence)));
                }
                () = wait(due, &pacer) => self.release(&*post.clock).await?,
            }
        }
        if !self.accounts.is_empty() {
            // Otherwise the coordinator is gone.
            let _gone = post.told.send(self.part(&*post.clock)).await;
        }
        Ok(())
    }

    async fn obey_all(&mut self, batch: &RawValue, clock: &dyn Clock) -> Result<(), String> {
        let letters: Vec<Letter> =
            serde_json::from_str(batch.get()).map_err(|error| format!("an order cannot be read: {error}"))?;
        let mut settles = None;
        for letter in letters {
            match letter {
                Letter::Sent(id, floor, at) => {
                    if let Some(table) = self.table(id) {
                        table.mark_sent(id, floor, clock.instant(at));
                    }
                    settles.get_or_insert(None);
                }
                Letter::Known(at) => settles = Some(Some(clock.instant(at))),
                Letter::End => {
                    self.end(clock).await;
                    return Ok(());
                }
                letter => {
                    self.settle(settles.take()).await?;
                    self.obey(letter, clock).await?;
                }
            }
        }
        self.settle(settles).await
    }

    /// Lets all workers look again at what they hold, if something new is known.
    async fn settle(&mut self, settles: Option<Option<Instant>>) -> Result<(), String> {
        let Some(until) = settles else { return Ok(()) };
        for worker in 0..self.n_workers {
            self.order(worker, Order::Settle { until }).await?;
        }
        Ok(())
    }

    async fn obey(&mut self, letter: Letter, clock: &dyn Clock) -> Result<(), String> {
        let (worker, order) = match letter {
            Letter::Open(worker, node, route) => (worker, self.open(node, route)?),
            Letter::OpenStep(worker, first_id, n_ids) => (worker, self.open_step(first_id, n_ids)?),
            Letter::Send(sending) => return self.send(sending, clock).await,
            Letter::Report(worker, step_idx) => (worker, Order::Report { step_idx }),
            Letter::Collect(worker, at) => {
                if worker == 0 {
                    self.accounts.push(Account::Glanced(self.monitor.glance()));
                }
                let at = Duration::from_nanos(at);
                (worker, Order::Collect { at })
            }
            Letter::Survey(worker, step_idx, end_id) => (worker, Order::Survey { step_idx, end_id }),
            Letter::CloseStep(worker, step_idx, at, at_least) => {
                let (at, at_least) = (clock.instant(at), Duration::from_nanos(at_least));
                let order = Order::CloseStep {
                    step_idx,
                    at,
                    at_least,
                };
                (worker, order)
            }
            Letter::Lap => {
                let monitor = self.monitor.clone();
                self.laps.spawn_blocking(move || monitor.take());
                return Ok(());
            }
            Letter::Room(n_clients) => {
                let obstacle = self.preflight.check(n_clients).err();
                self.accounts
                    .push(Account::Room(obstacle.map(|it| it.to_string())));
                return Ok(());
            }
            Letter::Sent(..) | Letter::Known(_) | Letter::End => return Ok(()),
        };
        self.order(worker, order).await
    }

    fn open(&self, node: usize, route: usize) -> Result<Order, String> {
        let n_routes = self
            .n_routes
            .get(node)
            .ok_or_else(|| format!("there is no server number {node}"))?;
        let route = route % n_routes.max(&1);
        Ok(Order::Open(Way { node, route }))
    }

    /// All workers share the table of a step.
    fn open_step(&mut self, first_id: u64, n_ids: usize) -> Result<Order, String> {
        let is_new = self
            .tables
            .last()
            .is_none_or(|table| table.ids().start != first_id);
        if is_new {
            if n_ids > MAX_IDS || first_id.checked_add(n_ids as u64).is_none() {
                return Err(format!(
                    "a step cannot have {n_ids} messages from number {first_id} on"
                ));
            }
            self.tables
                .push(Arc::new(SendTable::new(self.epoch, first_id, n_ids)));
        }
        let table = self.tables.last().ok_or("there is no step")?;
        Ok(Order::OpenStep(Arc::clone(table)))
    }

    async fn send(&mut self, sending: Sending, clock: &dyn Clock) -> Result<(), String> {
        match sending.due.map(|due| clock.instant(due)) {
            Some(due) if due > Instant::now() => {
                self.scheduled.push_back((due, sending));
                Ok(())
            }
            due => self.send_now(sending, due, clock).await,
        }
    }

    /// Sends what is due.
    async fn release(&mut self, clock: &dyn Clock) -> Result<(), String> {
        while self
            .scheduled
            .front()
            .is_some_and(|(due, _)| *due <= Instant::now())
        {
            if let Some((due, sending)) = self.scheduled.pop_front() {
                self.send_now(sending, Some(due), clock).await?;
            }
        }
        Ok(())
    }

    async fn send_now(
        &mut self,
        sending: Sending,
        due: Option<Instant>,
        clock: &dyn Clock,
    ) -> Result<(), String> {
        // Answers that are here already raise the floor.
        while let Some(event) = self.staff.as_mut().and_then(Staff::event_at_hand) {
            self.note(event, clock);
        }
        let Sending {
            worker,
            slot,
            command,
            id,
            floor,
            ..
        } = sending;
        let floor = match command {
            Command::Broadcast => self.floor.raised(floor),
            Command::Echo => floor,
        };
        let order = SendOrder {
            slot,
            command,
            id,
            floor,
            due,
        };
        self.order(worker, Order::Send(order)).await
    }

    async fn order(&self, worker: usize, order: Order) -> Result<(), String> {
        if worker >= self.n_workers {
            return Err(format!("there is no worker number {worker}"));
        }
        let Some(staff) = &self.staff else { return Ok(()) };
        staff
            .order(worker, order)
            .await
            .map_err(|error| error.to_string())
    }

    /// Closes all connections.
    async fn end(&mut self, clock: &dyn Clock) {
        let Some(staff) = self.staff.take() else { return };
        let (mut events, threads) = staff.dismiss();
        while let Some(event) = events.recv().await {
            self.note(event, clock);
        }
        for thread in threads {
            // A worker that panicked has said so on standard error.
            let _ = thread.join();
        }
    }

    fn table(&self, id: u64) -> Option<&Arc<SendTable>> {
        self.tables.iter().rev().find(|table| table.ids().contains(&id))
    }

    /// Everything that waits to be told.
    fn part(&mut self, clock: &dyn Clock) -> Box<RawValue> {
        while let Some(event) = self.staff.as_mut().and_then(Staff::event_at_hand) {
            self.note(event, clock);
            if self.accounts.len() >= MAX_ACCOUNTS {
                break;
            }
        }
        let part = to_raw_value(&self.accounts).expect("reports have only what JSON has");
        self.accounts.clear();
        part
    }

    fn note(&mut self, event: Event, clock: &dyn Clock) {
        let own = |worker| self.numbering.place(worker).1;
        let account = match event {
            Event::Opened { client, opening } => {
                Account::Opened(own(client.worker), client.slot, opening.into())
            }
            Event::OpenFailed(failing) => Account::Unready(failing),
            Event::Dropped { client, failing } => Account::Dropped(own(client.worker), client.slot, failing),
            Event::Answered { id, latency } => {
                self.floor.hear(id);
                Account::Answered(id, ns(latency))
            }
            Event::Unanswerable { id } => Account::Unanswerable(id),
            Event::Sent { id, floor, at } => Account::Sent(id, floor, clock.at(at)),
            Event::Completed(completion) => {
                let sent = self
                    .table(completion.id)
                    .and_then(|table| table.sent(completion.id));
                let after = completion
                    .last_at
                    .zip(sent)
                    .map(|(last_at, sent)| ns(last_at.saturating_duration_since(sent.at)));
                Account::Completed(completion.id, completion.n_lost, after)
            }
            Event::StepOpened => Account::StepOpened,
            Event::Surveyed(it) => {
                Account::Surveyed(it.n_expected, it.n_settled, it.last_at.map(|at| clock.at(at)))
            }
            Event::SpeaksCable => Account::SpeaksCable,
            Event::Reported(report) => Account::Reported(report),
            Event::Collected {
                step_idx,
                at,
                harvest,
            } => Account::Collected(step_idx, ns(at), harvest),
            // Agents have no agents.
            Event::Lapped(..) | Event::Glanced(..) | Event::Room(..) | Event::AgentLost(..) => return,
        };
        self.accounts.push(account);
    }
}

/// Waits until `due`, to the microsecond.
async fn wait(due: Option<Instant>, pacer: &Pacer) {
    let Some(due) = due else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = pacer.until(due) => {}
        () = pacer.run() => {}
    }
}
