//! The coordinator's side of the workers: sends orders, receives events, and knows the connected clients.

mod roster;
mod senders;

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_load::generator::Evidence;

use self::{roster::Roster, senders::Senders};

use crate::{
    interrupt::Interrupt,
    ledger::{Nodes, SendTable},
    remote::{Hub, LEAD},
    staff::Staff,
    wire::Command,
    worker::{ClientId, Event, Order, Report, SendOrder, Way},
};

/// All workers of a run.
#[derive(Debug)]
pub(crate) struct Fleet {
    staff: Staff,
    roster: Roster,
    /// The clients of the first server, which send.
    senders: Senders,
    /// The number of routes to each server.
    n_routes: Vec<usize>,
    n_opened: usize,
    rng: fastrand::Rng,
}

/// The workers have ended without an order: a defect of this program.
#[derive(Debug, thiserror::Error)]
#[error("a worker thread of the load generator has ended unexpectedly")]
pub struct WorkerLost;

impl Fleet {
    /// A fleet of these workers, whose clients have so many routes to each server. `seed` decides which clients send.
    /// `sends_from_one`: of several agents, only the first one with clients sends.
    pub(crate) fn new(staff: Staff, n_routes: Vec<usize>, seed: u64, sends_from_one: bool) -> Self {
        let n_workers = staff.len();
        let n_agents = staff.hub().map_or(1, Hub::n_agents);
        Self {
            staff,
            roster: Roster::new(n_workers),
            senders: Senders::new(n_workers, if sends_from_one { n_agents } else { 1 }),
            n_routes,
            n_opened: 0,
            rng: fastrand::Rng::with_seed(seed),
        }
    }

    /// The number of connected clients.
    pub(crate) fn n_connected(&self) -> usize {
        self.roster.len()
    }

    /// Whether a client is there that can send.
    pub(crate) fn can_send(&self) -> bool {
        !self.senders.is_empty()
    }

    /// The number of workers.
    pub(crate) fn n_workers(&self) -> usize {
        self.staff.len()
    }

    /// The agents that have the workers; `None` if they are in this process.
    pub(crate) fn hub(&self) -> Option<&Hub> {
        self.staff.hub()
    }

    /// The time between the order to send a message of a schedule and its send.
    pub(crate) fn lead(&self) -> Duration {
        self.hub().map_or(Duration::ZERO, |_| LEAD)
    }

    /// The evidence about the generators of all agents since the last time. Empty if the workers are in this process. Other
    /// events go to `on_event`.
    pub(crate) async fn take_evidence(
        &mut self,
        mut on_event: impl FnMut(Event),
    ) -> Result<Vec<(usize, Evidence)>, WorkerLost> {
        let mut n_missing = self.hub().map_or(0, Hub::ask_lap);
        let mut evidence = Vec::with_capacity(n_missing);
        while n_missing > 0 {
            match self.next_event().await? {
                Event::Lapped(agent, it) => {
                    evidence.push((agent, *it));
                    n_missing -= 1;
                }
                event => on_event(event),
            }
        }
        Ok(evidence)
    }

    /// The first agent that has no room for its part of `n_clients` clients, and why. Other events go to `on_event`.
    pub(crate) async fn obstacle(
        &mut self,
        n_clients: usize,
        mut on_event: impl FnMut(Event),
    ) -> Result<Option<String>, WorkerLost> {
        let mut n_missing = self.hub().map_or(0, |hub| hub.ask_room(n_clients));
        let mut first = None;
        while n_missing > 0 {
            match self.next_event().await? {
                Event::Room(agent, obstacle) => {
                    let name = self.hub().map(|hub| hub.name(agent)).unwrap_or_default();
                    let told = obstacle.map(|obstacle| format!("agent {name}: {obstacle}"));
                    first = first.or(told);
                    n_missing -= 1;
                }
                event => on_event(event),
            }
        }
        Ok(first)
    }

    /// The number of workers with connected clients, which is the number of shares of a broadcast that is sent now.
    pub(crate) fn n_workers_connected(&self) -> usize {
        self.roster.n_workers()
    }

    /// Begins to open one more client. Workers, servers and routes take turns.
    pub(crate) async fn open_one(&mut self) -> Result<(), WorkerLost> {
        let n_workers = self.staff.len();
        let (worker, slot) = (self.n_opened % n_workers, self.n_opened / n_workers);
        let n_nodes = self.n_routes.len();
        let node = Nodes::new(n_nodes, worker).of(slot);
        let route = slot / n_nodes % self.n_routes[node];
        self.n_opened += 1;
        self.staff.order(worker, Order::Open(Way { node, route })).await
    }

    /// Makes all connected clients listeners of the step. Returns when all workers have done so. Other events that arrive
    /// in the meantime go to `on_event`.
    pub(crate) async fn open_step(
        &mut self,
        table: &Arc<SendTable>,
        mut on_event: impl FnMut(Event),
    ) -> Result<(), WorkerLost> {
        let mut n_missing = self.order_all(|| Order::OpenStep(Arc::clone(table))).await?;
        while n_missing > 0 {
            match self.next_event().await? {
                Event::StepOpened => n_missing -= 1,
                event => on_event(event),
            }
        }
        Ok(())
    }

    /// Makes a connected client of the first server send, each with equal probability. False when it has no client.
    pub(crate) async fn send_from_anyone(
        &mut self,
        command: Command,
        id: u64,
        floor: u64,
        due: Option<Instant>,
    ) -> Result<bool, WorkerLost> {
        let Some(ClientId { worker, slot }) = self.senders.pick(&mut self.rng) else {
            return Ok(false);
        };
        let order = SendOrder {
            slot,
            command,
            id,
            floor,
            due,
        };
        self.staff.order(worker, Order::Send(order)).await?;
        Ok(true)
    }

    /// Whether an event with this probability in percent happens now.
    pub(crate) fn chance(&mut self, percent: u8) -> bool {
        self.rng.u8(0..100) < percent
    }

    /// Lets all workers tell the deliveries since the last time, which was up to a second before `at`.
    pub(crate) async fn collect(&mut self, at: Duration) -> Result<(), WorkerLost> {
        self.order_all(|| Order::Collect { at }).await?;
        Ok(())
    }

    /// Lets all workers tell how many deliveries of a step have arrived, of its broadcasts with ids below `end_id`. Returns
    /// the number of answers to come.
    pub(crate) async fn survey(&mut self, step_idx: usize, end_id: u64) -> Result<usize, WorkerLost> {
        self.order_all(|| Order::Survey { step_idx, end_id }).await
    }

    /// The next event; the roster knows it already.
    pub(crate) async fn next_event(&mut self) -> Result<Event, WorkerLost> {
        let event = self.staff.next_event().await?;
        match &event {
            Event::Opened { client, .. } => {
                self.roster.add(*client);
                if Nodes::new(self.n_routes.len(), client.worker).of(client.slot) == 0 {
                    self.senders.add(*client);
                }
            }
            Event::Dropped { client, .. } => {
                self.roster.remove(*client);
                self.senders.remove(*client);
            }
            Event::AgentLost(agent, _) => self.lose(*agent),
            _ => {}
        }
        Ok(event)
    }

    /// All clients of an agent are gone.
    fn lose(&mut self, agent: usize) {
        let n_agents = self.hub().map_or(1, Hub::n_agents);
        for worker in (agent..self.staff.len()).step_by(n_agents) {
            for client in self.roster.of_worker(worker) {
                self.roster.remove(client);
                self.senders.remove(client);
            }
        }
    }

    /// The account of the step numbered `step_idx`, summed over all workers. Other events that arrive in the meantime
    /// go to `on_event`. All events before the report have arrived when this returns.
    pub(crate) async fn report(
        &mut self,
        step_idx: usize,
        on_event: impl FnMut(Event),
    ) -> Result<Report, WorkerLost> {
        self.gather(|| Order::Report { step_idx }, on_event).await
    }

    /// Ends the waiting for deliveries of the step numbered `step_idx`, as [`Order::CloseStep`] says. Returns its account as
    /// [`Self::report`] does.
    pub(crate) async fn close_step(
        &mut self,
        step_idx: usize,
        (at, at_least): (Instant, Duration),
        on_event: impl FnMut(Event),
    ) -> Result<Report, WorkerLost> {
        let order = || Order::CloseStep {
            step_idx,
            at,
            at_least,
        };
        self.gather(order, on_event).await
    }

    async fn gather(
        &mut self,
        order: impl Fn() -> Order,
        mut on_event: impl FnMut(Event),
    ) -> Result<Report, WorkerLost> {
        let mut n_missing = self.order_all(order).await?;
        let mut all = Report::default();
        while n_missing > 0 {
            match self.next_event().await? {
                Event::Reported(report) => {
                    all.merge(&report);
                    n_missing -= 1;
                }
                event => on_event(event),
            }
        }
        Ok(all)
    }

    /// Closes all connections and waits for the workers to end. Otherwise the end of the process does that.
    pub(crate) async fn finish(self, mut interrupt: Interrupt) {
        let (mut events, threads) = self.staff.dismiss();
        // Without orders a worker ends, and its end of the events with it.
        let mut all_ended = pin!(async { while events.recv().await.is_some() {} });
        loop {
            if interrupt.is_urgent() {
                return;
            }
            tokio::select! {
                () = &mut all_ended => break,
                () = interrupt.next() => {}
            }
        }
        for thread in threads {
            // A worker that panicked has said so on standard error.
            let _ = thread.join();
        }
    }

    /// Gives the same order to all workers. Returns their number.
    async fn order_all(&self, order: impl Fn() -> Order) -> Result<usize, WorkerLost> {
        for worker in 0..self.staff.len() {
            self.staff.order(worker, order()).await?;
        }
        Ok(self.staff.len())
    }
}

impl Report {
    fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.lateness.merge(&other.lateness);
        self.n_foreign += other.n_foreign;
        self.n_stray_answers += other.n_stray_answers;
        self.n_altered += other.n_altered;
    }
}
